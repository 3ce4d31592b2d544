"""Payer files, in and out: CSV with a header, or a JSON array, each saying which it is.

Bytes in, payers and findings with their line numbers out, and back. Reads no file itself and knows
no payer but those in it.
"""

import csv
import io
import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from clearlane.kernel import limits
from clearlane.kernel.finding import Finding
from clearlane.payers.fields import (
    ALIAS_SEPARATOR,
    BY_NAME,
    COLUMNS,
    finding,
    findings_of,
    read_payer,
)
from clearlane.payers.model import Payer

Progress = Callable[[int, int], None]
"""Told how much of how much is read."""

ROWS_BETWEEN_PROGRESS = 250


@dataclass(frozen=True, slots=True)
class RowFinding:
    """A finding and the line of the file it speaks of, the first being 1."""

    line: int
    finding: Finding


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a file holds: payers with their lines, and everything that is wrong."""

    payers: tuple[tuple[int, Payer], ...]
    findings: tuple[RowFinding, ...]


def read_payers(content: bytes, progress: Progress = lambda *_: None) -> Incoming:
    """Read a payer file, CSV or JSON, to its end whatever is wrong with it."""
    if len(content) > limits.PAYER_FILE_BYTES_MAX:
        size = limits.PAYER_FILE_BYTES_MAX // (1024 * 1024)
        return _refused(1, f"The file is larger than {size} MiB. Import it in parts.")
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return _refused(1, "The file is UTF-16. Save it as UTF-8.")
    # Bytes that are no UTF-8 are carried as lone surrogates, so that the field they stand in can
    # be named and the rest of the file is still checked.
    text = content.decode("utf-8-sig", errors="surrogateescape")
    payers: list[tuple[int, Payer]] = []
    findings: list[RowFinding] = []
    rows = _json_rows if text.lstrip()[:1] in {"[", "{"} else _csv_rows
    for line, payer, wrong in rows(text, progress):
        findings += (RowFinding(line, each) for each in wrong)
        if payer is not None:
            payers.append((line, payer))
    if not payers and not findings:
        return _refused(1, "The file holds no payers.")
    return Incoming(tuple(payers), tuple(findings))


def write_csv(payers: Iterable[Payer]) -> str:
    """A CSV file that a spreadsheet shows as text and that reads back as the same payers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.wire for column in COLUMNS)
    writer.writerows([_cell(value) for value in as_wire(payer).values()] for payer in payers)
    return out.getvalue()


def write_json(payers: Iterable[Payer]) -> str:
    """A JSON array, one payer a line."""
    lines = (json.dumps(as_wire(payer), ensure_ascii=False) for payer in payers)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def as_wire(payer: Payer) -> dict[str, object]:
    """A payer's fields under the names that files and lists use."""
    return {column.wire: getattr(payer, column.attribute) for column in COLUMNS}


# A cell that starts with one of these is a formula to a spreadsheet (the last four are the wide forms
# of East Asian keyboards). A quote before it makes it text,
# and a quote before a quote keeps that reversible.
_GUARDED = frozenset("=+-@'\uff1d\uff0b\uff0d\uff20")


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = ALIAS_SEPARATOR.join(value) if isinstance(value, tuple) else str(value)
    return f"'{text}" if text[:1] in _GUARDED else text


def _unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:2] in _GUARDED else cell


_Row = tuple[int, Payer | None, list[Finding]]


def _csv_rows(text: str, progress: Progress) -> Iterator[_Row]:
    header_line = text[: text.find("\n")] if "\n" in text else text
    lines = _lines(text, delimiter=max(",;\t", key=header_line.count))
    line, header = next(lines, (1, []))
    if isinstance(header, Finding):
        yield line, None, [header]
        return
    names = [
        BY_NAME[n].wire if n in BY_NAME else "" for n in (h.strip().casefold() for h in header)
    ]
    absent = {column.wire for column in COLUMNS if not column.optional} - set(names)
    yield line, None, list(_header_findings(header, names, absent))
    of = text.count("\n")
    for number, (line, cells) in enumerate(lines):
        if number % ROWS_BETWEEN_PROGRESS == 0:
            progress(line, of)
        if isinstance(cells, Finding):
            yield line, None, [cells]
        elif any(cell.strip() for cell in cells[len(names) :]):
            wrong = f"The row has {len(cells)} cells, the header {len(names)}."
            yield line, None, [finding("PAY008", "", wrong)]
        elif any(cell.strip() for cell in cells):
            values = dict(zip(names, map(_unguarded, cells), strict=False))
            yield line, *read_payer(values, absent)


def _header_findings(
    header: Sequence[str], names: Sequence[str], absent: Iterable[str]
) -> Iterator[Finding]:
    if not any(names):
        wire = ",".join(column.wire for column in COLUMNS)
        yield finding(
            "PAY007", "", f"The first line is no header. It must name the columns: {wire}."
        )
        return
    yield from findings_of([cell.strip() for cell in header if cell.strip()])
    for name in sorted({name for name in names if name and names.count(name) > 1}):
        yield finding("PAY003", name, "The column is there twice.")
    for name in sorted(absent):
        yield finding("PAY001", name, "The column is missing.")


def _lines(text: str, *, delimiter: str) -> Iterator[tuple[int, list[str] | Finding]]:
    """Each row with the line it starts on; a row that is no CSV as a finding."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            yield line, finding("PAY007", "", f"The row is not CSV: {fault}.")
            continue
        yield line, cells


_BLANKS = re.compile(r"[ \t\r\n]*")


def _json_rows(text: str, progress: Progress) -> Iterator[_Row]:
    """Each element of the array with the line it starts on."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    place, line, counted = _skip(text, 0), 1, 0
    if text[place] != "[":
        yield line, None, [finding("PAY007", "", "The file must hold a JSON array of payers.")]
        return
    place = _skip(text, place + 1)
    if text[place : place + 1] == "]":
        return
    for number in count():
        line, counted = line + text.count("\n", counted, place), place
        if number % ROWS_BETWEEN_PROGRESS == 0:
            progress(place, len(text))
        try:
            element, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as fault:
            yield fault.lineno, None, [finding("PAY007", "", f"The file is not JSON: {fault.msg}.")]
            return
        except (ValueError, RecursionError):
            yield line, None, [finding("PAY007", "", "The element is nothing a payer could be.")]
            return
        yield line, *_json_payer(element)
        place = _skip(text, place)
        mark = text[place : place + 1]
        place = _skip(text, place + 1)
        if mark != ",":
            break
    if mark != "]" or place < len(text):
        line += text.count("\n", counted, place)
        yield line, None, [finding("PAY007", "", "The file is not JSON: ',' or ']' expected.")]


def _json_payer(element: object) -> tuple[Payer | None, list[Finding]]:
    if not isinstance(element, Mapping):
        return None, [finding("PAY008", "", "The element must be a JSON object.")]
    unknown = list(findings_of(element.keys()))
    known = {BY_NAME[k.casefold()].wire: v for k, v in element.items() if k.casefold() in BY_NAME}
    payer, wrong = read_payer(known)
    return (None if unknown else payer), unknown + wrong


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _skip(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return blanks.end() if blanks else place


def _refused(line: int, message: str) -> Incoming:
    return Incoming((), (RowFinding(line, finding("PAY007", "", message)),))
