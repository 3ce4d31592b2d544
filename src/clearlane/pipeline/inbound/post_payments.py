"""Post the payments of a payer's file: record each payment, and apply its claim payments to the claims.

    posting = PaymentPosting(context, file, content)
    await posting.run()

A payment is stored before its first claim, its claims a page at a time, and its totals at its end, each in a short
transaction. After a crash the file is read again from its start: a payment is known by its place in the file, an
claim payment by its number in the payment, and a claim fact by its content, so each counts once. The same payment in
another file, or in another envelope, is stored as a duplicate and its claims are not recorded again.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import msgspec

from clearlane.engine import fault_injection
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import new_number
from clearlane.kernel.log import get_logger
from clearlane.kernel.redacted_repr import shows
from clearlane.kernel.tasks import run_by_size
from clearlane.kernel.traces import now_nanos
from clearlane.payments import balance
from clearlane.payments.cut_remittance import (
    CLAIM,
    PaidClaim,
    RemittancePart,
    encode_part,
    plan_parts,
    remittance_key,
    shows_another_vendor,
)
from clearlane.payments.match import NoMatch, claim_number_in
from clearlane.payments.model import ClaimPaymentContent, ClaimPaymentFact
from clearlane.payments.payee_owner import SiteKey, choose_owner
from clearlane.payments.payment import MatchedBy, Payment, PaymentSummary, ProviderAdjustment
from clearlane.payments.read_835 import PaymentStart
from clearlane.pipeline import record_facts
from clearlane.pipeline.claim_payment_content import seal_unmatched
from clearlane.pipeline.claim_traces import file_trace, trace_claims
from clearlane.pipeline.inbound.file_items import (
    PAYMENTS,
    PaymentHeadItem,
    PaymentTotalsItem,
    PlacedClaim,
)
from clearlane.pipeline.inbound.file_payers import UNKNOWN_PAYER, FilePayers, PaymentPayer
from clearlane.pipeline.inbound.inbound_statements import PayerStatement
from clearlane.pipeline.inbound.match_claims import match_claims
from clearlane.pipeline.inbound.reading_process import read_file
from clearlane.pipeline.payment_events import add_payment_events
from clearlane.pipeline.record_facts import ClaimFact, PaymentPlace
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.claim_lookup import CandidateClaim, account_reference
from clearlane.store.database.database import Tx
from clearlane.store.delivery import inbox
from clearlane.store.delivery.inbox import InboxFile
from clearlane.store.files import client_files, due_responses, payees
from clearlane.store.files.due_responses import OwnedSet, ResponseSource
from clearlane.store.files.payees import PayeeSite
from clearlane.store.payments import claim_payments, payments
from clearlane.store.payments.claim_payments import UnmatchedRow
from clearlane.store.payments.payments import (
    AdjustmentRow,
    NewPayment,
    PaymentRow,
    PaymentTotalsRow,
)
from clearlane.x12.reader.set_slices import SetKey, slice_sets

log = get_logger()

UNREADABLE = "Amounts or codes of the claim payment cannot be read: a person must look."
DUPLICATE = "A payment of the file came before: it is recorded as a duplicate and counts nothing."
DIFFERS = "A payment has the payer, trace number and date of an earlier one, but other content: compare the two."
CREDIT = "C"
"""BPR03 of a payment that is paid, not taken."""
NO_OWNER = (
    "Sites of several vendors bill as the payee of a payment: name the one that receives it as a file "
    "(clearlane payment payee)."
)
NOT_PROVEN = (
    "Files of one vendor alone bill as the payee of a payment, and no payer has paid it a claim of that vendor yet, so no site "
    "receives it as a file. Make sure whose payee it is, name the site (clearlane payment payee), then replay the file."
)
NOT_CUT = (
    "A payment cannot be cut so that the site named for its payee sees no claim of another vendor: no site receives it as "
    "a file. To send it whole, name the site without --cut (clearlane payment payee), then replay the file."
)


class _SetContent(NamedTuple):
    """What the bytes of a set say without its loops."""

    digest: str
    claims: int


class PaymentPosting:
    """The posting of the payments of one file."""

    def __init__(
        self,
        context: WorkContext,
        file: InboxFile,
        content: bytes,
        park: Callable[[PayerStatement, str], None],
    ) -> None:
        self.applied = 0
        self.doubts: list[str] = []
        """What a person should look at, without any content of a claim."""
        self._context = context
        self._file = file
        self._content = content
        self._park = park
        self._sets: dict[SetKey, _SetContent] = {}
        self._payers = FilePayers(context, file)
        self._payer = PaymentPayer(file.type, file.payer_id)
        """The payer of the current payment."""
        self._payment: PaymentRow | None = None
        self._paid: dict[int, PaidClaim] = {}
        """What the current payment pays, by the number of the claim payment."""
        self._is_known = False
        """Whether the payment was stored before, so that a part of its claims may be recorded."""

    async def run(self) -> None:
        """Record every payment of the file."""
        size = len(self._content)
        self._sets = await run_by_size(size, self._read_sets)
        async for page in read_file(self._context.reading_processes, PAYMENTS, self._content):
            claims: list[PlacedClaim] = []
            for item in page:
                if isinstance(item, PaymentHeadItem):
                    await self._open(item.start)
                elif isinstance(item, PaymentTotalsItem):
                    await self._record(claims)
                    claims = []
                    await self._close(item.summary)
                else:
                    claims.append(item)
            await self._record(claims)

    def _read_sets(self) -> dict[SetKey, _SetContent]:
        content = self._content
        return {
            one.key: _SetContent(one.digest(content), one.count(content, CLAIM))
            for one in slice_sets(content)
        }

    # ---- the payment -------------------------------------------------------------------------

    async def _open(self, start: PaymentStart) -> None:
        context, vault, file = self._context, self._context.vault, self._file
        payment, key = start.payment, start.set
        payer = self._payer = self._payers.of_payment(start)
        if not payer.is_known:
            self.doubts.append(UNKNOWN_PAYER)
        self._paid = {}
        day = None if payment.effective_date is None else str(payment.effective_date)
        # A set whose bytes cannot be found by themselves is known by its place in the file.
        found = self._sets.get(key)
        digest = found.digest if found else f"{file.digest}:{key}"
        identity = (payer.payer_id, payment.trace_number, str(payment.amount), str(day), digest)
        payment_id = new_number(context.clock.now(), letter=payments.PAYMENT_LETTER)
        new = NewPayment(
            payment_id=payment_id,
            payer_id=payer.payer_id,
            type=payer.type,
            inbox_id=file.id,
            interchange=key[0],
            group_number=key[1],
            set_number=key[2],
            trace=payments.trace_hash(vault, payment.trace_number),
            identity=vault.fingerprint(payments.OWNER, "payment", *identity).hex(),
            amount_cents=payment.amount,
            effective_day=day,
            method=payment.method,
            received_at=file.received_at,
            payload=vault.seal(
                payments.OWNER, payments.TABLE, payment_id, msgspec.json.encode(payment)
            ),
        )

        async def job(tx: Tx) -> PaymentRow:
            found = await payments.open_payment(tx, new)
            if found.payment_id == payment_id:
                tx.audit(
                    "payment.received", ids=[payment_id], detail=f"{payer.type} {payer.payer_id}"
                )
            return found

        self._payment = await context.database.write(payments.SCOPE, job, actor=context.actor)
        self._is_known = self._payment.payment_id != payment_id
        if self._payment.duplicate_of:
            self.doubts.append(DUPLICATE)
        elif self._payment.differs_from:
            self.doubts.append(DIFFERS)
        fault_injection.crash_point("payment opened")

    async def _close(self, summary: PaymentSummary) -> None:
        context, payment = self._context, self._current
        self.doubts += balance.balance_warnings(summary)
        totals = PaymentTotalsRow(
            payment_id=payment.payment_id,
            claims=summary.claims,
            claims_paid_cents=summary.paid,
            adjustment_cents=sum(one.amount for one in summary.adjustments),
            balanced=int(summary.balanced),
            unbalanced_claims=summary.unbalanced_claims + summary.unreadable_claims,
        )
        rows: list[AdjustmentRow] = []
        if not payment.duplicate_of:
            rows = await self._adjustment_rows(payment.payment_id, summary.adjustments)

        async def job(tx: Tx) -> None:
            before = await payments.find(tx, payment.payment_id)
            await payments.close_payment(tx, totals, rows)
            if not payment.duplicate_of:
                await self._hand_on(
                    tx, is_balanced=summary.balanced and not totals.unbalanced_claims
                )
            if before is not None and not before.complete:
                await add_payment_events(tx, payment.payment_id, to_micros(context.clock.now()))
            tx.audit("payment.recorded", ids=[payment.payment_id], count=summary.claims)

        await context.database.write(payments.SCOPE, job, actor=context.actor)
        if not payment.duplicate_of and not (totals.balanced and not totals.unbalanced_claims):
            log.warning(
                "payment does not balance",
                payment=payment.payment_id,
                payer=self._payer.payer_id,
                type=self._payer.type,
                route=self._file.route_id,
                inbox=self._file.id,
                unbalanced_claims=totals.unbalanced_claims,
            )
        fault_injection.crash_point("payment closed")

    async def _hand_on(self, tx: Tx, *, is_balanced: bool) -> None:
        """Let the site that bills as the payee have the payment as a file; note if a person must name that site.

        If a person wants it cut, and it balances, each site that bills as the payee gets its own claims. Who wants that has
        not said that the owner may see claims of another vendor: if some would be left with it, no site gets the payment.
        """
        payment, vault = self._current, self._context.vault
        await vault.load_keys_of(tx, [payment.payload])
        opened = vault.open(payments.OWNER, payments.TABLE, payment.payment_id, payment.payload)
        heading = msgspec.json.decode(opened, type=Payment)
        shares = await payments.list_shares(tx, [payment.payment_id])
        paid_vendors = {one.vendor_id for one in shares if one.paid_cents > 0}
        found: list[list[PayeeSite]] = []
        for number in filter(None, (heading.payee_npi, heading.payee_tax_id)):
            payee = payees.payee_hash(vault, number)
            await payees.prove(tx, payee, paid_vendors)
            found.append(await payees.find_sites(tx, [payee]))
        # The site that had it may have been named by the other number.
        if await self._was_handed_on(tx, {one.key for some in found for one in some}):
            return
        sites = next(filter(None, found), [])
        owner = choose_owner(
            sites,
            {(one.vendor_id, one.site_id) for one in shares},
            has_other_vendors=await payees.are_vendors_several(tx),
        )
        if owner is None:
            vendors = {one.vendor_id for one in sites} | {one.vendor_id for one in shares}
            doubt = NO_OWNER if len(vendors) > 1 else NOT_PROVEN
            if sites and doubt not in self.doubts:
                self.doubts.append(doubt)
            return
        now = to_micros(self._context.clock.now())
        parts: dict[SiteKey, RemittancePart] = {}
        if any(one.is_cut for one in sites):
            claims = await self._paid_claims(tx)
            is_cuttable = is_balanced and heading.credit_debit == CREDIT
            if is_cuttable and self._claims_in_bytes() == len(claims):
                keys = {one.key for one in sites}
                parts = plan_parts(owner, keys, claims, heading.amount or 0)
            if shows_another_vendor(owner, claims, parts.get(owner)):
                self.doubts.append(NOT_CUT)
                return
        if not parts:
            await due_responses.add(
                tx,
                [OwnedSet(*owner, "")],
                ResponseSource.PAYMENT,
                payment.payment_id,
                now,
                ready=True,
            )
        else:
            texts = {site: encode_part(part) for site, part in parts.items()}
            await due_responses.add_parts(tx, payment.payment_id, texts, now)

    async def _paid_claims(self, tx: Tx) -> list[PaidClaim]:
        """Return what the payment pays, with the sites of its claims."""
        owners = await claim_payments.list_owners(tx, self._current.payment_id)
        return [one._replace(site=owners.get(one.number)) for one in sorted(self._paid.values())]

    def _claims_in_bytes(self) -> int | None:
        """Return how many claims the bytes of the payment have, which are what is cut; None if they cannot be found."""
        payment = self._current
        found = self._sets.get((payment.interchange, payment.group_number, payment.set_number))
        return found and found.claims

    async def _was_handed_on(self, tx: Tx, sites: Collection[SiteKey]) -> bool:
        """Return whether the payment is due to any site, or one of these has it, whole or in part: no claim reaches two."""
        if not self._is_known:
            return False
        payment_id = self._current.payment_id
        if await due_responses.is_due(tx, ResponseSource.PAYMENT, payment_id):
            return True
        key = remittance_key(payment_id)
        return any([await client_files.was_written(tx, key, site) for site in sites])

    async def _adjustment_rows(
        self, payment_id: str, adjustments: Sequence[ProviderAdjustment]
    ) -> list[AdjustmentRow]:
        """Return the rows of provider adjustments, each with the claim that its reference names."""
        vault = self._context.vault
        references = [
            (one.number, reference)
            for one in adjustments
            for word in dict.fromkeys([one.reference, *one.reference.split()])
            if word
            for reference in (_AdjustmentReference(word), _AdjustmentReference("", word))
        ]
        async with self._context.database.read(inbox.SCOPE) as tx:
            found = await match_claims(
                tx, vault, self._payer.payer_id, [reference for _, reference in references]
            )
        claims = {
            number: claim.claim_number
            for (number, _), claim in zip(references, found, strict=True)
            if not isinstance(claim, NoMatch)
        }
        return [
            AdjustmentRow(
                payment_id=payment_id,
                number=one.number,
                reason=one.reason,
                amount_cents=one.amount,
                claim_number=claims.get(one.number),
                payload=vault.seal(
                    payments.OWNER,
                    payments.ADJUSTMENTS_TABLE,
                    payments.adjustment_key(payment_id, one.number),
                    msgspec.json.encode(one),
                ),
            )
            for one in adjustments
        ]

    @property
    def _current(self) -> PaymentRow:
        if self._payment is None:
            raise LookupError("a claim payment comes before the heading of its payment")
        return self._payment

    # ---- its claims --------------------------------------------------------------------------

    async def _record(self, claims: Sequence[PlacedClaim]) -> None:
        """Record a page of claims of the current payment: matched ones on their claims, others as unmatched."""
        if not claims:
            return
        if self._current.duplicate_of:
            self.applied += len(claims)
            return
        self._paid |= {one.number: _paid_claim(one) for one in claims}
        vault, payment_id = self._context.vault, self._current.payment_id
        owners = await self._find_owners(claims)
        claim_facts: list[ClaimFact] = []
        unmatched: list[UnmatchedRow] = []
        for one, owner in zip(claims, owners, strict=True):
            if owner is None:
                self.applied += 1  # recorded before, by a person or in an earlier posting
            elif isinstance(owner, str):
                unmatched.append(self._unmatched_row(one, owner))
                self._park(PayerStatement(one.claim_payment, owner), owner)
            else:
                how = matched_by(one.claim_payment, owner)
                place = PaymentPlace(payment_id, one.number, how)
                claim_facts.append(claim_fact(one.content, owner, place, self._file.id))
        await record_facts.ensure_keys(vault, claim_facts)
        now, began = self._context.clock.now(), now_nanos()
        matched = [(payment_id, one.place.number) for one in claim_facts if one.place]

        async def job(tx: Tx) -> None:
            await record_facts.record_facts(tx, vault, claim_facts, now, self._context.answer_days)
            if self._is_known and matched:
                await claim_payments.remove_unmatched(tx, matched)
            if unmatched:
                await claim_payments.add_unmatched(tx, unmatched)

        await self._context.database.write(inbox.SCOPE, job, actor=self._context.actor)
        self.applied += len(claim_facts)
        fault_injection.crash_point("applied")
        await trace_claims(
            self._context, "payment posted", {one.claim_number for one in claim_facts},
            began=began, within=file_trace(self._file.id), inbox_id=self._file.id,
        )  # fmt: skip

    async def _find_owners(
        self, claims: Sequence[PlacedClaim]
    ) -> list[CandidateClaim | str | None]:
        """Return the claim of each, or why there is none; None if it is recorded on another claim already."""
        context, payer_id = self._context, self._payer.payer_id
        known: dict[int, str] = {}
        async with context.database.read(inbox.SCOPE) as tx:
            found = await match_claims(
                tx, context.vault, payer_id, [one.claim_payment for one in claims]
            )
            if self._is_known:
                numbers = [one.number for one in claims]
                known = await claim_payments.known_claims(tx, self._current.payment_id, numbers)
        owners: list[CandidateClaim | str | None] = []
        for one, owner in zip(claims, found, strict=True):
            recorded = known.get(one.number)
            if one.claim_payment.unreadable and recorded is None:
                owners.append(UNREADABLE)
            elif isinstance(owner, NoMatch):
                owners.append(owner.reason if recorded is None else None)
            else:
                owners.append(owner if recorded in (None, owner.claim_number) else None)
        return owners

    def _unmatched_row(self, one: PlacedClaim, reason: str) -> UnmatchedRow:
        vault, payer_id = self._context.vault, self._payer.payer_id
        payment_id, claim_payment = self._current.payment_id, one.claim_payment
        return UnmatchedRow(
            payment_id=payment_id,
            number=one.number,
            payer_id=payer_id,
            reference=account_reference(vault, payer_id, claim_payment.account_number),
            reason=reason,
            paid_cents=claim_payment.paid,
            payload=seal_unmatched(vault, payment_id, one.number, one.content),
        )


def _paid_claim(one: PlacedClaim) -> PaidClaim:
    return PaidClaim(one.number, None, one.claim_payment.paid, one.has_interest)


@shows()
class _AdjustmentReference(msgspec.Struct, frozen=True):
    """The reference of a provider adjustment: an account number, our number, or the payer's own."""

    account_number: str
    payer_control_number: str = ""
    claim_number: str = ""
    line_controls: tuple[str, ...] = ()


def claim_fact(
    content: ClaimPaymentContent, owner: CandidateClaim, place: PaymentPlace, inbox_id: int
) -> ClaimFact:
    """Return a claim payment as a fact to record on its claim."""
    return ClaimFact(
        owner.claim_number,
        owner.vendor_id,
        owner.site_id,
        content.claim_payment,
        content.part,
        inbox_id,
        place,
    )


def matched_by(claim_payment: ClaimPaymentFact, claim: CandidateClaim) -> MatchedBy:
    """Return how a claim payment found this claim: by our number, the account number, or the payer's."""
    if claim.by_payer_number:
        return MatchedBy.PAYER_NUMBER
    numbers = {claim_payment.claim_number, claim_payment.account_number}
    numbers.update(map(claim_number_in, claim_payment.line_controls))
    return MatchedBy.NUMBER if claim.claim_number in numbers else MatchedBy.ACCOUNT
