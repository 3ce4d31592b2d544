"""Enrollments, their state with each payer for each transaction, and their events.

Columns hold ids, states and times; what a provider wrote is sealed by the vault, and a keyed hash
under a unique index decides whether a provider is enrolled already. Knows no field of an
enrollment and no lifecycle.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import NamedTuple

from sqlalchemy import bindparam, func, or_, select

from clearlane.enrollment.lifecycle import RecordedEvent
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.store.database.database import Row, Tx, find_row, list_rows
from clearlane.store.database.schema import enrollment_events, enrollment_payers, enrollments
from clearlane.store.database.sql import (
    Statement,
    among,
    scoped_insert,
    scoped_select,
    scoped_update,
    select_as,
)

TABLE = "enrollments"
REASONS = "enrollment_payers"
SUBMITTED = "submitted"
APPROVED = "approved"
OWN_ENROLLMENTS_MAX = 5_000


EnrollmentKey = tuple[str, str, str]
"""Type and id (in folded case) of a payer, and the transaction."""
ANY_PAYER: EnrollmentKey = ("", "", "")
"""The key of an event that concerns all payers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEnrollment:
    """An enrollment to be stored. ``payload`` is already sealed."""

    id: str
    provider: str
    """Keyed hash of NPI and TIN."""
    npi: str
    tin: str
    """Keyed hashes of each alone."""
    created_at: int
    payload: bytes = field(repr=False)


class NumberedProvider(NamedTuple):
    """A submitted provider with the keyed hashes of its numbers."""

    provider: str
    npi: str
    tin: str
    created_at: int


@dataclass(frozen=True, slots=True)
class EnrollmentInsertResult:
    """The result of storing one enrollment of a request."""

    id: str
    """Id of the stored enrollment: the new one, or the one that existed."""
    existed: bool


@dataclass(frozen=True, slots=True)
class EnrollmentPayerState:
    """The state of an enrollment with one payer for one transaction."""

    payer_type: str
    payer_id: str
    """In folded case."""
    transaction: str
    state: str
    updated_at: int
    live_from: str | None = None
    """The first day on which an approved one counts."""
    reason: bytes | None = field(default=None, repr=False)

    @property
    def key(self) -> EnrollmentKey:
        """Type and id of the payer, and the transaction."""
        return self.payer_type, self.payer_id, self.transaction

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
            _EVENT, [_event(each.id, ANY_PAYER, each.created_at, SUBMITTED) for each in added]
        )
    return [
        EnrollmentInsertResult(stored[each.provider], existed=stored[each.provider] != each.id)
        for each in new
    ]


async def list_approved(
    tx: Tx, payer_type: str, transaction: str, providers: Collection[str]
) -> dict[tuple[str, str], date | None]:
    """Return from which day on each approved enrollment of these providers counts, by payer (in folded case) and provider."""
    rows = await tx.rows(
        _APPROVED, payer_type=payer_type, transaction=transaction, providers=sorted(providers)
    )
    return {(payer_id, provider): _day(live_from) for payer_id, provider, live_from in rows}


async def list_submitted(tx: Tx, providers: Collection[str]) -> dict[str, int]:
    """Return when each of these providers was submitted; one that never was is left out."""
    rows = await tx.rows(_SUBMITTED, providers=sorted(providers))
    return {provider: int(created_at) for provider, created_at in rows}


async def list_by_numbers(tx: Tx, numbers: Collection[str]) -> list[NumberedProvider]:
    """Return the submitted providers that have one of these numbers."""
    return await list_rows(tx, NumberedProvider, _BY_NUMBERS, numbers=sorted(numbers))


async def list_provider_events(
    tx: Tx, payer_type: str, transaction: str, providers: Collection[str]
) -> dict[tuple[str, str], list[RecordedEvent]]:
    """Return what payers of a type answered about a transaction, in order, by payer (in folded case) and provider."""
    found: dict[tuple[str, str], list[RecordedEvent]] = defaultdict(list)
    rows = await tx.rows(
        _PROVIDER_EVENTS,
        payer_type=payer_type,
        transaction=transaction,
        providers=sorted(providers),
    )
    for payer_id, provider, at, event, live_from in rows:
        found[payer_id, provider].append(RecordedEvent(int(at), event, _day(live_from)))
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


async def list_own(tx: Tx, scope: Scope) -> list[StoredEnrollment]:
    """Return the newest enrollments of a site, without their states."""
    return [
        StoredEnrollment(id, scope, at, payload) for id, at, payload in await tx.rows(_OWN_CONTENT)
    ]


async def list_own_events(tx: Tx) -> dict[str, dict[EnrollmentKey, list[RecordedEvent]]]:
    """Return what payers answered the scope's enrollments, in order, by enrollment and by payer and transaction."""
    found: dict[str, dict[EnrollmentKey, list[RecordedEvent]]] = defaultdict(
        partial(defaultdict, list)
    )
    for id, payer_type, payer_id, transaction, at, event, live_from in await tx.rows(_OWN_EVENTS):
        recorded = RecordedEvent(int(at), event, _day(live_from))
        found[id][payer_type, payer_id, transaction].append(recorded)
    return found


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
    """Record the state of an enrollment with a payer for a transaction, and the event."""
    values = {
        "state": payer_state.state,
        "live_from": payer_state.live_from,
        "at": payer_state.updated_at,
        "reason": payer_state.reason,
    }
    names = dict(zip(_KEY, payer_state.key, strict=True))
    if not await tx.run(
        _SET_PAYER_STATE,
        id=id,
        **{f"of_{name}": value for name, value in names.items()},
        **{f"now_{name}": value for name, value in values.items()},
    ):
        await tx.run(
            _ADD_PAYER_STATE,
            enrollment_id=id,
            **names,
            state=payer_state.state,
            live_from=payer_state.live_from,
            updated_at=payer_state.updated_at,
            reason=payer_state.reason,
        )
    recorded = _event(
        id, payer_state.key, payer_state.updated_at, event, live_from=payer_state.live_from
    )
    await tx.run(_EVENT, **recorded)


async def list_events(tx: Tx, id: str) -> list[tuple[int, str, str, str, str]]:
    """Return time, event, and the type and id of the payer and the transaction that it concerns, in order."""
    return [
        (at, event, type, payer, transaction)
        for at, event, type, payer, transaction in await tx.rows(_EVENTS, id=id)
    ]


def reason_row_key(id: str, key: EnrollmentKey) -> str:
    """Return the row key that a reason is sealed for."""
    return "/".join((id, *key))


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _row(new: NewEnrollment) -> dict[str, object]:
    return {
        "id": new.id,
        "provider": new.provider,
        "npi": new.npi,
        "tin": new.tin,
        "created_at": new.created_at,
        "payload": new.payload,
    }


def _event(
    id: str, key: EnrollmentKey, at: int, event: str, *, live_from: str | None = None
) -> dict[str, object]:
    names = dict(zip(_KEY, key, strict=True))
    return {"enrollment_id": id, **names, "at": at, "event": event, "live_from": live_from}


def _stored(row: Row, payer_states: Mapping[str, list[EnrollmentPayerState]]) -> StoredEnrollment:
    id, vendor, site, created_at, payload = row
    return StoredEnrollment(
        id, _scope(vendor, site), created_at, payload, tuple(payer_states.get(id, ()))
    )


def _scope(vendor: int, site: int) -> Scope:
    return Scope(VendorId(vendor), SiteId(site))


_KEY = ("payer_type", "payer_id", "transaction")
_ADD = scoped_insert(
    enrollments, "id", "provider", "npi", "tin", "created_at", "payload", ignore_conflict=True
)
_BY_PROVIDER = scoped_select(
    select(enrollments.c.provider, enrollments.c.id).where(
        among(enrollments.c.provider, "providers")
    ),
    enrollments,
)
_EVENT = scoped_insert(enrollment_events, "enrollment_id", *_KEY, "at", "event", "live_from")
_APPROVED = scoped_select(
    select(enrollment_payers.c.payer_id, enrollments.c.provider, enrollment_payers.c.live_from)
    .join_from(
        enrollments, enrollment_payers, enrollment_payers.c.enrollment_id == enrollments.c.id
    )
    .where(
        among(enrollments.c.provider, "providers"),
        enrollment_payers.c.payer_type == bindparam("payer_type"),
        enrollment_payers.c.transaction == bindparam("transaction"),
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
_BY_NUMBERS = scoped_select(
    select_as(enrollments, NumberedProvider).where(
        or_(among(enrollments.c.npi, "numbers"), among(enrollments.c.tin, "numbers"))
    ),
    enrollments,
)
_PROVIDER_EVENTS = scoped_select(
    select(
        enrollment_events.c.payer_id,
        enrollments.c.provider,
        enrollment_events.c.at,
        enrollment_events.c.event,
        enrollment_events.c.live_from,
    )
    .join_from(
        enrollments, enrollment_events, enrollment_events.c.enrollment_id == enrollments.c.id
    )
    .where(
        among(enrollments.c.provider, "providers"),
        enrollment_events.c.payer_type == bindparam("payer_type"),
        enrollment_events.c.transaction == bindparam("transaction"),
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
    enrollment_payers.c[name] for name in (*_KEY, "state", "updated_at", "live_from", "reason")
)
_ORDER = tuple(enrollment_payers.c[name] for name in _KEY)
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
_OWN_CONTENT = scoped_select(
    select(enrollments.c.id, enrollments.c.created_at, enrollments.c.payload)
    .order_by(enrollments.c.created_at.desc())
    .limit(OWN_ENROLLMENTS_MAX),
    enrollments,
)
_OWN_EVENTS = scoped_select(
    select(
        enrollment_events.c.enrollment_id,
        *(enrollment_events.c[name] for name in _KEY),
        enrollment_events.c.at,
        enrollment_events.c.event,
        enrollment_events.c.live_from,
    ).order_by(enrollment_events.c.id),
    enrollment_events,
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
    *(enrollment_payers.c[name] == bindparam(f"of_{name}") for name in _KEY),
    state=bindparam("now_state"),
    live_from=bindparam("now_live_from"),
    updated_at=bindparam("now_at"),
    reason=bindparam("now_reason"),
)
_ADD_PAYER_STATE = scoped_insert(
    enrollment_payers, "enrollment_id", *_KEY, "state", "live_from", "updated_at", "reason"
)
_EVENTS = scoped_select(
    select(
        enrollment_events.c.at,
        enrollment_events.c.event,
        *(enrollment_events.c[name] for name in _KEY),
    )
    .where(enrollment_events.c.enrollment_id == bindparam("id"))
    .order_by(enrollment_events.c.id),
    enrollment_events,
)
