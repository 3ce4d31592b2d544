"""A claim as the boxes of its paper form: number and name small, value large, what is at fault or put right marked.

Knows the catalogue of fields; knows no page and no payer.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from clearlane.claims import codes
from clearlane.claims.fields import Claim, ClaimField, ClaimPart, JsonClaim, fields_of
from clearlane.claims.forms import AnyForm, form_of, form_of_kind
from clearlane.claims.institutional_view import CodeView
from clearlane.claims.x12_claim import X12Claim
from clearlane.console.claims.file_claim_form import (
    FieldFault,
    SegmentRow,
    segment_rows,
    view_values,
)
from clearlane.console.frame import page_text
from clearlane.x12 import codes as x12_codes

WIDE_CHARACTERS = 24
CATEGORY_LISTS: Mapping[str, str] = {"revenue_code": "revenue_codes"}
"""What a line states, by the view's path, whose codes have their words by category in an X12 list."""
_NUMBER = re.compile(r"(\d+)(.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormBox:
    """One box of the form; without a repr, because it holds patient data."""

    number: str
    title: str
    value: str = field(repr=False)
    fault: FieldFault | None = None
    repaired: bool = False
    given: str = field(default="", repr=False)
    """What a repaired box was given as, if that is known."""

    @property
    def is_wide(self) -> bool:
        """Whether it needs the width of two boxes."""
        return len(self.value) > WIDE_CHARACTERS or bool(self.fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTable:
    """The service lines: the boxes that any line fills, and the cells of each line."""

    columns: list[tuple[str, str]]
    rows: list[list[tuple[str, FieldFault | None]]] = field(repr=False)
    """Value and fault of each cell."""
    other: list[FormBox] = field(default_factory=list, repr=False)
    """Filled fields that only X12 has: as columns they would make the table wider than its page."""


_LONG_ZIP = re.compile(r"\b(\d{5})(\d{4})\b", re.ASCII)
_DIAGNOSIS = re.compile(r"\b([A-TV-Z]\d[\dAB])([\dA-Z]{1,4})\b", re.ASCII)
"""A code of ICD-10-CM that has more than its category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormSheet:
    """The boxes of a claim in the form's order."""

    form: str
    boxes: list[FormBox]
    other: list[FormBox]
    """Filled fields that only X12 has."""
    lines: LineTable
    empty: list[FormBox]
    segments: list[SegmentRow] = field(default_factory=list)
    """The segments of a claim that came as a file."""


def form_sheet(
    claim: Claim,
    faults: Mapping[str, FieldFault],
    repaired: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
) -> FormSheet:
    """Return a claim as boxes.

    ``faults`` has what is wrong with each field at fault, by its path; ``given`` what repaired ones were before.
    """
    if isinstance(claim, X12Claim):
        return _file_sheet(claim, faults)
    form = form_of(claim)
    return _sheet(form, claim.__dict__, faults, repaired, given or {}, _line_table(claim, faults))


def _file_sheet(claim: X12Claim, faults: Mapping[str, FieldFault]) -> FormSheet:
    """Return a claim of a file as the boxes that its view fills, and as its segments."""
    form = form_of_kind(form_of(claim).kind)
    values, wrong = view_values(claim, form.view_table, "", faults)
    lines = [
        view_values(claim, form.line_view_table, f"lines[{at}].", faults)
        for at in range(len(form_of(claim).view(claim).lines))
    ]
    sheet = _sheet(form, values, wrong, (), {}, _line_cells(form, lines))
    segments = segment_rows(claim, faults)
    return replace(sheet, form=f"{sheet.form}, read from an 837 file", segments=segments)


def _sheet(
    form: AnyForm,
    values: Mapping[str, Any],
    faults: Mapping[str, FieldFault],
    repaired: Sequence[str],
    given: Mapping[str, str],
    lines: LineTable,
) -> FormSheet:
    lines_field = form.lines_field
    fields = [f for f in fields_of(form.claim).values() if f.name != lines_field]
    by_box: dict[str, list[ClaimField]] = {}
    for each in fields:
        by_box.setdefault(each.box or each.name, []).append(each)
    titles = form.box_titles
    boxes: list[FormBox] = []
    other: list[FormBox] = []
    empty: list[FormBox] = []
    for same in by_box.values():
        one = _box(values, same, titles, faults, frozenset(repaired), given)
        target = empty if not one.value and not one.fault else boxes if one.number else other
        target.append(one)
    return FormSheet(
        form=form.form_name,
        boxes=sorted(boxes, key=lambda one: _order(one.number)),
        other=[*other, *lines.other],
        lines=lines,
        empty=sorted(empty, key=lambda one: _order(one.number)),
    )


def show_value(value: object) -> str:
    """Return a field's value as people read it."""
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, date | datetime):
        return page_text.day(value)
    if isinstance(value, Decimal):
        return f"{value:,.2f}"
    if isinstance(value, tuple | list):
        has_parts = any(isinstance(one, ClaimPart | CodeView) for one in value)
        return ("; " if has_parts else "  ").join(filter(None, map(show_value, value)))
    if isinstance(value, ClaimPart):
        return " ".join(filter(None, map(show_value, value.__dict__.values())))
    if isinstance(value, CodeView):
        days = dict.fromkeys(filter(None, (value.first_day, value.last_day)))
        return show_value((value.code, *days, value.amount, value.present_on_admission))
    return str(value)


def _box(
    held: Mapping[str, Any],
    same: Sequence[ClaimField],
    titles: Mapping[str, str],
    faults: Mapping[str, FieldFault],
    repaired: frozenset[str],
    given: Mapping[str, str],
) -> FormBox:
    number = same[0].box
    title = titles.get(number, same[0].label)
    values = [_with_meaning(each, show_value(held.get(each.name))) for each in same]
    fault = next(filter(None, (_fault_of(each.name, faults) for each in same)), None)
    return FormBox(
        number=number,
        title=title,
        value=", ".join(filter(None, values)),
        fault=fault,
        repaired=any(each.name in repaired for each in same),
        given=", ".join(given[each.name] for each in same if given.get(each.name)),
    )


def _with_meaning(each: ClaimField, value: str) -> str:
    """Return a coded value with what its code means: never a code without its words.

    ZIP codes have their hyphen and diagnoses their dot, as on the forms; X12 has neither.
    """
    if each.name.endswith("Zip"):
        value = _LONG_ZIP.sub(r"\1-\2", value)
    elif "Diagnos" in each.name:
        value = _DIAGNOSIS.sub(r"\1.\2", value)
    meaning = codes.meanings(each.codes).get(value, "") if each.codes and value else ""
    return _with_words(value, meaning)


def _line_value(form: AnyForm, each: ClaimField, value: str) -> str:
    """Return a value of a line with what its code means."""
    listed = CATEGORY_LISTS.get(form.line_view_table.paths.get(each.name, ""))
    if listed is None:
        return _with_meaning(each, value)
    return _with_words(value, x12_codes.load(listed).get(value, ""))


def _with_words(value: str, meaning: str) -> str:
    return f"{value} ({meaning})" if meaning and meaning != value else value


def _fault_of(name: str, faults: Mapping[str, FieldFault]) -> FieldFault | None:
    return next((fault for path, fault in faults.items() if path.partition("[")[0] == name), None)


def _line_table(claim: JsonClaim, faults: Mapping[str, FieldFault]) -> LineTable:
    form = form_of(claim)
    at_lines = [f"{form.lines_field}[{at}]." for at in range(len(form.lines(claim)))]
    cells = [
        (
            line.__dict__,
            {path[len(at) :]: fault for path, fault in faults.items() if path.startswith(at)},
        )
        for at, line in zip(at_lines, form.lines(claim), strict=True)
    ]
    return _line_cells(form, cells)


def _line_cells(
    form: AnyForm, lines: Sequence[tuple[Mapping[str, Any], Mapping[str, FieldFault]]]
) -> LineTable:
    """Return the table of lines by their values and faults."""
    filled = [
        each
        for each in fields_of(form.line).values()
        if any(show_value(values.get(each.name)) or each.name in wrong for values, wrong in lines)
    ]
    shown = [each for each in filled if each.box or any(each.name in wrong for _, wrong in lines)]
    return LineTable(
        columns=[(each.box, each.label) for each in shown],
        rows=[
            [
                (
                    _line_value(form, each, show_value(values.get(each.name))),
                    wrong.get(each.name),
                )
                for each in shown
            ]
            for values, wrong in lines
        ],
        other=[
            FormBox(
                number="",
                title=f"Line {number}: {each.label}",
                value=_with_meaning(each, show_value(values[each.name])),
            )
            for number, (values, _) in enumerate(lines, 1)
            for each in filled
            if each not in shown and show_value(values.get(each.name))
        ],
    )


def _order(number: str) -> tuple[int, str]:
    found = _NUMBER.match(number)
    return (int(found[1]), found[2]) if found else (10_000, number)
