"""A file as a tree: interchanges, groups, sets, and in a set loops that hold segments and loops.

A segment is the plain list its text splits into (``["REF", "D9", "17"]``), so that reading costs
little; composites stay text (``"HC:99213"``) in the canonical delimiters ``* : ^ ~``. What an
interchange with other separators held is told by ``Interchange.original(text)``.
Knows the guide's loops and nothing of claims.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, Union

from clearlane.kernel.finding import Finding
from clearlane.x12 import grammar
from clearlane.x12.delimiters import CANONICAL, Delimiters

Segment: TypeAlias = list[str]
Item: TypeAlias = Union[Segment, "Loop"]


@dataclass(frozen=True, slots=True)
class Gap:
    """Where loops stood that a streaming reader let go."""

    index: int
    """Before which of the loop's items."""
    segments: int
    """How many segments they had."""
    node: grammar.Loop | None
    """What loops they were; None where it was all sorts."""


class Loop:
    """One loop of a file. ``items`` keeps everything in file order, also what could not be placed."""

    __slots__ = ("gaps", "items", "node", "position")

    def __init__(self, node: grammar.Loop, position: int = 0) -> None:
        self.node = node
        self.items: list[Item] = []
        self.position = position
        """Where the loop's first segment stands in its set, the ST being 1."""
        self.gaps: list[Gap] | None = None
        """What a streaming reader let go, in file order."""

    @property
    def id(self) -> str:
        return self.node.id

    def segments(self, id: str, *qualifiers: str, at: int = 1) -> Iterator[Segment]:
        """The loop's own segments of this id whose element ``at`` holds one of the qualifiers."""
        for item in self.items:
            if (
                item.__class__ is list
                and item[0] == id
                and (not qualifiers or (len(item) > at and item[at] in qualifiers))
            ):
                yield item

    def segment(self, id: str, *qualifiers: str, at: int = 1) -> Segment | None:
        """The first of them, or None."""
        # Not by way of ``segments``: rules ask this several times a loop.
        for item in self.items:
            if (
                item.__class__ is list
                and item[0] == id
                and (not qualifiers or (len(item) > at and item[at] in qualifiers))
            ):
                return item
        return None

    def value(self, id: str, element: int, *qualifiers: str, component: int = 0) -> str:
        """One element (or component) of the first such segment; empty where there is none."""
        found = self.segment(id, *qualifiers)
        if found is None or len(found) <= element:
            return ""
        text = found[element]
        if component:
            parts = text.split(":")
            return parts[component - 1] if len(parts) >= component else ""
        return text

    def loops(self, *ids: str) -> Iterator["Loop"]:
        """Child loops with one of these ids (all of them when none is named)."""
        for item in self.items:
            if item.__class__ is Loop and (not ids or item.node.id in ids):
                yield item

    def loop(self, *ids: str) -> "Loop | None":
        """The first of them, or None."""
        for item in self.items:
            if item.__class__ is Loop and (not ids or item.node.id in ids):
                return item
        return None

    def walk(self) -> Iterator[Segment]:
        """Every segment of the loop and of the loops in it, in file order."""
        for item in self.items:
            if item.__class__ is Loop:
                yield from item.walk()
            else:
                yield item  # type: ignore[misc]

    def descend(self, *ids: str) -> Iterator["Loop"]:
        """Loops with one of these ids at any depth, in file order."""
        for child in self.loops():
            if child.node.id in ids:
                yield child
            yield from child.descend(*ids)

    def find(self, segment: Segment) -> tuple[int, "Loop"] | None:
        """Where a segment, given by identity, stands in its set, and the loop that holds it."""
        position = self.position
        gaps = self.gaps
        for index, item in enumerate(self.items):
            if gaps:
                position += sum(gap.segments for gap in gaps if gap.index == index)
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
        """How many segments the loop had in the file, those that were let go included."""
        total = sum(gap.segments for gap in self.gaps or ())
        for item in self.items:
            total += item.size() if item.__class__ is Loop else 1
        return total

    def let_go(self, size: int) -> None:
        """Forget the last item, a loop, but not the room of ``size`` segments it took."""
        node = self.items.pop().node  # type: ignore[union-attr]
        index, gaps = len(self.items), self.gaps
        if gaps is None:
            self.gaps = [Gap(index, size, node)]
        elif gaps[-1].index == index and gaps[-1].node is node:
            gaps[-1] = Gap(index, gaps[-1].segments + size, node)
        else:
            gaps.append(Gap(index, size, node))

    def __eq__(self, other: object) -> bool:
        """The same loop of the same guide with the same segments, wherever it stands."""
        if not isinstance(other, Loop):
            return NotImplemented
        return self.node is other.node and self.items == other.items

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The shape, never the content."""
        return f"Loop({self.node.id}, {len(self.items)} items)"


class Set:
    """One transaction set, from its ST to its SE."""

    __slots__ = ("findings", "group", "guide", "number", "root")

    def __init__(
        self, group: "Group", number: int, guide: grammar.Guide | None, root: Loop
    ) -> None:
        self.group = group
        self.number = number
        """Its place in the group, counted from 1."""
        self.guide = guide
        """None where the version is not one we know; then ``root`` holds the segments unplaced."""
        self.root = root
        """All of it, the ST first and the SE, where there is one, last."""
        self.findings: list[Finding] = []

    @property
    def header(self) -> Segment:
        """The ST segment."""
        return self.root.items[0]  # type: ignore[return-value]

    @property
    def control(self) -> str:
        """ST02."""
        return element(self.header, 2)

    def walk(self) -> Iterator[Segment]:
        """Every segment, in file order."""
        return self.root.walk()


class Group:
    """One functional group. ``sets`` stays empty in a streaming reader."""

    __slots__ = ("findings", "header", "interchange", "number", "sets", "stray", "trailer")

    def __init__(self, interchange: "Interchange", number: int, header: Segment) -> None:
        self.interchange = interchange
        self.number = number
        self.header = header
        """The GS segment."""
        self.trailer: Segment | None = None
        """The GE segment, None where it is missing."""
        self.sets: list[Set] = []
        self.stray: list[tuple[int, Segment]] = []
        """Segments outside any set, each with the number of sets before it."""
        self.findings: list[Finding] = []

    @property
    def control(self) -> str:
        """GS06."""
        return element(self.header, 6)

    @property
    def version(self) -> str:
        """GS08."""
        return element(self.header, 8)


class Interchange:
    """One interchange. ``groups`` stays empty in a streaming reader."""

    __slots__ = ("delimiters", "findings", "groups", "header", "number", "stray", "trailer")

    def __init__(self, number: int, header: Segment, delimiters: Delimiters = CANONICAL) -> None:
        self.number = number
        self.header = header
        """The ISA segment, each element at its full width."""
        self.delimiters = delimiters
        self.trailer: Segment | None = None
        """The IEA segment, None where it is missing."""
        self.groups: list[Group] = []
        self.stray: list[tuple[int, Segment]] = []
        """Segments outside any group (a TA1 stands here), each with the number of groups before it."""
        self.findings: list[Finding] = []

    @property
    def control(self) -> str:
        """ISA13."""
        return element(self.header, 13)

    def original(self, text: str) -> str:
        """A canonical text as the file had it."""
        return text.translate(self.delimiters.original())

    def sets(self) -> Iterator[Set]:
        """The sets of every group, in file order."""
        for group in self.groups:
            yield from group.sets


class File:
    """Everything that was read."""

    __slots__ = ("findings", "interchanges")

    def __init__(self) -> None:
        self.interchanges: list[Interchange] = []
        self.findings: list[Finding] = []
        """What concerns no interchange: nothing readable, junk between interchanges."""

    def sets(self) -> Iterator[Set]:
        """Every set, in file order."""
        for interchange in self.interchanges:
            yield from interchange.sets()

    def all_findings(self) -> Iterator[Finding]:
        """The findings of the file, of each interchange, group and set."""
        yield from self.findings
        for interchange in self.interchanges:
            yield from interchange.findings
            for group in interchange.groups:
                yield from group.findings
                for set in group.sets:
                    yield from set.findings


def element(segment: Segment, number: int) -> str:
    """One element; empty where the segment is too short."""
    return segment[number] if len(segment) > number else ""


def components(text: str) -> list[str]:
    """The parts of a composite."""
    return text.split(":")


def repetitions(text: str) -> list[str]:
    """The occurrences of a repeating element."""
    return text.split("^")
