"""The fields of a correction: what a claim holds as text for inputs, and texts as the values that a claim takes.

    values = field_texts(claim)                                 # {"F33A_BillingProviderNpi": "1234567893", ...}
    changes = to_fields(claim, {"F33A_BillingProviderNpi": "1598765432"})

A path is a field's name, for lines and codes with their place: ``F24_ClaimLines[0].F24F_Charges``. Knows no page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec

from clearlane.claims import codes
from clearlane.claims.fields import (
    Claim,
    ClaimField,
    ClaimPart,
    encode,
    fields_of,
    nested_parts,
)
from clearlane.claims.forms import form_of
from clearlane.claims.forms.field_subjects import is_billed
from clearlane.claims.value_types import ValueType
from clearlane.claims.x12_claim import X12Claim
from clearlane.console.claims.file_claim_form import correctable_elements
from clearlane.console.frame import page_text
from clearlane.console.frame.forms import INPUT_PREFIX
from clearlane.kernel.formats import upper_first

TEXT_CHARACTERS_MAX = 500
ITEMS_ADDED_MAX = 25
"""How many items one correction adds to an array of codes."""
VENDOR_CLAIM_ID, PAYER_ID = "Svc_VendorClaimId", "Svc_PayerId"
NOT_CHANGED_HERE = frozenset({VENDOR_CLAIM_ID, PAYER_ID})
"""Fields that a correction keeps; a claim that no payer was sent may get another payer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionInput:
    """One input: a field, the text it had, and the text it has now; without a repr of them."""

    path: str
    box: str
    label: str
    line: int
    sent: str = field(repr=False)
    text: str = field(repr=False)
    kind: str = "text"
    """``text``, ``date``, ``yes-no`` or ``list``."""
    billed: bool = False
    sentence: str = ""
    """What the payer said about it."""
    required: bool = False
    """Whether every claim has it."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """The codes of its list with their meanings; empty for a field without one."""

    @property
    def changed(self) -> bool:
        """Whether it differs from what was sent."""
        return self.text.strip() != self.sent.strip()

    @property
    def sent_words(self) -> str:
        """What was sent, as a person reads it."""
        return self._words(self.sent)

    @property
    def text_words(self) -> str:
        """What it has now, as a person reads it."""
        return self._words(self.text)

    def _words(self, text: str) -> str:
        if self.kind != "date":
            return text
        try:
            return page_text.day(date.fromisoformat(text.strip()))
        except ValueError:
            return text

    @property
    def name(self) -> str:
        """The name of the input in its form."""
        return f"{INPUT_PREFIX}{self.path}"

    @property
    def title(self) -> str:
        """The box, the line and the label."""
        line = f"line {self.line}" if self.line else ""
        place = ", ".join(filter(None, (f"Box {self.box}" if self.box else "", line)))
        return f"{upper_first(place)}: {self.label}" if place else self.label


def correction_inputs(
    claim: Claim,
    texts: Mapping[str, str],
    sentences: Mapping[str, str],
    *,
    with_payer: bool = False,
) -> list[CorrectionInput]:
    """Return an input for every field that a person may correct, in the form's order.

    ``with_payer`` is for a claim that was not accepted: it may go to another payer.
    """
    if isinstance(claim, X12Claim):
        return _file_inputs(claim, texts, sentences)
    form = form_of(claim)
    kept = kept_fields(with_payer=with_payer)
    arrays, of_line = nested_parts(form.claim), nested_parts(form.line)
    found: list[CorrectionInput] = []
    for each in fields_of(form.claim).values():
        if each.name == form.lines_field or each.name in kept:
            continue
        if each.name in arrays:
            found += _item_inputs(each, arrays[each.name], "", 0, claim, texts, sentences)
        elif _is_plain(claim, each):
            found.append(_input(each, each.name, 0, claim, texts, sentences))
    for at, line in enumerate(form.lines(claim)):
        begin = f"{form.lines_field}[{at}]."
        for each in fields_of(form.line).values():
            # Of a line the arrays that the paper form has, such as teeth.
            if each.name in of_line and each.box:
                part = of_line[each.name]
                found += _item_inputs(each, part, begin, at + 1, line, texts, sentences)
            elif _is_plain(line, each):
                found.append(_input(each, begin + each.name, at + 1, line, texts, sentences))
    return found


def _item_inputs(
    each: ClaimField,
    part: type[ClaimPart],
    begin: str,
    line: int,
    holder: ClaimPart,
    texts: Mapping[str, str],
    sentences: Mapping[str, str],
) -> list[CorrectionInput]:
    """Return the inputs of an array such as the diagnoses of a UB-04, with one more for a code that is to be added.

    What is said of the array is shown at its first item. ``begin`` is the path of the line that has it; empty for the claim.
    """
    items: list[ClaimPart] = [*(holder.__dict__.get(each.name) or ())]
    if not nested_parts(part):
        added = _items_added(f"{begin}{each.name}[", len(items), texts)
        items += (part.model_construct() for _ in range(added))
    found: list[CorrectionInput] = []
    for at, item in enumerate(items):
        for leaf in fields_of(part).values():
            if not _is_plain(item, leaf):
                continue
            array = f"{begin}{each.name}"
            one = _input(leaf, f"{array}[{at}].{leaf.name}", line, item, texts, sentences)
            said = "" if found else sentences.get(array, "")
            said = said or (sentences.get(f"{array}[].{leaf.name}", "") if at == 0 else "")
            label = f"{leaf.label} ({at + 1})"
            # A line's own items have boxes of their own: a tooth 27, its surfaces 28.
            box = leaf.box if line else each.box
            said = one.sentence or said
            found.append(replace(one, box=box, label=label, sentence=said, required=False))
    return found


def _items_added(array: str, stored: int, texts: Mapping[str, str]) -> int:
    """Return how many items beyond those that are stored have inputs: those with a text, and one more."""
    indexes = (path[len(array) :].partition("]")[0] for path in texts if path.startswith(array))
    known = (int(index) for index in indexes if index.isdecimal() and len(index) < 4)
    last = max(known, default=-1)
    return min(max(last + 1 - stored, 0), ITEMS_ADDED_MAX) + 1


def _file_inputs(
    claim: X12Claim, texts: Mapping[str, str], sentences: Mapping[str, str]
) -> list[CorrectionInput]:
    """Return an input for every element of a claim of a file that is filled or that a sentence is about."""
    return [
        CorrectionInput(
            path=one.location,
            box="",
            label=f"{one.label}, {one.location}" if one.label else one.location,
            line=one.line,
            sent=one.text,
            text=texts.get(one.location, one.text),
            billed=is_billed(one.location),
            sentence=sentences.get(one.location, ""),
        )
        for one in correctable_elements(claim, {**sentences, **texts})
    ]


def kept_fields(*, with_payer: bool) -> frozenset[str]:
    """Return the fields that a correction may not change."""
    return NOT_CHANGED_HERE - ({PAYER_ID} if with_payer else frozenset())


def changed_texts(
    claim: Claim, given: Mapping[str, str], *, with_payer: bool = False
) -> dict[str, str]:
    """Return of the given texts those that differ from the claim, by path; unknown paths are left out."""
    # Of a claim of a file no text adds an input.
    texts = {} if isinstance(claim, X12Claim) else given
    known = {one.path: one for one in correction_inputs(claim, texts, {}, with_payer=with_payer)}
    return {
        path: text[:TEXT_CHARACTERS_MAX].strip()
        for path, text in given.items()
        if path in known and text.strip() != known[path].sent.strip()
    }


def to_fields(claim: Claim, changes: Mapping[str, str]) -> dict[str, object]:
    """Return changed texts as the fields that a correction takes: lines and arrays of codes come whole."""
    if isinstance(claim, X12Claim):
        return {path: text or None for path, text in changes.items()}
    inputs = correction_inputs(claim, changes, {}, with_payer=True)
    kinds = {one.path: one.kind for one in inputs}
    fields: dict[str, object] = {}
    content: dict[str, Any] = msgspec.json.decode(encode(claim))
    arrays: set[str] = set()
    for path, text in changes.items():
        value = _value(kinds[path], text)
        name, is_item, _ = path.partition("[")
        if is_item:
            arrays.add(name)
            _set_at(content, path, value)
        else:
            fields[path] = value
    return fields | {name: _filled_items(content[name]) for name in sorted(arrays)}


def _set_at(holder: dict[str, Any], path: str, value: object) -> None:
    """Set the value at a path of a claim's content, or remove it; items that are missing are added."""
    step, _, rest = path.partition(".")
    name, _, index = step.rstrip("]").partition("[")
    if index:
        items = holder.setdefault(name, [])
        items += ({} for _ in range(int(index) + 1 - len(items)))
        _set_at(items[int(index)], rest, value)
    elif value is None:
        holder.pop(name, None)
    else:
        holder[name] = value


def _filled_items(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items that have a value, each without its empty arrays of items."""
    kept = []
    for item in items:
        inner = {
            name: _filled_items(value)
            for name, value in item.items()
            if isinstance(value, list) and all(isinstance(one, dict) for one in value)
        }
        own = {name: value for name, value in (item | inner).items() if value != []}
        if own:
            kept.append(own)
    return kept


def billed_changes(changes: Mapping[str, str]) -> list[str]:
    """Return the names of changed fields that change what was billed."""
    return sorted({path.rpartition(".")[2] for path in changes if is_billed(path)})


def _is_plain(part: ClaimPart, each: ClaimField) -> bool:
    """Return whether a field is a text or a list of texts, which one input can hold."""
    if each.value_type is ValueType.PARTS:
        return False
    value = part.__dict__.get(each.name)
    if isinstance(value, tuple):
        return all(one is None or isinstance(one, str | int) for one in value)
    return not isinstance(value, ClaimPart)


def _input(
    each: ClaimField,
    path: str,
    line: int,
    part: ClaimPart,
    texts: Mapping[str, str],
    sentences: Mapping[str, str],
) -> CorrectionInput:
    value = part.__dict__.get(each.name)
    sent, kind = value_text(value), _kind(each, value)
    has_choices = each.codes and kind == "text" and each.codes not in codes.MULTIPLE
    return CorrectionInput(
        path=path,
        box=each.box,
        label=each.label,
        line=line,
        sent=sent,
        text=texts.get(path, sent),
        kind=kind,
        billed=is_billed(path),
        required=each.required,
        choices=codes.accepted_meanings(each.codes) if has_choices else {},
        sentence=next(
            (s for p, s in sentences.items() if p == path or p.partition("[")[0] == path), ""
        ),
    )


def _kind(each: ClaimField, value: object) -> str:
    if isinstance(value, bool) or each.value_type is ValueType.FLAG:
        return "yes-no"
    if isinstance(value, date) or each.value_type is ValueType.DAY:
        return "date"
    return "list" if each.is_array or isinstance(value, tuple) else "text"


def value_text(value: object) -> str:
    """Return a value of a claim as the text of its input."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    if isinstance(value, tuple):
        return " ".join("" if one is None else str(one) for one in value)
    return str(value)


def _value(kind: str, text: str) -> object:
    if not text:
        return None
    if kind == "yes-no":
        return text == "yes"
    return text.split() if kind == "list" else text
