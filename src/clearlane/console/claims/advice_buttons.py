"""The buttons of the acts that claims ask for: their words, and where they lead.

What cannot be done now has no button. An act outside the console leads to a page that says how, with what to enclose.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from clearlane.claims.awaiting import Awaited
from clearlane.claims.responses.advice_act import CORRECTED, AdviceAct
from clearlane.claims.responses.provenance import Explanation
from clearlane.console.claims.claim_actions import why_not_correct, why_not_next, why_not_resend
from clearlane.console.claims.claim_advice import ClaimAdvice, row_act
from clearlane.console.frame.page_request import PageRequest
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.formats import lower_first
from clearlane.pipeline.intake.resend_claim import RESUBMIT_CLAIM
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.pipeline.query.history.claim_history import ClaimHistory

ACT_TITLES: Mapping[AdviceAct, str] = {
    AdviceAct.CORRECT: "Correct and resubmit",
    AdviceAct.NEW_CLAIM: "Send a new claim",
    AdviceAct.SEND_AGAIN: "Send again unchanged",
    AdviceAct.FIND_FIRST: "Find the first claim",
    AdviceAct.CHECK_PAYER_ORDER: "Check the order of payers",
    AdviceAct.OTHER_PAYER: "Bill the right payer",
    AdviceAct.NEXT_PAYER: "Bill the next payer",
    AdviceAct.BILL_PATIENT: "Bill the patient",
    AdviceAct.SEND_RECORDS: "Send the records",
    AdviceAct.ENROLL: "Enroll the provider",
    AdviceAct.APPEAL: "Appeal",
    AdviceAct.WRITE_OFF: "Write it off",
    AdviceAct.ASK_PAYER: "Ask the payer",
    AdviceAct.ASK_PATIENT: "Ask the patient",
    AdviceAct.ASK_OPERATOR: "Ask the operator",
}
"""The words of each act; none for waiting and for nothing to do."""
OUTSIDE: Mapping[AdviceAct, tuple[str, ...]] = {
    AdviceAct.CHECK_PAYER_ORDER: (
        "Ask the patient which insurances they have, and which one pays first.",
        "Check the coverage of each under Eligibility.",
        "If another payer comes first, send the claim to it from your practice software, then to this payer with its decision.",
    ),
    AdviceAct.OTHER_PAYER: (
        "Find the payer that is responsible, from the patient's card or under Eligibility.",
        "Send the claim to it from your practice software, as a new claim.",
    ),
    AdviceAct.NEXT_PAYER: (
        "Send the claim to the next payer from your practice software, with what this payer decided.",
    ),
    AdviceAct.BILL_PATIENT: (
        "Bill the patient from your practice software for what the payer says they owe, less what they have paid.",
    ),
    AdviceAct.SEND_RECORDS: (
        "Send the payer what it asks for, by its portal, fax or mail, with its claim number.",
        "Send no new claim for it: the payer has this one, and would deny another as a duplicate.",
    ),
    AdviceAct.ENROLL: (
        "Send the enrollment of the provider from your practice software, or look under Enrollments how far it is.",
        "After the payer approved, send the claim again.",
    ),
    AdviceAct.APPEAL: (
        "Appeal to the payer by its portal, fax or mail, with its claim number, within the time that it names.",
    ),
    AdviceAct.WRITE_OFF: ("Write the amount off in your practice software.",),
    AdviceAct.ASK_PAYER: (
        "Call the payer or ask in its portal, with its claim number, or ours if it has none.",
    ),
    AdviceAct.ASK_PATIENT: ("Ask the patient, and note what they say.",),
    AdviceAct.ASK_OPERATOR: (
        "Tell the operator of the clearinghouse the number of this claim: the fault is not yours.",
    ),
}
"""What is done outside the console, step by step."""


@dataclass(frozen=True, slots=True)
class AdviceButton:
    """The main button of a claim's page."""

    title: str
    href: str


def advice_button(
    request: PageRequest, advice: ClaimAdvice, row: ClaimRow, history: ClaimHistory
) -> AdviceButton | None:
    """Return the button of the act that a claim asks for; None if it cannot be done now, or if nothing is to be done."""
    path = f"/claims/{row.number}"
    title = ACT_TITLES.get(advice.act, "")
    if advice.act in CORRECTED:
        href = "" if why_not_correct(row, history) else request.url(f"{path}/correct")
    elif advice.act is AdviceAct.SEND_AGAIN:
        refusal = why_not_resend(request, RESUBMIT_CLAIM, row, history)
        href = "" if refusal else request.url(f"{path}/again")
    elif advice.act is AdviceAct.FIND_FIRST:
        # A payer's duplicate may have any id; an id that another claim has finds that claim.
        known = "" if row.label is ClaimLabel.NOT_ACCEPTED else row.member_id
        href = request.url("/search", q=known or row.vendor_claim_id)
    elif advice.act is AdviceAct.NEXT_PAYER and not why_not_next(row, history, None):
        href = request.url(f"{path}/next")
    else:
        href = request.url(f"{path}/outside") if advice.act in OUTSIDE else ""
    return AdviceButton(title, href) if title and href and request.may_work else None


def act_words(row: ClaimRow) -> str:
    """Return the act that a listed claim asks for, in words; empty for waiting and for nothing to do."""
    if row.awaiting and row.awaiting.what is Awaited.SECONDARY:
        return ACT_TITLES[AdviceAct.NEXT_PAYER]
    return ACT_TITLES.get(row_act(row), "")


def explanation_button(
    request: PageRequest,
    one: Explanation,
    advice: ClaimAdvice,
    row: ClaimRow,
    history: ClaimHistory,
) -> AdviceButton | None:
    """Return the button beside one thing that the payer said: the box to correct, or an act other than the main one."""
    if one.act not in CORRECTED and (one.act is advice.act or one.act in OUTSIDE):
        return None
    button = advice_button(request, ClaimAdvice(act=one.act), row, history)
    if button is None or one.act not in CORRECTED or not one.fields:
        return button
    field = one.fields[0]
    name = f"box {field.box}" if field.box else lower_first(field.label)
    return replace(button, title=f"Correct {name}")
