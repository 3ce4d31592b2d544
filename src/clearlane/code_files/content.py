"""Open the file of a code list: plain, a workbook, or a zip that holds either.

The file is untrusted. Its size, the length of a line, the entries of a zip and how far they expand are limited, and are
measured while reading: what a zip says about itself is only its claim. A refusal names the line and the kind of
characters there, never the text: a wrong file may be one with patients.
"""

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from clearlane.code_files.workbook import (
    ZIP_SIGNATURE,
    UnreadableWorkbook,
    is_workbook,
    read_sheet,
)

CHUNK_BYTES = 1024 * 1024
START_BYTES = 64 * 1024
"""Read first, to tell by what cells are separated."""
LINE_BYTES_MAX = 256 * 1024
ZIP_ENTRIES_MAX = 1_000
ZIP_RATIO_MAX = 100
"""How many times its packed size an entry may have: lists of codes have 5 to 25."""
ZIP_RATIO_FROM_BYTES = 1024 * 1024
"""Smaller entries may have any ratio: they do no harm."""
SHAPE_CHARACTERS_MAX = 24
MASK = "(A for a letter, 9 for a digit)"
"""What the characters of a shape stand for."""

MEGABYTE = 1024 * 1024
ENCRYPTED = 0x1
UTF_8 = ("utf-8-sig", "utf-8")
WINDOWS = "cp1252"


class CodeFileRefused(ValueError):
    """A file that is not what its list's publisher writes. The message says what was expected and what was found."""


def shape(text: str) -> str:
    """Return what kind of characters a text has, for messages: ``ISA*00*1`` becomes ``AAA*99*9``."""
    start = re.sub(r"[^\W\d_]", "A", text[:SHAPE_CHARACTERS_MAX])
    return re.sub(r"\d", "9", start) + ("..." if len(text) > SHAPE_CHARACTERS_MAX else "")


class Content:
    """The lines or the rows of one opened file, and where reading is."""

    def __init__(self, stream: IO[bytes], name: str, *, bytes_max: int, windows: bool) -> None:
        self._stream = stream
        self._name = name
        self._bytes_max = bytes_max
        self._windows = windows
        self._start = stream.read(START_BYTES)
        stream.seek(0)
        self.is_workbook = is_workbook(stream)
        self.number = 0
        """The line, or the row of a workbook, that was read last."""
        self.ends_open = False
        """The line that was read last has no end: the file may be truncated."""

    def refused(self, why: str) -> CodeFileRefused:
        """Return the refusal of the line that was read last."""
        row = "row" if self.is_workbook else "line"
        return CodeFileRefused(f"{self._name}{row} {self.number}: {why}")

    def starts_with(self, text: str) -> bool:
        """Return whether the file is a workbook, or a text that begins with this, whatever its case."""
        start = self._start.lstrip(b'\xef\xbb\xbf"')
        return self.is_workbook or start[: len(text)].lower() == text.lower().encode()

    def lines(self) -> Iterator[str]:
        """Return the lines that are not empty, without their ends."""
        for line in self._packed_lines():
            if text := self._decoded(line).rstrip("\r\n\x1a"):
                yield text

    def rows(self) -> Iterator[list[str]]:
        """Return the rows of a workbook, or of a text whose cells are separated by tabs or commas."""
        rows = self._sheet_rows() if self.is_workbook else self._text_rows()
        for row in rows:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield cells

    def _sheet_rows(self) -> Iterator[list[str]]:
        try:
            for number, row in read_sheet(self._stream, self._bytes_max):
                self.number = number
                yield row
        except UnreadableWorkbook as error:
            raise CodeFileRefused(f"{self._name}{error}") from None

    def _text_rows(self) -> Iterator[list[str]]:
        decoded = map(self._decoded, self._packed_lines())
        if self._start.count(b"\t") >= max(self._start.count(b"\n"), 1):
            # Publishers do not quote cells that tabs separate; a quote is an inch mark there.
            for line in decoded:
                yield [cell.strip('"') for cell in line.rstrip("\r\n\x1a").split("\t")]
            return
        try:
            yield from csv.reader(decoded, strict=True)
        except csv.Error:
            raise self.refused(
                "expected whole cells, found a quote out of place or the end of the file"
            ) from None

    def _packed_lines(self) -> Iterator[bytes]:
        """Return the lines of the stream with their ends, counting bytes and lines."""
        rest, size = b"", 0
        while chunk := self._read():
            size += len(chunk)
            if size > self._bytes_max:
                raise self.refused(
                    f"the file is larger than {self._bytes_max // MEGABYTE:,} MB, the limit of this list"
                )
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                self.number += 1
                yield line + b"\n"
            if len(rest) > LINE_BYTES_MAX:
                self.number += 1
                raise self.refused(
                    f"expected a line of text, found more than {LINE_BYTES_MAX:,} bytes"
                )
        if rest:
            self.number += 1
            self.ends_open = True
            yield rest

    def _read(self) -> bytes:
        try:
            return self._stream.read(CHUNK_BYTES)
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise self.refused("the zip is damaged or truncated after this line") from None

    def _decoded(self, line: bytes) -> str:
        if b"\0" in line:
            raise self.refused("expected text, found binary data or UTF-16: save the file as UTF-8")
        try:
            return line.decode(UTF_8[self.number > 1])
        except UnicodeDecodeError:
            if not self._windows:
                raise self.refused("expected UTF-8, found another encoding") from None
        try:
            return line.decode(WINDOWS)
        except UnicodeDecodeError:
            raise self.refused("expected UTF-8 or Windows-1252, found another encoding") from None


def open_contents(
    stream: IO[bytes],
    *,
    members: str,
    file_name: str,
    bytes_max: int,
    windows: bool,
    part: str = "",
) -> Iterator[Content]:
    """Return the contents of a file: of itself, or of the members of a zip whose names match ``members``.

    The stream must be seekable. The limit of bytes is for all members together. If there are several, ``part`` is what
    tells their names apart.
    """
    start = stream.read(len(ZIP_SIGNATURE))
    stream.seek(0)
    if not start:
        raise CodeFileRefused("the file is empty")
    if start != ZIP_SIGNATURE or is_workbook(stream):
        yield Content(stream, "", bytes_max=bytes_max, windows=windows)
        return
    try:
        with zipfile.ZipFile(stream) as archive:
            chosen = _entries(archive, members, file_name, bytes_max)
            _require_one_edition(chosen, part)
            for entry in chosen:
                with archive.open(entry) as member:
                    # A workbook is itself a zip and is read from its end.
                    packed = io.BytesIO(member.read()) if _is_sheet(entry) else member
                    yield Content(
                        packed, f"{entry.filename}, ", bytes_max=bytes_max, windows=windows
                    )
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        raise CodeFileRefused(
            "the zip is damaged or truncated, or packed in a way that is not read: unpack it"
        ) from None


def _entries(
    archive: zipfile.ZipFile, members: str, file_name: str, bytes_max: int
) -> list[zipfile.ZipInfo]:
    """Return the entries to read: texts, or workbooks if there are none. Refuses a zip beyond its limits."""
    listed = archive.infolist()
    if len(listed) > ZIP_ENTRIES_MAX:
        raise CodeFileRefused(
            f"the zip has {len(listed):,} entries; at most {ZIP_ENTRIES_MAX:,} are read"
        )
    wanted = re.compile(rf"(?:.*/)?(?:{members})", re.IGNORECASE)
    found = sorted(
        (entry for entry in listed if wanted.fullmatch(entry.filename)),
        key=lambda entry: entry.filename,
    )
    texts = [entry for entry in found if not _is_sheet(entry)]
    chosen = texts or found
    if not chosen:
        raise CodeFileRefused(
            f"the zip has no file of this list: expected a name such as {file_name}, found {len(listed):,} with other names"
        )
    for entry in chosen:
        ratio = entry.file_size // max(entry.compress_size, 1)
        if entry.flag_bits & ENCRYPTED:
            raise CodeFileRefused(f"{entry.filename} is encrypted: unpack it first")
        if entry.file_size > ZIP_RATIO_FROM_BYTES and ratio > ZIP_RATIO_MAX:
            raise CodeFileRefused(
                f"{entry.filename} is a zip bomb: it unpacks to {ratio:,} times its size; "
                f"at most {ZIP_RATIO_MAX} times are read"
            )
    if sum(entry.file_size for entry in chosen) > bytes_max:
        raise CodeFileRefused(
            f"{chosen[0].filename} is larger than {bytes_max // MEGABYTE:,} MB, the limit of this list"
        )
    return chosen


def _require_one_edition(entries: list[zipfile.ZipInfo], part: str) -> None:
    """Refuse a zip that holds several editions of a list: their codes would be mixed."""
    editions: dict[str, str] = {}
    for entry in entries:
        name = entry.filename
        editions.setdefault(re.sub(part, "", name, flags=re.IGNORECASE) if part else name, name)
    if len(editions) > 1:
        raise CodeFileRefused(
            f"the zip has {len(editions)} files of this list, such as {' and '.join([*editions.values()][:2])}: "
            "give the one of the edition"
        )


def _is_sheet(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.lower().endswith(".xlsx")
