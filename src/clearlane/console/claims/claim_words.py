"""What labels are called on pages, and in which color.

Knows labels; knows no claim.
"""

from datetime import timedelta
from typing import NamedTuple

from clearlane.console.frame.page_text import count
from clearlane.kernel.claim_label import CONCERNS, LABEL_WORDS, ClaimLabel
from clearlane.pipeline.query.claim_list import ClaimRow

ORDINALS = {2: "2nd", 3: "3rd"}


class LabelTag(NamedTuple):
    """A label as a page shows it: the color's name and the words."""

    kind: str
    text: str


def label_tag(label: ClaimLabel) -> LabelTag:
    """Return a label for a page."""
    return LabelTag(CONCERNS[label].value, LABEL_WORDS[label])


def row_tag(row: ClaimRow) -> LabelTag:
    """Return the label of a listed claim."""
    return label_tag(row.shown_label)


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
