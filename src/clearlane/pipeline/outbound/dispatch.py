"""Dispatch: accepted claims are gathered into batches, and batches are brought to their payers.

    await gather(desk, now)        # claims whose window has passed, or that fill a file, become batches
    await deliver_due(desk, now)   # batches whose turn it is, each lane by itself
    await busy(desk, now)          # whether anything is due or on its way

The engine calls them by a tick that gathers, and starts one piece of work for each batch that is due. What is due
is a matter of our own rows and the clock, so nothing is lost with the engine's memory.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from weakref import WeakKeyDictionary

import structlog

from clearlane.claims.fields import ClaimKind
from clearlane.connect.routes import Line
from clearlane.engine.fault_injection import reached
from clearlane.engine.workflows import Steps
from clearlane.kernel import limits
from clearlane.kernel.clock import micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.ids import random_text
from clearlane.pipeline.intake.submit import PAYER_TYPES
from clearlane.pipeline.outbound.deliver import ARRIVED, attempt
from clearlane.pipeline.outbound.delivery_policy import SECOND, Key, heads, nowhere, preferred
from clearlane.pipeline.outbound.write_batch import NumbersExhausted, compose, node, waiting_claims
from clearlane.pipeline.work_context import Desk
from clearlane.store import batches as store
from clearlane.store.batches import Batch, Pile, Taken
from clearlane.store.database import Database, StoreFault, Tx
from clearlane.store.route_health import Lane, all_lanes, lock_lane, set_lane

log = structlog.get_logger()

TICK, DELIVER = "dispatch", "deliver"
QUEUE, TICKS = "deliveries", "gathering"
EVERY = "*/2 * * * * *"
HOLDER_CHARACTERS = 12
MINUTE = 60 * SECOND


async def tick(desk: Desk, steps: Steps) -> None:
    """Gather what waits, and start the delivery of what is due."""
    if desk.beyond is None:
        return
    # The one before may still gather, when it is large; and callers who hand in claims go first.
    if not _gate(desk).locked() and desk.outside.rush.over():
        await gather(desk, desk.clock.now())
    await _start_due(desk, steps)


async def deliver(desk: Desk, steps: Steps, batch_id: int) -> str:
    """One delivery of one batch; when it arrived, the next of the lane is started at once."""
    # Half a minute of trouble with the database is borne here; what fails for good is looked at again
    # when the time that a delivery may take is over.
    outcome = await steps.run(
        "attempt",
        lambda: attempt(desk, batch_id, steps.work),
        attempts=limits.DELIVERY_STEP_ATTEMPTS_MAX,
    )
    if outcome == ARRIVED:
        await _start_due(desk, steps)
    return outcome


async def gather(desk: Desk, now: datetime, *, everything: bool = False) -> list[int]:
    """Put claims that waited long enough, or are enough for a file, into batches; their ids.

    ``everything`` waits for no window and for no way to the payer.
    """
    async with _gate(desk):
        seen = await _look(desk)
        fixed: list[int] = []
        for ripe in _ripe(desk, seen, now, everything=everything):
            try:
                fixed += await _gather_pile(desk, ripe)
            except (StoreFault, ValueError) as fault:
                # One payer's trouble is not the others'; its claims go on waiting.
                log.warning(
                    "claims not gathered", fault=fault_code(fault), places=fault_frames(fault)
                )
            except NumbersExhausted:
                log.warning("claims not gathered", fault="control-numbers-exhausted")
        return fixed


async def deliver_due(desk: Desk, now: datetime) -> int:
    """Deliver what is due, lane beside lane, without the engine; how many arrived."""
    due = await _due(desk, now)
    return sum(await asyncio.gather(*(_clear_lane(desk, batch) for batch in due)))


async def busy(desk: Desk, now: datetime) -> bool:
    """Whether anything is due or on its way at this moment."""
    seen = await _look(desk)
    on_the_way = any(batch.in_hand(micros(now)) for batch in seen.batches)
    due = _heads(desk, seen.batches, seen.lanes, now)
    return on_the_way or bool(due) or bool(_ripe(desk, seen, now, everything=False))


async def wake(desk: Desk, lane: Key, now: datetime) -> None:
    """A payer is known to be back: what waits for it is tried at once, and not after its pause."""
    at = micros(now)

    async def job(tx: Tx) -> None:
        held = await lock_lane(tx, lane)
        await set_lane(tx, replace(held, failures=0, open_until=None))
        await store.hasten(tx, lane, at)

    await desk.database.write(store.SCOPE, job, actor=node(desk))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What waits and what is on its way."""

    piles: list[Pile]
    held: list[Pile]
    batches: list[Batch]
    lanes: dict[Key, Lane]


@dataclass(frozen=True, slots=True)
class _Ripe:
    """A pile of claims that is to be gathered."""

    pile: Pile
    line: Line
    room: int
    """How many batches may be made of it."""
    due: bool
    """Whether the last batch may be a small one."""
    held: bool

    @property
    def most(self) -> int:
        return min(self.line.claims_max, limits.CLAIMS_PER_SET_MAX)

    @property
    def any(self) -> bool:
        return self.room > 0 and (self.due or self.pile.claims >= self.most)


# One gathers at a time in a process: two at once would write the same claims, and one of them in vain.
_gates: WeakKeyDictionary[Database, asyncio.Lock] = WeakKeyDictionary()


def _gate(desk: Desk) -> asyncio.Lock:
    return _gates.setdefault(desk.database, asyncio.Lock())


async def _look(desk: Desk) -> _Seen:
    async with desk.database.read(store.SCOPE) as tx:
        return _Seen(
            await store.piles(tx),
            await store.piles(tx, held=True),
            await store.undelivered(tx),
            await all_lanes(tx),
        )


def _ripe(desk: Desk, seen: _Seen, now: datetime, *, everything: bool) -> list[_Ripe]:
    at = micros(now)
    waiting = Counter(batch.lane for batch in seen.batches if batch.state != store.IN_DOUBT)
    found = []
    for held, piles in ((True, seen.held), (False, seen.piles)):
        for pile in piles:
            key = (PAYER_TYPES[ClaimKind(pile.kind)], pile.payer_id)
            ways = desk.outside.lines().ways(*key)
            if not ways and not everything:
                continue
            line = preferred(seen.lanes.get(key), ways, at) if ways else nowhere(*key)
            free = held or everything
            # Behind files that cannot go out claims wait themselves, and later fill larger files.
            room = pile.claims if free else limits.LANE_BATCHES_WAITING_MAX - waiting[key]
            due = free or pile.oldest_at + SECOND * line.window_seconds <= at
            found.append(_Ripe(pile, line, room, due, held))
    return [ripe for ripe in found if ripe.any]


async def _gather_pile(desk: Desk, ripe: _Ripe) -> list[int]:
    fixed: list[int] = []
    left = ripe.pile.claims
    while left > 0 and len(fixed) < ripe.room and (ripe.due or left >= ripe.most):
        made = await _gather_batch(desk, ripe)
        if made is None:
            break
        fixed.append(made[0])
        left -= made[1]
    return fixed


async def _gather_batch(desk: Desk, ripe: _Ripe) -> tuple[int, int] | None:
    """Make one batch of the oldest claims of a pile: its id and how many they are."""
    line, kind = ripe.line, ClaimKind(ripe.pile.kind)
    outs = await waiting_claims(desk, ripe.pile.payer_id, kind, most=ripe.most, held=ripe.held)
    if not outs:
        return None
    composed = await compose(desk, line, kind, outs)
    reached("gathered")
    now = micros(desk.clock.now())
    try:
        batch_id = await desk.database.write(
            store.SCOPE,
            lambda tx: store.fix(
                tx,
                composed.written,
                lane=(line.type, ripe.pile.payer_id),
                members=composed.members,
                lines=composed.lines,
                now=now,
                held=ripe.held,
            ),
            actor=node(desk),
        )
    except Taken:  # another node was quicker; it has all of them or will have
        return None
    reached("fixed")
    return batch_id, len(composed.members)


async def _due(desk: Desk, now: datetime) -> list[Batch]:
    async with desk.database.read(store.SCOPE) as tx:
        batches, lanes = await store.undelivered(tx), await all_lanes(tx)
    return _heads(desk, batches, lanes, now)


def _heads(desk: Desk, batches: list[Batch], lanes: dict[Key, Lane], now: datetime) -> list[Batch]:
    """What is to be sent now, where there is a way."""
    lines = desk.outside.lines()
    return [batch for batch in heads(batches, lanes, micros(now)) if lines.ways(*batch.lane)]


async def _clear_lane(desk: Desk, batch: Batch) -> int:
    """Deliver a batch and those behind it, until one does not arrive."""
    arrived = 0
    due: Batch | None = batch
    while due is not None:
        holder = f"{desk.node}-{random_text(HOLDER_CHARACTERS)}"
        if await attempt(desk, due.id, holder) != ARRIVED:
            break
        arrived += 1
        found = await _due(desk, desk.clock.now())
        due = next((one for one in found if one.lane == batch.lane), None)
    return arrived


async def _start_due(desk: Desk, steps: Steps) -> None:
    """Start the delivery of what is due.

    The same batch is started once a minute at most, however often it is found due before its turn in the queue
    comes. Once is not enough: a piece of work that failed before it could note anything would never be tried again.
    """
    now = desk.clock.now()
    minute = micros(now) // MINUTE
    for batch in await _due(desk, now):
        key = f"{DELIVER}-{batch.id}-{batch.attempts}-{minute}"
        await steps.start(DELIVER, batch.id, key=key)
