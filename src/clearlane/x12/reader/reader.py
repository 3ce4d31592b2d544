"""Read X12 files incrementally, whatever the chunking, and never stop at a finding.

    for event in read(chunks):                    # constant memory: one unit (claim) at a time
        if isinstance(event, UnitClosed):
            event.loop, event.parents, event.set

    file = parse(data)                            # the whole file as a tree
    for set in file.sets():
        set.guide, set.root, set.findings

Events come in file order. ``InterchangeOpened``, ``GroupOpened`` and ``SetOpened`` announce a part when its header has
been read; the matching ``Closed`` event carries the same object with all its findings. With ``stream`` (the default of
``read``) each closed unit (``guide.unit``: a claim in an 837 or an 835) comes as ``UnitClosed`` and is then dropped, so
memory stays constant, and each loop around units comes as ``ParentClosed``, without them; a set of an unknown guide is
held as a unit is. Without ``stream`` whole sets stay in the tree and neither event comes. ``check=False`` skips the
checks of elements and the rules, and keeps the findings about envelopes and the order of segments.

Knows bytes, envelopes and guides; knows no claim and no clock.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, TypeAlias

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import CHUNK_BYTES, CONTROL_NUMBERS_REMEMBERED_MAX, SEGMENT_BYTES_MAX
from clearlane.x12 import grammar, guides, tree
from clearlane.x12.automaton import compile_guide
from clearlane.x12.checker import envelope
from clearlane.x12.checker.collector import FindingCollector
from clearlane.x12.checker.finding_catalogue import RECEIVED_KINDS, WARNINGS_WHEN_RECEIVED
from clearlane.x12.reader import lexer
from clearlane.x12.reader.envelope_state import OpenGroup, OpenInterchange, OpenSet, check_version
from clearlane.x12.reader.loop_parser import LoopParser
from clearlane.x12.reader.reader_events import (
    Event,
    FileClosed,
    GroupClosed,
    GroupOpened,
    InterchangeClosed,
    InterchangeOpened,
    ParentClosed,
    SetClosed,
    SetOpened,
    UnitClosed,
)
from clearlane.x12.rules import is_repeated

__all__ = [
    "Event", "FileClosed", "GroupClosed", "GroupOpened", "GuideChooser", "InterchangeClosed",
    "InterchangeOpened", "ParentClosed", "Reader", "SetClosed", "SetOpened", "Source", "UnitClosed", "iter_chunks",
    "iter_tokens", "parse", "read", "read_tokens",
]  # fmt: skip

GuideChooser: TypeAlias = Callable[[str, str], grammar.Guide | None]
"""Returns the guide for ST01 and a version, or None; for example ``guides.by_version``."""
Source: TypeAlias = bytes | BinaryIO | Iterable[bytes]
"""A whole file, a binary file object, or chunks of any size."""

# The segments of a slice of this size are still in the processor's cache when loops, and then views, are made of them:
# loops are made in three quarters of the time that 64 KB take, and less would only make more chunks.
SMALL_CHUNK_BYTES = 4 * 1024

# The root of a set whose guide is not known: one loop that holds every segment.
UNKNOWN_ROOT = grammar.loop("", "Transaction set of an unknown guide", "R", 1)


def read(
    source: Source,
    *,
    stream: bool = True,
    check: bool = True,
    choose_guide: GuideChooser = guides.by_version,
) -> Iterator[Event]:
    """Yield the events of a file while its bytes are read."""
    tokens = iter_tokens(source, clean=not check)
    return read_tokens(tokens, stream=stream, check=check, choose_guide=choose_guide)


def read_tokens(
    tokens: Iterable[list[lexer.Token]],
    *,
    stream: bool = True,
    check: bool = True,
    choose_guide: GuideChooser = guides.by_version,
) -> Iterator[Event]:
    """Yield the events of a file whose tokens another reader looks at too."""
    reader = Reader(stream=stream, check=check, choose_guide=choose_guide)
    for some in tokens:
        yield from reader.feed_tokens(some)
    yield from reader.finish()


def parse(
    source: Source, *, check: bool = True, choose_guide: GuideChooser = guides.by_version
) -> tree.X12File:
    """Return the whole file as a tree, with all findings."""
    file = None
    for event in read(source, stream=False, check=check, choose_guide=choose_guide):
        if event.__class__ is FileClosed:
            file = event.file
    assert file is not None, "a reader ends with FileClosed"
    return file


def iter_tokens(source: Source, *, clean: bool = False) -> Iterator[list[lexer.Token]]:
    """Yield the tokens of a source, chunk by chunk; with ``clean`` without control characters, which a check reports."""
    scanner = lexer.Lexer(clean=clean)
    for chunk in iter_chunks(source):
        yield scanner.feed(chunk)
    yield scanner.finish()


def iter_chunks(source: Source) -> Iterator[bytes]:
    """Yield the bytes of a source in small chunks, whatever the size in which they come."""
    for chunk in _source_chunks(source):
        for at in range(0, len(chunk), SMALL_CHUNK_BYTES):
            yield chunk[at : at + SMALL_CHUNK_BYTES]


def _source_chunks(source: Source) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
    elif isinstance(source, Iterable) and not hasattr(source, "read"):
        yield from source
    else:
        while chunk := source.read(CHUNK_BYTES):
            yield chunk


class Reader:
    """A reader of one file that is fed chunk by chunk."""

    def __init__(
        self,
        *,
        stream: bool = True,
        check: bool = True,
        decode: bool = False,
        choose_guide: GuideChooser = guides.by_version,
    ) -> None:
        """With ``decode``, text that is UTF-8 is read as such: for values that are written again as other letters."""
        self._stream = stream
        self._check = check
        self._choose_guide = choose_guide
        # What is checked keeps its control characters, which are findings.
        self._lexer = lexer.Lexer(clean=not check, decode=decode)
        self._out: list[Event] = []
        self._segments_read = 0
        """How many segments of the file have been consumed."""
        self._file = tree.X12File()
        self._findings = FindingCollector(self._file.findings)
        self._interchange_count = 0
        self._control_numbers: set[tuple[str, str]] = set()
        self._file_state: dict[str, Any] = {}
        """What rules remember from set to set."""
        self._interchange: OpenInterchange | None = None
        self._group: OpenGroup | None = None
        self._set: OpenSet | None = None
        self._on_token: dict[type, Callable[[Any], None]] = {
            lexer.InterchangeHeader: self._on_header,
            lexer.SegmentChunk: self._on_segments,
            lexer.Junk: self._on_junk,
            lexer.OverlongSegment: self._on_overlong,
            lexer.UnterminatedSegment: self._on_unterminated,
            lexer.EmptySegments: self._on_empty,
            lexer.IndentedSegments: self._on_indented,
            lexer.ByteOrderMark: self._on_mark,
        }
        self._on_segment: dict[str, Callable[[tree.Segment], None]] = {
            "GS": self._on_gs,
            "GE": self._on_ge,
            "ST": self._on_st,
            "IEA": self._on_iea,
            "TA1": self._on_ta1,
        }

    @property
    def segments(self) -> int:
        """How many segments have been read so far."""
        return self._segments_read

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that these bytes complete."""
        return self.feed_tokens(self._lexer.feed(chunk))

    def feed_tokens(self, tokens: Iterable[lexer.Token]) -> list[Event]:
        """Return the events that these tokens of a lexer complete."""
        for token in tokens:
            self._on_token[token.__class__](token)
        events, self._out = self._out, []
        return events

    def finish(self) -> list[Event]:
        """Return the events that the end of the file completes. Call once, at the end."""
        events = self.feed_tokens(self._lexer.finish())
        self._end_interchange()
        junk = any(f.severity is Severity.ERROR for f in self._file.findings)
        if not self._interchange_count and not junk:
            message = "The file must contain an interchange, which begins with ISA"
            self._findings.add("FILE-EMPTY", message)
        self._out.append(FileClosed(self._file))
        events += self._out
        self._out = []
        return events

    # One method per token of the lexer.

    def _on_header(self, token: lexer.InterchangeHeader) -> None:
        self._end_interchange()
        self._segments_read += 1
        self._interchange_count += 1
        interchange = tree.Interchange(self._interchange_count, token.segment, token.delimiters)
        findings = FindingCollector(
            interchange.findings,
            interchange=self._interchange_count,
            first_segment=self._segments_read,
        )
        self._interchange = OpenInterchange(interchange, findings, self._segments_read)
        if not self._stream:
            self._file.interchanges.append(interchange)
        envelope.check_header(interchange, findings)
        sender = tree.get_element(token.segment, 6)
        if is_repeated(
            (sender, interchange.control), self._control_numbers, CONTROL_NUMBERS_REMEMBERED_MAX
        ):
            message = "ISA13 must differ from that of every other interchange of this sender"
            findings.add("ISA-TWICE", message, "ISA", 1, element=13)
        self._out.append(InterchangeOpened(interchange))

    def _on_segments(self, token: lexer.SegmentChunk) -> None:
        texts, segments = token
        at, size = 0, len(segments)
        while at < size:
            if self._set is None:
                self._on_control_segment(segments[at])
                at += 1
                continue
            consumed = (
                self._set.consume(texts[at:], segments[at:])
                if at
                else self._set.consume(texts, segments)
            )
            self._segments_read += consumed
            at += consumed
            if self._set.done:
                self._end_set()
            elif at < size:
                # An envelope segment where the SE should be.
                self._set.end_without_se()
                self._end_set()

    def _on_junk(self, token: lexer.Junk) -> None:
        self._end_interchange()
        if token.broken_header:
            message = "An ISA must have 16 elements and define four different separators"
            self._findings.add("FILE-HEADER", message, "ISA")
        message = f"{token.characters} characters are outside any interchange: only blanks are allowed there"
        self._findings.add("FILE-JUNK", message)

    def _on_overlong(self, token: lexer.OverlongSegment) -> None:
        self._segments_read += 1
        message = f"A segment must be at most {SEGMENT_BYTES_MAX} bytes long; this one was left out"
        if self._set is not None:
            self._set.skip("FILE-LONG", message, token.id)
        else:
            self._interchange_findings().add("FILE-LONG", message, token.id)

    def _on_unterminated(self, token: lexer.UnterminatedSegment) -> None:
        self._interchange_findings().add(
            "FILE-CUT", "The last segment must end with the terminator"
        )

    def _on_empty(self, token: lexer.EmptySegments) -> None:
        message = f"{token.segments} empty segments were left out: no terminator may follow another"
        self._interchange_findings().add("FILE-BLANK", message)

    def _on_indented(self, token: lexer.IndentedSegments) -> None:
        message = f"{token.segments} segments have blanks before their id: it must follow the terminator or the end of the line"
        self._interchange_findings().add("FILE-INDENT", message)

    def _on_mark(self, token: lexer.ByteOrderMark) -> None:
        message = "The file should begin with ISA, without a byte order mark"
        self._findings.add("FILE-MARK", message)

    def _interchange_findings(self) -> FindingCollector:
        assert self._interchange is not None, "the lexer hands on segments after a header only"
        return self._interchange.findings

    # Segments outside a set.

    def _on_control_segment(self, segment: tree.Segment) -> None:
        self._segments_read += 1
        self._on_segment.get(segment[0], self._on_stray)(segment)

    def _on_stray(self, segment: tree.Segment) -> None:
        """Keep and report a segment between the envelopes."""
        part = self._group or self._interchange
        assert part is not None, "the lexer hands on segments after a header only"
        part.keep(segment, stream=self._stream)
        message = "The segment must be inside a transaction set, from ST to SE"
        part.findings.add("STRAY", message, segment[0][:3], part.position_of(self._segments_read))

    def _on_ta1(self, segment: tree.Segment) -> None:
        if self._group is not None or self._interchange is None:
            self._on_stray(segment)
            return
        # TA1 segments are small and few, so a streaming reader keeps them too.
        self._interchange.keep(segment, stream=False)
        envelope.check_ta1(
            segment, self._interchange.findings, self._interchange.position_of(self._segments_read)
        )

    def _on_gs(self, segment: tree.Segment) -> None:
        self._end_group()
        assert self._interchange is not None, "the lexer hands on segments after a header only"
        open_part = self._interchange
        open_part.groups += 1
        if open_part.groups == 1:
            envelope.check_control_version(open_part.interchange, open_part.findings)
        group = tree.FunctionalGroup(open_part.interchange, open_part.groups, segment)
        findings = FindingCollector(
            group.findings,
            interchange=self._interchange_count,
            group=open_part.groups,
            first_segment=self._segments_read,
        )
        self._group = OpenGroup(group, findings, self._segments_read)
        if not self._stream:
            open_part.interchange.groups.append(group)
        envelope.check_group(group, findings, 1)
        if is_repeated(group.control, open_part.control_numbers, CONTROL_NUMBERS_REMEMBERED_MAX):
            findings.add(
                "GS-TWICE",
                "GS06 must differ from that of every other group here",
                "GS",
                1,
                element=6,
            )
        self._out.append(GroupOpened(group))

    def _on_ge(self, segment: tree.Segment) -> None:
        if self._group is None:
            self._on_stray(segment)
            return
        self._group.group.trailer = segment
        self._end_group()

    def _on_iea(self, segment: tree.Segment) -> None:
        self._end_group()
        assert self._interchange is not None, "the lexer hands on segments after a header only"
        self._interchange.interchange.trailer = segment
        self._end_interchange()

    def _on_st(self, segment: tree.Segment) -> None:
        open_part = self._group
        if open_part is None:
            self._on_stray(segment)
            return
        open_part.sets += 1
        group = open_part.group
        guide, version = self._guide(group, segment)
        root = tree.Loop(guide.root if guide else UNKNOWN_ROOT, 1)
        root.items.append(segment)
        set = tree.TransactionSet(group, open_part.sets, guide, root, self._segments_read)
        findings = FindingCollector(
            set.findings,
            interchange=self._interchange_count,
            group=group.number,
            set=open_part.sets,
            first_segment=self._segments_read,
            warnings=WARNINGS_WHEN_RECEIVED
            if guide and guide.kind in RECEIVED_KINDS
            else frozenset(),
        )
        if not self._stream:
            group.sets.append(set)
        envelope.check_set_control(segment, findings)
        if is_repeated(set.control, open_part.control_numbers, CONTROL_NUMBERS_REMEMBERED_MAX):
            findings.add(
                "ST-TWICE",
                "ST02 must differ from that of every other set in the group",
                "ST",
                1,
                element=2,
            )
        check_version(open_part, set, version, findings)
        self._set = OpenSet(
            set, findings, self._new_parser(set, findings), check=self._check, stream=self._stream
        )
        self._out.append(SetOpened(set))

    def _guide(
        self, group: tree.FunctionalGroup, header: tree.Segment
    ) -> tuple[grammar.Guide | None, str]:
        transaction, own = tree.get_element(header, 1), tree.get_element(header, 3).strip()
        for version in filter(None, (own, group.version.strip())):
            guide = self._choose_guide(transaction, version)
            if guide is not None:
                return guide, version
        return None, own or group.version

    def _new_parser(
        self, set: tree.TransactionSet, findings: FindingCollector
    ) -> LoopParser | None:
        if set.guide is None:
            return None

        def on_closed(loop: tree.Loop, parents: tuple[tree.Loop, ...], *, is_unit: bool) -> None:
            event = UnitClosed if is_unit else ParentClosed
            self._out.append(event(loop, parents, set))

        return LoopParser(
            set.root,
            compile_guide(set.guide),
            findings,
            check=self._check,
            on_closed=on_closed if self._stream else None,
            file_state=self._file_state,
            held_separators=set.group.interchange.delimiters.held_separators(),
        )

    # Ends of sets, groups and interchanges.

    def _end_set(self) -> None:
        assert self._set is not None, "a set ends where one is open"
        self._set.check_trailer()
        self._out.append(SetClosed(self._set.set))
        self._set = None

    def _end_group(self) -> None:
        open_part = self._group
        if open_part is None:
            return
        envelope.check_group_end(
            open_part.group,
            open_part.sets,
            open_part.findings,
            open_part.position_of(self._segments_read),
        )
        self._out.append(GroupClosed(open_part.group))
        self._group = None

    def _end_interchange(self) -> None:
        if self._set is not None:
            self._set.end_without_se()
            self._end_set()
        self._end_group()
        open_part = self._interchange
        if open_part is None:
            return
        envelope.check_trailer(
            open_part.interchange,
            open_part.groups,
            open_part.findings,
            open_part.position_of(self._segments_read),
        )
        self._out.append(InterchangeClosed(open_part.interchange))
        self._interchange = None
