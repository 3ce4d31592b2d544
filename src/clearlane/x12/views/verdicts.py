"""A 999 as verdicts, set by set, and a TA1 as the verdict on an interchange; every error in words.

Knows acknowledgement loops; knows no file that was acknowledged.
"""

from clearlane.x12.tree import Segment
from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import KINDS, Below, Composite, Sorter, Value, each, fill, into


class Place(Value, frozen=True):
    """Where in a segment an error stands."""

    element: str = ""
    component: str = ""
    repetition: str = ""


class ContextName(Value, frozen=True):
    """What a context is called, and its value: ``CLM01`` and a claim number."""

    name: str = ""
    value: str = ""


class Context(Value, frozen=True):
    """CTX: what surrounds an error, or what made the missing thing necessary."""

    names: tuple[ContextName, ...] = ()
    segment: str = ""
    position: str = ""
    loop: str = ""
    place: Place | None = None
    reference: tuple[str, ...] = ()


class ElementError(Value, frozen=True):
    """IK4."""

    place: Place | None = None
    reference: str = ""
    """The number of the data element in the X12 dictionary."""
    error: str = ""
    error_words: str = ""
    value: str = ""
    """A copy of the bad value, if the sender gives one."""
    contexts: tuple[Context, ...] = ()
    other: tuple[list[str], ...] = ()


class SegmentError(Value, frozen=True):
    """IK3, with the errors of the segment's elements."""

    segment: str = ""
    position: str = ""
    """Counted in the set, the ST being 1."""
    loop: str = ""
    error: str = ""
    error_words: str = ""
    contexts: tuple[Context, ...] = ()
    elements: tuple[ElementError, ...] = ()
    other: tuple[list[str], ...] = ()


class SetVerdict(Value, frozen=True):
    """AK2 to IK5: one transaction set."""

    transaction: str = ""
    control: str = ""
    version: str = ""
    errors: tuple[SegmentError, ...] = ()
    verdict: str = ""
    verdict_words: str = ""
    codes: tuple[str, ...] = ()
    codes_words: tuple[str, ...] = ()
    other: tuple[list[str], ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the set was taken in, with errors or without."""
        return self.verdict in ACCEPTED


class GroupVerdict(Value, frozen=True, tag_field="view", tag="verdicts"):
    """All of a 999."""

    start: shared_types.Start | None = None
    function: str = ""
    control: str = ""
    version: str = ""
    sets: tuple[SetVerdict, ...] = ()
    verdict: str = ""
    verdict_words: str = ""
    announced: str = ""
    received: str = ""
    accepted_sets: str = ""
    codes: tuple[str, ...] = ()
    codes_words: tuple[str, ...] = ()
    end: shared_types.End | None = None
    other: tuple[list[str], ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the group was taken in as a whole, with errors or without."""
        return self.verdict in ACCEPTED


class InterchangeVerdict(Value, frozen=True, tag_field="view", tag="interchange verdict"):
    """A TA1."""

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


def ta1(segment: Segment) -> InterchangeVerdict:
    """The verdict that a TA1 tells."""
    found: InterchangeVerdict = TA1.of([segment])
    return found


KINDS["place"] = Composite(Place, "element component repetition")
KINDS["context"] = Composite(ContextName, "name value", repeats=True)
_CONTEXTS = each(
    "contexts", into(Context, "names=context segment position loop place=place reference=parts")
)


def _codes(list: str) -> str:
    """Up to five codes of a list."""
    return f" codes+?{list}" * 5


TA1 = Sorter(InterchangeVerdict, {"TA1": fill("control date time verdict?verdicts note?ta1_notes")})

ELEMENT = Sorter(
    ElementError,
    {"IK4": fill("place=place reference error?element_errors value"), "CTX": _CONTEXTS},
)
SEGMENT = Sorter(
    SegmentError,
    {"IK3": fill("segment position loop error?segment_errors"), "CTX": _CONTEXTS},
    loops={"2110": Below("elements", ELEMENT)},
)
UNIT = Sorter(
    SetVerdict,
    {
        "AK2": fill("transaction control version"),
        "IK5": fill("verdict?verdicts" + _codes("set_errors")),
    },
    loops={"2100": Below("errors", SEGMENT)},
)
SET = Sorter(
    GroupVerdict,
    {
        **shared_types.ENDS,
        "AK1": fill("function control version"),
        "AK9": fill("verdict?verdicts announced received accepted_sets" + _codes("group_errors")),
    },
    loops={"2000": Below("sets", UNIT)},
)
