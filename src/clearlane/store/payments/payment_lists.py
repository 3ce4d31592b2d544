"""Lists of payments and of the claim payments in one, a page at a time, for operators and for one client.

    await list_payments(tx, PaymentListFilter(need=UNMATCHED), before=None, limit=51)
    await list_own_payments(tx, PaymentListFilter(traces=hashes), before=None, limit=51)    # in the scope of a site

Counts stop at :data:`COUNTED_MAX`, so that a tab costs the same however much is stored. Knows no X12 and no claim.
"""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, literal, not_, or_, select

from clearlane.payments.claim_payment_groups import DENIED_OUTCOMES, ClaimPaymentGroup, group_of
from clearlane.payments.outcome import Outcome
from clearlane.payments.payment import ClaimPaymentType
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claim_payments, documents, payment_shares, payments
from clearlane.store.database.sql import Statement, among, scoped_select
from clearlane.store.payments.claim_payments import ClaimPaymentDocument, ClaimPaymentRow
from clearlane.store.payments.payments import PaymentRow, PaymentShare

COUNTED_MAX = 100
"""A tab that would show more shows ``99+``."""

UNMATCHED, UNBALANCED, NOT_FETCHED = "unmatched", "unbalanced", "not_fetched"
NEEDS = (UNMATCHED, UNBALANCED, NOT_FETCHED)


class PaymentListFilter(NamedTuple):
    """Which payments are wanted; None and empty stand for all."""

    need: str = ""
    """One of :data:`NEEDS`."""
    payer_id: str | None = None
    traces: tuple[str, ...] | None = None
    """Keyed hashes of trace numbers. With ``amounts``: either one fits."""
    amounts: tuple[int, ...] | None = None
    """Cents."""


class PaymentSum(NamedTuple):
    """How many payments there are, and their cents."""

    payments: int
    cents: int


class GroupTotal(NamedTuple):
    """The claim payments of one group in a payment."""

    claims: int = 0
    charge_cents: int = 0
    paid_cents: int = 0
    patient_cents: int = 0


# ---- for operators -----------------------------------------------------------------------------


async def list_payments(
    tx: Tx, wanted: PaymentListFilter, *, before: str | None, limit: int
) -> list[PaymentRow]:
    """Return a page of payments of any client, the newest first, older than ``before``."""
    used, values = _used(wanted, before)
    return [PaymentRow(*row) for row in await tx.rows(_every(used), **values, limit=limit)]


async def list_needs(tx: Tx) -> dict[str, dict[str, int]]:
    """Return the payments of any client that need somebody with their cents, by need, up to :data:`COUNTED_MAX` each."""
    return {
        need: _amounts(await tx.rows(_every_id(frozenset({need})), limit=COUNTED_MAX))
        for need in NEEDS
    }


async def sum_since(tx: Tx, first: str) -> PaymentSum:
    """Return the sum of the payments whose ids are not before ``first``; duplicates count nothing."""
    return _sum(await tx.row(_SUM, first=first))


async def group_totals(tx: Tx, payment_id: str) -> dict[ClaimPaymentGroup, GroupTotal]:
    """Return the totals of the matched claim payments of a payment, by group."""
    return _totals(await tx.rows(_TOTALS, payment_id=payment_id))


async def list_group(
    tx: Tx, payment_id: str, group: ClaimPaymentGroup, *, after: str, limit: int
) -> list[ClaimPaymentDocument]:
    """Return claim payments of one group with their documents, claim by claim, after that claim number."""
    return _documents(await tx.rows(_GROUP[group], payment_id=payment_id, after=after, limit=limit))


# ---- for one client ----------------------------------------------------------------------------


async def list_own_payments(
    tx: Tx, wanted: PaymentListFilter, *, before: str | None, limit: int
) -> list[tuple[PaymentRow, PaymentShare]]:
    """Return a page of the payments that the scope has a share of, the newest first."""
    used, values = _used(wanted, before)
    width = len(PaymentRow._fields)
    found = await tx.rows(_own(used), **values, limit=limit)
    return [(PaymentRow(*row[:width]), PaymentShare(*row[width:])) for row in found]


async def list_own_needs(tx: Tx) -> dict[str, dict[str, int]]:
    """Return the payments of the scope that need somebody with their cents, by need, up to :data:`COUNTED_MAX` each."""
    return {
        need: _amounts(await tx.rows(_own_id(frozenset({need})), limit=COUNTED_MAX))
        for need in NEEDS
    }


async def sum_own_since(tx: Tx, first: str) -> PaymentSum:
    """Return the sum of the scope's part of the payments whose ids are not before ``first``."""
    return _sum(await tx.row(_OWN_SUM, first=first))


async def own_group_totals(tx: Tx, payment_id: str) -> dict[ClaimPaymentGroup, GroupTotal]:
    """Return the totals of the claim payments of the scope's claims in a payment, by group."""
    return _totals(await tx.rows(_OWN_TOTALS, payment_id=payment_id))


async def list_own_group(
    tx: Tx, payment_id: str, group: ClaimPaymentGroup, *, after: str, limit: int
) -> list[ClaimPaymentDocument]:
    """Return claim payments of the scope's claims of one group, claim by claim, after that claim number."""
    return _documents(
        await tx.rows(_OWN_GROUP[group], payment_id=payment_id, after=after, limit=limit)
    )


# ---- values ------------------------------------------------------------------------------------


def _used(
    wanted: PaymentListFilter, before: str | None
) -> tuple[frozenset[str], dict[str, object]]:
    values: dict[str, object] = {}
    used = {wanted.need} if wanted.need else set()
    if wanted.payer_id is not None:
        values["payer_id"] = wanted.payer_id
    if before is not None:
        values["before"] = before
    used |= values.keys()
    if wanted.traces is not None or wanted.amounts is not None:
        used.add("bank")
        values |= {"traces": list(wanted.traces or ()), "amounts": list(wanted.amounts or ())}
    return frozenset(used), values


def _amounts(rows: list[tuple[str, int | None]]) -> dict[str, int]:
    """Return cents by payment; an amount that cannot be read counts nothing, as in sums."""
    return {str(id): int(cents or 0) for id, cents in rows}


def _sum(row: tuple[int, int | None] | None) -> PaymentSum:
    """Return a sum as whole cents: PostgreSQL adds up to a decimal number, which may be written with an exponent."""
    count, cents = row or (0, 0)
    return PaymentSum(int(count), int(cents or 0))


def _totals(rows: list[tuple[str, str, int, int, int, int]]) -> dict[ClaimPaymentGroup, GroupTotal]:
    found: dict[ClaimPaymentGroup, GroupTotal] = {}
    for type, outcome, *amounts in rows:
        group = group_of(type=type, outcome=outcome)
        before = found.get(group, GroupTotal())
        pairs = zip(before, amounts, strict=True)
        found[group] = GroupTotal(*(one + int(other) for one, other in pairs))
    return found


def _documents(rows: list[tuple[object, ...]]) -> list[ClaimPaymentDocument]:
    return [
        ClaimPaymentDocument(ClaimPaymentRow(*row[:-1]), row[-1])  # type: ignore[arg-type]
        for row in rows
    ]


# ---- statements --------------------------------------------------------------------------------

# Flags are part of the SQL text: a partial index serves no statement with a placeholder.
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    UNMATCHED: payments.c.unmatched > literal(0, literal_execute=True),
    UNBALANCED: payments.c.balanced == literal(0, literal_execute=True),
    "payer_id": payments.c.payer_id == bindparam("payer_id"),
    "bank": or_(among(payments.c.trace, "traces"), among(payments.c.amount_cents, "amounts")),
}
_PAYMENT_COLUMNS = tuple(payments.c[name] for name in PaymentRow._fields)
_SHARE_COLUMNS = tuple(payment_shares.c[name] for name in PaymentShare._fields)
_NOT_FETCHED = payment_shares.c.fetched_at.is_(None)
_SHARED = payments.c.payment_id == payment_shares.c.payment_id


def _filtered(core: Select[Any], used: frozenset[str]) -> Select[Any]:
    return core.where(*(_CONDITIONS[name] for name in sorted(used & _CONDITIONS.keys())))


@cache
def _every(used: frozenset[str]) -> Statement:
    return Statement(_newest(select(*_PAYMENT_COLUMNS), used), system=True)


@cache
def _every_id(used: frozenset[str]) -> Statement:
    return Statement(
        _newest(select(payments.c.payment_id, payments.c.amount_cents), used), system=True
    )


def _newest(core: Select[Any], used: frozenset[str]) -> Select[Any]:
    if NOT_FETCHED in used:
        waiting = select(payment_shares.c.payment_id).where(_NOT_FETCHED)
        core = core.where(payments.c.payment_id.in_(waiting))
    if "before" in used:
        core = core.where(payments.c.payment_id < bindparam("before"))
    return _filtered(core, used).order_by(payments.c.payment_id.desc()).limit(bindparam("limit"))


@cache
def _own(used: frozenset[str]) -> Statement:
    return _own_newest(select(*_PAYMENT_COLUMNS, *_SHARE_COLUMNS), used)


@cache
def _own_id(used: frozenset[str]) -> Statement:
    return _own_newest(select(payment_shares.c.payment_id, payments.c.amount_cents), used)


def _own_newest(core: Select[Any], used: frozenset[str]) -> Statement:
    core = core.join_from(payment_shares, payments, _SHARED)
    if NOT_FETCHED in used:
        core = core.where(_NOT_FETCHED)
    if "before" in used:
        core = core.where(payment_shares.c.payment_id < bindparam("before"))
    newest = payment_shares.c.payment_id.desc()
    return scoped_select(
        _filtered(core, used).order_by(newest).limit(bindparam("limit")), payment_shares
    )


_SUM = Statement(
    select(func.count(), func.sum(payments.c.amount_cents)).where(
        payments.c.payment_id >= bindparam("first"), payments.c.duplicate_of.is_(None)
    )
)
_OWN_SUMS: tuple[ColumnElement[Any], ...] = (
    func.count(),
    func.sum(payment_shares.c.paid_cents + payment_shares.c.adjustment_cents),
)
_OWN_SUM = scoped_select(
    select(*_OWN_SUMS).where(payment_shares.c.payment_id >= bindparam("first")), payment_shares
)
_SUMMED = (
    select(
        claim_payments.c.type,
        claim_payments.c.outcome,
        func.count(),
        func.sum(claim_payments.c.charge_cents),
        func.sum(claim_payments.c.paid_cents),
        func.sum(claim_payments.c.patient_cents),
    )
    .where(claim_payments.c.payment_id == bindparam("payment_id"))
    .group_by(claim_payments.c.type, claim_payments.c.outcome)
)
_TOTALS = Statement(_SUMMED, system=True)
_OWN_TOTALS = scoped_select(_SUMMED, claim_payments)

_IS_CORRECTED = or_(
    claim_payments.c.type != ClaimPaymentType.ORIGINAL.value,
    claim_payments.c.outcome == Outcome.TAKEN_BACK.value,
)
_IS_DENIED = claim_payments.c.outcome.in_(sorted(DENIED_OUTCOMES))
# The same three groups as `claim_payment_groups.group_of`; a test compares them.
_GROUP_CONDITIONS: dict[ClaimPaymentGroup, ColumnElement[bool]] = {
    ClaimPaymentGroup.CORRECTED: _IS_CORRECTED,
    ClaimPaymentGroup.DENIED: and_(not_(_IS_CORRECTED), _IS_DENIED),
    ClaimPaymentGroup.PAID: and_(not_(_IS_CORRECTED), not_(_IS_DENIED)),
}


def _group(condition: ColumnElement[bool]) -> Select[Any]:
    columns = (claim_payments.c[name] for name in ClaimPaymentRow._fields)
    same = (documents.c[name] == claim_payments.c[name] for name in _DOCUMENT_KEY)
    return (
        select(*columns, documents.c.payload)
        .join_from(claim_payments, documents, and_(*same))
        .where(
            claim_payments.c.payment_id == bindparam("payment_id"),
            claim_payments.c.claim_number > bindparam("after"),
            condition,
        )
        .order_by(claim_payments.c.claim_number, claim_payments.c.number)
        .limit(bindparam("limit"))
    )


_DOCUMENT_KEY = ("document_id", "vendor_id", "site_id")
_GROUP = {
    group: Statement(_group(condition), system=True)
    for group, condition in _GROUP_CONDITIONS.items()
}
_OWN_GROUP = {
    group: scoped_select(_group(condition), claim_payments, documents)
    for group, condition in _GROUP_CONDITIONS.items()
}
