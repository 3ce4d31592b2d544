"""Enrollments as a CSV file for the people who send them on to payers.

Rows of values in, text out. Knows no database and writes no file.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

# A cell that starts with one of these is a formula to a spreadsheet (the last four are the wide forms
# of East Asian keyboards); blanks and controls before it do not help. A quote before it makes it text.
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
# A spreadsheet may take these away first, and then see what follows.
_SKIPPED = frozenset("\t\r\n\v\f\0")


def write_csv(names: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """A header and a line for each row, which a spreadsheet shows as text and never computes."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows([guarded(row[name]) for name in names] for row in rows)
    return out.getvalue()


def guarded(text: str) -> str:
    """The text of a cell, with a quote before what a spreadsheet would read as a formula."""
    is_risky = text[:1] in _SKIPPED or text.lstrip()[:1] in _FORMULA
    return f"'{text}" if text and is_risky else text
