"""Repair how values are written, and record each repair: case, accents, punctuation, names of codes.

Nothing clinical changes: a repair changes the notation of a value, never its meaning. A value that cannot be
repaired stays as it came, for a rule to find. Afterward text is upper-case ASCII, coded fields hold X12
codes, and numbers have the format X12 carries.

Knows the types of values; knows no rule and no X12 place.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from operator import is_not
from typing import Any, NamedTuple, TypeVar

from clearlane.claims import codes
from clearlane.claims.fields import (
    ClaimField,
    ClaimPart,
    fields_of,
    filled_names,
    with_values,
)
from clearlane.claims.forms import fields_of_forms, form_of
from clearlane.claims.teeth import FROM_ISO
from clearlane.claims.value_types import ValueType
from clearlane.kernel import limits

F = TypeVar("F", bound=ClaimPart)


class Repair(NamedTuple):
    """One repaired value: its path in the claim, and the kind of repair."""

    field: str
    kind: str


def repair(claim: F) -> tuple[F, tuple[Repair, ...]]:
    """Return the claim as it can be checked and sent, and its repairs."""
    part_repairs: list[_PartRepair] = []
    _collect_parts(claim, "", part_repairs)
    done: list[Repair] = []
    _clean_texts(part_repairs, done)
    for part_repair in part_repairs:
        _fix_values(part_repair, done)
    repaired = _with_universal_teeth(_rebuilt(iter(part_repairs)), done)
    return repaired, tuple(done)


# Text that people read: in it, a character that X12 cannot carry may become a blank.
PROSE = frozenset(
    {ValueType.NAME, ValueType.STREET, ValueType.CITY, ValueType.NOTE, ValueType.SIGNATURE}
)
# Keys and codes are not here: their case and characters are the caller's own.
TEXT = frozenset(
    {
        *PROSE,
        ValueType.STATE,
        ValueType.ZIP,
        ValueType.PHONE,
        ValueType.NPI,
        ValueType.TAXONOMY,
        ValueType.TAX_ID,
        ValueType.REFERENCE,
        ValueType.PROCEDURE,
        ValueType.MODIFIERS,
        ValueType.DIAGNOSIS,
        ValueType.DIAGNOSES,
        ValueType.POINTERS,
        ValueType.NDC,
        ValueType.BILL_TYPE,
        ValueType.TOOTH,
    }
)
BILL_TYPE_ON_PAPER = 4
"""The characters of a type of bill with its zero."""
TOOTH_SYSTEM = "lines[].tooth_system"
ZIP_COMPLETION = "9998"

# The basic and extended sets of X12 without the four separators. A back-tick and control characters
# are in neither.
CARRIED = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 !\"&'()+,-./;?=%@[]_{}\\|<>#$"
_SEPARATOR = "\x1f"
_CARRIED_BYTES = CARRIED.encode()
_JOINED_BYTES = _CARRIED_BYTES + _SEPARATOR.encode()
_UNCARRIED = re.compile(f"[^{re.escape(CARRIED)}]+")
_BLANKS = re.compile(r" {2,}")
_LETTERS = str.maketrans(
    {
        "ß": "SS",
        "Æ": "AE",
        "æ": "AE",
        "Ø": "O",
        "ø": "O",
        "Œ": "OE",
        "œ": "OE",
        "Ł": "L",
        "ł": "L",
        "Đ": "D",
        "đ": "D",
        "Ð": "D",
        "ð": "D",
        "Þ": "TH",
        "þ": "TH",
        "\u0131": "I",  # the dotless i
        **dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4`", "'"),  # quotation marks, prime, accents
        **dict.fromkeys("\u201c\u201d\u201e\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),  # hyphens and dashes
        "\u2026": "...",
        "\u00a0": " ",
        "\u2044": "/",
    }
)


def is_carried(text: str) -> bool:
    """Return whether X12 can carry every character of a text."""
    # Deleting from bytes is several times faster than a search by regular expression.
    return text.isascii() and not text.encode().translate(None, _CARRIED_BYTES)


def plain_letters(text: str) -> str:
    """Replace accents and typographic marks by ASCII; a letter without an ASCII form stays as it is."""
    parts = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(part for part in parts if not unicodedata.combining(part)).upper()


# --- one part: claim, line, tooth ---------------------------------------------------------------------


class _Plan(NamedTuple):
    """The repairs to try in a part with certain filled fields."""

    text: tuple[str, ...]
    prose: frozenset[str]
    fixes: tuple[tuple[str, Callable[[str], str], str], ...]
    """Field, function of its text, and the kind of repair."""
    coded: tuple[tuple[str, ClaimField, Mapping[str, str]], ...]
    """Field name, field, and the common spellings of its codes."""
    lists: tuple[tuple[ClaimField, Callable[[ClaimField, str], Sequence[str | None]]], ...]
    parts: tuple[str, ...]


class _PartRepair(NamedTuple):
    """A part, its path, its plan, and its new values so far."""

    part: ClaimPart
    at: str
    plan: _Plan
    new: dict[str, Any]


def _collect_parts(part: ClaimPart, at: str, part_repairs: list[_PartRepair]) -> None:
    """Collect a part and the parts inside it, outer ones first."""
    plan = _plan(type(part), filled_names(part))
    part_repairs.append(_PartRepair(part, at, plan, {}))
    for name in plan.parts:
        for index, inner in enumerate(part.__dict__[name]):
            _collect_parts(inner, f"{at}{name}[{index}].", part_repairs)


def _rebuilt(part_repairs: Iterator[_PartRepair]) -> Any:
    """Rebuild the nested parts, in the order in which they were collected."""
    part, _, plan, new = next(part_repairs)
    given = part.__dict__
    for name in plan.parts:
        inners = tuple([_rebuilt(part_repairs) for _ in given[name]])
        if any(map(is_not, inners, given[name])):
            new[name] = inners
    return with_values(part, new) if new else part


def _fix_values(part_repair: _PartRepair, done: list[Repair]) -> None:
    part, at, plan, new = part_repair
    given = part.__dict__
    for name, fix, word in plan.fixes:
        text = new.get(name) or given[name]
        fixed = fix(text)
        if fixed != text:
            new[name] = fixed
            done.append(Repair(at + name, word))
    for name, field, quick in plan.coded:
        text = given[name]
        code = quick.get(text) or _coded(field, text)
        if code != text:
            new[name] = code
            done.append(Repair(at + name, "code"))
    for field, fix_item in plan.lists:
        items = given[field.name]
        fixed_items = _flattened(field, items, fix_item)
        if fixed_items != items:
            new[field.name] = fixed_items
            done.append(Repair(at + field.name, "form"))


def _clean_texts(part_repairs: list[_PartRepair], done: list[Repair]) -> None:
    """Convert all text of the claim to upper-case ASCII that X12 can carry, in one pass where possible.

    One joined string costs ten microseconds; a hundred single ones cost fifty.
    """
    texts: list[str] = []
    for part, _, plan, _ in part_repairs:
        given = part.__dict__
        texts += [given[name] for name in plan.text]
    joined = _SEPARATOR.join(texts)
    upper = joined.upper()
    clean = upper.isascii() and not upper.encode().translate(None, _JOINED_BYTES)
    if not clean or upper.count(_SEPARATOR) >= max(len(texts), 1):
        for part_repair in part_repairs:
            _clean_each(part_repair, done)
        return
    words = upper.split(_SEPARATOR)
    start = 0
    for _, at, plan, new in part_repairs if upper != joined else ():
        stop = start + len(plan.text)
        if words[start:stop] != texts[start:stop]:
            for name, before, after in zip(
                plan.text, texts[start:stop], words[start:stop], strict=True
            ):
                if before != after:
                    new[name] = after
                    done.append(Repair(at + name, "case"))
        start = stop


def _clean_each(part_repair: _PartRepair, done: list[Repair]) -> None:
    part, at, plan, new = part_repair
    for name in plan.text:
        before = part.__dict__[name]
        after, word = _clean(before, prose=name in plan.prose)
        if before != after:
            new[name] = after
            done.append(Repair(at + name, word))


def _clean(text: str, *, prose: bool) -> tuple[str, str]:
    word = "case"
    after = text.upper()
    if not after.isascii() or "`" in after:
        word = "accents"
        after = plain_letters(text)
    if prose and _UNCARRIED.search(after):
        # A letter without an ASCII form stays: leaving it out would change the name.
        if after.isascii():
            word = "characters"
            after = _UNCARRIED.sub(" ", after)
        else:
            return text, word
    return _BLANKS.sub(" ", after).strip() or text, word


# --- repairs by type of value -----------------------------------------------------------------------------


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text)) if text.isascii() else text


def _without_punctuation(text: str) -> str:
    if text.isalnum():
        return text
    return text.replace("-", "").replace(" ", "").replace(".", "") or text


def _zip(text: str) -> str:
    if text.isdigit():
        return text
    digits = _without_punctuation(text)
    return digits if digits.isdigit() and len(digits) in (5, 9) else text


def _phone(text: str) -> str:
    if len(text) == 10 and text.isdigit():
        return text
    if re.search(r"[A-Z]", text):
        return text
    digits = _digits(text)
    return digits[1:] if len(digits) == 11 and digits[0] == "1" else digits or text


def _ndc(text: str) -> str:
    """Return eleven digits: the groups of a hyphenated code are padded to 5, 4 and 2."""
    groups = text.replace(" ", "").split("-")
    if len(groups) != 3 or not all(group.isdigit() for group in groups):
        return text.replace("-", "").replace(" ", "") or text
    widths = (5, 4, 2)
    return "".join(group.zfill(width) for group, width in zip(groups, widths, strict=True))


def _modifiers(text: str) -> str:
    """Return modifiers separated by commas; an unbroken text is split into pairs."""
    if len(text) == 2:
        return text
    words = re.findall(r"[^\s,;:/|-]+", text)
    if len(words) == 1 and len(words[0]) > 2 and len(words[0]) % 2 == 0:
        words = [words[0][at : at + 2] for at in range(0, len(words[0]), 2)]
    return ",".join(words) or text


def _diagnoses(text: str) -> str:
    return ",".join(word.replace(".", "") for word in re.findall(r"[^\s,;:/|]+", text)) or text


def _pointers(text: str) -> str:
    words = re.findall(r"[^\s,;:/|-]+", text)
    return ",".join(pointer for word in words for pointer in _split_pointer(word)) or text


def _split_pointer(text: str) -> Sequence[str]:
    """Split ``AB`` into two pointers; ``12`` is one."""
    return tuple(text) if len(text) > 1 and text.isalpha() else (text,)


def _tooth(text: str) -> str:
    return text.lstrip("0") or text


def _bill_type(text: str) -> str:
    """Return a type of bill without the zero that comes first on paper."""
    return text.removeprefix("0") if len(text) == BILL_TYPE_ON_PAPER else text


_FIXES: Mapping[ValueType, tuple[Callable[[str], str], str]] = {
    ValueType.ZIP: (_zip, "punctuation"),
    ValueType.PHONE: (_phone, "punctuation"),
    ValueType.NPI: (_without_punctuation, "punctuation"),
    ValueType.TAXONOMY: (_without_punctuation, "punctuation"),
    ValueType.TAX_ID: (_without_punctuation, "punctuation"),
    ValueType.PROCEDURE: (_without_punctuation, "punctuation"),
    ValueType.NDC: (_ndc, "punctuation"),
    ValueType.BILL_TYPE: (_bill_type, "form"),
    ValueType.MODIFIERS: (_modifiers, "form"),
    ValueType.DIAGNOSIS: (_diagnoses, "form"),
    ValueType.DIAGNOSES: (_diagnoses, "form"),
    ValueType.POINTERS: (_pointers, "form"),
    ValueType.TOOTH: (_tooth, "form"),
}


def _completed_zip(text: str) -> str:
    return text + ZIP_COMPLETION if len(text) == 5 and text.isdigit() else text


def _coded(field: ClaimField, text: str) -> str:
    """Return the code of a name, several if the list allows it; else the text as it came."""
    code = codes.find(field.codes, text)
    if code is None and field.codes in codes.MULTIPLE:
        found = [codes.find(field.codes, word) for word in re.split(r"[,;\s]+", text) if word]
        code = ",".join(word for word in found if word) if found and all(found) else None
    return text if code is None else code


# --- arrays of text -------------------------------------------------------------------------------------


def _flattened(
    field: ClaimField,
    items: Sequence[str | None],
    fix: Callable[[ClaimField, str], Sequence[str | None]],
) -> tuple[str | None, ...]:
    # A diagnosis keeps its place, because pointers count places; elsewhere blanks are dropped.
    fixed: list[str | None] = []
    for item in items:
        if item is not None:
            fixed += fix(field, item)
        elif field.value_type is ValueType.DIAGNOSIS:
            fixed.append(None)
    return tuple(fixed)


_remembered = lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)


@_remembered
def _diagnosis_item(field: ClaimField, text: str) -> Sequence[str]:
    return (text.upper().replace(".", "").replace(" ", "") or text,)


@_remembered
def _pointer_item(field: ClaimField, text: str) -> Sequence[str]:
    return _pointers(text.upper()).split(",")


def _tooth_item(field: ClaimField, text: str) -> Sequence[str]:
    return (_tooth(text.upper()),)


def _coded_item(field: ClaimField, text: str) -> Sequence[str]:
    code = codes.find(field.codes, text)
    if code is None and field.codes == "surface" and len(text) > 1:
        # ``MOD`` in one entry is the three surfaces of box 28.
        letters = [codes.find(field.codes, letter) for letter in text]
        return tuple(str(letter) for letter in letters) if all(letters) else (text,)
    return (text if code is None else code,)


_ITEMS: Mapping[ValueType, Callable[[ClaimField, str], Sequence[str | None]]] = {
    ValueType.DIAGNOSIS: _diagnosis_item,
    ValueType.POINTER: _pointer_item,
    ValueType.TOOTH: _tooth_item,
    ValueType.CODED: _coded_item,
}


def _with_universal_teeth(claim: F, done: list[Repair]) -> F:
    """Convert teeth from ISO to universal notation, the only one an 837 carries, if each of a line has a name in it."""
    form = form_of(claim)
    if not form.has(TOOTH_SYSTEM):
        return claim
    changes: dict[str, str] = {}
    for at, line in enumerate(form.lines(claim)):
        if form.value(line, TOOTH_SYSTEM) != codes.ISO_TEETH:
            continue
        system = TOOTH_SYSTEM.replace("[]", f"[{at}]")
        teeth = [tooth.number for tooth in form.view(claim).lines[at].teeth]
        universal = [number and FROM_ISO.get(number) for number in teeth]
        numbers = {
            f"lines[{at}].teeth[{place}].number": name
            for place, name in enumerate(universal)
            if name
        }
        if len(numbers) == sum(map(bool, teeth)):
            changes |= {system: codes.UNIVERSAL_TEETH, **numbers}
            done.append(Repair(form.locate(system), "notation"))
    return form.with_changes(claim, changes) if changes else claim


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def _plan(part: type[ClaimPart], names: tuple[str, ...]) -> _Plan:
    """Return the plan of a class, reduced to the filled fields."""
    whole = _whole_plan(part)
    given = set(names)
    return _Plan(
        text=tuple([name for name in whole.text if name in given]),
        prose=whole.prose,
        fixes=tuple([fix for fix in whole.fixes if fix[0] in given]),
        coded=tuple([coded for coded in whole.coded if coded[0] in given]),
        lists=tuple([each for each in whole.lists if each[0].name in given]),
        parts=tuple([name for name in whole.parts if name in given]),
    )


@cache
def _whole_plan(part: type[ClaimPart]) -> _Plan:
    """Return the repairs of a class, whatever is filled: each of its lists by a loop of its own, once a class."""
    own, zips = fields_of(part).values(), fields_of_forms("billing.zip")
    single = [field for field in own if not field.is_array]
    text = [field for field in single if field.value_type in TEXT]
    fixes = [
        (field.name, *_FIXES[field.value_type]) for field in text if field.value_type in _FIXES
    ]
    fixes += [(field.name, _completed_zip, "completed") for field in text if field.name in zips]
    return _Plan(
        text=tuple(field.name for field in text),
        prose=frozenset(field.name for field in text if field.value_type in PROSE),
        fixes=tuple(fixes),
        coded=tuple(
            (field.name, field, codes.common_spellings(field.codes))
            for field in single
            if field.codes
        ),
        lists=tuple(
            (field, _ITEMS[field.value_type])
            for field in own
            if field.is_array and field.value_type in _ITEMS
        ),
        parts=tuple(field.name for field in own if field.value_type is ValueType.PARTS),
    )
