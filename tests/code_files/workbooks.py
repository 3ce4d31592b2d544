"""Write small XLSX workbooks, as spreadsheet programs do: shared texts, numbers and inline texts."""

import io
import zipfile
from xml.sax.saxutils import escape

NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def workbook(rows: list[list[str | int | None]]) -> bytes:
    """Return a workbook whose first sheet has these rows; None leaves a cell out."""
    texts: list[str] = []
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = []
        for column, value in zip("ABCDEFGHIJ", row, strict=False):
            if isinstance(value, str):
                texts.append(value)
                cells.append(f'<c r="{column}{number}" t="s"><v>{len(texts) - 1}</v></c>')
            elif value is not None:
                cells.append(f'<c r="{column}{number}"><v>{value}.0</v></c>')
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    items = "".join(f"<si><r><t>{escape(text)}</t></r></si>" for text in texts)
    return packed(
        f"<worksheet {NAMESPACE}><sheetData>{''.join(lines)}</sheetData></worksheet>",
        f"<sst {NAMESPACE}>{items}</sst>",
    )


def packed(sheet: str, texts: str | None = None) -> bytes:
    """Return a workbook of these XML files."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        if texts is not None:
            archive.writestr("xl/sharedStrings.xml", texts)
    return target.getvalue()
