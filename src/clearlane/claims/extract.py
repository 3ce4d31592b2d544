"""Extract one claim's part of a payer's file, as a complete interchange.

    extract_part(content, fact)                  # from a stored file
    FileExtracts(content).of(fact)               # from a stored file, for one claim after the other
    extract_claim(unit, position)                # while a file is read: an 835, 277CA or 277

Envelope and header stay as received, in the file's own separators; of the claims only this one stays, with the
loops around it. Data about other claims is removed: sums over a batch or provider, provider adjustments, errors
of other claims. Counts and levels are corrected. The payment balance cannot hold for a part.

Knows the loops of the responses to claims; knows no field and no database.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeAlias

from clearlane.claims.facts import Complaint, Fact
from clearlane.claims.statuses import read_levels
from clearlane.x12 import reader, tree, writer
from clearlane.x12.received_guides import choose_guide

SUMS = frozenset({"TS2", "TS3", "QTY", "AMT"})
"""Segments above the claims that add up several of them."""
NAMES = frozenset({"2100A", "2100B", "2100C"})
VERDICTS = frozenset({"2200A", "2200B", "2200C"})
CHARGE = 4
"""STC04, which above the claims is a sum of their charges."""


SetKey: TypeAlias = tuple[int, int, int]
"""A set in a file: interchange, group, set."""


class FileLocation(Protocol):
    """Position of a claim's part in a file, as every fact has it."""

    @property
    def interchange(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def set(self) -> int: ...
    @property
    def position(self) -> int: ...


def extract_part(content: bytes, claim: Fact | FileLocation) -> bytes:
    """Extract the claim's part of a file; LookupError if nothing is at its position."""
    where = claim.where if isinstance(claim, Fact) else claim
    complaints = claim.complaints if isinstance(claim, Fact) else ()
    found = _in_set(content, where, complaints) if where.group else _receipt(content, where)
    if found is None:
        raise LookupError("the file has no such part")
    return found


class FileExtracts:
    """The claims' parts of one file, with what they share read once.

    A 999 that rejects thousands of claims is read once for all of them.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._groups: dict[SetKey, tuple[tree.TransactionSet, list[reader.UnitClosed]]] | None = (
            None
        )
        self._last: tuple[object, bytes] = (None, b"")

    def of(self, fact: Fact) -> bytes:
        """Return the part of the fact's claim; LookupError if nothing is at its position."""
        positions = frozenset(one.position for one in fact.complaints if one.position)
        key = (fact.where, positions)
        if self._last[0] != key:
            self._last = (key, self._cut(fact))
        return self._last[1]

    def _cut(self, fact: Fact) -> bytes:
        where = fact.where
        if not where.group:
            return extract_part(self._content, fact)
        found = self._read().get((where.interchange, where.group, where.set))
        if found is None:
            return extract_part(self._content, fact)
        set, units = found
        answer = next((one for one in units if one.loop.position == where.position), None)
        return _of_group(set, answer, fact.complaints)

    def _read(self) -> dict[SetKey, tuple[tree.TransactionSet, list[reader.UnitClosed]]]:
        if self._groups is None:
            self._groups = {}
            units: list[reader.UnitClosed] = []
            for event in reader.read(self._content, check=False):
                if isinstance(event, reader.SetOpened):
                    units = []
                elif isinstance(event, reader.UnitClosed) and _kind(event.set) == "999":
                    units.append(event)
                elif isinstance(event, reader.SetClosed) and _kind(event.set) == "999":
                    group = event.set.group
                    key = (group.interchange.number, group.number, event.set.number)
                    self._groups[key] = (event.set, units)
        return self._groups


def _in_set(content: bytes, where: FileLocation, complaints: Iterable[Complaint]) -> bytes | None:
    answer: reader.UnitClosed | None = None
    for event in reader.read(content, check=False, choose_guide=choose_guide):
        if isinstance(event, reader.UnitClosed) and _is_set(event.set, where):
            if event.loop.position <= where.position < event.loop.position + event.loop.size():
                if _kind(event.set) != "999":
                    return extract_claim(event, where.position)
                answer = event
        elif isinstance(event, reader.SetClosed) and _is_set(event.set, where):
            if _kind(event.set) == "999":
                return _of_group(event.set, answer, complaints)
            break
    for unit in read_levels(content, ()):
        if _is_set(unit.set, where) and unit.parents[-1].position == where.position:
            return _sealed(unit.set, [*_head(unit.parents[0]), *_level(unit)])
    return None


def extract_claim(unit: reader.UnitClosed, position: int = 0) -> bytes:
    """Extract one claim: the unit itself, or the claim in it whose loop is at the position."""
    chain = [*unit.parents[1:], unit.loop]
    inner = [*_head(unit.parents[0]), *_levels(chain, position or unit.loop.position)]
    return _sealed(unit.set, inner)


def _levels(chain: list[tree.Loop], position: int) -> Iterator[tree.Segment]:
    """Yield the loops around a claim without their other claims, HL levels renumbered."""
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
    return ["HL", str(level), parent, tree.get_element(segment, 3), *end]


def _without_sums(loop: tree.Loop) -> Iterator[tree.Segment]:
    """Yield a loop above the claims with its name and status, without the levels below and without sums."""
    for item in loop.items:
        if not isinstance(item, tree.Loop):
            if item[0] not in SUMS:
                yield item
        elif item.node.id in NAMES:
            yield from item.all_segments()
        elif item.node.id in VERDICTS:
            for segment in item.all_segments():
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
    """Yield a unit with only the claim whose loop is at the position; all of it where it is the claim."""
    for item in unit.items:
        if not isinstance(item, tree.Loop):
            yield item
        elif item.node.id in {"2200D", "2200E"}:
            if item.position == position:
                yield from item.all_segments()
        elif item.node.id == "2000E":
            if item.position <= position < item.position + item.size():
                yield from _only(item, position)
        else:
            yield from item.all_segments()


def _head(root: tree.Loop) -> Iterator[tree.Segment]:
    """Yield what precedes the first claim: header segments, payer and payee."""
    for item in root.items:
        if isinstance(item, tree.Loop):
            if item.node.id[0] != "1":
                return
            yield from item.all_segments()
        elif item[0] in {"PLB", "SE", "AK9"}:
            return
        else:
            yield item


def _of_group(
    set: tree.TransactionSet, answer: reader.UnitClosed | None, complaints: Iterable[Complaint]
) -> bytes:
    """Return a 999 with the verdict on one set, if it has one, and the errors of one claim."""
    positions = {str(one.position) for one in complaints if one.position}
    segments = [
        segment
        for item in (answer.loop.items if answer else ())
        for segment in (item.all_segments() if isinstance(item, tree.Loop) else [item])
        if not isinstance(item, tree.Loop) or item.value("IK3", 2).lstrip("0") in positions
    ]
    return _sealed(set, [*_head(set.root), *segments, *set.root.segments("AK9")])


def _level(unit: reader.UnitClosed) -> Iterator[tree.Segment]:
    """Yield the status of a level, with the levels around it."""
    chain = unit.parents[1:]
    for level, loop in enumerate(chain, 1):
        child = "1" if loop is not chain[-1] else "0"
        yield from (_levelled(segment, level, child) for segment in _without_sums(loop))
    for segment in unit.loop.all_segments():
        if segment[0] not in SUMS:
            yield _without_charge(segment)


def _receipt(content: bytes, where: FileLocation) -> bytes | None:
    """Return an interchange with one TA1 and nothing else."""
    for event in reader.read(content, check=False):
        if isinstance(event, reader.InterchangeClosed):
            interchange = event.interchange
            found = [segment for _, segment in interchange.stray][where.position - 1 :]
            if interchange.number == where.interchange and found:
                whole = [interchange.header, found[0], ["IEA", "0", interchange.control]]
                return writer.encode_segments(whole, interchange.delimiters)
    return None


def _sealed(set: tree.TransactionSet, segments: Iterable[tree.Segment]) -> bytes:
    """Return a set's segments, including the ST, in the envelope they came in."""
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
    return writer.encode_segments(whole, interchange.delimiters)


def _kind(set: tree.TransactionSet) -> str:
    return set.guide.kind if set.guide else ""


def _is_set(set: tree.TransactionSet, where: FileLocation) -> bool:
    return (
        set.number == where.set
        and set.group.number == where.group
        and set.group.interchange.number == where.interchange
    )
