"""Kinds of values the trade knows, and how each is recognised.

Pure text in, verdict or value out: no code lists, no clock, no fields.
"""

import re
from datetime import date
from decimal import Decimal, InvalidOperation

NPI_PREFIX_SUM = 24  # Luhn sum of the prefix 80840 that a US NPI is checked with.
ZERO = ord("0")

_NPI = re.compile(r"[12]\d{9}", re.ASCII)
_TAXONOMY = re.compile(r"[0-9A-Z]{9}X", re.ASCII)
_PHONE = re.compile(r"[2-9]\d{9}", re.ASCII)
_ZIP = re.compile(r"\d{5}(?:\d{4})?", re.ASCII)
_PO_BOX = re.compile(
    r"\b(?:P\.?\s*O\.?\s*(?:B\.?|BOX|BX|DRAWER)|POST\s+OFFICE\s+(?:BOX|BX|DRAWER)|LOCK\s*BOX|BOX\s+\d+)\b",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_X12_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)", re.ASCII)
_MONEY = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)


def is_npi(text: str) -> bool:
    """Ten digits, the first 1 or 2, with a right check digit (Luhn over 80840 and the number)."""
    if not _NPI.fullmatch(text):
        return False
    total = NPI_PREFIX_SUM
    for place, character in enumerate(reversed(text)):
        digit = ord(character) - ZERO
        if place % 2:
            digit = digit * 2 - 9 * (digit > 4)
        total += digit
    return total % 10 == 0


def is_taxonomy(text: str) -> bool:
    """Ten characters, the last an X, as the provider taxonomy list writes them."""
    return _TAXONOMY.fullmatch(text) is not None


def is_phone(text: str) -> bool:
    """Ten digits without punctuation; an area code never starts with 0 or 1."""
    return _PHONE.fullmatch(text) is not None


def is_zip(text: str) -> bool:
    """Five or nine digits without a hyphen."""
    return _ZIP.fullmatch(text) is not None


def is_po_box(text: str) -> bool:
    """An address line that names a box rather than a street."""
    return _PO_BOX.search(text) is not None


def iso_date(text: str) -> date | None:
    """A real day written ``yyyy-mm-dd``, else None."""
    return _day(_ISO_DATE.fullmatch(text))


def x12_date(text: str) -> date | None:
    """A real day written ``CCYYMMDD``, else None."""
    return _day(_X12_DATE.fullmatch(text))


def _day(match: re.Match[str] | None) -> date | None:
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def money(text: str) -> Decimal | None:
    """A plain decimal number, without exponent, currency sign or separators, else None."""
    if not _MONEY.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:  # pragma: no cover - the pattern admits only what Decimal reads
        return None
