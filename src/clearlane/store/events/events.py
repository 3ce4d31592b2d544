"""Read stored events in their order, and remove old ones.

A vendor reads in a :class:`VendorScope`, over the sites that it may see; an operator reads everything. Knows no HTTP
and no webhook.
"""

from collections.abc import Collection, Iterator
from operator import attrgetter

import msgspec
from sqlalchemy import BigInteger, and_, bindparam, delete, func, or_, select

from clearlane.events.event import Event
from clearlane.events.types import Audience
from clearlane.store.database.database import Row, SystemScope, Tx, find_row
from clearlane.store.database.schema import claims, event_head, events, installation_events
from clearlane.store.database.sql import Statement, among, scoped_select
from clearlane.store.events.event_log import OWN_DATA, SITE_COLUMNS, EventClaim
from clearlane.store.retention.legal_holds import site_not_held

EVERYONE = SystemScope("events of every vendor, for an operator")
ROWS_AT_FIRST, ROWS_AT_ONCE_MAX = 8, 256
"""Rows of events read at a time: each has a few hundred events at most."""


async def last_event(tx: Tx) -> int:
    """Return the number of the last event that this snapshot holds; 0 if there is none."""
    return await find_row(tx, int, _HEAD) or 0


async def list_events(
    tx: Tx, types: Collection[str], *, after: int, limit: int, of_vendor: int | None
) -> list[Event]:
    """Return the events of the scope's sites after a number, in order, a page at most.

    ``of_vendor`` adds the events of no site that are for this vendor.
    """
    values: dict[str, object] = {"types": sorted(types)}
    found: list[Event] = []
    # A row may hold hundreds of events or one: a few rows are read at first, and more if they held little.
    start, size, is_end = after, ROWS_AT_FIRST, False
    while len(found) < limit and not is_end:
        rows = await tx.rows(_SITES, **values, after=start, limit=size)
        is_end = len(rows) < size
        size = min(2 * size, ROWS_AT_ONCE_MAX)
        for row in rows:
            found += [event for event in _expand(row) if event.id > after]
            start = row[2]
            if len(found) >= limit:
                break
    if of_vendor is not None:
        others = await tx.rows(_OTHERS, **values, vendor=of_vendor, after=after, limit=limit)
        found = sorted([*found, *(_single(row) for row in others)], key=attrgetter("id"))
    return found[:limit]


async def list_of_vendor(
    tx: Tx, types: Collection[str], *, after: int, limit: int, of_vendor: int
) -> list[Event]:
    """Return the events of no site that are for a vendor after a number, in order."""
    rows = await tx.rows(_OTHERS, types=sorted(types), vendor=of_vendor, after=after, limit=limit)
    return [_single(row) for row in rows]


async def list_all(tx: Tx, types: Collection[str], *, after: int, limit: int) -> list[Event]:
    """Return the events of every vendor and those of operators after a number, in order, for an operator."""
    values = {"types": sorted(types), "after": after, "limit": limit}
    found: list[Event] = []
    for row in await tx.rows(_ALL_SITES, **values):
        found += [event for event in _expand(row) if event.id > after]
        if len(found) >= limit:
            break
    others = [_single(row) for row in await tx.rows(_ALL_OTHERS, **values)]
    return sorted([*found, *others], key=attrgetter("id"))[:limit]


async def list_claim_headers(tx: Tx, claim_numbers: Collection[str]) -> dict[str, bytes]:
    """Return the sealed headers of claims, by number."""
    rows = await tx.rows(_CLAIMS, claim_numbers=sorted(claim_numbers))
    return dict(rows)


async def remove_before(tx: Tx, vendor_id: int, number: int, limit: int) -> list[int]:
    """Remove a vendor's oldest rows of events before a number; return their numbers."""
    rows = await tx.rows(_OLDEST, vendor=vendor_id, before=number, limit=limit)
    numbers = [int(one) for (one,) in rows]
    if numbers:
        await tx.run(_REMOVE, vendor=vendor_id, numbers=numbers)
    return numbers


async def remove_others_before(tx: Tx, number: int) -> int:
    """Remove the events of no site before a number; return how many went."""
    return await tx.run(_REMOVE_OTHERS, before=number)


async def count_before(tx: Tx, vendor_id: int, number: int) -> int:
    """Return how many rows of a vendor's events would be removed."""
    row = await tx.row(_COUNT_BEFORE, vendor=vendor_id, before=number)
    return int(row[0]) if row else 0


def _expand(row: Row) -> Iterator[Event]:
    """Yield the events that one row holds."""
    vendor_id, site_id, last_id, count, type, at, actor, numbers, data = row
    content = _DATA.decode(data) if data else {}
    named = _CLAIMS_OF_ROW.decode(numbers) if numbers else [_NO_CLAIM]
    for place, claim in enumerate(named):
        own = {**content, OWN_DATA: claim.document_id} if claim.document_id else content
        yield Event(
            id=last_id - count + 1 + place, type=type, at=at, vendor_id=vendor_id, site_id=site_id,
            actor=actor, claim_number=claim.number, sequence=claim.sequence, data=own,
        )  # fmt: skip


def _single(row: Row) -> Event:
    last_id, vendor_id, type, at, actor, data = row
    return Event(
        id=last_id, type=type, at=at, vendor_id=vendor_id, site_id=None, actor=actor,
        claim_number="", sequence=0, data=_DATA.decode(data) if data else {},
    )  # fmt: skip


_OTHER_COLUMNS = ("last_id", "vendor_id", "type", "at", "actor", "data")

_CLAIMS_OF_ROW = msgspec.json.Decoder(list[EventClaim])
_NO_CLAIM = EventClaim("", 0)
_DATA = msgspec.json.Decoder(dict[str, str | int | bool | list[str] | None])

_HEAD = Statement(select(event_head.c.last_id).where(event_head.c.id == 1))
_SITE_PAGE = (
    select(*(events.c[name] for name in SITE_COLUMNS))
    .where(events.c.last_id > bindparam("after"), among(events.c.type, "types"))
    .order_by(events.c.last_id)
    .limit(bindparam("limit"))
)
_SITES = scoped_select(_SITE_PAGE, events)
_ALL_SITES = Statement(_SITE_PAGE, system=True)
_OTHER_PAGE = (
    select(*(installation_events.c[name] for name in _OTHER_COLUMNS))
    .where(
        installation_events.c.last_id > bindparam("after"),
        among(installation_events.c.type, "types"),
    )
    .order_by(installation_events.c.last_id)
    .limit(bindparam("limit"))
)
_OTHERS = Statement(
    _OTHER_PAGE.where(
        or_(
            installation_events.c.vendor_id == bindparam("vendor"),
            installation_events.c.audience == Audience.EVERY_VENDOR.value,
        )
    )
)
_ALL_OTHERS = Statement(_OTHER_PAGE)
_CLAIMS = scoped_select(
    select(claims.c.claim_number, claims.c.header).where(
        among(claims.c.claim_number, "claim_numbers")
    ),
    claims,
)
_IS_OLD = and_(
    events.c.vendor_id == bindparam("vendor", type_=BigInteger),
    events.c.last_id < bindparam("before", type_=BigInteger),
    site_not_held(events),
)
_OLDEST = Statement(
    select(events.c.last_id).where(_IS_OLD).order_by(events.c.last_id).limit(bindparam("limit")),
    system=True,
)
_REMOVE = Statement(
    delete(events).where(
        events.c.vendor_id == bindparam("vendor", type_=BigInteger),
        among(events.c.last_id, "numbers"),
    ),
    system=True,
)
_COUNT_BEFORE = Statement(select(func.count()).select_from(events).where(_IS_OLD), system=True)
_REMOVE_OTHERS = Statement(
    delete(installation_events).where(installation_events.c.last_id < bindparam("before"))
)
