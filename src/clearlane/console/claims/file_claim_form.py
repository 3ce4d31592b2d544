"""A claim of a sender's file on pages: the boxes of the paper form as its view fills them, its segments, and their inputs.

Boxes and segments say the same: the first as people know a claim, the second as the sender wrote it. A correction patches
elements. Knows the view, segments and the catalogue; knows no page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, NamedTuple

from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_changes import element_at, parse_location
from clearlane.claims.forms.x12_places import ClaimPlaces
from clearlane.claims.forms.x12_segments import ClaimSegment, element_name, segments_of
from clearlane.claims.institutional_view import CodeView
from clearlane.claims.view_builder import ViewTable
from clearlane.claims.x12_claim import X12Claim, is_claim_trace
from clearlane.x12.writer.encode import readable_signs

IN_MINUTES = "in_minutes"
FILE_LABELS: Mapping[str, str] = {IN_MINUTES: "Counted in"}
"""What is called otherwise of a claim that came as a file, by the view: V3 has a question in place of the element."""
MEASURES: Mapping[bool, str] = {True: "Minutes", False: "Units"}
"""What the measure of a line (SV103) counts, by the view."""
KEPT_SEGMENTS = frozenset({"HL", "LX"})


class FieldFault(NamedTuple):
    """What is wrong with a field."""

    sentence: str
    """The payer's sentence, or ours."""
    reasons: tuple[int, ...] = ()
    """The numbers under which the page says it in full, from 1; none if it does not."""


class FileElement(NamedTuple):
    """An element or component of a claim of a file that a person may correct."""

    location: str
    label: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRow:
    """A segment as the sender wrote it; without a repr, because it holds patient data."""

    number: int
    loop: str
    name: str
    text: str = field(repr=False)
    fault: FieldFault | None = None


def view_values(
    claim: X12Claim, table: ViewTable, at: str, faults: Mapping[str, FieldFault]
) -> tuple[dict[str, Any], dict[str, FieldFault]]:
    """Return the values of a view and their faults by the names of V3's fields; ``at`` begins the paths of a line."""
    form = form_of(claim)
    places = form.places(claim)
    values: dict[str, Any] = {}
    wrong: dict[str, FieldFault] = {}
    for name, path in table.paths.items():
        value = form.value(claim, at + path)
        if value is not None and not _is_part(value):
            values[name] = MEASURES[value] if path == IN_MINUTES else value
        if form.has(at + path) and (fault := _fault_at(places, at + path, value, faults)):
            wrong[name] = fault
    return values, wrong


def _fault_at(
    places: ClaimPlaces, path: str, value: Any, faults: Mapping[str, FieldFault]
) -> FieldFault | None:
    """Return what is wrong with a value, or with one of a list, such as a diagnosis."""
    items = [f"{path}[{at}]" for at in range(len(value))] if isinstance(value, tuple) else []
    # If one of a list cannot be read, the view has none of them; their places are known.
    items += [known for known in places.known if known.startswith(f"{path}[")]
    found = (faults.get(places.locate(one)) for one in (path, *items))
    return next(filter(None, found), None)


def _is_part(value: Any) -> bool:
    """Return whether a value of a view is not one that a box can show."""
    first = value[0] if isinstance(value, tuple) and value else value
    return is_dataclass(first) and not isinstance(first, CodeView)


def segment_rows(claim: X12Claim, faults: Mapping[str, FieldFault]) -> list[SegmentRow]:
    """Return the segments of a claim and of the levels around it, with what is wrong in them."""
    by_number = {
        at.number: fault for location, fault in faults.items() if (at := parse_location(location))
    }
    separators = claim.delimiters.from_canonical()
    return [
        SegmentRow(
            number=one.number,
            loop=one.loop,
            name=one.name,
            text=readable_signs("*".join(one.segment).translate(separators)),
            fault=by_number.get(one.number) or faults.get(one.location()),
        )
        for one in segments_of(claim)
    ]


def correctable_elements(claim: X12Claim, named: Mapping[str, str]) -> list[FileElement]:
    """Return the elements that a person may correct: those that are filled, and those that a finding names."""
    found = [element for one in segments_of(claim) for element in _elements(one, named)]
    listed = {one.location for one in found}
    for location in named:
        at = parse_location(location)
        if at is not None and location not in listed and element_at(claim, at) is not None:
            found.append(FileElement(location, "", 0, element_at(claim, at) or ""))
    return found


def _elements(one: ClaimSegment, named: Mapping[str, str]) -> list[FileElement]:
    id = one.segment[0]
    if id in KEPT_SEGMENTS or is_claim_trace(one.segment) or not one.number:
        return []
    found: list[FileElement] = []
    for element, text in enumerate(one.segment[1:], 1):
        if (id, element) == ("CLM", 1):
            continue
        label = element_name(one.spec, element)
        words = text.split(":")
        is_composite = len(words) > 1
        for component, word in enumerate(words, 1):
            location = one.location(element, component if is_composite else 0)
            if word or location in named:
                found.append(FileElement(location, label, one.line, word))
    return found
