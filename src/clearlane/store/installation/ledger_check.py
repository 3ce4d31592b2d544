"""Whether counts and money of a database agree with the rows that they were counted from.

Each check is one statement that finds the ids of what disagrees. It reads ids and numbers alone, and opens no payload. Knows no backup; a restored one is a database like any other.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, FromClause, Select, and_, func, or_, select

from clearlane.store.database.database import Tx
from clearlane.store.database.schema import (
    audit,
    audit_cut,
    audit_head,
    batch_claims,
    batches,
    claim_payments,
    payment_shares,
    payments,
    provider_adjustments,
    purged_batch_claims,
    purged_claim_payments,
    unmatched_claim_payments,
)
from clearlane.store.database.sql import AnyColumn, Statement

IDS_SHOWN_MAX = 20
_CUT = select(audit_cut.c.seq).scalar_subquery()


@dataclass(frozen=True, slots=True)
class LedgerFault:
    """A check that failed."""

    check: str
    ids: tuple[str, ...]
    """The first of what disagrees."""

    @property
    def sentence(self) -> str:
        """What is wrong, with the ids."""
        more = " and more" if len(self.ids) >= IDS_SHOWN_MAX else ""
        return f"{self.check}: it does not hold for {', '.join(self.ids)}{more}."


async def check_ledger(tx: Tx) -> list[LedgerFault]:
    """Return the checks that fail."""
    faults = []
    for check, statement in CHECKS.items():
        ids = [str(id) for (id,) in await tx.rows(statement)]
        if ids:
            faults.append(LedgerFault(check, tuple(ids)))
    return faults


def _counted(table: FromClause, key: str, *sums: str) -> FromClause:
    """Return the number of rows and the sums of some columns of a table, by a key."""
    columns = [table.c[key].label("of"), func.count().label("rows")]
    columns += [func.sum(table.c[name]).label(name) for name in sums]
    return select(*columns).group_by(table.c[key]).subquery()


def _differ(left: ColumnElement[int], *right: ColumnElement[int | None]) -> ColumnElement[bool]:
    """Return whether a number is not the sum of others, each of which is 0 if it has no rows."""
    total: AnyColumn = func.coalesce(right[0], 0)
    for one in right[1:]:
        total = total + func.coalesce(one, 0)
    return left != total


def _found(query: Select[tuple[str]]) -> Statement:
    return Statement(query.limit(IDS_SHOWN_MAX), system=True)


_MATCHED = _counted(claim_payments, "payment_id", "paid_cents")
_UNMATCHED = _counted(unmatched_claim_payments, "payment_id", "paid_cents")
_ADJUSTMENTS = _counted(provider_adjustments, "payment_id", "amount_cents")
_WRITTEN = _counted(batch_claims, "batch_id")
# What went with claims whose retention period was over.
_PURGED = (
    select(
        purged_claim_payments.c.payment_id.label("of"),
        func.sum(purged_claim_payments.c.claims).label("rows"),
        func.sum(purged_claim_payments.c.paid_cents).label("paid_cents"),
    )
    .group_by(purged_claim_payments.c.payment_id)
    .subquery()
)
# A duplicate has no rows of its own, and one that is still being recorded has only some.
_RECORDED = and_(payments.c.duplicate_of.is_(None), payments.c.complete == 1)
_OF_SHARES = (
    select(
        claim_payments.c.payment_id,
        claim_payments.c.vendor_id,
        claim_payments.c.site_id,
        func.count().label("rows"),
        func.sum(claim_payments.c.paid_cents).label("paid_cents"),
    )
    .group_by(claim_payments.c.payment_id, claim_payments.c.vendor_id, claim_payments.c.site_id)
    .subquery()
)


def _payments(condition: ColumnElement[bool]) -> Statement:
    joined = (
        payments.outerjoin(_MATCHED, _MATCHED.c.of == payments.c.payment_id)
        .outerjoin(_UNMATCHED, _UNMATCHED.c.of == payments.c.payment_id)
        .outerjoin(_ADJUSTMENTS, _ADJUSTMENTS.c.of == payments.c.payment_id)
        .outerjoin(_PURGED, _PURGED.c.of == payments.c.payment_id)
    )
    found = select(payments.c.payment_id).select_from(joined).where(_RECORDED, condition)
    return _found(found.order_by(payments.c.payment_id))


_P, _S, _G = payments.c, payment_shares.c, purged_claim_payments.c
CHECKS: Mapping[str, Statement] = {
    "A payment has as many claim payments as it says": _payments(
        or_(
            _differ(_P.claims, _MATCHED.c.rows, _UNMATCHED.c.rows, _PURGED.c.rows),
            _differ(_P.unmatched, _UNMATCHED.c.rows),
        )
    ),
    "What a payment paid on claims is the sum of its claim payments": _payments(
        _differ(
            _P.claims_paid_cents,
            _MATCHED.c.paid_cents,
            _UNMATCHED.c.paid_cents,
            _PURGED.c.paid_cents,
        )
    ),
    "The adjustments of a payment are the sum of its rows": _payments(
        _differ(_P.adjustment_cents, _ADJUSTMENTS.c.amount_cents)
    ),
    "A payment that balances is what was paid on claims and adjusted": _payments(
        and_(_P.balanced == 1, _P.amount_cents != _P.claims_paid_cents + _P.adjustment_cents)
    ),
    "A site's share of a payment is the sum of its claim payments": _found(
        select(_S.payment_id)
        .select_from(
            payment_shares.outerjoin(
                _OF_SHARES,
                and_(
                    _OF_SHARES.c.payment_id == _S.payment_id,
                    _OF_SHARES.c.vendor_id == _S.vendor_id,
                    _OF_SHARES.c.site_id == _S.site_id,
                ),
            )
            .outerjoin(
                purged_claim_payments,
                and_(
                    _G.payment_id == _S.payment_id,
                    _G.vendor_id == _S.vendor_id,
                    _G.site_id == _S.site_id,
                ),
            )
            .join(payments, _P.payment_id == _S.payment_id)
        )
        .where(
            _RECORDED,
            or_(
                _differ(_S.claims, _OF_SHARES.c.rows, _G.claims),
                _differ(_S.paid_cents, _OF_SHARES.c.paid_cents, _G.paid_cents),
            ),
        )
        .order_by(_S.payment_id)
    ),
    "A batch has as many claims as it says": _found(
        select(batches.c.id)
        .select_from(
            batches.outerjoin(_WRITTEN, _WRITTEN.c.of == batches.c.id).outerjoin(
                purged_batch_claims, purged_batch_claims.c.batch_id == batches.c.id
            )
        )
        .where(
            batches.c.kind != "",  # not of inquiries
            _differ(batches.c.claims, _WRITTEN.c.rows, purged_batch_claims.c.claims),
        )
        .order_by(batches.c.id)
    ),
    "The audit trail has as many rows as its head says, but for old ones that were removed": _found(
        select(audit_head.c.seq).where(
            audit_head.c.seq - _CUT != select(func.count()).select_from(audit).scalar_subquery()
        )
    ),
}
