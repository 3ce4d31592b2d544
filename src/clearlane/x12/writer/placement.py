"""Write fields to their places in a set and read them back, by tables that are compiled once.

A path names a loop, a segment and an element:

    2300/CLM/01            element 1 of CLM in loop 2300
    2300/CLM/05-1          component 1 of a composite
    2300/DTP:431/03        the DTP whose qualifier is 431
    2300/HI:ABK/02-2       component 2 of element 2 of the HI whose first code is an ABK
    2300/NTE#2/02          the second NTE of the loop
    2310A#2/NM1/03         the second loop 2310A
    2400/DTP:472/period    a date and the qualifier before it at once: a ``(first, last)`` pair of
                           days, written D8 when they are the same and RD8 otherwise

``get(loop, path)`` and ``put(loop, path, text)`` work on a tree; ``put`` creates what is missing, in guide order, and
fills qualifiers.

**From fields to text.** A ``Placement`` writes one *scope*: a loop with those loops below it that are not scopes of their
own. An 837 claim is four or five scopes written one after the other:

    subscriber = compile_placement(guide, "2000B", {
        "hl": "2000B/HL/01", "hl_parent": "2000B/HL/02", "hl_child": "2000B/HL/04",
        "F02_PatientNameLast": "2010BA/NM1/03", "payer_id": "2010BB/NM1/09", ...
    }, constants={"2000B/SBR/01": "P", "2010BA/NM1/02": "1"})
    claim = compile_placement(guide, "2300", {"F26_PatientAcctNumber": "2300/CLM/01", ...},
                              constants={"2300/CLM/05-2": "B"})
    other = compile_placement(guide, "2320", {...})
    line = compile_placement(guide, "2400", {"number": "2400/LX/01", "charge": "2400/SV1/02", ...})

    texts = [subscriber.text({"hl": "2", "hl_parent": "1", "hl_child": "0", ...}),
             claim.text(fields), *map(other.text, others), *map(line.text, lines)]
    pieces = wrap_sets(envelope, guide, [[header_text, billing_text, *texts]])

``text(values)`` takes only filled fields (leave out what is None or empty): clean texts, days (``date``), amounts
(``Decimal``), periods (two days). What is written:

* a segment is written if one of its fields is filled; the scope's first segment always is;
* a loop is written if one of its segments is, and then with its first segment;
* an element with exactly one code in the guide, and each constant, is written with its segment; if a syntax note pairs
  it with other elements (NM108 with NM109), only when one of those is filled; a component with its composite;
* trailing empty elements are left out; the order is the guide's, whatever the table's.

The set of filled fields is the *shape* of a claim. A shape is compiled once into a ``%`` template, so writing a claim costs
one formatting operation. A caller that knows its shapes takes the ``template(fields)`` and the ``formatter_of(type)`` of
each value, and formats by itself. ``read(loop)`` returns the filled fields as texts.

Knows guides and trees; knows no field by name.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from clearlane.kernel.limits import SHAPES_REMEMBERED_MAX
from clearlane.x12 import grammar, pattern, tree
from clearlane.x12.automaton import LoopPlan, compile_guide
from clearlane.x12.path import (
    ElementPath,
    find_loop,
    get,
    node_at,
    parse_path,
    period_element,
    put,
    value_at,
)
from clearlane.x12.writer.encode import format_day, format_money, format_period

__all__ = [
    "ElementPath", "Formatter", "Placement", "compile_placement", "formatter_of", "get", "parse_path", "picker", "put",
]  # fmt: skip

FORMATTED_VALUES_REMEMBERED_MAX = 4_096
"""Days and amounts whose texts are remembered: claims of a batch have few of them."""
Formatter = Callable[[Any], str]


def compile_placement(
    guide: grammar.Guide,
    scope: str,
    rows: Mapping[str, str],
    constants: Mapping[str, str] | None = None,
) -> "Placement":
    """Compile a placement; raise ValueError if a path has no place in the scope."""
    return Placement(guide, scope, rows, constants)


class Placement:
    """A compiled table of fields and paths for one scope; see the module documentation."""

    def __init__(
        self,
        guide: grammar.Guide,
        scope: str,
        rows: Mapping[str, str],
        constants: Mapping[str, str] | None = None,
    ) -> None:
        self.guide = guide
        self.scope = scope
        plan = _plan(compile_guide(guide).root, scope)
        self._paths = {field: parse_path(text) for field, text in rows.items()}
        self._slots = _slots(plan, self._paths, constants or {})
        self._shapes: OrderedDict[tuple[str, ...], _Shape] = OrderedDict()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that have a place here."""
        return tuple(self._paths)

    def text(self, values: Mapping[str, Any]) -> str:
        """Return the segments of the scope, joined by terminators and without one at the end.

        Raises KeyError for fields that have no place here.
        """
        key = tuple(values)
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._compile_shape(key, values)
        arguments = shape.pick(values)
        if shape.formats:
            listed = list(arguments)
            for at, write in shape.formats:
                listed[at] = write(listed[at])
            arguments = tuple(listed)
        return shape.template % arguments

    def template(self, fields: Collection[str]) -> tuple[str, list[str]]:
        """Return the ``%`` template of the segments if these fields are filled, and the fields in its order.

        Raises KeyError for fields that have no place here.
        """
        unknown = [field for field in fields if field not in self._paths]
        if unknown:
            raise KeyError(f"scope {self.scope} has no place for {', '.join(unknown)}")
        return _template(self._slots, frozenset(fields))

    def read(self, loop: tree.Loop) -> dict[str, str]:
        """Return the filled fields of a scope that was read, as texts; a period as ``D8`` text or range."""
        found = {}
        for field, where in self._paths.items():
            owner = find_loop(loop, where)
            value = "" if owner is None else value_at(owner, where)
            if value:
                found[field] = value
        return found

    def _compile_shape(self, key: tuple[str, ...], values: Mapping[str, Any]) -> "_Shape":
        """Compile and cache the template for a set of filled fields; the oldest shape is dropped."""
        template, fields = self.template(key)
        # Formatters are chosen by the types of the first values, so a field must always have the same type.
        shape = _shape(template, fields, values)
        if len(self._shapes) >= SHAPES_REMEMBERED_MAX:
            self._shapes.popitem(last=False)
        self._shapes[key] = shape
        return shape


class _Slot:
    """A segment of the scope to which a field or constant belongs."""

    __slots__ = ("chain", "constants", "fields", "first", "node", "order", "partners", "period")

    def __init__(
        self, node: grammar.SegmentSpec, order: tuple[int, ...], chain: tuple[str, ...]
    ) -> None:
        self.node = node
        self.order = order
        """Sort key: indexes in the guide and occurrence numbers, outermost first."""
        self.chain = chain
        """Names of the loop occurrences it is in, below the scope."""
        self.first = False
        """Whether it opens its loop."""
        self.fields: dict[tuple[int, int], str] = {}
        self.constants: dict[tuple[int, int], str] = {}
        self.period = 0
        self.partners = {
            number: note.elements
            for note in pattern.open_syntax_notes(node)
            if note.kind == "P"
            for number in note.elements
        }


class _Shape(NamedTuple):
    """A compiled shape: template, getter of the field values in template order, formatters by position."""

    template: str
    pick: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    formats: tuple[tuple[int, Callable[[Any], str]], ...]


def _plan(plan: LoopPlan, id: str) -> LoopPlan:
    if plan.node.id == id:
        return plan
    for child in plan.children:
        if isinstance(child, LoopPlan):
            try:
                return _plan(child, id)
            except ValueError:
                continue
    raise ValueError(f"the guide has no loop {id}")


def _slots(
    scope: LoopPlan, paths: Mapping[str, ElementPath], constants: Mapping[str, str]
) -> list[_Slot]:
    slots: dict[tuple[int, ...], _Slot] = {}
    for field, where in paths.items():
        slot = _slot(scope, where, slots)
        if not where.element:
            slot.period = period_element(slot.node)
        position = (where.element or slot.period - 1, where.component)
        if position in slot.fields:
            raise ValueError(f"{field} and {slot.fields[position]} have the same place")
        slot.fields[position] = field
    for text, value in constants.items():
        where = parse_path(text)
        _slot(scope, where, slots).constants[where.element, where.component] = value
    head = ElementPath(scope.node.id, 1, scope.head.node.id, "", 1, 1, 0)
    _slot(scope, head, slots)
    for slot in list(slots.values()):
        _add_heads(scope, slot, slots)
    for slot in slots.values():
        _fill_constants(slot)
    return [slots[order] for order in sorted(slots)]


def _slot(scope: LoopPlan, where: ElementPath, slots: dict[tuple[int, ...], _Slot]) -> _Slot:
    plans = _loop_path(scope, where.loop)
    if plans is None:
        raise ValueError(f"loop {where.loop} is not in the scope {scope.node.id}")
    node = node_at(plans[-1].node, where)
    place = next(c for c in plans[-1].children if c.node is node)
    prefix: tuple[int, ...] = ()
    chain = []
    for plan in plans[1:]:
        nth = where.loop_nth if plan is plans[-1] else 1
        prefix = (*prefix, plan.index, nth)
        chain.append(f"{plan.node.id}#{nth}")
    order = (*prefix, place.index, where.nth)
    slot = slots.get(order)
    if slot is None:
        slot = slots[order] = _Slot(node, order, tuple(chain))
        slot.first = place.index == 0
        if where.qualifier:
            slot.constants[node.key] = where.qualifier
    return slot


def _loop_path(plan: LoopPlan, id: str) -> list[LoopPlan] | None:
    if plan.node.id == id:
        return [plan]
    for child in plan.children:
        if isinstance(child, LoopPlan):
            below = _loop_path(child, id)
            if below is not None:
                return [plan, *below]
    return None


def _add_heads(scope: LoopPlan, slot: _Slot, slots: dict[tuple[int, ...], _Slot]) -> None:
    """Add the opening segments of the loops of a slot, even if no field belongs there."""
    for name in slot.chain:
        id, _, nth = name.partition("#")
        plans = _loop_path(scope, id)
        assert plans is not None, "the slot's own loops are in the scope"
        _slot(scope, ElementPath(id, int(nth), plans[-1].head.node.id, "", 1, 1, 0), slots)


def _fill_constants(slot: _Slot) -> None:
    """Add the elements for which the guide allows one code only."""
    for element in slot.node.elements:
        position = (element.number, 0)
        paired = any((n, 0) in slot.fields for n in slot.partners.get(element.number, ()))
        wanted = element.usage == "R" or (element.usage == "S" and paired)
        if wanted and len(element.codes) == 1 and position not in slot.fields:
            slot.constants.setdefault(position, element.codes[0])
        for part in element.components:
            position = (element.number, part.number)
            if part.usage == "R" and len(part.codes) == 1 and position not in slot.fields:
                slot.constants.setdefault(position, part.codes[0])


def formatter_of(type: type) -> Formatter | None:
    """Return what makes the text of a value of a type; None if it is a text."""
    if issubclass(type, Decimal):
        return _money
    if issubclass(type, date):
        return _day
    if issubclass(type, tuple):
        return _period
    return None


def picker(keys: Sequence[Any]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what picks the values of keys, or of places in a list, as one tuple."""
    if len(keys) > 1:
        return itemgetter(*keys)
    if keys:
        (key,) = keys
        return lambda values: (values[key],)
    return lambda values: ()


def _shape(template: str, fields: list[str], values: Mapping[str, Any]) -> _Shape:
    formats = tuple(
        (at, write)
        for at, field in enumerate(fields)
        if (write := formatter_of(type(values[field]))) is not None
    )
    return _Shape(template, picker(fields), formats)


def _template(slots: list[_Slot], filled: frozenset[str]) -> tuple[str, list[str]]:
    """Return the template of the slots in use, and the fields in its order."""
    filled_chains = {slot.chain for slot in slots if not filled.isdisjoint(slot.fields.values())}
    loops = {chain[:depth] for chain in filled_chains for depth in range(1, len(chain) + 1)} | {()}
    texts, order = [], []
    for slot in slots:
        in_use = not filled.isdisjoint(slot.fields.values())
        if in_use or (slot.first and slot.chain in loops):
            text, fields = _segment(slot, filled)
            texts.append(text)
            order += fields
    return "~".join(texts), order


_money = lru_cache(FORMATTED_VALUES_REMEMBERED_MAX)(format_money)
_day = lru_cache(FORMATTED_VALUES_REMEMBERED_MAX)(format_day)


def _period(days: tuple[date, date]) -> str:
    return "*".join(format_period(*days))


def _segment(slot: _Slot, filled: frozenset[str]) -> tuple[str, list[str]]:
    """Return the template of one segment, and its fields in order."""
    out, fields = [slot.node.id], []
    for element in slot.node.elements:
        if slot.period and element.number == slot.period:
            continue
        text, used = _element(slot, element, filled)
        out.append(text)
        fields += used
    while not out[-1]:
        out.pop()
    return "*".join(out), fields


def _element(
    slot: _Slot, element: grammar.ElementSpec, filled: frozenset[str]
) -> tuple[str, list[str]]:
    number = element.number
    field = slot.fields.get((number, 0))
    if field is not None:
        return ("%s", [field]) if field in filled else ("", [])
    if element.components:
        return _composite(slot, element, filled)
    constant = slot.constants.get((number, 0), "")
    if constant and not _is_constant_written(slot, number, filled):
        constant = ""
    return constant.replace("%", "%%"), []


def _is_constant_written(slot: _Slot, number: int, filled: frozenset[str]) -> bool:
    """Return whether a constant is written: with its paired fields, if any, else with its segment."""
    partners = slot.partners.get(number, ())
    fields = [field for (at, _), field in slot.fields.items() if at in partners]
    return not fields or any(field in filled for field in fields)


def _composite(
    slot: _Slot, element: grammar.ElementSpec, filled: frozenset[str]
) -> tuple[str, list[str]]:
    number = element.number
    own = {part: field for (at, part), field in slot.fields.items() if at == number}
    used = {part: field for part, field in own.items() if field in filled}
    if not used and (own or element.usage != "R"):
        return "", []
    parts = [
        "%s"
        if part.number in used
        else slot.constants.get((number, part.number), "").replace("%", "%%")
        for part in element.components
    ]
    while parts and not parts[-1]:
        parts.pop()
    return ":".join(parts), [used[n] for n in sorted(used)]
