"""A column that a person pastes from a spreadsheet: claim numbers, or the vendor's claim ids, each with a value.

    read_column("C194P3\\t1986-11-22\\nFIRST-2, 1990-01-31", claims)

A line is matched by its number and never by its place. A line that names no claim of the group, several of them, or one
that another line names too, is reported, and none of it is used; nor is a line of a column of days without a day.

Knows texts; knows no page.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from clearlane.kernel.formats import read_typed_day

PASTED_CHARACTERS_MAX = 40_000
PASTED_LINES_MAX = 500
NAME_CHARACTERS_SHOWN = 40
_SEPARATORS = (re.compile(r"\t"), re.compile(r"[,;]"), re.compile(r"\s+"))


@dataclass(frozen=True, slots=True)
class PastedColumn:
    """The values of a pasted column by claim number, and a sentence for each line that was not used."""

    values: Mapping[str, str] = field(repr=False)
    faults: tuple[str, ...] = ()


def read_column(
    text: str, claims: Iterable[tuple[str, str]], *, of_days: bool = False
) -> PastedColumn:
    """Return the values of a pasted text. ``claims`` are the numbers of a group, each with its vendor's claim id."""
    known: dict[str, set[str]] = {}
    for number, vendor_claim_id in claims:
        known.setdefault(number.casefold(), set()).add(number)
        known.setdefault(vendor_claim_id.casefold(), set()).add(number)
    found: dict[str, list[tuple[int, str]]] = {}
    faults: list[tuple[int, str]] = []
    lines = text[:PASTED_CHARACTERS_MAX].splitlines()
    if len(lines) > PASTED_LINES_MAX or len(text) > PASTED_CHARACTERS_MAX:
        return PastedColumn(
            {}, (f"Paste {PASTED_LINES_MAX} lines at most, each with a claim and its value.",)
        )
    for at, line in enumerate(lines, 1):
        if not line.strip():
            continue
        name, value = _split(line)
        numbers = known.get(name.casefold(), set())
        if fault := _fault(name, value, numbers, of_days=of_days):
            faults.append((at, fault))
        else:
            found.setdefault(next(iter(numbers)), []).append((at, value))
    for named in found.values():
        faults += [(at, "the claim is on several lines.") for at, _ in named if len(named) > 1]
    return PastedColumn(
        {number: named[0][1] for number, named in found.items() if len(named) == 1},
        tuple(f"Line {at}: {fault} It was not used." for at, fault in sorted(faults)),
    )


def _split(line: str) -> tuple[str, str]:
    """Return the first column of a line and the rest: split at a tab, else at a comma, else at a blank."""
    for separator in _SEPARATORS:
        parts = separator.split(line.strip(), maxsplit=1)
        if len(parts) > 1:
            return parts[0].strip().strip('"'), parts[1].strip().strip('"')
    return line.strip(), ""


def _fault(name: str, value: str, numbers: set[str], *, of_days: bool) -> str:
    shown = name[:NAME_CHARACTERS_SHOWN]
    if not numbers:
        return f"no claim of this list has the number “{shown}”."
    if len(numbers) > 1:
        return f"several claims of this list have the number “{shown}”; use our number."
    if not value:
        return f"there is no value after “{shown}”."
    if of_days and read_typed_day(value) is None:
        return f"the text after “{shown}” is not a date; write it as 1986-11-22 or 11/22/1986."
    return ""
