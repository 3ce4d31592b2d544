"""List and load enrollments for operators, and record what payers answered. Every access is audited.

``clearlane.enrollment.lifecycle`` decides which event is possible. Knows how an enrollment is sealed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple, TypeVar

from clearlane.accounts.model import Site
from clearlane.enrollment.decode import restore
from clearlane.enrollment.fields import Enrollment
from clearlane.enrollment.lifecycle import INITIAL_STATE, NEXT, EnrollmentEvent, EnrollmentState
from clearlane.enrollment.rules import operator_notes
from clearlane.events.event import EventValue, NewEvent
from clearlane.kernel.clock import to_local, to_micros
from clearlane.kernel.finding import Finding
from clearlane.kernel.ids import Scope
from clearlane.payers.enrolled_transactions import TRANSACTION_WORDS, EnrolledTransaction
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
from clearlane.store.enrollments import EnrollmentKey, EnrollmentPayerState, StoredEnrollment
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
    """One event of an enrollment. Payer and transaction are empty if it concerns all."""

    at: int
    event: str
    payer_type: str
    payer_id: str
    transaction: str


class EnrolledWith(NamedTuple):
    """What a provider is enrolled for, and with which payer."""

    payer: Payer
    transaction: EnrolledTransaction = EnrolledTransaction.CLAIMS

    @property
    def key(self) -> EnrollmentKey:
        """As stored states name it."""
        return (*self.payer.key, self.transaction.value)

    @property
    def words(self) -> str:
        """The payer with type and transaction, for people."""
        return f"{self.payer.payer_id} ({self.payer.type}, {TRANSACTION_WORDS[self.transaction]})"


@dataclass(frozen=True, slots=True)
class EnrollmentChange:
    """The state of an enrollment with one payer for one transaction before and after an event."""

    of: EnrolledWith
    before: EnrollmentState
    after: EnrollmentState
    live_from: date | None = None
    """The first day on which an approved one counts."""


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
    enrolled: Sequence[EnrolledWith],
    *,
    reason: str,
    now: datetime,
    actor: Actor,
    sites: Iterable[Site],
    live_from: date | None = None,
    simulated: SimulatedEnrollments | None = None,
) -> list[EnrollmentChange]:
    """Apply an event to an enrollment with each of these payers, or with none of them; return the changes.

    One for which nothing would change is left out. An approval counts from ``live_from`` on, by default from the
    site's today. ``simulated`` lets a sandbox's payers answer what was submitted to them.
    """
    scope = await _find_scope(database, id)
    await vault.ensure_key(scope)
    today = site_today(sites, scope, now)

    async def job(tx: Tx) -> list[EnrollmentChange]:
        row = await _find_row(tx, scope, id)
        changes = await record_event(
            tx,
            vault,
            row,
            event,
            enrolled,
            reason=reason,
            today=today,
            live_from=live_from,
            now=now,
        )
        if simulated is not None and event is EnrollmentEvent.START and changes:
            await simulated.agenda.plan(tx, [id])
        return changes

    return await database.write(scope, job, actor=actor)


def site_today(sites: Iterable[Site], scope: Scope, now: datetime) -> date:
    """Return the day of a moment in the time zone of a site."""
    zone = next((one.time_zone for one in sites if one.scope == scope), "UTC")
    return to_local(now, zone).date()


async def record_event(
    tx: Tx,
    vault: Vault,
    row: StoredEnrollment,
    event: EnrollmentEvent,
    enrolled: Sequence[EnrolledWith],
    *,
    reason: str,
    today: date,
    live_from: date | None = None,
    now: datetime,
) -> list[EnrollmentChange]:
    """Record an event of a locked enrollment with each of these payers, audited; return the changes.

    An approval counts from ``live_from`` on, or from ``today``, the site's.
    """
    changes = _changes(row, event, enrolled, live_from, today)
    for each in changes:
        key = enrollments.reason_row_key(row.id, each.of.key)
        sealed = (
            vault.seal(row.scope, enrollments.REASONS, key, reason.encode()) if reason else None
        )
        day = each.live_from.isoformat() if each.live_from else None
        state = EnrollmentPayerState(*each.of.key, each.after, to_micros(now), day, sealed)
        await enrollments.set_payer_state(tx, row.id, state, event)
    if changes:
        names = ", ".join(
            f"{each.of.payer.type} {each.of.payer.payer_id} {each.of.transaction}"
            for each in changes
        )
        tx.audit(f"enrollment.{event}", ids=[row.id], detail=names)
        # The vendor gets no event when work on it begins.
        reported = [each for each in changes if each.after in EVENT_TYPES]
        tx.add_events([_event(row, each, now) for each in reported])
    return changes


async def open_enrollment(tx: Tx, vault: Vault, row: StoredEnrollment) -> EnrollmentDetails:
    """Return a stored enrollment with its content."""
    await vault.load_keys_of(tx, _sealed_values(row))
    return _open(vault, row)


EVENT_TYPES = {
    EnrollmentState.APPROVED: "enrollment.approved",
    EnrollmentState.REFUSED: "enrollment.refused",
    EnrollmentState.ENDED: "enrollment.ended",
}


def _event(row: StoredEnrollment, change: EnrollmentChange, now: datetime) -> NewEvent:
    payer, transaction = change.of
    data: dict[str, EventValue] = {
        "enrollment_id": row.id,
        "payer_id": payer.payer_id,
        "payer_type": payer.type,
        "transaction": transaction.value,
    }
    if change.live_from:
        data["live_from"] = change.live_from.isoformat()
    type = EVENT_TYPES[change.after]
    return NewEvent(type, to_micros(now), row.scope.vendor, row.scope.site, data=data)


def _changes(
    row: StoredEnrollment,
    event: EnrollmentEvent,
    enrolled: Sequence[EnrolledWith],
    live_from: date | None,
    today: date,
) -> list[EnrollmentChange]:
    """Return the changes; refuse all if the event is not possible with one payer."""
    known = {each.key: each for each in row.payer_states}
    changes = []
    for one in enrolled:
        state = known.get(one.key)
        before = EnrollmentState(state.state) if state else INITIAL_STATE
        after = NEXT.get((before, event))
        if after is None:
            raise OperationRefused(
                f"{row.id} is {before} with {one.words}, so `{event}` does not apply. Nothing is changed."
            )
        is_approved = after is EnrollmentState.APPROVED
        moves_day = bool(state and live_from and state.live_from != live_from.isoformat())
        if after is not before or (is_approved and moves_day):
            day = (live_from or today) if is_approved else None
            changes.append(EnrollmentChange(one, before, after, day))
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
    key = enrollments.reason_row_key(row.id, state.key)
    return vault.open(row.scope, enrollments.REASONS, key, state.reason).decode()


def _sealed_values(row: StoredEnrollment) -> list[bytes]:
    return [row.payload, *(each.reason for each in row.payer_states if each.reason)]
