"""Typed views: what a file says, for people and programs.

    for interchange in views(source):            # a whole file, each interchange with its groups and sets
        for set in interchange.sets: set.view

    for piece in stream(source):                 # a file of any size: a claim, patient or subscriber at a time
        piece.part, piece.unit, piece.view       # one of them: what is around units, a unit, the set's end

A view names what people look for; amounts are ``Decimal`` and days are ``date``. What it does not name is kept
in ``other``, as segments. Values are as the file has them, whatever its separators. An 835 is ``remit``, a 270
or 271 ``benefits``, a 276, 277 or 277CA ``status``, a 999 or TA1 ``verdicts``, an 837 ``claims``.

Knows trees and guides; knows no claim form and no store.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from clearlane.x12 import reader, tree
from clearlane.x12.views import benefits, claims, remittance, shared_types, status, verdicts
from clearlane.x12.views.binding import Sorter, Value, each, fill
from clearlane.x12.views.original import Originals
from clearlane.x12.views.streaming import END, PART, UNIT, TooMany, follow

__all__ = ["Interchange", "Piece", "SetView", "TooMany", "Unknown", "stream", "view", "views"]


class Unknown(Value, frozen=True, tag_field="view", tag="unknown"):
    """A set whose guide is not known: its segments as they come."""

    start: shared_types.Start | None = None
    end: shared_types.End | None = None
    other: tuple[list[str], ...] = ()


View = (
    remittance.Remittance | benefits.Eligibility | status.Statuses | verdicts.GroupVerdict
    | claims.Claims | Unknown
)  # fmt: skip


class SetView(Value, frozen=True):
    """A transaction set."""

    kind: str = ""
    """837P, 835 and so on; empty where the guide is not known."""
    control: str = ""
    view: View | None = None


class Group(Value, frozen=True):
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
    sets_told: str = ""
    control_told: str = ""
    other: tuple[list[str], ...] = ()


class Interchange(Value, frozen=True):
    """ISA and IEA, and what stands between them."""

    authorisation_qualifier: str = ""
    authorisation: str = ""
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
    answers: tuple[verdicts.InterchangeVerdict, ...] = ()
    """The TA1 segments."""
    groups: tuple[Group, ...] = ()
    groups_told: str = ""
    control_told: str = ""
    other: tuple[list[str], ...] = ()

    @property
    def sets(self) -> Iterator[SetView]:
        """The sets of every group."""
        for group in self.groups:
            yield from group.sets


class Piece(NamedTuple):
    """What a streaming view gives: a part around units, a unit, or at its end the set without them."""

    kind: str
    control: str
    part: Any = None
    unit: Any = None
    view: View | None = None


KINDS: dict[str, Sorter] = {
    "835": remittance.SET,
    "270": benefits.INQUIRY,
    "271": benefits.ANSWER,
    **dict.fromkeys(("276", "277", "277CA"), status.SET),
    "999": verdicts.SET,
    **dict.fromkeys(("837P", "837D", "837I"), claims.SET),
    "": Sorter(Unknown, shared_types.ENDS),
}
"""The sorter of a whole set, by kind; the empty kind is that of an unknown guide."""
FIELDS = {PART: "part", UNIT: "unit", END: "view"}


def views(source: reader.Source) -> Iterator[Interchange]:
    """Each interchange of a file, whole."""
    for interchange in reader.parse(source, check=False).interchanges:
        yield _interchange(interchange)


def view(set: tree.Set) -> View:
    """The view of a set that was read whole."""
    if set.guide is not None and set.guide.kind == "835":
        return remittance.remittance(set)
    found: View = KINDS[set.guide.kind if set.guide else ""](set.root)
    return Originals(set.group.interchange.delimiters).restored(found)


def stream(source: reader.Source) -> Iterator[Piece]:
    """Parts and units as they come, and each set, without them, when it ends; memory stays flat.

    A part is a loop around units (a subscriber with its payer, a provider's group of payments); it comes
    before its first unit, and again at its end where something more was in it.
    """
    tally = remittance.Tally()
    for what, value, kind, control in follow(source, _sorter):
        if what is UNIT and isinstance(value, remittance.Claim):
            tally.add(value)
        elif what is END and isinstance(value, remittance.Remittance):
            value, tally = tally.closed(value), remittance.Tally()
        yield Piece(kind, control, **{FIELDS[what]: value})


def _sorter(kind: str) -> Sorter:
    return KINDS[kind]


_INTERCHANGE = Sorter(
    Interchange,
    {
        "ISA": fill(
            "authorisation_qualifier authorisation security_qualifier security sender_qualifier"
            " sender receiver_qualifier receiver date time repetition version control acknowledge"
            " usage component"
        ),
        "TA1": each("answers", lambda segment, other: verdicts.ta1(segment)),
        "IEA": fill("groups_told control_told"),
    },
)
_GROUP = Sorter(
    Group,
    {
        "GS": fill("function sender receiver date time control agency version"),
        "GE": fill("sets_told control_told"),
    },
)


def _interchange(interchange: tree.Interchange) -> Interchange:
    # Padding belongs to the fixed width, not to the value.
    header = [text.strip() for text in interchange.header]
    found: Interchange = _INTERCHANGE.of([header, *_around(interchange)])
    return replace(
        Originals(interchange.delimiters).restored(found),
        groups=tuple(map(_group, interchange.groups)),
    )


def _group(group: tree.Group) -> Group:
    found: Group = _GROUP.of([group.header, *_around(group)])
    return replace(
        Originals(group.interchange.delimiters).restored(found), sets=tuple(map(_set, group.sets))
    )


def _around(part: tree.Interchange | tree.Group) -> Iterator[tree.Segment]:
    """The segments of a part that stand in no set, after its header."""
    yield from (segment for _, segment in part.stray)
    if part.trailer is not None:
        yield part.trailer


def _set(set: tree.Set) -> SetView:
    kind = set.guide.kind if set.guide else ""
    return SetView(kind=kind, control=set.control, view=view(set))
