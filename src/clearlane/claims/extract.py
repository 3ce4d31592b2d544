"""The claim's part of a payer's file, as a complete interchange of its own.

    part_of(content, fact)                       # of a stored file
    Clippings(content).of(fact)                  # of a stored file, for one claim after the other
    cut(unit, position)                          # while a file is read: an 835, 277CA or 277

Envelope and header stay as received, in the file's own separators; of the claims only this one stays, with the
loops around it. What speaks of other claims goes: sums over a batch or provider, provider adjustments, the
errors of other claims. Counts and levels are made right. The balance of a check cannot hold for a part.

Knows the loops of the answers to claims; knows no field and no database.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeAlias

from clearlane.claims.facts import Complaint, Fact
from clearlane.claims.statuses import levels
from clearlane.x12 import reader, tree, writer

SUMS = frozenset({"TS2", "TS3", "QTY", "AMT"})
"""Segments above the claims that add up several of them."""
NAMES = frozenset({"2100A", "2100B", "2100C"})
VERDICTS = frozenset({"2200A", "2200B", "2200C"})
CHARGE = 4
"""STC04, which above the claims is a sum of their charges."""


Sheet: TypeAlias = tuple[int, int, int]
"""A set in a file: interchange, group, set."""


class Placed(Protocol):
    """Where in a file a claim's part stands: every fact can tell."""

    @property
    def interchange(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def set(self) -> int: ...
    @property
    def position(self) -> int: ...


def part_of(content: bytes, claim: Fact | Placed) -> bytes:
    """The claim's part of a file; LookupError where nothing stands there."""
    where = claim.where if isinstance(claim, Fact) else claim
    complaints = claim.complaints if isinstance(claim, Fact) else ()
    found = _in_set(content, where, complaints) if where.group else _receipt(content, where)
    if found is None:
        raise LookupError("the file has no such part")
    return found


class Clippings:
    """The parts of one file that are no claim's alone: what many claims share is looked for once.

    A 999 that refuses thousands of claims is read once for all of them.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._groups: dict[Sheet, tuple[tree.Set, list[reader.Unit]]] | None = None
        self._last: tuple[object, bytes] = (None, b"")

    def of(self, fact: Fact) -> bytes:
        """The part of the fact's claim; LookupError where nothing stands there."""
        positions = frozenset(one.position for one in fact.complaints if one.position)
        key = (fact.where, positions)
        if self._last[0] != key:
            self._last = (key, self._cut(fact))
        return self._last[1]

    def _cut(self, fact: Fact) -> bytes:
        where = fact.where
        if not where.group:
            return part_of(self._content, fact)
        found = self._read().get((where.interchange, where.group, where.set))
        if found is None:
            return part_of(self._content, fact)
        set, units = found
        answer = next((one for one in units if one.loop.position == where.position), None)
        return _of_group(set, answer, fact.complaints)

    def _read(self) -> dict[Sheet, tuple[tree.Set, list[reader.Unit]]]:
        if self._groups is None:
            self._groups = {}
            units: list[reader.Unit] = []
            for event in reader.read(self._content, check=False):
                if isinstance(event, reader.SetOpened):
                    units = []
                elif isinstance(event, reader.Unit) and _kind(event.set) == "999":
                    units.append(event)
                elif isinstance(event, reader.SetClosed) and _kind(event.set) == "999":
                    group = event.set.group
                    key = (group.interchange.number, group.number, event.set.number)
                    self._groups[key] = (event.set, units)
        return self._groups


def _in_set(content: bytes, where: Placed, complaints: Iterable[Complaint]) -> bytes | None:
    answer: reader.Unit | None = None
    for event in reader.read(content, check=False):
        if isinstance(event, reader.Unit) and _is_set(event.set, where):
            if event.loop.position <= where.position < event.loop.position + event.loop.size():
                if _kind(event.set) != "999":
                    return cut(event, where.position)
                answer = event
        elif isinstance(event, reader.SetClosed) and _is_set(event.set, where):
            if _kind(event.set) == "999":
                return _of_group(event.set, answer, complaints)
            break
    for unit in levels(content, ()):
        if _is_set(unit.set, where) and unit.parents[-1].position == where.position:
            return _sealed(unit.set, [*_head(unit.parents[0]), *_level(unit)])
    return None


def cut(unit: reader.Unit, position: int = 0) -> bytes:
    """The part of one claim: the unit itself, or the claim in it whose loop stands at the position."""
    chain = [*unit.parents[1:], unit.loop]
    inner = [*_head(unit.parents[0]), *_levels(chain, position or unit.loop.position)]
    return _sealed(unit.set, inner)


def _levels(chain: list[tree.Loop], position: int) -> Iterator[tree.Segment]:
    """The loops around a claim, each without its other claims, levels counted anew."""
    *above, unit = chain
    level = 0
    for loop in above:
        own = list(_without_sums(loop))
        level += any(segment[0] == "HL" for segment in own)
        yield from (_levelled(segment, level, "1") for segment in own)
    segments = list(_only(unit, position))
    last = sum(segment[0] == "HL" for segment in segments)
    for segment in segments:
        if segment[0] == "HL":
            level, last = level + 1, last - 1
            yield _levelled(segment, level, "1" if last else "0")
        else:
            yield segment


def _levelled(segment: tree.Segment, level: int, child: str) -> tree.Segment:
    if segment[0] != "HL":
        return segment
    parent = str(level - 1) if level > 1 else ""
    # The last level may leave out that none follows.
    end = [child] if child == "1" or len(segment) > 4 else []
    return ["HL", str(level), parent, tree.element(segment, 3), *end]


def _without_sums(loop: tree.Loop) -> Iterator[tree.Segment]:
    """A loop above the claims: itself, its name and its verdict, without levels below and without sums."""
    for item in loop.items:
        if not isinstance(item, tree.Loop):
            if item[0] not in SUMS:
                yield item
        elif item.node.id in NAMES:
            yield from item.walk()
        elif item.node.id in VERDICTS:
            for segment in item.walk():
                if segment[0] not in SUMS:
                    yield _without_charge(segment)


def _without_charge(segment: tree.Segment) -> tree.Segment:
    if segment[0] != "STC" or len(segment) <= CHARGE:
        return segment
    kept = [*segment[:CHARGE], "", *segment[CHARGE + 1 :]]
    while kept and not kept[-1]:
        kept.pop()
    return kept


def _only(unit: tree.Loop, position: int) -> Iterator[tree.Segment]:
    """A unit with only that claim whose loop stands at the position; all of it where it is the claim."""
    for item in unit.items:
        if not isinstance(item, tree.Loop):
            yield item
        elif item.node.id in {"2200D", "2200E"}:
            if item.position == position:
                yield from item.walk()
        elif item.node.id == "2000E":
            if item.position <= position < item.position + item.size():
                yield from _only(item, position)
        else:
            yield from item.walk()


def _head(root: tree.Loop) -> Iterator[tree.Segment]:
    """What stands before the first claim: header segments and who pays whom."""
    for item in root.items:
        if isinstance(item, tree.Loop):
            if item.node.id[0] != "1":
                return
            yield from item.walk()
        elif item[0] in {"PLB", "SE", "AK9"}:
            return
        else:
            yield item


def _of_group(set: tree.Set, answer: reader.Unit | None, complaints: Iterable[Complaint]) -> bytes:
    """A 999 with the verdict on one set, if it has one, and of the errors those of the claim."""
    positions = {str(one.position) for one in complaints if one.position}
    said = [
        segment
        for item in (answer.loop.items if answer else ())
        for segment in (item.walk() if isinstance(item, tree.Loop) else [item])
        if not isinstance(item, tree.Loop) or item.value("IK3", 2).lstrip("0") in positions
    ]
    return _sealed(set, [*_head(set.root), *said, *set.root.segments("AK9")])


def _level(unit: reader.Unit) -> Iterator[tree.Segment]:
    """The verdict on a level, with the levels around it."""
    chain = unit.parents[1:]
    for level, loop in enumerate(chain, 1):
        child = "1" if loop is not chain[-1] else "0"
        yield from (_levelled(segment, level, child) for segment in _without_sums(loop))
    for segment in unit.loop.walk():
        if segment[0] not in SUMS:
            yield _without_charge(segment)


def _receipt(content: bytes, where: Placed) -> bytes | None:
    """An interchange with one TA1 and nothing else."""
    for event in reader.read(content, check=False):
        if isinstance(event, reader.InterchangeClosed):
            interchange = event.interchange
            found = [segment for _, segment in interchange.stray][where.position - 1 :]
            if interchange.number == where.interchange and found:
                whole = [interchange.header, found[0], ["IEA", "0", interchange.control]]
                return writer.encode(whole, interchange.delimiters)
    return None


def _sealed(set: tree.Set, segments: Iterable[tree.Segment]) -> bytes:
    """A set's segments, the ST among them, in the envelope they came in."""
    inside = [*segments]
    group, interchange = set.group, set.group.interchange
    whole = [
        interchange.header,
        group.header,
        *inside,
        ["SE", str(len(inside) + 1), set.control],
        ["GE", "1", group.control],
        ["IEA", "1", interchange.control],
    ]
    return writer.encode(whole, interchange.delimiters)


def _kind(set: tree.Set) -> str:
    return set.guide.kind if set.guide else ""


def _is_set(set: tree.Set, where: Placed) -> bool:
    return (
        set.number == where.set
        and set.group.number == where.group
        and set.group.interchange.number == where.interchange
    )
