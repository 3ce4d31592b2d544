"""Code lists with days: whether a code was valid on a day.

"Valid on that day?" is the only question: a code that began later or ended before is not valid, and a list says nothing of
days that it does not cover. ``load(name)`` reads a list of the package once, at first use: ``icd-10-cm`` and others.

A list is a text file ``dated/<name>.txt``, its name with underscores. Comment lines begin with ``#``; one of them, ``# days:``, gives the first and
the last day that the list covers. If its publisher ends it on no day, ``# last day:`` says how old it is. A line ``= <first day> <last day> <attributes>`` holds for the codes after it, until the
next such line. The lines after it have the first three characters of codes, then the rest of each code, ``-`` for no rest.

In memory a list is one text of all codes, sorted and each as wide as the longest, and an array with the number of the period
of each: a tenth of what as many texts of their own would take.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from io import StringIO
from itertools import repeat, takewhile
from typing import NamedTuple

DATED, SUFFIX = "dated", ".txt"
HEAD_LENGTH = 3
CODES_FOUND_MAX = 16_384
"""Codes of a list whose periods are remembered: claims ask for few codes again and again."""
WHOLE = "-"
DAYS, SOURCE, LAST_DAY = "days", "Source", "last day"
"""What comments at the head of a list say."""
PERIOD = "="
NOTHING: frozenset[str] = frozenset()


class Period(NamedTuple):
    """The first and the last day, both included, and what the publisher says of the codes on these days."""

    first_day: date
    last_day: date
    attributes: frozenset[str] = NOTHING

    def overlaps(self, first: date, last: date) -> bool:
        """Return whether a day of the period is between these two."""
        return self.first_day <= last and first <= self.last_day


class DatedCodes:
    """The codes of one list, each with the periods in which it is valid."""

    __slots__ = (
        "_codes", "_found", "_numbers", "_periods", "_width", "days", "first_day", "last_day",
    )  # fmt: skip

    def __init__(
        self, days: Sequence[tuple[date, date]], groups: Iterable[tuple[Period, Iterable[str]]]
    ) -> None:
        """Make a list that covers these days, the earliest first."""
        self.days = tuple(days)
        self.first_day, self.last_day = self.days[0][0], self.days[-1][1]
        self._periods: list[Period] = []
        codes: list[str] = []
        numbers = array("I")
        for number, (period, own) in enumerate(groups):
            self._periods.append(period)
            codes.extend(own)
            numbers.extend(repeat(number, len(codes) - len(numbers)))
        # Of a code that several periods have, the earlier group stays first.
        order = sorted(range(len(codes)), key=codes.__getitem__)
        self._width = max(map(len, codes), default=0)
        text = StringIO()  # no second text for each code
        for at in order:
            text.write(codes[at].ljust(self._width))
        self._codes = text.getvalue()
        self._numbers = array("I", map(numbers.__getitem__, order))
        self._found: dict[str, list[Period]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[tuple[str, Period]]:
        codes = map(self._code, range(len(self._numbers)))
        return zip(codes, map(self._periods.__getitem__, self._numbers), strict=True)

    def covers(self, day: date) -> bool:
        """Return whether the list says which codes are valid on the day."""
        for first, last in self.days:  # noqa: SIM110  (a generator takes three times as long)
            if first <= day <= last:
                return True
        return False

    def nearest_day(self, day: date) -> date:
        """Return the day if the list covers it, else the last one before it that it covers, else its first."""
        known = (min(day, last) for first, last in self.days if first <= day)
        return max(known, default=self.first_day)

    def periods(self, code: str) -> list[Period]:
        """Return when the code is valid, the earliest period first; nothing if it never was."""
        known = self._found.get(code)
        if known is None:
            if len(self._found) >= CODES_FOUND_MAX:
                self._found.clear()
            known = sorted(period for found, period in self._from(code) if found == code)
            self._found[code] = known
        return known

    def is_valid(self, code: str, first: date, last: date) -> bool:
        """Return whether the code is valid on any of these days."""
        for begin, end, _ in self.periods(code):  # noqa: SIM110  (asked for each code of each claim)
            if begin <= last and first <= end:
                return True
        return False

    def is_valid_throughout(self, code: str, first: date, last: date) -> bool:
        """Return whether the code is valid on all of these days."""
        for period in self.periods(code):
            if period.first_day <= first <= period.last_day:
                first = period.last_day + timedelta(days=1)
        return first > last

    def attributes_on(self, code: str, day: date) -> frozenset[str]:
        """Return what the publisher says of the code on a day; nothing if it is not valid then."""
        for begin, end, attributes in self.periods(code):
            if begin <= day <= end:
                return attributes
        return NOTHING

    def finer(self, code: str, first: date, last: date) -> Iterator[str]:
        """Return the longer codes below a heading that are valid on any of these days."""
        return (
            found
            for found, period in self._from(code)
            if found != code and period.overlaps(first, last)
        )

    def _from(self, start: str) -> Iterator[tuple[str, Period]]:
        """Return the codes that begin with ``start``, in order."""
        places = range(len(self._numbers))
        for at in range(bisect_left(places, start, key=self._code), len(places)):
            code = self._code(at)
            if not code.startswith(start):
                return
            yield code, self._periods[self._numbers[at]]

    def _code(self, at: int) -> str:
        return self._codes[at * self._width : (at + 1) * self._width].rstrip(" ")


def load(name: str) -> DatedCodes:
    """Return a list of the package, such as ``icd-10-cm``."""
    found = find(name)
    if found is None:
        raise KeyError(name)
    return found


@cache
def find(name: str) -> DatedCodes | None:
    """Return a list of the package, or None if it has none of this name."""
    file = _file(name)
    return read(file.read_text(encoding="utf-8")) if file.is_file() else None


@cache
def find_days(name: str) -> tuple[date, date] | None:
    """Return the first and the last day of a list of the package, without reading its codes; None if there is no such list."""
    file = _file(name)
    if not file.is_file():
        return None
    with file.open(encoding="utf-8") as lines:
        return _days(lines)


@cache
def find_note(name: str, about: str) -> str:
    """Return what the head of a list of the package says about something; empty if it says nothing."""
    file = _file(name)
    if not file.is_file():
        return ""
    with file.open(encoding="utf-8") as lines:
        return note_of(takewhile(lambda line: line.startswith("#"), lines), about)


def note_of(lines: Iterable[str], about: str) -> str:
    """Return what a comment says about something, such as the source of a list; empty if there is no such comment."""
    start = f"# {about}: "
    return next((line.removeprefix(start).strip() for line in lines if line.startswith(start)), "")


@cache
def names() -> frozenset[str]:
    """Return the names of the lists of the package."""
    files = resources.files(__package__).joinpath(DATED).iterdir()
    return frozenset(
        file.name.removesuffix(SUFFIX).replace("_", "-")
        for file in files
        if file.name.endswith(SUFFIX)
    )


def _file(name: str) -> Traversable:
    """Return the file of a list of the package, which need not exist."""
    return resources.files(__package__).joinpath(DATED, name.replace("-", "_") + SUFFIX)


def read(text: str) -> DatedCodes:
    """Return the list that a text holds."""
    return DatedCodes([_days(text.splitlines())], map(_group, text.split(f"\n{PERIOD} ")[1:]))


def _days(lines: Iterable[str]) -> tuple[date, date]:
    """Return the first and the last day that a list covers."""
    first, last = map(date.fromisoformat, note_of(lines, DAYS).split())
    return first, last


def _group(text: str) -> tuple[Period, list[str]]:
    """Return one period of the file and its codes."""
    days, *lines = text.splitlines()
    begin, end, *attributes = days.split()
    codes = [
        head + rest.removeprefix(WHOLE) for head, *rests in map(str.split, lines) for rest in rests
    ]
    return Period(date.fromisoformat(begin), date.fromisoformat(end), frozenset(attributes)), codes
