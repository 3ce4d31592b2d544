"""From a position in a written claim back to the fields it came from, in the caller's own words.

    where(ClaimKind.MEDICAL, "2300/DTP:431/03")
    where(ClaimKind.MEDICAL, finding.spot, segment=["DTP", "431", "D8", ""], line=2)

What a payer complains about (999, 277CA, a finding of our own checker) names a loop, a segment and an element.
The tables know which field was put there; the answer names it with its form box and label. The finest
match counts: the component, else the element, else the segment.

Knows the tables; knows no claim's values.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from clearlane.claims.fields import PAPERS, ClaimKind, Fields, parts, rows
from clearlane.claims.write_837 import TABLES
from clearlane.kernel.finding import Spot
from clearlane.x12.path import Path, path

__all__ = ["Place", "Source", "places", "source", "where"]


class Source(NamedTuple):
    """A field of the catalogue: its path in the claim, its box on the paper form, its label."""

    field: str
    form: str
    label: str


class Place(NamedTuple):
    """A field and a place it is told at."""

    name: str
    """As the catalogue has it, inside its claim or line; ``Teeth[0].F27_Tooth`` for a part of a line."""
    of_line: bool
    scope: str
    text: str
    at: Path
    echo: bool
    """Whether the place is another field's, and this one says the same."""


def where(
    kind: ClaimKind, at: str | Spot, *, segment: Sequence[str] = (), line: int = 0
) -> tuple[Source, ...]:
    """The fields that a position of a written claim tells; none where the house itself speaks there.

    ``segment`` is the segment as it was sent, which tells apart what only a qualifier does; ``line`` is the
    line's number, counted from 1.
    """
    wanted = path(at) if isinstance(at, str) else _path(at)
    if wanted is None:
        return ()
    if len(segment) > 1 and not wanted.qualifier:
        wanted = wanted._replace(qualifier=segment[1].partition(":")[0])
    numbered = isinstance(at, str) and "#" in at
    found = [place for place in places(kind) if _matches(place.at, wanted, numbered=numbered)]
    names = dict.fromkeys(
        _name(kind, place, line, numbered=numbered) for place in _finest(found, wanted)
    )
    return tuple(names)


@cache
def places(kind: ClaimKind) -> tuple[Place, ...]:
    """Every field with every place it may be told at, from the billing provider down to the line."""
    return tuple(_places(kind))


def source(kind: ClaimKind, name: str, *, of_line: bool, line: int = 0) -> Source:
    """A field of the catalogue by its name inside the claim or line; KeyError where there is none."""
    paper = PAPERS[kind]
    part: type[Fields] = paper.line if of_line else paper.claim
    *outer, last = name.split(".")
    for step in outer:
        part = parts(part)[_INDEX.sub("", step)]
    row = rows(part)[_INDEX.sub("", last)]
    prefix = f"{paper.lines}[{line - 1 if line else ''}]." if of_line else ""
    return Source(prefix + name, row.form, row.label)


_INDEX = re.compile(r"\[\d*\]")


def _places(kind: ClaimKind) -> Iterator[Place]:
    tables = TABLES[kind]
    claim = rows(PAPERS[kind].claim)
    for scope in tables.scopes:
        told = [(name, text, False) for name, text in scope.own()]
        told += [(name, text, True) for name, text in scope.echoes.items()]
        for name, text, echo in told:
            of_line = scope is tables.line and name not in claim
            yield Place(name, of_line, scope.loop, text, path(text), echo)


def _path(spot: Spot) -> Path | None:
    if not spot.loop or not spot.segment_id:
        return None
    return Path(spot.loop, 1, spot.segment_id, "", 1, spot.element, spot.component)


def _matches(known: Path, wanted: Path, *, numbered: bool) -> bool:
    return (
        known.loop == wanted.loop
        and known.id == wanted.id
        and not (known.qualifier and wanted.qualifier and known.qualifier != wanted.qualifier)
        and not (numbered and known.nth != wanted.nth)
    )


def _finest(found: Sequence[Place], wanted: Path) -> Sequence[Place]:
    # A period stands in the second and third element at once.
    same = [
        place
        for place in found
        if place.at.element == wanted.element or (not place.at.element and wanted.element in (2, 3))
    ]
    if not wanted.element or not same:
        return found
    exact = [place for place in same if place.at.component in (0, wanted.component)]
    return exact if wanted.component and exact else same


def _name(kind: ClaimKind, place: Place, line: int, *, numbered: bool) -> Source:
    name = place.name if numbered else _INDEX.sub("[]", place.name)
    return source(kind, name, of_line=place.of_line, line=line)
