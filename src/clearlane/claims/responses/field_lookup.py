"""Find the claim fields that a position in an 837 came from.

    source_fields(V3_MEDICAL, "2300/DTP:431/03")
    source_fields(V3_MEDICAL, finding.position, segment=["DTP", "431", "D8", ""], line=2)

A complaint (999, 277CA, or a finding of the X12 checker) names a loop, a segment and an element. The placement tables
know which field was put there; it is returned with its box and label. The finest match counts: the component,
else the element, else the segment.

Knows the tables; knows no claim's values.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from clearlane.claims.fields import ClaimPart, fields_of, nested_parts
from clearlane.claims.finding import path_in_claim
from clearlane.claims.forms import AnyClaimForm, AnyForm, ClaimForm
from clearlane.claims.forms.x12_segments import name_at
from clearlane.claims.kinds import KINDS
from clearlane.kernel.finding import SegmentPosition
from clearlane.x12.path import ElementPath, parse_path

__all__ = [
    "FieldPlace",
    "SourceField",
    "field_places",
    "field_words",
    "source_field",
    "source_fields",
]


class SourceField(NamedTuple):
    """A field of the catalogue: its path in the claim, its box on the form, its label."""

    field: str
    box: str
    label: str


class FieldPlace(NamedTuple):
    """A field and a place that holds its value."""

    name: str
    """The name inside the claim or line; ``Teeth[0].F27_Tooth`` for a part of a line."""
    of_line: bool
    place: str
    path: ElementPath
    echo: bool
    """Whether the place is another field's, which has the same value."""
    unchanged: bool
    """Whether the field's value is written there as it is, and not computed from it."""
    of_patient: bool
    """Whether a value of the patient is in the insured's loop, which is so only if both are one person."""


def source_fields(
    form: AnyForm, at: str | SegmentPosition, *, segment: Sequence[str] = (), line: int = 0
) -> tuple[SourceField, ...]:
    """Return the fields that a position of an 837 came from; none for values the writer generates.

    ``segment`` is the segment as sent, to distinguish segments by qualifier; ``line`` is the number of the service
    line, counted from 1.
    """
    wanted = parse_path(at) if isinstance(at, str) else _path(at)
    if wanted is None:
        return ()
    if len(segment) > 1 and not wanted.qualifier:
        wanted = wanted._replace(qualifier=segment[1].partition(":")[0])
    numbered = isinstance(at, str) and "#" in at
    found = [
        place for place in field_places(form) if _matches(place.path, wanted, numbered=numbered)
    ]
    names = dict.fromkeys(
        _name(form, place, line, numbered=numbered) for place in _finest(found, wanted)
    )
    return tuple(names)


@cache
def field_places(form: AnyForm) -> tuple[FieldPlace, ...]:
    """Return every field with every place it may take, from the billing provider down to the line."""
    return tuple(_places(form))


def source_field(form: AnyForm, name: str, *, of_line: bool, line: int = 0) -> SourceField:
    """Return a field of the catalogue by its name inside the claim or line; KeyError if there is none."""
    part: type[ClaimPart] = form.line if of_line else form.claim
    *outer, last = name.split(".")
    for step in outer:
        part = nested_parts(part)[_INDEX.sub("", step)]
    field = fields_of(part)[_INDEX.sub("", last)]
    prefix = f"{form.lines_field}[{line - 1 if line else ''}]." if of_line else ""
    return SourceField(prefix + name, field.box, field.label)


def field_words(form: AnyClaimForm, path: str) -> str:
    """Return a field for a person: ``Box 24F, line 2, Charge (F24F_Charges)``; for what is not a field its bare name.

    ``path`` is the path of a finding or repair, also with the claim's place in its document.
    """
    if not isinstance(form, ClaimForm):
        name = name_at(KINDS[form.kind].file_tag, path)
        return f"{name} ({path})" if name else path
    inside = path_in_claim(path)
    lines_field = form.lines_field
    at_line = re.match(rf"{lines_field}\[(\d+)\]\.", inside)
    name = inside[at_line.end() :] if at_line else inside
    bare = _INDEX.sub("", name).rpartition(".")[2]
    try:
        field = source_field(form, name, of_line=bool(at_line))
    except KeyError:
        return bare
    item = re.search(r"\[(\d+)\]$", name)
    parts = (
        field.box and f"Box {field.box}",
        at_line and f"line {int(at_line[1]) + 1}",
        field.label,
        item and f"number {int(item[1]) + 1}",
    )
    return f"{', '.join(filter(None, parts))} ({bare})"


_INDEX = re.compile(r"\[\d*\]")


def _places(form: AnyForm) -> Iterator[FieldPlace]:
    tables = form.placements
    claim = fields_of(form.claim)
    patient = {name for name, _ in tables.patient.own_places()}
    for table in tables.loops:
        direct = table.direct_places()
        places = [(name, text, False) for name, text in table.own_places()]
        places += [(name, text, True) for name, text in table.echoes.items()]
        for name, text, echo in places:
            of_line = table is tables.line and name not in claim
            of_patient = table is tables.subscriber and name in patient
            unchanged = direct.get(name.removeprefix(table.within)) == text
            yield FieldPlace(name, of_line, text, parse_path(text), echo, unchanged, of_patient)


def _path(position: SegmentPosition) -> ElementPath | None:
    if not position.loop or not position.segment_id:
        return None
    return ElementPath(
        position.loop, 1, position.segment_id, "", 1, position.element, position.component
    )


def _matches(known: ElementPath, wanted: ElementPath, *, numbered: bool) -> bool:
    return (
        known.loop == wanted.loop
        and known.id == wanted.id
        and not (known.qualifier and wanted.qualifier and known.qualifier != wanted.qualifier)
        and not (numbered and known.nth != wanted.nth)
    )


def _finest(found: Sequence[FieldPlace], wanted: ElementPath) -> Sequence[FieldPlace]:
    # A period of days takes the second and the third element.
    same = [
        place
        for place in found
        if place.path.element == wanted.element
        or (not place.path.element and wanted.element in (2, 3))
    ]
    if not wanted.element or not same:
        return found
    exact = [place for place in same if place.path.component in (0, wanted.component)]
    return exact if wanted.component and exact else same


def _name(form: AnyForm, place: FieldPlace, line: int, *, numbered: bool) -> SourceField:
    name = place.name if numbered else _INDEX.sub("[]", place.name)
    return source_field(form, name, of_line=place.of_line, line=line)
