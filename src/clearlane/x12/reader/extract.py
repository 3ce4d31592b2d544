"""Extract one claim's or one patient's part of a file, as a complete interchange.

    UnitExtractor(spec).extract(unit)             # a unit of a streaming reader, or a loop in it
    extract_loops(set, around, segments, spec)    # any segments, with the loops around them
    extract_ta1(interchange, segment)             # one TA1

Envelope and header stay as received, in the file's own separators. Loops that occur once per claim or patient stay
only if they are on the way to the extracted one, so that the data of others is not shown. Counts and levels (HL) are
corrected. The ``ExtractSpec`` is what varies from domain to domain.

Knows trees; knows no guide, no claim and no inquiry.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_

from clearlane.x12 import tree
from clearlane.x12.reader.reader_events import UnitClosed
from clearlane.x12.writer import writer


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractSpec:
    """What belongs to one claim or patient alone, and what adds up several of them."""

    repeated: frozenset[str]
    """Loops that occur once per claim, patient or answered set, and the loops around these."""
    sums: frozenset[str] = frozenset()
    """Segments around the extracted part that add up several parts; they are left out."""
    sum_elements: Mapping[str, int] = field(default_factory=dict)
    """Elements that do so, by segment id; they are left empty."""
    closing: frozenset[str] = frozenset()
    """Segments of the set that follow the extracted part and stay, such as the verdict of a 999 on the group."""


class UnitExtractor:
    """Extracts the units of a streaming reader, one after the other.

    What is around them is the same for thousands: it is written once for each level.
    """

    def __init__(self, spec: ExtractSpec) -> None:
        self._spec = spec
        self._around: tuple[tree.Loop, ...] = ()
        self._set: tree.TransactionSet | None = None
        self._has_level = False
        self._heading: list[tree.Segment] = []
        self._levels = 0
        """How many levels (HL) the heading has."""
        self._before = ""
        self._after = ""

    def extract(self, unit: UnitClosed, position: int = 0) -> bytes:
        """Extract a unit, or the innermost repeated loop in it that contains the segment at ``position``."""
        around, loop = unit.parents, unit.loop
        while position and (inner := _loop_at(loop, position, self._spec)) is not None:
            around = (*around, loop)
            loop = inner
        own: list[tree.Segment] = []
        _collect(loop, own)
        levels = [segment[0] for segment in own].count("HL")
        self._write_heading(unit.set, around, has_level=levels > 0)
        if levels:
            own = list(_renumber_levels(own, self._levels))
        count = len(self._heading) + len(own) + 1
        text = "".join(["*".join(segment) + "~" for segment in own])
        end = f"SE*{count}*{unit.set.control}~{self._after}"
        delimiters = unit.set.group.interchange.delimiters
        return writer.encode_text(f"{self._before}{text}{end}", delimiters)

    def _write_heading(
        self, set: tree.TransactionSet, around: tuple[tree.Loop, ...], *, has_level: bool
    ) -> None:
        is_known = len(around) == len(self._around) and all(map(is_, around, self._around))
        if is_known and set is self._set and has_level is self._has_level:
            return
        own = [segment for loop in around for segment in _heading_segments(loop, self._spec)]
        self._levels = [segment[0] for segment in own].count("HL")
        self._heading = list(_renumber_levels(own, is_last=not has_level))
        group, interchange = set.group, set.group.interchange
        whole = [interchange.header, group.header, *self._heading]
        self._before = "".join(["*".join(segment) + "~" for segment in whole])
        self._after = f"GE*1*{group.control}~IEA*1*{interchange.control}~"
        self._set, self._around, self._has_level = set, around, has_level


def _collect(loop: tree.Loop, found: list[tree.Segment]) -> None:
    """Collect every segment of a loop and of the loops in it: in half the time of a generator in a generator."""
    for item in loop.items:
        if isinstance(item, list):
            found.append(item)
        else:
            _collect(item, found)


def extract_loops(
    set: tree.TransactionSet,
    around: Sequence[tree.Loop],
    segments: Iterable[tree.Segment],
    spec: ExtractSpec,
) -> bytes:
    """Extract segments with what the loops around them, the set's root first, say of all their parts."""
    own = [segment for loop in around for segment in _heading_segments(loop, spec)]
    closing = [item for id in sorted(spec.closing) for item in around[0].segments(id)]
    return _wrap_in_envelope(set, [*_renumber_levels([*own, *segments]), *closing])


def extract_ta1(interchange: tree.Interchange, segment: tree.Segment) -> bytes:
    """Return an interchange that holds one TA1 and nothing else."""
    whole = [interchange.header, segment, ["IEA", "0", interchange.control]]
    return writer.encode_segments(whole, interchange.delimiters)


def _loop_at(loop: tree.Loop, position: int, spec: ExtractSpec) -> tree.Loop | None:
    for child in loop.loops(*spec.repeated):
        if child.position <= position < child.position + child.size():
            return child
    return None


def _heading_segments(loop: tree.Loop, spec: ExtractSpec) -> Iterator[tree.Segment]:
    """Yield what a loop holds before its repeated loops, without sums and without the end of the set."""
    for item in loop.heading(*spec.repeated):
        for segment in [item] if isinstance(item, list) else item.all_segments():
            id = segment[0]
            if id not in spec.sums and id not in spec.closing and id != "SE":
                element = spec.sum_elements.get(id)
                yield segment if element is None else _without_sum(segment, element)


def _without_sum(segment: tree.Segment, element: int) -> tree.Segment:
    if element >= len(segment):
        return segment
    kept = [*segment[:element], "", *segment[element + 1 :]]
    while not kept[-1]:
        kept.pop()
    return kept


def _renumber_levels(
    segments: Sequence[tree.Segment], before: int = 0, *, is_last: bool = True
) -> Iterator[tree.Segment]:
    """Yield the segments with HL numbers from 1, each level a child of the one before.

    There are levels ``before``; unless ``is_last``, more follow.
    """
    count = [segment[0] for segment in segments].count("HL")
    if not count:
        yield from segments
        return
    level, last = before, before + count + (not is_last)
    for segment in segments:
        if segment[0] != "HL":
            yield segment
            continue
        level += 1
        parent = str(level - 1) if level > 1 else ""
        # The last level may leave out that none follows.
        child = ["1"] if level < last else ["0"] if len(segment) > 4 else []
        yield ["HL", str(level), parent, tree.get_element(segment, 3), *child]


def _wrap_in_envelope(set: tree.TransactionSet, segments: Sequence[tree.Segment]) -> bytes:
    """Return the segments of a set, from the ST on, in the envelope they came in, with counts of their own."""
    group, interchange = set.group, set.group.interchange
    whole = [
        interchange.header,
        group.header,
        *segments,
        ["SE", str(len(segments) + 1), set.control],
        ["GE", "1", group.control],
        ["IEA", "1", interchange.control],
    ]
    return writer.encode_segments(whole, interchange.delimiters)
