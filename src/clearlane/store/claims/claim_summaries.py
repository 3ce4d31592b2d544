"""Counts and sums of a site's claims, kept as one document that a schedule refreshes.

Knows no document's content; knows which rows are counted.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, case, func, select

from clearlane.store.claims.claims import IS_NOT_SUPERSEDED, IS_REAL, NOT_ACCEPTED
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claim_summaries, claims
from clearlane.store.database.sql import Statement, scoped_select, scoped_upsert

NAME = "claims"
DECIDED_ROWS_MAX = 10_000


class DayCount(NamedTuple):
    """The claims of one day of receipt and one label, with those that others took over from."""

    created_day: str
    label: str
    is_first: int
    """1 for claims that correct no earlier one."""
    is_listed: int
    """1 for claims that lists show: no other superseded them."""
    claims: int
    total_cents: int
    paid_cents: int


class StoredSummary(NamedTuple):
    """A kept summary."""

    counted_at: int
    content: bytes


async def find_summary(tx: Tx, name: str = NAME) -> StoredSummary | None:
    """Return the site's summary."""
    row = await tx.row(_FIND, name=name)
    return None if row is None else StoredSummary(row[0], bytes(row[1]))


async def list_counted(tx: Tx, name: str) -> dict[int, int]:
    """Return when the summaries of a name were counted, by the sites of the scope."""
    rows = await tx.rows(_COUNTED, name=name)
    return {int(site): int(at) for site, at in rows}


async def list_latest(tx: Tx, most: int) -> list[bytes]:
    """Return the summaries of sites of every client that were refreshed last, for the operator's counts."""
    return [bytes(content) for (content,) in await tx.rows(_LATEST, name=NAME, most=most)]


async def put_summary(tx: Tx, counted_at: int, content: bytes, name: str = NAME) -> None:
    """Replace the site's summary."""
    await tx.run(_PUT, name=name, counted_at=counted_at, content=content)


async def count_days(tx: Tx, first: str) -> list[DayCount]:
    """Count the claims of each day from this one on, by label; claims of shadow files are not among them."""
    rows = await tx.rows(_DAYS, first=first)
    return [DayCount(row[0], row[1], *map(int, row[2:])) for row in rows]


async def count_not_accepted(tx: Tx, day: str) -> int:
    """Count the claims that were received on a day and not accepted, with those that others took the place of."""
    row = await tx.row(_NOT_ACCEPTED_DAY, day=day)
    return int(row[0]) if row else 0


async def list_decided(tx: Tx, label: str, changed_from: int) -> list[tuple[int, int]]:
    """Return when claims of a label were created and when they last changed, the latest first."""
    rows = await tx.rows(_DECIDED, label=label, changed_from=changed_from)
    return [(int(created), int(updated)) for created, updated in rows]


_LATEST = Statement(
    select(claim_summaries.c.content)
    .where(claim_summaries.c.name == bindparam("name"))
    .order_by(claim_summaries.c.counted_at.desc())
    .limit(bindparam("most")),
    system=True,
)
_FIND = scoped_select(
    select(claim_summaries.c.counted_at, claim_summaries.c.content).where(
        claim_summaries.c.name == bindparam("name")
    ),
    claim_summaries,
)
_COUNTED = scoped_select(
    select(claim_summaries.c.site_id, claim_summaries.c.counted_at).where(
        claim_summaries.c.name == bindparam("name")
    ),
    claim_summaries,
)
_PUT = scoped_upsert(
    claim_summaries,
    "name",
    "counted_at",
    "content",
    key=("name",),
    replace=("counted_at", "content"),
)
_IS_FIRST = case((claims.c.predecessor_id.is_(None), 1), else_=0)
_IS_LISTED = case((IS_NOT_SUPERSEDED, 1), else_=0)
_DAYS = scoped_select(
    select(
        claims.c.created_day,
        claims.c.label,
        _IS_FIRST,
        _IS_LISTED,
        func.count(),
        func.sum(claims.c.total_cents),
        func.sum(claims.c.paid_cents),
    )
    .where(claims.c.created_day >= bindparam("first"), IS_REAL)
    .group_by(claims.c.created_day, claims.c.label, _IS_FIRST, _IS_LISTED),
    claims,
)
_NOT_ACCEPTED_DAY = scoped_select(
    select(func.count())
    .select_from(claims)
    .where(claims.c.created_day == bindparam("day"), claims.c.state == NOT_ACCEPTED, IS_REAL),
    claims,
)
_DECIDED = scoped_select(
    select(claims.c.created_at, claims.c.updated_at)
    .where(
        IS_NOT_SUPERSEDED,
        claims.c.label == bindparam("label"),
        claims.c.updated_at >= bindparam("changed_from"),
    )
    .order_by(claims.c.updated_at.desc())
    .limit(DECIDED_ROWS_MAX),
    claims,
)
