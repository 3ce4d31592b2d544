"""Webhook endpoints of vendors, and the deliveries of events to them.

A vendor's calls and the delivery to one endpoint run in the vendor's scope; only the search for work goes over all
vendors. Knows no HTTP and no signature.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, and_, bindparam, delete, func, literal, or_, select, update

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import webhook_deliveries, webhook_endpoints
from clearlane.store.database.sql import (
    Statement,
    among,
    scoped_delete,
    scoped_insert,
    scoped_select,
    scoped_update,
)

TABLE, ANSWERS = "webhook_endpoints", "webhook_deliveries"
SCOPE = SystemScope("webhooks of all vendors are delivered")
ACTIVE, DISABLED = "active", "disabled"
WAITING, DELIVERED, FAILED = "waiting", "delivered", "failed"
OF_TYPE_AT_ONCE = 20


@shows("endpoint_id", "state")
class EndpointRow(NamedTuple):
    """A webhook endpoint. ``payload`` is sealed for its id."""

    endpoint_id: str
    state: str
    types: str
    sites: str
    created_at: int
    after_event: int
    replay_through: int
    failing_since: int | None
    failed_event: int | None
    disabled_at: int | None
    fault: str
    payload: bytes


@shows("endpoint_id", "event_id", "state")
class DeliveryRow(NamedTuple):
    """One event for one endpoint. ``answer`` is sealed for :func:`answer_key`."""

    endpoint_id: str
    event_id: int
    type: str
    claim_number: str
    state: str
    attempts: int
    due_at: int | None
    attempted_at: int | None
    status: int | None
    fault: str
    answer: bytes | None


class NewDelivery(NamedTuple):
    """An event that is to be delivered."""

    event_id: int
    type: str
    claim_number: str = ""
    """Events of one claim are delivered in order; empty for an event of no claim."""


class EndpointInNeed(NamedTuple):
    """An active endpoint, and whether deliveries to it are due."""

    vendor_id: int
    endpoint_id: str
    after_event: int
    next_due: int | None


def answer_key(endpoint_id: str, event_id: int) -> str:
    """Return the row key that an answer is sealed for."""
    return f"{endpoint_id}:{event_id}"


# ---- endpoints, in the vendor's scope ------------------------------------------------------------


async def add(tx: Tx, row: EndpointRow) -> None:
    """Add an endpoint of the scope's vendor."""
    await tx.run(_ADD, **row._asdict())


async def list_endpoints(tx: Tx) -> list[EndpointRow]:
    """Return the endpoints of the scope's vendor, oldest first."""
    return await list_rows(tx, EndpointRow, _LIST)


async def find(tx: Tx, endpoint_id: str) -> EndpointRow | None:
    """Return one endpoint of the scope's vendor."""
    return await find_row(tx, EndpointRow, _FIND, endpoint=endpoint_id)


async def lock(tx: Tx, endpoint_id: str) -> EndpointRow | None:
    """Return one endpoint of the scope's vendor, locked until the transaction ends."""
    return await find_row(tx, EndpointRow, _LOCK, endpoint=endpoint_id)


async def save(tx: Tx, row: EndpointRow) -> None:
    """Write an endpoint of the scope's vendor, which was locked before."""
    await tx.run(_SAVE, **{f"new_{name}": value for name, value in row._asdict().items()})


async def remove(tx: Tx, endpoint_id: str) -> None:
    """Remove an endpoint of the scope's vendor, and its deliveries."""
    await tx.run(_REMOVE_DELIVERIES, endpoint=endpoint_id)
    await tx.run(_REMOVE, endpoint=endpoint_id)


# ---- deliveries, in the vendor's scope -----------------------------------------------------------


async def add_deliveries(
    tx: Tx, endpoint_id: str, new: Sequence[NewDelivery], *, due_at: int, again: bool
) -> None:
    """Have events delivered: new ones and those that failed; with ``again`` also those that were delivered."""
    await note_deliveries(tx, endpoint_id, new, due_at=due_at)
    states = [FAILED, DELIVERED] if again else [FAILED]
    await tx.run(
        _DELIVER_AGAIN,
        endpoint=endpoint_id,
        events=[one.event_id for one in new],
        states=states,
        due=due_at,
    )


async def note_deliveries(
    tx: Tx, endpoint_id: str, new: Sequence[NewDelivery], *, due_at: int
) -> None:
    """Have events delivered that were not noted before; those of a claim whose earlier event failed after that one."""
    claims = {one.claim_number for one in new} - {""}
    held: dict[str, int] = dict(
        await tx.rows(_HELD_UNTIL, endpoint=endpoint_id, claims=sorted(claims), now=due_at)
        if claims
        else ()
    )
    rows = [
        {"endpoint_id": endpoint_id, "due_at": held.get(one.claim_number, due_at), **one._asdict()}
        for one in new
    ]
    await tx.many(_ADD_DELIVERY, rows)


async def hold_up(tx: Tx, failed: Sequence[DeliveryRow]) -> None:
    """Let what follows failed deliveries in their claims wait for them."""
    rows = [
        {
            "endpoint": one.endpoint_id,
            "claim": one.claim_number,
            "after": one.event_id,
            "due": one.due_at,
        }
        for one in failed
        if one.claim_number
    ]
    await tx.many(_HOLD_UP, rows)


async def let_go(tx: Tx, arrived: Sequence[DeliveryRow], now: int) -> None:
    """Let what waited behind deliveries in their claims go: they have arrived."""
    rows = [
        {"endpoint": one.endpoint_id, "claim": one.claim_number, "due": now}
        for one in arrived
        if one.claim_number
    ]
    await tx.many(_LET_GO, rows)


async def list_due(tx: Tx, endpoint_id: str, now: int, limit: int) -> list[DeliveryRow]:
    """Return deliveries to an endpoint that are due, in the order in which those of a claim are sent."""
    return await list_rows(tx, DeliveryRow, _DUE, endpoint=endpoint_id, now=now, limit=limit)


async def list_due_of_type(tx: Tx, endpoint_id: str, type: str, now: int) -> list[DeliveryRow]:
    """Return deliveries of events of one type to an endpoint that are due, a few at most."""
    return await list_rows(
        tx, DeliveryRow, _DUE_OF_TYPE, endpoint=endpoint_id, of_type=type, now=now,
        limit=OF_TYPE_AT_ONCE,
    )  # fmt: skip


async def count_waiting(tx: Tx, endpoint_id: str) -> int:
    """Return how many deliveries to an endpoint wait."""
    return await find_row(tx, int, _COUNT_WAITING, endpoint=endpoint_id) or 0


async def first_waiting(tx: Tx, endpoint_id: str) -> int | None:
    """Return the first event that waits to be delivered to an endpoint."""
    row = await tx.row(_FIRST_WAITING, endpoint=endpoint_id)
    return None if row is None or row[0] is None else int(row[0])


async def save_attempts(tx: Tx, rows: Sequence[DeliveryRow]) -> None:
    """Write what became of attempts."""
    await tx.many(
        _SAVE_ATTEMPT,
        [{f"new_{name}": value for name, value in row._asdict().items()} for row in rows],
    )


async def give_up(tx: Tx, endpoint_id: str) -> None:
    """Let everything that waits for an endpoint fail: it is disabled."""
    await tx.run(_GIVE_UP, endpoint=endpoint_id)


async def list_deliveries(
    tx: Tx, endpoint_id: str, *, before: int, limit: int
) -> list[DeliveryRow]:
    """Return the deliveries to an endpoint, the newest events first."""
    return await list_rows(tx, DeliveryRow, _LOG, endpoint=endpoint_id, before=before, limit=limit)


async def list_claim_deliveries(tx: Tx, claim_number: str, *, limit: int) -> list[DeliveryRow]:
    """Return what endpoints were sent about a claim, in the order of its events.

    No index leads there once an event has arrived: the deliveries of a vendor are looked through.
    """
    return await list_rows(tx, DeliveryRow, _ABOUT_CLAIM, claim=claim_number, limit=limit)


async def find_delivery(tx: Tx, endpoint_id: str, event_id: int) -> DeliveryRow | None:
    """Return one delivery."""
    return await find_row(tx, DeliveryRow, _FIND_DELIVERY, endpoint=endpoint_id, event=event_id)


# ---- over all vendors ----------------------------------------------------------------------------


async def endpoints_in_need(tx: Tx, now: int) -> list[EndpointInNeed]:
    """Return the active endpoints that no other node delivers to now, with the time of their next delivery."""
    return await list_rows(tx, EndpointInNeed, _IN_NEED, now=now)


async def take_lease(tx: Tx, endpoint_id: str, holder: str, *, now: int, until: int) -> bool:
    """Let one node deliver to an endpoint for a while; return False if another does."""
    taken = await tx.run(_TAKE_LEASE, endpoint=endpoint_id, who=holder, now=now, until=until)
    return bool(taken)


async def release_lease(tx: Tx, endpoint_id: str, holder: str) -> None:
    """Let other nodes deliver to an endpoint."""
    await tx.run(_RELEASE, endpoint=endpoint_id, who=holder)


async def release_leases(tx: Tx, holder: str) -> int:
    """Let other nodes deliver to every endpoint that a node had, because it died."""
    return await tx.run(_RELEASE_ALL, who=holder)


async def oldest_due(tx: Tx, now: int) -> int | None:
    """Return since when the oldest delivery waits that could be made; None if none does."""
    row = await tx.row(_OLDEST_DUE, now=now)
    return None if row is None or row[0] is None else int(row[0])


async def count_disabled(tx: Tx) -> int:
    """Return how many endpoints of all vendors are disabled."""
    return await find_row(tx, int, _COUNT_DISABLED) or 0


async def remove_through(tx: Tx, vendor_id: int, event_id: int) -> int:
    """Remove the log of deliveries of a vendor's events up to a number, which are no longer kept."""
    return await tx.run(_PURGE, vendor=vendor_id, through=event_id)


_E, _D = webhook_endpoints.c, webhook_deliveries.c
_THIS = _E.endpoint_id == bindparam("endpoint")
_ITS = _D.endpoint_id == bindparam("endpoint")
# Part of the SQL text: a partial index serves no statement with a placeholder.
_IS_WAITING = _D.state == literal(WAITING, literal_execute=True)

_ADD = scoped_insert(webhook_endpoints, *EndpointRow._fields)
_ENDPOINTS = select(*(_E[name] for name in EndpointRow._fields))
_LIST = scoped_select(_ENDPOINTS.order_by(_E.created_at, _E.endpoint_id), webhook_endpoints)
_FIND = scoped_select(_ENDPOINTS.where(_THIS), webhook_endpoints)
_LOCK = scoped_select(_ENDPOINTS.where(_THIS).with_for_update(), webhook_endpoints)
_SAVE = scoped_update(
    webhook_endpoints,
    _E.endpoint_id == bindparam("new_endpoint_id"),
    **{name: bindparam(f"new_{name}") for name in EndpointRow._fields[1:]},
)
_REMOVE_DELIVERIES = scoped_delete(webhook_deliveries, _ITS)
_REMOVE = scoped_delete(webhook_endpoints, _THIS)

_NEW_DELIVERY = ("endpoint_id", "event_id", "type", "claim_number", "due_at")
_ADD_DELIVERY = scoped_insert(webhook_deliveries, *_NEW_DELIVERY, ignore_conflict=True)
_DELIVER_AGAIN = scoped_update(
    webhook_deliveries,
    _ITS,
    among(_D.event_id, "events"),
    among(_D.state, "states"),
    state=WAITING,
    attempts=0,
    due_at=bindparam("due"),
)
_DELIVERIES = select(*(_D[name] for name in DeliveryRow._fields))
_DUE = scoped_select(
    _DELIVERIES.where(_ITS, _IS_WAITING, _D.due_at <= bindparam("now"))
    .order_by(_D.due_at, _D.event_id)
    .limit(bindparam("limit")),
    webhook_deliveries,
)
_DUE_OF_TYPE = scoped_select(
    _DELIVERIES.where(
        _ITS,
        _IS_WAITING,
        _D.claim_number == literal("", literal_execute=True),
        _D.type == bindparam("of_type"),
        _D.due_at <= bindparam("now"),
    )
    .order_by(_D.event_id)
    .limit(bindparam("limit")),
    webhook_deliveries,
)
_OF_CLAIM = _D.claim_number == bindparam("claim")
_HELD_UNTIL = scoped_select(
    select(_D.claim_number, func.max(_D.due_at))
    .where(_ITS, _IS_WAITING, among(_D.claim_number, "claims"), _D.due_at > bindparam("now"))
    .group_by(_D.claim_number),
    webhook_deliveries,
)
_HOLD_UP = scoped_update(
    webhook_deliveries,
    _ITS,
    _OF_CLAIM,
    _IS_WAITING,
    _D.event_id > bindparam("after"),
    due_at=bindparam("due"),
)
_LET_GO = scoped_update(
    webhook_deliveries,
    _ITS,
    _OF_CLAIM,
    _IS_WAITING,
    _D.due_at > bindparam("due"),
    due_at=bindparam("due"),
)
_COUNT_WAITING = scoped_select(
    select(func.count()).select_from(webhook_deliveries).where(_ITS, _IS_WAITING),
    webhook_deliveries,
)
_FIRST_WAITING = scoped_select(
    select(func.min(_D.event_id)).where(_ITS, _IS_WAITING), webhook_deliveries
)
_SAVE_ATTEMPT = scoped_update(
    webhook_deliveries,
    _D.endpoint_id == bindparam("new_endpoint_id"),
    _D.event_id == bindparam("new_event_id"),
    **{name: bindparam(f"new_{name}") for name in DeliveryRow._fields[2:]},
)
_GIVE_UP = scoped_update(webhook_deliveries, _ITS, _IS_WAITING, state=FAILED, due_at=None)
_LOG = scoped_select(
    _DELIVERIES.where(_ITS, _D.event_id < bindparam("before"))
    .order_by(_D.event_id.desc())
    .limit(bindparam("limit")),
    webhook_deliveries,
)
_ABOUT_CLAIM = scoped_select(
    _DELIVERIES.where(_OF_CLAIM).order_by(_D.event_id, _D.endpoint_id).limit(bindparam("limit")),
    webhook_deliveries,
)
_FIND_DELIVERY = scoped_select(
    _DELIVERIES.where(_ITS, _D.event_id == bindparam("event")), webhook_deliveries
)

_IN_NEED = Statement(
    select(_E.vendor_id, _E.endpoint_id, _E.after_event, func.min(_D.due_at))
    .select_from(
        webhook_endpoints.outerjoin(
            webhook_deliveries, and_(_D.endpoint_id == _E.endpoint_id, _IS_WAITING)
        )
    )
    .where(_E.state == ACTIVE, or_(_E.lease_until.is_(None), _E.lease_until < bindparam("now")))
    .group_by(_E.vendor_id, _E.endpoint_id, _E.after_event),
    system=True,
)
_TAKE_LEASE = Statement(
    update(webhook_endpoints)
    .where(
        _THIS,
        _E.state == ACTIVE,
        or_(
            _E.lease_until.is_(None),
            _E.lease_until < bindparam("now"),
            _E.holder == bindparam("who"),
        ),
    )
    .values(holder=bindparam("who"), lease_until=bindparam("until")),
    system=True,
)
_RELEASE = Statement(
    update(webhook_endpoints)
    .where(_THIS, _E.holder == bindparam("who"))
    .values(holder="", lease_until=None),
    system=True,
)
_RELEASE_ALL = Statement(
    update(webhook_endpoints)
    .where(_E.holder == bindparam("who"))
    .values(holder="", lease_until=None),
    system=True,
)
_OLDEST_DUE = Statement(
    select(func.min(_D.due_at))
    .select_from(webhook_deliveries.join(webhook_endpoints, _D.endpoint_id == _E.endpoint_id))
    .where(_E.state == ACTIVE, _IS_WAITING, _D.due_at <= bindparam("now")),
    system=True,
)
_COUNT_DISABLED = Statement(
    select(func.count()).select_from(webhook_endpoints).where(_E.state == DISABLED), system=True
)
_PURGE = Statement(
    delete(webhook_deliveries).where(
        _D.endpoint_id.in_(
            select(_E.endpoint_id).where(_E.vendor_id == bindparam("vendor", type_=BigInteger))
        ),
        _D.event_id <= bindparam("through", type_=BigInteger),
        _D.state != WAITING,
    ),
    system=True,
)
