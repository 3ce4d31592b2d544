"""What labels are called on pages, and in which color.

Knows labels; knows no claim.
"""

from datetime import timedelta
from typing import NamedTuple

from clearlane.console.frame.page_text import count
from clearlane.pipeline.claim_label import CONCERNS, ClaimLabel, LabelConcern
from clearlane.pipeline.query.claim_list import ClaimRow

LABEL_WORDS: dict[ClaimLabel, str] = {
    ClaimLabel.RECEIVED: "Received",
    ClaimLabel.HELD: "Held",
    ClaimLabel.CANCELED: "Canceled",
    ClaimLabel.SENT: "Sent",
    ClaimLabel.ACCEPTED: "Accepted by payer",
    ClaimLabel.IN_PROCESS: "In process",
    ClaimLabel.NOT_ACCEPTED: "Not accepted",
    ClaimLabel.REJECTED: "Rejected",
    ClaimLabel.TO_RESEND: "To be sent again",
    ClaimLabel.WANTS_RECORDS: "Payer wants records",
    ClaimLabel.PREDETERMINED: "Predetermined",
    ClaimLabel.TAKEN_BACK: "Taken back",
    ClaimLabel.FORWARDED: "Forwarded",
    ClaimLabel.DENIED: "Denied",
    ClaimLabel.PARTLY_DENIED: "Partly denied",
    ClaimLabel.PATIENT_OWES: "Patient owes",
    ClaimLabel.NOTHING_DUE: "Nothing due",
    ClaimLabel.VOIDED: "Voided",
    ClaimLabel.REPLACED: "Replaced",
    ClaimLabel.PAID: "Paid",
    ClaimLabel.PAID_DIFFERS: "Paid, differs",
}
NO_ANSWER = "No answer"
ORDINALS = {2: "2nd", 3: "3rd"}


class LabelTag(NamedTuple):
    """A label as a page shows it: the color's name and the words."""

    kind: str
    text: str


REPLACED = LabelTag("done", LABEL_WORDS[ClaimLabel.REPLACED])


def label_tag(label: ClaimLabel, *, no_answer: bool = False, is_replaced: bool = False) -> LabelTag:
    """Return a label for a page. A claim that another took over from is replaced, unless it was voided."""
    if is_replaced and label is not ClaimLabel.VOIDED:
        return REPLACED
    if no_answer:
        return LabelTag(LabelConcern.LATE.value, NO_ANSWER)
    return LabelTag(CONCERNS[label].value, LABEL_WORDS[label])


def row_tag(row: ClaimRow) -> LabelTag:
    """Return the label of a listed claim."""
    return label_tag(row.label, no_answer=row.no_answer, is_replaced=row.is_replaced)


def silence_words(
    label: ClaimLabel, payer: str, silence: timedelta, usual_days: int, *, is_own: bool = False
) -> str:
    """Return how long payers, or this one, usually take, and how long it has been silent about a claim."""
    days = count(silence.days, "day")
    since = (
        f"{payer} was sent this claim {days} ago"
        if label is ClaimLabel.SENT
        else f"the last word from {payer} on this claim came {days} ago"
    )
    usually = f"{payer} usually answers" if is_own else "Payers usually answer"
    return f"{usually} within {count(usual_days, 'day')}; {since}."


def generation_words(generation: int) -> str:
    """Return how often a claim was submitted; empty for the first time."""
    return ORDINALS.get(generation, f"{generation}th") if generation > 1 else ""
