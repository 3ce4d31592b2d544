"""Load a payment, its claim payments and the 835 itself, for operators and for one client. Reading is audited.

    details = await load_payment(database, vault, payment_id, actor=actor)
    async for page in claim_payment_pages(database, vault, details.payment): ...
    await read_x12(database, vault, payment_id, actor=actor)                 # the transaction set as received

A client's view (``..._own``) is limited to the payments that its site has a share of, and to its own claims in them:
``amount`` is the whole payment's, ``your_amount`` the site's part. The claims of a payment come a page at a time, so
that one with thousands of claims is shown in bounded memory. Knows no HTTP and no text for people.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import from_micros
from clearlane.kernel.formats import to_cents
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.payments.deposit import add_deposits
from clearlane.payments.match_lines import SentLine, number_lines
from clearlane.payments.payment import (
    ClaimPayment,
    ClaimPaymentType,
    MatchedBy,
    Payment,
    PaymentState,
    ProviderAdjustment,
)
from clearlane.pipeline.claim_payment_content import open_unmatched
from clearlane.pipeline.share_deposit import part_cents, share_deposit
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.database.database import Actor, Database, SystemScope, Tx
from clearlane.store.delivery import inbox
from clearlane.store.payments import claim_payments, payments
from clearlane.store.payments.claim_payments import (
    ClaimPaymentDocument,
    ClaimPaymentRow,
    UnmatchedRow,
)
from clearlane.store.payments.payments import AdjustmentRow, PaymentRow, PaymentShare
from clearlane.store.vault.vault import Vault
from clearlane.x12.reader.set_slices import cut_sets, slice_sets

# What reads claims and 835s is imported where it is used: a list of payments needs none of it, and the forms of claims
# take half a second to load.
if TYPE_CHECKING:
    from clearlane.pipeline.load_claim import LoadedClaim
    from clearlane.pipeline.stored_facts import DocumentSource

CLAIM_PAYMENTS_PER_PAGE = 200
CLAIM_PAYMENTS_PER_CLAIM_MAX = 200
"""Claim payments that are shown of one claim; payers make one or two."""


@dataclass(frozen=True, slots=True)
class PaymentDetails:
    """A payment with its provider adjustments."""

    payment: Payment
    adjustments: tuple[ProviderAdjustment, ...]
    claim_payments_of: str
    """The payment whose claim payments show its claims: its own id, or that of the payment it duplicates."""


# ---- for operators -----------------------------------------------------------------------------


async def load_payment(
    database: Database, vault: Vault, payment_id: str, *, actor: Actor
) -> PaymentDetails | None:
    """Load a payment of any client with its provider adjustments; None if there is none. Audited."""

    async def job(tx: Tx) -> PaymentDetails | None:
        row = await payments.find(tx, payment_id)
        if row is None:
            return None
        shown = row.duplicate_of or row.payment_id
        rows = await payments.list_adjustments(tx, shown)
        shares = await payments.list_shares(tx, [shown])
        await vault.load_keys_of(tx, [row.payload, *(one.payload for one in rows)])
        tx.audit("payment.read", ids=[payment_id])
        adjustments = tuple(adjustment_value(vault, one) for one in rows)
        return PaymentDetails(payment_value(vault, row, shares), adjustments, shown)

    return await database.write(payments.SCOPE, job, actor=actor)


async def claim_payment_pages(
    database: Database, vault: Vault, payment_id: str
) -> AsyncIterator[list[ClaimPayment]]:
    """Yield the claim payments of a payment of any client in its order, matched and unmatched, a page at a time."""
    from clearlane.payments.read_payment import Corrections

    after, corrections = 0, Corrections()
    while True:
        async with database.read(payments.SCOPE) as tx:
            matched = await claim_payments.list_page(
                tx, payment_id, own=False, after=after, limit=CLAIM_PAYMENTS_PER_PAGE
            )
            unmatched = await claim_payments.list_unmatched_page(
                tx, payment_id, after=after, limit=CLAIM_PAYMENTS_PER_PAGE
            )
            sealed = [one.payload for one in matched] + [one.payload for one in unmatched]
            await vault.load_keys_of(tx, sealed)
        numbered = {one.claim_payment.number: one for one in matched}
        waiting = {one.number: one for one in unmatched}
        page = sorted([*numbered, *waiting])[:CLAIM_PAYMENTS_PER_PAGE]
        if not page:
            return
        after = page[-1]
        rows = [numbered[number] for number in page if number in numbered]
        known = {one.number: one for one in await matched_claim_payments(database, vault, rows)}
        yield [
            # A matched one has its type by all that is known of its claim, others by this payment alone.
            known[number]
            if number in known
            else corrections.mark(unmatched_claim_payment(vault, waiting[number]))
            for number in page
        ]


async def read_x12(
    database: Database, vault: Vault, payment_id: str, *, actor: Actor
) -> bytes | None:
    """Return the transaction set of a payment as received, in its envelope; None if there is none. Audited.

    The file is cut at transaction sets and otherwise left as it is: a BPR that was changed would match no deposit.
    """

    async def job(tx: Tx) -> tuple[PaymentRow, bytes] | None:
        row = await payments.find(tx, payment_id)
        file = None if row is None else await inbox.find(tx, row.inbox_id)
        if row is None or file is None:
            return None
        tx.audit("payment.exported", ids=[payment_id])
        return row, await inbox.read_content(tx, vault, file)

    found = await database.write(payments.SCOPE, job, actor=actor)
    if found is None:
        return None
    row, content = found
    key = (row.interchange, row.group_number, row.set_number)

    def cut() -> bytes:
        every = list(slice_sets(content))
        wanted = [one for one in every if one.key == key]
        return content if wanted == every else cut_sets(content, wanted)

    return await asyncio.to_thread(cut)


# ---- for one client ----------------------------------------------------------------------------


async def own_claim_payment_pages(
    database: Database, vault: Vault, scope: Scope, payment_id: str
) -> AsyncIterator[list[ClaimPayment]]:
    """Yield the claim payments of a site's own claims in a payment, a page at a time."""
    after = 0
    while True:
        async with database.read(scope) as tx:
            rows = await claim_payments.list_page(
                tx, payment_id, own=True, after=after, limit=CLAIM_PAYMENTS_PER_PAGE
            )
            await vault.load_keys_of(tx, [one.payload for one in rows])
        if not rows:
            return
        after = rows[-1].claim_payment.number
        yield await matched_claim_payments(database, vault, rows)


async def own_adjustments(
    database: Database, vault: Vault, scope: Scope, payment_id: str
) -> list[AdjustmentRow]:
    """Return the provider adjustments attributed to a site, by the rule of ``store.payments.refresh``."""
    async with database.read(ATTRIBUTION) as tx:
        rows = await payments.list_adjustments(tx, payment_id)
        owners = await payments.adjustment_owners(tx, payment_id)
        await vault.load_keys_of(tx, [row.payload for row in rows])
    own = (scope.vendor, scope.site)
    return [row for row in rows if owners.get(row.number) == own]


ATTRIBUTION = SystemScope("the provider adjustments of a payment are attributed among its clients")


# ---- for one claim -----------------------------------------------------------------------------


async def one_page(
    claim_payments: Iterable[tuple[Payment, ClaimPayment]],
) -> AsyncIterator[list[ClaimPayment]]:
    """Yield the claim payments of a claim as the one page of a file."""
    yield [claim_payment for _, claim_payment in claim_payments]


async def load_claim_payments(
    database: Database, vault: Vault, claim_number: str, *, actor: Actor
) -> list[tuple[Payment, ClaimPayment]] | None:
    """Load every claim payment of a claim of any client, oldest first; None if there is no such claim. Audited."""
    from clearlane.pipeline.load_claim import find_claim_scope, load_claim_in_scope

    scope = await find_claim_scope(database, claim_number)
    if scope is None:
        return None
    # Loaded for the audit: who sees a claim's payments has read the claim.
    await load_claim_in_scope(database, vault, scope, claim_number, actor=actor)
    async with database.read(scope) as tx:
        rows = await claim_payments.list_own_of_claim(
            tx, claim_number, limit=CLAIM_PAYMENTS_PER_CLAIM_MAX
        )
        await vault.load_keys_of(tx, [one.payload for one in rows])
    by_id: dict[str, Payment] = {}
    for payment_id in dict.fromkeys(one.claim_payment.payment_id for one in rows):
        found = await load_payment(database, vault, payment_id, actor=actor)
        if found is not None:
            by_id[payment_id] = found.payment
    shown = [one for one in rows if one.claim_payment.payment_id in by_id]
    opened = await matched_claim_payments(database, vault, shown)
    paid = (
        (by_id[row.claim_payment.payment_id], one) for row, one in zip(shown, opened, strict=True)
    )
    return sorted(paid, key=_claim_payment_order)


def _claim_payment_order(one: tuple[Payment, ClaimPayment]) -> tuple[str, str, int]:
    """Return a sort key: by the day that the payer wrote it, then as received, then by its place in the payment."""
    payment, claim_payment = one
    received = "" if payment.received_at is None else payment.received_at.isoformat()
    return (str(payment.production_date or ""), received, claim_payment.number)


# ---- values ------------------------------------------------------------------------------------


def payment_value(vault: Vault, row: PaymentRow, shares: Sequence[PaymentShare]) -> Payment:
    """Return a stored payment, opened, with these clients' shares in it. The caller has loaded its data key."""
    opened = vault.open(payments.OWNER, payments.TABLE, row.payment_id, row.payload)
    heading = _HEADING.decode(opened)
    fetched = [one.fetched_at for one in shares]
    seen = [one.seen_at for one in shares if one.seen_at is not None]
    read = [at for at in fetched if at is not None]
    difference = (
        None
        if row.amount_cents is None
        else row.amount_cents - row.claims_paid_cents - row.adjustment_cents
    )
    return replace(
        heading,
        payment_id=row.payment_id,
        state=PaymentState(row.state),
        payer_id=row.payer_id,
        your_amount=part_cents(row, shares),
        received_at=from_micros(row.received_at),
        claims=row.claims,
        unmatched=row.unmatched,
        claims_paid=row.claims_paid_cents,
        adjustments_total=row.adjustment_cents,
        balanced=bool(row.balanced),
        difference=difference,
        unbalanced_claims=row.unbalanced_claims,
        duplicate_of=row.duplicate_of or "",
        differs_from=row.differs_from or "",
        file_id=row.inbox_id,
        # A payment of several sites is fetched once each of them has fetched it.
        fetched_at=from_micros(max(read)) if read and len(read) == len(fetched) else None,
        seen_at=from_micros(min(seen)) if seen else None,
        deposit=add_deposits([share_deposit(row, one) for one in shares]),
    )


def adjustment_value(vault: Vault, row: AdjustmentRow) -> ProviderAdjustment:
    """Return a stored provider adjustment, opened. The caller has loaded its data key."""
    place = payments.adjustment_key(row.payment_id, row.number)
    opened = vault.open(payments.OWNER, payments.ADJUSTMENTS_TABLE, place, row.payload)
    return replace(_ADJUSTMENT.decode(opened), claim_number=row.claim_number or "")


async def matched_claim_payments(
    database: Database, vault: Vault, rows: Sequence[ClaimPaymentDocument]
) -> list[ClaimPayment]:
    """Return claim payments in the order of their rows, each with its claim's own lines and ids."""
    loaded = await _load_claims(database, vault, [one.claim_payment for one in rows])
    reversed_by = await _claim_payment_ids(database, [one.claim_payment for one in rows])

    def build() -> list[ClaimPayment]:
        return [
            _matched(
                one.claim_payment,
                _source(vault, one),
                loaded[one.claim_payment.claim_number],
                reversed_by,
            )
            for one in rows
        ]

    return await asyncio.to_thread(build)


def _source(vault: Vault, one: ClaimPaymentDocument) -> "DocumentSource":
    from clearlane.pipeline.stored_facts import open_document_source

    row = one.claim_payment
    return open_document_source(
        vault,
        StoredDocument(
            row.vendor_id, row.site_id, row.document_id, row.claim_number, "payment", 0, one.payload
        ),
    )


def _matched(
    row: ClaimPaymentRow,
    source: "DocumentSource",
    loaded: "LoadedClaim",
    ids: dict[tuple[str, str], str],
) -> ClaimPayment:
    from clearlane.payments.read_payment import as_void_answer, read_claim_payment

    claim_payment = read_claim_payment(source.part, number=row.number)
    if row.label == ClaimLabel.VOIDED:
        claim_payment = as_void_answer(claim_payment)
    return replace(
        claim_payment,
        claim_payment_id=claim_payment_id(row.payment_id, row.number),
        type=ClaimPaymentType(row.type),
        reverses=ids.get((row.claim_number, row.reverses), "") if row.reverses else "",
        in_force=bool(row.in_force),
        replaced=bool(row.replaced),
        claim_number=row.claim_number,
        vendor_claim_id=loaded.vendor_claim_id,
        document_id=row.document_id,
        matched_by=MatchedBy(row.matched_by),
        lines=number_lines(claim_payment.lines, _sent_lines(loaded)),
    )


def unmatched_claim_payment(vault: Vault, row: UnmatchedRow) -> ClaimPayment:
    """Return a claim payment that matches no claim, opened. The caller has loaded its data key."""
    from clearlane.payments.read_payment import read_claim_payment

    claim_payment = read_claim_payment(open_unmatched(vault, row).part, number=row.number)
    return replace(
        claim_payment,
        claim_payment_id=claim_payment_id(row.payment_id, row.number),
        claim_number="",
        unmatched_reason=row.reason,
    )


def claim_payment_id(payment_id: str, number: int) -> str:
    """Return the id of a claim payment: the payment's, and its number in it."""
    return f"{payment_id}-{number}"


def _sent_lines(loaded: "LoadedClaim") -> list[SentLine]:
    from clearlane.claims.forms import form_of
    from clearlane.pipeline.load_claim import sent_line_controls

    view = form_of(loaded.claim).view(loaded.claim)
    return [
        SentLine(
            control,
            line.procedure,
            to_cents(line.charge) or 0,
            line.revenue_code or "",
            line.first_day,
        )
        for control, line in zip(sent_line_controls(loaded), view.lines, strict=False)
    ]


async def _load_claims(
    database: Database, vault: Vault, rows: Iterable[ClaimPaymentRow]
) -> "dict[str, LoadedClaim]":
    """Load the claims of claim payments, site by site, since a statement on claims has one owner."""
    from clearlane.pipeline.load_claim import open_claim
    from clearlane.store.claims import claims

    wanted: dict[Scope, set[str]] = {}
    for row in rows:
        scope = Scope(VendorId(row.vendor_id), SiteId(row.site_id))
        wanted.setdefault(scope, set()).add(row.claim_number)
    loaded: dict[str, LoadedClaim] = {}
    for scope, ids in wanted.items():
        async with database.read(scope) as tx:
            found = await claims.find_many(tx, sorted(ids))
            await vault.load_keys_of(tx, [one.payload for one in found])
        loaded |= {one.claim_number: open_claim(vault, scope, one) for one in found}
    return loaded


async def _claim_payment_ids(
    database: Database, rows: Sequence[ClaimPaymentRow]
) -> dict[tuple[str, str], str]:
    """Return the ids of what these reversals take back, by claim and fact."""
    concerned = {row.claim_number for row in rows if row.reverses}
    if not concerned:
        return {}
    async with database.read(payments.SCOPE) as tx:
        found = await claim_payments.list_for_claims(tx, concerned)
    ids: dict[tuple[str, str], str] = {}
    for row in found:
        ids.setdefault(
            (row.claim_number, row.identity), claim_payment_id(row.payment_id, row.number)
        )
    return ids


_HEADING = msgspec.json.Decoder(Payment)
_ADJUSTMENT = msgspec.json.Decoder(ProviderAdjustment)
