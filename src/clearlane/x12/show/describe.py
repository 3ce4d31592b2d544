"""Describe every segment of a file in words: its loop, its name, and what each element is and means.

    for segment in describe(source):
        segment.file_segment, segment.loop, segment.segment, segment.name
        for part in segment.parts: part.place, part.name, part.value, part.words

Names come from the guide, meanings from the guide's code lists. Values are shown as the file has them, because it is the
reader's own file. Memory stays constant. Knows guides; knows no claim form.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from clearlane.kernel import formats
from clearlane.kernel.limits import VALUES_REMEMBERED_MAX
from clearlane.x12 import codes, grammar, tree
from clearlane.x12.checker import envelope
from clearlane.x12.guides.dictionary import DICTIONARY
from clearlane.x12.guides.ta1 import SEGMENT as TA1
from clearlane.x12.reader import reader
from clearlane.x12.reader.outline import OutlineSegment, iter_outline

CONTROL = {"GS": envelope.GS, "GE": envelope.GE, "IEA": envelope.IEA, "TA1": TA1, "SE": envelope.SE}
HEALTH_CODE = 2
"""The component of an HI that has the code; the one before it says of which list."""


@dataclass(frozen=True, slots=True)
class ElementDescription:
    """One element or component, in words."""

    place: str
    """``CLM05-3``; the second repetition of an element is ``EB03 (2)``."""
    name: str
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class SegmentDescription:
    """One segment, in words."""

    file_segment: int
    """Position of the segment in the file, the first ISA being 1."""
    loop: str
    loop_name: str
    segment: str
    name: str
    parts: tuple[ElementDescription, ...]


def describe(source: reader.Source) -> Iterator[SegmentDescription]:
    """Yield the segments of a file in words, in order."""
    for number, (loop, segment, interchange) in enumerate(iter_segments(source), 1):
        yield describe_segment(segment, loop, interchange, number)


def describe_segment(
    segment: tree.Segment, loop: tree.Loop | None, interchange: tree.Interchange, file_segment: int
) -> SegmentDescription:
    """Describe one segment of a loop; ``loop`` is None for segments of the envelope."""
    node = find_spec(loop.node if loop else None, segment)
    name = node.name if node else "Not in the dictionary"
    inside = (loop.node.id, loop.node.name) if loop else ("", "Envelope")
    elements = node.elements if node else ()
    parts = (_header if segment[0] == "ISA" else _parts)(segment, elements)
    described = tuple(
        ElementDescription(p.place, p.name, interchange.to_original(p.value), p.words)
        for p in parts
    )
    return SegmentDescription(file_segment, *inside, segment[0], name, described)


def find_spec(loop: grammar.LoopSpec | None, segment: tree.Segment) -> grammar.SegmentSpec | None:
    """Return the guide's specification of a segment in a loop; if it has no place there, the dictionary's."""
    id = segment[0]
    if loop is not None:
        places = [c for c in loop.children if isinstance(c, grammar.SegmentSpec) and c.id == id]
        for place in places:
            if not place.qualifiers or _key_value(place, segment) in place.qualifiers:
                return place
        if places:
            return places[0]
    return CONTROL.get(id) or _from_dictionary(id)


def iter_segments(
    source: reader.Source,
) -> Iterator[tuple[tree.Loop | None, tree.Segment, tree.Interchange]]:
    """Yield every segment of a file in order, with its loop (None in the envelope) and its interchange."""
    for event in iter_outline(source):
        if isinstance(event, OutlineSegment):
            yield event.loop, event.segment, event.interchange


def _key_value(place: grammar.SegmentSpec, segment: tree.Segment) -> str:
    number, component = place.key
    text = tree.get_element(segment, number)
    return text.split(":")[component - 1] if component else text


@lru_cache(VALUES_REMEMBERED_MAX)
def _from_dictionary(id: str) -> grammar.SegmentSpec | None:
    base = DICTIONARY.get(id)
    return grammar.SegmentSpec(id, base.name, "S", 0, base.elements) if base else None


def _header(
    segment: tree.Segment, elements: tuple[grammar.ElementSpec, ...]
) -> Iterator[ElementDescription]:
    """Yield the elements of an ISA, which are padded; two of them are separators."""
    for element, text in zip(elements, segment[1:], strict=False):
        if text.strip():
            words = codes.find_meaning("ISA", element.number, text)
            yield ElementDescription(f"ISA{element.number:02}", element.name, text.strip(), words)


def _parts(
    segment: tree.Segment, elements: tuple[grammar.ElementSpec, ...]
) -> Iterator[ElementDescription]:
    before = ""
    for number, text in enumerate(segment[1:], 1):
        element = elements[number - 1] if number <= len(elements) else None
        texts = text.split("^")
        for nth, one in enumerate(texts, 1):
            suffix = f" ({nth})" if nth > 1 else ""
            place = f"{segment[0]}{number:02}"
            if element is not None and element.components and one:
                yield from _components(place, suffix, one, element)
            elif one:
                yield _part(place, suffix, one, element, (segment[0], number, 0), before)
        before = text


def _components(
    place: str, suffix: str, text: str, element: grammar.ElementSpec
) -> Iterator[ElementDescription]:
    before = ""
    for at, one in enumerate(text.split(":"), 1):
        part = element.components[at - 1] if at <= len(element.components) else None
        if one:
            position = (place[:-2], element.number, at)
            yield _part(f"{place}-{at}", suffix, one, part, position, before)
        before = one


def _part(
    place: str,
    suffix: str,
    text: str,
    element: grammar.ElementSpec | None,
    position: tuple[str, int, int],
    before: str,
) -> ElementDescription:
    name = element.name if element else "Not in the guide"
    return ElementDescription(place + suffix, name, text, _words(text, element, position, before))


def _words(
    text: str, element: grammar.ElementSpec | None, position: tuple[str, int, int], before: str
) -> str:
    """Return what a code means, or a date in ISO format."""
    segment, number, component = position
    if element is not None and element.code_list:
        found = codes.load(element.code_list).get(text, "")
        if found:
            return found
    if element is not None and (element.type == "DT" or (element.type == "TP" and before == "D8")):
        day = formats.parse_x12_date(text)
        return day.isoformat() if day else ""
    if element is not None and element.type == "TP" and before == "RD8":
        days = [formats.parse_x12_date(part) for part in text.split("-")]
        return " to ".join(day.isoformat() for day in days if day)
    if segment == "HI" and component == HEALTH_CODE and before in codes.HEALTH_CODE_LISTS:
        return codes.load(codes.HEALTH_CODE_LISTS[before]).get(text, "")
    return codes.find_meaning(segment, number, text, component)
