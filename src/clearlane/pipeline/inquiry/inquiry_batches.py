"""Put inquiries to payers that take files only into batches of one transaction, which are delivered like claims.

    await create_inquiry_batches(context, now)    # inquiries whose window has passed, or that fill a file

A batch of inquiries has no claims; it is delivered by ``pipeline.outbound`` like any other. Knows no answer.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from clearlane.claims.write.batch_naming import batch_file_name
from clearlane.connect.connections import PayerRoute
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.limits import CONTROL_NUMBER_MAX
from clearlane.kernel.log import get_logger
from clearlane.pipeline.inquiry.inquiry_runner import LEASE, open_inquiry
from clearlane.pipeline.inquiry.inquiry_transaction import AnyTransaction, PendingInquiry
from clearlane.pipeline.inquiry.inquiry_transactions import TRANSACTIONS
from clearlane.pipeline.route_connections import envelope_for, inquiry_file_routes
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import inquiries
from clearlane.store.database.database import StoreFault, Tx
from clearlane.store.delivery import batches
from clearlane.store.delivery.batches import BatchFile
from clearlane.store.delivery.control_numbers import next_control_number
from clearlane.store.inquiries import InquiryQueue, StoredInquiry

log = get_logger()

BATCH_INQUIRIES_MAX = 1_000

SECOND = 1_000_000


async def create_inquiry_batches(context: WorkContext, now: datetime) -> list[int]:
    """Put inquiries that waited long enough, or fill a file, into batches; return the ids of these."""
    await _move_to_files(context)
    async with context.database.read(inquiries.SCOPE) as tx:
        queues = await inquiries.due_queues(tx, to_micros(now))
    created: list[int] = []
    for queue in queues:
        routes = inquiry_file_routes(
            context.payer_access.connections(), queue.type, queue.payer_id, queue.transaction_set
        )
        if queue.mode != inquiries.BY_FILE or not routes:
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
    """Move inquiries to files if their payer has lost its real-time connection and takes files."""
    runner, connections = context.payer_access.inquiry_runner, context.payer_access.connections()
    if runner is None:
        return
    async with context.database.read(inquiries.SCOPE) as tx:
        queues = await inquiries.open_queues(tx)
    for queue in queues:
        payer = queue.type, queue.payer_id, queue.transaction_set
        if (
            queue.mode != inquiries.BY_FILE
            and not runner.can_reach(*payer)
            and inquiry_file_routes(connections, *payer)
        ):
            await context.database.write(
                inquiries.SCOPE,
                partial(inquiries.switch_to_files, queue=queue),
                actor=context.actor,
            )
            log.info("inquiries moved to files", type=queue.type, payer=queue.payer_id)


async def _create_batch(
    context: WorkContext, queue: InquiryQueue, route: PayerRoute, now: datetime
) -> int | None:
    """Create a batch of the oldest inquiries to a payer; return its id, None if it is too soon."""
    inquiries_max = min(route.claims_max, BATCH_INQUIRIES_MAX)
    async with context.database.read(inquiries.SCOPE) as tx:
        due = await inquiries.list_due(tx, queue, to_micros(now), inquiries_max)
    waited = due and due[0].next_at + SECOND * route.window_seconds <= to_micros(now)
    if not due or (len(due) < inquiries_max and not waited):
        return None
    until = to_micros(now + LEASE)
    leased = await context.database.write(
        inquiries.SCOPE, lambda tx: inquiries.lease(tx, due, until), actor=context.actor
    )
    # In the order in which a batch is loaded: a refusal names a set by its position.
    leased.sort(key=lambda one: (one.inquiry_request_id, one.number))
    return await _store_batch(context, route, leased, now) if leased else None


async def _store_batch(
    context: WorkContext, route: PayerRoute, leased: Sequence[StoredInquiry], now: datetime
) -> int:
    async with context.database.read(inquiries.SCOPE) as tx:
        await context.vault.load_keys_of(tx, [one.inquiry for one in leased])
    transaction = TRANSACTIONS[leased[0].transaction_set]
    pending = [open_inquiry(context.vault, one) for one in leased]
    file = await _write_file(context, transaction, route, pending, now)

    async def store_batch(tx: Tx) -> int:
        batch_id = await batches.create(
            tx,
            file,
            destination=(route.type, route.payer_id),
            kind="",
            members=(),
            now=to_micros(now),
        )
        await inquiries.mark_mailed(tx, leased, batch_id)
        tx.audit(f"{transaction.subject}.mailed", ids=[str(batch_id)], count=len(leased))
        return batch_id

    return await context.database.write(inquiries.SCOPE, store_batch, actor=context.actor)


async def _write_file(
    context: WorkContext,
    transaction: AnyTransaction,
    route: PayerRoute,
    pending: Sequence[PendingInquiry],
    now: datetime,
) -> BatchFile:
    control = await context.database.write(batches.SCOPE, next_control_number, actor=context.actor)
    if control > CONTROL_NUMBER_MAX:
        raise ValueError("every control number that fits into ISA13 was used")
    envelope = envelope_for(route, control, now)
    traced = [(one.over(route.hop_payer_id), one.trace) for one in pending]
    content = await asyncio.to_thread(lambda: b"".join(transaction.payload.write(traced, envelope)))
    name = batch_file_name(route.file_name, envelope, transaction.inquiry_set)
    vault = context.vault
    await vault.ensure_key(batches.OWNER)
    return BatchFile(
        route_id=route.route_id,
        hop=route.hop,
        hop_payer_id=route.hop_payer_id,
        control=control,
        name=name,
        digest=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        content=await asyncio.to_thread(vault.seal, batches.OWNER, batches.TABLE, name, content),
    )
