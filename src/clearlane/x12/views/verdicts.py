"""View of a 999, set by set, and of a TA1; every error code with its meaning.

Knows acknowledgement loops; knows no file that was acknowledged.
"""

from clearlane.x12.tree import Segment
from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import (
    ELEMENT_READERS,
    ChildLoop,
    CompositeReader,
    View,
    ViewBuilder,
    append,
    fill,
    read_into,
)


class ErrorPlaceView(View, frozen=True):
    """The position of an error in a segment."""

    element: str = ""
    component: str = ""
    repetition: str = ""


class ContextNameView(View, frozen=True):
    """The name of a context, and its value: ``CLM01`` and a claim number."""

    name: str = ""
    value: str = ""


class ErrorContextView(View, frozen=True):
    """CTX: what surrounds an error, or what made a missing element or segment necessary."""

    names: tuple[ContextNameView, ...] = ()
    segment: str = ""
    position: str = ""
    loop: str = ""
    place: ErrorPlaceView | None = None
    reference: tuple[str, ...] = ()


class ElementErrorView(View, frozen=True):
    """IK4: an error of an element."""

    place: ErrorPlaceView | None = None
    reference: str = ""
    """The number of the data element in the X12 dictionary."""
    error: str = ""
    error_words: str = ""
    value: str = ""
    """A copy of the bad value, if the sender gives one."""
    contexts: tuple[ErrorContextView, ...] = ()
    other: tuple[list[str], ...] = ()


class SegmentErrorView(View, frozen=True):
    """IK3: an error of a segment, with the errors of its elements."""

    segment: str = ""
    position: str = ""
    """Counted in the set, the ST being 1."""
    loop: str = ""
    error: str = ""
    error_words: str = ""
    contexts: tuple[ErrorContextView, ...] = ()
    elements: tuple[ElementErrorView, ...] = ()
    other: tuple[list[str], ...] = ()


class SetVerdictView(View, frozen=True):
    """AK2 to IK5: the verdict on one transaction set."""

    transaction: str = ""
    control: str = ""
    version: str = ""
    errors: tuple[SegmentErrorView, ...] = ()
    verdict: str = ""
    verdict_words: str = ""
    codes: tuple[str, ...] = ()
    codes_words: tuple[str, ...] = ()
    other: tuple[list[str], ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the set was accepted, with errors or without."""
        return self.verdict in ACCEPTED


class GroupVerdictView(View, frozen=True, tag_field="view", tag="verdicts"):
    """All of a 999: the verdict on a functional group."""

    start: shared_types.SetHeaderView | None = None
    function: str = ""
    control: str = ""
    version: str = ""
    sets: tuple[SetVerdictView, ...] = ()
    verdict: str = ""
    verdict_words: str = ""
    announced: str = ""
    received: str = ""
    accepted_sets: str = ""
    codes: tuple[str, ...] = ()
    codes_words: tuple[str, ...] = ()
    end: shared_types.SetTrailerView | None = None
    other: tuple[list[str], ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the whole group was accepted, with errors or without."""
        return self.verdict in ACCEPTED


class InterchangeVerdictView(View, frozen=True, tag_field="view", tag="interchange verdict"):
    """A TA1: the verdict on an interchange."""

    control: str = ""
    date: str = ""
    """YYMMDD, as in the ISA that it answers."""
    time: str = ""
    verdict: str = ""
    verdict_words: str = ""
    note: str = ""
    note_words: str = ""
    other: tuple[list[str], ...] = ()


ACCEPTED = frozenset({"A", "E"})


def view_ta1(segment: Segment) -> InterchangeVerdictView:
    """Return the view of a TA1."""
    found: InterchangeVerdictView = TA1.build([segment])
    return found


ELEMENT_READERS["place"] = CompositeReader(ErrorPlaceView, "element component repetition")
ELEMENT_READERS["context"] = CompositeReader(ContextNameView, "name value", repeats=True)
_CONTEXTS = append(
    "contexts",
    read_into(ErrorContextView, "names=context segment position loop place=place reference=parts"),
)


def _codes(list: str) -> str:
    """Return the usage of up to five codes of a list."""
    return f" codes+?{list}" * 5


TA1 = ViewBuilder(
    InterchangeVerdictView, {"TA1": fill("control date time verdict?verdicts note?ta1_notes")}
)

ELEMENT = ViewBuilder(
    ElementErrorView,
    {"IK4": fill("place=place reference error?element_errors value"), "CTX": _CONTEXTS},
)
SEGMENT = ViewBuilder(
    SegmentErrorView,
    {"IK3": fill("segment position loop error?segment_errors"), "CTX": _CONTEXTS},
    loops={"2110": ChildLoop("elements", ELEMENT)},
)
UNIT = ViewBuilder(
    SetVerdictView,
    {
        "AK2": fill("transaction control version"),
        "IK5": fill("verdict?verdicts" + _codes("set_errors")),
    },
    loops={"2100": ChildLoop("errors", SEGMENT)},
)
SET = ViewBuilder(
    GroupVerdictView,
    {
        **shared_types.ENDS,
        "AK1": fill("function control version"),
        "AK9": fill("verdict?verdicts announced received accepted_sets" + _codes("group_errors")),
    },
    loops={"2000": ChildLoop("sets", UNIT)},
)
