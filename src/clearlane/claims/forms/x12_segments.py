"""The segments of a claim of a file, in words: what each is called, where the sender wrote it, and what its elements are.

    for one in segments_of(claim): one.number, one.loop, one.name, one.segment
    elements_at(claim, "2300/REF:G1/02")            # where the sender wrote what a payer complains about
    name_at("837P", "2010AA/NM109 (segment 14)")    # Billing provider: identifier

Knows guides and loops; knows no view.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from clearlane.claims.forms.x12_loops import LEVELS, loops_of
from clearlane.claims.x12_claim import X12Claim, is_claim_trace
from clearlane.kernel.formats import lower_first
from clearlane.x12.automaton import read_key
from clearlane.x12.grammar import LoopSpec, SegmentSpec
from clearlane.x12.guides import by_kind
from clearlane.x12.tree import Loop, Segment

LINE = "2400"
SUBSCRIBER_NAME, PATIENT_NAME = "2010BA", "2010CA"
_LOCATION = re.compile(
    r"(?P<loop>[0-9A-Z]+)/(?P<id>[A-Z][A-Z0-9]{1,2}?)(?P<element>\d\d)?(?:-(?P<component>\d+))?(?: \(segment \d+\))?",
    re.ASCII,
)


class ClaimSegment(NamedTuple):
    """A segment of a claim."""

    number: int
    """Its number in the sender's file; 0 if a correction added it."""
    loop: str
    line: int
    """The service line that it belongs to, from 1; 0 for one of the claim or the levels around it."""
    segment: Segment
    spec: SegmentSpec | None
    """What the guide says of it; None if the guide has no place for it."""

    @property
    def name(self) -> str:
        """What the guide calls it."""
        return self.spec.name if self.spec else ""

    def location(self, element: int = 0, component: int = 0) -> str:
        """Return where the sender wrote an element, as findings name it: ``2010AA/NM109 (segment 14)``."""
        place = f"{self.loop}/{self.segment[0]}"
        place += f"{element:02}" if element else ""
        place += f"-{component}" if component else ""
        return f"{place} (segment {self.number})" if self.number else place


class ElementReference(NamedTuple):
    """An element of a claim: where the sender wrote it, and what it is called."""

    location: str
    name: str
    line: int = 0
    text: str = ""


def segments_of(claim: X12Claim) -> list[ClaimSegment]:
    """Return the segments of a claim and of the levels around it, in order."""
    loops = loops_of(claim)
    numbers = iter(loops.numbers[1:])
    levels = (*loops.parents[1:], loops.claim)
    found: list[ClaimSegment] = []
    line = 0
    for level in levels:
        for loop, segment in _walk(level):
            line += loop.node.id == LINE and segment is loop.items[0]
            of_line = line if loop.node.id.startswith("24") else 0
            spec = _spec(loop.node, segment)
            found.append(ClaimSegment(next(numbers), loop.node.id, of_line, segment, spec))
    return found


def lines_of_segments(claim: X12Claim) -> dict[int, int]:
    """Return the service line of each segment of a line, from 1, by the segment's number in the sender's file."""
    return {one.number: one.line for one in segments_of(claim) if one.line and one.number}


def _walk(loop: Loop) -> Iterator[tuple[Loop, Segment]]:
    """Yield the segments of a level with their loops, without the levels in it."""
    for item in loop.heading(*LEVELS):
        if isinstance(item, list):
            yield loop, item
        else:
            yield from _walk(item)


def _spec(loop: LoopSpec, segment: Segment) -> SegmentSpec | None:
    own = [one for one in loop.children if isinstance(one, SegmentSpec) and one.id == segment[0]]
    for one in own:
        if not one.qualifiers or read_key(segment, one.key) in one.qualifiers:
            return one
    return own[0] if own else None


def elements_at(
    claim: X12Claim, place: str, *, line: int = 0, nth: int = 0
) -> list[ElementReference]:
    """Return the elements of a claim at a place such as ``2010AA/NM1/09``, ``2300/HI`` or ``2300/REF:G1/02``.

    A place of the patient is the subscriber's if both are one person. Four characters name every loop that begins with
    them, as in a 999. Of a segment that the claim lacks, the place itself is named.
    """
    loop, id, *rest = place.split("/")
    id, _, qualifier = id.partition("#")[0].partition(":")
    number, _, part = rest[0].partition("-") if rest else ("", "", "")
    # A period is a qualifier and the days, which are in the next element.
    element = int(number) if number.isdigit() else 0
    if loop == PATIENT_NAME and claim.part("2000C") is None:
        loop = SUBSCRIBER_NAME
    own = [
        one
        for one in segments_of(claim)
        if one.segment[0] == id
        and (one.loop == loop or (len(loop) == 4 and one.loop.startswith(loop)))
        and (not qualifier or qualifier in _keys(one))
        and line in (0, one.line)
    ]
    if nth and len(own) >= nth:
        own = own[nth - 1 : nth]
    return [
        ElementReference(
            one.location(element, int(part or 0)),
            element_name(one.spec, element),
            one.line,
            one.segment[element] if 0 < element < len(one.segment) else "",
        )
        for one in own
    ]


def element_sent_at(
    claim: X12Claim, level: str, offset: int, element: int = 0, component: int = 0
) -> ElementReference | None:
    """Return the element of the sender's segment that went out at a place of a level, from 1; None if there is none.

    A claim goes out segment by segment as it came, but for our REF*D9 in the place of the sender's.
    """
    count = 0
    for (_, part, segment), one in zip(claim.numbered_segments(), segments_of(claim), strict=True):
        if part != level or is_claim_trace(segment):
            continue
        count += 1
        if count == offset:
            text = segment[element] if 0 < element < len(segment) else ""
            place = one.location(element, component)
            return ElementReference(place, element_name(one.spec, element), one.line, text)
    return None


def _keys(one: ClaimSegment) -> tuple[str, ...]:
    return tuple(text.partition(":")[0] for text in one.segment[1:3])


def element_name(spec: SegmentSpec | None, element: int) -> str:
    """Return what the guide calls an element: the segment and the element; empty if it does not know it."""
    if spec is None:
        return ""
    if not 0 < element <= len(spec.elements):
        return spec.name
    name = spec.elements[element - 1].name
    return f"{spec.name}: {lower_first(name)}"


def name_at(transaction: str, location: str) -> str:
    """Return what the guide calls the element at a location of a finding; empty if it knows none."""
    found = _LOCATION.fullmatch(location)
    if found is None:
        return ""
    return _name(transaction, found["loop"], found["id"], int(found["element"] or 0))


@cache
def _name(transaction: str, loop: str, id: str, element: int) -> str:
    for one in _loops(by_kind(transaction).root):
        if one.id == loop:
            for spec in one.children:
                if isinstance(spec, SegmentSpec) and spec.id == id:
                    return element_name(spec, element)
    return ""


def _loops(loop: LoopSpec) -> Iterator[LoopSpec]:
    yield loop
    for child in loop.children:
        if isinstance(child, LoopSpec):
            yield from _loops(child)
