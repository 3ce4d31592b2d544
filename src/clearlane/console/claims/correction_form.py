"""The fields of a correction: what a claim holds as text for inputs, and texts as the values that a claim takes.

    values = field_texts(claim)                                 # {"F33A_BillingProviderNpi": "1234567893", ...}
    changes = to_fields(claim, {"F33A_BillingProviderNpi": "1598765432"})

A path is a field's name, for lines and codes with their place: ``F24_ClaimLines[0].F24F_Charges``. Knows no page.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal

import msgspec

from clearlane.claims.fields import (
    Claim,
    ClaimField,
    ClaimPart,
    JsonClaim,
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

TEXT_CHARACTERS_MAX = 500
VENDOR_CLAIM_ID, PAYER_ID = "Svc_VendorClaimId", "Svc_PayerId"
NOT_CHANGED_HERE = frozenset({VENDOR_CLAIM_ID, PAYER_ID})
"""Fields that a correction keeps; a claim that no payer was sent may get another payer."""
_ITEM_PATH = re.compile(r"(\w+)\[(\d{1,3})\]\.(\w+)")


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
        return f"f.{self.path}"

    @property
    def title(self) -> str:
        """The box, the line and the label."""
        at_line = f", line {self.line}" if self.line else ""
        return f"Box {self.box}{at_line}: {self.label}" if self.box else f"{self.label}{at_line}"


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
    codes = nested_parts(form.claim)
    found: list[CorrectionInput] = []
    for each in fields_of(form.claim).values():
        if each.name == form.lines_field or each.name in kept:
            continue
        if each.name in codes:
            found += _item_inputs(each, codes[each.name], claim, texts, sentences)
        elif _is_plain(claim, each):
            found.append(_input(each, each.name, 0, claim, texts, sentences))
    for at, line in enumerate(form.lines(claim)):
        found += [
            _input(each, f"{form.lines_field}[{at}].{each.name}", at + 1, line, texts, sentences)
            for each in fields_of(form.line).values()
            if _is_plain(line, each)
        ]
    return found


def _item_inputs(
    each: ClaimField,
    part: type[ClaimPart],
    claim: JsonClaim,
    texts: Mapping[str, str],
    sentences: Mapping[str, str],
) -> list[CorrectionInput]:
    """Return the inputs of an array such as the diagnoses of a UB-04, with one more for a code that is to be added.

    What is said of the array is shown at its first item.
    """
    items: list[ClaimPart] = [*(claim.__dict__.get(each.name) or ())]
    if not nested_parts(part):
        items.append(part.model_construct())
    found: list[CorrectionInput] = []
    for at, item in enumerate(items):
        for leaf in fields_of(part).values():
            if not _is_plain(item, leaf):
                continue
            one = _input(leaf, f"{each.name}[{at}].{leaf.name}", 0, item, texts, sentences)
            said = "" if found else sentences.get(each.name, "")
            said = said or (sentences.get(f"{each.name}[].{leaf.name}", "") if at == 0 else "")
            label = f"{leaf.label} ({at + 1})"
            found.append(replace(one, box=each.box, label=label, sentence=one.sentence or said))
    return found


def _file_inputs(
    claim: X12Claim, texts: Mapping[str, str], sentences: Mapping[str, str]
) -> list[CorrectionInput]:
    """Return an input for every element of a claim of a file that is filled or that a sentence is about."""
    return [
        CorrectionInput(
            path=one.location,
            box="",
            label=f"{one.label} ({one.location})" if one.label else one.location,
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
    known = {one.path: one for one in correction_inputs(claim, {}, {}, with_payer=with_payer)}
    return {
        path: text[:TEXT_CHARACTERS_MAX].strip()
        for path, text in given.items()
        if path in known and text.strip() != known[path].sent.strip()
    }


def to_fields(claim: Claim, changes: Mapping[str, str]) -> dict[str, object]:
    """Return changed texts as the fields that a correction takes: lines and arrays of codes come whole."""
    if isinstance(claim, X12Claim):
        return {path: text or None for path, text in changes.items()}
    kinds = {one.path: one.kind for one in correction_inputs(claim, {}, {}, with_payer=True)}
    fields: dict[str, object] = {}
    content: dict[str, object] = msgspec.json.decode(encode(claim))
    arrays: dict[str, list[dict[str, object]]] = {}
    for path, text in changes.items():
        value = _value(kinds[path], text)
        of_item = _ITEM_PATH.fullmatch(path)
        if of_item is None:
            fields[path] = value
            continue
        name, at = of_item[1], int(of_item[2])
        if name not in arrays:
            known = content.get(name)
            # One more than there are: the input for a code that is added.
            arrays[name] = [*(known if isinstance(known, list) else ()), {}]
        _set_in_item(arrays[name][at], of_item[3], value)
    return fields | {name: [one for one in items if one] for name, items in arrays.items()}


def billed_changes(changes: Mapping[str, str]) -> list[str]:
    """Return the names of changed fields that change what was billed."""
    return sorted({path.rpartition(".")[2] for path in changes if is_billed(path)})


def _set_in_item(item: dict[str, object], name: str, value: object) -> None:
    if value is None:
        item.pop(name, None)
    else:
        item[name] = value


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
    sent = _text(value)
    return CorrectionInput(
        path=path,
        box=each.box,
        label=each.label,
        line=line,
        sent=sent,
        text=texts.get(path, sent),
        kind=_kind(each, value),
        billed=is_billed(path),
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


def _text(value: object) -> str:
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
