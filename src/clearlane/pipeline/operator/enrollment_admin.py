"""Enrollments in an operator's hands: looked at, and moved as payers answer. Both are audited.

Load, decide, save; the table of an enrollment's life decides. Knows how the enroll verb seals an
enrollment; knows no face.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from clearlane.enrollment.decode import restore
from clearlane.enrollment.fields import Enrollment
from clearlane.enrollment.lifecycle import FIRST, NEXT, Event, State
from clearlane.enrollment.rules import notes
from clearlane.kernel.clock import micros
from clearlane.kernel.finding import Finding
from clearlane.kernel.ids import Scope
from clearlane.payers.model import Payer
from clearlane.store import enrollments as store
from clearlane.store.database import Actor, Database, Refused, System, Tx
from clearlane.store.enrollments import Standing, StoredEnrollment
from clearlane.store.vault import Vault

T = TypeVar("T")

ANY_CLIENT = System("an operator looks after the enrollments of all clients")


@dataclass(frozen=True, slots=True)
class Opened:
    """A stored enrollment, opened."""

    row: StoredEnrollment
    enrollment: Enrollment = field(repr=False)
    notes: tuple[Finding, ...]
    """What the operator should see before he sends it on."""
    reasons: tuple[str, ...] = field(default=(), repr=False)
    """Why, for each payer it stands with, in the order of ``row.standings``."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One event of a life. The payer is empty for what concerns none alone."""

    at: int
    event: str
    payer_type: str
    payer_id: str


@dataclass(frozen=True, slots=True)
class Move:
    """Where an enrollment stood with a payer, and where it stands now."""

    payer: Payer
    before: State
    now: State


async def browse(
    database: Database,
    vault: Vault,
    among: Callable[[StoredEnrollment], bool],
    *,
    action: str,
    limit: int | None = None,
    actor: Actor,
) -> list[Opened]:
    """Open the enrollments of any client that fit, the newest first. The audit names them all."""
    async with database.read(ANY_CLIENT) as tx:
        rows = [row for row in await store.everyone(tx) if among(row)][:limit]
        await vault.fetch(tx, [sealed for row in rows for sealed in _sealed(row)])

    async def note(tx: Tx) -> None:
        tx.audit(action, ids=[row.id for row in rows])

    await database.write(ANY_CLIENT, note, actor=actor)
    return [_opened(vault, row) for row in rows]


async def recall(
    database: Database, vault: Vault, id: str, *, actor: Actor
) -> tuple[Opened, list[Happened]]:
    """Open one enrollment of any client, with what happened to it."""
    scope = await _owner(database, id)

    async def look(tx: Tx) -> tuple[StoredEnrollment, list[Happened]]:
        row = await _existing(tx, scope, id)
        await vault.fetch(tx, _sealed(row))
        tx.audit("enrollment.read", ids=[id])
        return row, [Happened(*told) for told in await store.events(tx, id)]

    row, events = await database.write(scope, look, actor=actor)
    return _opened(vault, row), events


async def move(
    database: Database,
    vault: Vault,
    id: str,
    event: Event,
    payers: Sequence[Payer],
    *,
    reason: str,
    now: datetime,
    actor: Actor,
) -> list[Move]:
    """Move an enrollment with each of these payers, or with none of them.

    A payer it stands so with already is left as it is, and not told of.
    """
    scope = await _owner(database, id)
    await vault.ready(scope)

    async def job(tx: Tx) -> list[Move]:
        row = await _existing(tx, scope, id)
        moves = [each for each in _moves(row, event, payers) if each.now is not each.before]
        for each in moves:
            type, payer_id = each.payer.key
            place = store.reason_place(id, type, payer_id)
            sealed = vault.seal(scope, store.REASONS, place, reason.encode()) if reason else None
            standing = Standing(type, payer_id, each.now, micros(now), sealed)
            await store.move(tx, id, standing, event)
        if moves:
            told = ", ".join(f"{each.payer.type} {each.payer.payer_id}" for each in moves)
            tx.audit(f"enrollment.{event}", ids=[id], detail=told)
        return moves

    return await database.write(scope, job, actor=actor)


def _moves(row: StoredEnrollment, event: Event, payers: Sequence[Payer]) -> list[Move]:
    """What the event makes of it with each payer; an event that cannot happen refuses them all."""
    known = {standing.payer: State(standing.state) for standing in row.standings}
    moves = []
    for payer in payers:
        before = known.get(payer.key, FIRST)
        after = NEXT.get((before, event))
        if after is None:
            raise Refused(
                f"{row.id} is {before} with {payer.payer_id} ({payer.type}), so `{event}` does not "
                "apply. Nothing is changed."
            )
        moves.append(Move(payer, before, after))
    return moves


async def _owner(database: Database, id: str) -> Scope:
    async with database.read(ANY_CLIENT) as tx:
        scope = await store.owner(tx, id)
    return _there(scope, id)


async def _existing(tx: Tx, scope: Scope, id: str) -> StoredEnrollment:
    return _there(await store.find(tx, scope, id), id)


def _there(found: T | None, id: str) -> T:
    if found is None:
        raise Refused(f"There is no enrollment {id}. `clearlane enrollment list` shows them.")
    return found


def _opened(vault: Vault, row: StoredEnrollment) -> Opened:
    enrollment = restore(vault.open(row.scope, store.TABLE, row.id, row.payload))
    reasons = tuple(_reason(vault, row, standing) for standing in row.standings)
    return Opened(row, enrollment, tuple(notes(enrollment)), reasons)


def _reason(vault: Vault, row: StoredEnrollment, standing: Standing) -> str:
    if standing.reason is None:
        return ""
    place = store.reason_place(row.id, *standing.payer)
    return vault.open(row.scope, store.REASONS, place, standing.reason).decode()


def _sealed(row: StoredEnrollment) -> list[bytes]:
    return [row.payload, *(each.reason for each in row.standings if each.reason)]
