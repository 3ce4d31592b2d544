"""Bytes to segments, whatever the chunking.

Hands on batches of plain lists, never an object a segment. Learns each interchange's separators from
its ISA and swaps the text to the canonical ones. Knows where interchanges begin and end, and nothing
of groups, sets and guides.

    lexer = Lexer()
    for chunk in chunks:
        for token in lexer.feed(chunk): ...
    for token in lexer.finish(): ...
"""

import re
from typing import NamedTuple, TypeAlias

from clearlane.kernel.limits import SEGMENT_BYTES_MAX
from clearlane.x12.delimiters import (
    ISA_CHARACTERS,
    ISA_CHARACTERS_MAX,
    ISA_SEPARATORS,
    Delimiters,
    learn,
)


class Header(NamedTuple):
    """An ISA: from here on these separators hold."""

    delimiters: Delimiters
    segment: list[str]


class Batch(NamedTuple):
    """Segments in file order: the text of each, and the same split into elements."""

    texts: list[str]
    segments: list[list[str]]


class Junk(NamedTuple):
    """Characters outside any interchange, blanks not counted."""

    characters: int
    broken_header: bool
    """Whether something among them began like an ISA but could not be read as one."""


class Overlong(NamedTuple):
    """A segment longer than the limit stood here and was left out."""

    id: str


class Cut(NamedTuple):
    """The file or the interchange ends inside a segment, whose beginning is the one that follows."""


class Blank(NamedTuple):
    """Empty segments (two terminators in a row) stand in this interchange, which is about to end."""

    segments: int


Token: TypeAlias = Header | Batch | Junk | Overlong | Cut | Blank

BLANKS = " \t\r\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# A slice and the rest before it stay under the limit of a segment, so that the common slice needs no
# look at the length of each segment.
SLICE_BYTES = SEGMENT_BYTES_MAX - 4_000

_ODD = re.compile(r"~[ \t\r\n~]")
_EMPTIES = re.compile(r"~[ \t\r\n~]+")
# The look back keeps a long run of blanks from being tried from each of them.
_PADDED = re.compile(r"(?<! ) +~")
# What stands before it is looked at afterwards: an expression that did both would be quadratic.
_EDGE = re.compile(r"I([SE])A(?![A-Z0-9])")
_PADDING = dict.fromkeys(map(ord, "\x00\x1a"))


class Lexer:
    """Split a stream of interchanges into segments."""

    __slots__ = (
        "_back", "_blank", "_broken", "_first", "_inside", "_junk", "_overlong", "_padded", "_rest",
        "_swap", "_visible",
    )  # fmt: skip

    def __init__(self) -> None:
        self._rest = ""
        self._first = True
        self._inside = False
        self._swap: dict[int, int] = {}
        self._back: dict[int, int] = {}
        self._visible = False
        self._padded = False
        """Whether blanks stand before the terminator of the ISA, so that they end every segment."""
        self._blank = 0
        self._junk = 0
        self._broken = False
        self._overlong = ""

    def feed(self, chunk: bytes) -> list[Token]:
        """The tokens that these bytes complete."""
        out: list[Token] = []
        if self._first and chunk:
            # The mark may itself be cut by the chunking, so its bytes are held back until decided.
            chunk = self._rest.encode("latin-1") + chunk
            if BYTE_ORDER_MARK.startswith(chunk):
                self._rest = chunk.decode("latin-1")
                return out
            self._first, self._rest = False, ""
            chunk = chunk.removeprefix(BYTE_ORDER_MARK)
        for at in range(0, len(chunk), SLICE_BYTES):
            self._slice(chunk[at : at + SLICE_BYTES].decode("latin-1"), out)
        return out

    def finish(self) -> list[Token]:
        """The tokens that the end of the file completes."""
        out: list[Token] = []
        if not self._inside:
            # A short file: an ISA may have waited here for more than there is.
            text, self._rest = self._rest.removeprefix(BYTE_ORDER_MARK.decode("latin-1")), ""
            self._drain(text, out, final=True)
        if self._inside:
            rest = self._cut(self._without_blanks(self._rest), out)
            overlong = self._overlong
            self._end(out)
            if overlong:
                out += [Cut(), Overlong(overlong)]
            else:
                _cut_off(rest, out)
        self._rest = ""
        if self._junk:
            out.append(Junk(self._junk, self._broken))
            self._junk = 0
        return out

    def _slice(self, text: str, out: list[Token]) -> None:
        if self._inside and self._swap:
            text = text.translate(self._swap)
        self._drain(self._rest + text, out, final=False)

    def _drain(self, text: str, out: list[Token], *, final: bool) -> None:
        while text:
            text = self._body(text, out) if self._inside else self._seek(text, out, final=final)

    def _seek(self, text: str, out: list[Token], *, final: bool) -> str:
        """Outside an interchange: look for the next ISA. Returns the canonical text after it."""
        start = 0
        while (at := text.find("ISA", start)) >= 0:
            self._skip(text[start:at])
            if len(text) - at < ISA_CHARACTERS_MAX and not final:
                self._rest = text[at:]
                return ""
            learnt = learn(text[at : at + ISA_CHARACTERS_MAX])
            if learnt is not None:
                end = at + learnt[1]
                self._begin(learnt[0], text[at : end - 1], out)
                self._rest = ""
                return text[end:].translate(self._swap)
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
        self._swap = delimiters.canonical()
        self._back = delimiters.original()
        self._visible = delimiters.terminator not in BLANKS
        segment = header.translate(self._swap).split("*")
        self._padded = len(segment[-1]) > 1
        out.append(Header(delimiters, segment))

    def _end(self, out: list[Token]) -> None:
        if self._blank and self._visible:
            out.append(Blank(self._blank))
        self._blank = 0
        self._inside = False
        self._overlong = ""

    def _body(self, text: str, out: list[Token]) -> str:
        """Inside an interchange: ``text`` is canonical and begins where a segment begins.

        Returns the original text after the interchange where it ends here.
        """
        if self._overlong:
            _, found, text = text.partition("~")
            if not found:
                return ""
            out.append(Overlong(self._overlong))
            self._overlong = ""
        end, held = _edge(text, self._back)
        if end is None:
            # What is held begins where a segment begins, so nothing is left over before it.
            rest = self._cut(self._without_blanks(text[:held]), out)
            self._rest = rest + text[held:]
            return ""
        part = self._without_blanks(text[:end])
        self._end(out)
        _cut_off(self._cut(part, out), out)
        self._rest = ""
        return text[end:].translate(self._back)

    def _without_blanks(self, text: str) -> str:
        """The text without blanks and empty segments between its segments; the latter are counted."""
        if self._padded:
            text = _PADDED.sub("~", text)
        if "\n" in text:
            text = text.replace("~\r\n", "~").replace("~\n", "~")
        bare = text.lstrip(" \t\r\n~")
        if bare is not text:
            self._blank += text.count("~", 0, len(text) - len(bare))
        if _ODD.search(bare):
            before = bare.count("~")
            bare = _EMPTIES.sub("~", bare)
            self._blank += before - bare.count("~")
        return bare

    def _cut(self, text: str, out: list[Token]) -> str:
        """Hand on the complete segments of ``text``; the beginning of the next one is left over."""
        *texts, rest = text.split("~")
        if len(text) > SEGMENT_BYTES_MAX:
            # A slice is shorter than the limit, so only the segment that began before it can be longer.
            first = texts[0] if texts else rest
            if len(first) > SEGMENT_BYTES_MAX:
                if not texts:
                    self._overlong = _id(rest)
                    return ""
                out.append(Overlong(_id(first)))
                del texts[0]
        if texts:
            out.append(Batch(texts, [t.split("*") for t in texts]))
        return rest


def _edge(text: str, back: dict[int, int]) -> tuple[int | None, int]:
    """Where the interchange ends, and from where on more text must come before that can be said.

    It ends after its IEA, or before an ISA that comes without one. Where a file was cut and another
    put behind it, the ISA stands inside a segment; it is one if all its characters fit.
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
            fits = True if begins else _is_header(text, start, back)
            if fits:
                return start, len(text)
            if fits is None:
                return None, text.rfind("~", 0, start) + 1
        elif begins:
            close = text.find("~", found.end()) + 1
    return close or None, len(text)


def _is_header(text: str, at: int, back: dict[int, int]) -> bool | None:
    """Whether a whole ISA stands here; None where the text ends before it can be said."""
    # The swap of separators is a permutation: what is equal in the file is equal here.
    there = len(text) - at
    if any(text[at + n] != text[at + 3] for n in ISA_SEPARATORS if n < there):
        return False
    if there < ISA_CHARACTERS:
        return None
    learnt = learn(text[at : at + ISA_CHARACTERS].translate(back))
    return learnt is not None and learnt[1] == ISA_CHARACTERS


def _cut_off(text: str, out: list[Token]) -> None:
    """A segment without its terminator is kept, and told."""
    text = text.rstrip(BLANKS)
    if text:
        out += [Cut(), Batch([text], [text.split("*")])]


def _id(text: str) -> str:
    return text[:4].partition("*")[0][:3]


def _prefix_length(text: str) -> int:
    """How many characters at the end could be the beginning of ``ISA``."""
    return next((n for n in (2, 1) if text.endswith("ISA"[:n])), 0)
