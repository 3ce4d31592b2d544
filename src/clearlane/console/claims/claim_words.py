"""What labels are called on pages, and in which color.

Knows labels; knows no claim.
"""

from typing import NamedTuple

from clearlane.claims.awaiting import AwaitedFrom
from clearlane.console.frame.page_text import day
from clearlane.kernel.claim_label import CONCERNS, LABEL_WORDS, ClaimLabel
from clearlane.pipeline.awaited_thing import AwaitedThing
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


def awaiting_words(awaiting: AwaitedThing, payer: str) -> str:
    """Return what a claim awaits, in one sentence: what, from whom, since when and by when."""
    source = {AwaitedFrom.PAYER: payer, AwaitedFrom.CLEARINGHOUSE: "us", AwaitedFrom.BILLER: "you"}
    name = source.get(awaiting.source, "the next payer")
    by = f", {'was due' if awaiting.overdue else 'due'} {day(awaiting.by)}" if awaiting.by else ""
    return f"{awaiting.words} from {name} since {day(awaiting.since)}{by}"


def generation_words(generation: int) -> str:
    """Return how often a claim was submitted; empty for the first time."""
    return ORDINALS.get(generation, f"{generation}th") if generation > 1 else ""
