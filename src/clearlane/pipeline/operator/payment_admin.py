"""Operate on unmatched claim payments: assign one to a claim, undo that, and list candidates. Audited.

A person decides what no number proves: an account number that the payer cut, with the same member and day, is a
candidate and never applied by itself. An operator may assign any claim that was sent to the payer. A person of some
sites (``scopes``) sees and assigns only what a claim of these sites is a candidate for: anything else may be another
client's patient. Knows payments and claims.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from clearlane.claims.header import ClaimHeader
from clearlane.kernel.clock import to_micros
from clearlane.kernel.formats import to_cents
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.payments.model import ClaimPaymentContent, ClaimPaymentFact
from clearlane.payments.payment import ClaimPayment, MatchedBy
from clearlane.payments.read_payment import read_claim_payment
from clearlane.pipeline import record_facts
from clearlane.pipeline.claim_payment_content import (
    open_unmatched,
    seal_unmatched,
)
from clearlane.pipeline.inbound.match_payments import finish_matching
from clearlane.pipeline.inbound.post_payments import claim_fact
from clearlane.pipeline.load_claim import open_header
from clearlane.pipeline.payment_events import add_matched_events
from clearlane.pipeline.record_facts import PaymentPlace
from clearlane.pipeline.stored_facts import DocumentSource
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_lookup, claims
from clearlane.store.claims.claim_lookup import CandidateClaim, account_reference
from clearlane.store.database.database import Actor, OperationRefused, Tx
from clearlane.store.payments import claim_payments, payments
from clearlane.store.payments.claim_payments import ClaimPaymentRow, UnmatchedRow

CANDIDATES_SHOWN_MAX = 3
CANDIDATES_COMPARED_MAX = 10 * CANDIDATES_SHOWN_MAX
UNMATCHED_SHOWN = 10
"""Each is shown with its candidates, which have to be looked up."""
UNMATCHED_SEARCHED_MAX = 200
"""How many are looked at on one page for those that may be a site's own."""
NO_CLAIM_PAYMENT = (
    "Payment {payment_id} has no unmatched claim {number}. `clearlane payment show` lists them."
)
NOT_SENT = "Claim {claim_number} was not sent to payer {payer_id}, so no payment of it can be about that claim."
UNREADABLE = "Amounts or codes of this claim payment cannot be read, so it cannot be assigned."
NOT_CANDIDATE = (
    "Claim {claim_number} differs too much from what the payer wrote. An operator can assign it."
)
NOT_ASSIGNED = (
    "Claim {number} of payment {payment_id} was not assigned by a person; there is nothing to undo."
)


@dataclass(frozen=True, slots=True)
class MatchCandidate:
    """A claim that an unmatched claim payment may mean, and what agrees."""

    claim_number: str
    agrees: tuple[str, ...]
    """In words, such as ``same member``."""
    differs: tuple[str, ...]
    patient: str = field(default="", repr=False)
    """Last and first name."""
    vendor_claim_id: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class UnmatchedClaimPayment:
    """An unmatched claim payment, and the claims that it may mean."""

    claim_payment: ClaimPayment = field(repr=False)
    candidates: tuple[MatchCandidate, ...]


@dataclass(frozen=True, slots=True)
class UnmatchedPage:
    """A page of the unmatched claim payments of a payment."""

    claim_payments: list[UnmatchedClaimPayment]
    more_after: int = 0
    """The number in the payment after which the rest begins; 0 if all are shown."""


async def assign(
    context: WorkContext,
    payment_id: str,
    number: int,
    claim_number: str,
    *,
    actor: Actor,
    scopes: Collection[Scope] | None = None,
) -> None:
    """Assign an unmatched claim payment to a claim; what it says is then recorded on the claim.

    With ``scopes`` the claim must be one of the candidates of these sites.
    """
    vault, now = context.vault, context.clock.now()
    if scopes is not None:
        found = await find_candidates(context, payment_id, number, actor=actor, scopes=scopes)
        if claim_number not in {one.claim_number for one in found}:
            raise OperationRefused(NOT_CANDIDATE.format(claim_number=claim_number))
    async with context.database.read(payments.SCOPE) as tx:
        row = await _require_unmatched(tx, payment_id, number)
        claim = (await claim_lookup.find_sent(tx, row.payer_id, [claim_number])).get(claim_number)
        payment = await payments.find(tx, payment_id)
        await vault.load_keys_of(tx, [row.payload])
    if claim is None or payment is None:
        raise OperationRefused(NOT_SENT.format(claim_number=claim_number, payer_id=row.payer_id))
    content = open_unmatched(vault, row)
    if content.claim_payment.unreadable:
        raise OperationRefused(UNREADABLE)
    place = PaymentPlace(payment_id, number, MatchedBy.PERSON)
    fact = claim_fact(content, claim, place, payment.inbox_id)
    await record_facts.ensure_keys(vault, [fact])

    async def job(tx: Tx) -> None:
        await _require_unmatched(tx, payment_id, number)
        await record_facts.record_facts(tx, vault, [fact], now, context.answer_days)
        await claim_payments.remove_unmatched(tx, [(payment_id, number)])
        await finish_matching(tx, payment_id, to_micros(now))
        await add_matched_events(tx, [fact], to_micros(now))
        tx.audit("payment.assigned", ids=[payment_id, claim_number], detail=f"claim {number}")

    await context.database.write(payments.SCOPE, job, actor=actor)


async def undo_assignment(
    context: WorkContext,
    payment_id: str,
    number: int,
    *,
    actor: Actor,
    scopes: Collection[Scope] | None = None,
) -> str:
    """Undo what a person assigned; return the claim, which is as it was before.

    With ``scopes`` only what was assigned to a claim of these sites.
    """
    vault, now = context.vault, context.clock.now()
    await vault.ensure_key(payments.OWNER)

    async def job(tx: Tx) -> str:
        row = await claim_payments.find(tx, payment_id, number)
        payment = await payments.find(tx, payment_id)
        if (
            row is None
            or payment is None
            or row.matched_by != MatchedBy.PERSON
            or not _is_within(row, scopes)
        ):
            raise OperationRefused(NOT_ASSIGNED.format(payment_id=payment_id, number=number))
        await claim_payments.remove(tx, payment_id, number)
        source = await record_facts.withdraw_fact(
            tx, vault, row.claim_number, row.identity, now, context.answer_days
        )
        content = ClaimPaymentContent(_as_claim_payment(source), source.part)
        await claim_payments.add_unmatched(
            tx, [_unmatched_row(context, row, payment.payer_id, content)]
        )
        await payments.refresh(tx, payment_id)
        tx.audit("payment.unassigned", ids=[payment_id, row.claim_number], detail=f"claim {number}")
        return row.claim_number

    return await context.database.write(payments.SCOPE, job, actor=actor)


async def find_candidates(
    context: WorkContext,
    payment_id: str,
    number: int,
    *,
    actor: Actor,
    scopes: Collection[Scope] | None = None,
) -> list[MatchCandidate]:
    """Return claims that an unmatched claim payment may mean, for a person to choose from. Audited."""

    async def job(tx: Tx) -> tuple[UnmatchedRow, list[CandidateClaim]]:
        row = await _require_unmatched(tx, payment_id, number)
        [found] = await _possible_claims(context, tx, [row], scopes)
        tx.audit("payment.candidates", ids=[payment_id], detail=f"claim {number}")
        return row, found

    row, sent = await context.database.write(payments.SCOPE, job, actor=actor)
    return list((await _decide(context, row, sent)).candidates)


async def list_unmatched(
    context: WorkContext,
    payment_id: str,
    *,
    after: int,
    actor: Actor,
    scopes: Collection[Scope] | None = None,
) -> UnmatchedPage:
    """Return unmatched claim payments of a payment after a number, each with its candidates. Audited.

    With ``scopes`` only those that a claim of these sites is a candidate for.
    """
    wanted = UNMATCHED_SHOWN if scopes is None else UNMATCHED_SEARCHED_MAX

    async def job(tx: Tx) -> list[tuple[UnmatchedRow, list[CandidateClaim]]]:
        rows = await claim_payments.list_unmatched_page(
            tx, payment_id, after=after, limit=wanted + 1
        )
        found = await _possible_claims(context, tx, rows[:wanted], scopes)
        claims = [one.claim_number for several in found for one in several]
        tx.audit("payment.candidates", ids=[payment_id, *dict.fromkeys(claims)], count=len(rows))
        return list(zip(rows, [*found, *([[]] if len(rows) > wanted else [])], strict=True))

    found = await context.database.write(payments.SCOPE, job, actor=actor)
    shown: list[UnmatchedClaimPayment] = []
    for row, sent in found[:wanted]:
        if scopes is not None and not sent:
            continue
        if len(shown) == UNMATCHED_SHOWN:
            return UnmatchedPage(shown, row.number - 1)
        claim_payment = await _decide(context, row, sent)
        if scopes is None or claim_payment.candidates:
            shown.append(claim_payment)
    return UnmatchedPage(shown, found[wanted - 1][0].number if len(found) > wanted else 0)


async def _possible_claims(
    context: WorkContext,
    tx: Tx,
    rows: Sequence[UnmatchedRow],
    scopes: Collection[Scope] | None,
) -> list[list[CandidateClaim]]:
    """Return for each claim payment the claims that were sent to its payer with its account number, whole or cut."""
    vault = context.vault
    await vault.load_keys_of(tx, [row.payload for row in rows])
    found: list[list[CandidateClaim]] = []
    for row in rows:
        account = open_unmatched(vault, row).claim_payment.account_number
        references = {
            account_reference(vault, row.payer_id, account),
            claim_lookup.cut_account_reference(vault, row.payer_id, account),
        }
        pairs = await claim_lookup.find_by_other_reference(tx, row.payer_id, references)
        pairs |= await claim_lookup.find_by_account(tx, row.payer_id, references)
        sent = await claim_lookup.find_sent(tx, row.payer_id, {id for _, id in pairs})
        sent |= await claim_lookup.find_by_cut_number(
            tx, row.payer_id, account, limit=CANDIDATES_COMPARED_MAX
        )
        found.append([one for one in sent.values() if _is_within(one, scopes)])
    return found


def _is_within(one: CandidateClaim | ClaimPaymentRow, scopes: Collection[Scope] | None) -> bool:
    return scopes is None or Scope(VendorId(one.vendor_id), SiteId(one.site_id)) in scopes


async def _decide(
    context: WorkContext, row: UnmatchedRow, sent: Sequence[CandidateClaim]
) -> UnmatchedClaimPayment:
    """Return a claim payment with those of these claims that a person may take it for."""
    claim_payment = replace(
        read_claim_payment(open_unmatched(context.vault, row).part, number=row.number),
        claim_number="",
        unmatched_reason=row.reason,
    )
    compared = [
        _compare(claim_payment, *await _load(context, one))
        for one in sent[:CANDIDATES_COMPARED_MAX]
    ]
    alike = [one for one in compared if {"same member", "same day"} <= {*one.agrees}]
    return UnmatchedClaimPayment(claim_payment, tuple(alike[:CANDIDATES_SHOWN_MAX]))


async def _load(
    context: WorkContext, one: CandidateClaim
) -> tuple[claims.StoredClaim, ClaimHeader]:
    scope = Scope(VendorId(one.vendor_id), SiteId(one.site_id))
    async with context.database.read(scope) as tx:
        row = await claims.find(tx, one.claim_number)
        if row is None:
            raise LookupError(f"claim {one.claim_number} is gone")
        await context.vault.load_keys_of(tx, [row.header])
    return row, open_header(context.vault, scope, row.claim_number, row.header)


def _compare(
    claim_payment: ClaimPayment, row: claims.StoredClaim, header: ClaimHeader
) -> MatchCandidate:
    """Return what agrees between a claim payment and a claim."""
    account = header.account_number if row.account_as_number else row.claim_number
    checks = {
        "member": _same_text(header.member_id, claim_payment.member_id),
        "day": claim_payment.service_from in {day for days in header.days for day in days},
        "charge": to_cents(header.charge) == claim_payment.charge,
    }
    agrees = [f"same {name}" for name, same in checks.items() if same]
    if account.startswith(claim_payment.account_number) and account != claim_payment.account_number:
        agrees.append(f"account number cut at {len(claim_payment.account_number)}")
    differs = tuple(f"other {name}" for name, same in checks.items() if not same)
    return MatchCandidate(
        row.claim_number,
        tuple(agrees),
        differs,
        ", ".join(filter(None, (header.last_name, header.first_name))),
        header.vendor_claim_id,
    )


def _same_text(one: str, other: str) -> bool:
    return bool(one) and one.strip().upper() == other.strip().upper()


def _as_claim_payment(source: DocumentSource) -> ClaimPaymentFact:
    if not isinstance(source.fact, ClaimPaymentFact):
        raise TypeError("the document of a claim payment states another fact")
    return source.fact


def _unmatched_row(
    context: WorkContext, row: ClaimPaymentRow, payer_id: str, content: ClaimPaymentContent
) -> UnmatchedRow:
    vault, account = context.vault, content.claim_payment.account_number
    return UnmatchedRow(
        payment_id=row.payment_id,
        number=row.number,
        payer_id=payer_id,
        reference=account_reference(vault, payer_id, account),
        reason="A person's assignment was undone.",
        paid_cents=row.paid_cents,
        payload=seal_unmatched(vault, row.payment_id, row.number, content),
    )


async def _require_unmatched(tx: Tx, payment_id: str, number: int) -> UnmatchedRow:
    row = await claim_payments.find_unmatched(tx, payment_id, number)
    if row is None:
        raise OperationRefused(NO_CLAIM_PAYMENT.format(payment_id=payment_id, number=number))
    return row
