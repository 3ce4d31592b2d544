"""A workbook's first sheet is read row by row; a damaged or hostile one is refused."""

import io

import pytest

from clearlane.code_files.workbook import UnreadableWorkbook, is_workbook, read_sheet
from tests.cases import every_case
from tests.code_files.workbooks import NAMESPACE, packed, workbook


def rows(data: bytes, bytes_max: int = 100_000) -> list[tuple[int, list[str]]]:
    return list(read_sheet(io.BytesIO(data), bytes_max))


def test_rows_have_texts_numbers_and_cells_that_were_left_out():
    data = workbook([["Code", "Units & more"], ["99213", None, 3]])
    assert is_workbook(io.BytesIO(data))
    assert rows(data) == [(1, ["Code", "Units & more"]), (2, ["99213", "", "3"])]


def test_inline_texts_and_cells_without_a_place_are_read():
    cells = '<c t="inlineStr"><is><t>A</t></is></c><c><v>1.5</v></c><c r="ZZZ1"><v>1</v></c>'
    sheet = f"<worksheet {NAMESPACE}><sheetData><row>{cells}</row></sheetData></worksheet>"
    assert rows(packed(sheet)) == [(1, ["A", "1.5"])]


ENTITIES = '<!DOCTYPE worksheet [<!ENTITY a "aaaa">]>'


@every_case(
    "data",
    [
        packed("<worksheet"),
        packed(f"{ENTITIES}<worksheet {NAMESPACE}/>"),
        packed(f'<worksheet {NAMESPACE}><row><c t="s"><v>7</v></c></row></worksheet>'),
        packed(f'<worksheet {NAMESPACE}><row r="x"/></worksheet>'),
        workbook([["Code"]])[:-30],
    ],
)
def test_a_damaged_workbook_is_refused(data):
    with pytest.raises(UnreadableWorkbook, match="damaged"):
        rows(data)


def test_a_workbook_over_the_limit_is_refused():
    with pytest.raises(UnreadableWorkbook, match="larger"):
        rows(workbook([["Code"]] * 100), bytes_max=1_000)


def test_other_files_are_no_workbooks():
    assert not is_workbook(io.BytesIO(b"PK\x03\x04 and no zip"))
    assert not is_workbook(io.BytesIO(b"Code"))
