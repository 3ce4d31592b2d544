"""What is put right without asking, and recorded: case, accents, punctuation, names of codes.

Nothing clinical is touched: a repair changes how a value is written, never what it says. What cannot
be repaired stays as it came, and a rule speaks about it. After this step text is upper-case ASCII,
coded fields hold X12 codes, and the parts of numbers stand in the form X12 carries.

Knows the catalogue's kinds; knows no rule and no X12 place.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from operator import is_not
from typing import Any, NamedTuple, TypeVar

from clearlane.claims import codes
from clearlane.claims.fields import Fields, Row, Tooth, filled, rows
from clearlane.claims.teeth import from_iso
from clearlane.claims.value_types import Kind
from clearlane.kernel import limits

F = TypeVar("F", bound=Fields)


class Repair(NamedTuple):
    """One value that was put right: its path in the claim, and how."""

    field: str
    kind: str


def repair(claim: F) -> tuple[F, tuple[Repair, ...]]:
    """The claim as it can be checked and sent, and what was done to it."""
    looks: list[_Look] = []
    _look(claim, "", looks)
    done: list[Repair] = []
    _clean_texts(looks, done)
    for look in looks:
        _fix_values(look, done)
    repaired = _rebuilt(iter(looks), done)
    return repaired, tuple(done)


# Text that people read, where a character X12 cannot carry may become a blank.
PROSE = frozenset({Kind.NAME, Kind.STREET, Kind.CITY, Kind.NOTE, Kind.SIGNATURE})
# Keys and codes are not here: their case and characters are the caller's own.
TEXT = frozenset(
    {
        *PROSE,
        Kind.STATE,
        Kind.ZIP,
        Kind.PHONE,
        Kind.NPI,
        Kind.TAXONOMY,
        Kind.TAX_ID,
        Kind.REFERENCE,
        Kind.PROCEDURE,
        Kind.MODIFIERS,
        Kind.DIAGNOSES,
        Kind.POINTERS,
        Kind.NDC,
        Kind.TOOTH,
    }
)
COMPLETED_ZIPS = frozenset({"F33_BillingProviderZip", "F48_BillingDentistZip"})
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
    """Whether X12 can carry every character of a text."""
    # Deleting from bytes is several times faster than a search by regular expression.
    return text.isascii() and not text.encode().translate(None, _CARRIED_BYTES)


def plain_letters(text: str) -> str:
    """Accents and typographic marks as ASCII; a letter without an ASCII form stays as it is."""
    parts = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(part for part in parts if not unicodedata.combining(part)).upper()


# --- one part: claim, line, tooth ---------------------------------------------------------------------


class _Plan(NamedTuple):
    """What there is to do in a part of one shape."""

    text: tuple[str, ...]
    prose: frozenset[str]
    fixes: tuple[tuple[str, Callable[[str], str], str], ...]
    """Field, what to do with its text, and the word for it."""
    coded: tuple[tuple[str, Row, Mapping[str, str]], ...]
    """Field, its row, and the spellings that are understood at a glance."""
    lists: tuple[tuple[Row, Callable[[Row, str], Sequence[str | None]]], ...]
    parts: tuple[str, ...]


class _Look(NamedTuple):
    """A part, its path, what there is to do, and its new values so far."""

    part: Fields
    at: str
    plan: _Plan
    new: dict[str, Any]


def _look(part: Fields, at: str, looks: list[_Look]) -> None:
    """The part and the parts inside, outer ones first."""
    plan = _plan(type(part), filled(part))
    looks.append(_Look(part, at, plan, {}))
    for name in plan.parts:
        for index, inner in enumerate(part.__dict__[name]):
            _look(inner, f"{at}{name}[{index}].", looks)


def _rebuilt(looks: Iterator[_Look], done: list[Repair]) -> Any:
    """The parts put together again, in the order in which they were taken apart."""
    part, at, plan, new = next(looks)
    given = part.__dict__
    for name in plan.parts:
        inners = tuple([_rebuilt(looks, done) for _ in given[name]])
        if any(map(is_not, inners, given[name])):
            new[name] = inners
    changed = _changed(part, new) if new else part
    if changed.__dict__.get("F26_ToothSystem") != "JO":
        return changed
    universal = _universal_teeth(changed)
    if universal is not changed:
        done.append(Repair(at + "F26_ToothSystem", "notation"))
    return universal


def _fix_values(look: _Look, done: list[Repair]) -> None:
    part, at, plan, new = look
    given = part.__dict__
    for name, fix, word in plan.fixes:
        text = new.get(name) or given[name]
        fixed = fix(text)
        if fixed != text:
            new[name] = fixed
            done.append(Repair(at + name, word))
    for name, row, quick in plan.coded:
        text = given[name]
        code = quick.get(text) or _coded(row, text)
        if code != text:
            new[name] = code
            done.append(Repair(at + name, "code"))
    for row, fix_item in plan.lists:
        items = given[row.name]
        fixed_items = _flattened(row, items, fix_item)
        if fixed_items != items:
            new[row.name] = fixed_items
            done.append(Repair(at + row.name, "form"))


def _changed(part: F, new: Mapping[str, Any]) -> F:
    """The same part with other values. ``model_copy`` does this too, in four times the time."""
    cls = type(part)
    changed = cls.__new__(cls)
    put = object.__setattr__
    put(changed, "__dict__", {**part.__dict__, **new})
    put(changed, "__pydantic_fields_set__", part.__pydantic_fields_set__)
    put(changed, "__pydantic_extra__", part.__pydantic_extra__)
    put(changed, "__pydantic_private__", None)
    return changed


def _clean_texts(looks: list[_Look], done: list[Repair]) -> None:
    """Upper case, ASCII letters and carried characters, in one stroke for all text of the claim.

    One joined string costs ten microseconds where a hundred single ones cost fifty.
    """
    texts: list[str] = []
    for part, _, plan, _ in looks:
        given = part.__dict__
        texts += [given[name] for name in plan.text]
    joined = _SEPARATOR.join(texts)
    upper = joined.upper()
    clean = upper.isascii() and not upper.encode().translate(None, _JOINED_BYTES)
    if not clean or upper.count(_SEPARATOR) >= max(len(texts), 1):
        for look in looks:
            _clean_each(look, done)
        return
    words = upper.split(_SEPARATOR)
    start = 0
    for _, at, plan, new in looks if upper != joined else ():
        stop = start + len(plan.text)
        if words[start:stop] != texts[start:stop]:
            for name, before, after in zip(
                plan.text, texts[start:stop], words[start:stop], strict=True
            ):
                if before != after:
                    new[name] = after
                    done.append(Repair(at + name, "case"))
        start = stop


def _clean_each(look: _Look, done: list[Repair]) -> None:
    part, at, plan, new = look
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
        # A letter that has no ASCII form is no punctuation: leaving it out would change the name.
        if after.isascii():
            word = "characters"
            after = _UNCARRIED.sub(" ", after)
        else:
            return text, word
    return _BLANKS.sub(" ", after).strip() or text, word


# --- what each kind wants ---------------------------------------------------------------------------------


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
    """Eleven digits: the three groups of a hyphenated code are filled up to 5, 4 and 2."""
    groups = text.replace(" ", "").split("-")
    if len(groups) != 3 or not all(group.isdigit() for group in groups):
        return text.replace("-", "").replace(" ", "") or text
    widths = (5, 4, 2)
    return "".join(group.zfill(width) for group, width in zip(groups, widths, strict=True))


def _modifiers(text: str) -> str:
    """Modifiers separated by commas; a run of letters and digits is cut into pairs."""
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
    """``AB`` is two pointers, ``12`` is one."""
    return tuple(text) if len(text) > 1 and text.isalpha() else (text,)


def _tooth(text: str) -> str:
    return text.lstrip("0") or text


_FIXES: Mapping[Kind, tuple[Callable[[str], str], str]] = {
    Kind.ZIP: (_zip, "punctuation"),
    Kind.PHONE: (_phone, "punctuation"),
    Kind.NPI: (_without_punctuation, "punctuation"),
    Kind.TAXONOMY: (_without_punctuation, "punctuation"),
    Kind.TAX_ID: (_without_punctuation, "punctuation"),
    Kind.PROCEDURE: (_without_punctuation, "punctuation"),
    Kind.NDC: (_ndc, "punctuation"),
    Kind.MODIFIERS: (_modifiers, "form"),
    Kind.DIAGNOSES: (_diagnoses, "form"),
    Kind.POINTERS: (_pointers, "form"),
    Kind.TOOTH: (_tooth, "form"),
}


def _completed_zip(text: str) -> str:
    return text + ZIP_COMPLETION if len(text) == 5 and text.isdigit() else text


def _coded(row: Row, text: str) -> str:
    """The code of a name; several of them where the list allows it; else the text as it came."""
    code = codes.find(row.codes, text)
    if code is None and row.codes in codes.SEVERAL:
        found = [codes.find(row.codes, word) for word in re.split(r"[,;\s]+", text) if word]
        code = ",".join(word for word in found if word) if found and all(found) else None
    return text if code is None else code


# --- arrays of text -------------------------------------------------------------------------------------


def _flattened(
    row: Row, items: Sequence[str | None], fix: Callable[[Row, str], Sequence[str | None]]
) -> tuple[str | None, ...]:
    # A diagnosis keeps its place, because pointers count places; elsewhere blanks are left out.
    fixed: list[str | None] = []
    for item in items:
        if item is not None:
            fixed += fix(row, item)
        elif row.kind is Kind.DIAGNOSIS:
            fixed.append(None)
    return tuple(fixed)


_remembered = lru_cache(maxsize=limits.VERDICTS_REMEMBERED_MAX)


@_remembered
def _diagnosis_item(row: Row, text: str) -> Sequence[str]:
    return (text.upper().replace(".", "").replace(" ", "") or text,)


@_remembered
def _pointer_item(row: Row, text: str) -> Sequence[str]:
    return _pointers(text.upper()).split(",")


def _tooth_item(row: Row, text: str) -> Sequence[str]:
    return (_tooth(text.upper()),)


def _coded_item(row: Row, text: str) -> Sequence[str]:
    code = codes.find(row.codes, text)
    if code is None and row.codes == "surface" and len(text) > 1:
        # ``MOD`` in one entry is the three surfaces of box 28.
        letters = [codes.find(row.codes, letter) for letter in text]
        return tuple(str(letter) for letter in letters) if all(letters) else (text,)
    return (text if code is None else code,)


_ITEMS: Mapping[Kind, Callable[[Row, str], Sequence[str | None]]] = {
    Kind.DIAGNOSIS: _diagnosis_item,
    Kind.POINTER: _pointer_item,
    Kind.TOOTH: _tooth_item,
    Kind.CODED: _coded_item,
}


def _universal_teeth(line: Fields) -> Fields:
    """Teeth in ISO notation become universal ones, the only notation an 837 carries."""
    teeth: tuple[Tooth, ...] = line.__dict__.get("Teeth", ())
    converted = [from_iso(tooth.F27_Tooth) if tooth.F27_Tooth else "" for tooth in teeth]
    if any(universal is None for universal in converted):
        return line
    pairs = zip(teeth, converted, strict=True)
    universal = tuple(
        _changed(tooth, {"F27_Tooth": name}) if name else tooth for tooth, name in pairs
    )
    return _changed(line, {"F26_ToothSystem": "JP", **({"Teeth": universal} if universal else {})})


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def _plan(part: type[Fields], names: tuple[str, ...]) -> _Plan:
    """The whole plan of a class, cut down to the fields that are filled."""
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
def _whole_plan(part: type[Fields]) -> _Plan:
    own = rows(part).values()
    single = [row for row in own if not row.many]
    text = [row for row in single if row.kind in TEXT]
    fixes = [(row.name, *_FIXES[row.kind]) for row in text if row.kind in _FIXES]
    fixes += [(row.name, _completed_zip, "completed") for row in text if row.name in COMPLETED_ZIPS]
    return _Plan(
        text=tuple(row.name for row in text),
        prose=frozenset(row.name for row in text if row.kind in PROSE),
        fixes=tuple(fixes),
        coded=tuple((row.name, row, codes.glance(row.codes)) for row in single if row.codes),
        lists=tuple((row, _ITEMS[row.kind]) for row in own if row.many and row.kind in _ITEMS),
        parts=tuple(row.name for row in own if row.kind is Kind.PARTS),
    )
