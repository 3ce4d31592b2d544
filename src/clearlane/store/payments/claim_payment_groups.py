"""The claim payments of a payment in groups: denied, corrected, paid. Their totals, and a page of each.

A group is that of ``payments.claim_payment_groups``; ``own`` limits it to the claims of a client's scope. Knows no X12.
"""

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, func, not_, or_, select

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments.claim_payment_groups import DENIED_LABELS, ClaimPaymentGroup, group_of
from clearlane.payments.payment import ClaimPaymentType
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import claim_payments, documents
from clearlane.store.database.sql import AnySelect, Statement, scoped_select
from clearlane.store.payments.claim_payments import (
    WITH_DOCUMENT,
    ClaimPaymentDocument,
    with_document,
)


class GroupTotal(NamedTuple):
    """The claim payments of one group in a payment."""

    claims: int = 0
    charge_cents: int = 0
    paid_cents: int = 0
    patient_cents: int = 0


async def group_totals(
    tx: Tx, payment_id: str, *, own: bool
) -> dict[ClaimPaymentGroup, GroupTotal]:
    """Return the totals of the matched claim payments of a payment, by group."""
    found: dict[ClaimPaymentGroup, GroupTotal] = {}
    rows = await tx.rows(_OWN_TOTALS if own else _TOTALS, payment_id=payment_id)
    for type, label, *amounts in rows:
        group = group_of(type=type, label=label)
        pairs = zip(found.get(group, GroupTotal()), amounts, strict=True)
        found[group] = GroupTotal(*(one + int(other) for one, other in pairs))
    return found


async def list_group(
    tx: Tx, payment_id: str, group: ClaimPaymentGroup, *, own: bool, after: str, limit: int
) -> list[ClaimPaymentDocument]:
    """Return claim payments of one group with their documents, claim by claim, after that claim number."""
    statement = (_OWN_GROUP if own else _GROUP)[group]
    return await list_rows(
        tx, with_document, statement, payment_id=payment_id, after=after, limit=limit
    )


_SUMMED = (
    select(
        claim_payments.c.type,
        claim_payments.c.label,
        func.count(),
        func.sum(claim_payments.c.charge_cents),
        func.sum(claim_payments.c.paid_cents),
        func.sum(claim_payments.c.patient_cents),
    )
    .where(claim_payments.c.payment_id == bindparam("payment_id"))
    .group_by(claim_payments.c.type, claim_payments.c.label)
)
_TOTALS = Statement(_SUMMED, system=True)
_OWN_TOTALS = scoped_select(_SUMMED, claim_payments)

_IS_CORRECTED = or_(
    claim_payments.c.type != ClaimPaymentType.ORIGINAL.value,
    claim_payments.c.label == ClaimLabel.TAKEN_BACK.value,
)
_IS_DENIED = claim_payments.c.label.in_(sorted(DENIED_LABELS))
# The same three groups as `claim_payment_groups.group_of`; a test compares them.
_GROUP_CONDITIONS: dict[ClaimPaymentGroup, ColumnElement[bool]] = {
    ClaimPaymentGroup.CORRECTED: _IS_CORRECTED,
    ClaimPaymentGroup.DENIED: and_(not_(_IS_CORRECTED), _IS_DENIED),
    ClaimPaymentGroup.PAID: and_(not_(_IS_CORRECTED), not_(_IS_DENIED)),
}


def _group(condition: ColumnElement[bool]) -> AnySelect:
    return (
        WITH_DOCUMENT.where(
            claim_payments.c.payment_id == bindparam("payment_id"),
            claim_payments.c.claim_number > bindparam("after"),
            condition,
        )
        .order_by(claim_payments.c.claim_number, claim_payments.c.number)
        .limit(bindparam("limit"))
    )


_GROUP = {
    group: Statement(_group(condition), system=True)
    for group, condition in _GROUP_CONDITIONS.items()
}
_OWN_GROUP = {
    group: scoped_select(_group(condition), claim_payments, documents)
    for group, condition in _GROUP_CONDITIONS.items()
}
