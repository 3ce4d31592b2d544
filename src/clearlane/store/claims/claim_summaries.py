"""Counts and sums of a site's claims, kept as one document that a schedule refreshes.

Knows no document's content; knows which rows are counted.
"""

from functools import cache
from typing import NamedTuple

from sqlalchemy import bindparam, case, func, select

from clearlane.store.claims.claims import IS_NOT_SUPERSEDED, NOT_ACCEPTED
from clearlane.store.claims.payer_filter import CONDITIONS, EVERY_PAYER, PayerFilter
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claim_summaries, claims
from clearlane.store.database.sql import Statement, scoped_select, scoped_upsert

NAME = "claims"
DECIDED_ROWS_MAX = 10_000


class LabelCount(NamedTuple):
    """The claims of one label that no other superseded."""

    label: str
    claims: int
    total_cents: int
    paid_cents: int
    oldest_at: int


class DayCount(NamedTuple):
    """The claims of one day of creation and one label, with those that others took over from."""

    created_day: str
    label: str
    is_first: int
    """1 for claims that correct no earlier one."""
    claims: int
    total_cents: int
    paid_cents: int


class StoredSummary(NamedTuple):
    """A kept summary."""

    counted_at: int
    content: bytes


async def find_summary(tx: Tx) -> StoredSummary | None:
    """Return the site's summary."""
    row = await tx.row(_FIND, name=NAME)
    return None if row is None else StoredSummary(row[0], bytes(row[1]))


async def list_latest(tx: Tx, most: int) -> list[bytes]:
    """Return the summaries of sites of every client that were refreshed last, for the operator's counts."""
    return [bytes(content) for (content,) in await tx.rows(_LATEST, name=NAME, most=most)]


async def put_summary(tx: Tx, counted_at: int, content: bytes) -> None:
    """Replace the site's summary."""
    await tx.run(_PUT, name=NAME, counted_at=counted_at, content=content)


async def count_labels(
    tx: Tx, *, changed_from: int, changed_before: int, payers: PayerFilter = EVERY_PAYER
) -> list[LabelCount]:
    """Count the claims of each label that no other superseded and whose last change is in these microseconds."""
    keys = payers.given()
    rows = await tx.rows(
        _labels(frozenset(keys)), changed_from=changed_from, changed_before=changed_before, **keys
    )
    return [LabelCount(*(row[0], *map(int, row[1:]))) for row in rows]


async def count_days(tx: Tx, first: str) -> list[DayCount]:
    """Count the accepted claims of each day from this one on, by label."""
    rows = await tx.rows(_DAYS, first=first)
    return [DayCount(row[0], row[1], *map(int, row[2:])) for row in rows]


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
_PUT = scoped_upsert(
    claim_summaries,
    "name",
    "counted_at",
    "content",
    key=("name",),
    replace=("counted_at", "content"),
)


@cache
def _labels(payers: frozenset[str]) -> Statement:
    return scoped_select(
        select(
            claims.c.label,
            func.count(),
            func.sum(claims.c.total_cents),
            func.sum(claims.c.paid_cents),
            func.min(claims.c.updated_at),
        )
        .where(
            IS_NOT_SUPERSEDED,
            claims.c.updated_at >= bindparam("changed_from"),
            claims.c.updated_at < bindparam("changed_before"),
            *(CONDITIONS[name] for name in sorted(payers)),
        )
        .group_by(claims.c.label),
        claims,
    )


_IS_FIRST = case((claims.c.predecessor_id.is_(None), 1), else_=0)
_DAYS = scoped_select(
    select(
        claims.c.created_day,
        claims.c.label,
        _IS_FIRST,
        func.count(),
        func.sum(claims.c.total_cents),
        func.sum(claims.c.paid_cents),
    )
    .where(claims.c.created_day >= bindparam("first"), claims.c.state != NOT_ACCEPTED)
    .group_by(claims.c.created_day, claims.c.label, _IS_FIRST),
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
