"""Operate on unmatched occurrences of payments: assign one to a claim, undo that, and list candidates. Audited.

For operators. A person decides what no number proves: an account number that the payer cut, with the same member and
day, is a candidate and never applied by itself. Knows payments and claims.
"""

from dataclasses import dataclass
from datetime import date

from clearlane.claims.forms import form_of
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.payments.model import ClaimPayment
from clearlane.payments.payment import ClaimOccurrence, MatchedBy
from clearlane.payments.read_payment import cents, read_occurrence
from clearlane.pipeline import claim_status
from clearlane.pipeline.claim_payment_content import (
    ClaimPaymentContent,
    open_unmatched,
    seal_unmatched,
)
from clearlane.pipeline.claim_status import PaymentPlace
from clearlane.pipeline.inbound.match_payments import finish_matching
from clearlane.pipeline.inbound.post_payments import claim_fact
from clearlane.pipeline.load_claim import LoadedClaim, open_claim
from clearlane.pipeline.payment_events import matched_events
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import claim_lookup, claims, occurrences
from clearlane.store import payments as store
from clearlane.store.claim_lookup import CandidateClaim, account_reference
from clearlane.store.database import Actor, OperationRefused, Tx
from clearlane.store.occurrences import OccurrenceRow, UnmatchedRow

CANDIDATES_SHOWN_MAX = 3
NO_OCCURRENCE = (
    "Payment {payment_id} has no unmatched claim {number}. `clearlane payment show` lists them."
)
NOT_SENT = "Claim {request_id} was not sent to payer {payer_id}, so no payment of it can be about that claim."
UNREADABLE = "Amounts or codes of this claim payment cannot be read, so it cannot be assigned."
NOT_ASSIGNED = (
    "Claim {number} of payment {payment_id} was not assigned by a person; there is nothing to undo."
)


@dataclass(frozen=True, slots=True)
class MatchCandidate:
    """A claim that an unmatched occurrence may mean, and what agrees."""

    request_id: str
    agrees: tuple[str, ...]
    """In words, such as ``same member``."""
    differs: tuple[str, ...]


async def assign(
    context: WorkContext, payment_id: str, number: int, request_id: str, *, actor: Actor
) -> None:
    """Assign an unmatched occurrence to a claim; what it says is then recorded on the claim."""
    vault, now = context.vault, context.clock.now()
    async with context.database.read(store.SCOPE) as tx:
        row = await _require_unmatched(tx, payment_id, number)
        claim = (await claim_lookup.find_sent(tx, row.payer_id, [request_id])).get(request_id)
        payment = await store.find(tx, payment_id)
        await vault.load_keys_of(tx, [row.payload])
    if claim is None or payment is None:
        raise OperationRefused(NOT_SENT.format(request_id=request_id, payer_id=row.payer_id))
    content = open_unmatched(vault, row)
    if content.claim_payment.unreadable:
        raise OperationRefused(UNREADABLE)
    place = PaymentPlace(payment_id, number, MatchedBy.PERSON)
    fact = claim_fact(content, claim, place, payment.inbox_id)
    await claim_status.ensure_keys(vault, [fact])

    async def job(tx: Tx) -> None:
        await _require_unmatched(tx, payment_id, number)
        await claim_status.record_facts(tx, vault, [fact], now)
        await occurrences.remove_unmatched(tx, [(payment_id, number)])
        await finish_matching(tx, payment_id, to_micros(now))
        tx.add_events(matched_events([fact], to_micros(now)))
        tx.audit("payment.assigned", ids=[payment_id, request_id], detail=f"claim {number}")

    await context.database.write(store.SCOPE, job, actor=actor)


async def undo_assignment(
    context: WorkContext, payment_id: str, number: int, *, actor: Actor
) -> str:
    """Undo what a person assigned; return the claim, which stands again as it did before."""
    vault, now = context.vault, context.clock.now()
    await vault.ensure_key(store.OWNER)

    async def job(tx: Tx) -> str:
        row = await occurrences.find(tx, payment_id, number)
        payment = await store.find(tx, payment_id)
        if row is None or payment is None or row.matched_by != MatchedBy.PERSON:
            raise OperationRefused(NOT_ASSIGNED.format(payment_id=payment_id, number=number))
        await occurrences.remove(tx, payment_id, number)
        source = await claim_status.withdraw_fact(tx, vault, row.request_id, row.identity, now)
        content = ClaimPaymentContent(_as_claim_payment(source), source.part)
        await occurrences.add_unmatched(
            tx, [_unmatched_row(context, row, payment.payer_id, content)]
        )
        await store.refresh(tx, payment_id)
        tx.audit("payment.unassigned", ids=[payment_id, row.request_id], detail=f"claim {number}")
        return row.request_id

    return await context.database.write(store.SCOPE, job, actor=actor)


async def find_candidates(
    context: WorkContext, payment_id: str, number: int, *, actor: Actor
) -> list[MatchCandidate]:
    """Return claims that an unmatched occurrence may mean, for a person to choose from. Audited."""
    vault = context.vault

    async def job(tx: Tx) -> tuple[UnmatchedRow, list[CandidateClaim]]:
        row = await _require_unmatched(tx, payment_id, number)
        await vault.load_keys_of(tx, [row.payload])
        account = open_unmatched(vault, row).claim_payment.account_number
        references = {
            account_reference(vault, row.payer_id, account),
            claim_lookup.cut_account_reference(vault, row.payer_id, account),
        }
        found = await claim_lookup.find_by_other_reference(tx, row.payer_id, references)
        found |= await claim_lookup.find_by_account(tx, row.payer_id, references)
        sent = await claim_lookup.find_sent(tx, row.payer_id, {id for _, id in found})
        tx.audit("payment.candidates", ids=[payment_id], detail=f"claim {number}")
        return row, list(sent.values())

    row, sent = await context.database.write(store.SCOPE, job, actor=actor)
    occurrence = read_occurrence(open_unmatched(vault, row).part, number=number)
    candidates = [
        _compare(occurrence, await _load(context, one)) for one in sent[: CANDIDATES_SHOWN_MAX * 10]
    ]
    candidates = [one for one in candidates if {"same member", "same day"} <= {*one.agrees}]
    return candidates[:CANDIDATES_SHOWN_MAX]


async def _load(context: WorkContext, one: CandidateClaim) -> LoadedClaim:
    scope = Scope(VendorId(one.vendor_id), SiteId(one.site_id))
    async with context.database.read(scope) as tx:
        row = await claims.find(tx, one.request_id)
        if row is None:
            raise LookupError(f"claim {one.request_id} is gone")
        await context.vault.load_keys_of(tx, [row.payload])
    return open_claim(context.vault, scope, row)


def _compare(occurrence: ClaimOccurrence, loaded: LoadedClaim) -> MatchCandidate:
    """Return what agrees between an occurrence and a claim."""
    claim = loaded.claim
    form = form_of(claim)
    member = str(claim.__dict__.get(form.names.member_id) or "")
    account = str(claim.__dict__.get(form.names.account) or "")
    days = {day for line in form.lines(claim) for day in form.service_days(line) if day}
    checks = {
        "member": _same_text(member, occurrence.member_id),
        "day": _same_day(days, occurrence.service_from),
        "charge": cents(form.charge(claim)) == occurrence.charge,
    }
    agrees = [f"same {name}" for name, same in checks.items() if same]
    if account.startswith(occurrence.account_number) and account != occurrence.account_number:
        agrees.append(f"account number cut at {len(occurrence.account_number)}")
    differs = tuple(f"other {name}" for name, same in checks.items() if not same)
    return MatchCandidate(loaded.row.request_id, tuple(agrees), differs)


def _same_text(one: str, other: str) -> bool:
    return bool(one) and one.strip().upper() == other.strip().upper()


def _same_day(days: set[date], day: date | None) -> bool:
    return day is not None and day in days


def _as_claim_payment(source: claim_status.DocumentSource) -> ClaimPayment:
    if not isinstance(source.fact, ClaimPayment):
        raise TypeError("an occurrence states a claim payment")
    return source.fact


def _unmatched_row(
    context: WorkContext, row: OccurrenceRow, payer_id: str, content: ClaimPaymentContent
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
    row = await occurrences.find_unmatched(tx, payment_id, number)
    if row is None:
        raise OperationRefused(NO_OCCURRENCE.format(payment_id=payment_id, number=number))
    return row
