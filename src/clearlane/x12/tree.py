"""A file as a tree: interchanges, groups, sets, and in a set loops that contain segments and loops.

A segment is the plain list its text splits into (``["REF", "D9", "17"]``), which keeps reading fast; composites stay
text (``"HC:99213"``) in the canonical separators ``* : ^ ~``. ``Interchange.to_original(text)`` converts a text back to
the separators of its file. Knows the loops of guides; does not know claims.
"""

from collections.abc import Iterator
from typing import TypeAlias, Union

import msgspec

from clearlane.kernel.finding import Finding
from clearlane.x12 import grammar
from clearlane.x12.delimiters import CANONICAL, Delimiters

Segment: TypeAlias = list[str]
Item: TypeAlias = Union[Segment, "Loop"]


class DroppedLoops(msgspec.Struct, frozen=True, gc=False):
    """A drop in a loop: child loops that a streaming reader dropped."""

    # A struct for the same reason as ``Loop``: one is made for every claim of a file.
    index: int
    """Index in the loop's items before which they were."""
    segments: int
    """How many segments they had."""
    node: grammar.LoopSpec | None
    """Which loop they were; None if several kinds."""


class Loop(msgspec.Struct, gc=False, eq=False):
    """One loop of a file. ``items`` holds everything in file order, unplaced segments included."""

    # A struct, because it is made in a third of the time; without garbage collection, because a loop holds its
    # children and never its parent. ``isinstance(item, Loop)`` is slow on a struct: compare the class, or ask for a list.
    node: grammar.LoopSpec
    position: int = 0
    """Position of its first segment in the set, the ST being 1."""
    items: "list[Item]" = []
    dropped: list[DroppedLoops] | None = None
    """What a streaming reader dropped, in file order."""

    @property
    def id(self) -> str:
        return self.node.id

    def segments(self, id: str, *qualifiers: str, at: int = 1) -> Iterator[Segment]:
        """Yield the loop's own segments of this id whose element ``at`` is one of the qualifiers."""
        for item in self.items:
            if (
                item.__class__ is list
                and item[0] == id
                and (not qualifiers or (len(item) > at and item[at] in qualifiers))
            ):
                yield item

    def segment(self, id: str, *qualifiers: str, at: int = 1) -> Segment | None:
        """Return the first segment that ``segments`` would yield, or None."""
        # Not implemented by ``segments``: rules call this several times per loop, and a generator costs more.
        for item in self.items:
            if (
                item.__class__ is list
                and item[0] == id
                and (not qualifiers or (len(item) > at and item[at] in qualifiers))
            ):
                return item
        return None

    def value(self, id: str, element: int, *qualifiers: str, component: int = 0) -> str:
        """Return one element (or component) of the first such segment; empty if there is none."""
        found = self.segment(id, *qualifiers)
        if found is None or len(found) <= element:
            return ""
        text = found[element]
        if component:
            parts = text.split(":")
            return parts[component - 1] if len(parts) >= component else ""
        return text

    def loops(self, *ids: str) -> Iterator["Loop"]:
        """Yield child loops with one of these ids (all child loops if no id is given)."""
        for item in self.items:
            if item.__class__ is Loop and (not ids or item.node.id in ids):
                yield item

    def loop(self, *ids: str) -> "Loop | None":
        """Return the first loop that ``loops`` would yield, or None."""
        for item in self.items:
            if item.__class__ is Loop and (not ids or item.node.id in ids):
                return item
        return None

    def heading(self, *ids: str) -> Iterator[Item]:
        """Yield what precedes the first child loop with one of these ids, or the first that was dropped."""
        end = self.dropped[0].index if self.dropped else len(self.items)
        for item in self.items[:end]:
            if item.__class__ is Loop and item.node.id in ids:
                return
            yield item

    def all_segments(self) -> Iterator[Segment]:
        """Yield every segment of the loop and of the loops in it, in file order."""
        for item in self.items:
            if item.__class__ is Loop:
                yield from item.all_segments()
            else:
                yield item  # type: ignore[misc]  # no loop, so a segment

    def descendants(self, *ids: str) -> Iterator["Loop"]:
        """Yield loops with one of these ids at any depth, in file order."""
        for child in self.loops():
            if child.node.id in ids:
                yield child
            yield from child.descendants(*ids)

    def find(self, segment: Segment) -> tuple[int, "Loop"] | None:
        """Return the position of a segment, given by identity, and the loop that contains it; or None."""
        position = self.position
        dropped = self.dropped
        for index, item in enumerate(self.items):
            if dropped:
                position += sum(drop.segments for drop in dropped if drop.index == index)
            if item is segment:
                return position, self
            if item.__class__ is Loop:
                found = item.find(segment)
                if found is not None:
                    return found
                position += item.size()
            else:
                position += 1
        return None

    def size(self) -> int:
        """Return how many segments the loop had in the file, dropped ones included."""
        total = sum(drop.segments for drop in self.dropped or ())
        for item in self.items:
            total += item.size() if item.__class__ is Loop else 1
        return total

    def drop_last(self, size: int) -> None:
        """Drop the last item, a loop, but remember the ``size`` segments it had."""
        node = self.items.pop().node  # type: ignore[union-attr]  # the caller's last item is a loop
        index, dropped = len(self.items), self.dropped
        if dropped is None:
            self.dropped = [DroppedLoops(index, size, node)]
        elif dropped[-1].index == index and dropped[-1].node is node:
            dropped[-1] = DroppedLoops(index, dropped[-1].segments + size, node)
        else:
            dropped.append(DroppedLoops(index, size, node))

    def __eq__(self, other: object) -> bool:
        """Compare guide loop and segments, not the position."""
        if not isinstance(other, Loop):
            return NotImplemented
        return self.node is other.node and self.items == other.items

    __hash__ = None  # type: ignore[assignment]  # as Python documents it for what is compared and changes

    def __repr__(self) -> str:
        """Return the shape, never the content."""
        return f"Loop({self.node.id}, {len(self.items)} items)"


class TransactionSet:
    """One transaction set, from its ST to its SE."""

    __slots__ = ("findings", "first_segment", "group", "guide", "number", "root")

    def __init__(
        self,
        group: "FunctionalGroup",
        number: int,
        guide: grammar.Guide | None,
        root: Loop,
        first_segment: int,
    ) -> None:
        self.group = group
        self.number = number
        """Its number in the group, counted from 1."""
        self.guide = guide
        """None if the version is unknown; ``root`` then holds the segments unplaced."""
        self.root = root
        """The whole set, the ST first and the SE, if there is one, last."""
        self.first_segment = first_segment
        """Position of the ST in the whole file."""
        self.findings: list[Finding] = []

    @property
    def header(self) -> Segment:
        """The ST segment."""
        return self.root.items[0]  # type: ignore[return-value]  # a loop begins with a segment

    @property
    def control(self) -> str:
        """ST02."""
        return get_element(self.header, 2)

    def all_segments(self) -> Iterator[Segment]:
        """Yield every segment, in file order."""
        return self.root.all_segments()


class FunctionalGroup:
    """One functional group. ``sets`` stays empty in a streaming reader."""

    __slots__ = ("findings", "header", "interchange", "number", "sets", "stray", "trailer")

    def __init__(self, interchange: "Interchange", number: int, header: Segment) -> None:
        self.interchange = interchange
        self.number = number
        self.header = header
        """The GS segment."""
        self.trailer: Segment | None = None
        """The GE segment, None if it is missing."""
        self.sets: list[TransactionSet] = []
        self.stray: list[tuple[int, Segment]] = []
        """Segments outside any set, each with the number of sets before it."""
        self.findings: list[Finding] = []

    @property
    def control(self) -> str:
        """GS06."""
        return get_element(self.header, 6)

    @property
    def version(self) -> str:
        """GS08."""
        return get_element(self.header, 8)


class Interchange:
    """One interchange. ``groups`` stays empty in a streaming reader."""

    __slots__ = ("delimiters", "findings", "groups", "header", "number", "stray", "trailer")

    def __init__(self, number: int, header: Segment, delimiters: Delimiters = CANONICAL) -> None:
        self.number = number
        self.header = header
        """The ISA segment, each element at its full width."""
        self.delimiters = delimiters
        self.trailer: Segment | None = None
        """The IEA segment, None if it is missing."""
        self.groups: list[FunctionalGroup] = []
        self.stray: list[tuple[int, Segment]] = []
        """Segments outside any group (such as TA1), each with the number of groups before it."""
        self.findings: list[Finding] = []

    @property
    def control(self) -> str:
        """ISA13."""
        return get_element(self.header, 13)

    def to_original(self, text: str) -> str:
        """Convert a canonical text to the file's own separators."""
        return text.translate(self.delimiters.from_canonical())

    def sets(self) -> Iterator[TransactionSet]:
        """Yield the sets of every group, in file order."""
        for group in self.groups:
            yield from group.sets


class X12File:
    """A file that was read."""

    __slots__ = ("findings", "interchanges")

    def __init__(self) -> None:
        self.interchanges: list[Interchange] = []
        self.findings: list[Finding] = []
        """Findings that concern no interchange: nothing readable, junk between interchanges."""

    def sets(self) -> Iterator[TransactionSet]:
        """Yield every set, in file order."""
        for interchange in self.interchanges:
            yield from interchange.sets()


def get_element(segment: Segment, number: int) -> str:
    """Return one element; empty if the segment is too short."""
    return segment[number] if len(segment) > number else ""


def split_components(text: str) -> list[str]:
    """Split a composite."""
    return text.split(":")


def split_repetitions(text: str) -> list[str]:
    """Split a repeating element."""
    return text.split("^")
