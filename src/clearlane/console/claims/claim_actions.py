"""The actions on a claim, and the reason for each that is not possible.

Knows states of claims; does nothing itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from clearlane.claims.forms import form_of
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.responses.advice_act import CORRECTED
from clearlane.claims.resubmission import VOID
from clearlane.console.claims.claim_advice import claim_advice
from clearlane.console.frame import page_text
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_text import short_day
from clearlane.kernel.claim_label import CONCERNS, ClaimLabel, LabelConcern
from clearlane.kernel.clock import from_micros
from clearlane.payers.routes import STATUS_INQUIRY
from clearlane.pipeline.intake.hold_claims import IS_SHADOW
from clearlane.pipeline.intake.resend_claim import RESUBMIT_CLAIM, VOID_CLAIM, ResendVerb
from clearlane.pipeline.intake.resend_rules import (
    NEVER_SENT,
    was_sent,
    why_not_sent_again,
    why_overtaken,
    why_replaced,
)
from clearlane.pipeline.intake.send_anyway import why_not_overruled
from clearlane.pipeline.intake.submit_correction import IS_A_VOID
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.pipeline.query.history.claim_history import ClaimHistory
from clearlane.pipeline.route_connections import takes_inquiries
from clearlane.store.claims.claims import SHADOWS
from clearlane.store.payments.secondary_drafts import DraftRow, DraftState

CORRECTABLE = frozenset(
    {
        ClaimLabel.NOT_ACCEPTED,
        ClaimLabel.REJECTED,
        ClaimLabel.DENIED,
        ClaimLabel.PARTLY_DENIED,
        ClaimLabel.TAKEN_BACK,
        # Not sent yet: the correction is sent in its place.
        ClaimLabel.RECEIVED,
        ClaimLabel.HELD,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAction:
    """An entry of the claim's menu: a link, a form, or a reason why it is not possible."""

    title: str
    key: str = ""
    """What the page finds it by."""
    href: str = ""
    action: str = ""
    """The path of a form that does it."""
    because: str = ""
    """Why it is not possible; empty if it is."""

    @property
    def takes_away(self) -> bool:
        """Whether it takes something away, so that it is red."""
        return page_text.takes_away(self.title)


def claim_actions(
    request: PageRequest,
    number: str,
    row: ClaimRow,
    history: ClaimHistory,
    draft: DraftRow | None,
) -> list[ClaimAction]:
    """Return the entries of a claim's menu."""
    sent = [one for one in history.sendings if one.delivered_at is not None]
    sent_day = short_day(from_micros(sent[-1].delivered_at or 0).date()) if sent else ""
    case = ActionCase(request, row, history, draft, sent_day)
    path = f"/claims/{number}"
    return [
        ClaimAction(
            title=one.title,
            key=one.key,
            href="" if one.is_form else request.url(f"{path}/{one.to}"),
            action=f"{path}/{one.to}" if one.is_form else "",
            because=one.why_not(case),
        )
        for one in MENU
        if one.label in {None, row.label}
    ]


class ActionCase(NamedTuple):
    """What decides which actions on a claim are possible."""

    request: PageRequest
    row: ClaimRow
    history: ClaimHistory
    draft: DraftRow | None
    sent_day: str
    """The day on which it was delivered last, in words; empty if it never was."""


class ActionRow(NamedTuple):
    """A row of the claim's menu."""

    title: str
    to: str
    """The last part of its address."""
    why_not: Callable[[ActionCase], str]
    """Returns why it is not possible; empty if it is."""
    key: str = ""
    is_form: bool = False
    """Whether it is done at once, and is not a page."""
    label: ClaimLabel | None = None
    """The label of the only claims that have it; None for all."""


MENU = (
    ActionRow(
        "Explanation of benefits as PDF",
        "pdf",
        lambda case: "" if case.history.payments else "No payment has decided on it yet.",
    ),
    ActionRow(
        "Ask the payer",
        "ask",
        lambda case: why_not_ask(case.request, case.row, case.history),
        is_form=True,
    ),
    ActionRow("Print on the form or on plain paper", "print", lambda _: ""),
    ActionRow(
        "Proof of filing as PDF",
        "proof",
        lambda case: "" if case.sent_day else "It was not sent yet: there is nothing to prove.",
    ),
    ActionRow(
        "Bill the next payer",
        "next",
        lambda case: why_not_next(case.row, case.history, case.draft),
        key="next",
    ),
    ActionRow(
        "Correct and resubmit",
        "correct",
        lambda case: why_not_correct(case.row, case.history),
        key="correct",
    ),
    ActionRow(
        "Hold",
        "hold",
        lambda case: why_replaced(case.history) or _why_not_hold(case.row, case.sent_day),
        is_form=True,
    ),
    ActionRow(
        "Release",
        "release",
        lambda case: why_replaced(case.history) or _why_not_release(case.row),
        is_form=True,
    ),
    ActionRow(
        "Cancel before sending",
        "cancel",
        lambda case: why_replaced(case.history) or _why_not_cancel(case.row, case.sent_day),
        is_form=True,
    ),
    ActionRow(
        "Cancel at the payer",
        "void",
        lambda case: why_not_resend(case.request, VOID_CLAIM, case.row, case.history),
    ),
    ActionRow(
        "Send again unchanged",
        "again",
        lambda case: why_not_resend(case.request, RESUBMIT_CLAIM, case.row, case.history),
        key="again",
    ),
    ActionRow(
        "Send anyway",
        "anyway",
        lambda case: why_not_anyway(case.row, case.history),
        label=ClaimLabel.NOT_ACCEPTED,
    ),
)
"""The claim's menu, in its order."""


NOT_YET: Mapping[ClaimLabel, str] = {
    ClaimLabel.FORWARDED: "The payer passed it on: the next payer decides.",
    ClaimLabel.WANTS_RECORDS: "The payer wants records, not another claim. It can be corrected after the answer.",
}
"""Why claims whose label is neither a refusal nor a payment are not corrected."""


def why_not_correct(row: ClaimRow, history: ClaimHistory) -> str:
    """Return why a claim cannot be corrected; empty if it can."""
    if refusal := _why_not_here(row, history):
        return refusal
    claim = history.loaded.claim
    if form_of(claim).frequency(claim) == VOID and row.label is not ClaimLabel.REJECTED:
        return IS_A_VOID
    # Of a paid claim, too, the payer may have left out a part that a correction answers.
    if row.label in CORRECTABLE or claim_advice(row, history).act in CORRECTED:
        return why_not_sent_again(row, history)
    if row.label in NOT_YET:
        return NOT_YET[row.label]
    if CONCERNS[row.label] is LabelConcern.WAIT:
        return "The payer has not answered yet. It can be corrected after the answer."
    return "Nothing in it was refused or denied."


def why_not_next(row: ClaimRow, history: ClaimHistory, draft: DraftRow | None) -> str:
    """Return why the payer after this one cannot be billed; empty if it can, or was and is to be corrected."""
    if refusal := _why_not_here(row, history):
        return refusal
    if draft is not None and draft.state == DraftState.SENT:
        return f"The next payer was billed: claim {draft.secondary_claim}."
    return "" if history.payments else "No payer has decided on it yet."


def why_not_ask(request: PageRequest, row: ClaimRow, history: ClaimHistory) -> str:
    """Return why the payer cannot be asked about a claim (276); empty if it can."""
    if history.loaded.row.state in SHADOWS:
        return IS_SHADOW
    if not was_sent(history):
        return "It was not sent yet: the payer does not know it."
    connections = request.context.work_context.payer_access.connections()
    type = KINDS[ClaimKind(row.kind)].payer_type
    if not takes_inquiries(connections, type, row.payer_id, STATUS_INQUIRY):
        return "This payer takes no questions about claims (276)."
    return ""


def why_not_resend(
    request: PageRequest, verb: ResendVerb, row: ClaimRow, history: ClaimHistory
) -> str:
    """Return why a claim cannot be canceled at the payer or sent again from here; empty if it can."""
    payers = request.context.work_context.payer_access.payers()
    return _why_not_here(row, history) or verb.why_not(payers, row, history)


def why_not_anyway(row: ClaimRow, history: ClaimHistory) -> str:
    """Return why a claim cannot be sent in spite of the rules that stopped it; empty if it can."""
    if row.label is not ClaimLabel.NOT_ACCEPTED:
        return "No rule stopped it."
    return _why_not_here(row, history) or why_not_overruled(history.loaded.findings)


def _why_not_here(row: ClaimRow, history: ClaimHistory) -> str:
    """Return why nothing can be sent in the claim's place from here; empty if it can."""
    if overtaken := why_overtaken(history):
        return overtaken
    if not row.site.console_corrections:
        return "Claims of this site are corrected in your practice software, not here."
    return ""


def _why_not_hold(row: ClaimRow, sent_day: str) -> str:
    if sent_day:
        return f"Sent {sent_day}: it cannot be kept back any more."
    return (
        ""
        if row.label is ClaimLabel.RECEIVED
        else "Only a claim that waits to be sent can be held."
    )


def _why_not_release(row: ClaimRow) -> str:
    return "" if row.label is ClaimLabel.HELD else "It is not held."


def _why_not_cancel(row: ClaimRow, sent_day: str) -> str:
    if sent_day:
        return f"Sent {sent_day}; cancel it at the payer instead."
    if row.label is ClaimLabel.NOT_ACCEPTED:
        return NEVER_SENT
    waits = row.label in {ClaimLabel.RECEIVED, ClaimLabel.HELD}
    return "" if waits else "It is canceled already."
