"""Put inquiries to payers that take files only into 270 batches, which are delivered like claims.

    await create_inquiry_batches(context, now)    # inquiries whose window has passed, or that fill a file

A batch of inquiries has no claims; it is delivered by ``pipeline.outbound`` like any other. Knows no answer.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import partial

import structlog

from clearlane.claims.write.batch_naming import CONTROL_MAX, batch_file_name
from clearlane.connect.connections import PayerRoute
from clearlane.eligibility.write_270 import write_inquiries
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.pipeline.eligibility.inquiry_runner import LEASE, open_inquiry
from clearlane.pipeline.eligibility.realtime_inquiry import PendingInquiry
from clearlane.pipeline.route_connections import envelope_for
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import eligibility
from clearlane.store.database.database import StoreFault, Tx
from clearlane.store.delivery import batches
from clearlane.store.delivery.batches import BatchFile
from clearlane.store.delivery.control_numbers import next_control_number
from clearlane.store.eligibility import InquiryQueue, StoredInquiry

log = structlog.get_logger()

ELIGIBILITY_BATCH_PATIENTS_MAX = 1_000


SECOND = 1_000_000
INQUIRY_SET = "270"


async def create_inquiry_batches(context: WorkContext, now: datetime) -> list[int]:
    """Put inquiries that waited long enough, or fill a file, into batches; return the ids of these."""
    await _move_to_files(context)
    async with context.database.read(eligibility.SCOPE) as tx:
        queues = await eligibility.due_queues(tx, to_micros(now))
    created: list[int] = []
    for queue in queues:
        routes = context.payer_access.connections().mailbox_routes(queue.type, queue.payer_id)
        if queue.mode != eligibility.BY_FILE or not routes:
            continue
        try:
            while (batch := await _create_batch(context, queue, routes[0], now)) is not None:
                created.append(batch)
        except (StoreFault, ValueError) as fault:
            # One payer's fault must not stop the others; its inquiries keep waiting.
            log.warning(
                "inquiries not batched", fault=fault_code(fault), places=fault_frames(fault)
            )
    return created


async def _move_to_files(context: WorkContext) -> None:
    """Move inquiries to files where their payer has lost its real-time connection and takes files."""
    runner, connections = context.payer_access.inquiry_runner, context.payer_access.connections()
    if runner is None:
        return
    async with context.database.read(eligibility.SCOPE) as tx:
        queues = await eligibility.open_queues(tx)
    for queue in queues:
        payer = queue.type, queue.payer_id
        if (
            queue.mode != eligibility.BY_FILE
            and not runner.can_reach(*payer)
            and connections.mailbox_routes(*payer)
        ):
            await context.database.write(
                eligibility.SCOPE,
                partial(eligibility.switch_to_files, queue=queue),
                actor=context.actor,
            )
            log.info("inquiries moved to files", type=queue.type, payer=queue.payer_id)


async def _create_batch(
    context: WorkContext, queue: InquiryQueue, route: PayerRoute, now: datetime
) -> int | None:
    """Create a batch of the oldest inquiries to a payer; return its id, None where it is too soon."""
    patients_max = min(route.claims_max, ELIGIBILITY_BATCH_PATIENTS_MAX)
    async with context.database.read(eligibility.SCOPE) as tx:
        due = await eligibility.list_due(tx, queue, to_micros(now), patients_max)
    waited = due and due[0].next_at + SECOND * route.window_seconds <= to_micros(now)
    if not due or (len(due) < patients_max and not waited):
        return None
    until = to_micros(now + LEASE)
    leased = await context.database.write(
        eligibility.SCOPE, lambda tx: eligibility.lease(tx, due, until), actor=context.actor
    )
    # In the order in which a batch is loaded: a refusal names a set by its position.
    leased.sort(key=lambda one: (one.eligibility_request_id, one.number))
    return await _store_batch(context, route, leased, now) if leased else None


async def _store_batch(
    context: WorkContext, route: PayerRoute, leased: Sequence[StoredInquiry], now: datetime
) -> int:
    async with context.database.read(eligibility.SCOPE) as tx:
        await context.vault.load_keys_of(tx, [one.inquiry for one in leased])
    inquiries = [open_inquiry(context.vault, one) for one in leased]
    file = await _write_file(context, route, inquiries, now)

    async def store_batch(tx: Tx) -> int:
        batch_id = await batches.create(
            tx,
            file,
            destination=(route.type, route.payer_id),
            kind="",
            members=(),
            now=to_micros(now),
        )
        await eligibility.mark_mailed(tx, leased, batch_id)
        tx.audit("eligibility.mailed", ids=[str(batch_id)], count=len(leased))
        return batch_id

    return await context.database.write(eligibility.SCOPE, store_batch, actor=context.actor)


async def _write_file(
    context: WorkContext, route: PayerRoute, inquiries: Sequence[PendingInquiry], now: datetime
) -> BatchFile:
    control = await context.database.write(batches.SCOPE, next_control_number, actor=context.actor)
    if control > CONTROL_MAX:
        raise ValueError("every control number that fits into ISA13 was used")
    envelope = envelope_for(route, control, now)
    traced = [(one.inquiry, one.trace) for one in inquiries]
    content = await asyncio.to_thread(lambda: b"".join(write_inquiries(traced, envelope)))
    name = batch_file_name(route.file_name, envelope, INQUIRY_SET)
    vault = context.vault
    await vault.ensure_key(batches.OWNER)
    return BatchFile(
        route_id=route.route_id,
        control=control,
        name=name,
        digest=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        content=await asyncio.to_thread(vault.seal, batches.OWNER, batches.TABLE, name, content),
    )
