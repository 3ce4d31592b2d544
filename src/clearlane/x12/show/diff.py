"""Compare two files by meaning.

Sets are matched by kind and order; loops by their key (a claim by its number, a line by its control number or LX, a level
by the party in it); segments by place and qualifier. The order of matched parts does not count, nor do separators, level
numbers, segment counts, or the way a number is written.

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
from clearlane.x12.show.describe import find_spec

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


# What identifies a loop: segment, qualifier and element of its key; the first filled one counts.
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
# Counts and numbers that follow from the rest of a file.
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


def diff(old: tree.X12File, new: tree.X12File, *, envelopes: bool = True) -> Iterator[Change]:
    """Yield the differences between two files. Without ``envelopes`` control numbers and dates are ignored."""
    yield from _Comparison(COUNTED | (SEPARATORS if envelopes else ENVELOPE)).files(old, new)


class _Side:
    """One of two files, and how to restore its values' separators."""

    __slots__ = ("table",)

    def __init__(self, interchange: tree.Interchange) -> None:
        self.table = interchange.delimiters.from_canonical()

    def value(self, text: str) -> str:
        return text.translate(self.table) if self.table else text


class _Comparison:
    """A comparison of two files that ignores some elements."""

    def __init__(self, ignored: frozenset[tuple[str, int]]) -> None:
        self._ignored = ignored

    def files(self, old: tree.X12File, new: tree.X12File) -> Iterator[Change]:
        for nth, pair in enumerate(zip_longest(old.interchanges, new.interchanges), 1):
            yield from self._envelopes(f"interchange {nth}", *pair)
        sets = _match(list(old.sets()), list(new.sets()), _kind)
        for before, after in sets:
            yield from self._sets(before, after)

    def _envelopes(
        self, path: str, old: tree.Interchange | None, new: tree.Interchange | None
    ) -> Iterator[Change]:
        if old is None or new is None:
            yield Change(ADDED if old is None else REMOVED, path, "", "Interchange", "", "")
            return
        sides = _Side(old), _Side(new)
        yield from self._segments(path, None, _control_segments(old), _control_segments(new), sides)

    def _sets(
        self, old: tree.TransactionSet | None, new: tree.TransactionSet | None
    ) -> Iterator[Change]:
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
        for before, after in _match(inner[0], inner[1], _loop_key, fallback_key=_fallback_key):
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
        node: grammar.LoopSpec | None,
        old: list[tree.Segment],
        new: list[tree.Segment],
        sides: tuple[_Side, _Side],
    ) -> Iterator[Change]:
        def place(segment: tree.Segment) -> object:
            found = find_spec(node, segment)
            number, component = found.key if found else (0, 0)
            text = tree.get_element(segment, number) if number else ""
            return segment[0], text.split(":")[component - 1] if component else text

        for before, after in _match(old, new, place):
            yield from self._elements(path, node, before, after, sides)

    def _elements(
        self,
        path: str,
        loop: grammar.LoopSpec | None,
        old: tree.Segment | None,
        new: tree.Segment | None,
        sides: tuple[_Side, _Side],
    ) -> Iterator[Change]:
        segment = old or new
        assert segment is not None, "a pair has a side"
        node = find_spec(loop, segment)
        if old is None or new is None:
            side = sides[1] if old is None else sides[0]
            text = (
                side.value("*".join(segment[1:]))
                if not side.table
                else _original_text(segment, side)
            )
            name = node.name if node else ""
            kind = ADDED if old is None else REMOVED
            values = ("", text) if old is None else (text, "")
            yield Change(kind, path, segment[0], name, *values)
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
        element: grammar.ElementSpec | None,
        old: str,
        new: str,
        sides: tuple[_Side, _Side],
    ) -> Iterator[Change]:
        pairs = list(zip_longest(_values_of(old), _values_of(new), fillvalue=""))
        for at, (before, after) in enumerate(pairs, 1):
            was, now = sides[0].value(before), sides[1].value(after)
            if was.strip() == now.strip() or _same_number(was, now, element, at):
                continue
            name = _name(element, at)
            where = f"{place}-{at}" if len(pairs) > 1 else place
            yield Change(CHANGED, path, where, name, was, now)


def _control_segments(interchange: tree.Interchange) -> list[tree.Segment]:
    """Return the segments around sets."""
    out = [interchange.header, *(segment for _, segment in interchange.stray)]
    for group in interchange.groups:
        out += [group.header, *(segment for _, segment in group.stray)]
        out += [group.trailer] if group.trailer else []
    return out + ([interchange.trailer] if interchange.trailer else [])


def _values_of(text: str) -> list[str]:
    """Return the components of an element, repetitions one after the other."""
    return text.replace("^", ":").split(":")


def _original_text(segment: tree.Segment, side: _Side) -> str:
    return "*".join(":".join(map(side.value, _values_of(text))) for text in segment[1:])


def _name(element: grammar.ElementSpec | None, at: int) -> str:
    if element is None:
        return ""
    if element.components and at <= len(element.components):
        return element.components[at - 1].name
    return element.name


def _same_number(old: str, new: str, element: grammar.ElementSpec | None, at: int) -> bool:
    """Return whether two texts of a numeric element are the same number."""
    parts = element.components if element else ()
    part = element if not parts else parts[at - 1] if at <= len(parts) else None
    if part is None or part.type[:1] not in {"R", "N"}:
        return False
    first, second = formats.parse_money(old or "0"), formats.parse_money(new or "0")
    return first is not None and first == second and bool(old) == bool(new)


def _kind(set: tree.TransactionSet) -> str:
    return set.guide.kind if set.guide else tree.get_element(set.header, 1)


def _loop_key(loop: tree.Loop) -> object:
    return loop.node.id, _key(loop)


def _fallback_key(loop: tree.Loop) -> str:
    """Return the loop id, by which loops without a matching key are paired in order; empty for keyed loops."""
    return "" if loop.node.id in KEYS else loop.node.id


def _key(loop: tree.Loop) -> str:
    """Return the value that identifies a loop; empty if there is none."""
    for id, qualifier, element in KEYS.get(loop.node.id, NAMES):
        found = loop.value(id, element, *filter(None, (qualifier,)))
        if found:
            return found
    # A hierarchical level is identified by the party in its first loop.
    first = loop.loop()
    return _key(first) if first is not None and loop.node.id not in KEYS else ""


def _title(loop: tree.Loop) -> str:
    key = _key(loop) if loop.node.id in KEYS else ""
    return f"{loop.node.id} {key}".strip()


def _match(
    old: list[T],
    new: list[T],
    key: Callable[[T], object],
    *,
    fallback_key: Callable[[T], str] = lambda part: "",
) -> Iterator[Pair[T]]:
    """Yield pairs of old and new parts with the same key, in order; unmatched parts alone.

    Among several parts with one key, equal ones are paired first. Parts with a ``fallback_key`` that no key matches are paired
    in order with others of the same fallback key.
    """
    waiting: dict[object, list[T]] = {}
    for one in new:
        waiting.setdefault(key(one), []).append(one)
    pairs = [(one, _take(waiting.get(key(one), []), one)) for one in old]
    for at, (one, partner) in enumerate(pairs):
        same = waiting.get(key(one), [])
        if partner is None and same:
            pairs[at] = (one, same.pop(0))
    rest = [one for group in waiting.values() for one in group]
    for before, partner in pairs:
        wanted = fallback_key(before) if partner is None else ""
        yield before, _take(rest, wanted, fallback_key) if wanted else partner
    for one in rest:
        yield None, one


def _take(
    parts: list[T], wanted: object, key: Callable[[T], object] = lambda part: part
) -> T | None:
    """Remove the first part with this key from a list, and return it; None if there is none."""
    at = next((at for at, part in enumerate(parts) if key(part) == wanted), None)
    return None if at is None else parts.pop(at)


def summarize(changes: Iterable[Change]) -> str:
    """Return how many changes there are of each kind, in words."""
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.kind] = counts.get(change.kind, 0) + 1
    parts = [f"{count} {kind}" for kind in (CHANGED, ADDED, REMOVED) if (count := counts.get(kind))]
    return ", ".join(parts) or "no differences"
