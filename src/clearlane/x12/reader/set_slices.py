"""Find the transaction sets of a file as bytes, to compare one or to hand it on as it was received.

    for one in slice_sets(content):
        one.key                        # interchange, group and set, counted as the reader counts them
        one.digest()                   # equal for the same set in another envelope, or with other separators
        cut_sets(content, [one])       # a file of these sets alone: nothing inside a set is changed
        cut_sets(content, [one], HeaderValues(isa={8: "..."}, gs={3: "..."}))         # in an envelope to another receiver

Only control segments are looked at, so that a large file costs one search. Knows envelopes; knows no guide.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from clearlane.x12.delimiters import Delimiters, read_delimiters

SetKey: TypeAlias = tuple[int, int, int]
"""A set in a file: interchange, group, set, each counted from 1."""

HEADER_BYTES_MAX = 1_024
"""No ISA is longer, however its fields are padded."""
_LINE_ENDS = b"\r\n"


@dataclass(frozen=True, slots=True)
class _Span:
    """Bytes of a file, from ``start`` up to ``end``."""

    start: int
    end: int

    def of(self, content: bytes) -> bytes:
        return content[self.start : self.end]


@dataclass(frozen=True, slots=True)
class SetSlice:
    """One transaction set in the bytes of a file, with the headers around it."""

    key: SetKey
    transaction: str
    """ST01."""
    delimiters: Delimiters
    isa: _Span
    gs: _Span
    whole: _Span
    """From the ST up to the end of the SE."""
    inner: _Span
    """Between ST and SE."""

    def digest(self, content: bytes) -> str:
        """Return a hash of what is between ST and SE, whatever the separators and line ends."""
        table = bytearray(range(256))
        for used, canonical in self.delimiters.to_canonical().items():
            table[used] = canonical
        dropped = _LINE_ENDS.replace(self.delimiters.terminator.encode("latin-1"), b"")
        inner = self.inner.of(content).translate(bytes(table), dropped)
        return hashlib.blake2b(inner, digest_size=32).hexdigest()

    def count(self, content: bytes, name: str) -> int:
        """Return how many segments of the set have a name and an element; there may be line ends or spaces before it."""
        terminator, element = (
            re.escape(one.encode("latin-1"))
            for one in (self.delimiters.terminator, self.delimiters.element)
        )
        begin = re.compile(terminator + rb"\s*" + name.encode() + element)
        return sum(1 for _ in begin.finditer(content, self.whole.start, self.whole.end))


def slice_sets(content: bytes) -> Iterator[SetSlice]:
    """Yield the sets of a file in its order. Bytes that are not X12 are passed over."""
    counts = _Counts()
    at = content.find(b"ISA")
    while at >= 0:
        head = content[at : at + HEADER_BYTES_MAX].decode("latin-1")
        found = read_delimiters(head)
        if found is None:
            at = content.find(b"ISA", at + 3)
            continue
        delimiters, length = found
        counts.next_interchange()
        isa = _Span(at, at + length)
        end = _next_interchange(content, delimiters, isa.end)
        yield from _slice_interchange(content, delimiters, isa, end, counts)
        at = content.find(b"ISA", end) if end < len(content) else -1


@dataclass(frozen=True, slots=True)
class HeaderValues:
    """Elements of ISA and GS by their numbers, for sets that are handed on in another envelope."""

    isa: Mapping[int, str] = field(default_factory=dict)
    gs: Mapping[int, str] = field(default_factory=dict)


AS_RECEIVED = HeaderValues()


def cut_sets(
    content: bytes, wanted: Sequence[SetSlice], values: HeaderValues = AS_RECEIVED
) -> bytes:
    """Return a file of these sets alone, each in the envelope that it came in, with ``values`` in the headers.

    Nothing inside a set and nothing else in a header is changed; trailers are rewritten, since they count sets and groups.
    """
    pieces: list[bytes] = []
    for isa in dict.fromkeys(one.isa for one in wanted):
        groups = list(dict.fromkeys(one.gs for one in wanted if one.isa == isa))
        separators = next(one.delimiters for one in wanted if one.isa == isa)
        ending = _ending(content, isa, separators)
        isa_header = _header(isa.of(content), values.isa, separators)
        pieces.append(isa_header + ending)
        for gs in groups:
            sets = [one for one in wanted if (one.isa, one.gs) == (isa, gs)]
            gs_header = _header(gs.of(content), values.gs, separators)
            pieces.append(gs_header + ending)
            pieces += [one.whole.of(content) + ending for one in sets]
            pieces.append(_trailer("GE", len(sets), gs_header, 6, separators) + ending)
        pieces.append(_trailer("IEA", len(groups), isa_header, 13, separators) + ending)
    return b"".join(pieces)


class _Counts:
    """The numbers of the interchange, group and set that are open."""

    def __init__(self) -> None:
        self.interchange = self.group = self.set = 0

    def next_interchange(self) -> None:
        self.interchange, self.group, self.set = self.interchange + 1, 0, 0

    def next_group(self) -> None:
        self.group, self.set = self.group + 1, 0

    def next_set(self) -> SetKey:
        self.set += 1
        return self.interchange, self.group, self.set


def _slice_interchange(
    content: bytes, delimiters: Delimiters, isa: _Span, end: int, counts: _Counts
) -> Iterator[SetSlice]:
    terminator = delimiters.terminator.encode("latin-1")
    opened: tuple[SetKey, str, int, int] | None = None
    gs = _Span(isa.end, isa.end)
    # The search begins with the terminator of the ISA, after which the first segment begins.
    for match in _control_segments(delimiters).finditer(content, isa.end - 1, end):
        name, start = match[1], match.start(1)
        stop = content.find(terminator, start)
        after = len(content) if stop < 0 else stop + 1
        if opened is not None:
            key, transaction, begin, inside = opened
            last = after if name == b"SE" else start
            spans = _Span(begin, last), _Span(inside, start)
            yield SetSlice(key, transaction, delimiters, isa, gs, *spans)
            opened = None
        if name == b"GS":
            counts.next_group()
            gs = _Span(start, after)
        elif name == b"ST":
            segment = content[start : after - 1].decode("latin-1")
            elements = segment.split(delimiters.element)
            opened = counts.next_set(), elements[1] if len(elements) > 1 else "", start, after
    if opened is not None:  # the file ends inside the set
        key, transaction, begin, inside = opened
        spans = _Span(begin, end), _Span(inside, end)
        yield SetSlice(key, transaction, delimiters, isa, gs, *spans)


def _control_segments(delimiters: Delimiters) -> re.Pattern[bytes]:
    """Return an expression for the control segments: after a terminator, perhaps with blanks or line ends."""
    terminator, element = (
        re.escape(one.encode("latin-1")) for one in (delimiters.terminator, delimiters.element)
    )
    # The terminator comes first, so that the expression is searched for by that one byte.
    return re.compile(terminator + rb"\s*(GS|ST|SE|GE|IEA)" + element)


def _next_interchange(content: bytes, delimiters: Delimiters, at: int) -> int:
    """Return where the next ISA begins, after a terminator; the end of the file if there is none."""
    terminator, element = (
        re.escape(one.encode("latin-1")) for one in (delimiters.terminator, delimiters.element)
    )
    trailer = re.compile(terminator + rb"\s*IEA" + element + rb"[^" + terminator + rb"]*")
    found = trailer.search(content, at - 1)
    start = found.end() if found else at
    next_at = content.find(b"ISA", start)
    return len(content) if next_at < 0 else next_at


def _ending(content: bytes, span: _Span, delimiters: Delimiters) -> bytes:
    """Return the line end that the file puts after its segments."""
    if delimiters.terminator in "\r\n":
        return b""
    for ending in (b"\r\n", b"\n"):
        if content.startswith(ending, span.end):
            return ending
    return b""


def _header(header: bytes, values: Mapping[int, str], delimiters: Delimiters) -> bytes:
    """Return a header with other elements; a separator in one becomes a blank."""
    used = delimiters.element + delimiters.component + delimiters.repetition + delimiters.terminator
    blanks = str.maketrans(dict.fromkeys(used, " "))
    parts = header.decode("latin-1").split(delimiters.element)
    for at, text in values.items():
        if at < len(parts) - 1:  # the last one ends with the terminator
            parts[at] = text.translate(blanks)
    return delimiters.element.join(parts).encode("latin-1")


def _trailer(
    name: str, count: int, header: bytes, control_at: int, delimiters: Delimiters
) -> bytes:
    elements = header.decode("latin-1").rstrip("\r\n").rstrip(delimiters.terminator)
    parts = elements.split(delimiters.element)
    control = parts[control_at].strip() if len(parts) > control_at else ""
    row = delimiters.element.join([name, str(count), control])
    return (row + delimiters.terminator).encode("latin-1")
