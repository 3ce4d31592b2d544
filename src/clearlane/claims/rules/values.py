"""Rules about single values: the format of each type of value.

C301 to C399. Because most values are right, each field has one quick test (``quick_test``) made from the same
tables; the rules are applied only to a value that fails it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from operator import gt, lt
from typing import Any

from clearlane.claims import codes
from clearlane.claims.fields import ClaimField
from clearlane.claims.forms import fields_of_forms
from clearlane.claims.read.repairs import CARRIED, TEXT, is_carried
from clearlane.claims.rules.registry import quoted, value_rule
from clearlane.claims.teeth import TEETH
from clearlane.claims.value_types import ADJUSTMENT_GROUPS, EarlierAdjustment, ValueType
from clearlane.kernel import formats, limits
from clearlane.x12 import codes as x12_codes

AMOUNT_DIGITS_MAX = 10
AMOUNT_DECIMALS_MAX = 2
QUANTITY_DIGITS_MAX = 8
QUANTITY_DECIMALS_MAX = 3


QuickTest = Callable[[Any], object]
"""True for a value that breaks no rule of this module."""

_EIN = re.compile(r"(?!(\d)\1{8})\d{9}", re.ASCII)
_PROCEDURE = re.compile(r"\d{4}[0-9A-Z]|[A-Z]\d{4}", re.ASCII)
_NDC = re.compile(r"(?!0{11})\d{11}", re.ASCII)
_MODIFIER = re.compile(r"[0-9A-Z]{2}", re.ASCII)
_MODIFIERS = re.compile(r"[0-9A-Z]{2}(?:,[0-9A-Z]{2}){0,3}", re.ASCII)
_ZIP = re.compile(r"(?!00000)\d{5}(?:\d{4})?", re.ASCII)
PLACEHOLDERS = frozenset(
    {"NONE", "N/A", "NA", "UNKNOWN", "UNK", "NULL", "SAME", "TBD", "NOT APPLICABLE", "PENDING"}
)

is_npi = lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)(formats.is_npi)


@value_rule(
    "C301", *sorted({*TEXT, ValueType.KEY, ValueType.DIAGNOSIS, ValueType.POINTER}), x12="*"
)
def length(value: str, field: ClaimField) -> str | None:
    """No text is longer than X12 can carry."""
    if field.max_length is None or len(value) <= field.max_length:
        return None
    return f"{field.label} has {len(value)} characters; at most {field.max_length} can be sent."


@value_rule("C302", ValueType.CITY, ValueType.REFERENCE, x12="*")
def shortness(value: str, field: ClaimField) -> str | None:
    """No text is shorter than X12 asks for."""
    if len(value) >= field.min_length:
        return None
    return f"{field.label} {quoted(value)} is too short; at least {field.min_length} characters are needed."


@value_rule("C303", *sorted({*TEXT, ValueType.DIAGNOSIS}), x12="*")
def characters(value: str, field: ClaimField) -> str | None:
    """Text holds only characters that X12 can carry."""
    if is_carried(value):
        return None
    bad = dict.fromkeys(char for char in value if not is_carried(char))
    shown = " ".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in list(bad)[:5])
    return (
        f"{field.label} holds characters that cannot be sent: {shown}. Letters A to Z, digits, blanks "
        "and common punctuation can; the separators * : ~ ^ cannot."
    )


@value_rule("C304", ValueType.NPI, x12="NM1/09", covers=("VAL-NPI",))
def npi(value: str, field: ClaimField) -> str | None:
    """An NPI has ten digits and a right check digit."""
    if is_npi(value):
        return None
    ten = len(value) == 10 and value.isdigit()
    wrong = "has a wrong check digit" if ten else "is not ten digits"
    return (
        f"{field.label} {quoted(value)} {wrong}; give the ten digits as the NPI registry has them."
    )


@value_rule("C305", ValueType.STATE, x12="N4/02")
def state(value: str, field: ClaimField) -> str | None:
    """A state is one of the two-letter codes of the postal service."""
    if value in _states():
        return None
    return f"{field.label} {quoted(value)} is no state; give a two-letter code such as TX."


@value_rule("C306", ValueType.ZIP, x12="N4/03")
def zip_code(value: str, field: ClaimField) -> str | None:
    """A ZIP code has five or nine digits."""
    if _ZIP.fullmatch(value):
        return None
    return f"{field.label} {quoted(value)} is no ZIP code; give five or nine digits."


@value_rule("C307", ValueType.PHONE, x12="PER/04", covers=("VAL-PHONE",), fixed="")
def phone(value: str, field: ClaimField) -> str | None:
    """A phone number has ten digits; neither its area code nor its exchange begins with 0 or 1."""
    if formats.is_phone(value):
        return None
    return f"{field.label} {quoted(value)} is no phone number; give ten digits with the area code."


@value_rule("C308", ValueType.TAXONOMY, x12="PRV/03", covers=("VAL-TAXONOMY",))
def taxonomy(value: str, field: ClaimField) -> str | None:
    """A taxonomy code has ten characters and ends in X."""
    if formats.is_taxonomy(value):
        return None
    return f"{field.label} {quoted(value)} is no taxonomy code; give ten characters such as 207Q00000X."


@value_rule("C309", ValueType.TAX_ID, x12="2010AA/REF/02", covers=("X837-TAX-NUMBER",))
def tax_id(value: str, field: ClaimField) -> str | None:
    """An EIN or SSN has nine digits, not all the same."""
    if _EIN.fullmatch(value):
        return None
    return f"{field.label} {quoted(value)} is not a number of nine digits; give nine digits."


@value_rule("C310", ValueType.CODED, ValueType.PLACE, x12="*")
def coded(value: str, field: ClaimField) -> str | None:
    """A coded field holds a value of its list."""
    if _on_list(field, value):
        return None
    return f"{field.label} {quoted(value)} is not on the list; give {codes.accepted_values(field.codes)}."


@value_rule("C311", ValueType.AMOUNT, x12="*", covers=("X837-CHARGE",))
def not_negative(value: Decimal, field: ClaimField) -> str | None:
    """No amount is negative."""
    if value >= 0 or field.name in SIGNED:
        return None
    return f"{field.label} is {value}; an amount is zero or more."


@value_rule("C312", ValueType.AMOUNT, x12="*")
def cents(value: Decimal, field: ClaimField) -> str | None:
    """An amount has at most two decimals."""
    if _whole(value, CENT):
        return None
    return f"{field.label} is {value}; an amount has at most {AMOUNT_DECIMALS_MAX} decimals."


@value_rule("C313", ValueType.AMOUNT, x12="*")
def amount_size(value: Decimal, field: ClaimField) -> str | None:
    """An amount has at most ten digits, cents included."""
    if abs(value) < AMOUNT_LIMIT:
        return None
    return f"{field.label} is {value}; the largest amount that can be sent is 99999999.99."


@value_rule("C314", ValueType.COUNT, x12="*", covers=("X837-UNITS",))
def quantity(value: Decimal, field: ClaimField) -> str | None:
    """A quantity is above zero, below a hundred million, with at most three decimals."""
    least = value > 0 if field.name in COUNTED else value >= 0
    if least and value < QUANTITY_LIMIT and _whole(value, SMALLEST_QUANTITY):
        return None
    return f"{field.label} is {value}; give a number above 0 with at most 8 digits and 3 decimals."


@value_rule("C315", ValueType.ADJUSTMENTS, x12="CAS/03")
def adjustment_amounts(value: tuple[EarlierAdjustment, ...], field: ClaimField) -> str | None:
    """An adjustment's amount has at most ten digits, two of them decimals."""
    for adjusted in value:
        amount = adjusted.amount
        if abs(amount) >= AMOUNT_LIMIT or not _whole(amount, CENT):
            return (
                f"{field.label} hold {amount}; an adjustment has at most 10 digits and 2 decimals."
            )
    return None


@value_rule("C316", ValueType.ADJUSTMENTS, x12="CAS/02")
def adjustment_reasons(value: tuple[EarlierAdjustment, ...], field: ClaimField) -> str | None:
    """An adjustment's reason is on the list of claim adjustment reason codes."""
    known = _reasons()
    bad = [a.reason for a in value if a.reason is not None and known and a.reason not in known]
    if not bad:
        return None
    return f"{field.label} name the reason {quoted(bad[0])}; give a claim adjustment reason code such as 45."


@value_rule("C317", ValueType.ADJUSTMENTS, x12="CAS")
def adjustment_count(value: tuple[EarlierAdjustment, ...], field: ClaimField) -> str | None:
    """One group has at most six adjustments."""
    if len(value) <= limits.ADJUSTMENTS_PER_GROUP_MAX:
        return None
    return (
        f"{field.label} are {len(value)}; at most {limits.ADJUSTMENTS_PER_GROUP_MAX} can be sent."
    )


@value_rule("C318", ValueType.REFERENCE, x12="REF/02", fixed="")
def no_placeholder(value: str, field: ClaimField) -> str | None:
    """A number is left out when there is none; no word takes its place."""
    if value not in PLACEHOLDERS:
        return None
    return f"{field.label} says {quoted(value)}; give the number, or leave the field out."


@value_rule("C319", ValueType.PROCEDURE, x12="2400/SV1/01")
def procedure(value: str, field: ClaimField) -> str | None:
    """A procedure code has five characters: CPT or HCPCS, for dental claims D and four digits."""
    if _PROCEDURE.fullmatch(value):
        return None
    return f"{field.label} {quoted(value)} has no such form; give five characters such as 99213 or D1110."


@value_rule("C320", ValueType.NDC, x12="2410/LIN/03")
def ndc(value: str, field: ClaimField) -> str | None:
    """A national drug code has eleven digits."""
    if _NDC.fullmatch(value):
        return None
    return f"{field.label} {quoted(value)} is not eleven digits; give the 5-4-2 form, such as 00009-0011-03."


@value_rule("C321", ValueType.TOOTH, x12="2400/TOO/02")
def tooth(value: str, field: ClaimField) -> str | None:
    """A tooth is named in the universal notation: 1 to 32, A to T, or a supernumerary of these."""
    if value in TEETH:
        return None
    return (
        f"{field.label} {quoted(value)} is no tooth; give 1 to 32, A to T, 51 to 82, or AS to TS."
    )


@value_rule("C322", ValueType.MODIFIERS, x12="2400/SV1/01-03")
def modifiers(value: str, field: ClaimField) -> str | None:
    """There are at most four modifiers, each of two letters or digits."""
    words = value.split(",")
    if len(words) > limits.MODIFIERS_PER_LINE_MAX:
        return f"There are {len(words)} modifiers; at most {limits.MODIFIERS_PER_LINE_MAX} can be sent."
    bad = [word for word in words if not _MODIFIER.fullmatch(word)]
    if not bad:
        return None
    return (
        f"The modifier {quoted(bad[0])} has no such form; give two letters or digits, such as 25."
    )


AMOUNT_LIMIT = Decimal(10 ** (AMOUNT_DIGITS_MAX - AMOUNT_DECIMALS_MAX))
QUANTITY_LIMIT = Decimal(10**QUANTITY_DIGITS_MAX)
# An earlier payer's adjustment may give money back.
SIGNED = fields_of_forms("lines[].adjustments[].amount")
# Elsewhere a zero counts as left out.
COUNTED = fields_of_forms("lines[].units")


CENT = Decimal(1).scaleb(-AMOUNT_DECIMALS_MAX)
SMALLEST_QUANTITY = Decimal(1).scaleb(-QUANTITY_DECIMALS_MAX)


def _whole(value: Decimal, unit: Decimal) -> bool:
    """Return whether a number can be written with the decimals of the unit."""
    # Numbers too large to be rounded are refused for their size.
    return abs(value) >= QUANTITY_LIMIT or value.quantize(unit) == value


# The claim has no field for a country, so its addresses are in the United States.
PROVINCES = frozenset(
    {"AB", "BC", "MB", "NB", "NL", "NS", "NT", "NU", "ON", "PE", "QC", "SK", "YT"}
)


@cache
def _states() -> frozenset[str]:
    return frozenset(x12_codes.load("states")) - PROVINCES


def _reasons() -> Mapping[str, str]:
    return x12_codes.load("carc")


def _on_list(field: ClaimField, value: str) -> bool:
    known = codes.meanings(field.codes)
    if field.codes in codes.MULTIPLE:
        return all(word in known for word in value.split(","))
    return value in known


# --- the quick tests ------------------------------------------------------------------------------------------

# Types whose values are only text of some length: these are tested in bulk.
PLAIN = frozenset(
    {
        ValueType.NAME,
        ValueType.STREET,
        ValueType.CITY,
        ValueType.NOTE,
        ValueType.SIGNATURE,
        ValueType.REFERENCE,
        ValueType.DIAGNOSES,
        ValueType.POINTERS,
    }
)


def plain_texts_fit(texts: list[str], least: Sequence[int], most: Sequence[int]) -> bool:
    """Return whether texts of the plain types break no rule of this module."""
    lengths = list(map(len, texts))
    return (
        not any(map(gt, lengths, most))
        and not any(map(lt, lengths, least))
        and is_carried("".join(texts))
        and PLACEHOLDERS.isdisjoint(texts)
    )


def quick_test(field: ClaimField) -> QuickTest | None:
    """Return the quick test of a field's values; None if no rule of this module applies."""
    make = _QUICK_TESTS.get(field.value_type)
    return make(field) if make else None


def _text(field: ClaimField) -> QuickTest:
    return re.compile(
        f"[{re.escape(CARRIED)}]{{{field.min_length},{field.max_length or ''}}}"
    ).fullmatch


def _listed(field: ClaimField) -> QuickTest:
    if field.codes in codes.MULTIPLE:
        return lambda value: _on_list(field, value)
    return frozenset(codes.meanings(field.codes)).__contains__


def _amount(field: ClaimField) -> QuickTest:
    least = -AMOUNT_LIMIT if field.name in SIGNED else Decimal("-0.001")
    return lambda value: least < value < AMOUNT_LIMIT and value.quantize(CENT) == value


def _count(field: ClaimField) -> QuickTest:
    least = Decimal(0) if field.name in COUNTED else Decimal("-0.0001")
    return lambda value: (
        least < value < QUANTITY_LIMIT and value.quantize(SMALLEST_QUANTITY) == value
    )


def _fits(*checks: Callable[[Any, ClaimField], str | None]) -> Callable[[ClaimField], QuickTest]:
    return lambda field: lambda value: all(check(value, field) is None for check in checks)


def _key(field: ClaimField) -> QuickTest:
    most = field.max_length or 0
    return lambda value: len(value) <= most


_QUICK_TESTS: Mapping[ValueType, Callable[[ClaimField], QuickTest]] = {
    ValueType.KEY: _key,
    ValueType.STATE: lambda field: _states().__contains__,
    ValueType.ZIP: lambda field: _ZIP.fullmatch,
    ValueType.PHONE: lambda field: formats.is_phone,
    ValueType.NPI: lambda field: is_npi,
    ValueType.TAXONOMY: lambda field: formats.is_taxonomy,
    ValueType.TAX_ID: lambda field: _EIN.fullmatch,
    ValueType.CODED: _listed,
    ValueType.PLACE: _listed,
    ValueType.DIAGNOSIS: _text,
    ValueType.POINTER: _key,
    ValueType.PROCEDURE: lambda field: _PROCEDURE.fullmatch,
    ValueType.MODIFIERS: lambda field: _MODIFIERS.fullmatch,
    ValueType.NDC: lambda field: _NDC.fullmatch,
    ValueType.TOOTH: lambda field: TEETH.__contains__,
    ValueType.AMOUNT: _amount,
    ValueType.COUNT: _count,
    ValueType.ADJUSTMENTS: _fits(adjustment_amounts, adjustment_reasons, adjustment_count),
}

assert set(ADJUSTMENT_GROUPS) == set(codes.meanings("adjustment_group")), (
    "the groups of both tables are the same"
)
