"""Identify a file from a payer by its content alone.

    found = identify(content)
    found.kinds                                  # {"999", "835"}: transactions that can be posted
    found.reason                                 # filled if the file belongs in quarantine

TA1, 999, 271, 277CA, 277 and 835 may be mixed in one file, with any separators. A truncated or altered file is refused
as a whole, because parts may be missing. Only envelopes are read, so a large file costs little.

Knows envelopes; knows no claim.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from clearlane.x12 import guides
from clearlane.x12.reader import lexer, reader
from clearlane.x12.tree import Segment, get_element

FILE_HEAD_BYTES = 64
TEXT_HEAD_BYTES = 64 * 1024
"""How much of a file is looked at for what no text holds."""
REPORT = "text"
"""What a report in words of an upstream clearinghouse is listed as."""
TEST_USAGE = "T"
"""ISA15 of a test; P is production."""


POSTED = frozenset({"TA1", "999", "271", "277CA", "277", "835"})
# The first bytes of files that payers' systems leave by mistake, and the names of their formats.
FOREIGN_FORMATS: tuple[tuple[bytes, str], ...] = (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAddress:
    """Sender and receiver of an interchange (ISA05 to ISA08) or of a group (GS02 and GS03, without qualifiers)."""

    sender: str
    receiver: str
    sender_qualifier: str = ""
    receiver_qualifier: str = ""
    is_group: bool = False


@dataclass(frozen=True, slots=True)
class IdentifiedFile:
    """The transactions of a file, or the reason why it cannot be used."""

    kinds: frozenset[str] = frozenset()
    reason: str = ""
    others: frozenset[str] = frozenset()
    """Transactions that cannot be posted: 837, 270 and so on."""
    addresses: frozenset[FileAddress] = frozenset()
    """Who the file is from and for, of every interchange and group."""
    unfinished: bool = False
    """Whether the file or one of its interchanges is cut off: the rest may still be written."""
    is_test: bool = False
    """Whether an interchange is marked as a test (ISA15 is T)."""

    @property
    def usable(self) -> bool:
        """Whether the file can be posted."""
        return not self.reason


def is_unfinished(source: reader.Source) -> bool:
    """Return whether a file lacks the end of an interchange, or consists of nothing yet."""
    return identify(source).unfinished


def is_text(content: bytes) -> bool:
    """Return whether a file is plain text for people: no envelope of X12, no other format, and nothing unprintable."""
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:FILE_HEAD_BYTES].lower()
    if not start or b"\x00" in content:
        return False
    if start.startswith((b"isa", *(mark for mark, _ in FOREIGN_FORMATS))):
        return False
    if _ENVELOPE_SEGMENT.search(content):
        return False
    head = content[:TEXT_HEAD_BYTES]
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1a" for byte in head)
    return controls == 0


def identify(source: reader.Source) -> IdentifiedFile:
    """Identify the transactions of a file, or the reason why it cannot be used."""
    scan = EnvelopeScan()
    for _ in scan.watch(source):
        pass
    return scan.verdict()


@dataclass(slots=True)
class EnvelopeScan:
    """The state of a scan over the envelopes of a file. Its tokens can be read further in the same pass."""

    head: bytes = b""
    tail: bytes = b""
    unfinished: bool = False
    junk: int = 0
    """Characters after the last interchange."""
    kinds: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    addresses: set[FileAddress] = field(default_factory=set)
    is_test: bool = False
    interchanges: int = 0
    groups: int = 0
    sets: int = 0
    version: str = ""
    open: list[Segment] = field(default_factory=list)
    """The headers without their trailers so far: ISA, GS, ST."""
    segments: int = 0
    """The number of segments in the open set."""

    def watch(self, source: reader.Source) -> Iterator[list[lexer.Token]]:
        """Yield the tokens of a file, each list when its envelopes have been looked at."""
        for tokens in reader.iter_tokens(self._chunks(source), clean=True):
            self._take(tokens)
            yield tokens

    def _chunks(self, source: reader.Source) -> Iterator[bytes]:
        for chunk in reader.iter_chunks(source):
            if len(self.head) < FILE_HEAD_BYTES:
                start = (self.head + chunk).lstrip(b"\xef\xbb\xbf \t\r\n\x00")
                self.head = start[:FILE_HEAD_BYTES]
            self.tail = (self.tail + chunk)[-FILE_HEAD_BYTES:]
            yield chunk

    def verdict(self) -> IdentifiedFile:
        """Return what the file is, when all its tokens have been yielded."""
        self._closed(0)
        kinds, others = frozenset(self.kinds), frozenset(self.others)
        if not self.interchanges:
            start = self.head.upper()
            begun = start.startswith(b"ISA") or b"ISA".startswith(start)
            return IdentifiedFile(reason=self._foreign(), unfinished=begun)
        if self._ends_in_a_header():
            self.unfinished = True
            self.faults.append("The file ends at the beginning of another interchange.")
        if self.faults:
            return IdentifiedFile(kinds, self.faults[0], others, unfinished=self.unfinished)
        if not kinds:
            what = ", ".join(sorted(others)) or "no transaction set"
            reason = f"The file holds {what}: no answer to claims or inquiries (TA1, 999, 271, 277CA, 277 or 835)."
            return IdentifiedFile(reason=reason, others=others)
        return IdentifiedFile(
            kinds, others=others, addresses=frozenset(self.addresses), is_test=self.is_test
        )

    def _ends_in_a_header(self) -> bool:
        """Return whether nothing but the first letters of another ISA follows the last interchange."""
        letters = self.tail.rstrip(b" \t\r\n\x00\x1a")[-self.junk :] if self.junk else b""
        return 0 < self.junk < len(b"ISA") and b"ISA".startswith(letters)

    def _foreign(self) -> str:
        if not self.head:
            return "The file is empty."
        start = self.head.lower()
        if start.startswith(b"isa"):
            return (
                "The file begins like an interchange, but its first segment (ISA) cannot be read."
            )
        what = next(
            (name for mark, name in FOREIGN_FORMATS if start.startswith(mark)), "something else"
        )
        return f"The file is {what}, not X12: an interchange begins with ISA."

    def _take(self, tokens: Iterable[lexer.Token]) -> None:
        for token in tokens:
            match token:
                case lexer.InterchangeHeader(_, segment):
                    self._closed(0)
                    self.interchanges += 1
                    self.junk = 0
                    self.groups = 0
                    self.open = [segment]
                    self._note_interchange(segment)
                case lexer.SegmentChunk(_, segments):
                    self._batch(segments)
                case lexer.UnterminatedSegment():
                    self.unfinished = True
                    self.faults.append("The file is cut off in the middle of a segment.")
                case lexer.OverlongSegment():
                    self.faults.append("A segment is longer than any segment can be.")
                case lexer.Junk(characters, False):
                    self.junk = characters
                case lexer.Junk(_, True):
                    self.unfinished = True
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

    def _note_interchange(self, isa: Segment) -> None:
        self.is_test |= get_element(isa, 15).strip().upper() == TEST_USAGE
        sender_qualifier, sender, receiver_qualifier, receiver = (
            get_element(isa, number) for number in (5, 6, 7, 8)
        )
        self.addresses.add(
            FileAddress(
                sender=sender,
                receiver=receiver,
                sender_qualifier=sender_qualifier,
                receiver_qualifier=receiver_qualifier,
            )
        )

    def ta1(self, segment: Segment) -> None:
        self.kinds.add("TA1")

    def gs(self, segment: Segment) -> None:
        self._closed(1)
        self.groups += 1
        self.sets = 0
        self.version = get_element(segment, 8).strip()
        self.open.append(segment)
        sender, receiver = get_element(segment, 2), get_element(segment, 3)
        self.addresses.add(FileAddress(sender=sender, receiver=receiver, is_group=True))

    def st(self, segment: Segment) -> None:
        self._closed(2)
        self.sets += 1
        self.segments = 1
        self.open.append(segment)
        transaction = get_element(segment, 1)
        for version in filter(None, (get_element(segment, 3).strip(), self.version)):
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
            self._same("SE02", get_element(segment, 2), "ST02", get_element(header, 2))
            self._count("SE01", segment, "set", "segments", self.segments)

    def ge(self, segment: Segment) -> None:
        self._closed(2)
        if len(self.open) == 2:
            header = self.open.pop()
            self._same("GE02", get_element(segment, 2), "GS06", get_element(header, 6))
            self._count("GE01", segment, "group", "sets", self.sets)

    def iea(self, segment: Segment) -> None:
        self._closed(1)
        header = self.open.pop()
        self._same("IEA02", get_element(segment, 2), "ISA13", get_element(header, 13))
        if self.groups:
            # An interchange with only a TA1 should have 0 here; many have 1.
            self._count("IEA01", segment, "interchange", "groups", self.groups)

    def _closed(self, depth: int) -> None:
        """Report headers below this depth that have no trailer."""
        while len(self.open) > depth:
            header = self.open.pop()
            self.unfinished |= header[0] == "ISA"
            end = {"ISA": "IEA", "GS": "GE", "ST": "SE"}[header[0]]
            self.faults.append(f"The file is cut short: {header[0]} has no {end}.")

    def _same(self, end: str, one: str, start: str, other: str) -> None:
        if one.strip() != other.strip():
            self.faults.append(
                f"{end} and {start} differ: parts of the file are missing or mixed up."
            )

    def _count(self, name: str, segment: Segment, whole: str, parts: str, found: int) -> None:
        """Report a part that has less than its trailer states. Some payers count too few, which loses nothing."""
        text = get_element(segment, 1).strip()
        stated = int(text) if text.isascii() and text.isdigit() and len(text) < 11 else found
        if stated > found:
            self.faults.append(
                f"{name} states {stated} {parts} and the {whole} has {found}: parts of the file are missing."
            )


def _coded(text: str, form: re.Pattern[str]) -> str:
    """Return a code as sent, else "unknown": other text may be patient data, and reasons are not encrypted."""
    return text if form.fullmatch(text) else "unknown"


# The beginning of an envelope's segment, with any separator: damaged X12 is no text, wherever its first segment is.
_ENVELOPE_SEGMENT = re.compile(
    rb"(?<![0-9A-Za-z])(?:ISA|GS|ST|SE|GE|IEA)([^0-9A-Za-z\s])(?:[A-Z]{2}|[0-9]{1,10})\1"
)
_SET = re.compile(r"[0-9]{3}", re.ASCII)
_VERSION = re.compile(r"[0-9]{6}(X[0-9]{3}([A-Z][0-9])?)?", re.ASCII)
_ENVELOPE = {
    "TA1": EnvelopeScan.ta1, "GS": EnvelopeScan.gs, "ST": EnvelopeScan.st, "SE": EnvelopeScan.se, "GE": EnvelopeScan.ge,
    "IEA": EnvelopeScan.iea,
}  # fmt: skip
_ENDS = frozenset({"SE", "GS", "GE", "ST", "IEA"})
