"""Typed views of X12 files: what a file contains, for people and programs.

    for interchange in read_views(source):       # a whole file: each interchange with its groups and sets
        for set in interchange.sets: set.view

    for piece in stream_views(source):           # a file of any size: a claim, patient or subscriber at a time
        piece.part, piece.unit, piece.view       # one of them: what is around units, a unit, the set's end

A view has a field for everything people look for; amounts are ``Decimal`` and days are ``date``. Everything else is kept in
``other``, as segments, so that nothing is lost. Values are as in the file, whatever its separators; the meaning of a code
``x`` is in ``x_words``. Every view type is named ``...View``, because it is a reading of X12 and not a type of our own domain.

    837                  claims       ClaimSetView
    835                  remittance   RemittanceView
    270, 271             benefits     EligibilityView
    276, 277, 277CA      status       StatusSetView
    999, TA1             verdicts     GroupVerdictView, InterchangeVerdictView

Knows trees and guides; knows no claim form and no store.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from clearlane.x12 import tree
from clearlane.x12.reader import reader
from clearlane.x12.views import benefits, claims, remittance, shared_types, status, verdicts
from clearlane.x12.views.binding import View, ViewBuilder, append, fill
from clearlane.x12.views.original import SeparatorRestorer
from clearlane.x12.views.streaming import END, PART, UNIT, TooManySegmentsError, stream_sets

__all__ = [
    "InterchangeView", "SetView", "StreamedPiece", "TooManySegmentsError", "UnknownSetView",
    "read_views", "stream_views", "view_set",
]  # fmt: skip


class UnknownSetView(View, frozen=True, tag_field="view", tag="unknown"):
    """A set whose guide is unknown: its segments in order."""

    start: shared_types.SetHeaderView | None = None
    end: shared_types.SetTrailerView | None = None
    other: tuple[list[str], ...] = ()


TransactionView = (
    remittance.RemittanceView | benefits.EligibilityView | status.StatusSetView | verdicts.GroupVerdictView
    | claims.ClaimSetView | UnknownSetView
)  # fmt: skip


class SetView(View, frozen=True):
    """One transaction set."""

    kind: str = ""
    """837P, 835 and so on; empty if the guide is unknown."""
    control: str = ""
    view: TransactionView | None = None


class GroupView(View, frozen=True):
    """GS and GE, and the sets between them."""

    function: str = ""
    sender: str = ""
    receiver: str = ""
    date: str = ""
    time: str = ""
    control: str = ""
    agency: str = ""
    version: str = ""
    sets: tuple[SetView, ...] = ()
    sets_stated: str = ""
    """GE01: the number of sets that the sender states."""
    trailer_control: str = ""
    other: tuple[list[str], ...] = ()


class InterchangeView(View, frozen=True):
    """ISA and IEA, and what is between them."""

    authorization_qualifier: str = ""
    authorization: str = ""
    security_qualifier: str = ""
    security: str = ""
    sender_qualifier: str = ""
    sender: str = ""
    receiver_qualifier: str = ""
    receiver: str = ""
    date: str = ""
    time: str = ""
    repetition: str = ""
    version: str = ""
    control: str = ""
    acknowledge: str = ""
    usage: str = ""
    component: str = ""
    answers: tuple[verdicts.InterchangeVerdictView, ...] = ()
    """The TA1 segments."""
    groups: tuple[GroupView, ...] = ()
    groups_stated: str = ""
    """IEA01: the number of groups that the sender states."""
    trailer_control: str = ""
    other: tuple[list[str], ...] = ()

    @property
    def sets(self) -> Iterator[SetView]:
        """The sets of every group."""
        for group in self.groups:
            yield from group.sets


class StreamedPiece(NamedTuple):
    """One piece of a stream: a part around units, a unit, or at its end the set without them."""

    kind: str
    control: str
    part: Any = None
    unit: Any = None
    view: TransactionView | None = None


BUILDERS: dict[str, ViewBuilder] = {
    "835": remittance.SET,
    "270": benefits.INQUIRY,
    "271": benefits.RESPONSE,
    **dict.fromkeys(("276", "277", "277CA"), status.SET),
    "999": verdicts.SET,
    **dict.fromkeys(("837P", "837D", "837I"), claims.SET),
    "": ViewBuilder(UnknownSetView, shared_types.ENDS),
}
"""The view builder of a whole set, by kind; the empty kind is that of an unknown guide."""
FIELDS = {PART: "part", UNIT: "unit", END: "view"}


def read_views(source: reader.Source) -> Iterator[InterchangeView]:
    """Yield each interchange of a file as a whole."""
    for interchange in reader.parse(source, check=False).interchanges:
        yield _interchange(interchange)


def view_set(set: tree.TransactionSet) -> TransactionView:
    """Return the view of a set that was read as a whole."""
    if set.guide is not None and set.guide.kind == "835":
        return remittance.view_remittance(set)
    view: TransactionView = BUILDERS[set.guide.kind if set.guide else ""](set.root)
    return SeparatorRestorer(set.group.interchange.delimiters).restore(view)


def stream_views(source: reader.Source) -> Iterator[StreamedPiece]:
    """Yield parts and units while reading, and each set, without them, when it ends; memory stays constant.

    A part is a loop around units (a subscriber with its payer, a provider's group of payments); it comes before its first
    unit, and again at its end if more was in it.
    """
    totaller = remittance.RemittanceTotaller()
    for event, value, kind, control in stream_sets(source, BUILDERS.get):
        if event is UNIT and isinstance(value, remittance.RemittanceClaimView):
            totaller.add(value)
        elif event is END and isinstance(value, remittance.RemittanceView):
            value, totaller = totaller.add_totals(value), remittance.RemittanceTotaller()
        yield StreamedPiece(kind, control, **{FIELDS[event]: value})


_INTERCHANGE = ViewBuilder(
    InterchangeView,
    {
        "ISA": fill(
            "authorization_qualifier authorization security_qualifier security sender_qualifier"
            " sender receiver_qualifier receiver date time repetition version control acknowledge"
            " usage component"
        ),
        "TA1": append("answers", lambda segment, other: verdicts.view_ta1(segment)),
        "IEA": fill("groups_stated trailer_control"),
    },
)
_GROUP = ViewBuilder(
    GroupView,
    {
        "GS": fill("function sender receiver date time control agency version"),
        "GE": fill("sets_stated trailer_control"),
    },
)


def _interchange(interchange: tree.Interchange) -> InterchangeView:
    # Padding belongs to the fixed width, not to the value.
    header = [text.strip() for text in interchange.header]
    view: InterchangeView = _INTERCHANGE.build([header, *_around(interchange)])
    return replace(
        SeparatorRestorer(interchange.delimiters).restore(view),
        groups=tuple(map(_group, interchange.groups)),
    )


def _group(group: tree.FunctionalGroup) -> GroupView:
    view: GroupView = _GROUP.build([group.header, *_around(group)])
    return replace(
        SeparatorRestorer(group.interchange.delimiters).restore(view),
        sets=tuple(map(_set, group.sets)),
    )


def _around(part: tree.Interchange | tree.FunctionalGroup) -> Iterator[tree.Segment]:
    """Yield the segments of an interchange or group outside sets, after its header."""
    yield from (segment for _, segment in part.stray)
    if part.trailer is not None:
        yield part.trailer


def _set(set: tree.TransactionSet) -> SetView:
    kind = set.guide.kind if set.guide else ""
    return SetView(kind=kind, control=set.control, view=view_set(set))
