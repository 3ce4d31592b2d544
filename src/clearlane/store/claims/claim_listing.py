"""The claims of one site as console lists show them: by label and last change, page by page.

A list is read in two steps: the keys of each label from its index, merged; then the rows of one page. So a page costs
the same whatever the site has stored. Knows no field of a claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, select, tuple_

from clearlane.store.claims import payer_filter
from clearlane.store.claims.claims import IS_NOT_SUPERSEDED
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement, among, scoped_select

STATEMENTS_KEPT_MAX = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilters:
    """What claims must have to be listed beside their label; None filters nothing. Days are both included."""

    payer_id: str | None = None
    kind: str | None = None
    service_from: str | None = None
    service_to: str | None = None
    amount_from: int | None = None
    amount_to: int | None = None
    changed_from: int | None = None
    """Microseconds, as the next one."""
    changed_before: int | None = None
    payers: Sequence[str] | None = None
    """Payer keys, as the next ones: of these payers alone."""
    other_than: Sequence[str] | None = None
    """Of all payers but these."""

    def given(self) -> dict[str, object]:
        """Return the filters that are set."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in found.items() if value is not None}


class ListKey(NamedTuple):
    """A claim's place in a list, and what totals need of it."""

    updated_at: int
    claim_number: str
    label: str
    total_cents: int
    paid_cents: int

    @property
    def position(self) -> "tuple[int, str]":
        """Where a list goes on after it."""
        return (self.updated_at, self.claim_number)


class ListRow(NamedTuple):
    """A claim in a list. ``payload`` and ``status`` are sealed."""

    claim_number: str
    kind: str
    state: str
    label: str
    payer_id: str
    account_as_number: int
    total_cents: int
    paid_cents: int
    created_at: int
    updated_at: int
    service_day: str | None
    predecessor_id: str | None
    is_superseded: int
    payload: bytes
    status: bytes | None

    def __repr__(self) -> str:
        """Leave out sealed values."""
        return f"ListRow({self.claim_number})"


async def list_keys(
    tx: Tx,
    labels: Sequence[str],
    filters: ListFilters,
    *,
    limit: int,
    older_than: tuple[int, str] | None = None,
    newer_than: tuple[int, str] | None = None,
) -> list[ListKey]:
    """Return the keys of the site's claims of these labels that no other superseded, the latest change first.

    With ``newer_than`` they are the next ones in the other direction, still the latest first.
    """
    cursor = older_than or newer_than
    statement = _keys(
        frozenset(filters.given()), has_cursor=cursor is not None, upwards=newer_than is not None
    )
    values: dict[str, object] = {**filters.given(), "limit": limit}
    if cursor is not None:
        values |= {"cursor_at": cursor[0], "cursor_id": cursor[1]}
    found: list[ListKey] = []
    for label in labels:
        found += [ListKey(*row) for row in await tx.rows(statement, label=label, **values)]
    found.sort(reverse=newer_than is None)
    page = found[:limit]
    return page if newer_than is None else page[::-1]


async def list_rows(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, ListRow]:
    """Return claims of the site by their numbers."""
    found = (ListRow(*row) for row in await tx.rows(_ROWS, claim_numbers=list(claim_numbers)))
    return {row.claim_number: row for row in found}


async def list_predecessors(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, str | None]:
    """Return the predecessors of claims of the site, by their numbers."""
    rows = await tx.rows(_PREDECESSORS, claim_numbers=list(claim_numbers))
    return {str(row[0]): row[1] for row in rows}


_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "payer_id": claims.c.payer_id == bindparam("payer_id"),
    "kind": claims.c.kind == bindparam("kind"),
    "service_from": claims.c.service_day >= bindparam("service_from"),
    "service_to": claims.c.service_day <= bindparam("service_to"),
    "amount_from": claims.c.total_cents >= bindparam("amount_from"),
    "amount_to": claims.c.total_cents <= bindparam("amount_to"),
    "changed_from": claims.c.updated_at >= bindparam("changed_from"),
    "changed_before": claims.c.updated_at < bindparam("changed_before"),
    **payer_filter.CONDITIONS,
}
_PLACE = tuple_(claims.c.updated_at, claims.c.claim_number)
_CURSOR = tuple_(bindparam("cursor_at"), bindparam("cursor_id"))


@lru_cache(maxsize=STATEMENTS_KEPT_MAX)
def _keys(names: frozenset[str], *, has_cursor: bool, upwards: bool) -> Statement:
    core = select(*(claims.c[name] for name in ListKey._fields)).where(
        IS_NOT_SUPERSEDED,
        claims.c.label == bindparam("label"),
        *(_CONDITIONS[name] for name in sorted(names)),
    )
    if has_cursor:
        core = core.where(_PLACE > _CURSOR if upwards else _PLACE < _CURSOR)
    if upwards:
        core = core.order_by(claims.c.updated_at, claims.c.claim_number)
    else:
        core = core.order_by(claims.c.updated_at.desc(), claims.c.claim_number.desc())
    return scoped_select(core.limit(bindparam("limit")), claims)


_ROWS = scoped_select(
    select(*(claims.c[name] for name in ListRow._fields)).where(
        among(claims.c.claim_number, "claim_numbers")
    ),
    claims,
)
_PREDECESSORS = scoped_select(
    select(claims.c.claim_number, claims.c.predecessor_id).where(
        among(claims.c.claim_number, "claim_numbers")
    ),
    claims,
)
