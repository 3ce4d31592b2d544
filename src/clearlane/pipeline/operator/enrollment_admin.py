"""List and load enrollments for operators, and record what payers answered. Every access is audited.

``clearlane.enrollment.lifecycle`` decides which event is possible. Knows how an enrollment is sealed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from clearlane.enrollment.decode import restore
from clearlane.enrollment.fields import Enrollment
from clearlane.enrollment.lifecycle import INITIAL_STATE, NEXT, EnrollmentEvent, EnrollmentState
from clearlane.enrollment.rules import operator_notes
from clearlane.events.event import EventData, NewEvent
from clearlane.kernel.clock import to_micros
from clearlane.kernel.finding import Finding
from clearlane.kernel.ids import Scope
from clearlane.payers.model import Payer
from clearlane.pipeline.work_context import SimulatedEnrollments
from clearlane.store import enrollments
from clearlane.store.database.database import (
    Actor,
    Database,
    OperationRefused,
    SystemScope,
    Tx,
    write_audit,
)
from clearlane.store.enrollments import EnrollmentPayerState, StoredEnrollment
from clearlane.store.vault.vault import Vault

T = TypeVar("T")

ANY_CLIENT = SystemScope("an operator looks after the enrollments of all clients")


@dataclass(frozen=True, slots=True)
class EnrollmentDetails:
    """A stored enrollment with its opened content."""

    row: StoredEnrollment
    enrollment: Enrollment = field(repr=False)
    notes: tuple[Finding, ...]
    """What the operator should know before sending it to a payer."""
    reasons: tuple[str, ...] = field(default=(), repr=False)
    """The reason for each payer state, in the order of ``row.payer_states``."""


@dataclass(frozen=True, slots=True)
class EnrollmentEventRecord:
    """One event of an enrollment. The payer is empty if it concerns all."""

    at: int
    event: str
    payer_type: str
    payer_id: str


@dataclass(frozen=True, slots=True)
class EnrollmentChange:
    """The state of an enrollment with one payer before and after an event."""

    payer: Payer
    before: EnrollmentState
    after: EnrollmentState


async def list_enrollments(
    database: Database,
    vault: Vault,
    among: Callable[[StoredEnrollment], bool],
    *,
    action: str,
    limit: int | None = None,
    actor: Actor,
) -> list[EnrollmentDetails]:
    """List the enrollments of any client that ``among`` selects, the newest first. The audit names them all."""
    async with database.read(ANY_CLIENT) as tx:
        rows = [row for row in await enrollments.list_all(tx) if among(row)][:limit]
        await vault.load_keys_of(tx, [sealed for row in rows for sealed in _sealed_values(row)])

    await write_audit(database, ANY_CLIENT, action, ids=[row.id for row in rows], actor=actor)
    return [_open(vault, row) for row in rows]


async def load_enrollment(
    database: Database, vault: Vault, id: str, *, actor: Actor
) -> tuple[EnrollmentDetails, list[EnrollmentEventRecord]]:
    """Load one enrollment of any client, with its events."""
    scope = await _find_scope(database, id)

    async def find(tx: Tx) -> tuple[StoredEnrollment, list[EnrollmentEventRecord]]:
        row = await _find_row(tx, scope, id)
        await vault.load_keys_of(tx, _sealed_values(row))
        tx.audit("enrollment.read", ids=[id])
        return row, [
            EnrollmentEventRecord(*values) for values in await enrollments.list_events(tx, id)
        ]

    row, events = await database.write(scope, find, actor=actor)
    return _open(vault, row), events


async def apply_event(
    database: Database,
    vault: Vault,
    id: str,
    event: EnrollmentEvent,
    payers: Sequence[Payer],
    *,
    reason: str,
    now: datetime,
    actor: Actor,
    simulated: SimulatedEnrollments | None = None,
) -> list[EnrollmentChange]:
    """Apply an event to an enrollment with each of these payers, or with none of them; return the changes.

    A payer for which nothing would change is left out. ``simulated`` lets a sandbox's payers answer what was
    submitted to them.
    """
    scope = await _find_scope(database, id)
    await vault.ensure_key(scope)

    async def job(tx: Tx) -> list[EnrollmentChange]:
        row = await _find_row(tx, scope, id)
        changes = await record_event(tx, vault, row, event, payers, reason=reason, now=now)
        if simulated is not None and event is EnrollmentEvent.START and changes:
            await simulated.agenda.plan(tx, [id])
        return changes

    return await database.write(scope, job, actor=actor)


async def record_event(
    tx: Tx,
    vault: Vault,
    row: StoredEnrollment,
    event: EnrollmentEvent,
    payers: Sequence[Payer],
    *,
    reason: str,
    now: datetime,
) -> list[EnrollmentChange]:
    """Record an event of a locked enrollment with each of these payers, audited; return the changes."""
    changes = [each for each in _changes(row, event, payers) if each.after is not each.before]
    for each in changes:
        type, payer_id = each.payer.key
        key = enrollments.reason_row_key(row.id, type, payer_id)
        sealed = (
            vault.seal(row.scope, enrollments.REASONS, key, reason.encode()) if reason else None
        )
        state = EnrollmentPayerState(type, payer_id, each.after, to_micros(now), sealed)
        await enrollments.set_payer_state(tx, row.id, state, event)
    if changes:
        names = ", ".join(f"{each.payer.type} {each.payer.payer_id}" for each in changes)
        tx.audit(f"enrollment.{event}", ids=[row.id], detail=names)
        if type_of_event := EVENT_TYPES.get(event):
            tx.add_events(
                [_event(type_of_event, row.scope, row.id, each.payer, now) for each in changes]
            )
    return changes


async def open_enrollment(tx: Tx, vault: Vault, row: StoredEnrollment) -> EnrollmentDetails:
    """Return a stored enrollment with its content."""
    await vault.load_keys_of(tx, _sealed_values(row))
    return _open(vault, row)


# The vendor gets no event when work on it begins.
EVENT_TYPES = {
    EnrollmentEvent.APPROVE: "enrollment.approved",
    EnrollmentEvent.REFUSE: "enrollment.refused",
}


def _event(type: str, scope: Scope, id: str, payer: Payer, now: datetime) -> NewEvent:
    data: EventData = {
        "enrollment_id": id,
        "payer_id": payer.payer_id,
        "payer_type": payer.type,
    }
    return NewEvent(type, to_micros(now), scope.vendor, scope.site, data=data)


def _changes(
    row: StoredEnrollment, event: EnrollmentEvent, payers: Sequence[Payer]
) -> list[EnrollmentChange]:
    """Return the change with each payer; refuse all if the event is not possible with one."""
    known = {each.payer: EnrollmentState(each.state) for each in row.payer_states}
    changes = []
    for payer in payers:
        before = known.get(payer.key, INITIAL_STATE)
        after = NEXT.get((before, event))
        if after is None:
            raise OperationRefused(
                f"{row.id} is {before} with {payer.payer_id} ({payer.type}), so `{event}` does not "
                "apply. Nothing is changed."
            )
        changes.append(EnrollmentChange(payer, before, after))
    return changes


async def _find_scope(database: Database, id: str) -> Scope:
    async with database.read(ANY_CLIENT) as tx:
        scope = await enrollments.find_owner(tx, id)
    return _require(scope, id)


async def _find_row(tx: Tx, scope: Scope, id: str) -> StoredEnrollment:
    return _require(await enrollments.find(tx, scope, id), id)


def _require(found: T | None, id: str) -> T:
    if found is None:
        raise OperationRefused(
            f"There is no enrollment {id}. `clearlane enrollment list` shows them."
        )
    return found


def _open(vault: Vault, row: StoredEnrollment) -> EnrollmentDetails:
    enrollment = restore(vault.open(row.scope, enrollments.TABLE, row.id, row.payload))
    reasons = tuple(_reason(vault, row, state) for state in row.payer_states)
    return EnrollmentDetails(row, enrollment, tuple(operator_notes(enrollment)), reasons)


def _reason(vault: Vault, row: StoredEnrollment, state: EnrollmentPayerState) -> str:
    if state.reason is None:
        return ""
    key = enrollments.reason_row_key(row.id, *state.payer)
    return vault.open(row.scope, enrollments.REASONS, key, state.reason).decode()


def _sealed_values(row: StoredEnrollment) -> list[bytes]:
    return [row.payload, *(each.reason for each in row.payer_states if each.reason)]
