"""Make a process a node: its registration, the work that it does by itself, and snapshots that follow the database."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from clearlane.kernel.tasks import cancel_all
from clearlane.store.database.database import Database
from clearlane.store.events.event_watch import EventWatch
from clearlane.store.installation.nodes import NodeRegistration
from clearlane.store.vault.keys import MasterKeys
from clearlane.wiring.installation import Installation, Role

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger  # noqa: TID251  (a type alone)

    from clearlane.api.operations.trace_export import TraceExport
    from clearlane.engine.dbos_engine import Engine
    from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner
    from clearlane.pipeline.notify.webhook_runner import WebhookRunner


REVISION_LOOK_SECONDS = 5.0


async def start_node(
    installation: Installation, role: Role, keys: MasterKeys, closing: AsyncExitStack
) -> None:
    """Make this process a node: check the age of the database, register it, load its snapshots, start its engine."""
    from clearlane.engine.database_age import confirm_database_age

    settings = installation.settings
    parts = installation.node_parts
    parts.set_back = await confirm_database_age(
        installation.database,
        settings.data,
        node=installation.node,
        clock=installation.wall,
        sandbox=settings.sandbox,
    )
    parts.traces = traces = _make_trace_export(installation)
    if traces is not None:
        closing.push_async_callback(traces.close)
    nodes = NodeRegistration(
        installation.database,
        id=installation.node,
        role=role,
        heartbeat_seconds=settings.heartbeat_seconds,
        keys=keys,
        clock=installation.wall,
    )
    for name, load in installation.snapshots().items():
        await nodes.watch(name, load)
    parts.event_watch = watch = EventWatch(installation.database)
    closing.push_async_callback(watch.close)
    for processes in (installation.submission_processes, installation.reading_processes):
        if processes is not None:
            closing.push_async_callback(processes.close)
    parts.inquiry_runner = runner = make_inquiry_runner(installation)
    parts.engine = engine = _make_engine(installation, nodes)
    parts.webhooks = webhooks = _make_webhook_runner(installation)
    await engine.start()  # the engine sends the heartbeat of the node from here on
    closing.push_async_callback(engine.stop)
    closing.push_async_callback(runner.stop)
    webhooks.start()
    closing.push_async_callback(webhooks.stop)
    refreshing = asyncio.create_task(_refresh_snapshots(nodes, installation.database))
    closing.push_async_callback(cancel_all, [refreshing])


def make_inquiry_runner(installation: Installation) -> "InquiryRunner":
    """Return what asks payers, and waits for their answers, on this node."""
    from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner, no_sleeping_payers

    sandbox = installation.sandbox_runtime
    return InquiryRunner(
        installation.database,
        installation.vault,
        installation.clock,
        lambda: installation.connections,
        node=installation.node,
        asleep=sandbox.simulator.counted_clock.waiting_count if sandbox else no_sleeping_payers,
        claim_silence_days=installation.settings.claim_silence_days,
    )


def _make_trace_export(installation: Installation) -> "TraceExport | None":
    endpoint = installation.settings.otlp_endpoint
    if not endpoint:
        return None
    from clearlane import __version__
    from clearlane.api.operations.trace_export import open_trace_export

    return open_trace_export(endpoint, node=installation.node, version=__version__)


def _make_webhook_runner(installation: Installation) -> "WebhookRunner":
    from clearlane.connect.webhook_http import WebhookSender
    from clearlane.pipeline.notify.webhook_runner import WebhookRunner

    sender = WebhookSender(sandbox=installation.settings.sandbox)
    return WebhookRunner(installation.work_context, sender, installation.wall)


def _make_engine(installation: Installation, nodes: NodeRegistration) -> "Engine":
    from clearlane.engine.dbos_engine import Engine
    from clearlane.engine.node_recovery import RecoverySettings
    from clearlane.pipeline.schedule import TABLES

    settings = installation.settings
    context = installation.work_context
    if installation.sandbox_runtime is not None:
        installation.sandbox_runtime.start_control(context)
    return Engine(
        context,
        TABLES,
        nodes=nodes,
        url=settings.session_url,
        recovery_settings=RecoverySettings(
            heartbeat_seconds=settings.heartbeat_seconds,
            dead_node_seconds=settings.dead_node_seconds,
            takeovers_max=settings.takeovers_max,
            finished_work_days=settings.finished_work_days,
        ),
        stop_seconds=settings.stop_seconds_max,
        migrate=settings.sandbox,
    )


async def _refresh_snapshots(nodes: NodeRegistration, database: Database) -> None:
    """Keep the snapshots up to date: after a signal of a change, and now and then without one.

    A failure is logged; the next look may succeed.
    """
    # Imported here: commands do not need it.
    from clearlane.kernel.log import get_logger

    log = get_logger()
    logged_fault = ""
    signal = database.change_signal()
    try:
        while True:
            await signal.wait(REVISION_LOOK_SECONDS)
            logged_fault = _log_anchor_fault(log, logged_fault, database.anchor_fault)
            try:
                await nodes.reload_changed()
            except Exception as fault:  # noqa: BLE001  (a node survives a database that is down)
                log.warning("snapshots not refreshed", fault=type(fault).__name__)
    finally:
        await signal.close()


def _log_anchor_fault(log: "FilteringBoundLogger", logged: str, fault: str) -> str:
    """Log once that the audit chain is not anchored, and once that it is again; return the fault logged."""
    if fault and not logged:
        log.error("audit not anchored", fault=fault)
    elif logged and not fault:
        log.info("audit anchored again")
    return fault
