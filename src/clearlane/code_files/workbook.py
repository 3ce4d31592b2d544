"""Read the first sheet of an XLSX workbook, row by row: some lists of codes are published as nothing else.

A workbook is a zip of XML files. Texts are kept once, in a file of their own, and cells refer to them by number. A cell
gives its column in letters (``C7``), because empty cells are left out. Formulas, formats and further sheets are not read.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

SHEET = "xl/worksheets/sheet1.xml"
TEXTS = "xl/sharedStrings.xml"
COLUMNS_MAX = 64
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
COLUMN = re.compile(r"([A-Z]{1,3})\d+")
WHOLE_NUMBER = re.compile(r"(\d+)\.0*")
ZIP_SIGNATURE = b"PK\x03\x04"


class UnreadableWorkbook(Exception):
    """A workbook that is damaged, or larger than its limit."""


def is_workbook(stream: IO[bytes]) -> bool:
    """Return whether a seekable stream is an XLSX workbook."""
    if not stream.seekable():
        return False
    start = stream.read(len(ZIP_SIGNATURE))
    stream.seek(0)
    if start != ZIP_SIGNATURE:
        return False
    try:
        with zipfile.ZipFile(stream) as archive:
            return SHEET in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        return False
    finally:
        stream.seek(0)


def read_sheet(stream: IO[bytes], bytes_max: int) -> Iterator[tuple[int, list[str]]]:
    """Return the number and the cells of each row."""
    try:
        with zipfile.ZipFile(stream) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
            if sizes[SHEET] + sizes.get(TEXTS, 0) > bytes_max:
                raise UnreadableWorkbook("the workbook is larger than the limit of this list")
            texts: list[str] = []
            if TEXTS in sizes:
                texts = [_text(item) for item in _elements(archive, TEXTS, "si")]
            for following, row in enumerate(_elements(archive, SHEET, "row"), start=1):
                yield int(row.get("r", following)), _cells(row, texts)
    except (
        zipfile.BadZipFile, zlib.error, EOFError, ParseError, DefusedXmlException, KeyError, IndexError,
        NotImplementedError, ValueError,
    ):  # fmt: skip
        raise UnreadableWorkbook("the workbook is damaged or truncated") from None


def _elements(archive: zipfile.ZipFile, name: str, tag: str) -> Iterator[Element]:
    """Return the elements of this name, and forget each after use."""
    with archive.open(name) as file:
        parents: list[Element] = []
        for event, element in iterparse(file, events=("start", "end"), forbid_dtd=True):
            if event == "start":
                parents.append(element)
                continue
            parents.pop()
            if element.tag == f"{MAIN}{tag}":
                yield element
                parents[-1].clear()


def _text(element: Element) -> str:
    """Return the text of an element; the parts of a formatted text are put together."""
    return "".join(part.text or "" for part in element.iter(f"{MAIN}t"))


def _cells(row: Element, texts: list[str]) -> list[str]:
    cells: list[str] = []
    for cell in row.iter(f"{MAIN}c"):
        at = _column(cell.get("r"), len(cells))
        if at < COLUMNS_MAX:
            cells.extend([""] * (at + 1 - len(cells)))
            cells[at] = _value(cell, texts)
    return cells


def _column(place: str | None, following: int) -> int:
    """Return the number of a cell's column; cells without a place follow each other."""
    found = COLUMN.fullmatch(place or "")
    if found is None:
        return following
    number = 0
    for letter in found[1]:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _value(cell: Element, texts: list[str]) -> str:
    match cell.get("t"):
        case "inlineStr":
            return _text(cell)
        case "s":
            return texts[int(cell.findtext(f"{MAIN}v") or 0)]
    value = str(cell.findtext(f"{MAIN}v") or "")
    return WHOLE_NUMBER.sub(r"\1", value) if WHOLE_NUMBER.fullmatch(value) else value
