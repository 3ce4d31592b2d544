"""Payments that the sites of a scope have shares of, one row each however many of the sites share it.

Every statement is limited to the scope: one site, or all sites of a vendor. Knows no X12 and no claim.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, literal, select

from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claim_payments, payment_shares, payments
from clearlane.store.database.sql import Statement, among, scoped_select
from clearlane.store.payments.payments import PaymentRow, PaymentShare

STATEMENTS_KEPT_MAX = 256


class SharedPayment(NamedTuple):
    """A payment, and the shares that the sites of the scope have of it."""

    row: PaymentRow
    shares: tuple[PaymentShare, ...]


class VendorPaymentFilter(NamedTuple):
    """Which payments are wanted; None and False stand for all."""

    payer_id: str | None = None
    state: str | None = None
    trace: str | None = None
    """Keyed hash of the trace number."""
    amount_cents: int | None = None
    from_day: str | None = None
    """The first effective day, and the last, both included."""
    to_day: str | None = None
    unbalanced: bool = False
    not_fetched: bool = False

    def given(self) -> dict[str, object]:
        """Return the filters that are set."""
        return {name: value for name, value in self._asdict().items() if value}


async def find_page(
    tx: Tx, wanted: VendorPaymentFilter, *, before: str | None, limit: int
) -> list[SharedPayment]:
    """Return the next payments of the scope, the newest first, older than ``before``."""
    given = wanted.given() | ({"before": before} if before else {})
    values = {name: value for name, value in given.items() if name not in _FLAGS}
    rows = await tx.rows(_page(frozenset(given)), **values, limit=limit)
    return await find_some(tx, [str(id) for (id,) in rows])


async def find_some(tx: Tx, payment_ids: Sequence[str]) -> list[SharedPayment]:
    """Return those of these payments that the scope has shares of, in this order."""
    if not payment_ids:
        return []
    found = _shared(await tx.rows(_SHARED, payment_ids=list(payment_ids)))
    return [found[id] for id in payment_ids if id in found]


async def find_duplicate(tx: Tx, payment_id: str) -> SharedPayment | None:
    """Return a payment that came again, with the shares that the scope has of the first one; None if it is no such."""
    return _shared(await tx.rows(_DUPLICATE, payment_id=payment_id)).get(payment_id)


def _shared(rows: Iterable[Sequence[Any]]) -> dict[str, SharedPayment]:
    """Return payments by their ids, each with its shares, from rows of both."""
    width = len(PaymentRow._fields)
    found: dict[str, SharedPayment] = {}
    for values in rows:
        row, share = PaymentRow(*values[:width]), PaymentShare(*values[width:])
        before = found.get(row.payment_id)
        found[row.payment_id] = SharedPayment(row, (*(before.shares if before else ()), share))
    return found


async def count_claim_payments(tx: Tx, payment_id: str) -> int:
    """Return how many claims of a payment belong to the scope."""
    row = await tx.row(_CLAIM_PAYMENTS, payment_id=payment_id)
    return 0 if row is None else int(row[0])


_FLAGS = frozenset({"unbalanced", "not_fetched"})
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "payer_id": payments.c.payer_id == bindparam("payer_id"),
    "state": payments.c.state == bindparam("state"),
    "trace": payments.c.trace == bindparam("trace"),
    "amount_cents": payments.c.amount_cents == bindparam("amount_cents"),
    "from_day": payments.c.effective_day >= bindparam("from_day"),
    "to_day": payments.c.effective_day <= bindparam("to_day"),
    "before": payment_shares.c.payment_id < bindparam("before"),
    # Flags are part of the SQL text: a partial index serves no statement with a placeholder.
    "unbalanced": payments.c.balanced == literal(0, literal_execute=True),
    "not_fetched": payment_shares.c.fetched_at.is_(None),
}
_JOINED = payment_shares.join(payments, payments.c.payment_id == payment_shares.c.payment_id)
_COLUMNS = select(
    *(payments.c[name] for name in PaymentRow._fields),
    *(payment_shares.c[name] for name in PaymentShare._fields),
)
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
_CLAIM_PAYMENTS = scoped_select(
    select(func.count())
    .select_from(claim_payments)
    .where(claim_payments.c.payment_id == bindparam("payment_id")),
    claim_payments,
)


@lru_cache(maxsize=STATEMENTS_KEPT_MAX)
def _page(names: frozenset[str]) -> Statement:
    newest: Any = payment_shares.c.payment_id.desc()
    return scoped_select(
        select(payment_shares.c.payment_id)
        .select_from(_JOINED)
        .where(*(_CONDITIONS[name] for name in sorted(names)))
        .group_by(payment_shares.c.payment_id)
        .order_by(newest)
        .limit(bindparam("limit")),
        payment_shares,
    )
