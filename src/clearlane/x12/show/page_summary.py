"""What a page about a file says at its top, and its findings by place: one pass over the file, in constant memory.

    summary = summarize(source)
    summary.errors, summary.kinds["837P"].units, summary.at((1, 1, 1), 14)

Knows the events of a reader; knows no HTML.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from clearlane.kernel import formats
from clearlane.kernel.finding import Finding, SegmentPosition, Severity
from clearlane.x12 import tree
from clearlane.x12.checker.check import event_findings
from clearlane.x12.reader import reader

FINDINGS_SHOWN_MAX = 10_000
INTERCHANGES_SHOWN_MAX = 10
PLACES_PER_FINDING_MAX = 8

SetKey = tuple[int, int, int]
"""Interchange, group and set, counted from 1; 0 for what is around them."""


class SummedAmount(NamedTuple):
    """An amount that a page adds up: its name, and the segment and element that hold it."""

    name: str
    segment: str
    element: int


class UnitSummary(NamedTuple):
    """What the unit of a kind is called, and the amounts of units and of sets to add up."""

    word: str
    amounts: tuple[SummedAmount, ...] = ()
    of_sets: tuple[SummedAmount, ...] = ()


_CLAIM = UnitSummary("claim", (SummedAmount("charged", "CLM", 2),))
UNITS: dict[str, UnitSummary] = {
    **dict.fromkeys(("837P", "837D", "837I"), _CLAIM),
    "835": UnitSummary(
        "claim",
        (SummedAmount("charged", "CLP", 3), SummedAmount("paid", "CLP", 4)),
        (SummedAmount("payment", "BPR", 2),),
    ),
    **dict.fromkeys(("270", "271", "276", "277"), UnitSummary("subscriber")),
    "277CA": UnitSummary("patient"),
    "999": UnitSummary("acknowledged set"),
}


@dataclass(slots=True)
class KindSummary:
    """The sets of one kind."""

    version: str = ""
    sets: int = 0
    units: int = 0
    amounts: dict[str, Decimal] = field(default_factory=dict)


@dataclass(slots=True)
class FindingGroup:
    """Equal findings: how many there are, and where the first of them are."""

    finding: Finding
    count: int = 0
    places: list[SegmentPosition] = field(default_factory=list)

    def add(self, finding: Finding) -> None:
        """Add an equal finding."""
        self.count += 1
        if len(self.places) < PLACES_PER_FINDING_MAX:
            self.places.append(finding.position or SegmentPosition())


@dataclass(slots=True)
class PageSummary:
    """The counts of a file, its findings by place, and which units have findings."""

    segments: int = 0
    interchanges: list[tree.Segment] = field(default_factory=list)
    """The ISA of the first interchanges."""
    interchange_count: int = 0
    kinds: dict[str, KindSummary] = field(default_factory=dict)
    """By kind; empty for sets of unknown guides."""
    counts: Counter[Severity] = field(default_factory=Counter)
    groups: dict[tuple[Severity, str, str], FindingGroup] = field(default_factory=dict)
    """By severity, rule and sentence."""
    findings: dict[SetKey, dict[int, list[Finding]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """By set and position in it; those of the envelope by position in the file."""
    faulty_units: dict[SetKey, dict[int, Counter[Severity]]] = field(default_factory=dict)
    """By set and position of the unit's first segment."""
    findings_kept: int = 0

    @property
    def errors(self) -> int:
        """The number of errors."""
        return self.counts[Severity.ERROR]

    @property
    def findings_left_out(self) -> int:
        """How many findings are counted and not shown at their place."""
        return self.counts.total() - self.findings_kept

    def take(self, key: SetKey, position: int) -> list[Finding]:
        """Return and forget the findings at a place."""
        return self.findings[key].pop(position, []) if key in self.findings else []

    def take_rest(self, key: SetKey) -> list[Finding]:
        """Return and forget the findings of a part that no segment took: about what is missing at its end."""
        rest = self.findings.pop(key, {})
        return [finding for position in sorted(rest) for finding in rest[position]]


def summarize(source: reader.Source) -> PageSummary:
    """Read a file once and return its summary."""
    builder = _SummaryBuilder()
    reading = reader.Reader()
    for chunk in reader.iter_chunks(source):
        for event in reading.feed(chunk):
            builder.add(event)
    for event in reading.finish():
        builder.add(event)
    builder.summary.segments = reading.segments
    return builder.summary


class _SummaryBuilder:
    """A builder of a summary from the events of a reader."""

    def __init__(self) -> None:
        self.summary = PageSummary()
        self._unit_starts: list[int] = []
        self._unit_ends: list[int] = []

    def add(self, event: reader.Event) -> None:
        """Add one event."""
        summary = self.summary
        match event:
            case reader.InterchangeOpened(interchange):
                summary.interchange_count += 1
                if len(summary.interchanges) < INTERCHANGES_SHOWN_MAX:
                    summary.interchanges.append(interchange.header)
            case reader.SetOpened(set):
                kind = summary.kinds.setdefault(_kind(set), KindSummary())
                kind.sets += 1
                kind.version = kind.version or _version(set)
                self._unit_starts, self._unit_ends = [], []
            case reader.UnitClosed(loop, _, set):
                kind = summary.kinds[_kind(set)]
                kind.units += 1
                self._unit_starts.append(loop.position)
                self._unit_ends.append(loop.position + loop.size())
                _add_amounts(kind, loop, UNITS[_kind(set)].amounts)
            case reader.SetClosed(set):
                if set.guide is not None:
                    _add_amounts(summary.kinds[_kind(set)], set.root, UNITS[_kind(set)].of_sets)
        for finding in event_findings(event):
            self._add_finding(finding)

    def _add_finding(self, finding: Finding) -> None:
        summary, position = self.summary, finding.position or SegmentPosition()
        summary.counts[finding.severity] += 1
        name = (finding.severity, finding.rule, finding.message)
        if summary.findings_kept >= FINDINGS_SHOWN_MAX and name not in summary.groups:
            return
        summary.groups.setdefault(name, FindingGroup(finding)).add(finding)
        if summary.findings_kept >= FINDINGS_SHOWN_MAX:
            return
        summary.findings_kept += 1
        key = (position.interchange, position.group, position.set)
        at = position.segment if position.set else position.file_segment
        summary.findings[key][at].append(finding)
        nearest = bisect_right(self._unit_starts, at) - 1
        if position.set and nearest >= 0 and at < self._unit_ends[nearest]:
            units = summary.faulty_units.setdefault(key, {})
            units.setdefault(self._unit_starts[nearest], Counter())[finding.severity] += 1


def _kind(set: tree.TransactionSet) -> str:
    return set.guide.kind if set.guide else ""


def _version(set: tree.TransactionSet) -> str:
    return set.guide.id if set.guide else tree.get_element(set.header, 3) or set.group.version


def _add_amounts(kind: KindSummary, loop: tree.Loop, amounts: tuple[SummedAmount, ...]) -> None:
    """Add up amounts of a loop; one that cannot be read counts as nothing, because a finding reports it."""
    for name, segment, element in amounts:
        found = formats.parse_money(loop.value(segment, element))
        kind.amounts[name] = kind.amounts.get(name, Decimal()) + (found or Decimal())
