"""One payment: its equation, its adjustments in words, its claims in groups, and what is still to match."""

from dataclasses import dataclass
from urllib.parse import quote

from msgspec.structs import replace
from starlette.responses import Response

from clearlane.console.frame import page_text
from clearlane.console.frame.act_question import UNDONE_BESIDE
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.path_number import path_number, read_number
from clearlane.console.menu_counts import count_again
from clearlane.console.payments.payment_words import (
    deposit_words,
    method_noun,
    payment_label,
    payment_title,
)
from clearlane.console.payments.payments_page import payer_name
from clearlane.kernel.claim_label import CONCERNS
from clearlane.kernel.clock import to_micros
from clearlane.payments import wording
from clearlane.payments.claim_payment_groups import (
    GROUP_TITLES,
    ClaimPaymentGroup,
    CorrectedClaim,
    pair_corrections,
)
from clearlane.payments.claim_payment_label import PATIENT_REASONS
from clearlane.payments.deposit import Deposit, DepositNote, DepositState
from clearlane.payments.payment import ClaimPayment, ClaimPaymentType, MatchedBy, Payment
from clearlane.pipeline.operator import payment_admin, payment_deposit
from clearlane.pipeline.operator.payment_admin import MatchCandidate, UnmatchedPage
from clearlane.pipeline.query.payment_list import PaymentViewer
from clearlane.pipeline.query.payment_pages import (
    GroupPage,
    PaymentSheet,
    ShownGroup,
    load_payment_sheet,
)
from clearlane.store.database.database import OperationRefused
from clearlane.store.payments.claim_payment_groups import GroupTotal

pages = PageRows(roles=EVERYBODY)
NOTICES = {
    "assigned": "The payment is booked on the claim. You can undo this beside the claim below.",
    "undone": "The match is undone; the claim is as it was before.",
    "deposited": "The deposit is recorded. You can undo this below.",
    "settled": "The payment is settled and needs no attention. You can undo this below.",
    "reopened": "That is undone.",
}

PARTS_OF_THEIR_OWN = PATIENT_REASONS | {("CO", "45")}
"""Reasons that are shown in few words: deductible, coinsurance, copayment, write-off by contract."""

NOT_MATCHED_HERE = "not matched to a claim of yours"
"""The sentence about a payment that the panels below it replace."""


@dataclass(frozen=True, slots=True)
class ClaimPaymentTexts:
    """One claim payment as a row of a table."""

    one: ClaimPayment
    label: tuple[str, str]
    patient: str
    adjusted: int
    reasons: tuple[tuple[str, str], ...]
    """Each in words, and its end with the amount, which stays on one line."""
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    by_person: bool


@dataclass(frozen=True, slots=True)
class GroupTexts:
    """One group of claim payments: its title, its rows claim by claim, and its totals."""

    name: str
    title: str
    total: GroupTotal
    claims: list[tuple[list[ClaimPaymentTexts], int | None]]
    """The claim payments of one claim, and their net if there are several."""
    allowed: int | None
    """The allowed amount of the whole group; None if not all of it is shown."""
    adjusted: int | None
    more: str
    """The address of the rest; empty if all are shown."""


@pages.page("/payments/{id}", menu="/payments", notices=NOTICES)
async def show_payment(request: PageRequest) -> Response:
    """Show one payment, or the part of it that the user may see."""
    sheet = await _load(request)
    payment = sheet.payment
    unmatched = await _unmatched(request, sheet)
    shown = _as_seen(sheet)
    notes = await _deposit_notes(request, sheet)
    return request.render(
        "payment.html",
        payment_title(payment, payer_name(request, payment)),
        payment=payment,
        payer=payer_name(request, payment),
        label=payment_label(payment),
        noun=method_noun(payment),
        terms=wording.equation(shown, sheet.adjustments),
        amount=wording.amount_words(shown),
        sheet=sheet,
        notices=[one for one in wording.notices(payment) if NOT_MATCHED_HERE not in one],
        groups=[_group(request, payment, *one) for one in _ordered(sheet)],
        unmatched=unmatched,
        more_unmatched=request.url(f"/payments/{payment.payment_id}", m=unmatched.more_after)
        if unmatched.more_after
        else "",
        adjustments=[(one, wording.reason_words(one)) for one in sheet.adjustments],
        patient_name=wording.patient_name,
        candidate_words=candidate_words,
        may_match=request.may_work,
        deposit=payment.deposit,
        deposit_words=deposit_words(payment.deposit),
        deposit_notes=notes,
        needs_settling=not payment.balanced
        or payment.unmatched
        or payment.deposit.state is DepositState.DIFFERS,
        today=request.today,
    )


@pages.act("/payments/{id}/{number}/assign", UNDONE_BESIDE)
async def assign(request: PageRequest) -> Response:
    """Record that a claim payment of the payment is about a claim: "It is this one"."""
    await _load(request)
    id = request.parts["id"]
    claim = request.form.get("claim").strip()
    try:
        await payment_admin.assign(
            request.context.work_context,
            id,
            _number(request),
            claim,
            actor=request.actor,
            scopes=sheet_viewer(request).scopes,
        )
    except OperationRefused as why:
        return request.message(409, "Not assigned", str(why))
    await count_again(request)
    return request.redirect(f"/payments/{quote(id)}", done="assigned")


@pages.act("/payments/{id}/{number}/undo", UNDONE_BESIDE)
async def undo(request: PageRequest) -> Response:
    """Take back what a person assigned."""
    await _load(request)
    id = request.parts["id"]
    try:
        await payment_admin.undo_assignment(
            request.context.work_context,
            id,
            _number(request),
            actor=request.actor,
            scopes=sheet_viewer(request).scopes,
        )
    except OperationRefused as why:
        return request.message(409, "Not undone", str(why))
    await count_again(request)
    return request.redirect(f"/payments/{quote(id)}", done="undone")


def sheet_viewer(request: PageRequest) -> PaymentViewer:
    """Return whose part of one payment is shown: an operator sees it whole, whatever site is chosen."""
    if request.is_operator:
        return PaymentViewer(None)
    return PaymentViewer(tuple(site.scope for site in request.sites if site.baa_accepted))


def candidate_words(candidate: MatchCandidate) -> str:
    """Return what agrees and what differs: ``same member, day and charge; account number cut at 17``."""
    same = [one.removeprefix("same ") for one in candidate.agrees if one.startswith("same ")]
    *first, last = same or [""]
    agrees = f"same {', '.join(first)} and {last}" if first else f"same {last}" if last else ""
    others = [one for one in candidate.agrees if not one.startswith("same ")]
    return "; ".join(filter(None, (agrees, *others, *candidate.differs)))


async def _load(request: PageRequest) -> PaymentSheet:
    group = request.query("group")
    wanted = GroupPage()
    if group in set(ClaimPaymentGroup):
        wanted = GroupPage(ClaimPaymentGroup(group), request.query("after"))
    sheet = await load_payment_sheet(
        request.context.database,
        request.context.vault,
        sheet_viewer(request),
        request.parts["id"],
        wanted,
        actor=request.actor,
        at=to_micros(request.context.clock.now()),
    )
    if sheet is None:
        raise NoSuchPage("There is no such payment among yours.")
    return sheet


async def _deposit_notes(request: PageRequest, sheet: PaymentSheet) -> list[DepositNote]:
    if sheet.payment.deposit == Deposit(expected=sheet.payment.deposit.expected):
        return []
    scopes = sheet_viewer(request).scopes
    id = sheet.payment.payment_id
    return await payment_deposit.load_deposit_notes(request.context.work_context, id, scopes)


async def _unmatched(request: PageRequest, sheet: PaymentSheet) -> UnmatchedPage:
    payment = sheet.payment
    if not payment.unmatched:
        return UnmatchedPage([])
    return await payment_admin.list_unmatched(
        request.context.work_context,
        payment.duplicate_of or payment.payment_id,
        after=read_number(request.query("m")) or 0,
        actor=request.actor,
        scopes=sheet_viewer(request).scopes,
    )


def _number(request: PageRequest) -> int:
    return path_number(request, "number", "claim in the payment")


def _as_seen(sheet: PaymentSheet) -> Payment:
    """Return the payment with the figures of the viewer's part, so that its equation adds up."""
    payment = sheet.payment
    if sheet.is_whole:
        return payment
    adjusted = sum(one.amount for one in sheet.adjustments)
    return replace(
        payment,
        claims=sheet.shown_claims,
        claims_paid=payment.your_amount - adjusted,
        adjustments_total=adjusted,
        amount=payment.your_amount,
        difference=0,
    )


def _ordered(sheet: PaymentSheet) -> list[tuple[ClaimPaymentGroup, ShownGroup]]:
    return [(group, sheet.groups[group]) for group in GROUP_TITLES if group in sheet.groups]


def _group(
    request: PageRequest, payment: Payment, group: ClaimPaymentGroup, shown: ShownGroup
) -> GroupTexts:
    if group is ClaimPaymentGroup.CORRECTED:
        pairs = pair_corrections(shown.claim_payments)
    else:
        pairs = [CorrectedClaim((one,)) for one in shown.claim_payments]
    rows = [
        ([_claim_payment(one, pair) for one in pair.claim_payments], _net(pair)) for pair in pairs
    ]
    claim_payments = [one for several, _ in rows for one in several]
    is_all = len(claim_payments) == shown.total.claims
    more = request.url(f"/payments/{payment.payment_id}", group=group, after=shown.more_after)
    return GroupTexts(
        name=group.value,
        title=GROUP_TITLES[group],
        total=shown.total,
        claims=rows,
        allowed=sum(one.one.allowed for one in claim_payments) if is_all else None,
        adjusted=sum(one.adjusted for one in claim_payments) if is_all else None,
        more=f"{more}#{group}" if shown.more_after else "",
    )


def _net(pair: CorrectedClaim) -> int | None:
    return pair.net if len(pair.claim_payments) > 1 else None


def _claim_payment(one: ClaimPayment, pair: CorrectedClaim) -> ClaimPaymentTexts:
    kind = CONCERNS[one.label].value
    if one.type is ClaimPaymentType.REVERSAL and len(pair.claim_payments) > 1:
        kind = "done"  # the new claim payment beside it says what to do
    return ClaimPaymentTexts(
        one=one,
        label=(kind, wording.claim_payment_words(one)),
        patient=wording.patient_name(one),
        adjusted=wording.claim_payment_other_part(one),
        reasons=_reasons(one),
        warnings=wording.claim_payment_warnings(one),
        notes=wording.claim_payment_notes(one),
        by_person=one.matched_by is MatchedBy.PERSON,
    )


def _reasons(one: ClaimPayment) -> tuple[tuple[str, str], ...]:
    """Return why not all was paid: denials in full, what the patient owes by its parts, write-offs last."""
    every = (*one.adjustments, *(a for line in one.lines for a in line.adjustments))
    sums: dict[tuple[bool, str], int] = {}
    for each in every:
        if (each.group, each.reason) in PARTS_OF_THEIR_OWN and not each.denial:
            continue
        key = (not each.denial, wording.adjustment_words(each))
        sums[key] = sums.get(key, 0) + each.amount
    named = [(words, amount) for (_, words), amount in sorted(sums.items())]
    parts = [(term.label, term.amount) for term in wording.patient_parts(one)]
    parts = [(label, amount) for label, amount in parts if "PR-" in label]
    written_off = [("Write-off by contract (CO-45)", one.contractual)]
    found = []
    for words, amount in (*named, *parts, *written_off):
        start, space, end = words.rpartition(" ")
        if amount:
            found.append((start + space, f"{end}: {page_text.money(amount)}"))
    return tuple(found)
