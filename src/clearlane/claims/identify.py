"""What a file that came back is, by its content alone; or why nobody can tell.

    found = recognise(content)
    found.kinds                                  # {"999", "835"}: what can be posted
    found.reason                                 # filled: the file belongs into quarantine, and this is why

TA1, 999, 271, 277CA, 277 and 835 may stand in one file in any mix and with any separators. A file that was cut short
or changed on the way is refused as a whole, because half of it may be missing. Reads the envelopes and no
more, so a large file costs little.

Knows envelopes; knows no claim.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from clearlane.kernel.limits import FILE_HEAD_BYTES
from clearlane.x12 import guides, lexer, reader
from clearlane.x12.tree import Segment, element

POSTED = frozenset({"TA1", "999", "271", "277CA", "277", "835"})
# How files begin that are sent in place of an answer, and what to call them.
STRANGERS: tuple[tuple[bytes, str], ...] = (
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<", "XML"),
    (b"%pdf", "a PDF"),
    (b"pk\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a compressed file (gzip)"),
    (b"-----begin pgp", "an encrypted file (PGP)"),
    (b"{", "JSON"),
    (b"[", "JSON"),
    (b"una", "EDIFACT"),
    (b"unb", "EDIFACT"),
)


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a file is."""

    kinds: frozenset[str] = frozenset()
    reason: str = ""
    others: frozenset[str] = frozenset()
    """Sets beside those that can be posted: 837, 270 and so on."""

    @property
    def usable(self) -> bool:
        """Whether it can be posted."""
        return not self.reason


def recognise(source: reader.Source) -> Recognised:
    """What a file is, or why it cannot be used."""
    look = _Look()
    for chunk in reader.chunks(source):
        look.feed(chunk)
    return look.verdict()


@dataclass(slots=True)
class _Look:
    """A file while it is looked at."""

    head: bytes = b""
    kinds: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    interchanges: int = 0
    groups: int = 0
    sets: int = 0
    version: str = ""
    open: list[Segment] = field(default_factory=list)
    """The headers that wait for their ends: ISA, GS, ST."""
    segments: int = 0
    """In the open set."""
    split: lexer.Lexer = field(default_factory=lexer.Lexer)

    def feed(self, chunk: bytes) -> None:
        if len(self.head) < FILE_HEAD_BYTES:
            self.head = (self.head + chunk).lstrip(b"\xef\xbb\xbf \t\r\n\x00")[:FILE_HEAD_BYTES]
        self._take(self.split.feed(chunk))

    def verdict(self) -> Recognised:
        self._take(self.split.finish())
        self._closed(0)
        kinds, others = frozenset(self.kinds), frozenset(self.others)
        if not self.interchanges:
            return Recognised(reason=self._stranger())
        if self.faults:
            return Recognised(kinds, self.faults[0], others)
        if not kinds:
            what = ", ".join(sorted(others)) or "no transaction set"
            reason = f"The file holds {what}: no answer to claims or inquiries (TA1, 999, 271, 277CA, 277 or 835)."
            return Recognised(reason=reason, others=others)
        return Recognised(kinds, others=others)

    def _stranger(self) -> str:
        if not self.head:
            return "The file is empty."
        start = self.head.lower()
        if start.startswith(b"isa"):
            return (
                "The file begins like an interchange, but its first segment (ISA) cannot be read."
            )
        what = next((name for mark, name in STRANGERS if start.startswith(mark)), "something else")
        return f"The file is {what}, not X12: an interchange begins with ISA."

    def _take(self, tokens: Iterable[lexer.Token]) -> None:
        for token in tokens:
            match token:
                case lexer.Header(_, segment):
                    self._closed(0)
                    self.interchanges += 1
                    self.groups = 0
                    self.open = [segment]
                case lexer.Batch(_, segments):
                    self._batch(segments)
                case lexer.Cut():
                    self.faults.append("The file is cut off in the middle of a segment.")
                case lexer.Overlong():
                    self.faults.append("A segment is longer than any segment can be.")
                case lexer.Junk(_, True):
                    self.faults.append("An interchange begins in a way that cannot be read.")
                case _:
                    pass

    def _batch(self, segments: list[Segment]) -> None:
        inside = len(self.open) == 3
        for segment in segments:
            id = segment[0]
            if inside and id not in _ENDS:
                self.segments += 1
                continue
            handle = _ENVELOPE.get(id)
            if handle is not None:
                handle(self, segment)
            inside = len(self.open) == 3

    def ta1(self, segment: Segment) -> None:
        self.kinds.add("TA1")

    def gs(self, segment: Segment) -> None:
        self._closed(1)
        self.groups += 1
        self.sets = 0
        self.version = element(segment, 8).strip()
        self.open.append(segment)

    def st(self, segment: Segment) -> None:
        self._closed(2)
        self.sets += 1
        self.segments = 1
        self.open.append(segment)
        transaction = element(segment, 1)
        for version in filter(None, (element(segment, 3).strip(), self.version)):
            guide = guides.by_version(transaction, version)
            if guide is not None:
                (self.kinds if guide.kind in POSTED else self.others).add(guide.kind)
                return
        self.others.add(
            f"{_coded(transaction, _SET)} of the version {_coded(self.version, _VERSION)}"
        )

    def se(self, segment: Segment) -> None:
        if len(self.open) == 3:
            header = self.open.pop()
            self.segments += 1
            self._same("SE02", element(segment, 2), "ST02", element(header, 2))
            self._count("SE01", segment, "set", "segments", self.segments)

    def ge(self, segment: Segment) -> None:
        self._closed(2)
        if len(self.open) == 2:
            header = self.open.pop()
            self._same("GE02", element(segment, 2), "GS06", element(header, 6))
            self._count("GE01", segment, "group", "sets", self.sets)

    def iea(self, segment: Segment) -> None:
        self._closed(1)
        header = self.open.pop()
        self._same("IEA02", element(segment, 2), "ISA13", element(header, 13))
        if self.groups:
            # An interchange with nothing but a TA1 should tell 0 here; many tell 1.
            self._count("IEA01", segment, "interchange", "groups", self.groups)

    def _closed(self, depth: int) -> None:
        """Everything opened below this depth should have ended."""
        while len(self.open) > depth:
            header = self.open.pop()
            end = {"ISA": "IEA", "GS": "GE", "ST": "SE"}[header[0]]
            self.faults.append(f"The file is cut short: {header[0]} has no {end}.")

    def _same(self, end: str, one: str, start: str, other: str) -> None:
        if one.strip() != other.strip():
            self.faults.append(
                f"{end} and {start} differ: parts of the file are missing or mixed up."
            )

    def _count(self, name: str, segment: Segment, whole: str, parts: str, found: int) -> None:
        """A part that has less than it tells was cut. Payers that count too few are met, and lose nothing."""
        text = element(segment, 1).strip()
        told = int(text) if text.isascii() and text.isdigit() and len(text) < 11 else found
        if told > found:
            self.faults.append(
                f"{name} tells of {told} {parts} and the {whole} has {found}: parts of the file are missing."
            )


def _coded(text: str, form: re.Pattern[str]) -> str:
    """A code as it was sent; anything else may be somebody's data, and reasons are kept in clear."""
    return text if form.fullmatch(text) else "unknown"


_SET = re.compile(r"[0-9]{3}", re.ASCII)
_VERSION = re.compile(r"[0-9]{6}(X[0-9]{3}([A-Z][0-9])?)?", re.ASCII)
_ENVELOPE = {
    "TA1": _Look.ta1, "GS": _Look.gs, "ST": _Look.st, "SE": _Look.se, "GE": _Look.ge,
    "IEA": _Look.iea,
}  # fmt: skip
_ENDS = frozenset({"SE", "GS", "GE", "ST", "IEA"})
