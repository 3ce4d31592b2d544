"""The filters of lists: what type of value each takes, and how its text is read.

    read_filter(FilterType.DAY, "2026-01-31")      # date(2026, 1, 31), or a FilterFault
    values, faults = read_filters(CLAIM_FILTERS, {"payer": "TST01", "kind": "?"})      # both by name

v1, the console and the CLI read the texts of every list with this, so all of them accept the same and say the same of
what they do not.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from itertools import product
from math import prod
from typing import Any, Generic, TypeVar

from clearlane.kernel.formats import parse_iso_date

TEXT_CHARACTERS_MAX = 120
AMOUNT_PATTERN = r"\d{1,13}(\.\d{1,2})?"
_AMOUNT = re.compile(AMOUNT_PATTERN, re.ASCII)
# On paper a zero comes first.
BILL_TYPE_PATTERN = r"0?[1-9][0-9][0-9A-Za-z]?"
_BILL_TYPE = re.compile(BILL_TYPE_PATTERN, re.ASCII)
Condition = TypeVar("Condition")
_FLAGS = {"true": True, "false": False}


class FilterType(StrEnum):
    """How the value of a filter is read, and what it is then."""

    TEXT = "text"
    CHOICE = "choice"
    AMOUNT = "amount"
    """Cents."""
    DAY = "day"
    """A date."""
    MOMENT = "moment"
    """A date and a time with its offset."""
    FLAG = "flag"
    BILL_TYPE = "bill_type"
    """Two or three characters."""


class FilterFault(ValueError):
    """A text is no value of its filter: a sentence that says what would pass."""


@dataclass(frozen=True, eq=False)
class ListFilter(Generic[Condition]):
    """A filter of a list, as v1, the console and the CLI offer it."""

    name: str
    """In addresses, and as an option with dashes."""
    type: FilterType
    condition: Condition
    """What it asks of the store."""
    title: str
    """The label of its input in the console; empty if it has another place there, such as a tab."""
    help: str
    choices: tuple[str, ...] = ()
    """The words that a choice takes."""
    option: str = ""
    """Of the CLI, if it is not the name."""

    def read(self, text: str) -> Any:
        """Return the value that a text means, or raise a :class:`FilterFault`."""
        return read_filter(self.type, text, self.choices)


def read_filters(
    filters: Iterable[ListFilter[Any]], given: Mapping[str, Any], *, several: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of filters, and a sentence for each text that is none, both by name.

    What is not a text is a value already: a flag of the command line, or None for a filter that is not given.
    With ``several`` a text of words with commas between them is a tuple of values.
    """
    values, faults = {}, {}
    for one in filters:
        value = given.get(one.name)
        try:
            if isinstance(value, str) and several and one.type in SEVERAL_TYPES:
                values[one.name] = read_several(one.type, one.name, [value], one.choices)
            else:
                values[one.name] = one.read(value) if isinstance(value, str) else value
        except FilterFault as fault:
            faults[one.name] = str(fault)
    return values, faults


SEVERAL_TYPES = frozenset({FilterType.CHOICE, FilterType.TEXT})
"""Types of filters that take several values: a row passes that has one of them."""
COMBINATIONS_MAX = 60
VALUES_MAX = 20
WITH_COMMAS = frozenset(
    {"account_number", "bank", "name", "payer_control_number", "trace_number", "vendor_claim_id"}
)
"""Filters whose values may have commas."""
TOO_MANY_COMBINATIONS = (
    f"The values of all filters have more than {COMBINATIONS_MAX} combinations; ask with fewer."
)


def passes(given: Any, value: object) -> bool:
    """Return whether a value passes a filter: nothing is given, or this, or several with this among them."""
    return value in given if isinstance(given, tuple) else given in (None, value)


def combinations(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the filters once for each choice of one value of those that have several, which are tuples."""
    several = {name: value for name, value in given.items() if isinstance(value, tuple)}
    for chosen in product(*several.values()):
        yield {**given, **dict(zip(several, chosen, strict=True))}


def count_combinations(given: Mapping[str, Any]) -> int:
    """Return how many combinations of values there are."""
    return prod(len(value) for value in given.values() if isinstance(value, tuple))


def read_filter(type: FilterType, text: str, choices: Sequence[str] = ()) -> Any:
    """Return the value that a text means, or raise a :class:`FilterFault`."""
    found: object
    if type is FilterType.CHOICE:
        found = {word.lower(): word for word in choices}.get(text.strip().lower())
        expected = f"One of {', '.join(choices)} is expected."
    else:
        read, expected = _READERS[type]
        found = read(text.strip())
    if found is None:
        raise FilterFault(expected)
    return found


def read_several(
    type: FilterType, name: str, texts: Sequence[str], choices: Sequence[str] = ()
) -> Any:
    """Return the value of texts, or a tuple of several; commas are between values unless those may have some."""
    if name not in WITH_COMMAS:
        texts = [word for one in texts for word in one.split(",")]
    values = tuple(dict.fromkeys(read_filter(type, one, choices) for one in texts))
    if len(values) > VALUES_MAX:
        raise FilterFault(f"{VALUES_MAX} values at most are expected.")
    return values if len(values) > 1 else values[0]


def read_moment(text: str) -> datetime | None:
    """Return a moment written in ISO 8601; one without an offset is UTC. A plus sign may have come as a space."""
    try:
        found = datetime.fromisoformat(text.replace(" ", "+"))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _read_text(text: str) -> str | None:
    return text if 0 < len(text) <= TEXT_CHARACTERS_MAX and text.isprintable() else None


def _read_amount(text: str) -> int | None:
    """Return cents; people also write ``$1,250.00``."""
    plain = text.replace(",", "").removeprefix("$")
    return int(Decimal(plain) * 100) if _AMOUNT.fullmatch(plain) else None


def _read_bill_type(text: str) -> str | None:
    return text.upper().removeprefix("0") if _BILL_TYPE.fullmatch(text) else None


_READERS: Mapping[FilterType, tuple[Callable[[str], object], str]] = {
    FilterType.TEXT: (_read_text, f"1 to {TEXT_CHARACTERS_MAX} printable characters are expected."),
    FilterType.AMOUNT: (
        _read_amount,
        "An amount such as 150 or 150.25 is expected, of at most 13 digits and 2 decimals.",
    ),
    FilterType.DAY: (parse_iso_date, "A day such as 2026-01-31 is expected."),
    FilterType.MOMENT: (read_moment, "A moment such as 2026-01-31T08:30:00Z is expected."),
    FilterType.BILL_TYPE: (
        _read_bill_type,
        "A type of bill such as 11, or 111 with its frequency, is expected.",
    ),
    FilterType.FLAG: (lambda text: _FLAGS.get(text.lower()), "One of true, false is expected."),
}
