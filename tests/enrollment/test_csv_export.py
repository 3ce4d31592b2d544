"""A file that no spreadsheet computes.

Also tests `kernel/csv_text`.
"""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.enrollment.csv_export import write_csv
from clearlane.kernel.csv_text import escape_formula

AMOUNT = re.compile(r"-[0-9]+\.[0-9]{2}")
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "=cmd|'/c x'!A0", "＝1", "－1", "＋1", "＠x"]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_becomes_text(text):
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["", "-40.00", "Fernhill", "12 Orchard Lane", "a=b", "x@y.z", " x", "'x"]
)
def test_other_texts_stay_as_they_are(text):
    assert escape_formula(text) == text


@given(cells=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_every_cell_reads_back_guarded(cells):
    names = [f"c{at}" for at in range(len(cells))]
    text = write_csv(names, [dict(zip(names, cells, strict=True))])
    header, row = csv.reader(io.StringIO(text, newline=""))
    assert header == names
    assert row == [escape_formula(cell) for cell in cells]
    assert not any(
        cell.lstrip()[:1] in {"=", "+", "-", "@"} for cell in row if not AMOUNT.fullmatch(cell)
    )
