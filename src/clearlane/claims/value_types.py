"""The types of values that claim fields hold, and how the JSON of each is read.

A reader takes one JSON value and returns the Python value (date, Decimal, bool, adjustments) or refuses it.
Whether the value makes sense is for a rule to check. Pydantic itself reads text; ``repairs`` normalizes it later.

**Adjustment values.** The interface document says only "adjustment values" of fields such as
``X12_ClaimContractualObligationAdjustments``. They are read in two forms:

- a plain amount (``12.50``): one adjustment without a reason, sent with the reason of
  :data:`DEFAULT_REASONS`: 45 (charge exceeds the fee arrangement) for contractual obligations and
  192 (no standard code known; made for coordination of benefits) for the other groups;
- reasons with amounts, ``45:12.50`` or ``45:12.50, 97:3``, also with ``=`` for the colon, ``;`` for the
  comma, a quantity as third part (``45:12.50:1``), and the group before the reason (``CO-45:12.50``), which
  must be the field's own.

An adjustment of zero is dropped and is not an error: some callers fill every field with a number.
"""

import math
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache, partial
from typing import Annotated, NamedTuple

from pydantic import PlainValidator, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from clearlane.kernel import formats, limits

NUMBER_CHARACTERS_MAX = 30


class ValueType(StrEnum):
    """The type of a field's value, which selects its repairs and checks."""

    KEY = "key"
    NAME = "name"
    STREET = "street"
    CITY = "city"
    STATE = "state"
    ZIP = "zip"
    PHONE = "phone"
    NPI = "npi"
    TAXONOMY = "taxonomy"
    TAX_ID = "tax id"
    REFERENCE = "reference"
    NOTE = "note"
    SIGNATURE = "signature"
    CODED = "coded"
    PLACE = "place of service"
    DIAGNOSIS = "diagnosis"
    DIAGNOSES = "diagnoses in one text"
    POINTER = "pointer"
    POINTERS = "pointers in one text"
    PROCEDURE = "procedure"
    MODIFIERS = "modifiers"
    NDC = "ndc"
    BILL_TYPE = "type of bill"
    TOOTH = "tooth"
    DAY = "date"
    AMOUNT = "amount"
    COUNT = "count"
    FLAG = "boolean"
    ADJUSTMENTS = "adjustments"
    PARTS = "objects"


@dataclass(frozen=True, slots=True)
class ValueSpec:
    """Type and length of a value; the declaration of a field may narrow the length."""

    value_type: ValueType
    max_length: int | None = None
    min_length: int = 1


class EarlierAdjustment(NamedTuple):
    """One adjustment of an earlier payer: reason (None when only the amount was given), amount, quantity."""

    reason: str | None
    amount: Decimal
    quantity: Decimal | None = None


ADJUSTMENT_GROUPS = ("CO", "CR", "OA", "PI", "PR")
DEFAULT_REASONS = {"CO": "45", "CR": "192", "OA": "192", "PI": "192", "PR": "192"}

_BOOLEANS = {"true": True, "false": False}
_ADJUSTMENT = re.compile(
    r"(?:(?P<group>[A-Za-z]{2})-)?(?P<reason>[0-9A-Za-z]{1,5})\s*[:=]\s*(?P<amount>-?[0-9.]{1,18})(?:\s*[:=]\s*(?P<quantity>[0-9.]{1,15}))?"
)


def read_day(value: object) -> date:
    """Read a date written exactly ``yyyy-mm-dd``."""
    # fromisoformat also takes week dates and compact forms; the length and the hyphens exclude them.
    try:
        if type(value) is str and len(value) == 10 and value[4] == "-" == value[7]:
            return date.fromisoformat(value)
    except ValueError:
        pass
    if type(value) is str and len(value) > 10 and value != (text := value.strip()):
        return read_day(text)
    raise PydanticCustomError("day", "not a day")


def read_number(value: object) -> Decimal:
    """Read a number, or a string that holds a plain decimal number."""
    found: Decimal | None = None
    if type(value) is str:
        found = _text_number(value) if len(value) <= NUMBER_CHARACTERS_MAX else None
    elif type(value) is float:
        found = _float_number(value)
    elif type(value) is int and abs(value) < 10**NUMBER_CHARACTERS_MAX:
        found = Decimal(value)
    # A stored number is read again as a string, so it may be no longer than one.
    if found is None or len(str(found)) > NUMBER_CHARACTERS_MAX:
        raise PydanticCustomError("number", "not a number")
    return found


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _text_number(text: str) -> Decimal | None:
    found = formats.parse_money(text.strip())
    return None if found is None else _shortest(found)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _float_number(value: float) -> Decimal | None:
    """Return the number the caller wrote: the shortest text that reads back as the same float.

    It has no exponent, so that it can be stored and read again.
    """
    found = Decimal(repr(value)) if math.isfinite(value) else None
    return None if found is None else _shortest(found)


def _shortest(number: Decimal) -> Decimal:
    """Return the number in its shortest form, so that equal numbers are equal text: 12.50 is 12.5."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return Decimal(text) if number else Decimal(0)


def read_flag(value: object) -> bool:
    """Read a boolean, or one of the words true and false."""
    if value is True or value is False:
        return value
    found = _BOOLEANS.get(value.strip().lower()) if isinstance(value, str) else None
    if found is None:
        raise PydanticCustomError("flag", "not a boolean")
    return found


def read_tooth(value: object) -> str:
    """Read a tooth as text; a whole number is read as its digits."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 100:
        return str(value)
    if type(value) is str and value.strip():
        return value.strip()
    raise PydanticCustomError("tooth", "not a tooth")


def read_adjustments(value: object, group: str) -> tuple[EarlierAdjustment, ...] | None:
    """Read a plain amount, or reasons with amounts (see the module), of a field's group. None if all are zero."""
    if isinstance(value, str) and (":" in value or "=" in value):
        found = [_read_adjustment(part, group) for part in re.split(r"[,;]", value) if part.strip()]
    elif isinstance(value, list) and value and all(_is_stored(item) for item in value):
        found = [
            EarlierAdjustment(item[0], read_number(item[1]), item[2] and read_number(item[2]))
            for item in value
        ]
    else:
        try:
            found = [EarlierAdjustment(None, read_number(value))]
        except PydanticCustomError:
            raise PydanticCustomError("adjustments", "not adjustments") from None
    return tuple(adjusted for adjusted in found if adjusted.amount) or None


def _is_stored(item: object) -> bool:
    """Return whether this is the form ``fields.encode`` writes: reason, amount, quantity."""
    return isinstance(item, list) and len(item) == 3 and isinstance(item[0], str | None)


def _read_adjustment(part: str, group: str) -> EarlierAdjustment:
    match = _ADJUSTMENT.fullmatch(part.strip())
    amount = formats.parse_money(match["amount"]) if match else None
    quantity = formats.parse_money(match["quantity"]) if match and match["quantity"] else None
    if match is None or amount is None or (match["quantity"] and quantity is None):
        raise PydanticCustomError("adjustments", "not adjustments")
    if match["group"] and match["group"].upper() != group:
        raise PydanticCustomError("adjustment_group", "another group", {"group": group})
    return EarlierAdjustment(match["reason"].upper(), amount, quantity)


_NUMBER_SCHEMA: dict[str, object] = {"anyOf": [{"type": "number"}, {"type": "string"}]}

# Text. The lengths are those of the X12 elements that carry the values.
Key = Annotated[str, ValueSpec(ValueType.KEY, max_length=100)]
# Echoed byte for byte, so blanks around it stay; it is compared without them.
CallerKey = Annotated[
    str, StringConstraints(strip_whitespace=False), ValueSpec(ValueType.KEY, max_length=100)
]
LastName = Annotated[str, ValueSpec(ValueType.NAME, max_length=60)]
FirstName = Annotated[str, ValueSpec(ValueType.NAME, max_length=35)]
MiddleName = Annotated[str, ValueSpec(ValueType.NAME, max_length=25)]
Suffix = Annotated[str, ValueSpec(ValueType.NAME, max_length=10)]
Street = Annotated[str, ValueSpec(ValueType.STREET, max_length=55)]
City = Annotated[str, ValueSpec(ValueType.CITY, max_length=30, min_length=2)]
State = Annotated[str, ValueSpec(ValueType.STATE, max_length=2, min_length=2)]
Zip = Annotated[str, ValueSpec(ValueType.ZIP, max_length=9, min_length=5)]
Phone = Annotated[str, ValueSpec(ValueType.PHONE, max_length=10)]
Npi = Annotated[str, ValueSpec(ValueType.NPI, max_length=10)]
Taxonomy = Annotated[str, ValueSpec(ValueType.TAXONOMY, max_length=10)]
TaxId = Annotated[str, ValueSpec(ValueType.TAX_ID, max_length=9)]
MemberId = Annotated[str, ValueSpec(ValueType.REFERENCE, max_length=80, min_length=2)]
Reference = Annotated[str, ValueSpec(ValueType.REFERENCE, max_length=50)]
AttachmentNumber = Annotated[str, ValueSpec(ValueType.REFERENCE, max_length=50, min_length=2)]
Note = Annotated[str, ValueSpec(ValueType.NOTE, max_length=80)]
Signature = Annotated[str, ValueSpec(ValueType.SIGNATURE, max_length=80)]
Coded = Annotated[str, ValueSpec(ValueType.CODED)]
PlaceOfService = Annotated[str, ValueSpec(ValueType.PLACE)]
Diagnosis = Annotated[str, ValueSpec(ValueType.DIAGNOSIS, max_length=7)]
Pointer = Annotated[str, ValueSpec(ValueType.POINTER, max_length=2)]
Procedure = Annotated[str, ValueSpec(ValueType.PROCEDURE, max_length=5)]
Modifiers = Annotated[str, ValueSpec(ValueType.MODIFIERS, max_length=14)]
DiagnosisList = Annotated[str, ValueSpec(ValueType.DIAGNOSES, max_length=40)]
PointerList = Annotated[str, ValueSpec(ValueType.POINTERS, max_length=14)]
BillTypeCode = Annotated[str, ValueSpec(ValueType.BILL_TYPE, max_length=3)]
Ndc = Annotated[str, ValueSpec(ValueType.NDC, max_length=11)]

# Everything else.
ToothNumber = Annotated[
    str,
    PlainValidator(read_tooth),
    ValueSpec(ValueType.TOOTH, max_length=2),
    WithJsonSchema({"type": "string"}),
]
Day = Annotated[
    date,
    PlainValidator(read_day),
    ValueSpec(ValueType.DAY),
    WithJsonSchema({"type": "string", "format": "date"}),
]
Amount = Annotated[
    Decimal,
    PlainValidator(read_number),
    ValueSpec(ValueType.AMOUNT),
    WithJsonSchema(_NUMBER_SCHEMA),
]
Count = Annotated[
    Decimal, PlainValidator(read_number), ValueSpec(ValueType.COUNT), WithJsonSchema(_NUMBER_SCHEMA)
]
Flag = Annotated[
    bool,
    PlainValidator(read_flag),
    ValueSpec(ValueType.FLAG),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": ["true", "false"]}]}),
]
_ADJUSTMENTS = ValueSpec(ValueType.ADJUSTMENTS)
_ADJUSTMENTS_SCHEMA = WithJsonSchema(_NUMBER_SCHEMA)
COAdjustments = Annotated[
    tuple[EarlierAdjustment, ...],
    PlainValidator(partial(read_adjustments, group="CO")),
    _ADJUSTMENTS,
    _ADJUSTMENTS_SCHEMA,
]
CRAdjustments = Annotated[
    tuple[EarlierAdjustment, ...],
    PlainValidator(partial(read_adjustments, group="CR")),
    _ADJUSTMENTS,
    _ADJUSTMENTS_SCHEMA,
]
OAAdjustments = Annotated[
    tuple[EarlierAdjustment, ...],
    PlainValidator(partial(read_adjustments, group="OA")),
    _ADJUSTMENTS,
    _ADJUSTMENTS_SCHEMA,
]
PIAdjustments = Annotated[
    tuple[EarlierAdjustment, ...],
    PlainValidator(partial(read_adjustments, group="PI")),
    _ADJUSTMENTS,
    _ADJUSTMENTS_SCHEMA,
]
PRAdjustments = Annotated[
    tuple[EarlierAdjustment, ...],
    PlainValidator(partial(read_adjustments, group="PR")),
    _ADJUSTMENTS,
    _ADJUSTMENTS_SCHEMA,
]
