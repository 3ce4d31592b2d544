"""A claim as the boxes of its paper form: number and name small, value large, what is at fault or put right marked.

Knows the catalogue of fields; knows no page and no payer.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from clearlane.claims import codes
from clearlane.claims.fields import Claim, ClaimField, ClaimPart, JsonClaim, fields_of
from clearlane.claims.forms import AnyForm, form_of, form_of_kind
from clearlane.claims.institutional_view import CodeView
from clearlane.claims.value_types import ValueType
from clearlane.claims.x12_claim import X12Claim
from clearlane.console.claims.file_claim_form import (
    FILE_LABELS,
    FieldFault,
    SegmentRow,
    segment_rows,
    view_values,
)
from clearlane.console.frame import page_text
from clearlane.x12 import codes as x12_codes

WIDE_CHARACTERS = 24
UNNAMED_MAX = 4
"""A part with more values than this shows them by their names."""
CODE_LISTS: Mapping[str, str] = {
    "revenue_code": "revenue_codes",
    "institutional.condition_codes": "condition_codes",
    "institutional.occurrences": "occurrence_codes",
    "institutional.occurrence_spans": "occurrence_spans",
    "institutional.value_codes": "value_codes",
}
"""The X12 lists with the words of what a claim or line states, by the view's path."""
PRESENT_WORDS: Mapping[str, str] = {
    "Y": "present on admission",
    "N": "not present on admission",
    "U": "not documented whether present on admission",
    "W": "whether present on admission cannot be determined",
    "1": "exempt from the mark of admission",
}
PRESENT_PATHS = frozenset({"institutional.diagnoses", "institutional.external_causes"})
"""Lists of the view whose codes may have been present on admission."""
BELOW_LINE = ("rendering.", "drug.", "note", "description", "tooth_system")
"""How paths of the view begin that are shown below a line, not as columns."""
BILL_TYPE_PATH, FACILITY_CHARACTERS = "institutional.bill_type", 2
DIAGNOSIS_NAMES = ("Diagnos", "ReasonsForVisit", "ExternalCauses")
"""Parts of the names of fields that have diagnoses."""
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


class LineCell(NamedTuple):
    """What a line states in a column, and what is wrong with it."""

    value: str
    fault: FieldFault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRow:
    """A service line; without a repr, because it holds patient data."""

    cells: list[LineCell] = field(repr=False)
    more: list[FormBox] = field(repr=False)
    """Filled boxes that are too long for a column, such as the rendering provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTable:
    """The service lines: the boxes that any line fills, and each line."""

    columns: list[tuple[str, str]]
    """Number and title of each box."""
    rows: list[LineRow]
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
    sheet = _sheet(form, values, wrong, (), {}, _line_cells(form, lines, FILE_LABELS))
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
    boxes: list[FormBox] = []
    other: list[FormBox] = []
    empty: list[FormBox] = []
    for same in by_box.values():
        one = _box(form, values, same, faults, frozenset(repaired), given)
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
    if isinstance(value, ClaimPart) and len(_named(value)) > UNNAMED_MAX:
        (_, first), *others = _named(value).items()
        return ", ".join([first, *(f"{label} {text}" for label, text in others)])
    if isinstance(value, ClaimPart | CodeView):
        return " ".join(_texts(value))
    return str(value)


def _named(part: ClaimPart) -> dict[str, str]:
    """Return what a part states by the names of its fields."""
    known = fields_of(type(part))
    texts = {
        known[name].label.partition(";")[0]: _meant(known[name], show_value(value))
        for name, value in part.__dict__.items()
    }
    return {label: text for label, text in texts.items() if text}


def _texts(one: ClaimPart | CodeView) -> list[str]:
    """Return what a part states, as people read it: of a code with its days or amount, the code is the first."""
    if isinstance(one, ClaimPart):
        return list(_named(one).values())
    days = dict.fromkeys(filter(None, (one.first_day, one.last_day)))
    period = " to ".join(map(show_value, days))
    values = (one.code, period, one.amount, one.present_on_admission)
    return [text for text in map(show_value, values) if text]


def _coded(value: object, path: str) -> str:
    """Return a value as people read it, with the words of its codes if the path of the view has a list of them."""
    known = x12_codes.load(CODE_LISTS.get(path, ""))
    if not isinstance(value, tuple):
        shown = show_value(value)
        return _with_words(shown, known.get(shown, ""))
    items = [_texts(one) for one in value if isinstance(one, ClaimPart | CodeView)]
    if not items or path not in CODE_LISTS.keys() | PRESENT_PATHS:
        return show_value(value)
    present = PRESENT_WORDS if path in PRESENT_PATHS else {}
    return "; ".join(
        " ".join([_with_words(code, known.get(code, "")), *(present.get(one, one) for one in rest)])
        for code, *rest in items
    )


def _box(
    form: AnyForm,
    held: Mapping[str, Any],
    same: Sequence[ClaimField],
    faults: Mapping[str, FieldFault],
    repaired: frozenset[str],
    given: Mapping[str, str],
) -> FormBox:
    """Return a box of the form: by its own title, or by that of its first filled field; then the others have theirs."""
    number = same[0].box
    paths = form.view_table.paths
    shown = {each: _shown(each, held.get(each.name), paths.get(each.name, "")) for each in same}
    first, *others = [each for each in same if shown[each]] or same[:1]
    title = form.box_titles.get(number)
    if title is None:
        texts = [shown[first], *(f"{each.label} {shown[each]}" for each in others)]
    else:
        texts = list(dict.fromkeys(shown[each] for each in (first, *others)))
    fault = next(filter(None, (_fault_of(each.name, faults) for each in same)), None)
    return FormBox(
        number=number,
        title=title or first.label,
        value=(_between(first) if title else "; ").join(texts),
        fault=fault,
        repaired=any(each.name in repaired for each in same),
        given=", ".join(given[each.name] for each in same if given.get(each.name)),
    )


def _between(first: ClaimField) -> str:
    """Return what is between the values of a box with a title: of a period, its first and last day."""
    return " to " if first.value_type is ValueType.DAY and first.name.endswith("From") else ", "


def _shown(each: ClaimField, value: object, path: str) -> str:
    """Return a value with what its codes mean: never a code without its words, if there is a list of them.

    ZIP codes have their hyphen and diagnoses their dot, as on the forms; X12 has neither. ``path`` is the view's.
    """
    if path == BILL_TYPE_PATH:
        return _bill_type(show_value(value))
    if each.value_type is ValueType.COUNT and isinstance(value, Decimal):
        return f"{value.normalize():,f}"
    shown = _coded(value, path)
    if each.name.endswith("Zip"):
        shown = _LONG_ZIP.sub(r"\1-\2", shown)
    elif any(part in each.name for part in DIAGNOSIS_NAMES):
        shown = _DIAGNOSIS.sub(r"\1.\2", shown)
    return _meant(each, shown)


def _meant(each: ClaimField, shown: str) -> str:
    """Return the value of a coded field with what it means."""
    return _with_words(shown, codes.meanings(each.codes).get(shown, "") if each.codes else "")


def _bill_type(stated: str) -> str:
    """Return a type of bill with the words of facility and classification, and of the frequency if it is stated."""
    facility = x12_codes.load("facility_types").get(stated[:FACILITY_CHARACTERS], "")
    frequency = x12_codes.load("claim_frequencies").get(stated[FACILITY_CHARACTERS:], "")
    return _with_words(stated, "; ".join(filter(None, (facility, frequency))))


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
    return _line_cells(form, cells, {})


def _line_cells(
    form: AnyForm,
    lines: Sequence[tuple[Mapping[str, Any], Mapping[str, FieldFault]]],
    labels: Mapping[str, str],
) -> LineTable:
    """Return the table of lines by their values and faults: a column for each box, below a line what is too long for one.

    ``labels`` has what is not called as the form has it, by the view's path.
    """
    paths = form.line_view_table.paths
    named = (
        replace(each, label=labels.get(paths.get(name, ""), each.label))
        for name, each in fields_of(form.line).items()
    )
    filled = [
        each
        for each in named
        if any(show_value(values.get(each.name)) or each.name in wrong for values, wrong in lines)
    ]
    shown = [each for each in filled if each.box or any(each.name in wrong for _, wrong in lines)]
    below = [each for each in shown if paths.get(each.name, "").startswith(BELOW_LINE)]
    by_box: dict[str, list[ClaimField]] = {}
    for each in shown:
        if each not in below:
            by_box.setdefault(each.box or each.name, []).append(each)
    return LineTable(
        columns=[
            (same[0].box, form.box_titles.get(same[0].box, same[0].label))
            for same in by_box.values()
        ],
        rows=[
            LineRow(
                cells=[_cell(same, paths, values, wrong) for same in by_box.values()],
                more=[
                    FormBox(number=each.box, title=each.label, value=cell.value, fault=cell.fault)
                    for each in below
                    if any(cell := _cell([each], paths, values, wrong))
                ],
            )
            for values, wrong in lines
        ],
        other=[
            FormBox(
                number="",
                title=f"Line {number}: {each.label}",
                value=_shown(each, values[each.name], paths.get(each.name, "")),
            )
            for number, (values, _) in enumerate(lines, 1)
            for each in filled
            if each not in shown and show_value(values.get(each.name))
        ],
    )


def _cell(
    same: Sequence[ClaimField],
    paths: Mapping[str, str],
    values: Mapping[str, Any],
    wrong: Mapping[str, FieldFault],
) -> LineCell:
    """Return what a line states in a box, each value once: a service of one day has the same first and last day."""
    texts = (_shown(each, values.get(each.name), paths.get(each.name, "")) for each in same)
    fault = next((wrong[each.name] for each in same if each.name in wrong), None)
    return LineCell(", ".join(dict.fromkeys(filter(None, texts))), fault)


def _order(number: str) -> tuple[int, str]:
    found = _NUMBER.match(number)
    return (int(found[1]), found[2]) if found else (10_000, number)
