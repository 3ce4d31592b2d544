"""Segments of a loop into the fields of a value, by tables.

A ``Sorter`` makes one value of one loop. Its table says for each segment which field takes it; what has
no field, or more than its fields can hold, is kept in the value's ``other``:

    SERVICE = Sorter(Service, {
        "SVC": fill("procedure=procedure charged$ paid$ revenue units$"),   # into the value's own fields
        "DTM": each("dates", dated),                                        # one value a segment, in a tuple
        "NM1:QC": once("patient", name),                                    # by the segment's first element
    }, loops={"2130": Below("parts", PART)})

A usage line has one word an element: ``name`` a text, ``name$`` a number, ``name!`` a day, ``name+`` a
text added to a tuple, ``name?list`` a code whose words go to ``name_words``, ``name=kind`` whatever ``KINDS`` reads,
``-`` no field. An element that has no field, or cannot be read as its kind, sends the whole segment to
``other`` too, so that nothing is lost.

While a loop is read its value is a list of slots, one a field, so that a row writes by position and the value is
made in one step. Knows segments, trees and code lists; knows no guide.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import msgspec

from clearlane.kernel import formats
from clearlane.kernel.limits import SEGMENTS_PER_FIELD_MAX, VALUES_REMEMBERED_MAX
from clearlane.x12 import codes
from clearlane.x12.tree import Item, Loop, Segment

Slots: TypeAlias = list[Any]
"""The fields of a value while it is read, in their order."""
Bound: TypeAlias = Callable[[Segment, Slots, list[Segment]], None]
"""Puts a segment into the slots, and into the list too where it could not be taken whole."""
Read: TypeAlias = Callable[[Segment, list[Segment]], Any]
"""Reads one segment; puts it into the list too where it could not be taken whole."""


class Value(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a view is made of. It prints which fields are filled, never what they hold."""

    def __repr__(self) -> str:
        names = self.__struct_fields__
        filled = (name for name in names if getattr(self, name) not in (None, "", ()))
        return f"{self.__class__.__name__}({', '.join(filled)})"


Row: TypeAlias = Callable[[type[Value]], Bound]
"""What happens to a segment, before it is known to which struct."""
Rows: TypeAlias = Mapping[str, Row]


class Below(NamedTuple):
    """A loop inside a loop: the field that takes its value, once or as often as it comes."""

    field: str
    sorter: "Sorter"
    many: bool = True


class Sorter:
    """Makes values of one struct from loops."""

    def __init__(
        self,
        struct: type[Value],
        rows: Rows,
        *,
        loops: Mapping[str, Below] | None = None,
        inline: Iterable[str] = (),
        party: "Sorter | None" = None,
        finish: Callable[[Slots], None] | None = None,
    ) -> None:
        """``inline`` loops are read as if their segments stood in this loop; ``party`` takes the
        segments it knows into the field of that name; ``finish`` adds what is worked out."""
        self.struct = struct
        self.loops = dict(loops or {})
        self.inline = frozenset(inline)
        self.rows = _dispatch(struct, rows)
        """By segment id a row, or rows by the segment's first element."""
        self.at = {name: at for at, name in enumerate(struct.__struct_fields__)}
        """The position of each field."""
        self._party = party
        self._finish = finish
        self._template = list(struct.__struct_defaults__)
        assert len(self._template) == len(self.at), "every field has a default"
        fields = {below.field for below in self.loops.values() if below.many}
        self._lists = [self.at[field] for field in sorted(fields)]

    def __call__(self, loop: Loop) -> Any:
        """The value of a loop."""
        return self.of(loop.items)

    def of(self, items: Sequence[Item]) -> Any:
        """The value of segments and loops."""
        slots, other, party = self.start()
        self._sort(items, slots, party, other)
        return self.finished(slots, party, other)

    def start(self) -> tuple[Slots, list[Segment], Slots | None]:
        """Room for a value: its slots, what it has no field for, and the slots of its party."""
        party = self._party
        return self._template.copy(), [], None if party is None else party.start()[0]

    def put(
        self, segment: Segment, slots: Slots, party: Slots | None, other: list[Segment]
    ) -> None:
        """Take one segment."""
        row = self.rows.get(segment[0])
        if row.__class__ is dict:
            row = row.get(segment[1] if len(segment) > 1 else "") or row.get("")
        if row is not None:
            row(segment, slots, other)
        elif not self.give(segment, party, other):
            other.append(segment)

    def give(self, segment: Segment, party: Slots | None, other: list[Segment]) -> bool:
        """Give a segment to the party, if there is one that knows it."""
        if self._party is None or segment[0] not in self._party.rows:
            return False
        assert party is not None, "slots of a party come from start"
        self._party.put(segment, party, None, other)
        return True

    def finished(self, slots: Slots, party: Slots | None, other: list[Segment]) -> Any:
        """The value of what was put."""
        if party is not None and self._party is not None and party != self._party.start()[0]:
            slots[self.at["party"]] = self._party.struct(*party)
        if other:
            slots[self.at["other"]] = tuple(other)
        for at in self._lists:
            slots[at] = tuple(slots[at])
        if self._finish is not None:
            self._finish(slots)
        return self.struct(*slots)

    def _sort(
        self, items: Sequence[Item], slots: Slots, party: Slots | None, other: list[Segment]
    ) -> None:
        for item in items:
            if isinstance(item, Loop):
                self._below(item, slots, party, other)
            else:
                self.put(item, slots, party, other)

    def _below(self, loop: Loop, slots: Slots, party: Slots | None, other: list[Segment]) -> None:
        id = loop.node.id
        below = self.loops.get(id)
        if below is None:
            if id in self.inline:
                self._sort(loop.items, slots, party, other)
            else:
                other.extend(loop.walk())
            return
        at = self.at[below.field]
        if below.many:
            if not slots[at]:
                slots[at] = []
            slots[at].append(below.sorter(loop))
        elif slots[at] is None:
            slots[at] = below.sorter(loop)
        else:
            other.extend(loop.walk())


def _dispatch(struct: type[Value], rows: Rows) -> dict[str, Any]:
    """By segment id a row, or rows by the segment's first element with the one for all others under ""."""
    found: dict[str, Any] = {}
    for key, row in rows.items():
        id, _, qualifier = key.partition(":")
        found.setdefault(id, {})[qualifier] = row(struct)
    return {id: choice[""] if choice.keys() == {""} else choice for id, choice in found.items()}


# Rows: what happens to a segment. ``remember`` reads equal segments once; it is for what says nothing of a
# person and comes again and again: a date, a charge, a benefit.


def fill(usage: str, *, remember: bool = False) -> Row:
    """The segment's elements go to fields of the value itself. A second one goes to ``other``."""
    plan = _usage(usage)

    names = list(dict.fromkeys(use.name for use in plan if use.name))

    def bind(struct: type[Value]) -> Bound:
        at = {name: nth for nth, name in enumerate(struct.__struct_fields__)}
        taken = itemgetter(*(at[name] for name in names))
        blank = taken(struct.__struct_defaults__)
        if not remember and all(use.convert in PLAIN and not use.several for use in plan):
            return _fill_plain(plan, at, taken, blank)

        def read(segment: Sequence[str]) -> tuple[list[tuple[int, Any]], bool]:
            values, whole = _take(plan, segment[1:])
            return [(at[name], value) for name, value in values.items()], whole

        known = lru_cache(VALUES_REMEMBERED_MAX)(read) if remember else read

        def row(segment: Segment, slots: Slots, other: list[Segment]) -> None:
            if taken(slots) != blank:
                other.append(segment)
                return
            found, whole = known(tuple(segment))
            for to, value in found:
                slots[to] = value
            if not whole:
                other.append(segment)

        return row

    return bind


def _fill_plain(
    plan: Sequence["_Use"], at: dict[str, int], taken: Callable[[Slots], Any], blank: Any
) -> Bound:
    """The same for texts, numbers and days alone, without a detour: a claim begins with such a segment."""
    size = len(plan) + 1
    padding = [[""] * (size - length) for length in range(size)]
    uses = list(enumerate(plan, 1))
    texts = [(nth, at[use.name]) for nth, use in uses if use.convert is None]
    others = [(nth, at[use.name], use.convert) for nth, use in uses if use.convert is not None]
    codes = [(nth, at[use.name + "_words"], use.list) for nth, use in uses if use.list]

    def row(segment: Segment, slots: Slots, other: list[Segment]) -> None:
        if taken(slots) != blank:
            other.append(segment)
            return
        whole = len(segment) <= size or not any(segment[size:])
        padded = segment if len(segment) >= size else segment + padding[len(segment)]
        for nth, to in texts:
            slots[to] = padded[nth]
        for nth, to, convert in others:
            if text := padded[nth]:
                slots[to] = value = convert(text)
                whole = whole and value is not None
        for nth, to, list in codes:
            slots[to] = words(list, padded[nth])
        if not whole:
            other.append(segment)

    return row


def each(field: str, read: Read, *, remember: bool = False) -> Row:
    """One value a segment, added to the field's tuple."""
    if remember:
        return every(field, lambda segment, other: (read(segment, other),))

    def bind(struct: type[Value]) -> Bound:
        at = struct.__struct_fields__.index(field)

        def row(segment: Segment, slots: Slots, other: list[Segment]) -> None:
            if len(slots[at]) < SEGMENTS_PER_FIELD_MAX:
                slots[at] += (read(segment, other),)
            else:
                other.append(segment)

        return row

    return bind


def every(field: str, read: Read) -> Row:
    """Several values (a tuple) a segment, added to the field's tuple; equal segments are read once."""
    known = _remembered(read)

    def bind(struct: type[Value]) -> Bound:
        at = struct.__struct_fields__.index(field)

        def row(segment: Segment, slots: Slots, other: list[Segment]) -> None:
            found, whole = known(tuple(segment))
            if not slots[at]:
                slots[at] = found
            elif len(slots[at]) < SEGMENTS_PER_FIELD_MAX:
                slots[at] += found
            else:
                whole = False
            if not whole:
                other.append(segment)

        return row

    return bind


def once(field: str, read: Read) -> Row:
    """One value; a second segment goes to ``other``."""

    def bind(struct: type[Value]) -> Bound:
        at = struct.__struct_fields__.index(field)

        def row(segment: Segment, slots: Slots, other: list[Segment]) -> None:
            if slots[at] is None:
                slots[at] = read(segment, other)
            else:
                other.append(segment)

        return row

    return bind


def into(struct: type[Value], usage: str) -> Read:
    """Reads a segment into a value of its own."""
    plan = _usage(usage)

    def read(segment: Segment, other: list[Segment]) -> Any:
        values, whole = _take(plan, segment[1:])
        if not whole:
            other.append(segment)
        return struct(**values)

    return read


def remembered(read: Read) -> Read:
    """The same, but equal segments are read once."""
    known = _remembered(read)

    def again(segment: Segment, other: list[Segment]) -> Any:
        value, whole = known(tuple(segment))
        if not whole:
            other.append(segment)
        return value

    return again


def _remembered(read: Read) -> Callable[[tuple[str, ...]], tuple[Any, bool]]:
    """The value, and whether it holds everything. Values are frozen, so they may be shared."""

    @lru_cache(VALUES_REMEMBERED_MAX)
    def known(segment: tuple[str, ...]) -> tuple[Any, bool]:
        unread: list[Segment] = []
        return read([*segment], unread), not unread

    return known


# Kinds of elements.


class Composite:
    """Reads the components of one element into a value, or of each of its repetitions."""

    def __init__(self, struct: type[Value], usage: str, *, repeats: bool = False) -> None:
        self._struct = struct
        self._usage = _usage(usage)
        self._repeats = repeats

    def read(self, text: str) -> tuple[Any, bool]:
        """The value, and whether it holds everything."""
        if not self._repeats:
            return self._one(text)
        found = [self._one(one) for one in text.split("^")]
        return tuple(value for value, _ in found), all(whole for _, whole in found)

    def _one(self, text: str) -> tuple[Any, bool]:
        values, whole = _take(self._usage, text.split(":"))
        return self._struct(**values), whole


class _Use(NamedTuple):
    name: str
    convert: Any
    several: bool
    list: str


@lru_cache(VALUES_REMEMBERED_MAX)
def number(text: str) -> Decimal | None:
    """An amount or quantity; None where the text is none."""
    return formats.money(text)


@lru_cache(VALUES_REMEMBERED_MAX)
def day(text: str) -> date | None:
    """A day; None where the text is none."""
    return formats.x12_date(text)


@lru_cache(VALUES_REMEMBERED_MAX)
def words(list: str, code: str) -> str:
    """What a code means; empty where the list does not say."""
    return codes.load(list).get(code, "")


def parts(text: str) -> tuple[str, ...]:
    """The filled components of an element."""
    return tuple(filter(None, text.split(":")))


def repeats(text: str) -> tuple[str, ...]:
    """The filled repetitions of an element."""
    return tuple(filter(None, text.split("^")))


def _nothing(text: str) -> None:
    """An element without a field."""


_TOLD = object()
"""Stands for an element that the type of the next field tells."""


def _eight(text: str) -> object | None:
    """The form of a day."""
    return _TOLD if text == "D8" else None


KINDS: dict[str, Any] = {"parts": parts, "repeats": repeats, "d8": _eight}
"""How an element is read, by the name a usage line gives it. The parts of views add their composites."""
_MARKS = {"$": number, "!": day}
PLAIN = (None, number, day)


def _usage(line: str) -> tuple[_Use, ...]:
    return tuple(map(_use, line.split()))


def _use(word: str) -> _Use:
    name, _, kind = word.partition("=")
    if name == "-":
        return _Use("", KINDS[kind] if kind else _nothing, several=False, list="")
    name, _, list = name.partition("?")
    several = name.endswith("+")
    name = name.removesuffix("+")
    convert = KINDS[kind] if kind else _MARKS.get(name[-1])
    return _Use(name.rstrip("$!"), convert, several, list)


def _take(plan: Sequence[_Use], texts: Sequence[str]) -> tuple[dict[str, Any], bool]:
    """What elements hold, by field, and whether all of it found room."""
    values: dict[str, Any] = {}
    whole = len(texts) <= len(plan) or not any(texts[len(plan) :])
    for (name, convert, several, list), text in zip(plan, texts, strict=False):
        if not text:
            continue
        value: Any = text
        if convert.__class__ is Composite:
            value, complete = convert.read(text)
            whole = whole and complete
        elif convert is not None:
            value = convert(text)
            whole = whole and value is not None
        if value is None or value is _TOLD:
            continue
        if several:
            values[name] = (*values.get(name, ()), value)
        else:
            values[name] = value
        if list:
            _explain(values, name, list, value)
    return values, whole


def _explain(values: dict[str, Any], name: str, list: str, value: Any) -> None:
    """Put the words of a code, or of each of several, beside it."""
    told = values[name]
    if told.__class__ is tuple:
        meanings = tuple(words(list, code) for code in told)
        if any(meanings):
            values[name + "_words"] = meanings
    elif meaning := words(list, value):
        values[name + "_words"] = meaning
