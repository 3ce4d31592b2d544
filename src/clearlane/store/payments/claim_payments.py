"""Claim payments: each CLP of an 835, matched to its claim or waiting for it.

A matched one is its client's row, and the claim's part of the 835 is in its document; an unmatched one belongs to the
installation, with that part sealed in it. Knows no X12.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import bindparam, delete, func, literal, select, update

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Tx, find_row, list_rows
from clearlane.store.database.schema import (
    claim_payments,
    claim_references,
    documents,
    unmatched_claim_payments,
)
from clearlane.store.database.sql import (
    AnyColumn,
    Statement,
    among,
    insert_into,
    scoped_select,
    select_as,
)

UNMATCHED_TABLE = "unmatched_claim_payments"


class ClaimPaymentRow(NamedTuple):
    """A claim payment that is matched to a claim."""

    vendor_id: int
    site_id: int
    payment_id: str
    number: int
    claim_number: str
    identity: str
    """Keyed hash of the claim fact that it states."""
    reverses: str
    """That of the fact which a reversal takes back; empty if there is none."""
    type: str
    label: str
    matched_by: str
    in_force: int
    replaced: int
    charge_cents: int
    paid_cents: int
    patient_cents: int
    balanced: int
    document_id: str
    paid_day: str
    """The day of the payment."""
    reasons: str
    """JSON of group, reason and cents of its adjustments (``payments.model``)."""


class ClaimPaymentRole(NamedTuple):
    """What a claim payment does to the money of its claim, as all facts of the claim together decide."""

    claim_number: str
    identity: str
    reverses: str
    type: str
    in_force: int
    replaced: int


@shows("payment_id", "number")
class UnmatchedRow(NamedTuple):
    """A claim payment that matches no claim. ``payload`` is sealed for :func:`unmatched_key`."""

    payment_id: str
    number: int
    payer_id: str
    reference: str
    """Keyed hash of its account number."""
    reason: str
    paid_cents: int
    payload: bytes


@shows("claim_payment.payment_id", "claim_payment.number")
class ClaimPaymentDocument(NamedTuple):
    """A claim payment with the sealed document that shows it."""

    claim_payment: ClaimPaymentRow
    payload: bytes


def with_document(*row: Any) -> ClaimPaymentDocument:  # Any: columns of the row types
    """Return the claim payment of a row of ``WITH_DOCUMENT``."""
    return ClaimPaymentDocument(ClaimPaymentRow(*row[:-1]), row[-1])


def unmatched_key(payment_id: str, number: int) -> str:
    """Return the row key that an unmatched claim payment is sealed for."""
    return f"{payment_id}:{number}"


# ---- matched -----------------------------------------------------------------------------------


async def add(tx: Tx, rows: Sequence[ClaimPaymentRow]) -> None:
    """Add claim payments of any client; one that is there stays as it is."""
    await tx.many(_ADD, [row._asdict() for row in rows])


async def set_roles(tx: Tx, roles: Sequence[ClaimPaymentRole]) -> None:
    """Record what the claim payments of claims do to their money."""
    await tx.many(_SET_ROLE, [{f"new_{k}": v for k, v in role._asdict().items()} for role in roles])


async def remove(tx: Tx, payment_id: str, number: int) -> None:
    """Remove one matched claim payment."""
    await tx.run(_REMOVE, of_payment=payment_id, of_number=number)


async def find(tx: Tx, payment_id: str, number: int) -> ClaimPaymentRow | None:
    """Return one matched claim payment of any client."""
    return await find_row(tx, ClaimPaymentRow, _FIND, payment_id=payment_id, number=number)


async def list_owners(tx: Tx, payment_id: str) -> dict[int, tuple[int, int]]:
    """Return vendor and site of the matched claim payments of a payment, by their numbers."""
    rows = await tx.rows(_OWNERS, payment_id=payment_id)
    return {number: (vendor, site) for number, vendor, site in rows}


async def list_page(
    tx: Tx, payment_id: str, *, own: bool, after: int, limit: int
) -> list[ClaimPaymentDocument]:
    """Return claim payments after a number, with their documents: those of the scope's claims, or of any client."""
    statement = _OWN_PAGE if own else _PAGE
    return await list_rows(
        tx, with_document, statement, payment_id=payment_id, after=after, limit=limit
    )


async def count_own(tx: Tx, payment_id: str) -> int:
    """Return how many claim payments of a payment are of the scope's claims."""
    return await find_row(tx, int, _COUNT_OWN, payment_id=payment_id) or 0


async def count_paid(tx: Tx, *, first: str, last: str) -> tuple[int, int]:
    """Return how many claims the payments between two ids pay, and how much of all claims in them, less what was taken back."""
    row = await tx.row(_PAID, first=first, last=last)
    return (int(row[0]), int(row[1] or 0)) if row else (0, 0)


async def list_for_claims(tx: Tx, claim_numbers: Collection[str]) -> list[ClaimPaymentRow]:
    """Return all matched claim payments of these claims of any client."""
    return await list_rows(tx, ClaimPaymentRow, _OF_CLAIMS, claim_numbers=sorted(claim_numbers))


async def list_own_of_claim(tx: Tx, claim_number: str, *, limit: int) -> list[ClaimPaymentDocument]:
    """Return the claim payments of one claim of the scope with their documents, in the order of their payments."""
    return await list_rows(tx, with_document, _OF_OWN_CLAIM, claim_number=claim_number, limit=limit)


async def list_payments_of_documents(tx: Tx, document_ids: Sequence[str]) -> list[str]:
    """Return the payments of the scope's documents."""
    return await list_rows(tx, str, _PAYMENTS_OF, document_ids=list(document_ids))


# ---- unmatched ---------------------------------------------------------------------------------


async def add_unmatched(tx: Tx, rows: Sequence[UnmatchedRow]) -> None:
    """Keep claim payments that match no claim; one that is there stays as it is."""
    await tx.many(_ADD_UNMATCHED, [row._asdict() for row in rows])


async def remove_unmatched(tx: Tx, keys: Sequence[tuple[str, int]]) -> None:
    """Remove claim payments that are matched now."""
    await tx.many(
        _REMOVE_UNMATCHED, [{"of_payment": id, "of_number": number} for id, number in keys]
    )


async def find_unmatched(tx: Tx, payment_id: str, number: int) -> UnmatchedRow | None:
    """Return one unmatched claim payment."""
    return await find_row(tx, UnmatchedRow, _FIND_UNMATCHED, payment_id=payment_id, number=number)


async def list_unmatched_page(
    tx: Tx, payment_id: str, *, after: int, limit: int
) -> list[UnmatchedRow]:
    """Return unmatched claim payments of a payment after a number."""
    return await list_rows(
        tx, UnmatchedRow, _UNMATCHED_PAGE, payment_id=payment_id, after=after, limit=limit
    )


async def known_claims(tx: Tx, payment_id: str, numbers: Sequence[int]) -> dict[int, str]:
    """Return the claims that these numbers of a payment are matched to already."""
    found = await tx.rows(_KNOWN, payment_id=payment_id, numbers=list(numbers))
    return {int(number): str(claim_number) for number, claim_number in found}


async def mark_due(tx: Tx, payer_id: str, claim_numbers: Sequence[str]) -> None:
    """Have the unmatched claim payments matched again that carry the account number of one of these claims."""
    if await tx.row(_ANY_OF_PAYER, payer_id=payer_id) is not None:
        await tx.run(_MARK_DUE, of_payer=payer_id, claim_numbers=list(claim_numbers))


async def list_due(tx: Tx, limit: int) -> list[UnmatchedRow]:
    """Return unmatched claim payments that are to be matched again."""
    return await list_rows(tx, UnmatchedRow, _DUE, limit=limit)


async def clear_due(tx: Tx, keys: Sequence[tuple[str, int]]) -> None:
    """Record that these were tried again."""
    await tx.many(_CLEAR_DUE, [{"of_payment": id, "of_number": number} for id, number in keys])


_COLUMNS = tuple(claim_payments.c[name] for name in ClaimPaymentRow._fields)
_ADD = Statement(
    insert_into(claim_payments, *ClaimPaymentRow._fields[2:]).on_conflict_do_nothing(), system=True
)
_SET_ROLE = Statement(
    update(claim_payments)
    .where(
        claim_payments.c.claim_number == bindparam("new_claim_number"),
        claim_payments.c.identity == bindparam("new_identity"),
    )
    .values({name: bindparam(f"new_{name}") for name in ClaimPaymentRole._fields[2:]}),
    system=True,
)
_IS_PAYING = claim_payments.c.paid_cents > 0
_PAID_FIGURES: tuple[AnyColumn, ...] = (
    func.count(claim_payments.c.claim_number.distinct()).filter(_IS_PAYING),
    func.sum(claim_payments.c.paid_cents),
)
_PAID = scoped_select(
    select(*_PAID_FIGURES).where(
        claim_payments.c.payment_id >= bindparam("first"),
        claim_payments.c.payment_id < bindparam("last"),
    ),
    claim_payments,
)
_REMOVE = Statement(
    delete(claim_payments).where(
        claim_payments.c.payment_id == bindparam("of_payment"),
        claim_payments.c.number == bindparam("of_number"),
    ),
    system=True,
)
_OWNERS = Statement(
    select(claim_payments.c.number, claim_payments.c.vendor_id, claim_payments.c.site_id).where(
        claim_payments.c.payment_id == bindparam("payment_id")
    ),
    system=True,
)
_FIND = Statement(
    select(*_COLUMNS).where(
        claim_payments.c.payment_id == bindparam("payment_id"),
        claim_payments.c.number == bindparam("number"),
    ),
    system=True,
)
WITH_DOCUMENT = select(*_COLUMNS, documents.c.payload).join_from(
    claim_payments,
    documents,
    (documents.c.document_id == claim_payments.c.document_id)
    & (documents.c.vendor_id == claim_payments.c.vendor_id)
    & (documents.c.site_id == claim_payments.c.site_id),
)
_IN_PAYMENT = (
    WITH_DOCUMENT.where(
        claim_payments.c.payment_id == bindparam("payment_id"),
        claim_payments.c.number > bindparam("after"),
    )
    .order_by(claim_payments.c.number)
    .limit(bindparam("limit"))
)
_PAGE = Statement(_IN_PAYMENT, system=True)
_OWN_PAGE = scoped_select(_IN_PAYMENT, claim_payments, documents)
_OF_OWN_CLAIM = scoped_select(
    WITH_DOCUMENT.where(claim_payments.c.claim_number == bindparam("claim_number"))
    .order_by(claim_payments.c.payment_id, claim_payments.c.number)
    .limit(bindparam("limit")),
    claim_payments,
    documents,
)
_COUNT_OWN = scoped_select(
    select(func.count())
    .select_from(claim_payments)
    .where(claim_payments.c.payment_id == bindparam("payment_id")),
    claim_payments,
)
_OF_CLAIMS = Statement(
    select(*_COLUMNS)
    .where(among(claim_payments.c.claim_number, "claim_numbers"))
    .order_by(claim_payments.c.payment_id, claim_payments.c.number),
    system=True,
)
_PAYMENTS_OF = scoped_select(
    select(claim_payments.c.payment_id)
    .where(among(claim_payments.c.document_id, "document_ids"))
    .distinct(),
    claim_payments,
)
_KNOWN = Statement(
    select(claim_payments.c.number, claim_payments.c.claim_number).where(
        claim_payments.c.payment_id == bindparam("payment_id"),
        among(claim_payments.c.number, "numbers"),
    ),
    system=True,
)
_UNMATCHED_COLUMNS = select_as(unmatched_claim_payments, UnmatchedRow)
_ADD_UNMATCHED = Statement(
    insert_into(unmatched_claim_payments, *UnmatchedRow._fields)
    .values(due=0)
    .on_conflict_do_nothing()
)
_THIS = (unmatched_claim_payments.c.payment_id == bindparam("of_payment")) & (
    unmatched_claim_payments.c.number == bindparam("of_number")
)
_REMOVE_UNMATCHED = Statement(delete(unmatched_claim_payments).where(_THIS))
_CLEAR_DUE = Statement(update(unmatched_claim_payments).where(_THIS).values(due=0))
_FIND_UNMATCHED = Statement(
    _UNMATCHED_COLUMNS.where(
        unmatched_claim_payments.c.payment_id == bindparam("payment_id"),
        unmatched_claim_payments.c.number == bindparam("number"),
    )
)
_UNMATCHED_PAGE = Statement(
    _UNMATCHED_COLUMNS.where(
        unmatched_claim_payments.c.payment_id == bindparam("payment_id"),
        unmatched_claim_payments.c.number > bindparam("after"),
    )
    .order_by(unmatched_claim_payments.c.number)
    .limit(bindparam("limit"))
)
_ANY_OF_PAYER = Statement(
    select(unmatched_claim_payments.c.number)
    .where(unmatched_claim_payments.c.payer_id == bindparam("payer_id"))
    .limit(1)
)
_MARK_DUE = Statement(
    update(unmatched_claim_payments)
    .where(
        unmatched_claim_payments.c.payer_id == bindparam("of_payer"),
        unmatched_claim_payments.c.reference.in_(
            select(claim_references.c.reference).where(
                claim_references.c.payer_id == bindparam("of_payer"),
                among(claim_references.c.claim_number, "claim_numbers"),
            )
        ),
    )
    .values(due=1)
)
# The flag is part of the SQL text: a partial index serves no statement with a placeholder.
_DUE = Statement(
    _UNMATCHED_COLUMNS.where(unmatched_claim_payments.c.due == literal(1, literal_execute=True))
    .order_by(unmatched_claim_payments.c.payment_id, unmatched_claim_payments.c.number)
    .limit(bindparam("limit"))
)
