"""What stood where in a file we sent: so that an answer which names positions can be told from claim to claim.

    sent = layout(content, attempts={"C17": 2}, asked={("21", "0001", 37)})
    sent.sets[0].concerned(37)                   # the claims that segment belongs to
    sent.spots["21", "0001", 37]                 # its loop, segment and line

A segment inside a claim's loop belongs to that claim; one of a subscriber or billing provider to all claims below;
one of the header to the whole set. Reads our own 837 claim by claim, so memory stays flat.

Knows the loops of an 837; knows no field and no answer.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import msgspec

from clearlane.x12 import reader, tree

QUALIFIED = frozenset({"AMT", "CAS", "CRC", "DTP", "NM1", "PWK", "REF", "TOO"})
"""Segments whose first element tells one from another. In others it may be a patient's number."""


class SentClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim in a set."""

    number: str
    """Ours (``REF*D9``)."""
    account: str
    """CLM01."""
    provider: str = ""
    """The billing provider's NPI or other number."""
    first: int = 0
    """The position of CLM in the set, the ST being 1."""
    last: int = 0
    levels: tuple[int, ...] = ()
    """Where the loops around it begin: billing provider, subscriber, patient."""
    controls: tuple[str, ...] = ()
    """``REF*6R`` of its lines."""
    attempt: int = 1
    """Which sending of the claim this is."""

    def __repr__(self) -> str:
        return f"SentClaim({self.number})"


class SentSet(msgspec.Struct, frozen=True, kw_only=True):
    """A set as it was sent."""

    group: str
    """GS06."""
    control: str
    """ST02."""
    reference: str = ""
    """BHT03, which a 277CA gives back as the number of the batch."""
    claims: tuple[SentClaim, ...] = ()
    """In the order of the file."""

    def concerned(self, position: int) -> tuple[SentClaim, ...] | None:
        """The claims a segment belongs to; None where it belongs to the set as a whole."""
        at = bisect_right(self.claims, position, key=lambda one: one.first) - 1
        if at >= 0 and position <= self.claims[at].last:
            return (self.claims[at],)
        starts = {at for one in self.claims for at in one.levels if at <= position}
        last = max((one.last for one in self.claims), default=0)
        if not starts or position > last:
            return None
        return tuple(one for one in self.claims if max(starts) in one.levels)

    def by_account(self, account: str) -> SentClaim | None:
        """The claim with this CLM01."""
        return next((one for one in self.claims if one.account == account), None)


class Spot(NamedTuple):
    """A segment that was sent."""

    loop: str
    segment: str
    qualifier: str
    nth: int
    """Which one of its id in its loop, from 1."""
    line: int
    """The claim's line it belongs to, from 1; 0 for none."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """An interchange as it was sent."""

    control: str
    """ISA13."""
    sets: tuple[SentSet, ...] = ()
    spots: Mapping[tuple[str, str, int], Spot] = {}
    """By GS06, ST02 and position: the segments that were asked for."""

    @property
    def claims(self) -> Iterator[SentClaim]:
        """The claims of every set."""
        for one in self.sets:
            yield from one.claims


Asked = Collection[tuple[str, str, int]]


def layout(
    source: reader.Source, *, attempts: Mapping[str, int] | None = None, asked: Asked = ()
) -> Layout:
    """The layout of the first interchange of a file that we sent."""
    control = ""
    sets: list[SentSet] = []
    claims: list[SentClaim] = []
    spots: dict[tuple[str, str, int], Spot] = {}
    wanted: set[int] = set()
    for event in reader.read(source, check=False):
        match event:
            case reader.InterchangeOpened(interchange):
                control = interchange.control
            case reader.SetOpened(opened):
                claims, key = [], (opened.group.control, opened.control)
                wanted = {at for *place, at in asked if tuple(place) == key}
            case reader.Unit():
                claims.append(_claim(event, attempts or {}))
                for at, spot in _spots(event, wanted):
                    spots[(*key, at)] = spot
            case reader.SetClosed(closed):
                reference = closed.root.value("BHT", 3)
                sets.append(
                    SentSet(group=key[0], control=key[1], reference=reference, claims=tuple(claims))
                )
                for at, loop, segment, nth in numbered(closed.root):
                    if at in wanted:
                        spots[(*key, at)] = _spot(loop, segment, nth, 0)
            case reader.InterchangeClosed():
                break
    return Layout(control=control, sets=tuple(sets), spots=spots)


def numbered(loop: tree.Loop) -> Iterator[tuple[int, tree.Loop, tree.Segment, int]]:
    """The segments of a loop: position, own loop, and which one of its id each is there.

    Where a reader let something go, only what stands before it: positions behind it belong to nobody we ask for.
    """
    position = loop.position
    end = loop.gaps[0].index if loop.gaps else len(loop.items)
    counts: dict[str, int] = {}
    for item in loop.items[:end]:
        if isinstance(item, tree.Loop):
            yield from numbered(item)
            position += item.size()
        else:
            counts[item[0]] = nth = counts.get(item[0], 0) + 1
            yield position, loop, item, nth
            position += 1


def _claim(unit: reader.Unit, attempts: Mapping[str, int]) -> SentClaim:
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


def _spots(unit: reader.Unit, wanted: set[int]) -> Iterator[tuple[int, Spot]]:
    if not wanted:
        return
    lines = [line.position for line in unit.loop.loops("2400")]
    for loop in (unit.loop, *unit.parents[1:]):
        for at, owner, segment, nth in numbered(loop):
            if at in wanted:
                line = sum(start <= at for start in lines) if loop is unit.loop else 0
                yield at, _spot(owner, segment, nth, line)


def _spot(loop: tree.Loop, segment: tree.Segment, nth: int, line: int) -> Spot:
    qualifier = tree.element(segment, 1) if segment[0] in QUALIFIED else ""
    return Spot(loop.node.id, segment[0], qualifier, nth, line)
