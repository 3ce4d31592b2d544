"""A payment as a vendor reads it, over one site or all its sites: the heading, its claims, its 835. Audited.

A payment belongs to the installation, since one check may pay claims of many clients: a vendor gets the heading, and of
the rest its own claims alone. Knows no HTTP.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import Scope, SiteId, VendorScope
from clearlane.payments.payment import ClaimPayment
from clearlane.pipeline.query.payments import (
    PaymentDetails,
    adjustment_value,
    matched_claim_payments,
    own_adjustments,
    payment_value,
    read_x12,
)
from clearlane.pipeline.stored_facts import open_document_source
from clearlane.store.claims import documents
from clearlane.store.database.database import Actor, Database, Tx, write_audit
from clearlane.store.payments import claim_payments, payment_query, payments
from clearlane.store.payments.claim_payments import ClaimPaymentDocument
from clearlane.store.payments.payment_query import SharedPayment
from clearlane.store.vault.vault import Vault

PARTS_AT_ONCE = 200


async def load_vendor_payment(
    database: Database,
    vault: Vault,
    payment_id: str,
    *,
    scope: Scope | VendorScope,
    actor: Actor,
    at: datetime,
) -> PaymentDetails | None:
    """Load a payment with the adjustments attributed to sites of the scope; mark it as fetched by the software.

    A payment that came again has only a heading of its own, which names the first one.
    """
    found = await _find(database, vault, payment_id, scope)
    if found is None:
        return None
    rows = []
    for share in found.shares:
        site = Scope(scope.vendor, SiteId(share.site_id))
        await database.write(
            site, partial(_mark, payment_id=payment_id, at=to_micros(at)), actor=actor
        )
        rows += await own_adjustments(database, vault, site, payment_id)
    # A payment that came again counts nothing: what the client has of it is in the first one.
    payment = payment_value(vault, found.row, () if found.row.duplicate_of else found.shares)
    adjustments = tuple(
        adjustment_value(vault, row) for row in sorted(rows, key=lambda row: row.number)
    )
    return PaymentDetails(payment, adjustments, payment_id)


async def list_vendor_claim_payments(
    database: Database,
    vault: Vault,
    payment_id: str,
    *,
    scope: Scope | VendorScope,
    after: int,
    limit: int,
) -> list[ClaimPayment]:
    """Return a page of the scope's own claims in a payment, in its order, after a number."""
    async with database.read(scope) as tx:
        rows = await claim_payments.list_page(tx, payment_id, own=True, after=after, limit=limit)
        await vault.load_keys_of(tx, [one.payload for one in rows])
    return await matched_claim_payments(database, vault, rows)


async def read_vendor_x12(
    database: Database,
    vault: Vault,
    payment_id: str,
    *,
    scope: Scope | VendorScope,
    actor: Actor,
) -> bytes | None:
    """Return the 835 of a payment as received if all its claims are the scope's, else the parts of these claims.

    Each part is an interchange with envelope and payment heading as received and one claim.
    """
    found = await _find(database, vault, payment_id, scope)
    if found is None:
        return None
    async with database.read(scope) as tx:
        own = await claim_payments.count_own(tx, payment_id)
    row = found.row
    if row.unmatched == 0 and own == row.claims and row.duplicate_of is None:
        return await read_x12(database, vault, payment_id, actor=actor)

    await write_audit(
        database, scope, "payment.exported", ids=[payment_id], detail="own claims", actor=actor
    )
    parts: list[bytes] = []
    after = 0
    shown = row.duplicate_of or payment_id
    while page := await _documents(database, vault, shown, scope, after):
        parts += [open_document_source(vault, one).part for one in page[1]]
        after = page[0]
    return b"".join(parts)


async def _documents(
    database: Database, vault: Vault, payment_id: str, scope: Scope | VendorScope, after: int
) -> tuple[int, Sequence[documents.StoredDocument]] | None:
    async with database.read(scope) as tx:
        rows: list[ClaimPaymentDocument] = await claim_payments.list_page(
            tx, payment_id, own=True, after=after, limit=PARTS_AT_ONCE
        )
        found = await documents.find(tx, [one.claim_payment.document_id for one in rows])
        await vault.load_keys_of(tx, [one.payload for one in found])
    return (rows[-1].claim_payment.number, found) if rows else None


async def _find(
    database: Database, vault: Vault, payment_id: str, scope: Scope | VendorScope
) -> SharedPayment | None:
    async with database.read(scope) as tx:
        own = await payment_query.find_some(tx, [payment_id])
        found = own[0] if own else await payment_query.find_duplicate(tx, payment_id)
        await vault.load_keys_of(tx, [found.row.payload] if found else [])
    return found


async def _mark(tx: Tx, *, payment_id: str, at: int) -> None:
    tx.audit("payment.read", ids=[payment_id])
    await payments.mark_read(tx, [payment_id], at, by_software=True)
