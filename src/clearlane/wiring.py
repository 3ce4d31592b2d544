"""Open an installation: connect settings, database, payers, engine and sandbox.

The only module that knows all packages. The roles ``serve`` and ``worker`` are nodes, with a heartbeat, snapshots
that follow the database and a durable engine; ``command`` loads the snapshots once, and so does ``helper``, a process
that a node starts for one piece of its work.
"""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from operator import sub
from typing import TYPE_CHECKING, Literal, TypeVar

from clearlane.accounts.directory import AccountDirectory
from clearlane.claims.rule_settings import NO_SETTINGS, RuleSettings
from clearlane.kernel.clock import Clock, SystemClock
from clearlane.kernel.tasks import cancel_all
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import DENTAL
from clearlane.settings import Settings, to_json
from clearlane.store.accounts.accounts import load_accounts
from clearlane.store.audit.anchor import ANCHOR_NAME
from clearlane.store.database import migrate
from clearlane.store.database.database import Actor, Database, OperationRefused, open_database
from clearlane.store.delivery.payers import ensure_sandbox_payers, load_payers
from clearlane.store.delivery.routes import load_routes
from clearlane.store.events.event_watch import EventWatch
from clearlane.store.installation.code_lists import load_code_lists
from clearlane.store.installation.log_level import REVISION as LOG_LEVEL_REVISION
from clearlane.store.installation.nodes import NodeRegistration
from clearlane.store.installation.rule_settings import load_rule_settings
from clearlane.store.installation.sandbox import REVISION as SANDBOX_REVISION
from clearlane.store.vault.keys import MasterKeys, load_master_keys
from clearlane.store.vault.vault import Vault
from clearlane.x12.codes.code_editions import EMBEDDED, CodeLists

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger  # noqa: TID251  (a type alone)

    from clearlane.api.frame.app import Answer, MountedApp
    from clearlane.api.operations.process_log_level import ProcessLogLevel
    from clearlane.api.operations.trace_export import TraceExport
    from clearlane.claims.write.write_837 import TradingPartner
    from clearlane.connect.connections import Connections
    from clearlane.connect.loopback import SimulatedRealtimePayer
    from clearlane.engine.dbos_engine import Engine
    from clearlane.payers.hops import Hop
    from clearlane.payers.model import Payer
    from clearlane.pipeline.inbound.reading_process import ReadingProcesses
    from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner
    from clearlane.pipeline.intake.files.file_process import FileProcesses
    from clearlane.pipeline.intake.submission_process import SubmissionProcesses
    from clearlane.pipeline.notify.webhook_runner import WebhookRunner
    from clearlane.pipeline.query.installation.measures import MeasureSource
    from clearlane.pipeline.sandbox.sandbox_control import SandboxControl
    from clearlane.pipeline.work_context import SimulatedEnrollments, WorkContext
    from clearlane.sandbox.payer import SandboxPayer
    from clearlane.sftp_server.listener import SftpServer
    from clearlane.store.audit.set_back import SetBack

__all__ = [
    "Installation",
    "OperationRefused",
    "Role",
    "mount_console",
    "open_installation",
    "open_sftp_server",
]

REVISION_LOOK_SECONDS = 5.0

Role = Literal["serve", "worker", "command", "helper"]
NODES = ("serve", "worker")
T = TypeVar("T")


class InstallationNotOpen(Exception):
    """A part that ``open_installation`` makes, or makes for a node alone, is not there."""


class Installation:
    """An open installation. Directories are snapshots: read them on each use."""

    def __init__(
        self,
        settings: Settings,
        wall: Clock,
        database: Database,
        vault: Vault,
        *,
        node: str = "",
        role: Role = "command",
    ) -> None:
        self.settings = settings
        self.wall = wall
        """The real time, for certificates, credentials, sessions and heartbeats."""
        self.database = database
        self.vault = vault
        self._node = node
        self._role = role
        self.set_back: SetBack | None = None
        """What was put in doubt when this node started, because the database was set back."""
        self._sandbox = SandboxRuntime(self) if settings.sandbox else None
        self.clock: Clock = self._sandbox.simulator.clock if self._sandbox else wall
        """The time of claims and of dates in files. A sandbox can advance it."""
        self._accounts: AccountDirectory | None = None
        self._payers: PayerDirectory | None = None
        self._code_lists = EMBEDDED
        self._rule_settings = NO_SETTINGS
        self._engine: Engine | None = None
        self._connections: Connections | None = None
        self._inquiry_runner: InquiryRunner | None = None
        self._event_watch: EventWatch | None = None
        self._traces: TraceExport | None = None
        self._webhooks: WebhookRunner | None = None
        self._log_level: ProcessLogLevel | None = None

    @cached_property
    def work_context(self) -> "WorkContext":
        """What the verbs of the pipeline are given. Made on first use, when the inquiry runner is known."""
        from clearlane.pipeline.work_context import PayerAccess, WorkContext, WorkLimits

        settings = self.settings
        return WorkContext(
            database=self.database,
            vault=self.vault,
            clock=self.clock,
            node=self._node or "command",
            data=settings.data,
            sandbox=settings.sandbox,
            accounts=lambda: self.accounts,
            code_lists=lambda: self.code_lists,
            rule_settings=lambda: self.rule_settings,
            payer_access=PayerAccess(
                payers=lambda: self.payers,
                connections=lambda: self.connections,
                submitter=self.submitter,
                inquiry_runner=self._inquiry_runner,
            ),
            limits=WorkLimits(
                claims_max=settings.claims_per_document_max,
                write_seconds_max=settings.write_seconds_max,
                eligibility_days=settings.eligibility_days,
                claim_silence_days=settings.claim_silence_days,
                crossover_days=settings.crossover_days,
                settle_seconds=settings.settle_seconds,
                event_days=settings.event_days,
                not_accepted_days=settings.not_accepted_days,
                file_days=settings.file_days,
            ),
            time_ago=self._sandbox.simulator.clock.time_ago if self._sandbox else sub,
            simulated_enrollments=self._sandbox.enrollments if self._sandbox else None,
            eligibility_x12=settings.eligibility_x12 == "on",
            timestamp_url=settings.timestamp_url,
            events_name_claims=settings.event_vendor_claim_id == "on",
            event_watch=self._event_watch,
            wake_webhooks=self._wake_webhooks,
            wake_files=self._wake_files,
            traces=self._traces,
            file_processes=self._make_file_processes(),
            reading_processes=self.reading_processes,
            submission_processes=self.submission_processes,
        )

    @cached_property
    def measures(self) -> "MeasureSource":
        """Measures the installation for its operator."""
        from clearlane.pipeline.query.installation.measures import MeasureSource

        return MeasureSource(
            database=self.database,
            clock=self.clock,
            wall=self.wall,
            connections=lambda: self.connections,
            sandbox=self.settings.sandbox,
            set_back=self.set_back,
            backlog=None if self._engine is None else self._engine.backlog,
        )

    @property
    def accounts(self) -> AccountDirectory:
        """The vendors and sites, as of the last revision that was loaded."""
        return _require_opened(self._accounts)

    @property
    def payers(self) -> PayerDirectory:
        """The payer directory, as of the last revision that was loaded."""
        return _require_opened(self._payers)

    @property
    def code_lists(self) -> CodeLists:
        """The code lists in force, as of the last revision that was loaded; those of the package in a command."""
        return self._code_lists

    @property
    def rule_settings(self) -> RuleSettings:
        """What operators set rules to, as of the last revision that was loaded."""
        return self._rule_settings

    @property
    def connections(self) -> "Connections":
        """The connections to payers, as of the last revision that was loaded."""
        return _require_opened(self._connections)

    @property
    def sandbox_control(self) -> "SandboxControl | None":
        """Changes a sandbox's time and payers for callers; None in production."""
        return None if self._sandbox is None else self._sandbox.control

    @property
    def sandbox_runtime(self) -> "SandboxRuntime | None":
        """Clock and payers of a sandbox; None in production."""
        return self._sandbox

    @property
    def engine(self) -> "Engine":
        """The durable engine of a node."""
        return _require_opened(self._engine)

    @property
    def webhooks(self) -> "WebhookRunner":
        """What delivers the webhooks of a node."""
        return _require_opened(self._webhooks)

    @property
    def submitter(self) -> "TradingPartner":
        """The submitter in files to payers (1000A)."""
        from clearlane.claims.write.write_837 import TradingPartner

        settings = self.settings
        name = settings.submitter_name
        return TradingPartner(name=name, id=name, phone=settings.submitter_phone)

    @property
    def pepper(self) -> bytes:
        """The key that hashes vendors' passwords."""
        return self.vault.pepper

    def _make_file_processes(self) -> "FileProcesses | None":
        if self._role not in NODES:
            return None
        from clearlane.pipeline.intake.files.file_process import FileProcesses

        settings = self.settings
        return FileProcesses(to_json(settings), self._node, bytes_min=settings.large_file_bytes)

    @cached_property
    def submission_processes(self) -> "SubmissionProcesses | None":
        """What takes documents of claims when many come; None outside of a node, and if it is switched off."""
        if self._role not in NODES or self.settings.submission_process == "off":
            return None
        from clearlane.pipeline.intake.submission_process import SubmissionProcesses

        return SubmissionProcesses(to_json(self.settings), self._node)

    @cached_property
    def reading_processes(self) -> "ReadingProcesses | None":
        """What reads large files of payers; None outside of a node, and if it is switched off."""
        if self._role not in NODES or self.settings.reading_process == "off":
            return None
        from clearlane.pipeline.inbound.reading_process import ReadingProcesses

        return ReadingProcesses()

    def _wake_files(self) -> None:
        if self._engine is not None:
            from clearlane.pipeline.intake.files.file_work import TICK

            self._engine.wake(TICK)

    def _wake_webhooks(self) -> None:
        if self._webhooks is not None:
            self._webhooks.wake()

    async def refresh(self) -> None:
        """Load every snapshot again."""
        for load in self.snapshots().values():
            await load()

    async def _load_connections(self) -> None:
        if self._sandbox is not None:
            # A sandbox sends nothing to real payers, whatever routes are stored.
            self._connections = self._sandbox.connections
            return
        from clearlane.pipeline.route_connections import RouteConnections

        before = self._connections
        self._connections = RouteConnections(
            await load_routes(self.database, self.vault), self.clock
        )
        if before is not None and self._inquiry_runner is not None:
            self._inquiry_runner.retire(before)

    async def _load_accounts(self) -> None:
        self._accounts = await load_accounts(self.database, self.pepper)

    async def _load_payers(self) -> None:
        payers = await load_payers(self.database, self.settings.sandbox)
        if self._role in NODES:  # before the first call asks for the compressed list
            await asyncio.to_thread(payers.compress)
        self._payers = payers

    async def _load_code_lists(self) -> None:
        if (
            self._role != "command"
        ):  # commands judge no claims, and need not wait for a hundred thousand codes
            self._code_lists = await load_code_lists(self.database)

    async def _load_rule_settings(self) -> None:
        self._rule_settings = await load_rule_settings(self.database)

    async def _load_log_level(self) -> None:
        if self._role == "command":  # it writes no log
            return
        if self._log_level is None:
            from clearlane.api.operations.process_log_level import ProcessLogLevel

            self._log_level = ProcessLogLevel(self.database, self.settings.log_level)
        await self._log_level.load()

    def close(self) -> None:
        """End what would happen later by itself."""
        if self._log_level is not None:
            self._log_level.close()

    def snapshots(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return what follows the database: for each name of a revision the function that loads it."""
        return {name: self._retiring(load) for name, load in self._loads().items()}

    def _retiring(self, load: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """Return a function that loads a snapshot, and ends the process that has an earlier one."""

        async def load_and_retire() -> None:
            await load()
            if self.submission_processes is not None:
                self.submission_processes.retire()

        return load_and_retire

    def _loads(self) -> dict[str, Callable[[], Awaitable[None]]]:
        return {
            "keys": self.vault.load,
            "accounts": self._load_accounts,
            "payers": self._load_payers,
            "code_lists": self._load_code_lists,
            "rule_settings": self._load_rule_settings,
            "routes": self._load_connections,
            LOG_LEVEL_REVISION: self._load_log_level,
            **({SANDBOX_REVISION: self._sandbox.load} if self._sandbox else {}),
        }


def claim_scenarios() -> dict[str, str]:
    """Return the insured ids that select a test payer's response, with their titles."""
    from clearlane.sandbox.scenarios import SCENARIOS

    return {id: scenario.title for id, scenario in SCENARIOS.items()}


class SandboxRuntime:
    """The parts that only a sandbox has: its own clock and simulated payers."""

    def __init__(self, installation: Installation) -> None:
        from clearlane.sandbox.simulator import Simulator
        from clearlane.store.installation.sandbox import NODE, PayerLocks, StoredClock, StoredLedger

        self._installation = installation
        self._node_actor = NODE
        self._payer_locks = PayerLocks(installation.database, installation._node)  # noqa: SLF001  (same module)
        self.ledger = StoredLedger(installation.database, installation.vault)
        self.stored_clock = StoredClock(installation.database)
        self.simulator = Simulator(installation.wall, self.ledger, self.stored_clock)
        self.control: SandboxControl | None = None

    async def load(self) -> None:
        """Load the clock that all nodes share, and the payers that they have sent something."""
        await self.simulator.load(self._node_actor)
        await self.ledger.load()

    @cached_property
    def connections(self) -> "Connections":
        """Loopback connections to every payer of the directory."""
        from clearlane.connect.loopback_connections import LoopbackConnections

        return LoopbackConnections(
            lambda: self._installation.payers,
            file_payer=self._file_payer,
            hop=self._hop,
            realtime_payer=self._realtime_payer,
            ledger=self.ledger,
            ledgers_in_use=lambda: self.ledger.payers,
            clock=self.simulator.clock,
            lock=self._payer_locks.exclusive,
            window_seconds=self._installation.settings.sandbox_window_seconds,
        )

    @cached_property
    def enrollments(self) -> "SimulatedEnrollments":
        """How the simulated payers answer enrollments, by their calendar."""
        from clearlane.pipeline.work_context import SimulatedEnrollments
        from clearlane.sandbox.clock import CALENDAR_DAY
        from clearlane.sandbox.enrollment_scenarios import ENROLLMENT_ANSWER_DAYS, answer_of
        from clearlane.store.installation.sandbox import StoredEnrollmentAgenda

        wait = ENROLLMENT_ANSWER_DAYS * CALENDAR_DAY
        agenda = StoredEnrollmentAgenda(self.simulator.clock.calendar, wait)
        return SimulatedEnrollments(agenda, answer_of)

    def _realtime_payer(self, payer: "Payer") -> "SimulatedRealtimePayer":
        from clearlane.connect.loopback_connections import ledger_name

        return self.simulator.realtime_payer(
            ledger_name(payer.type, payer.payer_id),
            id=payer.payer_id,
            name=payer.name,
            dental=payer.type == DENTAL,
        )

    def _hop(self, hop: "Hop", ledger: str) -> "SandboxPayer":
        payers = self._installation.payers
        served = {
            one.hop_payer_id: payer.name if (payer := payers.find(one.payer_id, one.type)) else ""
            for one in hop.served
        }
        return self.simulator.hop(ledger, id=hop.id, name=hop.name, served=served)

    def _file_payer(self, payer: "Payer", ledger: str) -> "SandboxPayer":
        return self.simulator.payer(ledger, id=payer.payer_id, name=payer.name, ids=payer.ids)

    async def reset(self, actor: Actor) -> dict[str, int]:
        """Empty the sandbox, set its clock to real time, and wait until running nodes have loaded that."""
        counts = await self.simulator.reset(actor)
        await self.stored_clock.wait_until_loaded()
        # Once more: a node may have stored what it was receiving in between.
        await self.simulator.reset(actor)
        await self.stored_clock.wait_until_loaded()
        return counts

    def start_control(self, context: "WorkContext") -> None:
        """Let callers of this node change time and payers."""
        from clearlane.pipeline.sandbox.sandbox_control import SandboxControl

        self.control = SandboxControl(context, self.simulator, self.stored_clock)


@asynccontextmanager
async def open_installation(
    settings: Settings, *, role: Role, clock: Clock | None = None, node: str = ""
) -> AsyncIterator[Installation]:
    """Open an installation. :class:`OperationRefused` explains in a sentence why it cannot be opened.

    ``node`` is the node that a helper works for.
    """
    wall = clock or SystemClock()
    _make_data_directory(settings)
    async with AsyncExitStack() as closing:
        keys = load_master_keys(
            text=settings.master_key,
            command=settings.master_key_command,
            file=settings.key_file,
            may_create=settings.sandbox,
        )
        database = await _open_database(settings, keys, wall, is_helper=role == "helper")
        closing.push_async_callback(database.close)
        vault = Vault(database, keys, wall)
        # A new id for every start, so that a restart is never mistaken for the process that died.
        if role in NODES:
            node = f"{socket.gethostname()}-{secrets.token_hex(4)}"
        installation = Installation(settings, wall, database, vault, node=node, role=role)
        closing.callback(installation.close)
        await installation.vault.load()
        if settings.sandbox:
            await ensure_sandbox_payers(database)
        if role not in NODES:
            await installation.refresh()
        else:
            database.keep_reserve()
            await _start_node(installation, role, keys, closing)
        yield installation


def _require_opened(part: T | None) -> T:
    if part is None:
        raise InstallationNotOpen
    return part


def mount_console(installation: Installation, base_url: str) -> "MountedApp":
    """Return the web console, to be mounted in the API server. It is loaded when it is asked for a page first."""
    from clearlane.api.frame.app import MountedApp, answer_when_asked
    from clearlane.api.frame.auth import SignInThrottle
    from clearlane.console import SEGMENT

    throttle = SignInThrottle()

    def load() -> "Answer":
        from clearlane.console.app import Console

        return Console(installation, base_url, throttle).answer

    return MountedApp("Console", SEGMENT, answer_when_asked(load))


@asynccontextmanager
async def open_sftp_server(
    installation: Installation, listeners: Sequence[socket.socket]
) -> AsyncIterator["SftpServer | None"]:
    """Serve SFTP on a socket, and older algorithms on a second one; without sockets there is no server."""
    if not listeners:
        yield None
        return
    from clearlane.api.frame.auth import SignInThrottle
    from clearlane.sftp_server.listener import SftpLimits, SftpServer

    settings = installation.settings
    server = SftpServer(
        installation,
        SignInThrottle(failures_max=settings.sftp_failures_per_address_max),
        allows_passwords=settings.sftp_passwords == "on",
        limits=SftpLimits(
            connections_max=settings.sftp_connections_max,
            waiting_per_address_max=settings.sftp_waiting_per_address_max,
            stop_seconds_max=settings.stop_seconds_max,
        ),
    )
    async with server.open(*listeners):
        yield server


def _make_data_directory(settings: Settings) -> None:
    """Make the data directory, readable by this user alone."""
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise OperationRefused(
            f"The data directory {settings.data} cannot be made: {fault.strerror}."
        ) from None


async def _open_database(
    settings: Settings, keys: MasterKeys, clock: Clock, *, is_helper: bool
) -> Database:
    if settings.sandbox and not is_helper:
        await migrate.upgrade(url=settings.session_url, sqlite_file=settings.sqlite_file)
    return await open_database(
        url=settings.database_url,
        direct_url=settings.database_direct_url,
        sqlite_file=settings.sqlite_file,
        connections=settings.database_connections,
        keys=keys,
        anchor=settings.data / ANCHOR_NAME,
        anchor_copy=settings.anchor_copy,
        clock=clock,
        is_helper=is_helper,
    )


async def _start_node(
    installation: Installation, role: Role, keys: MasterKeys, closing: AsyncExitStack
) -> None:
    """Make this process a node: check the age of the database, register it, load its snapshots, start its engine."""
    from clearlane.engine.database_age import confirm_database_age

    settings = installation.settings
    installation.set_back = await confirm_database_age(
        installation.database,
        settings.data,
        node=installation._node,  # noqa: SLF001  (same module)
        clock=installation.wall,
        sandbox=settings.sandbox,
    )
    installation._traces = traces = _make_trace_export(installation)  # noqa: SLF001  (same module)
    if traces is not None:
        closing.push_async_callback(traces.close)
    nodes = NodeRegistration(
        installation.database,
        id=installation._node,  # noqa: SLF001  (same module)
        role=role,
        heartbeat_seconds=settings.heartbeat_seconds,
        keys=keys,
        clock=installation.wall,
    )
    for name, load in installation.snapshots().items():
        await nodes.watch(name, load)
    installation._event_watch = watch = EventWatch(installation.database)  # noqa: SLF001  (same module)
    closing.push_async_callback(watch.close)
    for processes in (installation.submission_processes, installation.reading_processes):
        if processes is not None:
            closing.push_async_callback(processes.close)
    installation._inquiry_runner = runner = _make_inquiry_runner(installation)  # noqa: SLF001  (same module)
    installation._engine = engine = _make_engine(installation, nodes)  # noqa: SLF001
    installation._webhooks = webhooks = _make_webhook_runner(installation)  # noqa: SLF001
    await engine.start()  # the engine sends the heartbeat of the node from here on
    closing.push_async_callback(engine.stop)
    closing.push_async_callback(runner.stop)
    webhooks.start()
    closing.push_async_callback(webhooks.stop)
    refreshing = asyncio.create_task(_refresh_snapshots(nodes, installation.database))
    closing.push_async_callback(cancel_all, [refreshing])


def _make_inquiry_runner(installation: Installation) -> "InquiryRunner":
    from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner, no_sleeping_payers

    sandbox = installation._sandbox  # noqa: SLF001  (same module)
    return InquiryRunner(
        installation.database,
        installation.vault,
        installation.clock,
        lambda: installation.connections,
        node=installation._node,  # noqa: SLF001  (same module)
        asleep=sandbox.simulator.counted_clock.waiting_count if sandbox else no_sleeping_payers,
        claim_silence_days=installation.settings.claim_silence_days,
    )


def _make_trace_export(installation: Installation) -> "TraceExport | None":
    endpoint = installation.settings.otlp_endpoint
    if not endpoint:
        return None
    from clearlane import __version__
    from clearlane.api.operations.trace_export import open_trace_export

    return open_trace_export(endpoint, node=installation._node, version=__version__)  # noqa: SLF001  (same module)


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
    if installation._sandbox is not None:  # noqa: SLF001  (same module)
        installation._sandbox.start_control(context)  # noqa: SLF001
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
