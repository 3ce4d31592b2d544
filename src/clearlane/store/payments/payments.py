"""Payments: the heading of each 835, its state, and each client's share.

A payment concerns many clients, so its row belongs to the installation and is sealed for it; a client sees it through
its share. Knows no X12 and no claim.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, case, delete, func, select, update

from clearlane.kernel.redacted_repr import shows
from clearlane.payers.hops import HOP
from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows, require_row
from clearlane.store.database.schema import (
    claim_payments,
    claims,
    payment_shares,
    payments,
    provider_adjustments,
    unmatched_claim_payments,
)
from clearlane.store.database.sql import Statement, among, insert_into, scoped_update, select_as
from clearlane.store.vault.vault import Vault

SCOPE = SystemScope("a payment concerns many clients")
OWNER = 0
"""The data key that seals a payment is the installation's, which is not a vendor."""
TABLE, ADJUSTMENTS_TABLE = "payments", "provider_adjustments"

PAYMENT_LETTER = "P"
"""Payment ids look like claim numbers, with this letter."""

POSTED, NEEDS_REVIEW, DUPLICATE = "posted", "needs_review", "duplicate"


@shows("payment_id")
class NewPayment(NamedTuple):
    """A payment whose claims are about to be recorded. ``payload`` is sealed."""

    payment_id: str
    payer_id: str
    type: str
    inbox_id: int
    interchange: int
    group_number: int
    set_number: int
    trace: str
    """Keyed hash of the trace number."""
    identity: str
    """Keyed hash of payer, trace number, amount, date and content."""
    amount_cents: int | None
    effective_day: str | None
    method: str
    received_at: int
    payload: bytes


@shows("payment_id")
class PaymentRow(NamedTuple):
    """A stored payment. ``payload`` is sealed for its id."""

    payment_id: str
    payer_id: str
    type: str
    state: str
    inbox_id: int
    interchange: int
    group_number: int
    set_number: int
    amount_cents: int | None
    effective_day: str | None
    claims: int
    unmatched: int
    claims_paid_cents: int
    adjustment_cents: int
    balanced: int
    unbalanced_claims: int
    complete: int
    duplicate_of: str | None
    differs_from: str | None
    received_at: int
    payload: bytes


class PaymentTotalsRow(NamedTuple):
    """The totals of a payment, known at the end of its set."""

    payment_id: str
    claims: int
    claims_paid_cents: int
    adjustment_cents: int
    balanced: int
    unbalanced_claims: int


@shows("payment_id", "number")
class AdjustmentRow(NamedTuple):
    """A provider adjustment. ``payload`` is sealed for :func:`adjustment_key`."""

    payment_id: str
    number: int
    reason: str
    amount_cents: int
    claim_number: str | None
    """The claim that its reference names."""
    payload: bytes


class PaymentShare(NamedTuple):
    """What one site has of a payment."""

    payment_id: str
    vendor_id: int
    site_id: int
    claims: int
    paid_cents: int
    adjustment_cents: int
    fetched_at: int | None = None
    seen_at: int | None = None
    deposited_day: str | None = None
    deposited_cents: int | None = None
    settled_at: int | None = None


def trace_hash(vault: Vault, trace_number: str) -> str:
    """Return the keyed hash of a trace number, however its case and leading zeros are written."""
    return vault.fingerprint(OWNER, "TRN02", trace_number.strip().upper().lstrip("0")).hex()


def adjustment_key(payment_id: str, number: int) -> str:
    """Return the row key that a provider adjustment is sealed for."""
    return f"{payment_id}:{number}"


# ---- recording ---------------------------------------------------------------------------------


async def open_payment(tx: Tx, new: NewPayment) -> PaymentRow:
    """Return the payment of a set, stored now or when the file was posted before.

    One that is already known from another file or set is stored as its duplicate. The unique index on ``identity``
    decides between two nodes that store the same payment at once.
    """
    place = {name: getattr(new, name) for name in _PLACE}
    known = await tx.row(_AT_PLACE, **place)
    if known is not None:
        found = PaymentRow(*known)
        if found.type != HOP or new.type == HOP:
            return found
        await _set_payer(tx, found, new)
        return PaymentRow(*require_row(await tx.row(_AT_PLACE, **place), "the stored payment"))
    values = new._asdict()
    stored = await tx.rows(
        _ADD, **values, state=POSTED, differs_from=await _similar(tx, new), duplicate_of=None
    )
    if not stored:
        original = require_row(await tx.row(_SAME, identity=new.identity), "the same payment")
        await tx.rows(
            _ADD, **values, state=DUPLICATE, differs_from=None, duplicate_of=original[0]
        )  # fmt: skip
    return PaymentRow(*require_row(await tx.row(_AT_PLACE, **place), "the stored payment"))


async def _set_payer(tx: Tx, found: PaymentRow, new: NewPayment) -> None:
    """Give a stored payment its payer, which the map of the hop that brought it has since.

    It is then known as the payer's if the hop sends it again. If it came as the payer's before, it is a duplicate: no claim
    of it is matched yet, since a claim is sent to a payer and not to a hop. What was hashed or matched with the id of
    the hop is removed: the posting that follows adds it again.
    """
    duplicate_of, differs_from = found.duplicate_of, None
    if not duplicate_of:
        same = await tx.row(_SAME, identity=new.identity)
        if same is None:
            differs_from = await _similar(tx, new) or found.differs_from
        else:
            duplicate_of = str(same[0])
    await tx.run(
        _SET_PAYER,
        of=found.payment_id,
        new_payer_id=new.payer_id,
        new_type=new.type,
        new_identity=new.identity,
        new_duplicate_of=duplicate_of,
        new_differs_from=differs_from,
        new_state=DUPLICATE if duplicate_of else found.state,
    )
    for statement in _FORGET:
        await tx.run(statement, of=found.payment_id)


async def _similar(tx: Tx, new: NewPayment) -> str | None:
    """Return the first payment with the payer, trace number and date of a new one."""
    found = await tx.row(
        _SIMILAR, payer_id=new.payer_id, trace=new.trace, effective_day=new.effective_day
    )
    return None if found is None else str(found[0])


async def close_payment(
    tx: Tx, totals: PaymentTotalsRow, adjustments: Sequence[AdjustmentRow]
) -> None:
    """Record the totals of a payment, all of whose claims are recorded, and its provider adjustments."""
    await tx.run(_CLOSE, **{f"new_{name}": value for name, value in totals._asdict().items()})
    if adjustments:
        await tx.many(_ADD_ADJUSTMENT, [row._asdict() for row in adjustments])
    await refresh(tx, totals.payment_id)


async def refresh(tx: Tx, payment_id: str) -> None:
    """Recompute what depends on the matches of a payment: its state, and each client's share."""
    counted = await tx.row(_COUNT_UNMATCHED, payment_id=payment_id)
    unmatched = int(counted[0]) if counted else 0
    await tx.run(_SET_UNMATCHED, of=payment_id, to_unmatched=unmatched)
    await tx.run(_SET_STATE, of=payment_id)
    found = await tx.rows(_SITES, payment_id=payment_id)
    paid = {(int(vendor), int(site)): (int(count), int(sum)) for vendor, site, count, sum in found}
    adjusted = dict.fromkeys(paid, 0)
    amounts = {row.number: row.amount_cents for row in await list_adjustments(tx, payment_id)}
    for number, owner in (await adjustment_owners(tx, payment_id)).items():
        adjusted[owner] = adjusted.get(owner, 0) + amounts[number]
    rows = [
        PaymentShare(payment_id, vendor, site, *paid.get((vendor, site), (0, 0)), cents)._asdict()
        for (vendor, site), cents in adjusted.items()
    ]
    known = {
        (int(vendor), int(site))
        for vendor, site in await tx.rows(_SHARE_OWNERS, payment_id=payment_id)
    }
    for vendor, site in known - adjusted.keys():
        await tx.run(_DROP_SHARE, of=payment_id, of_vendor=vendor, of_site=site)
    if rows:
        await tx.many(_PUT_SHARE, [{name: row[name] for name in _COMPUTED} for row in rows])


async def adjustment_owners(tx: Tx, payment_id: str) -> dict[int, tuple[int, int]]:
    """Return vendor and site of the provider adjustments that belong to a client, by their numbers.

    One whose reference names a claim belongs to that claim's site, if the payment pays a claim of that site: a
    reference is a few characters, and must not show a client what is another's. One that names none belongs to the
    only site that the payment pays, if there is one and every claim is matched. Any other belongs to the operator.
    """
    sites = [(int(row[0]), int(row[1])) for row in await tx.rows(_SITES, payment_id=payment_id)]
    unmatched = await tx.row(_COUNT_UNMATCHED, payment_id=payment_id)
    only = None
    if len(sites) == 1 and not (unmatched and unmatched[0]):
        only = sites[0]
    owners: dict[int, tuple[int, int]] = {}
    for number, vendor, site in await tx.rows(_ADJUSTED_SITES, payment_id=payment_id):
        owner = only if vendor is None else (int(vendor), int(site))
        if owner is not None and owner in sites:
            owners[int(number)] = owner
    return owners


# ---- reading, for operators --------------------------------------------------------------------


async def find(tx: Tx, payment_id: str) -> PaymentRow | None:
    """Return one payment."""
    return await find_row(tx, PaymentRow, _FIND, payment_id=payment_id)


async def list_of_file(tx: Tx, inbox_id: int) -> list[str]:
    """Return the payments of an inbox file, in its order."""
    return [str(id) for (id,) in await tx.rows(_OF_FILE, inbox_id=inbox_id)]


async def list_adjustments(tx: Tx, payment_id: str) -> list[AdjustmentRow]:
    """Return the provider adjustments of a payment, in its order."""
    return await list_rows(tx, AdjustmentRow, _ADJUSTMENTS, payment_id=payment_id)


async def list_shares(tx: Tx, payment_ids: Sequence[str]) -> list[PaymentShare]:
    """Return the shares of every client in these payments."""
    return await list_rows(tx, PaymentShare, _SHARES, payment_ids=list(payment_ids))


# ---- reading, for one client -------------------------------------------------------------------


async def mark_read(tx: Tx, payment_ids: Sequence[str], at: int, *, by_software: bool) -> None:
    """Record when payments of the scope were first read: fetched by the vendor's software, or seen by a person."""
    if payment_ids:
        await tx.run(_MARK_READ[by_software], payment_ids=list(payment_ids), at=at)


_PLACE = ("inbox_id", "interchange", "group_number", "set_number")
_COLUMNS = select_as(payments, PaymentRow)
_AT_PLACE = Statement(_COLUMNS.where(*(payments.c[name] == bindparam(name) for name in _PLACE)))
_SET_PAYER = Statement(
    update(payments)
    .where(payments.c.payment_id == bindparam("of"))
    .values(
        payer_id=bindparam("new_payer_id"),
        type=bindparam("new_type"),
        identity=bindparam("new_identity"),
        duplicate_of=bindparam("new_duplicate_of"),
        differs_from=bindparam("new_differs_from"),
        state=bindparam("new_state"),
    )
)
_FORGET = tuple(
    Statement(delete(table).where(table.c.payment_id == bindparam("of")))
    for table in (unmatched_claim_payments, provider_adjustments)
)
_FIND = Statement(_COLUMNS.where(payments.c.payment_id == bindparam("payment_id")))
_OF_FILE = Statement(
    select(payments.c.payment_id)
    .where(payments.c.inbox_id == bindparam("inbox_id"))
    .order_by(payments.c.interchange, payments.c.group_number, payments.c.set_number)
)
_SIMILAR = Statement(
    select(payments.c.payment_id)
    .where(
        payments.c.trace == bindparam("trace"),
        payments.c.payer_id == bindparam("payer_id"),
        payments.c.effective_day == bindparam("effective_day", type_=payments.c.effective_day.type),
        payments.c.duplicate_of.is_(None),
    )
    .order_by(payments.c.payment_id)
    .limit(1)
)
_SAME = Statement(
    select(payments.c.payment_id).where(
        payments.c.identity == bindparam("identity"), payments.c.duplicate_of.is_(None)
    )
)
_ADD = Statement(
    insert_into(payments, *NewPayment._fields, "state", "differs_from", "duplicate_of")
    .on_conflict_do_nothing()
    .returning(payments.c.payment_id)
)
_CLOSE = Statement(
    update(payments)
    .where(payments.c.payment_id == bindparam("new_payment_id"))
    .values(
        {name: bindparam(f"new_{name}") for name in PaymentTotalsRow._fields[1:]} | {"complete": 1}
    )
)
_ADD_ADJUSTMENT = Statement(
    insert_into(provider_adjustments, *AdjustmentRow._fields).on_conflict_do_nothing()
)
_COUNT_UNMATCHED = Statement(
    select(func.count())
    .select_from(unmatched_claim_payments)
    .where(unmatched_claim_payments.c.payment_id == bindparam("payment_id"))
)
_SET_UNMATCHED = Statement(
    update(payments)
    .where(payments.c.payment_id == bindparam("of"))
    .values(unmatched=bindparam("to_unmatched"))
)
_SET_STATE = Statement(
    update(payments)
    .where(payments.c.payment_id == bindparam("of"))
    .values(
        state=case(
            (payments.c.duplicate_of.is_not(None), DUPLICATE),
            (
                (payments.c.unmatched > 0)
                | (payments.c.balanced == 0)
                | (payments.c.unbalanced_claims > 0)
                | payments.c.differs_from.is_not(None),
                NEEDS_REVIEW,
            ),
            else_=POSTED,
        )
    )
)
_SITES = Statement(
    select(
        claim_payments.c.vendor_id,
        claim_payments.c.site_id,
        func.count(),
        func.sum(claim_payments.c.paid_cents),
    )
    .where(claim_payments.c.payment_id == bindparam("payment_id"))
    .group_by(claim_payments.c.vendor_id, claim_payments.c.site_id),
    system=True,
)
_ADJUSTED_SITES = Statement(
    select(provider_adjustments.c.number, claims.c.vendor_id, claims.c.site_id)
    .join_from(
        provider_adjustments,
        claims,
        claims.c.claim_number == provider_adjustments.c.claim_number,
        isouter=True,
    )
    .where(provider_adjustments.c.payment_id == bindparam("payment_id"))
    .order_by(provider_adjustments.c.number),
    system=True,
)
_ADJUSTMENTS = Statement(
    select_as(provider_adjustments, AdjustmentRow)
    .where(provider_adjustments.c.payment_id == bindparam("payment_id"))
    .order_by(provider_adjustments.c.number)
)
_SHARE_COLUMNS = tuple(payment_shares.c[name] for name in PaymentShare._fields)
_SHARES = Statement(
    select(*_SHARE_COLUMNS)
    .where(among(payment_shares.c.payment_id, "payment_ids"))
    .order_by(payment_shares.c.payment_id, payment_shares.c.vendor_id, payment_shares.c.site_id),
    system=True,
)
_SHARE_OWNERS = Statement(
    select(payment_shares.c.vendor_id, payment_shares.c.site_id).where(
        payment_shares.c.payment_id == bindparam("payment_id")
    ),
    system=True,
)
_COMPUTED = ("payment_id", "vendor_id", "site_id", "claims", "paid_cents", "adjustment_cents")
_NEW_SHARE = insert_into(payment_shares, "payment_id", "claims", "paid_cents", "adjustment_cents")
_PUT_SHARE = Statement(
    _NEW_SHARE.on_conflict_do_update(
        index_elements=["payment_id", "vendor_id", "site_id"],
        set_={
            name: _NEW_SHARE.excluded[name] for name in ("claims", "paid_cents", "adjustment_cents")
        },
    ),
    system=True,
)
_DROP_SHARE = Statement(
    delete(payment_shares).where(
        payment_shares.c.payment_id == bindparam("of"),
        payment_shares.c.vendor_id == bindparam("of_vendor"),
        payment_shares.c.site_id == bindparam("of_site"),
    ),
    system=True,
)
_MARK_READ = {
    by_software: scoped_update(
        payment_shares,
        among(payment_shares.c.payment_id, "payment_ids"),
        payment_shares.c[column].is_(None),
        **{column: bindparam("at")},
    )
    for by_software, column in ((True, "fetched_at"), (False, "seen_at"))
}
