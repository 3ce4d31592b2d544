"""Attempt to deliver one batch to its payer, and record the result.

The state Sending is durable before anything is sent, and so is a mark directly before the step after which the payer has
the file. After a crash without that mark the file is sent again; with it the node looks into the payer's mailbox first: found,
the delivery is recorded; absent, the file is sent; if the mailbox cannot tell, the batch is in doubt until the payer acknowledges it or a person decides. Every transfer has a time limit.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from clearlane.claims.batch_lifecycle import BatchEvent, BatchState, allows
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.connect.connections import PayerRoute
from clearlane.connect.port import Denied, Mailbox, Presence, Unreachable
from clearlane.engine.fault_injection import crash_point
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.kernel.traces import now_nanos
from clearlane.pipeline.claim_events import in_doubt_events
from clearlane.pipeline.claim_traces import batch_trace, trace_claims
from clearlane.pipeline.filing.filing_leaves import delivery_leaves
from clearlane.pipeline.outbound.delivery_policy import (
    SECOND,
    DeliveryFailure,
    after_delivery,
    after_failure,
    choose_route,
    is_paused,
    route_events,
)
from clearlane.pipeline.outbound.write_batch import compose_batch, load_batch_claims
from clearlane.pipeline.record_facts import ClaimFact, ensure_keys, record_facts
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.audit.set_back import anchor_now, is_set_back
from clearlane.store.claims import claim_updates
from clearlane.store.database.database import Actor, Tx, require_row
from clearlane.store.delivery import batches, proof_log, route_counts
from clearlane.store.delivery.batches import Batch, BatchFile
from clearlane.store.delivery.route_health import (
    RouteHealth,
    all_route_health,
    lock_route_health,
    set_route_health,
)
from clearlane.store.events.delivery_failures import DeliveryFailureRow, add_failure
from clearlane.store.files import due_responses
from clearlane.store.files.due_responses import ResponseSource
from clearlane.store.payments import claim_payments

log = get_logger()

# How long a delivery may take regardless of its size.
DELIVERY_SECONDS_MAX = 300

ARRIVED, LATER, SKIPPED, DOUBTFUL = "arrived", "later", "skipped", "in-doubt"
"""The results of an attempt."""

PRESENCE_UNKNOWN = "It is not known whether the payer has the file: its mailbox cannot tell."
ROUTE_GONE = "The route it was written for is gone, so the payer cannot be reached over it."
TAKEN_OVER = "Another node sends it by now."
UNKNOWN_FAILURE = "The connection failed for an unknown reason."


async def attempt_delivery(context: WorkContext, batch_id: int, holder: str) -> str:
    """Try to deliver a batch, if it is due; return the result.

    ``holder`` names the piece of work: the same one again continues what it began.
    """
    if await is_set_back(context.database):
        return SKIPPED
    batch = await _reroute(context, batch_id)
    if batch is None or not _is_in_send_window(context, batch):
        return SKIPPED
    sending = await _mark_sending(context, batch, holder)
    if sending is None:
        return SKIPPED
    crash_point("sending")
    route = _route_of(context, sending.batch)
    if route is None and sending.may_be_there:
        return await _mark_in_doubt(context, sending.batch, ROUTE_GONE)
    if route is None:
        return await _record_failure(
            context, sending.batch, holder, DeliveryFailure(Presence.ABSENT, ROUTE_GONE)
        )
    began = now_nanos()
    result = await _transfer(context, route, sending, holder)
    if result is Presence.UNKNOWN:
        return await _mark_in_doubt(context, sending.batch, PRESENCE_UNKNOWN)
    if isinstance(result, DeliveryFailure):
        return await _record_failure(context, sending.batch, holder, result)
    crash_point("delivered")
    await record_delivery(context, batch_id, actor=context.actor, began=began)
    crash_point("recorded")
    return ARRIVED


async def record_delivery(
    context: WorkContext, batch_id: int, *, actor: Actor, began: int = 0
) -> None:
    """Record in one transaction that a batch was delivered and its claims were sent."""
    now, began = context.clock.now(), began or now_nanos()
    async with context.database.read(batches.SCOPE) as tx:
        members = await batches.list_members(tx, batch_id)
    claim_facts = [
        ClaimFact(
            one.claim_number,
            one.vendor_id,
            one.site_id,
            Fact(kind=FactKind.SENT, at=now, attempt=one.attempt),
        )
        for one in members
    ]
    vault = context.vault
    await ensure_keys(vault, claim_facts)

    async def job(tx: Tx) -> Batch | None:
        batch, health = await lock_batch(tx, batch_id)
        if not allows(batch.state, BatchEvent.DELIVERED):
            return None
        await batches.apply_event(tx, batch, BatchEvent.DELIVERED, delivered_at=to_micros(now))
        numbers = sorted(one.claim_number for one in members)
        parts = zip(numbers, await batches.read_part_digests(tx, batch_id), strict=False)
        leaves = delivery_leaves(batch, parts, to_micros(now))
        await proof_log.add_delivery(tx, batch_id, leaves, to_micros(now))
        await record_facts(tx, vault, claim_facts, now, context.answer_days)
        await claim_payments.mark_due(tx, batch.payer_id, [one.claim_number for one in members])
        await due_responses.add_of_claims(
            tx,
            [one.claim_number for one in members],
            ResponseSource.BATCH,
            batch_id,
            to_micros(now),
        )
        await due_responses.mark_ready(tx, ResponseSource.BATCH, batch_id)
        after = after_delivery(batch, health)
        await set_route_health(tx, after)
        tx.add_events(route_events(health, after, to_micros(now)))
        await route_counts.count_delivery(
            tx, batch.destination, batch.route_id, deliveries=1, at=to_micros(now)
        )
        tx.audit("batch.delivered", ids=[str(batch_id)], count=batch.claims, detail=batch.name)
        return batch

    delivered = await context.database.write(batches.SCOPE, job, actor=actor)
    if delivered is not None:
        log.info("batch delivered", **_log_facts(delivered), claims=delivered.claims)
        await trace_claims(
            context, "claims sent", [one.claim_number for one in members], began=began,
            within=batch_trace(batch_id), batch_id=batch_id, payer=delivered.payer_id,
        )  # fmt: skip


async def confirm_answered_batches(context: WorkContext, sender: str) -> list[int]:
    """Record as delivered the batches in doubt whose claims have all been acknowledged; return their ids.

    ``sender`` is the payer, or the hop, that acknowledges. All claims, because after a restore a batch may hold claims that were sent in several others.
    """
    async with context.database.read(batches.SCOPE) as tx:
        found = [
            batch.id
            for batch in await batches.list_undelivered(tx)
            if batch.state is BatchState.IN_DOUBT
            and (batch.hop or batch.payer_id) == sender
            and batch.claims
            and await batches.count_answered(tx, batch.id) == batch.claims
        ]
    for id in found:
        log.info("batch in doubt was answered", batch=id, payer=sender)
        await record_delivery(context, id, actor=context.actor)
    return found


async def lock_batch(tx: Tx, batch_id: int) -> tuple[Batch, RouteHealth]:
    """Lock and return a batch and the health of its routes, the latter first, so that no two wait for each other."""
    found = require_row(await batches.find(tx, batch_id), "a batch")
    health = await lock_route_health(tx, found.destination)
    return require_row(await batches.lock(tx, batch_id), "a batch"), health


@dataclass(frozen=True, slots=True)
class _SendingBatch:
    """A batch that this piece of work sends."""

    batch: Batch
    may_be_there: bool
    """Whether the payer may have the file already."""


async def _mark_in_doubt(context: WorkContext, sent: Batch, fault: str) -> str:
    """Mark a batch as in doubt, unless the payer has acknowledged it already."""

    async def job(tx: Tx) -> None:
        batch = await batches.lock(tx, sent.id)
        if batch is None or not allows(batch.state, BatchEvent.CANNOT_BE_KNOWN):
            return
        await batches.apply_event(
            tx,
            batch,
            BatchEvent.CANNOT_BE_KNOWN,
            failing_since=batch.failing_since,
            fault=fault,
        )
        members = await batches.list_members(tx, batch.id)
        counted = await claim_updates.count_event(tx, [one.claim_number for one in members])
        tx.add_events(in_doubt_events(counted, to_micros(context.clock.now())))
        tx.audit("batch.in_doubt", ids=[str(batch.id)], detail=batch.name)

    await context.database.write(batches.SCOPE, job, actor=context.actor)
    if sent.id in await confirm_answered_batches(context, sent.hop or sent.payer_id):
        return ARRIVED
    log.warning("batch in doubt", **_log_facts(sent), reason=fault)
    return DOUBTFUL


async def _reroute(context: WorkContext, batch_id: int) -> Batch | None:
    """Return the batch, written again if it is to take another route than it was written for.

    Only what is known not to have been sent is written again, so that no claim takes both routes.
    """
    async with context.database.read(batches.SCOPE) as tx:
        batch = await batches.find(tx, batch_id)
        health_of = await all_route_health(tx)
    if batch is None or not allows(batch.state, BatchEvent.REROUTED):
        return batch
    routes = _payer_routes(context, batch)
    if not routes:
        return None
    route = choose_route(health_of.get(batch.destination), routes, to_micros(context.clock.now()))
    if route.route_id == batch.route_id or not batch.claims:
        return batch  # a batch of inquiries stays with the route it was written for
    claims = await load_batch_claims(context, batch)
    composed = await compose_batch(context, route, ClaimKind(batch.kind), claims)
    if len(composed.members) != batch.claims:
        return None  # a claim that cannot be opened; the log names it
    await _rewrite(context, batch, composed.file)
    async with context.database.read(batches.SCOPE) as tx:
        return await batches.find(tx, batch_id)


async def _rewrite(context: WorkContext, batch: Batch, written: BatchFile) -> None:
    async def job(tx: Tx) -> None:
        found = await batches.lock(tx, batch.id)
        if found is None or (found.state, found.control) != (batch.state, batch.control):
            return
        await batches.replace_file(tx, found, written)
        tx.audit("batch.rerouted", ids=[str(batch.id)], detail=f"{batch.name} to {written.name}")

    await context.database.write(batches.SCOPE, job, actor=context.actor)


async def _mark_sending(context: WorkContext, batch: Batch, holder: str) -> _SendingBatch | None:
    """Mark a batch as being sent, if it is due and no other is being sent to its payer."""
    now = to_micros(context.clock.now())

    async def job(tx: Tx) -> _SendingBatch | None:
        found, health = await lock_batch(tx, batch.id)
        if not allows(found.state, BatchEvent.ATTEMPTED):
            return None
        if found.holder != holder:  # else it continues what it began
            if not found.is_due(now) or is_paused(health, now):
                return None
            if found.state is BatchState.READY and found.route_id != batch.route_id:
                return None
            beside = await batches.list_undelivered(tx)
            if any(
                one.is_being_sent(now) for one in beside if one.destination == found.destination
            ):
                return None
        lease_until = now + 2 * SECOND * _seconds_max(found)
        await batches.begin_attempt(tx, found, holder=holder, lease_until=lease_until)
        if found.holder != holder:
            await route_counts.count_delivery(tx, found.destination, found.route_id, attempts=1)
        return _SendingBatch(found, may_be_there=found.arriving)

    return await context.database.write(batches.SCOPE, job, actor=context.actor)


async def _mark_arriving(context: WorkContext, batch: Batch, holder: str) -> None:
    """Record that the last step of a transfer begins, and anchor the record, so that no older database forgets it."""

    async def job(tx: Tx) -> bool:
        if not await batches.mark_arriving(tx, batch.id, holder=holder):
            return False
        tx.audit("batch.sending", ids=[str(batch.id)], count=batch.claims, detail=batch.name)
        return True

    if not await context.database.write(batches.SCOPE, job, actor=context.actor):
        raise Unreachable(TAKEN_OVER, Presence.ABSENT)
    await anchor_now(context.database, context.clock)
    crash_point("arriving")


async def _transfer(
    context: WorkContext, route: PayerRoute, sending: _SendingBatch, holder: str
) -> Presence | DeliveryFailure:
    """Look into the mailbox if that is needed, and send. Return THERE, UNKNOWN or a failure."""
    batch, looking = sending.batch, sending.may_be_there
    unclear = Presence.UNKNOWN if looking else Presence.ABSENT

    async def before_arrival() -> None:
        nonlocal unclear
        await _mark_arriving(context, batch, holder)
        unclear = Presence.UNKNOWN

    async with context.database.read(batches.SCOPE) as tx:
        content = await batches.read_content(tx, context.vault, batch)
    try:
        async with _open_mailbox(context, route) as mailbox, asyncio.timeout(_seconds_max(batch)):
            if looking:
                found = await mailbox.look(batch.name)
                if found is not Presence.ABSENT:
                    return found
            looking = False
            await mailbox.put(batch.name, content, before_arrival)
    except Unreachable as fault:
        arrival = Presence.UNKNOWN if looking else fault.arrival
        return DeliveryFailure(unclear if arrival is Presence.UNKNOWN else arrival, str(fault))
    except Denied as fault:
        # A refused file is not there; a refused look says nothing.
        arrival = Presence.UNKNOWN if looking else Presence.ABSENT
        return DeliveryFailure(arrival, str(fault), lasting=True)
    except TimeoutError:
        return DeliveryFailure(unclear, f"It took longer than {_seconds_max(batch)} seconds.")
    except Exception as fault:  # noqa: BLE001  (one connection must not stop the others)
        log.warning(
            "delivery failed",
            **_log_facts(batch),
            fault=fault_code(fault),
            places=fault_frames(fault),
        )
        return DeliveryFailure(unclear, UNKNOWN_FAILURE)
    return Presence.THERE


async def _record_failure(
    context: WorkContext, batch: Batch, holder: str, failure: DeliveryFailure
) -> str:
    now = to_micros(context.clock.now())

    async def job(tx: Tx) -> None:
        found, health = await lock_batch(tx, batch.id)
        if found.holder != holder:
            return
        after = after_failure(found, health, _payer_routes(context, found), failure, now)
        await batches.apply_event(
            tx,
            found,
            after.event,
            not_before=after.not_before,
            failing_since=after.failing_since,
            fault=failure.fault,
        )
        await set_route_health(tx, after.health)
        tx.add_events(route_events(health, after.health, now))
        await route_counts.count_delivery(tx, found.destination, found.route_id, failures=1)
        await add_failure(
            tx,
            DeliveryFailureRow(
                found.type, found.payer_id, found.route_id, found.id, now, failure.fault
            ),
        )

    await context.database.write(batches.SCOPE, job, actor=context.actor)
    log.warning(
        "batch not delivered",
        **_log_facts(batch),
        arrival=failure.arrival.value,
        attempt=batch.attempts + 1,
        reason=failure.fault,
    )
    return LATER


@asynccontextmanager
async def _open_mailbox(context: WorkContext, route: PayerRoute) -> AsyncIterator[Mailbox]:
    mailbox = context.payer_access.connections().open_mailbox(route)
    try:
        yield mailbox
    finally:
        with suppress(Exception):  # the result is known
            async with asyncio.timeout(limits.MAILBOX_CLOSE_SECONDS_MAX):
                await mailbox.close()


def _log_facts(batch: Batch) -> dict[str, str | int]:
    """Return what a log line says of a batch: where it goes and over which route."""
    return {
        "batch": batch.id,
        "payer": batch.payer_id,
        "type": batch.type,
        "route": batch.route_id,
    }


def _payer_routes(context: WorkContext, batch: Batch) -> Sequence[PayerRoute]:
    return context.payer_access.connections().mailbox_routes(batch.type, batch.payer_id)


def _route_of(context: WorkContext, batch: Batch) -> PayerRoute | None:
    """Return the route a batch was written for; None if it is gone."""
    return next(
        (route for route in _payer_routes(context, batch) if route.route_id == batch.route_id), None
    )


def _is_in_send_window(context: WorkContext, batch: Batch) -> bool:
    """Return whether a batch may go now: it was due when its delivery was started, and the window may be over."""
    route = _route_of(context, batch)
    return route is None or route.sends_at(context.clock.now())


def _seconds_max(batch: Batch) -> int:
    """Return how long the transfer may take."""
    return DELIVERY_SECONDS_MAX + batch.bytes // limits.TRANSFER_BYTES_PER_SECOND_MIN
