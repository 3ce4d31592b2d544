"""Whether a claim can be canceled at its payer, or sent again unchanged: the reasons against it, in sentences.

For every face: console, API and command line. Pure: is given what is stored of the claim; reads and sends nothing.
"""

from clearlane.claims.forms import form_of
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.responses.advice_act import NOT_SENT_AGAIN, AdviceAct
from clearlane.claims.responses.explain_findings import explain_findings
from clearlane.claims.responses.provenance import Explanation
from clearlane.claims.resubmission import ORIGINAL_ONLY, VOID
from clearlane.kernel.claim_label import STOPPED_LABELS, ClaimLabel
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.intake.hold_claims import IS_SHADOW
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.pipeline.query.claim_reason import is_denied
from clearlane.pipeline.query.history.claim_history import ClaimHistory
from clearlane.store.claims.claims import SHADOWS, WITH_ERRORS

NEVER_SENT = "It was not accepted, so it was never sent: there is nothing to cancel."
UNSENT = "It was not sent yet: cancel it before it is sent instead."
NEVER_DENIED = frozenset(
    {
        ClaimLabel.FORWARDED,
        ClaimLabel.NOTHING_DUE,
        ClaimLabel.PREDETERMINED,
        ClaimLabel.VOIDED,
        ClaimLabel.REPLACED,
    }
)
"""Labels of claims on which no adjustment is a denial: passed on, voided as asked, or only estimated."""
IDLE = frozenset({AdviceAct.WAIT, AdviceAct.NOTHING, AdviceAct.WRITE_OFF})
"""Acts that are left out if another explanation of the same claim asks for more."""


def explanations(history: ClaimHistory) -> list[Explanation]:
    """Return what the payer said last (complaints or adjustments), or what we did not accept."""
    loaded = history.loaded
    if loaded.row.state in WITH_ERRORS:
        return explain_findings(loaded.claim, loaded.findings)
    for entry in reversed(history.entries):
        if entry.explanations:
            return [*entry.explanations]
    return []


def is_fixable(one: Explanation, label: ClaimLabel) -> bool:
    """Return whether an explanation is what the claim's label is about, and asks for an act."""
    if one.source == "835":
        return is_denied(one) and label not in NEVER_DENIED
    if (
        label is ClaimLabel.IN_PROCESS
    ):  # pending, and perhaps for what the provider or the patient has to give
        return one.source == "277" and one.act not in IDLE
    return label in {*STOPPED_LABELS, ClaimLabel.REJECTED, ClaimLabel.WANTS_RECORDS}


def was_sent(history: ClaimHistory) -> bool:
    """Return whether a file with the claim was delivered."""
    return any(one.delivered_at is not None for one in history.sendings)


def why_replaced(history: ClaimHistory) -> str:
    """Return which claim took its place, or that it is never sent; empty if neither holds."""
    if history.loaded.row.state in SHADOWS:
        return IS_SHADOW
    return f"It was replaced by {history.successor}: use that one." if history.successor else ""


def why_overtaken(history: ClaimHistory) -> str:
    """Return why nothing is sent in the claim's place: another claim was, or is to be corrected; empty if it can be."""
    if replaced := why_replaced(history):
        return replaced
    after = history.ineffective_successor
    if after and after.state == ClaimState.REJECTED:
        return f"{after.sentence} Correct {after.claim_number}."
    return ""


def why_not_sent_again(row: ClaimRow, history: ClaimHistory) -> str:
    """Return why the claim must not go to the payer once more, corrected or not; empty if it may."""
    asking = [one for one in explanations(history) if is_fixable(one, row.label)]
    if asking and all(one.act in NOT_SENT_AGAIN for one in asking):
        return f"A correction does not resolve this. {asking[0].todo or asking[0].happened}"
    return ""


def why_not_void(payers: PayerDirectory, row: ClaimRow, history: ClaimHistory) -> str:
    """Return why a claim cannot be canceled at the payer (frequency 8); empty if it can."""
    if overtaken := why_overtaken(history):
        return overtaken
    claim = history.loaded.claim
    payer = payers.find(row.payer_id, KINDS[ClaimKind(row.kind)].payer_type)
    number = history.status.payer_control_number if history.status else ""
    for holds, sentence in (
        (row.label is ClaimLabel.NOT_ACCEPTED, NEVER_SENT),
        (not was_sent(history), UNSENT),
        (
            row.label is ClaimLabel.REJECTED,
            "The payer never took it in: there is nothing to cancel.",
        ),
        (form_of(claim).frequency(claim) == VOID, "It is a cancellation itself."),
        (
            payer is not None and payer.replacements == ORIGINAL_ONLY,
            "This payer takes no cancellations by file: ask the payer.",
        ),
        (not number, "The payer has given no number for it yet, and a cancellation must name it."),
    ):
        if holds:
            return sentence
    return ""


def why_not_again(_: PayerDirectory, row: ClaimRow, history: ClaimHistory) -> str:
    """Return why a claim cannot be sent again unchanged; empty if it can.

    After a rejection the payer does not have it, an unanswered one may be lost, and one that was not accepted was never
    sent: none would be a duplicate.
    """
    if overtaken := why_overtaken(history):
        return overtaken
    if row.label in {ClaimLabel.REJECTED, ClaimLabel.NOT_ACCEPTED} or row.no_answer:
        return why_not_sent_again(row, history)
    if row.label is ClaimLabel.CANCELED:
        return "It was canceled before it was sent."
    if not was_sent(history):
        return "It leaves with the next file."
    return "The payer has it: a second one would be a duplicate."
