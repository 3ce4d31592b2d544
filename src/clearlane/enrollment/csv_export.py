"""Export enrollments as CSV for the operators who submit them to payers.

Returns text; knows no database and writes no file.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

# A spreadsheet runs a cell that starts with one of these as a formula (the last four are full-width forms),
# even after blanks and control characters. A leading quote makes it text (OWASP: CSV injection).
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
# A spreadsheet may strip these first and then run what follows.
_SKIPPED = frozenset("\t\r\n\v\f\0")


def write_csv(names: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Return a CSV text with a header, whose cells a spreadsheet shows as text and never computes."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows([escape_formula(row[name]) for name in names] for row in rows)
    return out.getvalue()


def escape_formula(text: str) -> str:
    """Return the text of a cell, quoted if a spreadsheet would run it as a formula."""
    is_risky = text[:1] in _SKIPPED or text.lstrip()[:1] in _FORMULA
    return f"'{text}" if text and is_risky else text
