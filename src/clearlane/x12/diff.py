"""Two files compared by what they mean.

Sets are matched by kind and order; loops by what names them (a claim by its number, a line by its control
number or LX, a level by the party in it); segments by their place and qualifier. The order of what is matched
does not count, nor do separators, level numbers, segment counts, or the way a number is written.

    for change in diff(parse(one), parse(other)):
        change.kind, change.path, change.place, change.name, change.old, change.new

Knows trees and guides; knows no claim form.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar

from clearlane.kernel import formats
from clearlane.x12 import grammar, tree
from clearlane.x12.describe import node_of

ADDED, REMOVED, CHANGED = "added", "removed", "changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference."""

    kind: str
    """added, removed or changed."""
    path: str
    """The loops around it with their keys, such as ``837P > 2300 A1 > 2400 1``."""
    place: str
    """The segment or element, such as ``SV102``; empty for a whole loop."""
    name: str
    old: str
    new: str


# What names a loop: the segment and element whose value is its key, the first that is filled.
KEYS: dict[str, tuple[tuple[str, str, int], ...]] = {
    "2300": (("CLM", "", 1),),
    "2100": (("CLP", "", 1), ("IK3", "", 2)),
    "2110": (("REF", "6R", 2), ("IK4", "", 1)),
    "2400": (("REF", "6R", 2), ("LX", "", 1)),
    "2430": (("SVD", "", 1),),
    "2000": (("LX", "", 1), ("AK2", "", 2)),
    "2200D": (("TRN", "", 2),),
    "2200E": (("TRN", "", 2),),
}
NAMES = (("NM1", "", 9), ("NM1", "", 3), ("N1", "", 4), ("N1", "", 2))
# Numbers that follow from the rest of a file.
COUNTED = frozenset({("HL", 1), ("HL", 2), ("SE", 1), ("GE", 1), ("IEA", 1)})
# What differs between any two files: control numbers, dates and times of the envelopes.
ENVELOPE = frozenset({
    ("ISA", 9), ("ISA", 10), ("ISA", 11), ("ISA", 13), ("ISA", 16), ("IEA", 2),
    ("GS", 4), ("GS", 5), ("GS", 6), ("GE", 2), ("ST", 2), ("SE", 2),
    ("BHT", 3), ("BHT", 4), ("BHT", 5),
})  # fmt: skip
SEPARATORS = frozenset({("ISA", 11), ("ISA", 16)})

T = TypeVar("T")
Pair = tuple[T | None, T | None]


def diff(old: tree.File, new: tree.File, *, envelopes: bool = True) -> Iterator[Change]:
    """The differences between two files. Without ``envelopes`` control numbers and dates do not count."""
    yield from _Comparison(COUNTED | (SEPARATORS if envelopes else ENVELOPE)).files(old, new)


class _Side:
    """One of two files: how its values read."""

    __slots__ = ("table",)

    def __init__(self, interchange: tree.Interchange) -> None:
        self.table = interchange.delimiters.original()

    def value(self, text: str) -> str:
        return text.translate(self.table) if self.table else text


class _Comparison:
    """Compares two files, some places left out."""

    def __init__(self, ignored: frozenset[tuple[str, int]]) -> None:
        self._ignored = ignored

    def files(self, old: tree.File, new: tree.File) -> Iterator[Change]:
        for nth, pair in enumerate(zip_longest(old.interchanges, new.interchanges), 1):
            yield from self._envelopes(f"interchange {nth}", *pair)
        sets = _matched(list(old.sets()), list(new.sets()), _kind)
        for before, after in sets:
            yield from self._sets(before, after)

    def _envelopes(
        self, path: str, old: tree.Interchange | None, new: tree.Interchange | None
    ) -> Iterator[Change]:
        if old is None or new is None:
            yield Change(ADDED if old is None else REMOVED, path, "", "Interchange", "", "")
            return
        sides = _Side(old), _Side(new)
        yield from self._segments(path, None, _outer(old), _outer(new), sides)

    def _sets(self, old: tree.Set | None, new: tree.Set | None) -> Iterator[Change]:
        if old is None or new is None:
            one = old or new
            assert one is not None, "a pair has a side"
            kind = ADDED if old is None else REMOVED
            yield Change(kind, _kind(one), "", "Transaction set", "", "")
            return
        sides = _Side(old.group.interchange), _Side(new.group.interchange)
        yield from self._loops(_kind(old), old.root, new.root, sides)

    def _loops(
        self, path: str, old: tree.Loop, new: tree.Loop, sides: tuple[_Side, _Side]
    ) -> Iterator[Change]:
        own = [[item for item in loop.items if isinstance(item, list)] for loop in (old, new)]
        yield from self._segments(path, old.node, own[0], own[1], sides)
        inner = [list(loop.loops()) for loop in (old, new)]
        for before, after in _matched(inner[0], inner[1], _loop_key, sort=_sort):
            one = before or after
            assert one is not None, "a pair has a side"
            below = f"{path} > {_title(one)}"
            if before is None or after is None:
                kind = ADDED if before is None else REMOVED
                yield Change(kind, below, "", one.node.name, "", "")
            else:
                yield from self._loops(below, before, after, sides)

    def _segments(
        self,
        path: str,
        node: grammar.Loop | None,
        old: list[tree.Segment],
        new: list[tree.Segment],
        sides: tuple[_Side, _Side],
    ) -> Iterator[Change]:
        def place(segment: tree.Segment) -> object:
            found = node_of(node, segment)
            number, component = found.key if found else (0, 0)
            text = tree.element(segment, number) if number else ""
            return segment[0], text.split(":")[component - 1] if component else text

        for before, after in _matched(old, new, place):
            yield from self._elements(path, node, before, after, sides)

    def _elements(
        self,
        path: str,
        loop: grammar.Loop | None,
        old: tree.Segment | None,
        new: tree.Segment | None,
        sides: tuple[_Side, _Side],
    ) -> Iterator[Change]:
        segment = old or new
        assert segment is not None, "a pair has a side"
        node = node_of(loop, segment)
        if old is None or new is None:
            side = sides[1] if old is None else sides[0]
            text = side.value("*".join(segment[1:])) if not side.table else _plain(segment, side)
            name = node.name if node else ""
            kind = ADDED if old is None else REMOVED
            told = ("", text) if old is None else (text, "")
            yield Change(kind, path, segment[0], name, *told)
            return
        pairs = zip_longest(old[1:], new[1:], fillvalue="")
        for number, (before, after) in enumerate(pairs, 1):
            if before == after and not (sides[0].table or sides[1].table):
                continue
            if (segment[0], number) in self._ignored:
                continue
            element = node.elements[number - 1] if node and number <= len(node.elements) else None
            place = f"{segment[0]}{number:02}"
            yield from self._values(path, place, element, before, after, sides)

    def _values(
        self,
        path: str,
        place: str,
        element: grammar.Element | None,
        old: str,
        new: str,
        sides: tuple[_Side, _Side],
    ) -> Iterator[Change]:
        pairs = list(zip_longest(_atoms(old), _atoms(new), fillvalue=""))
        for at, (before, after) in enumerate(pairs, 1):
            was, now = sides[0].value(before), sides[1].value(after)
            if was.strip() == now.strip() or _same_number(was, now, element, at):
                continue
            name = _name(element, at)
            where = f"{place}-{at}" if len(pairs) > 1 else place
            yield Change(CHANGED, path, where, name, was, now)


def _outer(interchange: tree.Interchange) -> list[tree.Segment]:
    """The segments around sets."""
    out = [interchange.header, *(segment for _, segment in interchange.stray)]
    for group in interchange.groups:
        out += [group.header, *(segment for _, segment in group.stray)]
        out += [group.trailer] if group.trailer else []
    return out + ([interchange.trailer] if interchange.trailer else [])


def _atoms(text: str) -> list[str]:
    """The parts of an element, repetitions after each other."""
    return text.replace("^", ":").split(":")


def _plain(segment: tree.Segment, side: _Side) -> str:
    return "*".join(":".join(map(side.value, _atoms(text))) for text in segment[1:])


def _name(element: grammar.Element | None, at: int) -> str:
    if element is None:
        return ""
    if element.components and at <= len(element.components):
        return element.components[at - 1].name
    return element.name


def _same_number(old: str, new: str, element: grammar.Element | None, at: int) -> bool:
    """Whether two texts of a numeric element are the same number."""
    parts = element.components if element else ()
    part = element if not parts else parts[at - 1] if at <= len(parts) else None
    if part is None or part.type[:1] not in {"R", "N"}:
        return False
    first, second = formats.money(old or "0"), formats.money(new or "0")
    return first is not None and first == second and bool(old) == bool(new)


def _kind(set: tree.Set) -> str:
    return set.guide.kind if set.guide else tree.element(set.header, 1)


def _loop_key(loop: tree.Loop) -> object:
    return loop.node.id, _key(loop)


def _sort(loop: tree.Loop) -> str:
    """What a loop is told by where nothing names it: its kind and its order; empty for the others."""
    return "" if loop.node.id in KEYS else loop.node.id


def _key(loop: tree.Loop) -> str:
    """The value that names a loop; empty where nothing does."""
    for id, qualifier, element in KEYS.get(loop.node.id, NAMES):
        found = loop.value(id, element, *filter(None, (qualifier,)))
        if found:
            return found
    # A level is named by the party in its first loop.
    first = loop.loop()
    return _key(first) if first is not None and loop.node.id not in KEYS else ""


def _title(loop: tree.Loop) -> str:
    key = _key(loop) if loop.node.id in KEYS else ""
    return f"{loop.node.id} {key}".strip()


def _matched(
    old: list[T],
    new: list[T],
    key: Callable[[T], object],
    *,
    sort: Callable[[T], str] | None = None,
) -> Iterator[Pair[T]]:
    """Pairs of what has the same key, in order; the rest alone.

    Among several of one key, equal ones are paired first. What has a ``sort`` is paired in order with
    others of it where no key matches.
    """
    waiting: dict[object, list[T]] = {}
    for one in new:
        waiting.setdefault(key(one), []).append(one)
    pairs: list[tuple[T, T | None]] = []
    for one in old:
        same = waiting.get(key(one), [])
        found = next((at for at, other in enumerate(same) if other == one), None)
        pairs.append((one, same.pop(found) if found is not None else None))
    for at, (one, partner) in enumerate(pairs):
        same = waiting.get(key(one), [])
        if partner is None and same:
            pairs[at] = (one, same.pop(0))
    rest = [one for group in waiting.values() for one in group]
    for before, after in pairs:
        partner = after
        if partner is None and sort is not None and sort(before):
            alike = (at for at, other in enumerate(rest) if sort(other) == sort(before))
            found = next(alike, None)
            partner = None if found is None else rest.pop(found)
        yield before, partner
    for one in rest:
        yield None, one


def summary(changes: Iterable[Change]) -> str:
    """How many of which kind, in words."""
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.kind] = counts.get(change.kind, 0) + 1
    told = [f"{count} {kind}" for kind in (CHANGED, ADDED, REMOVED) if (count := counts.get(kind))]
    return ", ".join(told) or "no differences"
