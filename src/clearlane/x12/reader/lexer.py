"""Split bytes into segments, whatever the chunking.

Yields chunks of plain lists, never one object per segment: this reaches half the speed of a bare ``str.split``, an
object per segment a third. Reads the separators of each interchange from its ISA and translates the text to the
canonical ones. Knows where interchanges begin and end; knows no group, set or guide.

    lexer = Lexer()
    for chunk in chunks:
        for token in lexer.feed(chunk): ...
    for token in lexer.finish(): ...
"""

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from clearlane.kernel.limits import SEGMENT_BYTES_MAX
from clearlane.x12.delimiters import (
    ISA_CHARACTERS,
    ISA_CHARACTERS_MAX,
    ISA_SEPARATORS,
    Delimiters,
    read_delimiters,
)


class InterchangeHeader(NamedTuple):
    """An ISA: its separators hold from here on."""

    delimiters: Delimiters
    segment: list[str]


class SegmentChunk(NamedTuple):
    """Consecutive segments in file order: the text of each, and the same split into elements."""

    texts: list[str]
    segments: list[list[str]]


class Junk(NamedTuple):
    """Characters outside any interchange, blanks not counted."""

    characters: int
    broken_header: bool
    """Whether some of them began like an ISA that could not be read."""


class OverlongSegment(NamedTuple):
    """A segment longer than the limit, which was left out."""

    id: str


class UnterminatedSegment(NamedTuple):
    """The file or interchange ends inside a segment; the next token holds its beginning."""


class EmptySegments(NamedTuple):
    """The number of empty segments (two terminators in a row) of the interchange that is about to end."""

    segments: int


class IndentedSegments(NamedTuple):
    """The number of segments with blanks before their id in the interchange that is about to end."""

    segments: int


class ByteOrderMark(NamedTuple):
    """The file begins with a byte order mark."""


Token: TypeAlias = (
    InterchangeHeader | SegmentChunk | Junk | OverlongSegment | UnterminatedSegment | EmptySegments
    | IndentedSegments | ByteOrderMark
)  # fmt: skip

BLANKS = " \t\r\n"
# Chunks are processed in slices of this size. A slice plus the usual rest of the previous one stays under the limit
# of a segment, so one comparison of the whole length replaces a comparison per segment (see ``_split``).
SLICE_BYTES = SEGMENT_BYTES_MAX - 4_000

_ODD = re.compile(r"~[ \t\r\n~]")
_EMPTIES = re.compile(r"~[ \t\r\n~]+")
_INDENTED = re.compile(r"~[\r\n]*+[ \t][ \t\r\n]*+(?!~|\Z)")
# The lookbehind keeps the match linear: without it a long run of blanks is tried from each of its positions.
_PADDED = re.compile(r"(?<! ) +~")
# ISA or IEA as a whole word. What precedes it is examined afterward (``_find_end``): an expression that also skipped
# the blanks before it would be quadratic.
_EDGE = re.compile(r"I([SE])A(?![A-Z0-9])")
_PADDING = dict.fromkeys(map(ord, "\x00\x1a"))
# No text of a payer has them; tabs and line ends are blanks.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ALL_CONTROLS = (*range(32), *range(127, 160))


class Lexer:
    """A splitter of a stream of interchanges into segments."""

    __slots__ = (
        "_blank", "_broken", "_clean", "_controls", "_decode", "_decodes", "_first", "_from_canonical", "_gap", "_indented", "_inside", "_junk", "_overlong",
        "_padded", "_rest", "_to_canonical", "_visible",
    )  # fmt: skip

    def __init__(self, *, clean: bool = False, decode: bool = False) -> None:
        """With ``clean``, drop control characters from data: for texts that are shown, not checked or written again.

        With ``decode``, a segment whose bytes are UTF-8 is read as that, and any other as Latin-1.
        """
        self._clean = clean
        self._decode = decode
        self._decodes = False
        """Whether segments of this interchange are read as UTF-8: not if a separator is a byte that UTF-8 uses for letters."""
        self._controls: dict[int, None] = {}
        """Control characters to drop: those that are not separators of the interchange."""
        self._rest = ""
        self._first = True
        self._inside = False
        self._to_canonical: dict[int, int] = {}
        self._from_canonical: dict[int, int] = {}
        self._visible = False
        self._padded = False
        """Whether blanks precede the terminator of the ISA, and therefore that of every segment."""
        self._blank = 0
        self._indented = 0
        self._gap = False
        """Whether blanks precede the segment whose first character is still to come."""
        self._junk = 0
        self._broken = False
        self._overlong = ""

    def feed(self, chunk: bytes) -> list[Token]:
        """Return the tokens that these bytes complete."""
        out: list[Token] = []
        if self._first and chunk:
            # The chunking may split the byte order mark, so its bytes are held back until it is complete.
            chunk = self._rest.encode("latin-1") + chunk
            if BOM_UTF8.startswith(chunk):
                self._rest = chunk.decode("latin-1")
                return out
            self._first, self._rest = False, ""
            if chunk.startswith(BOM_UTF8):
                out.append(ByteOrderMark())
                chunk = chunk.removeprefix(BOM_UTF8)
        # latin-1 maps every byte to one character, so decoding cannot fail and is undone exactly when writing.
        for at in range(0, len(chunk), SLICE_BYTES):
            self._feed_slice(chunk[at : at + SLICE_BYTES].decode("latin-1"), out)
        return out

    def finish(self) -> list[Token]:
        """Return the tokens that the end of the file completes."""
        out: list[Token] = []
        if not self._inside:
            # In a short file an ISA may still be waiting for characters that never come.
            mark = BOM_UTF8.decode("latin-1")
            if self._first and self._rest == mark:
                out.append(ByteOrderMark())
            text, self._rest = self._rest.removeprefix(mark), ""
            self._process(text, out, final=True)
        if self._inside:
            rest = self._split(self._without_blanks(self._rest), out)
            overlong = self._overlong
            self._end(out)
            if overlong:
                out += [UnterminatedSegment(), OverlongSegment(overlong)]
            else:
                self._append_unterminated(rest, out)
        self._rest = ""
        if self._junk:
            out.append(Junk(self._junk, self._broken))
            self._junk = 0
        return out

    def _feed_slice(self, text: str, out: list[Token]) -> None:
        if self._inside and self._to_canonical:
            text = text.translate(self._to_canonical)
        self._process(self._rest + text, out, final=False)

    def _process(self, text: str, out: list[Token], *, final: bool) -> None:
        while text:
            text = (
                self._split_body(text, out)
                if self._inside
                else self._find_header(text, out, final=final)
            )

    def _find_header(self, text: str, out: list[Token], *, final: bool) -> str:
        """Look for the next ISA outside an interchange. Return the canonical text after it."""
        start = 0
        while (at := text.find("ISA", start)) >= 0:
            self._skip(text[start:at])
            if len(text) - at < ISA_CHARACTERS_MAX and not final:
                self._rest = text[at:]
                return ""
            found = read_delimiters(text[at : at + ISA_CHARACTERS_MAX])
            if found is not None:
                end = at + found[1]
                self._begin(found[0], text[at : end - 1], out)
                self._rest = ""
                return text[end:].translate(self._to_canonical)
            self._broken = True
            self._junk += len("ISA")
            start = at + len("ISA")
        end = len(text) - (0 if final else _prefix_length(text))
        self._skip(text[start:end])
        self._rest = text[max(start, end) :]
        return ""

    def _skip(self, text: str) -> None:
        self._junk += len("".join(text.translate(_PADDING).split()))

    def _begin(self, delimiters: Delimiters, header: str, out: list[Token]) -> None:
        if self._junk:
            out.append(Junk(self._junk, self._broken))
        self._junk, self._broken = 0, False
        self._inside = True
        self._to_canonical = delimiters.to_canonical()
        self._from_canonical = delimiters.from_canonical()
        # A data character that equals a canonical separator was exchanged with one of the file's: it is none to drop.
        exchanged = {*self._to_canonical, *self._to_canonical.values()}
        self._controls = {
            sign: None
            for sign in _ALL_CONTROLS
            if chr(sign) not in BLANKS and sign not in exchanged
        }
        self._visible = delimiters.terminator not in BLANKS
        self._decodes = self._decode and all(sign < 128 for sign in exchanged)
        segment = header.translate(self._to_canonical).split("*")
        self._padded = len(segment[-1]) > 1
        out.append(InterchangeHeader(delimiters, segment))

    def _end(self, out: list[Token]) -> None:
        if self._blank and self._visible:
            out.append(EmptySegments(self._blank))
        if self._indented:
            out.append(IndentedSegments(self._indented))
        self._blank = self._indented = 0
        self._gap = False
        self._inside = False
        self._overlong = ""

    def _split_body(self, text: str, out: list[Token]) -> str:
        """Split text inside an interchange: canonical, and beginning where a segment begins.

        Return the original text after the interchange if it ends here.
        """
        if self._overlong:
            _, found, text = text.partition("~")
            if not found:
                return ""
            out.append(OverlongSegment(self._overlong))
            self._overlong = ""
        end, undecided = _find_end(text, self._from_canonical)
        if end is None:
            # The undecided text begins where a segment begins, so the part before it splits without remainder.
            rest = self._split(self._without_blanks(text[:undecided]), out)
            self._rest = rest + text[undecided:]
            return ""
        part = self._without_blanks(text[:end])
        if self._blank or self._indented:
            # What was counted is reported before the IEA, which ends the interchange, whatever the chunking.
            last = part.rfind("~", 0, -1) + 1
            last = last if part.startswith("IEA", last) else len(part)
            part = self._split(part[:last], out) + part[last:]
        self._end(out)
        self._append_unterminated(self._split(part, out), out)
        self._rest = ""
        return text[end:].translate(self._from_canonical)

    def _without_blanks(self, text: str) -> str:
        """Return the text without blanks and empty segments between its segments; count both."""
        if self._padded:
            text = _PADDED.sub("~", text)
        if "\n" in text:
            text = text.replace("~\r\n", "~").replace("~\n", "~")
        bare = text.lstrip(" \t\r\n~")
        if bare is not text or self._gap:
            lead = text[: len(text) - len(bare)]
            self._blank += lead.count("~")
            gap = _has_blank(lead.rpartition("~")[2]) or (self._gap and "~" not in lead)
            # If nothing follows yet, the next slice decides.
            self._gap = gap and not bare
            self._indented += gap and bool(bare)
        if _ODD.search(bare):
            self._indented += len(_INDENTED.findall(bare))
            last = bare.rpartition("~")[2]
            self._gap = not last.strip(BLANKS) and _has_blank(last)
            before = bare.count("~")
            bare = _EMPTIES.sub("~", bare)
            self._blank += before - bare.count("~")
        return bare

    def _split(self, text: str, out: list[Token]) -> str:
        """Append the complete segments of ``text`` to ``out``. Return the beginning of the next one."""
        *texts, rest = text.split("~")
        if len(text) > SEGMENT_BYTES_MAX:
            # A slice is shorter than the limit, so only the segment that began before it can exceed the limit.
            first = texts[0] if texts else rest
            if len(first) > SEGMENT_BYTES_MAX:
                if not texts:
                    self._overlong = _id(rest)
                    return ""
                out.append(OverlongSegment(_id(first)))
                del texts[0]
        if self._clean and (not text.isascii() or _CONTROLS.search(text)):
            # Only now: the separators of the next interchange of a file may be control characters.
            texts = [bare for one in texts if (bare := clean_text(one, self._controls))]
        elif self._decodes and not text.isascii():
            # Whole segments only: a chunk may end inside a character.
            texts = list(map(read_as_utf8, texts))
        if texts:
            out.append(SegmentChunk(texts, [t.split("*") for t in texts]))
        return rest

    def _append_unterminated(self, text: str, out: list[Token]) -> None:
        """Append a segment without its terminator, preceded by the token that reports it."""
        text = text.rstrip(BLANKS)
        if self._clean:
            text = clean_text(text, self._controls)
        elif self._decodes:
            text = read_as_utf8(text)
        if text:
            out += [UnterminatedSegment(), SegmentChunk([text], [text.split("*")])]


def read_as_utf8(text: str) -> str:
    """Return a text that was decoded as Latin-1 as the UTF-8 that its bytes are; unchanged if they are not."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def decode_part(part: bytes) -> str:
    """Return a part of a payer's file as text: UTF-8 if its bytes are that, else Latin-1."""
    return read_as_utf8(part.decode("latin-1"))


def clean_text(text: str, controls: Mapping[int, None]) -> str:
    """Return a payer's text as it is shown: UTF-8 if its bytes are that, without these control characters."""
    return read_as_utf8(text).translate(controls)


def _find_end(text: str, from_canonical: dict[int, int]) -> tuple[int | None, int]:
    """Return where the interchange ends (None if not yet), and from where on more text is needed to decide.

    It ends after its IEA, or before an ISA that comes without one. If a file was cut off and another appended,
    that ISA begins inside a segment; it counts as one if all its characters fit.
    """
    close = 0
    for found in _EDGE.finditer(text):
        start = found.start()
        if 0 < close <= start:
            break
        before = start - 1
        while before >= 0 and text[before] in BLANKS:
            before -= 1
        begins = before < 0 or text[before] == "~"
        if found[1] == "S":
            fits = True if begins else _is_header(text, start, from_canonical)
            if fits:
                return start, len(text)
            if fits is None:
                return None, text.rfind("~", 0, start) + 1
        elif begins:
            close = text.find("~", found.end()) + 1
    return close or None, len(text)


def _is_header(text: str, at: int, from_canonical: dict[int, int]) -> bool | None:
    """Return whether a whole ISA begins here; None if the text ends before that can be decided."""
    # The translation of separators is a permutation: characters equal in the file are equal in canonical text.
    there = len(text) - at
    if any(text[at + n] != text[at + 3] for n in ISA_SEPARATORS if n < there):
        return False
    if there < ISA_CHARACTERS:
        return None
    found = read_delimiters(text[at : at + ISA_CHARACTERS].translate(from_canonical))
    return found is not None and found[1] == ISA_CHARACTERS


def _has_blank(text: str) -> bool:
    return " " in text or "\t" in text


def _id(text: str) -> str:
    return text[:4].partition("*")[0][:3]


def _prefix_length(text: str) -> int:
    """Return how many characters at the end could be the beginning of ``ISA``."""
    return next((n for n in (2, 1) if text.endswith("ISA"[:n])), 0)
