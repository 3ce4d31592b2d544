"""Change a claim of a sender's file by patches of segments, elements and components.

    with_element(claim, parse_location("2400/SV101-2 (segment 31)"), "99213")
    with_values(claim, {"2300/REF:F8/02": "8812"})      # None removes the segment

A change makes another value; the claim as it came is never altered. A segment that is added has no number in the sender's
file, and the others keep theirs.

Knows loops and segments; knows no path of a view.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from clearlane.claims.forms.x12_loops import LEVELS, ClaimLoops, loops_of
from clearlane.claims.x12_claim import ADDED, X12Claim, X12Part
from clearlane.x12 import path
from clearlane.x12.tree import Loop, Segment

_LOCATION = re.compile(
    r"[0-9A-Z]+/[A-Z][A-Z0-9]{1,2}(?P<element>\d\d)(?:-(?P<component>\d+))? \(segment (?P<number>\d+)\)",
    re.ASCII,
)
_SHORT = re.compile(r"(?P<loop>[0-9A-Z]+)/(?P<segment>[A-Z][A-Z0-9]{1,2})\d\d(?:-\d+)?", re.ASCII)


class PatchedElement(NamedTuple):
    """An element of a segment, by the segment's number in the sender's file."""

    number: int
    element: int
    component: int = 0


def parse_location(text: str) -> PatchedElement | None:
    """Return the element that a finding's location names (``2400/SV101-2 (segment 31)``); None if it names none."""
    found = _LOCATION.fullmatch(text)
    if found is None:
        return None
    return PatchedElement(int(found["number"]), int(found["element"]), int(found["component"] or 0))


def full_locations(claim: X12Claim, text: str) -> list[str]:
    """Return the locations that a place without a segment number (``2300/clm02``) may mean; other texts as they are.

    Case does not count.
    """
    upper = text.strip().upper()
    found = _SHORT.fullmatch(upper)
    if found is None:
        upper = upper.replace("(SEGMENT ", "(segment ")
        return [upper if _LOCATION.fullmatch(upper) else text]
    loops = loops_of(claim)
    wanted = (found["loop"], found["segment"])
    placed = zip(_placed(loops.parents[0]), loops.numbers, strict=True)
    return [f"{upper} (segment {number})" for place, number in placed if place == wanted and number]


def _placed(loop: Loop) -> Iterator[tuple[str, str]]:
    """Yield the loop and id of each segment, in their order."""
    for item in loop.items:
        if isinstance(item, list):
            yield loop.id, item[0]
        else:
            yield from _placed(item)


def element_at(claim: X12Claim, at: PatchedElement) -> str | None:
    """Return what an element says; None if the claim has no such segment."""
    for number, _, segment in claim.numbered_segments():
        if number == at.number:
            text = segment[at.element] if len(segment) > at.element else ""
            words = text.split(":") if at.component else [text]
            return words[max(at.component, 1) - 1] if len(words) >= at.component else ""
    return None


def with_element(claim: X12Claim, at: PatchedElement, value: str) -> X12Claim:
    """Return the claim with another value of an element; an empty one removes it. Raises ValueError if it has no such segment."""
    for part in claim.parts:
        numbers = list(part.segment_numbers())
        if at.number != ADDED and at.number in numbers:
            segments = part.segments
            patch(segments[numbers.index(at.number)], at.element, at.component, value)
            text = "~".join(["*".join(segment) for segment in segments])
            return claim.with_part(msgspec.structs.replace(part, text=text))
    raise ValueError(f"the claim has no segment {at.number}")


def with_values(claim: X12Claim, values: Mapping[str, str | None]) -> X12Claim:
    """Return the claim with other values at places of its own loop, such as ``2300/REF:F8/02``; None removes the segment.

    A segment that it lacks is added where the guide wants it.
    """

    def edit(loops: ClaimLoops) -> None:
        for place, value in values.items():
            if value is not None:
                path.put(loops.claim, place, value)
                continue
            where = path.parse_path(place)
            own = [*loops.claim.segments(where.id, where.qualifier)]
            loops.claim.items[:] = [item for item in loops.claim.items if item not in own]

    return edited(claim, edit)


def edited(claim: X12Claim, edit: Callable[[ClaimLoops], None]) -> X12Claim:
    """Return the claim with what a function makes of its loops."""
    loops = loops_of(claim)
    own = [segment for level in _levels(loops) for segment in _segments(level)]
    numbers = {id(segment): n for segment, n in zip(own, loops.numbers[1:], strict=True)}
    edit(loops)
    parts = []
    for part, level in zip(claim.parts, _levels(loops), strict=True):
        segments = _segments(level)
        given = tuple([numbers.get(id(segment), ADDED) for segment in segments])
        is_whole = given == tuple(range(part.first, part.first + len(given)))
        text = "~".join(["*".join(segment) for segment in segments])
        parts.append(X12Part(part.loop, part.first, text, () if is_whole else given))
    return msgspec.structs.replace(claim, parts=tuple(parts))


def _levels(loops: ClaimLoops) -> tuple[Loop, ...]:
    return (*loops.parents[1:], loops.claim)


def _segments(level: Loop) -> list[Segment]:
    """Return the segments of a level before the levels in it."""
    return [
        segment
        for item in level.heading(*LEVELS)
        for segment in ([item] if isinstance(item, list) else item.all_segments())
    ]


def patch(segment: Segment, element: int, component: int, value: str) -> None:
    """Set an element of a segment, or a component of one, and leave out what is empty at its end."""
    segment += [""] * (element + 1 - len(segment))
    if component:
        words = segment[element].split(":")
        words += [""] * (component - len(words))
        words[component - 1] = value
        value = ":".join(words).rstrip(":")
    segment[element] = value
    while not segment[-1]:
        segment.pop()
