"""Query parameters of ``/clearlane/v1``: how their texts are read, with a sentence that says what would pass."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TypeVar

from clearlane.api.frame.endpoint import Endpoint, Parameter
from clearlane.api.frame.errors import ParameterFault
from clearlane.api.v1.cursors import CURSOR_CHARACTERS_MAX, decode_cursor
from clearlane.kernel.filter_type import FilterType
from clearlane.payments.bank_search import read_bank_text

LIST_ROWS_DEFAULT, LIST_ROWS_MAX = 100, 500
TEXT_CHARACTERS_MAX = 120
AMOUNT_PATTERN = r"\d{1,13}(\.\d{1,2})?"
_AMOUNT = re.compile(AMOUNT_PATTERN, re.ASCII)

T = TypeVar("T")


def optional(
    name: str, help: str, read: Callable[[str], T], schema: Mapping[str, object] | None = None
) -> Parameter:
    """Return a parameter that may be left out: None then, else what ``read`` makes of its text."""

    def read_text(text: str | None, endpoint: Endpoint) -> T | None:
        return None if text is None else read(text)

    return Parameter(
        name=name, help=help, read=read_text, schema=schema or TEXT_SCHEMA, required=False
    )


def text(name: str, help: str) -> Parameter:
    """Return a parameter that is a short text."""
    return optional(name, help, read_short_text)


def choice(name: str, help: str, values: Mapping[str, T]) -> Parameter:
    """Return a parameter that is one of some words, in any case."""
    folded = {word.lower(): value for word, value in values.items()}

    def read(text: str) -> T:
        found = folded.get(text.strip().lower())
        if found is None:
            raise ParameterFault(f"One of {', '.join(values)} is expected.")
        return found

    return optional(name, help, read, {"type": "string", "enum": list(values)})


def day(name: str, help: str) -> Parameter:
    """Return a parameter that is a day."""
    return optional(name, help, read_day, {"type": "string", "format": "date"})


def moment(name: str, help: str) -> Parameter:
    """Return a parameter that is a moment."""
    return optional(name, help, read_moment, {"type": "string", "format": "date-time"})


def amount(name: str, help: str) -> Parameter:
    """Return a parameter that is an amount of money; its value is in cents."""
    return optional(
        name,
        help,
        read_amount,
        {"type": "string", "pattern": f"^{AMOUNT_PATTERN}$", "examples": ["150.25"]},
    )


def flag(name: str, help: str) -> Parameter:
    """Return a parameter that is true or false."""
    return choice(name, help, {"true": True, "false": False})


def bank(name: str, help: str) -> Parameter:
    """Return a parameter that is an amount or a number, as a bank statement writes it."""
    return optional(name, help, lambda text: read_bank_text(read_short_text(text)))


def filter_parameter(
    type: FilterType, name: str, help: str, choices: Mapping[str, str]
) -> Parameter:
    """Return the parameter of a list's filter, by its type; ``choices`` are the words of a choice."""
    match type:
        case FilterType.CHOICE:
            return choice(name, help, choices)
        case FilterType.FLAG:
            return flag(name, f"`true`: {help[0].lower()}{help[1:]}")
        case _:
            return _BY_TYPE[type](name, help)


def _read_limit(text: str | None, endpoint: Endpoint) -> int:
    if text is None:
        return LIST_ROWS_DEFAULT
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= LIST_ROWS_MAX):
        raise ParameterFault(f"A whole number from 1 to {LIST_ROWS_MAX} is expected.")
    return int(text[:9])


def read_short_text(text: str) -> str:
    """Return a text of one line, trimmed."""
    found = text.strip()
    if not found or len(found) > TEXT_CHARACTERS_MAX or not found.isprintable():
        raise ParameterFault(f"1 to {TEXT_CHARACTERS_MAX} printable characters are expected.")
    return found


def read_day(text: str) -> date:
    """Return a day written as ``2026-01-31``."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise ParameterFault("A day such as 2026-01-31 is expected.") from None


def read_moment(text: str) -> datetime:
    """Return a moment written in ISO 8601; one without an offset is UTC. A plus sign may have come as a space."""
    try:
        found = datetime.fromisoformat(text.strip().replace(" ", "+"))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ParameterFault("A moment such as 2026-01-31T08:30:00Z is expected.") from None


def read_amount(text: str) -> int:
    """Return an amount of money in cents."""
    if not _AMOUNT.fullmatch(given := text.strip()):
        raise ParameterFault(
            "An amount such as 150 or 150.25 is expected, of at most 13 digits and 2 decimals."
        )
    return int(Decimal(given) * 100)


def page(
    of_list: str, *filters: Parameter, parts: int = 1, position: Callable[..., object] = str
) -> Sequence[Parameter]:
    """Return the parameters of a list: its filters, ``limit``, and ``after``, read from a cursor with this number of parts."""

    def read_after(text: str | None, endpoint: Endpoint) -> object:
        return None if text is None else position(*decode_cursor(of_list, text, parts=parts))

    after = Parameter(
        name="after",
        help="The `next` of the page before; leave it out for the first page.",
        read=read_after,
        schema={"type": "string", "maxLength": CURSOR_CHARACTERS_MAX},
        required=False,
    )
    return (*filters, LIMIT, after)


_BY_TYPE: Mapping[FilterType, Callable[[str, str], Parameter]] = {
    FilterType.TEXT: text,
    FilterType.DAY: day,
    FilterType.AMOUNT: amount,
    FilterType.MOMENT: moment,
    FilterType.BANK: bank,
}
TEXT_SCHEMA = {"type": "string", "minLength": 1, "maxLength": TEXT_CHARACTERS_MAX}
LIMIT = Parameter(
    name="limit",
    help=f"How many rows a page has at most, 1 to {LIST_ROWS_MAX}; {LIST_ROWS_DEFAULT} when left out.",
    read=_read_limit,
    schema={
        "type": "integer",
        "minimum": 1,
        "maximum": LIST_ROWS_MAX,
        "default": LIST_ROWS_DEFAULT,
    },
    required=False,
)
