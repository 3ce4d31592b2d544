"""Import and export of payer files: CSV with a header, or a JSON array.

Converts bytes into payers and findings with line numbers, and payers into text. Opens no file and knows no other
payers.
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
from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.payers.fields import (
    ALIAS_SEPARATOR,
    FIELDS_BY_NAME,
    PAYER_FIELDS,
    read_payer,
    unknown_field_findings,
)
from clearlane.payers.model import Payer

Progress = Callable[[int, int], None]
"""Called with how much of how much is read."""

ROWS_BETWEEN_PROGRESS = 250


@dataclass(frozen=True, slots=True)
class RowFinding:
    """A finding and the line of the file it is about, from 1."""

    line: int
    finding: Finding


@dataclass(frozen=True, slots=True)
class PayerFile:
    """The payers of a file with their lines, and its findings."""

    payers: tuple[tuple[int, Payer], ...]
    findings: tuple[RowFinding, ...]


def read_payers(content: bytes, progress: Progress = lambda *_: None) -> PayerFile:
    """Read a payer file, CSV or JSON, to its end, whatever is wrong with it."""
    if len(content) > limits.PAYER_FILE_BYTES_MAX:
        size = limits.PAYER_FILE_BYTES_MAX // (1024 * 1024)
        return _refused(1, f"The file is larger than {size} MiB. Import it in parts.")
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return _refused(1, "The file is UTF-16. Save it as UTF-8.")
    # Bytes that are not UTF-8 become lone surrogates, so that their field can be named and the rest of the
    # file is still checked.
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
    return PayerFile(tuple(payers), tuple(findings))


def write_csv(payers: Iterable[Payer]) -> str:
    """Return a CSV file that a spreadsheet shows as text and that reads back as the same payers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.wire_name for field in PAYER_FIELDS)
    writer.writerows([_cell(value) for value in as_wire(payer).values()] for payer in payers)
    return out.getvalue()


def write_json(payers: Iterable[Payer]) -> str:
    """Return a JSON array, one payer per line."""
    lines = (json.dumps(as_wire(payer), ensure_ascii=False) for payer in payers)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def as_wire(payer: Payer) -> dict[str, object]:
    """Return a payer's values by wire name."""
    return {field.wire_name: getattr(payer, field.attribute) for field in PAYER_FIELDS}


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
    lines = csv_lines(text)
    line, header = next(lines, (1, []))
    if isinstance(header, Finding):
        yield line, None, [header]
        return
    names = [
        FIELDS_BY_NAME[n].wire_name if n in FIELDS_BY_NAME else ""
        for n in (h.strip().casefold() for h in header)
    ]
    absent = {field.wire_name for field in PAYER_FIELDS if field.required} - set(names)
    yield line, None, list(_header_findings(header, names, absent))
    of = text.count("\n")
    for number, (line, cells) in enumerate(lines):
        if number % ROWS_BETWEEN_PROGRESS == 0:
            progress(line, of)
        if isinstance(cells, Finding):
            yield line, None, [cells]
        elif any(cell.strip() for cell in cells[len(names) :]):
            wrong = f"The row has {len(cells)} cells, the header {len(names)}."
            yield line, None, [make_shape_finding("PAY008", "", wrong)]
        elif any(cell.strip() for cell in cells):
            values = dict(zip(names, map(_unguarded, cells), strict=False))
            yield line, *read_payer(values, absent)


def _header_findings(
    header: Sequence[str], names: Sequence[str], absent: Iterable[str]
) -> Iterator[Finding]:
    if not any(names):
        wire = ",".join(field.wire_name for field in PAYER_FIELDS)
        yield make_shape_finding(
            "PAY007", "", f"The first line is not a header. It must name the columns: {wire}."
        )
        return
    yield from unknown_field_findings([cell.strip() for cell in header if cell.strip()])
    for name in sorted({name for name in names if name and names.count(name) > 1}):
        yield make_shape_finding("PAY003", name, "The column is there twice.")
    for name in sorted(absent):
        yield make_shape_finding("PAY001", name, "The column is missing.")


def csv_lines(text: str) -> Iterator[tuple[int, list[str] | Finding]]:
    """Yield each row with the line it starts on; a row that is not CSV as a finding.

    The cells are separated by what the first line has most of: commas, semicolons or tabs.
    """
    header_line = text[: text.find("\n")] if "\n" in text else text
    delimiter = max(",;\t", key=header_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            yield line, make_shape_finding("PAY007", "", f"The row is not CSV: {fault}.")
            continue
        yield line, cells


_BLANKS = re.compile(r"[ \t\r\n]*")


def _json_rows(text: str, progress: Progress) -> Iterator[_Row]:
    """Yield each element of the array with the line it starts on."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    place, line, counted = _skip(text, 0), 1, 0
    if text[place] != "[":
        yield (
            line,
            None,
            [make_shape_finding("PAY007", "", "The file must hold a JSON array of payers.")],
        )
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
            yield (
                fault.lineno,
                None,
                [make_shape_finding("PAY007", "", f"The file is not JSON: {fault.msg}.")],
            )
            return
        except (ValueError, RecursionError):
            yield (
                line,
                None,
                [make_shape_finding("PAY007", "", "The element cannot be a payer.")],
            )
            return
        yield line, *_json_payer(element)
        place = _skip(text, place)
        mark = text[place : place + 1]
        place = _skip(text, place + 1)
        if mark != ",":
            break
    if mark != "]" or place < len(text):
        line += text.count("\n", counted, place)
        yield (
            line,
            None,
            [make_shape_finding("PAY007", "", "The file is not JSON: ',' or ']' expected.")],
        )


def _json_payer(element: object) -> tuple[Payer | None, list[Finding]]:
    if not isinstance(element, Mapping):
        return None, [make_shape_finding("PAY008", "", "The element must be a JSON object.")]
    unknown = list(unknown_field_findings(element.keys()))
    known = {
        FIELDS_BY_NAME[k.casefold()].wire_name: v
        for k, v in element.items()
        if k.casefold() in FIELDS_BY_NAME
    }
    payer, wrong = read_payer(known)
    return (None if unknown else payer), unknown + wrong


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _skip(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return blanks.end() if blanks else place


def _refused(line: int, message: str) -> PayerFile:
    return PayerFile((), (RowFinding(line, make_shape_finding("PAY007", "", message)),))
