"""Formats of single values: NPI, taxonomy, telephone, ZIP code, dates, money, names.

Text in, boolean or value out. Knows no code list, no clock and no field.
"""

import re
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

NPI_PREFIX_SUM = 24  # Luhn sum of the prefix 80840 that a US NPI is checked with.
ZERO = ord("0")
AMOUNT_CHARACTERS_MAX = 17
AMOUNT_LIMIT = Decimal(10**9)
"""Amounts of payers are below this. The guides allow ten digits, cents included; this is one more."""
TYPED_DAYS = ("%Y-%m-%d", "%m/%d/%Y", "%m-%d-%Y", "%b %d %Y", "%b %d, %Y", "%B %d %Y", "%B %d, %Y")
"""The ways in which people type a day."""

_NPI = re.compile(r"[12]\d{9}", re.ASCII)
_BANK_NUMBER = re.compile(r"\d{9}", re.ASCII)
_TAXONOMY = re.compile(r"[0-9A-Z]{9}X", re.ASCII)
_PHONE = re.compile(r"[2-9]\d{2}[2-9]\d{6}", re.ASCII)
_ZIP = re.compile(r"\d{5}(?:\d{4})?", re.ASCII)
_PO_BOX = re.compile(
    r"\b(?:P\.?\s*O\.?\s*(?:B\.?|BOX|BX|DRAWER)|POST\s+OFFICE\s+(?:BOX|BX|DRAWER)|LOCK\s*BOX|BOX\s+\d+)\b",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_X12_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)", re.ASCII)
_CONTROL_NUMBER = re.compile(r"[0-9]{0,9}", re.ASCII)
_MONEY = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)


def last_first(last: str | None, first: str | None) -> str:
    """Return a person's name as lists write it: ``ARDEN, ROSA``; a part that is missing is left out."""
    return ", ".join(filter(None, (last, first)))


def upper_first(words: str) -> str:
    """Return words as they begin a sentence or a label. Only the first letter changes: 277CA stays as it is."""
    return words[:1].upper() + words[1:]


def lower_first(words: str) -> str:
    """Return words as they are inside a sentence: with a small letter, unless they begin with an abbreviation."""
    return words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"


def is_npi(text: str) -> bool:
    """Return whether a text is an NPI: ten digits, the first 1 or 2, with a valid check digit (Luhn over 80840 and the number)."""
    if not _NPI.fullmatch(text):
        return False
    total = NPI_PREFIX_SUM
    for place, character in enumerate(reversed(text)):
        digit = ord(character) - ZERO
        if place % 2:
            digit = digit * 2 - 9 * (digit > 4)
        total += digit
    return total % 10 == 0


def is_bank_number(text: str) -> bool:
    """Return whether a text is a bank's routing number: nine digits, weighted 3, 7 and 1, that add up to a multiple of ten."""
    if not _BANK_NUMBER.fullmatch(text):
        return False
    digits = [ord(character) - ZERO for character in text]
    return (3 * sum(digits[::3]) + 7 * sum(digits[1::3]) + sum(digits[2::3])) % 10 == 0


def is_taxonomy(text: str) -> bool:
    """Return whether a text has the form of a provider taxonomy code: ten characters, the last an X."""
    return _TAXONOMY.fullmatch(text) is not None


def is_phone(text: str) -> bool:
    """Return whether a text is a US telephone number: ten digits without punctuation, area and exchange not with 0 or 1."""
    return _PHONE.fullmatch(text) is not None


def is_zip(text: str) -> bool:
    """Return whether a text is a ZIP code of five or nine digits without a hyphen."""
    return _ZIP.fullmatch(text) is not None


def is_po_box(text: str) -> bool:
    """Return whether an address line names a post office box instead of a street."""
    return _PO_BOX.search(text) is not None


def parse_iso_date(text: str) -> date | None:
    """Return the date written ``yyyy-mm-dd``, or None if it is not a calendar day."""
    return _day(_ISO_DATE.fullmatch(text))


def parse_x12_date(text: str) -> date | None:
    """Return the date written ``CCYYMMDD``, or None if it is not a calendar day."""
    return _day(_X12_DATE.fullmatch(text))


def _day(match: re.Match[str] | None) -> date | None:
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def format_amount(amount: Decimal) -> str:
    """Write an amount for people, with two decimals, or as many as it was given with: ``1.00``, ``1.005``."""
    exponent = amount.as_tuple().exponent
    return f"{amount:f}" if isinstance(exponent, int) and exponent < -2 else f"{amount:.2f}"


def parse_amount(text: str) -> Decimal | None:
    """Return an amount or quantity of a payer's file, or None; one with more digits than are read is none.

    A payer's file may hold any number of amounts. Below the limit, the sum of all that fit into the largest file still fits
    the 64 bits of a database's integers.
    """
    amount = parse_money(text) if len(text) <= AMOUNT_CHARACTERS_MAX else None
    return amount if amount is not None and abs(amount) < AMOUNT_LIMIT else None


def to_cents(amount: Decimal | None) -> int | None:
    """Return an amount in cents; None if there is none, or it has fractions of a cent."""
    if amount is None:
        return None
    cents = amount * 100
    return int(cents) if cents == cents.to_integral_value() else None


def parse_control_number(text: str) -> int | None:
    """Return a control number of at most nine digits, or None."""
    digits = text.strip().lstrip("0")
    return int(digits or "0") if _CONTROL_NUMBER.fullmatch(digits) and text.strip() else None


def parse_money(text: str) -> Decimal | None:
    """Return a plain decimal number (no exponent, currency sign or separators), or None."""
    if not _MONEY.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:  # pragma: no cover - the pattern admits only what Decimal reads
        return None


def read_typed_day(text: str) -> date | None:
    """Return a day as people type it; None for anything else, and for a year of two digits."""
    for form in TYPED_DAYS:
        try:
            return datetime.strptime(text.strip(), form).date()  # noqa: DTZ007  (a day has no zone)
        except ValueError:
            continue
    return None
