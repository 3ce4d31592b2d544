"""The layout of a file that was sent, so that errors at positions can be assigned to claims.

    sent = read_layout(content, attempts={"C17": 2}, positions={("21", "0001", 37)})
    sent.sets[0].claims_at(37)                   # the claims that segment belongs to
    sent.segments["21", "0001", 37]              # its loop, segment and line

A segment inside a claim's loop belongs to that claim; one of a subscriber or billing provider to all claims below;
one of the header to the whole set. The 837 is read claim by claim, so memory stays flat.

Knows the loops of an 837; knows no field and no acknowledgement.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import msgspec

from clearlane.claims.x12_claim import is_claim_trace
from clearlane.kernel.redacted_repr import shows
from clearlane.x12 import tree
from clearlane.x12.reader import reader

QUALIFIED = frozenset({"AMT", "CAS", "CRC", "DTP", "HI", "NM1", "PWK", "REF", "TOO"})
"""Segments whose first element is a qualifier. In others it may be a patient's number."""


@shows("number")
class SentClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim of a set that was sent."""

    number: str
    """The clearinghouse's claim number (``REF*D9``)."""
    account: str
    """CLM01."""
    provider: str = ""
    """The billing provider's NPI or other number."""
    first: int = 0
    """The position of CLM in the set, the ST being 1."""
    last: int = 0
    levels: tuple[int, ...] = ()
    """Positions where the loops around it begin: billing provider, subscriber, patient."""
    controls: tuple[str, ...] = ()
    """``REF*6R`` of its lines."""
    attempt: int = 1
    """The sending of the claim, counted from 1."""


class SentSet(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction set as it was sent."""

    group: str
    """GS06."""
    control: str
    """ST02."""
    reference: str = ""
    """BHT03, which a 277CA returns as the number of the batch."""
    claims: tuple[SentClaim, ...] = ()
    """In the order of the file."""

    def claims_at(self, position: int) -> tuple[SentClaim, ...] | None:
        """Return the claims a segment belongs to; None if it belongs to the set as a whole."""
        at = bisect_right(self.claims, position, key=lambda one: one.first) - 1
        if at >= 0 and position <= self.claims[at].last:
            return (self.claims[at],)
        starts = {at for one in self.claims for at in one.levels if at <= position}
        last = max((one.last for one in self.claims), default=0)
        if not starts or position > last:
            return None
        return tuple(one for one in self.claims if max(starts) in one.levels)

    def by_account(self, account: str) -> SentClaim | None:
        """Return the claim with this CLM01."""
        return next((one for one in self.claims if one.account == account), None)


class SentSegment(NamedTuple):
    """A segment that was sent."""

    loop: str
    segment: str
    qualifier: str
    nth: int
    """The occurrence of its id in the loop, from 1."""
    line: int
    """The service line it belongs to, from 1; 0 for none."""
    level: str = ""
    """The loop of the level that it is in: 2000A, 2000B, 2000C or 2300; empty if it is in none."""
    offset: int = 0
    """Its place in that level, from 1, our REF*D9 not counted: the one of a sender's claim that is written as it came."""


class SentLayout(msgspec.Struct, frozen=True, kw_only=True):
    """An interchange as it was sent."""

    control: str
    """ISA13."""
    sets: tuple[SentSet, ...] = ()
    segments: Mapping[tuple[str, str, int], SentSegment] = {}
    """The segments that were asked for, by GS06, ST02 and position."""

    @property
    def claims(self) -> Iterator[SentClaim]:
        """The claims of every set."""
        for one in self.sets:
            yield from one.claims


SegmentPositions = Collection[tuple[str, str, int]]


def read_layout(
    source: reader.Source,
    *,
    attempts: Mapping[str, int] | None = None,
    positions: SegmentPositions = (),
) -> SentLayout:
    """Read the layout of the first interchange of a file that was sent."""
    control = ""
    sets: list[SentSet] = []
    claims: list[SentClaim] = []
    segments: dict[tuple[str, str, int], SentSegment] = {}
    wanted: set[int] = set()
    for event in reader.read(source, check=False):
        match event:
            case reader.InterchangeOpened(interchange):
                control = interchange.control
            case reader.SetOpened(opened):
                claims, key = [], (opened.group.control, opened.control)
                wanted = {at for *place, at in positions if tuple(place) == key}
            case reader.UnitClosed():
                claims.append(_claim(event, attempts or {}))
                for at, sent_segment in _sent_segments(event, wanted):
                    segments[(*key, at)] = sent_segment
            case reader.SetClosed(closed):
                reference = closed.root.value("BHT", 3)
                sets.append(
                    SentSet(group=key[0], control=key[1], reference=reference, claims=tuple(claims))
                )
                for at, loop, segment, nth in numbered_segments(closed.root):
                    if at in wanted:  # those of levels were found with their claims
                        segments.setdefault((*key, at), _sent_segment(loop, segment, nth, 0))
            case reader.InterchangeClosed():
                break
    return SentLayout(control=control, sets=tuple(sets), segments=segments)


def numbered_segments(loop: tree.Loop) -> Iterator[tuple[int, tree.Loop, tree.Segment, int]]:
    """Yield the segments of a loop: position, own loop, segment, and its occurrence in that loop.

    If the streaming reader dropped units, only the segments before them: those behind are read with the
    units themselves.
    """
    position = loop.position
    end = loop.dropped[0].index if loop.dropped else len(loop.items)
    counts: dict[str, int] = {}
    for item in loop.items[:end]:
        if not isinstance(item, list):
            yield from numbered_segments(item)
            position += item.size()
        else:
            counts[item[0]] = nth = counts.get(item[0], 0) + 1
            yield position, loop, item, nth
            position += 1


def _claim(unit: reader.UnitClosed, attempts: Mapping[str, int]) -> SentClaim:
    loop = unit.loop
    billing = unit.parent("2000A")
    name = billing.loop("2010AA") if billing else None
    number = loop.value("REF", 2, "D9")
    return SentClaim(
        number=number,
        account=loop.value("CLM", 1),
        provider=name.value("NM1", 9) if name else "",
        first=loop.position,
        last=loop.position + loop.size() - 1,
        levels=tuple(parent.position for parent in unit.parents[1:]),
        controls=tuple(line.value("REF", 2, "6R") for line in loop.loops("2400")),
        attempt=attempts.get(number, 1),
    )


def _sent_segments(unit: reader.UnitClosed, wanted: set[int]) -> Iterator[tuple[int, SentSegment]]:
    if not wanted:
        return
    lines = [line.position for line in unit.loop.loops("2400")]
    for loop in (*unit.parents[1:], unit.loop):  # a level inside another comes later, and counts
        offset = 0
        for at, owner, segment, nth in numbered_segments(loop):
            is_trace = is_claim_trace(segment)
            offset += not is_trace
            if at in wanted:
                line = sum(start <= at for start in lines) if loop is unit.loop else 0
                found = _sent_segment(owner, segment, nth, line)
                place = 0 if is_trace else offset
                yield at, found._replace(level=loop.node.id, offset=place)


def _sent_segment(loop: tree.Loop, segment: tree.Segment, nth: int, line: int) -> SentSegment:
    first = tree.get_element(segment, 1) if segment[0] in QUALIFIED else ""
    qualifier = first.partition(":")[0]
    return SentSegment(loop.node.id, segment[0], qualifier, nth, line)
