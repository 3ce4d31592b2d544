"""The second reading of a claim: names in any case, and scalars as other programs write them.

``decode`` reads a claim with the interface's exact names first. What that refuses, or what has names in another
case, is read here: more slowly, and with a record of every value that was read in another form than it was sent.

    read_tolerantly(raw, MedicalClaim, "Claims[0]")   # TolerantReading(filled, ignored_fields, findings, repairs)

Dates are not touched: the interface rejects other forms. Knows the field catalogue; knows no rule.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

from clearlane.claims import codes
from clearlane.claims.fields import ClaimField, ClaimPart, fields_of, nested_parts
from clearlane.claims.finding import ClaimFinding, shape_finding
from clearlane.claims.read.repairs import Repair
from clearlane.claims.value_types import ValueType
from clearlane.kernel import json_names, limits
from clearlane.kernel.json_names import NumberText, fold_name

LIST_ITEMS_READ_MAX = 200


OTHER_NAMES = Repair("", "names")
"""Recorded once for a claim with names in another case."""
REPEATED, AS_TEXT, AS_NUMBER, AS_BOOLEAN = "repeated", "text", "number", "boolean"
AS_SHORT_TEXT = "short text"
"""A number with fewer digits than the field has: leading zeros that its writer lost cannot be invented."""
DIGITS: Mapping[ValueType, tuple[int, ...]] = {
    ValueType.NPI: (10,),
    ValueType.ZIP: (5, 9),
    ValueType.PHONE: (10,),
    ValueType.TAX_ID: (9,),
    ValueType.PROCEDURE: (5,),
    ValueType.NDC: (11,),
    ValueType.PLACE: (2,),
}
"""The lengths of numbers whose length is fixed."""


@dataclass(slots=True, repr=False)
class TolerantReading:
    """The filled fields of a claim by their exact names, and what was noticed on the way."""

    at: str
    filled: dict[str, Any] = field(default_factory=dict)
    ignored_fields: list[str] = field(default_factory=list)
    findings: list[ClaimFinding] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    has_other_names: bool = False
    has_repeated_names: bool = False


def read_tolerantly(raw: bytes, part: type[ClaimPart], at: str) -> TolerantReading | None:
    """Read a claim from its JSON; return None if that is not an object.

    Raises ``msgspec.DecodeError``, ``UnicodeDecodeError`` or ``RecursionError`` if it is not JSON.
    """
    value = json_names.decode_as_written(raw)
    if not isinstance(value, dict):
        return None
    reading = _read(value, part, at)
    if reading.has_repeated_names:
        # A dictionary keeps the place of a name's first use, and the last use decides.
        reading = _read(json_names.decode_in_order(raw), part, at)
    if reading.has_other_names:
        reading.repairs.append(OTHER_NAMES)
    return reading


def is_known_in_another_case(part: type[ClaimPart], name: str) -> bool:
    """Return whether a name that is not a field of a class is one in another case."""
    return _in_any_case(part, name) is not None


def _read(value: dict[str, Any], part: type[ClaimPart], at: str) -> TolerantReading:
    reading = TolerantReading(at)
    reading.filled = _read_part(value, part, "", reading)
    return reading


def _read_part(
    value: dict[str, Any], part: type[ClaimPart], inside: str, reading: TolerantReading
) -> dict[str, Any]:
    """Return the known fields without nulls and blanks, with lists cut to the length that is read."""
    exact = _exact_names(part)
    found: dict[str, Any] = {}
    seen: set[str] = set()
    for spelling, item in value.items():
        known = exact.get(spelling)
        if known is None:
            known = _in_any_case(part, spelling)
            if known is None:
                if len(reading.ignored_fields) < limits.IGNORED_FIELDS_SHOWN_MAX:
                    reading.ignored_fields.append(f"{reading.at}.{inside}{spelling}")
                continue
            reading.has_other_names = True
        if item is None:
            continue  # missing: it hides no value under another spelling
        name = known.field.name
        if name in seen:
            reading.has_repeated_names = True
            reading.repairs.append(Repair(inside + name, REPEATED))
            found.pop(name, None)
        seen.add(name)
        if item.__class__ is list:
            items = _read_list(item, known, inside + name, reading)
            if any(each is not None for each in items):
                found[name] = items
        elif not is_blank(item):
            found[name] = _read_scalar(item, known, inside + name, reading)
    return found


def _read_list(
    items: list[Any], known: "_KnownField", path: str, reading: TolerantReading
) -> list[Any]:
    if len(items) > LIST_ITEMS_READ_MAX:
        message = f"At most {LIST_ITEMS_READ_MAX} items are read."
        reading.findings.append(shape_finding(f"{reading.at}.{path}", message))
    found: list[Any] = []
    for index, item in enumerate(items[:LIST_ITEMS_READ_MAX]):
        if is_blank(item):
            found.append(None)
        elif known.part is None:
            found.append(_read_scalar(item, known, path, reading))
        elif item.__class__ is dict:
            found.append(_read_part(item, known.part, f"{path}[{index}].", reading))
        else:
            found.append(item)
    return found


def is_blank(value: object) -> bool:
    """Return whether a value counts as missing: null, an empty text, or blanks."""
    return value is None or (isinstance(value, str) and not value.strip())


# --- names ------------------------------------------------------------------------------------------------


class _KnownField(NamedTuple):
    """A field, the reader of its scalars, and the class of the objects it holds."""

    field: ClaimField
    read: "Callable[[Any, ClaimField], tuple[Any, str]]"
    part: type[ClaimPart] | None


@cache
def _exact_names(part: type[ClaimPart]) -> Mapping[str, _KnownField]:
    """Return the fields of a class by every exact spelling."""
    inner = nested_parts(part)
    return {
        spelling: _KnownField(own, _SCALARS.get(own.value_type, _as_text), inner.get(own.name))
        for own in fields_of(part).values()
        for spelling in (own.name, *own.aliases)
    }


@cache
def _folded_names(part: type[ClaimPart]) -> Mapping[str, str]:
    return json_names.fold_names(_exact_names(part))


def _in_any_case(part: type[ClaimPart], spelling: str) -> _KnownField | None:
    # The names of one program are few, and long ones are not names: the cache stays small.
    if len(spelling) > limits.FIELD_NAME_CHARACTERS_MAX:
        return None
    return _remembered(part, spelling)


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def _remembered(part: type[ClaimPart], spelling: str) -> _KnownField | None:
    name = _folded_names(part).get(fold_name(spelling))
    return None if name is None else _exact_names(part)[name]


# --- scalars ----------------------------------------------------------------------------------------------

_GROUPED = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_BITS = {"0": False, "1": True}


def _read_scalar(item: Any, known: _KnownField, path: str, reading: TolerantReading) -> Any:
    if item.__class__ is dict or item.__class__ is list:
        return item  # no scalar: refused later, with its type
    value, kind = known.read(item, known.field)
    if kind:
        reading.repairs.append(Repair(path, kind))
    return value


def _as_text(value: Any, own: ClaimField) -> tuple[Any, str]:
    """Read a number as its digits. A boolean is text only if the field's list has a word for it."""
    if value.__class__ is str:
        return value, ""
    if value is True or value is False:
        word = str(value)
        listed = own.codes and codes.find(own.codes, word) is not None
        return (word, AS_TEXT) if listed else (value, "")
    if value.__class__ is int and value.bit_length() > limits.NUMBER_AS_TEXT_BITS_MAX:
        return value, ""
    text = str(value)
    lengths = DIGITS.get(own.value_type)
    is_short = lengths is not None and len(text) < lengths[-1] and len(text) not in lengths
    return text, AS_SHORT_TEXT if is_short else AS_TEXT


def _as_number(value: Any, own: ClaimField) -> tuple[Any, str]:
    """Read a text with separators of thousands, ``1,000.00``."""
    if value.__class__ is NumberText:
        number = float(value)
        return (number if math.isfinite(number) else value), ""
    if value.__class__ is str and _GROUPED.fullmatch(text := value.strip()):
        return text.replace(",", ""), AS_NUMBER
    return value, ""


def _as_boolean(value: Any, own: ClaimField) -> tuple[Any, str]:
    """Read ``1`` and ``0``, as a number or a text."""
    if value.__class__ is int or value.__class__ is str:
        found = _BITS.get(str(value).strip()) if value.__class__ is str or value in (0, 1) else None
        return (value, "") if found is None else (found, AS_BOOLEAN)
    return value, ""


def _as_sent(value: Any, own: ClaimField) -> tuple[Any, str]:
    return value, ""


_SCALARS: Mapping[ValueType, Callable[[Any, ClaimField], tuple[Any, str]]] = {
    ValueType.AMOUNT: _as_number,
    ValueType.COUNT: _as_number,
    ValueType.ADJUSTMENTS: _as_number,
    ValueType.FLAG: _as_boolean,
    ValueType.DAY: _as_sent,
    ValueType.TOOTH: _as_sent,
    ValueType.PARTS: _as_sent,
}
