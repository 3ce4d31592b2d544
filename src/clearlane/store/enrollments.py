"""Enrollments, where each stands with payers, and what happened to it.

Columns hold ids, states and moments; what a provider wrote is sealed by the vault, and whether a
provider is there already is decided by a keyed hash under a unique index. Knows no field of an
enrollment and no table of its life.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import bindparam, select, update

from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.store.database import Row, Tx
from clearlane.store.schema import enrollment_events, enrollment_payers, enrollments
from clearlane.store.sql import Statement, among, insertion, mine

TABLE = "enrollments"
REASONS = "enrollment_payers"
SUBMITTED = "submitted"
APPROVED = "approved"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEnrollment:
    """An enrollment about to be stored. ``payload`` is already sealed."""

    id: str
    provider: str
    """Keyed hash of NPI and TIN."""
    created_at: int
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Settled:
    """How one enrollment of a request ended in the database."""

    id: str
    """Of the stored enrollment: our own, or the earlier one's."""
    existed: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an enrollment stands with one payer."""

    payer_type: str
    payer_id: str
    """In folded case."""
    state: str
    updated_at: int
    reason: bytes | None = field(default=None, repr=False)

    @property
    def payer(self) -> tuple[str, str]:
        """What a payer is told apart by."""
        return self.payer_type, self.payer_id


@dataclass(frozen=True, slots=True)
class StoredEnrollment:
    """An enrollment as it stands in the database."""

    id: str
    scope: Scope
    created_at: int
    payload: bytes = field(repr=False)
    standings: tuple[Standing, ...] = ()


async def settle(tx: Tx, new: Sequence[NewEnrollment]) -> list[Settled]:
    """Store enrollments, and say of each whether its provider was there before.

    The unique index decides who came first, whatever runs beside us.
    """
    first: dict[str, NewEnrollment] = {}
    for each in new:
        first.setdefault(each.provider, each)
    # In one order, so that two requests with the same providers never wait for each other.
    wanted = sorted(first)
    await tx.many(_ADD, [_row(first[provider]) for provider in wanted])
    held = {str(provider): str(id) for provider, id in await tx.rows(_HELD, providers=wanted)}
    added = [each for each in first.values() if held[each.provider] == each.id]
    if added:
        await tx.many(
            _EVENT, [_event(each.id, "", "", each.created_at, SUBMITTED) for each in added]
        )
    return [Settled(held[each.provider], existed=held[each.provider] != each.id) for each in new]


async def approved(
    tx: Tx, payer_type: str, providers: Collection[str]
) -> frozenset[tuple[str, str]]:
    """Payer (in folded case) and provider of every approved enrollment of these providers."""
    rows = await tx.rows(_APPROVED, payer_type=payer_type, providers=sorted(providers))
    return frozenset((payer_id, provider) for payer_id, provider in rows)


async def owner(tx: Tx, id: str) -> Scope | None:
    """Whose an enrollment is: for an operator, who names it by its id alone."""
    row = await tx.row(_OWNER, id=id)
    return None if row is None else _scope(*row)


async def find(tx: Tx, scope: Scope, id: str) -> StoredEnrollment | None:
    """One enrollment of the scope, kept from others until the transaction ends."""
    row = await tx.row(_FIND, id=id)
    if row is None:
        return None
    standings = [Standing(*each) for each in await tx.rows(_STANDINGS, id=id)]
    return StoredEnrollment(row[0], scope, row[1], row[2], tuple(standings))


async def everyone(tx: Tx) -> list[StoredEnrollment]:
    """The enrollments of all clients, the newest first."""
    standings: Mapping[str, list[Standing]] = defaultdict(list)
    for id, *told in await tx.rows(_ALL_STANDINGS):
        standings[id].append(Standing(*told))
    return [_stored(row, standings) for row in await tx.rows(_ALL)]


async def move(tx: Tx, id: str, standing: Standing, event: str) -> None:
    """Put an enrollment where it now stands with a payer, and note the event."""
    values = {"state": standing.state, "at": standing.updated_at, "reason": standing.reason}
    names = {"id": id, "payer_type": standing.payer_type, "payer_id": standing.payer_id}
    if not await tx.run(_MOVE, **names, **{f"now_{name}": value for name, value in values.items()}):
        await tx.run(
            _PLACE,
            enrollment_id=id,
            payer_type=standing.payer_type,
            payer_id=standing.payer_id,
            state=standing.state,
            updated_at=standing.updated_at,
            reason=standing.reason,
        )
    await tx.run(_EVENT, **_event(id, *standing.payer, standing.updated_at, event))


async def events(tx: Tx, id: str) -> list[tuple[int, str, str, str]]:
    """What happened, in order: moment, event, and the payer's type and id where it concerns one."""
    return [(at, event, type, payer) for at, event, type, payer in await tx.rows(_EVENTS, id=id)]


def reason_place(id: str, payer_type: str, payer_id: str) -> str:
    """What a sealed reason is bound to."""
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


def _stored(row: Row, standings: Mapping[str, list[Standing]]) -> StoredEnrollment:
    id, vendor, site, created_at, payload = row
    return StoredEnrollment(
        id, _scope(vendor, site), created_at, payload, tuple(standings.get(id, ()))
    )


def _scope(vendor: int, site: int) -> Scope:
    return Scope(VendorId(vendor), SiteId(site))


_ADD = Statement(
    insertion(enrollments, "id", "provider", "created_at", "payload").on_conflict_do_nothing(
        index_elements=["vendor_id", "site_id", "provider"]
    )
)
_HELD = Statement(
    select(enrollments.c.provider, enrollments.c.id).where(
        mine(enrollments), among(enrollments.c.provider, "providers")
    )
)
_EVENT = Statement(
    insertion(enrollment_events, "enrollment_id", "payer_type", "payer_id", "at", "event")
)
_APPROVED = Statement(
    select(enrollment_payers.c.payer_id, enrollments.c.provider)
    .join_from(
        enrollments, enrollment_payers, enrollment_payers.c.enrollment_id == enrollments.c.id
    )
    .where(
        mine(enrollments),
        mine(enrollment_payers),
        among(enrollments.c.provider, "providers"),
        enrollment_payers.c.payer_type == bindparam("payer_type"),
        enrollment_payers.c.state == APPROVED,
    )
)
_OWNER = Statement(
    select(enrollments.c.vendor_id, enrollments.c.site_id).where(
        enrollments.c.id == bindparam("id")
    ),
    system=True,
)
_FIND = Statement(
    select(enrollments.c.id, enrollments.c.created_at, enrollments.c.payload)
    .where(mine(enrollments), enrollments.c.id == bindparam("id"))
    .with_for_update()
)
_STANDING = tuple(
    enrollment_payers.c[name]
    for name in ("payer_type", "payer_id", "state", "updated_at", "reason")
)
_ORDER = (enrollment_payers.c.payer_type, enrollment_payers.c.payer_id)
_STANDINGS = Statement(
    select(*_STANDING)
    .where(mine(enrollment_payers), enrollment_payers.c.enrollment_id == bindparam("id"))
    .order_by(*_ORDER)
)
_ALL_STANDINGS = Statement(
    select(enrollment_payers.c.enrollment_id, *_STANDING).order_by(*_ORDER), system=True
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
_MOVE = Statement(
    update(enrollment_payers)
    .where(
        mine(enrollment_payers),
        enrollment_payers.c.enrollment_id == bindparam("id"),
        enrollment_payers.c.payer_type == bindparam("payer_type"),
        enrollment_payers.c.payer_id == bindparam("payer_id"),
    )
    .values(
        state=bindparam("now_state"),
        updated_at=bindparam("now_at"),
        reason=bindparam("now_reason"),
    )
)
_PLACE = Statement(
    insertion(
        enrollment_payers,
        "enrollment_id",
        "payer_type",
        "payer_id",
        "state",
        "updated_at",
        "reason",
    )
)
_EVENTS = Statement(
    select(
        enrollment_events.c.at,
        enrollment_events.c.event,
        enrollment_events.c.payer_type,
        enrollment_events.c.payer_id,
    )
    .where(mine(enrollment_events), enrollment_events.c.enrollment_id == bindparam("id"))
    .order_by(enrollment_events.c.id)
)
