"""Extract one claim's or one patient's part of a file, as a complete interchange.

    extract_unit(unit, spec)                      # a unit of a streaming reader, or a loop in it
    extract_loops(set, around, segments, spec)    # any segments, with the loops around them
    extract_ta1(interchange, segment)             # one TA1

Envelope and header stay as received, in the file's own separators. Loops that occur once per claim or patient stay
only if they are on the way to the extracted one, so that the data of others is not shown. Counts and levels (HL) are
corrected. The ``ExtractSpec`` is what varies from domain to domain.

Knows trees; knows no guide, no claim and no inquiry.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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


def extract_unit(unit: UnitClosed, spec: ExtractSpec, position: int = 0) -> bytes:
    """Extract a unit, or the innermost repeated loop in it that contains the segment at ``position``."""
    around, loop = [*unit.parents], unit.loop
    while (inner := _loop_at(loop, position, spec)) is not None:
        around.append(loop)
        loop = inner
    return extract_loops(unit.set, around, loop.all_segments(), spec)


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


def _renumber_levels(segments: Sequence[tree.Segment]) -> Iterator[tree.Segment]:
    """Yield the segments with HL numbers from 1, each level a child of the one before."""
    last = [segment[0] for segment in segments].count("HL")
    if not last:
        yield from segments
        return
    level = 0
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
