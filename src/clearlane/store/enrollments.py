"""Enrollments, their state with each payer, and their events.

Columns hold ids, states and times; what a provider wrote is sealed by the vault, and a keyed hash
under a unique index decides whether a provider is enrolled already. Knows no field of an
enrollment and no lifecycle.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import bindparam, func, select

from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.store.database.database import Row, Tx, find_row
from clearlane.store.database.schema import enrollment_events, enrollment_payers, enrollments
from clearlane.store.database.sql import (
    Statement,
    among,
    scoped_insert,
    scoped_select,
    scoped_update,
)

TABLE = "enrollments"
REASONS = "enrollment_payers"
SUBMITTED = "submitted"
APPROVED = "approved"
OWN_ENROLLMENTS_MAX = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEnrollment:
    """An enrollment to be stored. ``payload`` is already sealed."""

    id: str
    provider: str
    """Keyed hash of NPI and TIN."""
    created_at: int
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class EnrollmentInsertResult:
    """The result of storing one enrollment of a request."""

    id: str
    """Id of the stored enrollment: the new one, or the one that existed."""
    existed: bool


@dataclass(frozen=True, slots=True)
class EnrollmentPayerState:
    """The state of an enrollment with one payer."""

    payer_type: str
    payer_id: str
    """In folded case."""
    state: str
    updated_at: int
    reason: bytes | None = field(default=None, repr=False)

    @property
    def payer(self) -> tuple[str, str]:
        """Type and id, by which payers are compared."""
        return self.payer_type, self.payer_id


@dataclass(frozen=True, slots=True)
class StoredEnrollment:
    """A stored enrollment."""

    id: str
    scope: Scope
    created_at: int
    payload: bytes = field(repr=False)
    payer_states: tuple[EnrollmentPayerState, ...] = ()


async def add(tx: Tx, new: Sequence[NewEnrollment]) -> list[EnrollmentInsertResult]:
    """Store enrollments, and return for each whether its provider was enrolled before.

    The unique index decides which concurrent request comes first.
    """
    first: dict[str, NewEnrollment] = {}
    for each in new:
        first.setdefault(each.provider, each)
    # In one order, so that two requests with the same providers cannot deadlock.
    wanted = sorted(first)
    await tx.many(_ADD, [_row(first[provider]) for provider in wanted])
    stored = {
        str(provider): str(id) for provider, id in await tx.rows(_BY_PROVIDER, providers=wanted)
    }
    added = [each for each in first.values() if stored[each.provider] == each.id]
    if added:
        await tx.many(
            _EVENT, [_event(each.id, "", "", each.created_at, SUBMITTED) for each in added]
        )
    return [
        EnrollmentInsertResult(stored[each.provider], existed=stored[each.provider] != each.id)
        for each in new
    ]


async def list_approved(
    tx: Tx, payer_type: str, providers: Collection[str]
) -> frozenset[tuple[str, str]]:
    """Return payer (in folded case) and provider of every approved enrollment of these providers."""
    rows = await tx.rows(_APPROVED, payer_type=payer_type, providers=sorted(providers))
    return frozenset((payer_id, provider) for payer_id, provider in rows)


async def list_submitted(tx: Tx, providers: Collection[str]) -> dict[str, int]:
    """Return when each of these providers was submitted; one that never was is left out."""
    rows = await tx.rows(_SUBMITTED, providers=sorted(providers))
    return {provider: int(created_at) for provider, created_at in rows}


async def list_provider_events(
    tx: Tx, payer_type: str, providers: Collection[str]
) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """Return what payers of a type answered: by payer (in folded case) and provider the time and event, in order."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    rows = await tx.rows(_PROVIDER_EVENTS, payer_type=payer_type, providers=sorted(providers))
    for payer_id, provider, at, event in rows:
        found[payer_id, provider].append((int(at), event))
    return found


async def find_owner(tx: Tx, id: str) -> Scope | None:
    """Return the owner of an enrollment, for an operator who has its id only."""
    return await find_row(tx, _scope, _OWNER, id=id)


async def find(tx: Tx, scope: Scope, id: str) -> StoredEnrollment | None:
    """Return one enrollment of the scope, and lock its row until the transaction ends."""
    row = await tx.row(_FIND, id=id)
    if row is None:
        return None
    payer_states = [EnrollmentPayerState(*each) for each in await tx.rows(_PAYER_STATES, id=id)]
    return StoredEnrollment(row[0], scope, row[1], row[2], tuple(payer_states))


async def list_all(tx: Tx) -> list[StoredEnrollment]:
    """Return the enrollments of all clients, newest first."""
    payer_states: Mapping[str, list[EnrollmentPayerState]] = defaultdict(list)
    for id, *columns in await tx.rows(_ALL_PAYER_STATES):
        payer_states[id].append(EnrollmentPayerState(*columns))
    return [_stored(row, payer_states) for row in await tx.rows(_ALL)]


async def list_own_states(tx: Tx) -> list[tuple[int, list[str]]]:
    """Return of the scope's newest enrollments when each came, and its recorded states with payers."""
    states: Mapping[str, list[str]] = defaultdict(list)
    for id, state in await tx.rows(_OWN_STATES):
        states[id].append(state)
    return [(int(at), states[id]) for id, at in await tx.rows(_OWN)]


async def latest_change(tx: Tx) -> int:
    """Return when an enrollment of the scope last came or changed its state; 0 if there is none."""
    rows = [await tx.row(_LATEST_NEW), await tx.row(_LATEST_STATE)]
    return max(int(row[0] or 0) if row else 0 for row in rows)


async def set_payer_state(tx: Tx, id: str, payer_state: EnrollmentPayerState, event: str) -> None:
    """Record the state of an enrollment with a payer, and the event."""
    values = {
        "state": payer_state.state,
        "at": payer_state.updated_at,
        "reason": payer_state.reason,
    }
    names = {"id": id, "payer_type": payer_state.payer_type, "payer_id": payer_state.payer_id}
    if not await tx.run(
        _SET_PAYER_STATE, **names, **{f"now_{name}": value for name, value in values.items()}
    ):
        await tx.run(
            _ADD_PAYER_STATE,
            enrollment_id=id,
            payer_type=payer_state.payer_type,
            payer_id=payer_state.payer_id,
            state=payer_state.state,
            updated_at=payer_state.updated_at,
            reason=payer_state.reason,
        )
    await tx.run(_EVENT, **_event(id, *payer_state.payer, payer_state.updated_at, event))


async def list_events(tx: Tx, id: str) -> list[tuple[int, str, str, str]]:
    """Return time, event, and the type and id of the payer it concerns, in order."""
    return [(at, event, type, payer) for at, event, type, payer in await tx.rows(_EVENTS, id=id)]


def reason_row_key(id: str, payer_type: str, payer_id: str) -> str:
    """Return the row key that a reason is sealed for."""
    return f"{id}/{payer_type}/{payer_id}"


def _row(new: NewEnrollment) -> dict[str, object]:
    return {
        "id": new.id,
        "provider": new.provider,
        "created_at": new.created_at,
        "payload": new.payload,
    }


def _event(id: str, payer_type: str, payer_id: str, at: int, event: str) -> dict[str, object]:
    return {
        "enrollment_id": id,
        "payer_type": payer_type,
        "payer_id": payer_id,
        "at": at,
        "event": event,
    }


def _stored(row: Row, payer_states: Mapping[str, list[EnrollmentPayerState]]) -> StoredEnrollment:
    id, vendor, site, created_at, payload = row
    return StoredEnrollment(
        id, _scope(vendor, site), created_at, payload, tuple(payer_states.get(id, ()))
    )


def _scope(vendor: int, site: int) -> Scope:
    return Scope(VendorId(vendor), SiteId(site))


_ADD = scoped_insert(enrollments, "id", "provider", "created_at", "payload", ignore_conflict=True)
_BY_PROVIDER = scoped_select(
    select(enrollments.c.provider, enrollments.c.id).where(
        among(enrollments.c.provider, "providers")
    ),
    enrollments,
)
_EVENT = scoped_insert(enrollment_events, "enrollment_id", "payer_type", "payer_id", "at", "event")
_APPROVED = scoped_select(
    select(enrollment_payers.c.payer_id, enrollments.c.provider)
    .join_from(
        enrollments, enrollment_payers, enrollment_payers.c.enrollment_id == enrollments.c.id
    )
    .where(
        among(enrollments.c.provider, "providers"),
        enrollment_payers.c.payer_type == bindparam("payer_type"),
        enrollment_payers.c.state == APPROVED,
    ),
    enrollments,
    enrollment_payers,
)
_SUBMITTED = scoped_select(
    select(enrollments.c.provider, enrollments.c.created_at).where(
        among(enrollments.c.provider, "providers")
    ),
    enrollments,
)
_PROVIDER_EVENTS = scoped_select(
    select(
        enrollment_events.c.payer_id,
        enrollments.c.provider,
        enrollment_events.c.at,
        enrollment_events.c.event,
    )
    .join_from(
        enrollments, enrollment_events, enrollment_events.c.enrollment_id == enrollments.c.id
    )
    .where(
        among(enrollments.c.provider, "providers"),
        enrollment_events.c.payer_type == bindparam("payer_type"),
    )
    .order_by(enrollment_events.c.id),
    enrollments,
    enrollment_events,
)
_OWNER = Statement(
    select(enrollments.c.vendor_id, enrollments.c.site_id).where(
        enrollments.c.id == bindparam("id")
    ),
    system=True,
)
_FIND = scoped_select(
    select(enrollments.c.id, enrollments.c.created_at, enrollments.c.payload)
    .where(enrollments.c.id == bindparam("id"))
    .with_for_update(),
    enrollments,
)
_PAYER_STATE_COLUMNS = tuple(
    enrollment_payers.c[name]
    for name in ("payer_type", "payer_id", "state", "updated_at", "reason")
)
_ORDER = (enrollment_payers.c.payer_type, enrollment_payers.c.payer_id)
_PAYER_STATES = scoped_select(
    select(*_PAYER_STATE_COLUMNS)
    .where(enrollment_payers.c.enrollment_id == bindparam("id"))
    .order_by(*_ORDER),
    enrollment_payers,
)
_ALL_PAYER_STATES = Statement(
    select(enrollment_payers.c.enrollment_id, *_PAYER_STATE_COLUMNS).order_by(*_ORDER), system=True
)
_ALL = Statement(
    select(
        enrollments.c.id,
        enrollments.c.vendor_id,
        enrollments.c.site_id,
        enrollments.c.created_at,
        enrollments.c.payload,
    ).order_by(enrollments.c.created_at.desc(), enrollments.c.id.desc()),
    system=True,
)
_OWN = scoped_select(
    select(enrollments.c.id, enrollments.c.created_at)
    .order_by(enrollments.c.created_at.desc())
    .limit(OWN_ENROLLMENTS_MAX),
    enrollments,
)
_OWN_STATES = scoped_select(
    select(enrollment_payers.c.enrollment_id, enrollment_payers.c.state)
    .order_by(enrollment_payers.c.updated_at.desc())
    .limit(OWN_ENROLLMENTS_MAX),
    enrollment_payers,
)
_LATEST_NEW = scoped_select(select(func.max(enrollments.c.created_at)), enrollments)
_LATEST_STATE = scoped_select(select(func.max(enrollment_payers.c.updated_at)), enrollment_payers)
_SET_PAYER_STATE = scoped_update(
    enrollment_payers,
    enrollment_payers.c.enrollment_id == bindparam("id"),
    enrollment_payers.c.payer_type == bindparam("payer_type"),
    enrollment_payers.c.payer_id == bindparam("payer_id"),
    state=bindparam("now_state"),
    updated_at=bindparam("now_at"),
    reason=bindparam("now_reason"),
)
_ADD_PAYER_STATE = scoped_insert(
    enrollment_payers, "enrollment_id", "payer_type", "payer_id", "state", "updated_at", "reason"
)
_EVENTS = scoped_select(
    select(
        enrollment_events.c.at,
        enrollment_events.c.event,
        enrollment_events.c.payer_type,
        enrollment_events.c.payer_id,
    )
    .where(enrollment_events.c.enrollment_id == bindparam("id"))
    .order_by(enrollment_events.c.id),
    enrollment_events,
)
