"""The event log: gives events their numbers in the order of commits, and stores them.

A number is the time in microseconds, or one more than the last if the clock has not moved on: so numbers go on
upwards after a restore, and a cursor given out before it skips nothing. The row of the last number is locked as the last step of a
transaction, so a transaction that numbers events later also commits later. Knows no job and no group.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from sqlalchemy import BigInteger, bindparam, case, literal

from clearlane.events.event import NO_DATA, EventData, NewEvent
from clearlane.events.types import TYPES, Audience
from clearlane.store.database.schema import event_head, events, installation_events
from clearlane.store.database.sql import Statement, StatementTx, insert_into

EVENTS_PER_ROW_MAX = 250

SITE_COLUMNS = (
    "vendor_id", "site_id", "last_id", "count", "type", "at", "actor", "claims", "data",
)  # fmt: skip


class EventOwner(NamedTuple):
    """What events of one row have in common, besides their data."""

    type: str
    at: int
    vendor_id: int | None
    site_id: int | None
    actor: str


async def append_events(tx: StatementTx, new: Sequence[tuple[NewEvent, str]], now: int) -> int:
    """Number and store events, each with its actor, as the last step of a transaction; return the last number.

    ``tx`` must be a transaction over all clients.
    """
    [(last,)] = await tx.rows(_NEXT, count=len(new), first=now - 1 + len(new), before=now - 1)
    number = int(last) - len(new)
    of_sites: list[dict[str, object]] = []
    others: list[dict[str, object]] = []
    for owner, run, common in _runs(new):
        number += len(run)
        if owner.site_id is None:
            others.append(_installation_row(owner, run[0], number))
        else:
            of_sites.append(_site_row(owner, run, common, number))
    if of_sites:
        await tx.many(_ADD, of_sites)
    if others:
        await tx.many(_ADD_OTHER, others)
    return number


class EventClaim(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The claim of one event of a row, and what the event has for itself."""

    number: str
    sequence: int
    document_id: str = ""


OWN_DATA = "document_id"
"""What each event of a row may have for itself: every claim has documents of its own."""


def _runs(
    new: Sequence[tuple[NewEvent, str]],
) -> Iterator[tuple[EventOwner, list[NewEvent], EventData]]:
    """Yield neighboring events that one row can hold, and the data that they have in common."""
    run: list[NewEvent] = []
    owner, common = None, NO_DATA
    for event, actor in new:
        its = EventOwner(event.type, event.at, event.vendor_id, event.site_id, actor)
        data = _common_data(event)
        fits = run and its == owner and event.claim_number and data == common
        if owner is not None and (not fits or len(run) == EVENTS_PER_ROW_MAX):
            yield owner, run, common
            run = []
        owner, common = its, data
        run.append(event)
    if owner is not None:
        yield owner, run, common


def _common_data(event: NewEvent) -> EventData:
    if not event.claim_number or OWN_DATA not in event.data:
        return event.data
    return {name: value for name, value in event.data.items() if name != OWN_DATA}


def _site_row(
    owner: EventOwner, run: Sequence[NewEvent], common: EventData, last: int
) -> dict[str, object]:
    claims = [
        (one.claim_number, one.sequence, one.data[OWN_DATA])
        if OWN_DATA in one.data
        else (one.claim_number, one.sequence)
        for one in run
        if one.claim_number
    ]
    return {
        **owner._asdict(),
        "last_id": last,
        "count": len(run),
        "claims": msgspec.json.encode(claims).decode() if claims else "",
        "data": _encode(common),
    }


def _installation_row(owner: EventOwner, event: NewEvent, last: int) -> dict[str, object]:
    audience = TYPES[owner.type].audience
    if owner.vendor_id is not None:
        audience = Audience.VENDOR
    elif audience is not Audience.EVERY_VENDOR:
        audience = Audience.OPERATORS
    values: dict[str, object] = owner._asdict()
    del values["site_id"]
    return {**values, "last_id": last, "audience": audience.value, "data": _encode(event.data)}


def _encode(data: EventData) -> str:
    return msgspec.json.encode(dict(data)).decode() if data else ""


# One statement locks the head, moves it and returns its position, even if there is no head yet.
_BEFORE, _COUNT = bindparam("before", type_=BigInteger), bindparam("count", type_=BigInteger)
_LATER = case((event_head.c.last_id >= _BEFORE, event_head.c.last_id), else_=_BEFORE)
_NEXT = Statement(
    insert_into(event_head)
    .values(id=literal(1, literal_execute=True), last_id=bindparam("first"))
    .on_conflict_do_update(index_elements=["id"], set_={"last_id": _LATER + _COUNT})
    .returning(event_head.c.last_id)
)
_ADD = Statement(insert_into(events, *SITE_COLUMNS[2:]), system=True)
_ADD_OTHER = Statement(
    insert_into(
        installation_events, "last_id", "vendor_id", "audience", "type", "at", "actor", "data"
    )
)
