"""Deliver: one attempt to bring one batch to its payer, and what it leaves behind.

The mark "Sending" is durable before anything leaves, so whoever finds it knows to look at the other side before
sending again: there, it is noted; absent, it is sent; and where the other side cannot say, it is in doubt until
the payer answers it or a person decides. What ends in between leaves the mark. Everything has a time limit.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import structlog

from clearlane.claims.facts import Fact, Kind
from clearlane.connect.port import Denied, Mailbox, Presence, Unreachable
from clearlane.connect.routes import Line
from clearlane.engine.fault_injection import reached
from clearlane.kernel import limits
from clearlane.kernel.clock import micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.pipeline.claim_status import ClaimFact, ready, tell
from clearlane.pipeline.outbound.delivery_policy import (
    SECOND,
    Failure,
    after_delivery,
    after_failure,
    preferred,
    rests,
)
from clearlane.pipeline.outbound.write_batch import KINDS, batched_claims, compose, node
from clearlane.pipeline.work_context import Desk
from clearlane.store import batches as store
from clearlane.store.batches import DELIVERED, FIXED, IN_DOUBT, SENDING, Batch, Written
from clearlane.store.database import Actor, Tx
from clearlane.store.route_health import Lane, all_lanes, lock_lane, set_lane

log = structlog.get_logger()

ARRIVED, LATER, SKIPPED, DOUBTFUL = "arrived", "later", "skipped", "in-doubt"
"""How an attempt ends."""

UNTOLD = "Whether the payer has the file cannot be known: its mailbox does not tell."
NO_WAY = "The route it was written for is gone, so nobody there can be asked or sent anything."
BROKE_OFF = "The connection failed in a way that we do not know."


async def attempt(desk: Desk, batch_id: int, holder: str) -> str:
    """Try to deliver a batch, if it is its turn; how that ended.

    ``holder`` names the piece of work: the same one again takes up what it began.
    """
    batch = await _rerouted(desk, batch_id)
    begun = await _begin(desk, batch, holder) if batch else None
    if begun is None:
        return SKIPPED
    reached("sending")
    line = _way(desk, begun.batch)
    if line is None and begun.look:
        return await _doubt(desk, begun.batch, NO_WAY)
    if line is None:
        return await _note_failure(desk, begun.batch, holder, Failure(Presence.ABSENT, NO_WAY))
    outcome = await _bring(desk, line, begun)
    if outcome is Presence.UNKNOWN:
        return await _doubt(desk, begun.batch, UNTOLD)
    if isinstance(outcome, Failure):
        return await _note_failure(desk, begun.batch, holder, outcome)
    reached("delivered")
    await record(desk, batch_id, actor=node(desk))
    reached("recorded")
    return ARRIVED


async def record(desk: Desk, batch_id: int, *, actor: Actor) -> None:
    """Note that a batch is with the payer, and tell its claims so, in one transaction."""
    now = desk.clock.now()
    async with desk.database.read(store.SCOPE) as tx:
        members = await store.members(tx, batch_id)
    told = [
        ClaimFact(
            one.request_id,
            one.vendor_id,
            one.site_id,
            Fact(kind=Kind.SENT, at=now, attempt=one.attempt),
        )
        for one in members
    ]
    vault = desk.outside.vault
    await ready(vault, told)

    async def job(tx: Tx) -> None:
        batch, lane = await locked(tx, batch_id)
        if batch.state not in {FIXED, SENDING, IN_DOUBT}:
            return
        await store.move(
            tx,
            batch_id,
            DELIVERED,
            next_at=batch.next_at,
            attempts=batch.attempts,
            delivered_at=micros(now),
        )
        await tell(tx, vault, told, now)
        await set_lane(tx, after_delivery(batch, lane))
        tx.audit("batch.delivered", ids=[str(batch_id)], count=batch.claims, detail=batch.name)

    await desk.database.write(store.SCOPE, job, actor=actor)


async def settle_doubts(desk: Desk, payer_id: str) -> list[int]:
    """Note as delivered what was in doubt and is answered, claim by claim; the ids.

    All of its claims, because after a restore a batch may be made of claims that went out in several others.
    """
    async with desk.database.read(store.SCOPE) as tx:
        found = [
            batch.id
            for batch in await store.undelivered(tx)
            if (batch.state, batch.payer_id) == (IN_DOUBT, payer_id)
            and batch.claims
            and await store.answered(tx, batch.id) == batch.claims
        ]
    for id in found:
        await record(desk, id, actor=node(desk))
        log.info("batch in doubt was answered", batch=id)
    return found


async def locked(tx: Tx, batch_id: int) -> tuple[Batch, Lane]:
    """A batch and its lane, held; always the lane first, so that nobody waits crosswise."""
    found = await store.find(tx, batch_id)
    assert found is not None, "batches are never deleted"
    lane = await lock_lane(tx, found.lane)
    batch = await store.lock(tx, batch_id)
    assert batch is not None
    return batch, lane


@dataclass(frozen=True, slots=True)
class _Begun:
    """A batch that is ours to send."""

    batch: Batch
    look: bool
    """Whether it may be there already."""


async def _doubt(desk: Desk, sent: Batch, fault: str) -> str:
    """Let a person decide, unless the payer's answer came before."""

    async def job(tx: Tx) -> None:
        batch = await store.lock(tx, sent.id)
        if batch is None or batch.state != SENDING:
            return
        await store.move(
            tx,
            batch.id,
            IN_DOUBT,
            next_at=batch.next_at,
            attempts=batch.attempts,
            failing_since=batch.failing_since,
            fault=fault,
        )
        tx.audit("batch.in-doubt", ids=[str(batch.id)], detail=batch.name)

    await desk.database.write(store.SCOPE, job, actor=node(desk))
    if sent.id in await settle_doubts(desk, sent.payer_id):
        return ARRIVED
    log.warning("batch in doubt", batch=sent.id)
    return DOUBTFUL


async def _rerouted(desk: Desk, batch_id: int) -> Batch | None:
    """The batch, written anew where it is to go another way than it was written for.

    Only what is known not to have gone out is written anew, so no claim goes both ways.
    """
    async with desk.database.read(store.SCOPE) as tx:
        batch = await store.find(tx, batch_id)
        lanes = await all_lanes(tx)
    if batch is None or batch.state != FIXED:
        return batch
    ways = _ways(desk, batch)
    if not ways:
        return None
    line = preferred(lanes.get(batch.lane), ways, micros(desk.clock.now()))
    if line.route_id == batch.route_id or not batch.claims:
        return batch  # inquiries stay with the way they were written for
    claims = await batched_claims(desk, batch)
    composed = await compose(desk, line, KINDS[batch.type], claims)
    if len(composed.members) != batch.claims:
        return None  # a claim that cannot be opened now: the log names it
    await _rewrite(desk, batch, composed.written)
    async with desk.database.read(store.SCOPE) as tx:
        return await store.find(tx, batch_id)


async def _rewrite(desk: Desk, batch: Batch, written: Written) -> None:
    async def job(tx: Tx) -> None:
        found = await store.lock(tx, batch.id)
        if found is None or (found.state, found.control) != (FIXED, batch.control):
            return
        await store.rewrite(tx, batch.id, written)
        tx.audit("batch.rerouted", ids=[str(batch.id)], detail=f"{batch.name} to {written.name}")

    await desk.database.write(store.SCOPE, job, actor=node(desk))


async def _begin(desk: Desk, batch: Batch, holder: str) -> _Begun | None:
    """Mark a batch as being sent, if it is its turn and nobody else sends on the lane."""
    now = micros(desk.clock.now())

    async def job(tx: Tx) -> _Begun | None:
        found, lane = await locked(tx, batch.id)
        mine = found.state == SENDING and found.holder == holder
        if not mine:
            if found.state not in {FIXED, SENDING} or found.next_at > now or rests(lane, now):
                return None
            if found.state == FIXED and found.route_id != batch.route_id:
                return None
            beside = await store.undelivered(tx)
            if any(one.in_hand(now) for one in beside if one.lane == found.lane):
                return None
        await store.move(
            tx,
            found.id,
            SENDING,
            next_at=now + 2 * SECOND * _seconds(found),
            holder=holder,
            attempts=found.attempts + (not mine),
            failing_since=found.failing_since,
            fault=found.fault,
        )
        return _Begun(found, look=found.state == SENDING)

    return await desk.database.write(store.SCOPE, job, actor=node(desk))


async def _bring(desk: Desk, line: Line, begun: _Begun) -> Presence | Failure:
    """Look where that is needed, and send. THERE, UNKNOWN where the other side cannot tell, or a failure."""
    batch, looking = begun.batch, begun.look
    async with desk.database.read(store.SCOPE) as tx:
        content = await store.content(tx, desk.outside.vault, batch)
    try:
        async with _opened(desk, line) as mailbox, asyncio.timeout(_seconds(batch)):
            if looking:
                found = await mailbox.look(batch.name)
                if found is not Presence.ABSENT:
                    return found
            looking = False
            await mailbox.put(batch.name, content)
    except Unreachable as fault:
        return Failure(Presence.UNKNOWN if looking else fault.arrival, str(fault))
    except Denied as fault:
        # It was refused, so it is not there; a refused look says nothing.
        arrival = Presence.UNKNOWN if looking else Presence.ABSENT
        return Failure(arrival, str(fault), lasting=True)
    except TimeoutError:
        return Failure(Presence.UNKNOWN, f"It took longer than {_seconds(batch)} seconds.")
    except Exception as fault:  # noqa: BLE001  (one payer's cable must not stop the others)
        log.warning(
            "delivery failed", batch=batch.id, fault=fault_code(fault), places=fault_frames(fault)
        )
        return Failure(Presence.UNKNOWN, BROKE_OFF)
    return Presence.THERE


async def _note_failure(desk: Desk, batch: Batch, holder: str, failure: Failure) -> str:
    now = micros(desk.clock.now())

    async def job(tx: Tx) -> None:
        found, lane = await locked(tx, batch.id)
        if found.state != SENDING or found.holder != holder:
            return
        after = after_failure(found, lane, _ways(desk, found), failure, now)
        await store.move(
            tx,
            found.id,
            after.state,
            next_at=after.next_at,
            attempts=found.attempts,
            failing_since=after.failing_since,
            fault=failure.fault,
        )
        await set_lane(tx, after.lane)

    await desk.database.write(store.SCOPE, job, actor=node(desk))
    log.warning("batch not delivered", batch=batch.id, arrival=failure.arrival.value)
    return LATER


@asynccontextmanager
async def _opened(desk: Desk, line: Line) -> AsyncIterator[Mailbox]:
    mailbox = desk.outside.lines().open(line)
    try:
        yield mailbox
    finally:
        with suppress(Exception):  # it is about to be forgotten
            async with asyncio.timeout(limits.MAILBOX_CLOSE_SECONDS_MAX):
                await mailbox.close()


def _ways(desk: Desk, batch: Batch) -> Sequence[Line]:
    return desk.outside.lines().ways(batch.type, batch.payer_id)


def _way(desk: Desk, batch: Batch) -> Line | None:
    """The way a batch was written for."""
    return next((way for way in _ways(desk, batch) if way.route_id == batch.route_id), None)


def _seconds(batch: Batch) -> int:
    """How long bringing it may take."""
    return limits.DELIVERY_SECONDS_MAX + batch.bytes // limits.TRANSFER_BYTES_PER_SECOND_MIN
