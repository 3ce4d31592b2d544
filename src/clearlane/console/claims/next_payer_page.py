"""Bill the next payer: what the payer before paid, what is known of the next insurance, what is asked, and what goes out.

Answers are kept with the draft. Nothing is sent before the review was shown and its button pressed. After the payer before
changed its decision, the page says so, and records that what was sent is corrected or refunded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.responses import Response

from clearlane.claims.finding import path_in_claim
from clearlane.claims.write.next_payer import NextInsurance
from clearlane.console.claims.claim_actions import why_not_next
from clearlane.console.claims.claim_page import OpenedClaim, load_chain, load_draft, open_claim
from clearlane.console.claims.claim_parts.claim_money import money_table
from clearlane.console.claims.claims_page import payer_name
from clearlane.console.claims.correction_form import TEXT_CHARACTERS_MAX, CorrectionInput
from clearlane.console.frame.act_question import REVIEWED
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.kernel.finding import Severity
from clearlane.payments import wording
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.pipeline.secondary.bill_next_payer import (
    BillingResult,
    bill_next_payer,
    settle_correction,
)
from clearlane.pipeline.secondary.correct_next_claim import correct_next_claim
from clearlane.pipeline.secondary.next_claim import SecondaryDraft, load_next_claim
from clearlane.pipeline.secondary.payer_decision import CLAIM_PAYMENT
from clearlane.pipeline.secondary.send_by_itself import why_not_by_itself
from clearlane.store.payments.secondary_drafts import DraftState

pages = PageRows(roles=BILLERS, menu="/claims")
CORRECTS = frozenset({"correct", "send-correction"})
"""The buttons of a claim that was sent and whose payer before changed its decision."""
TITLES: Mapping[str, str] = {
    "payer_id": "Payer id, from the payer list",
    "member_id": "Member id of the insured",
    "relationship": "Patient's relationship to the insured (X12 code; 18: self)",
    "last_name": "Insured's last name",
    "first_name": "Insured's first name",
    "middle_name": "Insured's middle name",
    "suffix": "Insured's suffix",
    "group_number": "Group number",
    "plan_name": "Plan name",
    "payer_name": "Payer's name, if it differs from the payer list",
    "coverage": "Type of coverage (SBR09), such as MB",
    "medicare_reason": "Why Medicare pays after another payer (SBR05)",
}
"""The inputs of the next insurance, in the order in which a card has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPayerState:
    """What is known of the claim for the next payer, and what a check of the answers said."""

    opened: OpenedClaim
    found: SecondaryDraft = field(repr=False)
    result: BillingResult | None = None
    fault: str = ""

    @property
    def inputs(self) -> list[CorrectionInput]:
        """The fields of the next insurance, with what is asked of each."""
        asked = {one.field: one.sentence for one in self.found.questions}
        return [
            CorrectionInput(
                path=name,
                box="",
                label=title,
                line=0,
                sent=getattr(self.found.insurance, name),
                text=getattr(self.found.insurance, name),
                sentence=asked.get(name, ""),
            )
            for name, title in TITLES.items()
        ]

    @property
    def obstacles(self) -> list[str]:
        """What is in the way and no answer can change: the payer's decision."""
        return [one.sentence for one in self.found.questions if one.field == CLAIM_PAYMENT]

    @property
    def errors(self) -> list[str]:
        """What our checks found at no input."""
        findings = self.result.findings if self.result else ()
        return [
            one.message
            for one in findings
            if one.severity is Severity.ERROR
            and path_in_claim(one.location) not in {*TITLES, CLAIM_PAYMENT}
        ]

    def findings_at(self, path: str) -> list[str]:
        """Return the sentences of a check about one input."""
        findings = self.result.findings if self.result else ()
        return [one.message for one in findings if path_in_claim(one.location) == path]


@pages.page("/claims/{number}/next")
async def show_next_payer(request: PageRequest) -> Response:
    """Show what the payer before paid, and what is asked for the next one."""
    opened = await open_claim(request, action="console.next_payer")
    if refusal := await _why_not(request, opened):
        return request.message(409, "The next payer cannot be billed", refusal)
    return await _render(request, NextPayerState(opened=opened, found=await _load(request, opened)))


@pages.act("/claims/{number}/next", REVIEWED, kept={"do": "look"})
async def bill_next(request: PageRequest) -> Response:
    """Keep the answers, show what would be sent, send it, or record that what was sent is settled."""
    opened = await open_claim(request, action="console.next_payer")
    if refusal := await _why_not(request, opened):
        return request.message(409, "The next payer cannot be billed", refusal)
    do = request.form.get("do")
    try:
        if do == "settle":
            return await _settle(request, opened)
        if do in CORRECTS:
            result = await _correct(request, opened, sends=do == "send-correction")
        else:
            result = await _bill(request, opened, sends=do == "send")
    except CorrectionConflict as conflict:
        stopped = NextPayerState(
            opened=opened, found=await _load(request, opened), fault=str(conflict)
        )
        return await _render(request, stopped, status=409)
    if result.claim_number:
        await refresh_summary(request.context.work_context, opened.site)
        return request.redirect(f"/claims/{result.claim_number}", done="next-sent")
    state = NextPayerState(opened=opened, found=result.next_claim, result=result)
    if result.accepted:
        return await _render(request, state, is_review=True)
    return await _render(request, state)


async def _why_not(request: PageRequest, opened: OpenedClaim) -> str:
    return why_not_next(opened.row, opened.history, await load_draft(request, opened))


async def _load(request: PageRequest, opened: OpenedClaim) -> SecondaryDraft:
    now = request.context.clock.now()
    found = await load_next_claim(
        request.context.work_context, opened.site, opened.number, actor=request.actor, now=now
    )
    if found is None:
        raise NoSuchPage(f"No claim with this number in {opened.site.name}.")
    return found


async def _bill(request: PageRequest, opened: OpenedClaim, *, sends: bool) -> BillingResult:
    """Send what the form says, or check it. Its answers are kept."""
    now = request.context.clock.now()
    result = await bill_next_payer(
        request.context.work_context,
        opened.site,
        opened.number,
        _answers(request),
        actor=request.actor,
        now=now,
        dry_run=not sends,
        keeps=True,
        although_forwarded=request.form.get("although-forwarded") == "1",
        version=_version(request),
    )
    if result is None:
        raise NoSuchPage(f"No claim with this number in {opened.site.name}.")
    return result


async def _correct(request: PageRequest, opened: OpenedClaim, *, sends: bool) -> BillingResult:
    """Send what was sent again with the decision in force, or check it."""
    result = await correct_next_claim(
        request.context.work_context,
        opened.site,
        opened.number,
        actor=request.actor,
        now=request.context.clock.now(),
        dry_run=not sends,
        version=_version(request) if sends else None,
    )
    if result is None:
        raise NoSuchPage(f"No claim with this number in {opened.site.name}.")
    return result


def _answers(request: PageRequest) -> NextInsurance:
    """Return what the form says of the next insurance; what is empty stays as it is known."""
    given = request.form.inputs()
    texts = {name: given.get(name, "").strip() for name in TITLES}
    return NextInsurance(**{name: text[:TEXT_CHARACTERS_MAX] for name, text in texts.items()})


def _version(request: PageRequest) -> int:
    """Return the version of the draft that the person saw."""
    given = request.form.get("version")
    return int(given) if given.isdecimal() and len(given) < 10 else 0


async def _settle(request: PageRequest, opened: OpenedClaim) -> Response:
    now = request.context.clock.now()
    context = request.context.work_context
    await settle_correction(context, opened.site, opened.number, actor=request.actor, now=now)
    return request.redirect(f"/claims/{opened.number}", done="settled")


async def _render(
    request: PageRequest, state: NextPayerState, *, is_review: bool = False, status: int = 200
) -> Response:
    opened, found = state.opened, state.found
    row, paid = opened.row, found.paid
    inputs = state.inputs
    asked = [one for one in inputs if one.sentence or state.findings_at(one.path)]
    next_payer = found.insurance.payer_name or found.insurance.payer_id
    x12 = state.result.x12 if state.result else b""
    return request.render(
        "next_payer.html",
        f"Bill the next payer: {row.patient or opened.number}",
        status,
        claim=opened,
        row=row,
        tag=opened.tag,
        state=state,
        found=found,
        payer=payer_name(request, row.payer_id, row.kind),
        next_payer=next_payer or "the next payer",
        asked=asked,
        others=[one for one in inputs if one not in asked],
        inputs=inputs,
        is_review=is_review,
        is_sent=found.state is DraftState.TO_CORRECT,
        is_forwarded=found.state is DraftState.FORWARDED,
        lines=paid,
        table=money_table(paid) if paid else None,
        wording=wording,
        chain=await load_chain(request, opened),
        by_itself=why_not_by_itself(found) if opened.site.bills_next_payer else (),
        x12=x12.decode("latin-1").replace("~", "~\n"),
        claim_url=f"/claims/{opened.number}",
    )
