"""What a person decides about batches: send again, it has arrived, give me the files.

A batch in doubt waits for the payer's answer, or for somebody who knows more than its mailbox tells. Knows no face.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from clearlane.kernel.clock import micros
from clearlane.pipeline.outbound.deliver import locked, record
from clearlane.pipeline.outbound.dispatch import gather
from clearlane.pipeline.work_context import Desk
from clearlane.store import batches as store
from clearlane.store.batches import DELIVERED, FIXED, Batch, Member
from clearlane.store.database import Actor, Refused, Tx
from clearlane.store.route_health import Lane, all_lanes, set_lane

ANSWERED = (
    "The payer has answered {answered} of the {claims} claims of batch {id}, so it has these: sent again, they "
    "would reach it twice. Mark the batch as delivered, or resend it with --even-if-answered."
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A batch for a person."""

    batch: Batch
    members: tuple[Member, ...]
    lane: Lane | None
    answered: int
    """How many of its claims the payer has spoken of."""


@dataclass(frozen=True, slots=True)
class File:
    """A batch as a file to be carried by hand."""

    batch: Batch
    content: bytes = field(repr=False)


async def show(desk: Desk, id: int) -> Shown:
    """One batch, its claims, and how its lane stands."""
    async with desk.database.read(store.SCOPE) as tx:
        batch = _existing(await store.find(tx, id), id)
        members = tuple(await store.members(tx, id))
        lanes = await all_lanes(tx)
        answered = await store.answered(tx, id)
    return Shown(batch, members, lanes.get(batch.lane), answered)


async def resend(desk: Desk, id: int, *, actor: Actor, even_if_answered: bool = False) -> None:
    """It is not with the payer: send it now. A payer that rests is tried at once."""
    now = micros(desk.clock.now())

    async def job(tx: Tx) -> None:
        _existing(await store.find(tx, id), id)
        found, lane = await locked(tx, id)
        batch = _decidable(found, id, now)
        answered = await store.answered(tx, id)
        if answered and not even_if_answered:
            raise Refused(ANSWERED.format(id=id, answered=answered, claims=batch.claims))
        await store.move(tx, id, FIXED, next_at=now, attempts=batch.attempts)
        await set_lane(tx, replace(lane, failures=0, open_until=None, fault=""))
        tx.audit("batch.resend", ids=[str(id)], count=batch.claims, detail=batch.name)

    await desk.database.write(store.SCOPE, job, actor=actor)


async def mark_delivered(desk: Desk, id: int, *, actor: Actor) -> None:
    """It is with the payer, whoever brought it there: its claims count as sent."""
    async with desk.database.read(store.SCOPE) as tx:
        _decidable(await store.find(tx, id), id, micros(desk.clock.now()))
    await record(desk, id, actor=actor)


async def export(desk: Desk, *, actor: Actor) -> AsyncIterator[File]:
    """Everything that has not gone out, as the files that would go, one at a time.

    Claims that still wait are put into batches first, so that a claim is in one file only and that file is the
    one which goes out later, or is marked as delivered.
    """
    await gather(desk, desk.clock.now(), everything=True)
    async with desk.database.read(store.SCOPE) as tx:
        found = await store.undelivered(tx)

    async def job(tx: Tx) -> None:
        ids = [str(batch.id) for batch in found]
        tx.audit("batch.exported", ids=ids, count=sum(batch.claims for batch in found))

    await desk.database.write(store.SCOPE, job, actor=actor)
    for batch in found:
        async with desk.database.read(store.SCOPE) as tx:
            content = await store.content(tx, desk.outside.vault, batch)
        yield File(batch, content)


async def left_waiting(desk: Desk) -> int:
    """How many claims are in no batch."""
    async with desk.database.read(store.SCOPE) as tx:
        found = [*await store.piles(tx), *await store.piles(tx, held=True)]
    return sum(pile.claims for pile in found)


async def after_restore(desk: Desk, *, actor: Actor) -> tuple[int, int]:
    """The database was restored by other means than ours: what may have gone out since is in doubt."""
    return await desk.database.write(store.SCOPE, store.distrust, actor=actor)


def _existing(batch: Batch | None, id: int) -> Batch:
    if batch is None:
        raise Refused(f"There is no batch {id}. `clearlane batch list --all` shows them.")
    return batch


def _decidable(found: Batch | None, id: int, now: int) -> Batch:
    batch = _existing(found, id)
    if batch.state == DELIVERED:
        raise Refused(
            f"Batch {id} is delivered: sent again, its claims would reach the payer twice."
        )
    if batch.in_hand(now):
        raise Refused(f"Batch {id} is being sent at this moment. Look again in a while.")
    return batch
