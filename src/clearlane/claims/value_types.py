"""The kinds of value a claim field may hold, and how the JSON of each is read.

A reader takes one JSON value and gives the value of the house (a day, an amount, a truth, a list of
adjustments) or refuses it. Whether the value makes sense in the trade is a rule's business.
Text is read by pydantic itself; what is done to it later is in ``repairs``.

**Adjustment values.** The interface says only "adjustment values" of the fields such as
``X12_ClaimContractualObligationAdjustments``. They are read in two forms:

- a plain amount (``12.50``): one adjustment without a reason, sent with the reason of
  :data:`DEFAULT_REASONS`: 45 (charge exceeds the fee arrangement) for contractual obligations and
  192 (no standard code known; made for coordination of benefits) for the other groups;
- reasons with amounts, ``45:12.50`` or ``45:12.50, 97:3``, also with ``=`` for the colon, ``;`` for the
  comma, and a quantity as third part (``45:12.50:1``).

An adjustment of zero is none. It is not an error: some callers fill every field with a number.
"""

import math
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from clearlane.kernel import formats, limits


class Kind(StrEnum):
    """What a field holds. Repairs, checks and the reference page go by this word."""

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
    TOOTH = "tooth"
    DAY = "date"
    AMOUNT = "amount"
    COUNT = "count"
    FLAG = "boolean"
    ADJUSTMENTS = "adjustments"
    PARTS = "objects"


@dataclass(frozen=True, slots=True)
class Form:
    """What a type says of the fields that use it; the field's own line may narrow it."""

    kind: Kind
    max: int | None = None
    min: int = 1


class Adjusted(NamedTuple):
    """One adjustment of an earlier payer: reason (None when only the amount was given), amount, quantity."""

    reason: str | None
    amount: Decimal
    quantity: Decimal | None = None


GROUPS = ("CO", "CR", "OA", "PI", "PR")
DEFAULT_REASONS = {"CO": "45", "CR": "192", "OA": "192", "PI": "192", "PR": "192"}

_TRUTHS = {"true": True, "false": False}
_ADJUSTED = re.compile(
    r"(?P<reason>[0-9A-Za-z]{1,5})\s*[:=]\s*(?P<amount>-?[0-9.]{1,18})(?:\s*[:=]\s*(?P<quantity>[0-9.]{1,15}))?"
)


def day(value: object) -> date:
    """A real day written exactly ``yyyy-mm-dd``."""
    # fromisoformat alone would also take week dates and compact forms; these tests leave one form.
    try:
        if type(value) is str and len(value) == 10 and value[4] == "-" == value[7]:
            return date.fromisoformat(value)
    except ValueError:
        pass
    if type(value) is str and len(value) > 10 and value != (text := value.strip()):
        return day(text)
    raise PydanticCustomError("day", "not a day")


def number(value: object) -> Decimal:
    """A number, or a string that holds a plain decimal number."""
    found: Decimal | None = None
    if type(value) is str:
        found = _text_number(value) if len(value) <= limits.NUMBER_CHARACTERS_MAX else None
    elif type(value) is float:
        found = _float_number(value)
    elif type(value) is int and abs(value) < 10**limits.NUMBER_CHARACTERS_MAX:
        found = Decimal(value)
    # What is kept must be read again, so a number in JSON may be no longer than one in a string.
    if found is None or len(str(found)) > limits.NUMBER_CHARACTERS_MAX:
        raise PydanticCustomError("number", "not a number")
    return found


@lru_cache(maxsize=limits.VERDICTS_REMEMBERED_MAX)
def _text_number(text: str) -> Decimal | None:
    found = formats.money(text.strip())
    return None if found is None else _shortest(found)


@lru_cache(maxsize=limits.VERDICTS_REMEMBERED_MAX)
def _float_number(value: float) -> Decimal | None:
    """The shortest text that reads back as the same float is what the caller wrote.

    Without exponent, so that it can be written and read again.
    """
    found = Decimal(repr(value)) if math.isfinite(value) else None
    return None if found is None else _shortest(found)


def _shortest(number: Decimal) -> Decimal:
    """The number in its shortest plain form, so that equal numbers are equal text: 12.50 is 12.5."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return Decimal(text) if number else Decimal(0)


def flag(value: object) -> bool:
    """A boolean, or one of the words true and false."""
    if value is True or value is False:
        return value
    found = _TRUTHS.get(value.strip().lower()) if isinstance(value, str) else None
    if found is None:
        raise PydanticCustomError("flag", "not a boolean")
    return found


def tooth(value: object) -> str:
    """A tooth as text; a whole number is read as its digits."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 100:
        return str(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise PydanticCustomError("tooth", "not a tooth")


def adjustments(value: object) -> tuple[Adjusted, ...] | None:
    """A plain amount, or reasons with amounts; see the head of this file. None if all are zero."""
    if isinstance(value, str) and (":" in value or "=" in value):
        found = [_adjusted(part) for part in re.split(r"[,;]", value) if part.strip()]
    elif isinstance(value, list) and value and all(_is_stored(item) for item in value):
        found = [Adjusted(item[0], number(item[1]), item[2] and number(item[2])) for item in value]
    else:
        try:
            found = [Adjusted(None, number(value))]
        except PydanticCustomError:
            raise PydanticCustomError("adjustments", "not adjustments") from None
    return tuple(adjusted for adjusted in found if adjusted.amount) or None


def _is_stored(item: object) -> bool:
    """Whether this is the form in which a claim's own adjustments are kept: reason, amount, quantity."""
    return isinstance(item, list) and len(item) == 3 and isinstance(item[0], str | None)


def _adjusted(part: str) -> Adjusted:
    match = _ADJUSTED.fullmatch(part.strip())
    amount = formats.money(match["amount"]) if match else None
    quantity = formats.money(match["quantity"]) if match and match["quantity"] else None
    if match is None or amount is None or (match["quantity"] and quantity is None):
        raise PydanticCustomError("adjustments", "not adjustments")
    return Adjusted(match["reason"].upper(), amount, quantity)


def _said(schema: dict[str, object]) -> WithJsonSchema:
    return WithJsonSchema(schema)


_NUMBER_SCHEMA: dict[str, object] = {"anyOf": [{"type": "number"}, {"type": "string"}]}

# Text. The lengths are those of the X12 elements that carry the values.
Key = Annotated[str, Form(Kind.KEY, max=100)]
LastName = Annotated[str, Form(Kind.NAME, max=60)]
FirstName = Annotated[str, Form(Kind.NAME, max=35)]
MiddleName = Annotated[str, Form(Kind.NAME, max=25)]
Suffix = Annotated[str, Form(Kind.NAME, max=10)]
Street = Annotated[str, Form(Kind.STREET, max=55)]
City = Annotated[str, Form(Kind.CITY, max=30, min=2)]
State = Annotated[str, Form(Kind.STATE, max=2, min=2)]
Zip = Annotated[str, Form(Kind.ZIP, max=9, min=5)]
Phone = Annotated[str, Form(Kind.PHONE, max=10)]
Npi = Annotated[str, Form(Kind.NPI, max=10)]
Taxonomy = Annotated[str, Form(Kind.TAXONOMY, max=10)]
TaxId = Annotated[str, Form(Kind.TAX_ID, max=9)]
MemberId = Annotated[str, Form(Kind.REFERENCE, max=80, min=2)]
Reference = Annotated[str, Form(Kind.REFERENCE, max=50)]
AttachmentNumber = Annotated[str, Form(Kind.REFERENCE, max=50, min=2)]
Note = Annotated[str, Form(Kind.NOTE, max=80)]
Signature = Annotated[str, Form(Kind.SIGNATURE, max=80)]
Coded = Annotated[str, Form(Kind.CODED)]
Place = Annotated[str, Form(Kind.PLACE)]
Diagnosis = Annotated[str, Form(Kind.DIAGNOSIS, max=7)]
Pointer = Annotated[str, Form(Kind.POINTER, max=2)]
Procedure = Annotated[str, Form(Kind.PROCEDURE, max=5)]
Modifiers = Annotated[str, Form(Kind.MODIFIERS, max=14)]
DiagnosisList = Annotated[str, Form(Kind.DIAGNOSES, max=40)]
PointerList = Annotated[str, Form(Kind.POINTERS, max=14)]
Ndc = Annotated[str, Form(Kind.NDC, max=11)]

# Everything else.
ToothNumber = Annotated[
    str, PlainValidator(tooth), Form(Kind.TOOTH, max=2), _said({"type": "string"})
]
Day = Annotated[
    date, PlainValidator(day), Form(Kind.DAY), _said({"type": "string", "format": "date"})
]
Amount = Annotated[Decimal, PlainValidator(number), Form(Kind.AMOUNT), _said(_NUMBER_SCHEMA)]
Count = Annotated[Decimal, PlainValidator(number), Form(Kind.COUNT), _said(_NUMBER_SCHEMA)]
Flag = Annotated[
    bool,
    PlainValidator(flag),
    Form(Kind.FLAG),
    _said({"anyOf": [{"type": "boolean"}, {"enum": ["true", "false"]}]}),
]
Adjustments = Annotated[
    tuple[Adjusted, ...], PlainValidator(adjustments), Form(Kind.ADJUSTMENTS), _said(_NUMBER_SCHEMA)
]
