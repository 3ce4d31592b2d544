"""List claims by any of many filters, in one of four orders, page by page.

    query = ClaimQuery(where={"payer_id": "TST01", "service_day_from": "2026-01-01"}, limit=51)
    rows = await list_claims(tx, query, ClaimListRow)
    sums = await sum_claims(tx, query)      # of all pages, label by label

The V3 status list, v1, the console, exports and the CLI all list claims with this. The scope is that of the
transaction: one site, or sites of a vendor; an installation is its vendors, one after the other. A statement is made
once for each set of filters that is used. Knows no field of a claim.
"""

import operator
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, and_, bindparam, func, not_, or_, select, tuple_

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.redacted_repr import shows
from clearlane.store import filing_alarms
from clearlane.store.claims import claim_ids, work_items
from clearlane.store.claims.claims import IS_NOT_SUPERSEDED, IS_REAL, NOT_ACCEPTED
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import (
    claims,
    client_file_sets,
    file_claims,
    secondary_drafts,
)
from clearlane.store.database.sql import (
    AnyColumn,
    AnySelect,
    Statement,
    among,
    inlined,
    scoped_select,
    select_as,
    without_index,
)

STATUS_COLUMN = "claims.status"
"""What a claim status is sealed for, beside the claim's number."""
STATEMENTS_KEPT_MAX = 512
MEMBER_CLAIMS_MAX = 100_000
"""How many of a site's newest claims are searched for a member id."""


class ListPosition(NamedTuple):
    """The claim that the page before ended with."""

    updated_at: int
    created_day: str
    claim_number: str


@shows("claim_number")
class StatusListRow(NamedTuple):
    """A claim as the V3 status list reads it. ``status`` is sealed."""

    created_day: str
    claim_number: str
    status: bytes

    @property
    def position(self) -> ListPosition:
        """Where a list continues after it."""
        return ListPosition(0, self.created_day, self.claim_number)


class ClaimListKey(NamedTuple):
    """A claim's place in a list by last change, and what totals need of it."""

    updated_at: int
    claim_number: str
    label: str
    total_cents: int
    paid_cents: int

    @property
    def position(self) -> ListPosition:
        """Where a list continues after it."""
        return ListPosition(self.updated_at, "", self.claim_number)


@shows("claim_number")
class ClaimListRow(NamedTuple):
    """A claim as lists show it. ``payload``, ``header`` and ``status`` are sealed; a claim that was not accepted has no status."""

    claim_number: str
    site_id: int
    kind: str
    form: str
    state: str
    label: str
    payer_id: str
    account_as_number: int
    total_cents: int
    paid_cents: int
    created_at: int
    created_day: str
    updated_at: int
    service_day: str | None
    bill_type: str | None
    predecessor_id: str | None
    successor_id: str | None
    is_superseded: int
    prior_payer_claim: str | None
    awaiting: str | None
    awaited_since: int | None
    awaited_by: int | None
    payload: bytes
    header: bytes
    status: bytes | None

    @property
    def position(self) -> ListPosition:
        """Where a list continues after it."""
        return ListPosition(self.updated_at, self.created_day, self.claim_number)


class LabelSum(NamedTuple):
    """The claims of a list that have one label: how many, and their cents."""

    label: str
    claims: int
    total_cents: int
    paid_cents: int
    oldest_at: int


Row = TypeVar("Row", StatusListRow, ClaimListKey, ClaimListRow)


class ClaimOrder(Enum):
    """The order of a list: its two columns, and whether it descends."""

    OLDEST_FIRST = ("created_day", False)
    NEWEST_FIRST = ("created_day", True)
    BY_CHANGE = ("updated_at", False)
    LATEST_CHANGE_FIRST = ("updated_at", True)


class Listed(Enum):
    """Which claims a list has at all."""

    ACCEPTED = "accepted"
    """Claims that were not accepted, and those of shadow files, are listed only if asked for: by state, label or number."""
    LATEST = "latest"
    """Claims that no other superseded, accepted or not."""
    FINDABLE = "findable"
    """Accepted claims, and of the others those that no other superseded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimQuery:
    """A list of claims."""

    where: Mapping[str, object] = field(default_factory=dict)
    """Filters, all of which hold: a column and its value; with a suffix (``_from``, ``_to``, ``_after``, ``_before``) a
    bound; ``_from`` and ``_to`` include it. Beside columns:

    - ``file_id``: the file that the claims came in;
    - ``bill_type``: the type of bill begins with this;
    - ``filing_alarm``: their filing limit ends within this many days;
    - ``claim_numbers``, ``labels``, ``vendor_claim_hashes``: one of these;
    - ``not_due_before``: nothing that they await was to come before this moment;
    - ``replaced``: what is shown with this label, because another claim was sent in its place.

    ``patient_key`` is given with ``name_key``: one index holds both, in this order. ``member_key`` is given with
    ``created_day_from`` and for one site: the index entries of these days are read.
    """
    listed: Listed = Listed.ACCEPTED
    order: ClaimOrder = ClaimOrder.NEWEST_FIRST
    after: ListPosition | None = None
    limit: int


def by_label(labels: Sequence[str], *, limit: int, **where: object) -> ClaimQuery:
    """Return the query of a list for people: claims of these labels that no other superseded, the latest change first."""
    return ClaimQuery(
        where={"labels": labels, **where},
        listed=Listed.LATEST,
        order=ClaimOrder.LATEST_CHANGE_FIRST,
        limit=limit,
    )


async def list_claims(tx: Tx, query: ClaimQuery, row_type: type[Row]) -> list[Row]:
    """Return the claims of a page, as rows of this type.

    Labels are read one after the other and merged, because the index of lists begins with the label.
    """
    where = await _resolve(tx, query.where)
    labels: Any = where.pop("labels", None)  # Any: of filters of all types, this one is texts
    if labels is None:
        return await _read(tx, query, where, row_type)
    found: list[Row] = []
    for label in labels:
        found += await _read(tx, query, {**where, "label": label}, row_type)
    column, descends = query.order.value
    found.sort(key=lambda row: (getattr(row, column), row.claim_number), reverse=descends)
    return found[: query.limit]


async def sum_claims(tx: Tx, query: ClaimQuery) -> list[LabelSum]:
    """Return the sums of a whole list, whatever its page is, for each label that its claims have."""
    where = await _resolve(tx, query.where)
    rows = await tx.rows(_sums(frozenset(where), query.listed), **where)
    return [LabelSum(row[0], *map(int, row[1:])) for row in rows]


async def _resolve(tx: Tx, given: Mapping[str, object]) -> dict[str, object]:
    """Return the filters with the numbers of claims in place of what other tables say of them."""
    where = dict(given)
    if (hashes := where.pop("vendor_claim_hashes", None)) is not None:
        under_ids = await claim_ids.list_under(tx, hashes)  # type: ignore[arg-type]  # this filter holds hashes
        where["claim_numbers"] = under_ids.claim_numbers
    for name, list_numbers in _BY_OTHER_TABLES.items():
        if (value := where.pop(name, None)) is not None:
            numbers = await list_numbers(tx, str(value))
            known = where.get("claim_numbers")
            chosen = set(known) if isinstance(known, list) else None
            where["claim_numbers"] = [n for n in numbers if chosen is None or n in chosen]
    if (day := where.pop("awake_on", None)) is not None:
        where["resting"] = [one.claim_number for one in await work_items.list_resting(tx, str(day))]
    return where


async def _list_of_file(tx: Tx, file_id: str) -> list[str]:
    """Return the numbers of the claims that came in a file."""
    return await list_rows(tx, str, _OF_FILE, file=file_id)


async def _list_with_draft(tx: Tx, states: str) -> list[str]:
    """Return the numbers of the claims whose draft for the next payer is in one of these states."""
    return await list_rows(tx, str, _WITH_DRAFT, states=states.split())


_BY_OTHER_TABLES: Mapping[str, Callable[[Tx, str], Awaitable[list[str]]]] = {
    "assigned_to": work_items.list_assigned,
    "file_id": _list_of_file,
    "draft_state": _list_with_draft,
    "filing_alarm": filing_alarms.list_near,
}
"""Filters whose claims another table names."""


async def claims_by_number(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, ClaimListRow]:
    """Return claims of the scope by their numbers."""
    rows = await tx.rows(_BY_NUMBER, claim_numbers=list(claim_numbers))
    return {row[0]: ClaimListRow(*row) for row in rows}


async def list_predecessors(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, str | None]:
    """Return the predecessors of claims of the scope, by their numbers."""
    rows = await tx.rows(_PREDECESSORS, claim_numbers=list(claim_numbers))
    return {str(row[0]): row[1] for row in rows}


async def first_member_day(tx: Tx, since: str) -> str:
    """Return the first day from which a site's claims are searched for a member id.

    That is the given one, or the day of the last of :data:`MEMBER_CLAIMS_MAX` newest claims.
    """
    row = await tx.row(_NTH_DAY, since=since, skipped=MEMBER_CLAIMS_MAX - 1)
    return since if row is None else str(row[0])


async def _read(
    tx: Tx, query: ClaimQuery, where: dict[str, object], row_type: type[Row]
) -> list[Row]:
    names, position = frozenset(where), {}
    if query.after is not None:
        column, descends = query.order.value
        last: Any = getattr(query.after, column)  # Any: a day or a number, as the order says
        position = {"last": last, "last_number": query.after.claim_number}
        # The position takes the place of the bound where the list begins: the index leads to it, past all other claims of its
        # day. If it is outside of the filters, their bound stays.
        bound, nearer = (f"{column}_to", min) if descends else (f"{column}_from", max)
        if bound in where and nearer(where[bound], last) == last and _KEYS.isdisjoint(where):
            names -= {bound}
    statement = list_statement(
        row_type._fields, names, query.listed, query.order, is_first=query.after is None
    )
    values = {name: where[name] for name in names} | position | {"limit": query.limit}
    return await list_rows(tx, row_type, statement, **values)


# ---- statements -------------------------------------------------------------------------------

_BOUNDS = {"from": operator.ge, "to": operator.le, "after": operator.gt, "before": operator.lt}
_SPECIAL: dict[str, ColumnElement[bool]] = {
    "claim_numbers": among(claims.c.claim_number, "claim_numbers"),
    "labels": among(claims.c.label, "labels"),
    "bill_type": func.substr(claims.c.bill_type, 1, func.length(bindparam("bill_type")))
    == bindparam("bill_type"),
    "replaced": or_(
        claims.c.label == bindparam("replaced"),
        and_(not_(IS_NOT_SUPERSEDED), claims.c.label != inlined(ClaimLabel.VOIDED.value)),
    ),
    # Without the index: nearly every claim passes.
    "resting": not_(among(without_index(claims.c.claim_number), "resting")),
    "not_due_before": or_(
        claims.c.awaited_by.is_(None), claims.c.awaited_by >= bindparam("not_due_before")
    ),
}
_LISTED = {
    Listed.ACCEPTED: and_(claims.c.state != NOT_ACCEPTED, IS_REAL),
    Listed.LATEST: IS_NOT_SUPERSEDED,
    Listed.FINDABLE: or_(claims.c.state != NOT_ACCEPTED, IS_NOT_SUPERSEDED),
}
_ASKS_FOR_ANY = {"state", "label", "labels", "replaced", "claim_numbers"}
_LEAST: dict[str, object] = {"created_day": "", "updated_at": 0}
_KEYS = {
    "claim_numbers",
    "account_key",
    "payer_number_key",
    "name_key",
    "patient_key",
    "awaited_by_before",
}
"""Filters that few claims pass. Not the member id, whose key is in the index of days."""


@lru_cache(maxsize=STATEMENTS_KEPT_MAX)
def list_statement(
    columns: tuple[str, ...],
    names: frozenset[str],
    listed: Listed,
    order: ClaimOrder,
    *,
    is_first: bool,
) -> Statement:
    """Return the statement of a list of these columns, with these filters."""
    column_name, descends = order.value
    has_keys = not names.isdisjoint(_KEYS)
    # By day first: one index that begins with the site, and one with the vendor, are in this order. Claim numbers are
    # in the order of time.
    place: tuple[AnyColumn, ...] = (claims.c[column_name], claims.c.claim_number)
    if has_keys:
        # Few claims have a key, so these are sorted. As expressions, or SQLite would read all claims in their order.
        place = (func.coalesce(place[0], _LEAST[column_name]), func.coalesce(place[1], ""))
    core = _narrowed(select(*(claims.c[name] for name in columns)), names, listed)
    core = core.order_by(*(column.desc() if descends else column for column in place))
    if not is_first:
        last = tuple_(bindparam("last"), bindparam("last_number"))
        if f"{column_name}_{'to' if descends else 'from'}" in names:
            # The bound of the filter starts where the page does. With a choice, SQLite may take the vendor's index.
            place = tuple(without_index(column) for column in place)
        core = core.where(tuple_(*place) < last if descends else tuple_(*place) > last)
    return scoped_select(core.limit(bindparam("limit")), claims)


@lru_cache(maxsize=STATEMENTS_KEPT_MAX)
def _sums(names: frozenset[str], listed: Listed) -> Statement:
    """Return the statement of the sums of a list with these filters."""
    core = select(
        claims.c.label,
        func.count(),
        func.sum(claims.c.total_cents),
        func.sum(claims.c.paid_cents),
        func.min(claims.c.updated_at),
    )
    return scoped_select(_narrowed(core, names, listed).group_by(claims.c.label), claims)


def _narrowed(core: AnySelect, names: frozenset[str], listed: Listed) -> AnySelect:
    """Return a SELECT of claims with the conditions of these filters, and of what a list has at all."""
    has_keys = not names.isdisjoint(_KEYS)
    core = core.where(*(_condition(name, has_keys=has_keys) for name in sorted(names)))
    if listed is not Listed.ACCEPTED or names.isdisjoint(_ASKS_FOR_ANY):
        core = core.where(_LISTED[listed])
    return core


def _condition(name: str, *, has_keys: bool) -> ColumnElement[bool]:
    """Return the condition of a filter, by its name."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    if name in claims.c:
        return claims.c[name] == bindparam(name)
    column_name, _, bound = name.rpartition("_")
    column: AnyColumn = claims.c[column_name]
    if has_keys and column_name == "created_day":
        column = func.coalesce(column, "")  # or SQLite would take the index of days
    compare: Callable[..., ColumnElement[bool]] = _BOUNDS[bound]
    return compare(column, bindparam(name))


_BY_NUMBER = scoped_select(
    select_as(claims, ClaimListRow).where(_SPECIAL["claim_numbers"]),
    claims,
)
_OF_FILE = scoped_select(
    select(file_claims.c.claim_number)
    .join(client_file_sets, client_file_sets.c.set_id == file_claims.c.set_id)
    .where(client_file_sets.c.file_id == bindparam("file")),
    file_claims,
    client_file_sets,
)
_WITH_DRAFT = scoped_select(
    select(secondary_drafts.c.claim_number).where(among(secondary_drafts.c.state, "states")),
    secondary_drafts,
)
_PREDECESSORS = scoped_select(
    select(claims.c.claim_number, claims.c.predecessor_id).where(_SPECIAL["claim_numbers"]), claims
)
_NTH_DAY = scoped_select(
    select(claims.c.created_day)
    .where(claims.c.created_day >= bindparam("since"))
    .order_by(claims.c.created_day.desc(), claims.c.claim_number.desc())
    .limit(1)
    .offset(bindparam("skipped")),
    claims,
)
