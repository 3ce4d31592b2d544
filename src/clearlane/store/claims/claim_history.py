"""The deliveries of one claim, the files that brought facts about it, and the questions to its payer.

Knows no fact and no file format.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, case, insert, select

from clearlane.kernel.ids import Scope
from clearlane.payers.hops import HOP
from clearlane.payments.claim_series import SeriesMember
from clearlane.store.claims import claim_ids
from clearlane.store.claims.claim_updates import STATE_ROWS, ClaimStateRow
from clearlane.store.claims.claims import IS_NOT_SUPERSEDED, add_event
from clearlane.store.database.database import Tx, find_row, list_rows
from clearlane.store.database.schema import (
    batch_claims,
    batches,
    claim_events,
    claim_facts,
    claims,
    inbox,
    routes,
    series_members,
)
from clearlane.store.database.sql import Statement, among, inlined, scoped_select, scoped_update

SERIES_SHOWN_MAX = 100
UNDER_ONE_ID_MAX = 50
"""How many claims under one vendor's claim id are shown: claims of files may all have the same."""

ASKED, ANSWERED_PREFIX = "asked", "answered "
"""Events of the history: a question to the payer, and the result of one that says nothing new about the claim."""
HELD_FOR_ENROLLMENT = "held for enrollment"
FILING_NEAR_PREFIX = "filing limit near "
"""The event that the filing limit of a claim is near, with the day."""


class ClaimSending(NamedTuple):
    """A batch that holds the claim, sent or not."""

    attempt: int
    batch_id: int
    name: str
    control: int
    state: str
    claims: int
    created_at: int
    delivered_at: int | None
    fault: str
    hop: str = ""
    """The hop that it is sent to; empty if it goes to the payer."""
    hop_payer_id: str = ""
    route_facts: str | None = None
    """The options of the route that it goes by, as JSON."""


async def list_series(tx: Tx, claim_number: str) -> list[SeriesMember]:
    """Return the bills of the stay that a claim bills, with it; none if it is not of a stay."""
    rows = await tx.rows(_SERIES_KEY, claim_number=claim_number)
    if not rows:
        return []
    return await list_rows(tx, SeriesMember, _SERIES, series_key=rows[0][0])


class FactSource(NamedTuple):
    """The inbox file that brought a fact."""

    identity: str
    name: str
    received_at: int
    hop: str = ""
    """The hop that it came from; empty if it is the payer's own."""


async def find_state(tx: Tx, claim_number: str) -> ClaimStateRow | None:
    """Return the state of a claim."""
    return await find_row(tx, ClaimStateRow, _STATE, claim_number=claim_number)


async def list_under_same_id(tx: Tx, state: ClaimStateRow) -> list[ClaimStateRow]:
    """Return the other live claims under a claim's vendor's claim id, in order; the last ones if there are many."""
    under_id = await claim_ids.list_under(tx, [state.vendor_claim_hash])
    is_holder = state.claim_number in under_id.holders.values()
    is_former = not (is_holder or state.is_superseded) and state.status is not None
    if not is_former and state.former_holder is None:
        return []
    others = [number for number in under_id.claim_numbers if number != state.claim_number]
    found = await list_rows(tx, ClaimStateRow, _UNDER_ID, claim_numbers=others)
    return found[::-1]


async def list_sendings(tx: Tx, claim_number: str) -> list[ClaimSending]:
    """Return the batches of a claim, in order."""
    return await list_rows(tx, ClaimSending, _SENDINGS, claim_number=claim_number)


async def list_sources(tx: Tx, claim_number: str) -> dict[str, FactSource]:
    """Return the inbox files about a claim, by the identity of the fact they brought."""
    found = [FactSource(*row) for row in await tx.rows(_SOURCES, claim_number=claim_number)]
    return {one.identity: one for one in found}


async def note_event(tx: Tx, claim_number: str, at: int, event: str) -> int:
    """Note an event in the history of a claim of the scope; return the number of the event that its vendor gets."""
    await add_event(tx, claim_number, at, event)
    await tx.run(_COUNT_EVENT, of=claim_number)
    [(sequence,)] = await tx.rows(_SEQUENCE, claim_number=claim_number)
    return int(sequence)


async def note_result(tx: Tx, scope: Scope, claim_number: str, at: int, result: str) -> None:
    """Note how a question ended that says nothing about the claim. Any client's, so in a system scope."""
    await tx.run(
        _NOTE,
        owner_vendor=scope.vendor,
        owner_site=scope.site,
        of=claim_number,
        moment=at,
        said=ANSWERED_PREFIX + result,
    )


_STATE = scoped_select(STATE_ROWS.where(claims.c.claim_number == bindparam("claim_number")), claims)
_UNDER_ID = scoped_select(
    STATE_ROWS.where(among(claims.c.claim_number, "claim_numbers"), IS_NOT_SUPERSEDED)
    .order_by(claims.c.claim_number.desc())
    .limit(UNDER_ONE_ID_MAX),
    claims,
)
_SENDINGS = scoped_select(
    select(
        batch_claims.c.attempt,
        batches.c.id,
        batches.c.name,
        batches.c.control,
        batches.c.state,
        batches.c.claims,
        batches.c.created_at,
        batches.c.delivered_at,
        batches.c.fault,
        batches.c.hop,
        batches.c.hop_payer_id,
        routes.c.facts,
    )
    .select_from(
        batch_claims.join(batches, batches.c.id == batch_claims.c.batch_id).outerjoin(
            routes, routes.c.id == batches.c.route_id
        )
    )
    .where(batch_claims.c.claim_number == bindparam("claim_number"))
    .order_by(batch_claims.c.attempt, batches.c.id),
    batch_claims,
)
_SOURCES = scoped_select(
    select(
        claim_facts.c.identity,
        inbox.c.name,
        inbox.c.received_at,
        case((inbox.c.type == inlined(HOP), inbox.c.payer_id), else_=""),
    )
    .select_from(claim_facts.join(inbox, inbox.c.id == claim_facts.c.inbox_id))
    .where(claim_facts.c.claim_number == bindparam("claim_number")),
    claim_facts,
)
_COUNT_EVENT = scoped_update(
    claims,
    claims.c.claim_number == bindparam("of"),
    event_sequence=claims.c.event_sequence + 1,
)
_SEQUENCE = scoped_select(
    select(claims.c.event_sequence).where(claims.c.claim_number == bindparam("claim_number")),
    claims,
)
_NOTE = Statement(
    insert(claim_events).values(
        vendor_id=bindparam("owner_vendor"),
        site_id=bindparam("owner_site"),
        claim_number=bindparam("of"),
        at=bindparam("moment"),
        event=bindparam("said"),
    ),
    system=True,
)
_SERIES_KEY = scoped_select(
    select(series_members.c.series_key).where(
        series_members.c.claim_number == bindparam("claim_number")
    ),
    series_members,
)
_MEMBER_COLUMNS = {**claims.c, **series_members.c}
_SERIES = scoped_select(
    select(*[_MEMBER_COLUMNS[name] for name in SeriesMember._fields])
    .join_from(claims, series_members, series_members.c.claim_number == claims.c.claim_number)
    .where(series_members.c.series_key == bindparam("series_key"))
    .order_by(series_members.c.claim_number)
    .limit(SERIES_SHOWN_MAX),
    claims,
    series_members,
)
