"""Payer overlays: apply the small differences of one payer to a guide.

    harbor = apply_overlay(guide, {
        "2300/REF:G1": {"usage": "R"},                          # a segment becomes required
        "2010BA/NM1/09": {"max": 12},                           # an element becomes shorter
        "2000B/SBR/09": {"codes": ("CI", "HM")},                # fewer codes
        "2300/CLM/05-1": {"codes": ("11", "12")},               # of a component
        "2310B": {"usage": "R"},                                # a loop becomes required
    })

A row names a loop, a segment or an element and the columns that change: ``usage`` (R, S or N), ``repeat``, ``min``, ``max``,
``codes``. A row that changes nothing in the guide raises ValueError: it is a mistake in the payer's profile.

Knows guides; knows no payer.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from clearlane.x12.grammar import ElementSpec, Guide, LoopSpec, SegmentSpec

Part = TypeVar("Part", LoopSpec, SegmentSpec, ElementSpec)

COLUMNS = {
    "loop": frozenset({"usage", "repeat"}),
    "segment": frozenset({"usage", "repeat"}),
    "element": frozenset({"usage", "repeat", "min", "max", "codes"}),
}
USAGES = frozenset("RSN")

_ROW = re.compile(
    r"(?P<loop>[^/]+)(?:/(?P<id>[A-Z0-9]+)(?::(?P<qualifier>[^/]+))?"
    r"(?:/(?P<element>\d\d)(?:-(?P<component>\d+))?)?)?"
)


def apply_overlay(guide: Guide, rows: Mapping[str, Mapping[str, Any]]) -> Guide:
    """Return a new guide with these differences; id, kind and names stay."""
    root = guide.root
    for text, columns in rows.items():
        found = _ROW.fullmatch(text)
        if found is None:
            raise ValueError(
                f"{text!r} is no place: write loop, loop/segment or loop/segment/element"
            )
        level = "element" if found["element"] else "segment" if found["id"] else "loop"
        _check_row(text, level, columns)
        changed = _loop(root, found, columns)
        if changed is root:
            raise ValueError(f"the guide {guide.id} has no place {text!r}, or it is so already")
        root = changed
    return replace(guide, root=root)


def _check_row(text: str, level: str, columns: Mapping[str, Any]) -> None:
    unknown = set(columns) - COLUMNS[level]
    if unknown or not columns:
        allowed = ", ".join(sorted(COLUMNS[level]))
        raise ValueError(f"{text!r} may change {allowed} of the {level}")
    if columns.get("usage", "R") not in USAGES:
        raise ValueError(f"the usage of {text!r} must be R, S or N")


def _loop(loop: LoopSpec, row: re.Match[str], columns: Mapping[str, Any]) -> LoopSpec:
    """Return the loop with the row applied in it or below; the same object if nothing changed."""
    if loop.id == row["loop"] and not row["id"]:
        return _replace_columns(loop, columns)
    children: list[SegmentSpec | LoopSpec] = []
    for child in loop.children:
        if isinstance(child, LoopSpec):
            children.append(_loop(child, row, columns))
        elif loop.id == row["loop"] and _matches(child, row):
            children.append(_segment(child, row, columns))
        else:
            children.append(child)
    same = all(new is old for new, old in zip(children, loop.children, strict=True))
    return loop if same else replace(loop, children=tuple(children))


def _matches(segment: SegmentSpec, row: re.Match[str]) -> bool:
    return segment.id == row["id"] and (
        not row["qualifier"] or row["qualifier"] in segment.qualifiers
    )


def _segment(segment: SegmentSpec, row: re.Match[str], columns: Mapping[str, Any]) -> SegmentSpec:
    if not row["element"]:
        return _replace_columns(segment, columns)
    elements = _parts(segment.elements, int(row["element"]), row, columns)
    return segment if elements is segment.elements else replace(segment, elements=elements)


def _parts(
    parts: tuple[ElementSpec, ...], number: int, row: re.Match[str], columns: Mapping[str, Any]
) -> tuple[ElementSpec, ...]:
    if not 0 < number <= len(parts):
        return parts
    old = parts[number - 1]
    if row["component"] and old.components:
        component = int(row["component"])
        inner = old.components
        if not 0 < component <= len(inner):
            return parts
        changed = _replace_columns(inner[component - 1], columns)
        new = replace(old, components=(*inner[: component - 1], changed, *inner[component:]))
    else:
        new = _replace_columns(old, columns)
    return parts if new == old else (*parts[: number - 1], new, *parts[number:])


def _replace_columns(part: Part, columns: Mapping[str, Any]) -> Part:
    """Return the part with the columns changed; the part itself if they are equal already."""
    values: dict[str, Any] = {
        name: tuple(value) if name == "codes" else value for name, value in columns.items()
    }
    if all(getattr(part, name) == value for name, value in values.items()):
        return part
    if "codes" in values:
        values["code_list"] = ""
    return replace(part, **values)
