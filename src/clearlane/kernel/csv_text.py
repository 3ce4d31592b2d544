"""Cells of CSV files, which a spreadsheet shows as text and never computes.

Texts in, texts out. Knows no file and no table.
"""

import csv
import io
import re
from collections.abc import Iterable

# A spreadsheet runs a cell that starts with one of these as a formula (the last four are full-width forms),
# even after blanks and control characters. A leading quote makes it text (OWASP: CSV injection).
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
# A spreadsheet may strip these first and then run what follows.
_SKIPPED = frozenset("\t\r\n\v\f\0")
_BELOW_ZERO = re.compile(r"-\d+\.\d\d", re.ASCII)
"""An amount below zero, as every list writes it: a spreadsheet adds it up, and has nothing to run."""


def escape_formula(text: str) -> str:
    """Return the text of a cell, quoted if a spreadsheet would run it as a formula."""
    if _BELOW_ZERO.fullmatch(text):
        return text
    is_risky = text[:1] in _SKIPPED or text.lstrip()[:1] in _FORMULA
    return f"'{text}" if text and is_risky else text


def csv_line(cells: Iterable[str]) -> str:
    """Return one row of a CSV file, with its line end. Cells are written as they are: escape texts of others first."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()
