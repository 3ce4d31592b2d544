"""List payments by any of the filters of one table, the newest first, page by page.

    query = PaymentQuery(where={"payer": "TST01", "unmatched": True}, limit=51)             # any client's, for operators
    query = PaymentQuery(where={"bank": "EFT 42"}, scope=site.scope)        # what a site has a share of
    found = await find_page(tx, vault, query)

v1, the console, the CLI and exports all list payments with this. A new filter is one row of :data:`FILTERS`: its name is
a parameter of v1, an option of ``clearlane payment list`` and a name in the console's address. Counts stop at
:data:`COUNTED_MAX`, so that a tab costs the same however much is stored. Knows no X12 and no claim.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, and_, bindparam, exists, func, literal, not_, or_, select

from clearlane.kernel.ids import Scope, VendorScope
from clearlane.kernel.list_filter import FilterType, ListFilter
from clearlane.payments.bank_search import BankSearch, read_bank_text
from clearlane.payments.deposit import DepositState
from clearlane.payments.payment import PaymentState
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import payment_shares, payments
from clearlane.store.database.sql import (
    AnyColumn,
    Row,
    Statement,
    among,
    scoped_select,
)
from clearlane.store.payments.payments import (
    PaymentRow,
    PaymentShare,
    list_shares,
    trace_hash,
)
from clearlane.store.payments.share_closings import DIFFERS, EXPECTED_CENTS, STATE
from clearlane.store.vault.vault import Vault

COUNTED_MAX = 100
"""A tab that would show more shows ``99+``."""
PAYMENTS_PER_PAGE = 500
STATEMENTS_KEPT_MAX = 256

UNMATCHED, UNBALANCED, NOT_FETCHED = "unmatched", "unbalanced", "not_fetched"
TO_DEPOSIT = "to_deposit"
NEEDS = (UNMATCHED, UNBALANCED, NOT_FETCHED, TO_DEPOSIT)
"""Filters by what a person must do."""


FilterValue: TypeAlias = Any  # Any: each filter takes a value of its own type


@dataclass(frozen=True, eq=False)
class PaymentFilter(ListFilter[ColumnElement[bool]]):
    """One filter of the list."""

    own_condition: ColumnElement[bool] | None = None
    """The condition in the scope of a client, if it is about the client's share."""
    values: Callable[[Vault, FilterValue], Mapping[str, object]] | None = None
    """What the condition takes, if it is not the value itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentQuery:
    """A list of payments, the newest first."""

    where: Mapping[str, object] = field(default_factory=dict, repr=False)
    """Filters, all of which hold: names of :data:`FILTERS` with their values. None and False are left out."""
    before: str | None = None
    """The last payment of the page before."""
    limit: int = PAYMENTS_PER_PAGE
    scope: Scope | VendorScope | None = None
    """The site, or the sites of a vendor, whose payments are listed; None for the whole installation."""


class SharedPayment(NamedTuple):
    """A payment, and the shares that the sites of the scope have of it."""

    row: PaymentRow
    shares: tuple[PaymentShare, ...]


class PaymentSum(NamedTuple):
    """How many payments there are, and their cents."""

    payments: int
    cents: int

    def plus(self, other: "PaymentSum") -> "PaymentSum":
        """Return the sum of both."""
        return PaymentSum(self.payments + other.payments, self.cents + other.cents)


async def find_page(tx: Tx, vault: Vault, query: PaymentQuery) -> list[SharedPayment]:
    """Return a page of payments in the transaction of the query's scope."""
    given = {name: value for name, value in query.where.items() if value not in (None, False)}
    values: dict[str, object] = {"limit": query.limit}
    for name, value in given.items():
        values |= _values(vault, FILTERS[name], value)
    if query.before is not None:
        values[BEFORE] = query.before
    names = frozenset(given) | (values.keys() & {BEFORE})
    if query.scope is not None:
        ids = await tx.rows(_own_ids(names), **values)
        return await find_some(tx, [str(id) for id, _ in ids])
    rows = [PaymentRow(*row) for row in await tx.rows(_every(names, PAYMENT_COLUMNS), **values)]
    shares: dict[str, tuple[PaymentShare, ...]] = {}
    for one in await list_shares(tx, [row.payment_id for row in rows]):
        shares[one.payment_id] = (*shares.get(one.payment_id, ()), one)
    return [SharedPayment(row, shares.get(row.payment_id, ())) for row in rows]


async def find_some(tx: Tx, payment_ids: Sequence[str]) -> list[SharedPayment]:
    """Return those of these payments that a client's scope has shares of, in this order."""
    if not payment_ids:
        return []
    found = _shared(await tx.rows(_SHARED, payment_ids=list(payment_ids)))
    return [found[id] for id in payment_ids if id in found]


async def find_duplicate(tx: Tx, payment_id: str) -> SharedPayment | None:
    """Return a payment that came again, with the shares that the scope has of the first one; None if it is no such."""
    return _shared(await tx.rows(_DUPLICATE, payment_id=payment_id)).get(payment_id)


async def list_needs(tx: Tx, *, own: bool) -> dict[str, dict[str, int]]:
    """Return the cents of payments that need attention, by need and id, up to :data:`COUNTED_MAX` each.

    ``own`` counts those that a client's scope has shares of. An amount that cannot be read counts nothing, as in sums.
    """
    return await _list_needs(tx, frozenset(), {}, own=own)


async def list_needs_of(tx: Tx, vault: Vault, query: PaymentQuery) -> dict[str, dict[str, int]]:
    """Return the same of a list alone: of the payments that fit its filters, whatever need is among them."""
    given = {
        name: value
        for name, value in query.where.items()
        if name not in NEEDS and value not in (None, False)
    }
    values: dict[str, object] = {}
    for name, value in given.items():
        values |= _values(vault, FILTERS[name], value)
    return await _list_needs(tx, frozenset(given), values, own=query.scope is not None)


async def _list_needs(
    tx: Tx, names: frozenset[str], values: Mapping[str, object], *, own: bool
) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for need in NEEDS:
        wanted = names | {need}
        statement = _own_ids(wanted) if own else _every(wanted, _ID_AND_CENTS)
        rows = await tx.rows(statement, limit=COUNTED_MAX, **values)
        found[need] = {str(id): int(cents or 0) for id, cents in rows}
    return found


async def sum_list(tx: Tx, vault: Vault, query: PaymentQuery) -> PaymentSum:
    """Return the sum of a whole list, whatever its page is; duplicates count nothing.

    A client's is that of the parts that its list shows.
    """
    given = {name: value for name, value in query.where.items() if value not in (None, False)}
    values: dict[str, object] = {}
    for name, value in given.items():
        values |= _values(vault, FILTERS[name], value)
    is_own = query.scope is not None
    return _sum(await tx.row(_sum_of(frozenset(given), is_own=is_own), **values))


async def sum_since(tx: Tx, first: str, *, own: bool) -> PaymentSum:
    """Return the sum of the payments whose ids are not before ``first``; duplicates count nothing.

    ``own`` sums the parts that a client's scope has of them.
    """
    return _sum(await tx.row(_OWN_SUM if own else _SUM, first=first))


def _sum(row: tuple[int, int | None] | None) -> PaymentSum:
    """Return a sum as whole cents: PostgreSQL adds up to a decimal number, which may be written with an exponent."""
    count, cents = row or (0, 0)
    return PaymentSum(int(count), int(cents or 0))


def _values(vault: Vault, one: PaymentFilter, value: FilterValue) -> Mapping[str, object]:
    if one.values is not None:
        return one.values(vault, value)
    if one.type is FilterType.FLAG:
        return {}
    return {one.name: str(value) if one.type is FilterType.DAY else value}


def _bank_values(vault: Vault, given: str | BankSearch) -> Mapping[str, object]:
    search = read_bank_text(given) if isinstance(given, str) else given
    traces = [trace_hash(vault, one) for one in search.traces]
    return {"bank_traces": traces, "bank_amounts": list(search.amounts)}


def _shared(rows: Iterable[Row]) -> dict[str, SharedPayment]:
    """Return payments by their ids, each with its shares, from rows of both."""
    width = len(PaymentRow._fields)
    found: dict[str, SharedPayment] = {}
    for values in rows:
        row, share = PaymentRow(*values[:width]), PaymentShare(*values[width:])
        before = found.get(row.payment_id)
        found[row.payment_id] = SharedPayment(row, (*(before.shares if before else ()), share))
    return found


# ---- the filters -------------------------------------------------------------------------------

BEFORE = "before"
_ZERO = literal(0, literal_execute=True)  # a partial index serves no statement with a placeholder
_SHARE_OF_PAYMENT = payment_shares.c.payment_id == payments.c.payment_id
_IS_NOT_SETTLED = payment_shares.c.settled_at.is_(None)
_HAS_SHARE = exists().where(_SHARE_OF_PAYMENT)
_HAS_UNSETTLED_SHARE = exists().where(_SHARE_OF_PAYMENT, _IS_NOT_SETTLED)
_IS_TO_DEPOSIT = and_(
    payment_shares.c.deposited_day.is_(None), _IS_NOT_SETTLED, EXPECTED_CENTS > _ZERO
)
_HAS_DEPOSIT_STATE = bindparam("deposit") == STATE
FILTERS = {
    one.name: one
    for one in (
        PaymentFilter(
            "payer",
            FilterType.TEXT,
            payments.c.payer_id == bindparam("payer"),
            "Payer id",
            "The payer id.",
        ),
        PaymentFilter(
            "state",
            FilterType.CHOICE,
            payments.c.state == bindparam("state"),
            "State",
            "The state of the payment.",
            choices=tuple(one.value for one in PaymentState),
        ),
        PaymentFilter(
            "method",
            FilterType.CHOICE,
            payments.c.method == bindparam("method"),
            "Method",
            "How the money comes (BPR04): ACH, CHK for a check, FWT for a wire, BOP, NON for a notice without money.",
            choices=("ACH", "CHK", "FWT", "BOP", "NON"),
        ),
        PaymentFilter(
            "deposit",
            FilterType.CHOICE,
            exists().where(_SHARE_OF_PAYMENT, _HAS_DEPOSIT_STATE),
            "Deposit",
            "What was done with the money: open, deposited, differs (another amount was deposited), settled.",
            choices=tuple(one.value for one in DepositState),
            own_condition=_HAS_DEPOSIT_STATE,
        ),
        PaymentFilter(
            "trace_number",
            FilterType.TEXT,
            payments.c.trace == bindparam("trace_number"),
            "Check or trace number",
            "The number of the check or transfer.",
            option="--trace",
            values=lambda vault, number: {"trace_number": trace_hash(vault, number)},
        ),
        PaymentFilter(
            "amount",
            FilterType.AMOUNT,
            payments.c.amount_cents == bindparam("amount"),
            "Amount",
            "The amount of the whole payment, such as 699.10.",
        ),
        PaymentFilter(
            "bank",
            FilterType.TEXT,
            or_(
                among(payments.c.trace, "bank_traces"),
                among(payments.c.amount_cents, "bank_amounts"),
            ),
            "",
            "An amount or a number, as a bank statement writes it.",
            values=_bank_values,
        ),
        PaymentFilter(
            "effective_from",
            FilterType.DAY,
            payments.c.effective_day >= bindparam("effective_from"),
            "Paid from",
            "The first effective date.",
            option="--from",
        ),
        PaymentFilter(
            "effective_to",
            FilterType.DAY,
            payments.c.effective_day <= bindparam("effective_to"),
            "Paid to",
            "The last effective date, included.",
            option="--to",
        ),
        PaymentFilter(
            UNBALANCED,
            FilterType.FLAG,
            and_(payments.c.balanced == _ZERO, or_(not_(_HAS_SHARE), _HAS_UNSETTLED_SHARE)),
            "",
            "Those whose figures do not add up, or that were deposited with another amount, and that are not settled.",
            own_condition=and_(_IS_NOT_SETTLED, or_(payments.c.balanced == _ZERO, DIFFERS)),
        ),
        PaymentFilter(
            UNMATCHED,
            FilterType.FLAG,
            payments.c.unmatched > _ZERO,
            "",
            "Those with claims that match none of ours, and that are not settled.",
            own_condition=and_(_IS_NOT_SETTLED, payments.c.unmatched > _ZERO),
        ),
        PaymentFilter(
            TO_DEPOSIT,
            FilterType.FLAG,
            exists().where(_SHARE_OF_PAYMENT, _IS_TO_DEPOSIT),
            "",
            "Those with money that is neither deposited nor settled.",
            own_condition=_IS_TO_DEPOSIT,
        ),
        PaymentFilter(
            NOT_FETCHED,
            FilterType.FLAG,
            exists().where(_SHARE_OF_PAYMENT, payment_shares.c.fetched_at.is_(None)),
            "",
            "Those that the vendor's software has not read.",
            own_condition=payment_shares.c.fetched_at.is_(None),
        ),
    )
}

# ---- statements --------------------------------------------------------------------------------

PAYMENT_COLUMNS = tuple(payments.c[name] for name in PaymentRow._fields)
_ID_AND_CENTS = (payments.c.payment_id, payments.c.amount_cents)
_COLUMNS = select(*PAYMENT_COLUMNS, *(payment_shares.c[name] for name in PaymentShare._fields))
_JOINED = payment_shares.join(payments, payments.c.payment_id == payment_shares.c.payment_id)
_SHARED = scoped_select(
    _COLUMNS.select_from(_JOINED).where(among(payment_shares.c.payment_id, "payment_ids")),
    payment_shares,
)
_DUPLICATE = scoped_select(
    _COLUMNS.select_from(
        payment_shares.join(payments, payments.c.duplicate_of == payment_shares.c.payment_id)
    ).where(payments.c.payment_id == bindparam("payment_id")),
    payment_shares,
)
_SUM = Statement(
    select(func.count(), func.sum(payments.c.amount_cents)).where(
        payments.c.payment_id >= bindparam("first"), payments.c.duplicate_of.is_(None)
    )
)
_OWN_SUMS: tuple[AnyColumn, ...] = (
    func.count(),
    func.sum(EXPECTED_CENTS),
)
_OWN_SUM = scoped_select(
    select(*_OWN_SUMS)
    .select_from(_JOINED)
    .where(payment_shares.c.payment_id >= bindparam("first")),
    payment_shares,
)


@lru_cache(maxsize=STATEMENTS_KEPT_MAX)
def _sum_of(names: frozenset[str], *, is_own: bool) -> Statement:
    """Return the statement of the sum of a list with these filters."""
    used = [FILTERS[name] for name in sorted(names)]
    if not is_own:
        conditions = [one.condition for one in used]
        core = select(func.count(), func.sum(payments.c.amount_cents))
        return Statement(core.where(payments.c.duplicate_of.is_(None), *conditions), system=True)
    own = [one.condition if one.own_condition is None else one.own_condition for one in used]
    return scoped_select(select(*_OWN_SUMS).select_from(_JOINED).where(*own), payment_shares)


@lru_cache(maxsize=STATEMENTS_KEPT_MAX)
def _every(names: frozenset[str], columns: tuple[AnyColumn, ...]) -> Statement:
    """Return the list over all clients for the filters that are used."""
    id = payments.c.payment_id
    conditions = [FILTERS[name].condition for name in sorted(names - {BEFORE})]
    if BEFORE in names:
        conditions.append(id < bindparam(BEFORE))
    core = select(*columns).where(*conditions).order_by(id.desc()).limit(bindparam("limit"))
    return Statement(core, system=True)


@lru_cache(maxsize=STATEMENTS_KEPT_MAX)
def _own_ids(names: frozenset[str]) -> Statement:
    """Return the ids and cents of a client's list; one row a payment, however many of its sites share it."""
    id = payment_shares.c.payment_id
    used = [FILTERS[name] for name in sorted(names - {BEFORE})]
    conditions = [one.condition if one.own_condition is None else one.own_condition for one in used]
    if BEFORE in names:
        conditions.append(id < bindparam(BEFORE))
    columns: tuple[AnyColumn, ...] = (id, func.min(payments.c.amount_cents))
    core = select(*columns).select_from(_JOINED).where(*conditions)
    return scoped_select(
        core.group_by(id).order_by(id.desc()).limit(bindparam("limit")), payment_shares
    )
