"""Files to trees: incremental, whatever the chunking, and never stopped by a fault.

    for event in read(chunks):                    # constant memory: one unit (claim) at a time
        if isinstance(event, Unit):
            event.loop, event.parents, event.set

    file = parse(data)                            # the whole file as a tree
    for set in file.sets():
        set.guide, set.root, set.findings

Events come in file order. ``InterchangeOpened``, ``GroupOpened`` and ``SetOpened`` announce a part when
its header has been read; the matching ``Closed`` event carries the same object with everything found.
With ``stream`` (the default of ``read``) each closed unit (``guide.unit``: a claim in an 837 or an 835)
comes as a ``Unit`` and is then let go, so memory stays flat; without it, whole sets stay in the tree and
no ``Unit`` events come. ``check=False`` leaves out the looks at elements and the rules and keeps the
findings about envelopes and the order of segments.

Knows bytes, envelopes and guides; knows no claim and no clock.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, TypeAlias

from clearlane.kernel.limits import CHUNK_BYTES, CONTROL_NUMBERS_REMEMBERED_MAX, SEGMENT_BYTES_MAX
from clearlane.x12 import envelope, grammar, guides, lexer, tree
from clearlane.x12.automaton import automaton
from clearlane.x12.collector import Report
from clearlane.x12.envelope_state import OpenGroup, OpenInterchange, OpenSet, judge_version
from clearlane.x12.events import (
    Event,
    FileClosed,
    GroupClosed,
    GroupOpened,
    InterchangeClosed,
    InterchangeOpened,
    SetClosed,
    SetOpened,
    Unit,
)
from clearlane.x12.loop_parser import Walk

__all__ = [
    "Event", "FileClosed", "GroupClosed", "GroupOpened", "Guides", "InterchangeClosed",
    "InterchangeOpened", "Reader", "SetClosed", "SetOpened", "Source", "Unit", "chunks", "parse",
    "read",
]  # fmt: skip

Guides: TypeAlias = Callable[[str, str], grammar.Guide | None]
"""Chooses the guide for ST01 and a version, such as ``guides.by_version``."""
Source: TypeAlias = bytes | BinaryIO | Iterable[bytes]

# The tree of a set whose guide is not known: one loop that takes everything.
UNKNOWN_ROOT = grammar.loop("", "Transaction set of an unknown guide", "R", 1)


def read(
    source: Source, *, stream: bool = True, check: bool = True, choose: Guides = guides.by_version
) -> Iterator[Event]:
    """The events of a file, as its bytes come."""
    reader = Reader(stream=stream, check=check, choose=choose)
    for chunk in chunks(source):
        yield from reader.feed(chunk)
    yield from reader.finish()


def parse(source: Source, *, check: bool = True, choose: Guides = guides.by_version) -> tree.File:
    """The whole file as a tree, every finding in its place."""
    file = None
    for event in read(source, stream=False, check=check, choose=choose):
        if event.__class__ is FileClosed:
            file = event.file
    assert file is not None, "a reader ends with FileClosed"
    return file


def chunks(source: Source) -> Iterator[bytes]:
    """Bytes as chunks of a bearable size, wherever they come from."""
    if isinstance(source, bytes):
        for at in range(0, len(source), CHUNK_BYTES):
            yield source[at : at + CHUNK_BYTES]
    elif isinstance(source, Iterable) and not hasattr(source, "read"):
        yield from source
    else:
        while chunk := source.read(CHUNK_BYTES):
            yield chunk


class Reader:
    """Reads a file fed to it chunk by chunk."""

    def __init__(
        self, *, stream: bool = True, check: bool = True, choose: Guides = guides.by_version
    ) -> None:
        self._stream = stream
        self._check = check
        self._choose = choose
        self._lexer = lexer.Lexer()
        self._out: list[Event] = []
        self._line = 0
        """How many segments of the file have been taken."""
        self._file = tree.File()
        self._report = Report(self._file.findings)
        self._count = 0
        self._numbers: set[tuple[str, str]] = set()
        self._kept: dict[str, Any] = {}
        """What the rules remember from set to set."""
        self._interchange: OpenInterchange | None = None
        self._group: OpenGroup | None = None
        self._set: OpenSet | None = None
        self._on_token: dict[type, Callable[[Any], None]] = {
            lexer.Header: self._on_header,
            lexer.Batch: self._on_batch,
            lexer.Junk: self._on_junk,
            lexer.Overlong: self._on_overlong,
            lexer.Cut: self._on_cut,
            lexer.Blank: self._on_blank,
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
        return self._line

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that these bytes complete."""
        return self._take(self._lexer.feed(chunk))

    def finish(self) -> list[Event]:
        """The events that the end of the file completes. The reader is used up then."""
        tokens = self._lexer.finish()
        events = self._take(tokens)
        self._end_interchange()
        if not self._count and not self._file.findings:
            message = "The file must hold an interchange, which begins with ISA"
            self._report.add("FILE-EMPTY", message)
        self._out.append(FileClosed(self._file))
        events += self._out
        self._out = []
        return events

    def _take(self, tokens: list[lexer.Token]) -> list[Event]:
        for token in tokens:
            self._on_token[token.__class__](token)
        events, self._out = self._out, []
        return events

    # One method a token of the lexer.

    def _on_header(self, token: lexer.Header) -> None:
        self._end_interchange()
        self._line += 1
        self._count += 1
        interchange = tree.Interchange(self._count, token.segment, token.delimiters)
        report = Report(interchange.findings, interchange=self._count, line=self._line)
        self._interchange = OpenInterchange(interchange, report, self._line)
        if not self._stream:
            self._file.interchanges.append(interchange)
        envelope.check_header(interchange, report)
        sender = tree.element(token.segment, 6)
        if (sender, interchange.control) in self._numbers:
            message = "ISA13 must differ from that of every other interchange of this sender"
            report.add("ISA-TWICE", message, "ISA", 1, element=13)
        elif len(self._numbers) < CONTROL_NUMBERS_REMEMBERED_MAX:
            self._numbers.add((sender, interchange.control))
        self._out.append(InterchangeOpened(interchange))

    def _on_batch(self, token: lexer.Batch) -> None:
        texts, segments = token
        at, size = 0, len(segments)
        while at < size:
            if self._set is None:
                self._outside(segments[at])
                at += 1
                continue
            taken = (
                self._set.run(texts[at:], segments[at:]) if at else self._set.run(texts, segments)
            )
            self._line += taken
            at += taken
            if self._set.done:
                self._end_set()
            elif at < size:
                # An envelope segment where the SE should be.
                self._set.stop()
                self._end_set()

    def _on_junk(self, token: lexer.Junk) -> None:
        self._end_interchange()
        if token.broken_header:
            message = "An ISA must have 16 elements and tell four different separators"
            self._report.add("FILE-HEADER", message, "ISA")
        message = f"{token.characters} characters stand outside any interchange: only blanks may stand there"
        self._report.add("FILE-JUNK", message)

    def _on_overlong(self, token: lexer.Overlong) -> None:
        self._line += 1
        message = f"A segment must be at most {SEGMENT_BYTES_MAX} bytes long; this one was left out"
        if self._set is not None:
            self._set.skip("FILE-LONG", message, token.id)
        else:
            self._here().add("FILE-LONG", message, token.id)

    def _on_cut(self, token: lexer.Cut) -> None:
        self._here().add("FILE-CUT", "The last segment must end with the terminator")

    def _on_blank(self, token: lexer.Blank) -> None:
        message = f"{token.segments} empty segments were left out: no terminator may follow another"
        self._here().add("FILE-BLANK", message)

    def _here(self) -> Report:
        assert self._interchange is not None, "the lexer hands on segments after a header only"
        return self._interchange.report

    # Segments outside a set.

    def _outside(self, segment: tree.Segment) -> None:
        self._line += 1
        self._on_segment.get(segment[0], self._stray)(segment)

    def _stray(self, segment: tree.Segment) -> None:
        """A segment that stands between the envelopes: kept, and reported."""
        part = self._group or self._interchange
        assert part is not None, "the lexer hands on segments after a header only"
        part.keep(segment, stream=self._stream)
        message = "The segment must stand inside a transaction set, from ST to SE"
        part.report.add("STRAY", message, segment[0][:3], part.at(self._line))

    def _on_ta1(self, segment: tree.Segment) -> None:
        if self._group is not None or self._interchange is None:
            self._stray(segment)
            return
        # A TA1 is small and few; it is kept in a streaming reader too.
        self._interchange.keep(segment, stream=False)
        envelope.check_ta1(segment, self._interchange.report, self._interchange.at(self._line))

    def _on_gs(self, segment: tree.Segment) -> None:
        self._end_group()
        assert self._interchange is not None, "the lexer hands on segments after a header only"
        opened = self._interchange
        opened.groups += 1
        group = tree.Group(opened.interchange, opened.groups, segment)
        report = Report(
            group.findings, interchange=self._count, group=opened.groups, line=self._line
        )
        self._group = OpenGroup(group, report, self._line)
        if not self._stream:
            opened.interchange.groups.append(group)
        envelope.check_group(group, report, 1)
        if group.control in opened.numbers:
            report.add(
                "GS-TWICE",
                "GS06 must differ from that of every other group here",
                "GS",
                1,
                element=6,
            )
        elif len(opened.numbers) < CONTROL_NUMBERS_REMEMBERED_MAX:
            opened.numbers.add(group.control)
        self._out.append(GroupOpened(group))

    def _on_ge(self, segment: tree.Segment) -> None:
        if self._group is None:
            self._stray(segment)
            return
        self._group.group.trailer = segment
        self._end_group()

    def _on_iea(self, segment: tree.Segment) -> None:
        self._end_group()
        assert self._interchange is not None, "the lexer hands on segments after a header only"
        self._interchange.interchange.trailer = segment
        self._end_interchange()

    def _on_st(self, segment: tree.Segment) -> None:
        opened = self._group
        if opened is None:
            self._stray(segment)
            return
        opened.sets += 1
        group = opened.group
        guide, version = self._guide(group, segment)
        root = tree.Loop(guide.root if guide else UNKNOWN_ROOT, 1)
        root.items.append(segment)
        set = tree.Set(group, opened.sets, guide, root)
        report = Report(
            set.findings,
            interchange=self._count,
            group=group.number,
            set=opened.sets,
            line=self._line,
        )
        if not self._stream:
            group.sets.append(set)
        envelope.check_set_control(segment, report)
        if set.control in opened.numbers:
            report.add(
                "ST-TWICE",
                "ST02 must differ from that of every other set in the group",
                "ST",
                1,
                element=2,
            )
        elif len(opened.numbers) < CONTROL_NUMBERS_REMEMBERED_MAX:
            opened.numbers.add(set.control)
        judge_version(opened, set, version, report)
        self._set = OpenSet(
            set, report, self._walk(set, report), check=self._check, stream=self._stream
        )
        self._out.append(SetOpened(set))

    def _guide(self, group: tree.Group, header: tree.Segment) -> tuple[grammar.Guide | None, str]:
        transaction, own = tree.element(header, 1), tree.element(header, 3).strip()
        for version in filter(None, (own, group.version.strip())):
            guide = self._choose(transaction, version)
            if guide is not None:
                return guide, version
        return None, own or group.version

    def _walk(self, set: tree.Set, report: Report) -> Walk | None:
        if set.guide is None:
            return None

        def give(loop: tree.Loop, parents: tuple[tree.Loop, ...]) -> None:
            self._out.append(Unit(loop, parents, set))

        streamed = give if self._stream else None
        return Walk(
            set.root,
            automaton(set.guide),
            report,
            check=self._check,
            give=streamed,
            file=self._kept,
        )

    # Ends.

    def _end_set(self) -> None:
        assert self._set is not None, "a set ends where one is open"
        self._set.judge()
        self._out.append(SetClosed(self._set.set))
        self._set = None

    def _end_group(self) -> None:
        opened = self._group
        if opened is None:
            return
        envelope.check_group_end(opened.group, opened.sets, opened.report, opened.at(self._line))
        self._out.append(GroupClosed(opened.group))
        self._group = None

    def _end_interchange(self) -> None:
        if self._set is not None:
            self._set.stop()
            self._end_set()
        self._end_group()
        opened = self._interchange
        if opened is None:
            return
        envelope.check_trailer(
            opened.interchange, opened.groups, opened.report, opened.at(self._line)
        )
        self._out.append(InterchangeClosed(opened.interchange))
        self._interchange = None
