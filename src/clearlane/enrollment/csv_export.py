"""Export enrollments as CSV for the operators who submit them to payers.

Returns text; knows no database and writes no file.
"""

from collections.abc import Iterable, Mapping, Sequence

from clearlane.kernel.csv_text import csv_line, escape_formula


def write_csv(names: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Return a CSV text with a header, whose cells a spreadsheet shows as text and never computes."""
    lines = (csv_line(escape_formula(row[name]) for name in names) for row in rows)
    return csv_line(names) + "".join(lines)
