"""Read codes from tables: by the headings of their columns, or by their position.

Publishers write a few lines of title and copyright above the headings, and headings change a little from year to year:
a column is found by a pattern that its heading matches in small letters, without marks and spaces.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from clearlane.code_files.content import Content

HEADING_ROWS_MAX = 30
"""Rows above and with the headings."""
SPREADSHEET_EPOCH = date(1899, 12, 30)
"""Day 0 of the numbers by which a workbook keeps days."""

_DAYS = (
    re.compile(r"(?P<y>\d{4})-?(?P<m>\d\d)-?(?P<d>\d\d)(?:[ T].*)?"),
    re.compile(r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})(?: .*)?"),
)
_SERIAL = re.compile(r"\d{5}")
_NO_DAY = {"", "*", "N/A"}


class CodeRow(NamedTuple):
    """A code of a list, the days between which it is valid if the file gives them, and what else the list says."""

    code: str
    from_day: date | None = None
    to_day: date | None = None
    attributes: str = ""


class Columns(NamedTuple):
    """Patterns of the headings of the columns to read; empty if the list has no such column."""

    code: str
    from_day: str = ""
    to_day: str = ""
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeadedTable:
    """A table whose columns are found by their headings."""

    columns: Columns
    headings: str
    """The headings that must be there, as a refusal names them."""
    convert: Callable[[CodeRow], CodeRow] = lambda row: row
    """Raises ValueError or KeyError for a row that is none of the list."""
    has_days_always: bool = True
    """False if the publisher may leave out columns with days."""

    def __call__(self, content: Content) -> Iterator[CodeRow | None]:
        """Return the codes, None for a row with a day that is none."""
        rows = content.rows()
        width, code, days, attributes = self._find_headings(content, rows)
        for cells in rows:
            if content.ends_open and len(cells) < width:
                raise content.refused(
                    f"expected {width} columns, found {len(cells)} and the end of the file: it is truncated"
                )
            cells.extend([""] * (width - len(cells)))
            try:
                first, last = [None if at is None else parse_day(cells[at]) for at in days]
                words = " ".join(cells[at] for at in attributes)
                yield self.convert(CodeRow(cells[code], first, last, words))
            except (ValueError, KeyError):
                yield None

    def _find_headings(
        self, content: Content, rows: Iterator[list[str]]
    ) -> tuple[int, int, list[int | None], list[int]]:
        """Return the number of columns, and the position of each that is read."""
        for _, cells in zip(range(HEADING_ROWS_MAX), rows, strict=False):
            headings = [re.sub(r"[\W_]+", "", cell).lower() for cell in cells]
            code = _position(self.columns.code, headings)
            patterns = (self.columns.from_day, self.columns.to_day)
            days = [_position(pattern, headings) for pattern in patterns]
            attributes = [_position(pattern, headings) for pattern in self.columns.attributes]
            found = [at for at in attributes if at is not None]
            lacks_days = any(
                pattern and at is None for pattern, at in zip(patterns, days, strict=True)
            )
            if (
                code is not None
                and len(found) == len(attributes)
                and not (lacks_days and self.has_days_always)
            ):
                return len(cells), code, days, found
        raise content.refused(
            f"expected the headings {self.headings} up to here, found none of that kind"
        )


def parse_day(text: str) -> date | None:
    """Return the day that a cell gives, None for none. Raises ValueError for what is no day."""
    if text in _NO_DAY:
        return None
    for pattern in _DAYS:
        if found := pattern.fullmatch(text):
            return date(int(found["y"]), int(found["m"]), int(found["d"]))
    if _SERIAL.fullmatch(text):
        return SPREADSHEET_EPOCH + timedelta(days=int(text))
    raise ValueError("not a day")


def _position(pattern: str, headings: list[str]) -> int | None:
    """Return the column whose heading matches."""
    return next((at for at, text in enumerate(headings) if re.fullmatch(pattern, text)), None)
