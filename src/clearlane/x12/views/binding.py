"""Bind the segments of a loop to the fields of a view, by tables.

A ``ViewBuilder`` makes one view from one loop. Its table says for each segment which field takes it; a segment without a
field, or more segments than a field holds, are kept in the view's ``other``:

    SERVICE = ViewBuilder(ServiceView, {
        "SVC": fill("procedure=procedure charged$ paid$ revenue units$"),   # elements to fields of the view
        "DTM": append("dates", read_dtm),                                   # one value per segment, in a tuple
        "NM1:QC": set_once("patient", read_party_name),                     # by the segment's first element
    }, loops={"2130": ChildLoop("parts", PART)})

A usage line has one word per element: ``name`` a text, ``name$`` a number, ``name!`` a day, ``name+`` a text added to a
tuple, ``name?list`` a code whose meaning goes to ``name_words``, ``name=reader`` one of ``ELEMENT_READERS``, ``-`` no field.
If an element has no field, or cannot be read as its type, the whole segment goes to ``other`` too: nothing is lost.

While a loop is read its view is a list of slots, one per field: bindings write by index, and the struct is made in one
step at the end. Knows segments, trees and code lists; knows no guide.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import msgspec

from clearlane.kernel import formats
from clearlane.kernel.limits import VALUES_REMEMBERED_MAX
from clearlane.kernel.redacted_repr import show_filled
from clearlane.x12 import codes
from clearlane.x12.tree import Item, Loop, Segment

SEGMENTS_PER_FIELD_MAX = 1_000


Slots: TypeAlias = list[Any]
"""The fields of a view while it is read, in their order."""
SegmentHandler: TypeAlias = Callable[[Segment, Slots, list[Segment]], None]
"""Writes a segment to the slots, and appends it to the list if it could not be read completely."""
SegmentReader: TypeAlias = Callable[[Segment, list[Segment]], Any]
"""Returns the value of one segment, and appends it to the list if it could not be read completely."""


class View(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The base of every view: a frozen struct whose ``repr`` names the filled fields and never their values."""

    __repr__ = show_filled


Binding: TypeAlias = Callable[[type[View]], SegmentHandler]
"""Makes the handler of a segment for a view type, once the positions of its fields are known."""
Bindings: TypeAlias = Mapping[str, Binding]


class ChildLoop(NamedTuple):
    """The field that takes the view of a child loop, once or as often as it occurs."""

    field: str
    builder: "ViewBuilder"
    many: bool = True


class ViewBuilder:
    """A builder of one type of view from loops."""

    def __init__(
        self,
        struct: type[View],
        bindings: Bindings,
        *,
        loops: Mapping[str, ChildLoop] | None = None,
        inline: Iterable[str] = (),
        party: "ViewBuilder | None" = None,
        finish: Callable[[Slots], None] | None = None,
    ) -> None:
        """Compile the tables of a view.

        ``inline`` loops are read as if their segments were in this loop; ``party`` reads the segments it knows into the field of
        that name; ``finish`` computes further fields.
        """
        self.struct = struct
        self.loops = dict(loops or {})
        self.inline = frozenset(inline)
        self.bindings = _dispatch(struct, bindings)
        """By segment id: a handler, or handlers by the segment's first element."""
        self.indexes = {name: at for at, name in enumerate(struct.__struct_fields__)}
        """The position of each field."""
        self.template = list(struct.__struct_defaults__)
        """The slots before anything is read."""
        assert len(self.template) == len(self.indexes), "every field has a default"
        self._party = party
        self._party_bindings = party.bindings if party else {}
        by_id = not any(handler.__class__ is dict for handler in self._party_bindings.values())
        assert by_id, "a party binds segments by their id alone"
        self._finish = finish
        self._repeated = {
            id: (self.indexes[child.field], child.builder.build)
            for id, child in self.loops.items()
            if child.many
        }
        """By id of a child loop that may repeat: the index of its field, and what makes its view."""
        self._lists = sorted({at for at, _ in self._repeated.values()})

    def __call__(self, loop: Loop) -> Any:
        """Return the view of a loop."""
        return self.build(loop.items)

    def build(self, items: Iterable[Item]) -> Any:
        """Return the view of segments and loops."""
        slots, party = self.template.copy(), self._party
        other: list[Segment] = []
        if party is None:
            self._put(items, slots, None, other)
        else:
            party_slots = party.template.copy()
            self._put(items, slots, party_slots, other)
            if party_slots != party.template:
                slots[self.indexes["party"]] = party.struct(*party_slots)
        if other:
            slots[self.indexes["other"]] = tuple(other)
        for at in self._lists:
            slots[at] = tuple(slots[at])
        if self._finish is not None:
            self._finish(slots)
        return self.struct(*slots)

    def _put(
        self, items: Iterable[Item], slots: Slots, party: Slots | None, other: list[Segment]
    ) -> None:
        """Read segments and loops into the slots, or into those of the party."""
        # The hot loop of every view, written out: a call for each segment would cost a tenth of the speed.
        bindings, repeated, party_bindings = self.bindings, self._repeated, self._party_bindings
        for item in items:
            # Not ``isinstance(item, Loop)``: on a struct that takes eight times as long.
            if not isinstance(item, list):
                child = repeated.get(item.node.id)
                if child is None:
                    self._put_single_loop(item, slots, party, other)
                else:
                    at, build = child
                    if slots[at]:
                        slots[at].append(build(item.items))
                    else:
                        slots[at] = [build(item.items)]
                continue
            handler = bindings.get(item[0])
            if handler.__class__ is dict:
                handler = handler.get(item[1] if len(item) > 1 else "") or handler.get("")
            if handler is not None:
                handler(item, slots, other)
                continue
            handler = party_bindings.get(item[0])
            if handler is not None:
                handler(item, party, other)
            else:
                other.append(item)

    def _put_single_loop(
        self, loop: Loop, slots: Slots, party: Slots | None, other: list[Segment]
    ) -> None:
        """Read a loop whose field takes one, or that is read as if its segments were in this loop."""
        child = self.loops.get(loop.node.id)
        if child is None and loop.node.id in self.inline:
            self._put(loop.items, slots, party, other)
        elif child is not None and slots[self.indexes[child.field]] is None:
            slots[self.indexes[child.field]] = child.builder(loop)
        else:
            other.extend(loop.all_segments())


def _dispatch(struct: type[View], bindings: Bindings) -> dict[str, Any]:
    """Return by segment id a handler, or handlers by first element with the one for all others under ""."""
    found: dict[str, Any] = {}
    for key, binding in bindings.items():
        id, _, qualifier = key.partition(":")
        found.setdefault(id, {})[qualifier] = binding(struct)
    return {id: choice[""] if choice.keys() == {""} else choice for id, choice in found.items()}


# Bindings. With ``cache`` equal segments are read once: for frequent segments without personal data, such as a date,
# a charge or a benefit.


def fill(usage: str, *, cache: bool = False) -> Binding:
    """Bind the elements of a segment to fields of the view itself. A second such segment goes to ``other``."""
    plan = _parse_usage(usage)

    names = list(dict.fromkeys(use.name for use in plan if use.name))

    def bind(struct: type[View]) -> SegmentHandler:
        at = {name: nth for nth, name in enumerate(struct.__struct_fields__)}
        current = itemgetter(*(at[name] for name in names))
        defaults = current(struct.__struct_defaults__)
        if not cache and all(use.convert in PLAIN and not use.several for use in plan):
            return _fill_plain(plan, struct, current, defaults)

        template = list(struct.__struct_defaults__)

        def read(*segment: str) -> tuple[Slots, list[int], bool]:
            values, complete = _read_elements(plan, segment[1:])
            filled = template.copy()
            for name, value in values.items():
                filled[at[name]] = value
            return filled, [at[name] for name in values], complete

        read_cached = lru_cache(VALUES_REMEMBERED_MAX)(read) if cache else read

        def handler(segment: Segment, slots: Slots, other: list[Segment]) -> None:
            # Usually it is the first segment of its loop: then all slots are set at once.
            if slots == template:
                slots[:], _, complete = read_cached(*segment)
            elif current(slots) != defaults:
                complete = False
            else:
                filled, indexes, complete = read_cached(*segment)
                for to in indexes:
                    slots[to] = filled[to]
            if not complete:
                other.append(segment)

        return handler

    return bind


def _fill_plain(
    plan: Sequence["_ElementUse"],
    struct: type[View],
    current: Callable[[Slots], Any],
    defaults: Any,
) -> SegmentHandler:
    """Return a faster handler for texts, numbers and days only, as in the first segment of a claim."""
    at = {name: nth for nth, name in enumerate(struct.__struct_fields__)}
    template = list(struct.__struct_defaults__)
    size = len(plan) + 1
    padding = [[""] * (size - length) for length in range(size)]
    uses = list(enumerate(plan, 1))
    texts = [(nth, at[use.name]) for nth, use in uses if use.convert is None]
    others = [(nth, at[use.name], use.convert) for nth, use in uses if use.convert is not None]
    codes = [(nth, at[use.name + "_words"], use.list) for nth, use in uses if use.list]

    def handler(segment: Segment, slots: Slots, other: list[Segment]) -> None:
        if slots != template and current(slots) != defaults:
            other.append(segment)
            return
        complete = len(segment) <= size or not any(segment[size:])
        padded = segment if len(segment) >= size else segment + padding[len(segment)]
        for nth, to in texts:
            slots[to] = padded[nth]
        for nth, to, convert in others:
            if text := padded[nth]:
                slots[to] = value = convert(text)
                complete = complete and value is not None
        for nth, to, list in codes:
            slots[to] = code_words(list, padded[nth])
        if not complete:
            other.append(segment)

    return handler


def append(field: str, read: SegmentReader, *, cache: bool = False) -> Binding:
    """Bind each segment to one value, appended to the field's tuple."""
    if cache:
        return extend(field, lambda segment, other: (read(segment, other),))

    def bind(struct: type[View]) -> SegmentHandler:
        at = struct.__struct_fields__.index(field)

        def handler(segment: Segment, slots: Slots, other: list[Segment]) -> None:
            if len(slots[at]) < SEGMENTS_PER_FIELD_MAX:
                slots[at] += (read(segment, other),)
            else:
                other.append(segment)

        return handler

    return bind


def extend(field: str, read: SegmentReader) -> Binding:
    """Bind each segment to several values, appended to the field's tuple; equal segments are read once."""
    read_cached = _cached_reader(read)

    def bind(struct: type[View]) -> SegmentHandler:
        at = struct.__struct_fields__.index(field)

        def handler(segment: Segment, slots: Slots, other: list[Segment]) -> None:
            found, complete = read_cached(*segment)
            before = slots[at]
            if not before:
                slots[at] = found
            elif len(before) < SEGMENTS_PER_FIELD_MAX:
                slots[at] = before + found
            else:
                complete = False
            if not complete:
                other.append(segment)

        return handler

    return bind


def set_once(field: str, read: SegmentReader) -> Binding:
    """Bind a segment to one value of a field. A second such segment goes to ``other``."""

    def bind(struct: type[View]) -> SegmentHandler:
        at = struct.__struct_fields__.index(field)

        def handler(segment: Segment, slots: Slots, other: list[Segment]) -> None:
            if slots[at] is None:
                slots[at] = read(segment, other)
            else:
                other.append(segment)

        return handler

    return bind


def read_into(struct: type[View], usage: str) -> SegmentReader:
    """Return a reader of a segment into a view of its own."""
    plan = _parse_usage(usage)

    def read(segment: Segment, other: list[Segment]) -> Any:
        values, complete = _read_elements(plan, segment[1:])
        if not complete:
            other.append(segment)
        return struct(**values)

    return read


def cached(read: SegmentReader) -> SegmentReader:
    """Return a reader that reads equal segments once."""
    read_cached = _cached_reader(read)

    def read_once(segment: Segment, other: list[Segment]) -> Any:
        value, complete = read_cached(*segment)
        if not complete:
            other.append(segment)
        return value

    return read_once


def _cached_reader(read: SegmentReader) -> Callable[..., tuple[Any, bool]]:
    """Return a cached reader of a value and whether it is complete. Views are frozen, so they can be shared."""

    # The elements are the arguments, and so the key of the cache without a tuple around them.
    @lru_cache(VALUES_REMEMBERED_MAX)
    def read_cached(*segment: str) -> tuple[Any, bool]:
        unread: list[Segment] = []
        return read([*segment], unread), not unread

    return read_cached


# Readers of elements.


class CompositeReader:
    """A reader of the components of one element, or of each of its repetitions, into a view."""

    def __init__(self, struct: type[View], usage: str, *, repeats: bool = False) -> None:
        self._struct = struct
        self._usage = _parse_usage(usage)
        self._repeats = repeats

    def read(self, text: str) -> tuple[Any, bool]:
        """Return the view, and whether it is complete."""
        if not self._repeats:
            return self._one(text)
        found = [self._one(one) for one in text.split("^")]
        return tuple(value for value, _ in found), all(complete for _, complete in found)

    def _one(self, text: str) -> tuple[Any, bool]:
        values, complete = _read_elements(self._usage, text.split(":"))
        return self._struct(**values), complete


class _ElementUse(NamedTuple):
    """One parsed word of a usage line."""

    name: str
    convert: Any
    several: bool
    list: str


@lru_cache(VALUES_REMEMBERED_MAX)
def parse_number(text: str) -> Decimal | None:
    """Return an amount or quantity; None if the text is none."""
    return formats.parse_amount(text)


@lru_cache(VALUES_REMEMBERED_MAX)
def parse_day(text: str) -> date | None:
    """Return a day; None if the text is none."""
    return formats.parse_x12_date(text)


@lru_cache(VALUES_REMEMBERED_MAX)
def code_words(list: str, code: str) -> str:
    """Return the meaning of a code; empty if its list has none."""
    return codes.load(list).get(code, "")


def split_parts(text: str) -> tuple[str, ...]:
    """Return the filled components of an element."""
    return tuple(filter(None, text.split(":")))


def split_repeats(text: str) -> tuple[str, ...]:
    """Return the filled repetitions of an element."""
    return tuple(filter(None, text.split("^")))


def _no_field(text: str) -> None:
    """Read an element without a field: None marks the segment as incomplete."""


_IMPLIED = object()
"""The value of an element that the type of the next field implies."""


def _read_d8(text: str) -> object | None:
    """Read the date format D8, which is implied by a field of type ``date``."""
    return _IMPLIED if text == "D8" else None


ELEMENT_READERS: dict[str, Any] = {"parts": split_parts, "repeats": split_repeats, "d8": _read_d8}
"""Readers of elements by the name used in usage lines. The modules of views add their composites."""
_MARKS = {"$": parse_number, "!": parse_day}
PLAIN = (None, parse_number, parse_day)


def _parse_usage(line: str) -> tuple[_ElementUse, ...]:
    return tuple(map(_parse_word, line.split()))


def _parse_word(word: str) -> _ElementUse:
    name, _, kind = word.partition("=")
    if name == "-":
        return _ElementUse("", ELEMENT_READERS[kind] if kind else _no_field, several=False, list="")
    name, _, list = name.partition("?")
    several = name.endswith("+")
    name = name.removesuffix("+")
    convert = ELEMENT_READERS[kind] if kind else _MARKS.get(name[-1])
    return _ElementUse(name.rstrip("$!"), convert, several, list)


def _read_elements(
    plan: Sequence[_ElementUse], texts: Sequence[str]
) -> tuple[dict[str, Any], bool]:
    """Return the values of elements by field, and whether every element was read."""
    values: dict[str, Any] = {}
    complete = len(texts) <= len(plan) or not any(texts[len(plan) :])
    for (name, convert, several, list), text in zip(plan, texts, strict=False):
        if not text:
            continue
        value: Any = text
        if convert.__class__ is CompositeReader:
            value, all_read = convert.read(text)
            complete = complete and all_read
        elif convert is not None:
            value = convert(text)
            complete = complete and value is not None
        if value is None or value is _IMPLIED:
            continue
        if several:
            values[name] = (*values.get(name, ()), value)
        else:
            values[name] = value
        if list:
            _add_words(values, name, list, value)
    return values, complete


def _add_words(values: dict[str, Any], name: str, list: str, value: Any) -> None:
    """Add the meaning of a code, or of each of several, beside it."""
    codes_found = values[name]
    if codes_found.__class__ is tuple:
        meanings = tuple(code_words(list, code) for code in codes_found)
        if any(meanings):
            values[name + "_words"] = meanings
    elif meaning := code_words(list, value):
        values[name + "_words"] = meaning
