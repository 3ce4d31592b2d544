"""Values as forms write them: capital letters without accents, days, amounts in two columns, codes with or without a dot.

Values in, text out; what is missing is an empty text. Knows no form.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Self

from clearlane.claims import codes
from clearlane.claims.view import PayerView, PersonView, ProviderView

ZIP_DIGITS, NINE_DIGITS = 5, 9
PHONE_DIGITS, AREA_DIGITS, EXCHANGE_DIGITS = 10, 3, 6
CATEGORY_CHARACTERS = 3
"""Characters of an ICD-10-CM code before its dot."""
EIN_PREFIX = 2
ON_FILE = "SIGNATURE ON FILE"

Addressed = PersonView | ProviderView | PayerView


def capitals(text: str | None) -> str:
    """Return a text in capital letters of ASCII, which every printer and reader of forms knows."""
    bare = unicodedata.normalize("NFKD", text or "")
    kept = "".join(one for one in bare if not unicodedata.combining(one))
    return " ".join(kept.encode("ascii", "replace").decode().upper().split())


class Notation(str):
    """A value in the notation of a form, with how people read it: ``150000`` is ``1,500.00``."""

    __slots__ = ("plain",)
    plain: str

    def __new__(cls, written: str, plain: str) -> Self:
        """Return the text of the form; ``plain`` is what people read."""
        text = super().__new__(cls, written)
        text.plain = plain
        return text


def plain(text: str) -> str:
    """Return how people read a text of a form."""
    return text.plain if isinstance(text, Notation) else text


def _day(day: date | None, pattern: str) -> str:
    return "" if day is None else Notation(f"{day:{pattern}}", f"{day:%b} {day.day}, {day.year}")


def spaced_day(day: date | None) -> str:
    """Return a day as ``MM DD YY``, between the dotted lines of a box."""
    return _day(day, "%m %d %y")


def spaced_long_day(day: date | None) -> str:
    """Return a day as ``MM DD CCYY``."""
    return _day(day, "%m %d %Y")


def slashed_day(day: date | None) -> str:
    """Return a day as ``MM/DD/CCYY``."""
    return _day(day, "%m/%d/%Y")


def short_day(day: date | None) -> str:
    """Return a day as ``MMDDYY``."""
    return _day(day, "%m%d%y")


def long_day(day: date | None) -> str:
    """Return a day as ``MMDDCCYY``."""
    return _day(day, "%m%d%Y")


def _amount(amount: Decimal | None, point: str) -> str:
    if amount is None:
        return ""
    return Notation(f"{amount:.2f}".replace(".", point), f"{amount:,.2f}")


def two_columns(amount: Decimal | None) -> str:
    """Return an amount as dollars and cents with a blank for the line between them."""
    return _amount(amount, " ")


def joined_cents(amount: Decimal | None) -> str:
    """Return an amount as dollars and cents with nothing between them."""
    return _amount(amount, "")


def with_point(amount: Decimal | None) -> str:
    """Return an amount with its decimal point."""
    return _amount(amount, ".")


def count(number: Decimal | None) -> str:
    """Return a quantity without needless zeros."""
    if number is None:
        return ""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def without_dot(code: str | None) -> str:
    """Return a diagnosis without its dot, which the box implies."""
    bare = (code or "").replace(".", "").upper()
    return Notation(bare, with_dot(bare))


def with_dot(code: str | None) -> str:
    """Return a diagnosis with its dot, as people write it."""
    bare = (code or "").replace(".", "").upper()
    return ".".join(filter(None, (bare[:CATEGORY_CHARACTERS], bare[CATEGORY_CHARACTERS:])))


def pointer_letters(pointers: Iterable[str | None]) -> str:
    """Return the diagnoses that a line points to, as letters."""
    named = [codes.POINTED_PLACES.get(one) for one in pointers if one]
    return "".join(codes.POINTER_LETTERS[place - 1] for place in named if place)


def comma_name(person: PersonView | ProviderView) -> str:
    """Return a name as ``LAST SUFFIX, FIRST, M``."""
    last = " ".join(filter(None, (person.last_name, person.suffix)))
    return _listed(last, person.first_name, (person.middle_name or "")[:1])


def ada_name(person: PersonView | ProviderView) -> str:
    """Return a name as ``LAST, FIRST, M, SUFFIX``."""
    initial = (person.middle_name or "")[:1]
    return _listed(person.last_name, person.first_name, initial, person.suffix)


def spoken_name(person: PersonView | ProviderView) -> str:
    """Return a name as it is said: first, middle, last, suffix."""
    parts = (person.first_name, person.middle_name, person.last_name, person.suffix)
    return capitals(" ".join(filter(None, parts)))


def _listed(*parts: str | None) -> str:
    return capitals(", ".join(part for part in parts if part))


def zip_code(text: str | None) -> str:
    """Return a ZIP code, with a hyphen if it has nine digits."""
    digits = (text or "").replace("-", "").strip()
    if len(digits) != NINE_DIGITS or not digits.isdecimal():
        return capitals(text)
    return f"{digits[:ZIP_DIGITS]}-{digits[ZIP_DIGITS:]}"


def street(of: Addressed) -> str:
    """Return the street, both lines of it, in one line without punctuation."""
    return _bare(" ".join(filter(None, (of.street, of.street2))))


def streets(of: Addressed) -> tuple[str, str]:
    """Return the two lines of the street."""
    return _bare(of.street), _bare(of.street2)


def city(of: Addressed) -> str:
    """Return city, state and ZIP code in one line."""
    return " ".join(filter(None, (_bare(of.city), capitals(of.state), zip_code(of.zip))))


def _bare(text: str | None) -> str:
    return capitals((text or "").replace(",", " ").replace(".", " ").replace("#", " "))


def phone_parts(text: str | None) -> tuple[str, str, str]:
    """Return area code, exchange and number of a telephone; what is none as one text."""
    digits = "".join(filter(str.isdecimal, text or ""))
    if len(digits) != PHONE_DIGITS:
        return "", "", digits
    return digits[:AREA_DIGITS], digits[AREA_DIGITS:EXCHANGE_DIGITS], digits[EXCHANGE_DIGITS:]


def tax_id(number: str | None) -> str:
    """Return an EIN with its hyphen."""
    digits = (number or "").replace("-", "")
    return "-".join(filter(None, (digits[:EIN_PREFIX], digits[EIN_PREFIX:])))


def fold_text(text: str | None, widths: Sequence[int]) -> list[str]:
    """Return a text as lines of these widths, broken at blanks; what is left over is in the last line."""
    words = capitals(text).split()
    lines: list[str] = []
    for width in widths[:-1]:
        line = ""
        while words and len(longer := f"{line} {words[0]}".strip()) <= width:
            line = longer
            words.pop(0)
        lines.append(line)
    return [*lines, " ".join(words)]
