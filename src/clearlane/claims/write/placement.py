"""Place the fields of a claim in the loops of an 837, from tables of one shape for every kind of claim.

A ``LoopTable`` writes one loop of a set (a scope of ``x12.placement``). Its columns are

* ``rows``: a field and the place its value takes unchanged;
* ``computed``: a place, the function that computes its value, and the fields the value comes from;
* ``conditional``: rows and computed places that are sent only under a condition;
* ``constants``: values that never change; ``generated``: values the writer supplies (HL numbers, claim numbers);
* ``echoes``: fields that repeat another field's value, and the place of that value.

The set of filled fields is a claim's *shape*. The work for a shape is planned once and cached: a function is
not called if none of its fields is filled, and a condition is not evaluated if none of its rows could apply.
For the conditions that hold, a *plan* lists what is to be read and called. For what its functions returned, a
*layout* has the template of the segments and says which value goes where. So to write a loop is to make one list
of values and to format it once; no value is looked up by name.

Knows guides and tables; knows no field by name.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from clearlane.kernel import limits
from clearlane.x12 import grammar
from clearlane.x12.path import node_at
from clearlane.x12.writer import placement
from clearlane.x12.writer.encode import format_element


class ClaimShape:
    """The filled fields of a claim or line, with the plans cached for them.

    One instance per shape (``shape_of``), so that a plan is found without hashing the names again.
    """

    __slots__ = ("claim_names", "names", "plans")

    def __init__(self, names: tuple[str, ...], claim_names: tuple[str, ...]) -> None:
        self.names = names
        self.claim_names = claim_names
        """Fields of the claim that a line repeats; empty for a claim."""
        self.plans: dict[Any, Any] = {}
        """Cached results by loop table, and by any other key computed once per shape."""


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def shape_of(names: tuple[str, ...], claim_names: tuple[str, ...] = ()) -> ClaimShape:
    """Return the shape with these filled fields."""
    return ClaimShape(names, claim_names)


class PlacementContext(Protocol):
    """A claim or line to be written: its filled fields and those it repeats of its claim."""

    values: Mapping[str, Any]
    shape: ClaimShape

    @property
    def claim_values(self) -> Mapping[str, Any]:
        """The values of its claim, of which a line repeats some."""
        ...


C = TypeVar("C", bound=PlacementContext)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Computed(Generic[C]):
    """A place whose value a function computes; None leaves it empty.

    ``fields`` names the fields the value comes from, alone or each with the finer place it takes.
    With several places the function returns one value for each, in order.
    """

    target: str | Sequence[str]
    compute: Callable[[C], Any]
    fields: Sequence[str] | Mapping[str, str]
    always: bool = False
    """Whether to call the function even if none of the fields is filled."""
    default: Any = None
    """The value if none of the fields is filled."""

    @property
    def places(self) -> tuple[str, ...]:
        """The places that take the value or values."""
        return (self.target,) if isinstance(self.target, str) else tuple(self.target)

    def field_places(self) -> Iterator[tuple[str, str]]:
        """Yield each field with each place its value appears at."""
        if isinstance(self.fields, Mapping):
            yield from self.fields.items()
            return
        for name in self.fields:
            for place in self.places:
                yield name, place


@dataclass(frozen=True, slots=True)
class ConditionalRows(Generic[C]):
    """Rows that are sent only if certain fields are filled and a condition holds."""

    rows: Mapping[str, str] = field(default_factory=dict)
    computed: Sequence[Computed[C]] = ()
    when: Callable[[C], object] | None = None
    claim_rows: Mapping[str, str] = field(default_factory=dict)
    """Rows of a line whose values are the claim's."""
    all_of: Sequence[str] = ()
    """Fields that must all be filled."""
    any_of: Sequence[str] = ()
    """One of these fields must be filled; by default those of the rows themselves."""
    none_of: Sequence[str] = ()
    """None of these fields may be filled."""

    def may_apply(self, filled: frozenset[str]) -> bool:
        """Return whether the rows can apply to a shape; ``when`` decides for each claim."""
        own = self.any_of or [*self.rows, *self.claim_rows, *_fields(self.computed)]
        return (
            not filled.isdisjoint(own)
            and filled.issuperset(self.all_of)
            and filled.isdisjoint(self.none_of)
        )


class LoopTable(Generic[C]):
    """The placement table of one loop, compiled against its guide."""

    def __init__(
        self,
        guide: grammar.Guide,
        loop: str,
        *,
        rows: Mapping[str, str],
        conditional: Sequence[ConditionalRows[C]] = (),
        computed: Sequence[Computed[C]] = (),
        claim_rows: Mapping[str, str] | None = None,
        constants: Mapping[str, str] | None = None,
        generated: Mapping[str, str] | None = None,
        echoes: Mapping[str, str] | None = None,
        within: str = "",
    ) -> None:
        self.loop = loop
        self.within = within
        """Before the names of its fields in the claim, if they are those of a part: ``Payers[].``."""
        self.generated = dict(generated or {})
        self._rows = dict(rows)
        self._claim_rows = dict(claim_rows or {})
        self._conditional = tuple(conditional)
        self._computed = tuple(computed)
        self.echoes = dict(echoes or {})
        self.repeated_claim_fields = frozenset(self._claim_rows).union(
            *(rows.claim_rows for rows in self._conditional)
        )
        """The fields of the claim that a line repeats."""
        constants = dict(constants or {})
        paths = {**self._written(), **self.generated}
        numbered = _numbered(guide, [*paths.values(), *constants])
        self.placement = placement.compile_placement(
            guide,
            loop,
            {name: numbered[path] for name, path in paths.items()},
            {numbered[path]: value for path, value in constants.items()},
        )
        self._plans: OrderedDict[tuple[Any, ...], _Plan[C]] = OrderedDict()
        self._layouts: OrderedDict[tuple[Any, ...], _Layout] = OrderedDict()

    def text(self, context: C, *generated: str) -> str:
        """Return the segments of the loop as text; ``generated`` has the value of each generated place, in order."""
        layout, values = self._values(context)
        values += generated
        for at, write in layout.formats:
            values[at] = write(values[at])
        return layout.template % layout.pick(values)

    def values(self, context: C) -> dict[str, Any]:
        """Return the values that ``text`` writes, by field or place, without those of generated places."""
        layout, values = self._values(context)
        return {name: values[at] for name, at in layout.names.items()}

    def _values(self, context: C) -> tuple["_Layout", list[Any]]:
        """Return the layout of a claim or line, and its values, in which a function may have left out some."""
        choice: _Choice[C] | None = context.shape.plans.get(self)
        if choice is None:
            choice = context.shape.plans[self] = self._choice(context.shape)
        plan = choice.plan
        if choice.conditional:
            held = (choice, *[bool(when(context)) for when in choice.conditional])
            plan = self._plans.get(held) or self._plan(held)
        called = [compute(context) for compute in plan.single]
        counts = []
        for places, compute in plan.several:
            found = (compute(context) or ())[: len(places)]
            counts.append(len(found))
            called += found
        values = [*plan.defaults, *plan.pick(context.values)]
        if plan.claim_rows:
            claim_values = context.claim_values
            values += [claim_values[name] for name in plan.claim_rows]
        values += called
        kinds = (plan, *map(type, called), *counts)
        return self._layouts.get(kinds) or self._layout(kinds, values, counts), values

    def field_places(self) -> Iterator[tuple[str, str]]:
        """Yield every field with every place its value may appear at; its own places before echoes."""
        yield from self.own_places()
        yield from self.echoes.items()

    def own_places(self) -> Iterator[tuple[str, str]]:
        """Yield every field with every place that its own value may take."""
        for name, place in self._own_places():
            yield self.within + name, place

    def _own_places(self) -> Iterator[tuple[str, str]]:
        yield from self._rows.items()
        yield from self._claim_rows.items()
        for computed in self._computed:
            yield from computed.field_places()
        for conditional in self._conditional:
            yield from conditional.rows.items()
            yield from conditional.claim_rows.items()
            for computed in conditional.computed:
                yield from computed.field_places()

    def direct_places(self) -> dict[str, str]:
        """Return the place of every field whose value is written unchanged, by its name in its part."""
        inner = [{**each.rows, **each.claim_rows} for each in self._conditional]
        return {
            name: place
            for rows in (self._rows, self._claim_rows, *inner)
            for name, place in rows.items()
        }

    def _written(self) -> dict[str, str]:
        """Return the paths to compile, by the key of their value: a field's name, or the place itself."""
        written: dict[str, str] = {}
        computed = [*self._computed]
        for conditional in self._conditional:
            computed += conditional.computed
        by_place = {place: place for each in computed for place in each.places}
        for rows in (self.direct_places(), by_place):
            assert not written.keys() & rows.keys(), "a field and a place have different names"
            written |= rows
        return written

    def _choice(self, shape: ClaimShape) -> "_Choice[C]":
        filled = frozenset(shape.names) | frozenset(shape.claim_names)
        always = _work(self._rows, self._claim_rows, self._computed, filled)
        # Rows with the same condition are merged, so that it is evaluated once.
        conditional: dict[Callable[[C], object], _Work[C]] = {}
        for rows in self._conditional:
            if rows.may_apply(filled):
                inner = _work(rows.rows, rows.claim_rows, rows.computed, filled)
                if rows.when is None:
                    always = _merged(always, inner)
                else:
                    known = conditional.get(rows.when)
                    conditional[rows.when] = _merged(known, inner) if known else inner
        return _Choice(always, conditional)

    def _plan(self, held: tuple[Any, ...]) -> "_Plan[C]":
        """Make and remember the plan for a choice and which of its conditions hold."""
        choice, *holds = held
        inner = zip(choice.conditional.values(), holds, strict=True)
        plan = _Plan([choice.always, *(work for work, applies in inner if applies)])
        return _remember(self._plans, held, plan)

    def _layout(
        self, kinds: tuple[Any, ...], values: Sequence[Any], counts: Sequence[int]
    ) -> "_Layout":
        """Make and remember the layout for a plan, what its functions returned, and how many values each of several."""
        plan, *_ = kinds
        named = plan.positions(values, counts)
        generated = {name: at for at, name in enumerate(self.generated, len(values))}
        template, order = self.placement.template([*named, *generated])
        # Formatters are chosen by the types of the first values, so a field must always have the same type.
        formats = tuple(
            (at, write)
            for at in named.values()
            if (write := placement.formatter_of(type(values[at]))) is not None
        )
        everything = named | generated
        pick = placement.picker([everything[name] for name in order])
        return _remember(self._layouts, kinds, _Layout(template, pick, formats, named))


class _Work(NamedTuple, Generic[C]):
    """What some rows have to do for one shape."""

    defaults: dict[str, str]
    rows: tuple[str, ...]
    claim_rows: tuple[str, ...]
    single: tuple[tuple[str, Callable[[C], Any]], ...]
    """Functions with one place."""
    several: tuple[tuple[tuple[str, ...], Callable[[C], Any]], ...]
    """Functions with several places."""


class _Choice(Generic[C]):
    """The work for one shape: what is always done, and what under each condition."""

    __slots__ = ("always", "conditional", "plan")

    def __init__(
        self, always: _Work[C], conditional: Mapping[Callable[[C], object], _Work[C]]
    ) -> None:
        self.always = always
        self.conditional = conditional
        self.plan = _Plan([always])
        """The plan if no condition holds."""


class _Plan(Generic[C]):
    """Works done one after the other, as one list of values: defaults, fields, fields of the claim, functions."""

    __slots__ = ("_names", "_ranks", "claim_rows", "defaults", "pick", "several", "single")

    def __init__(self, works: Sequence[_Work[C]]) -> None:
        self.defaults = [text for work in works for text in work.defaults.values()]
        self.pick = placement.picker([name for work in works for name in work.rows])
        self.claim_rows = tuple(name for work in works for name in work.claim_rows)
        self.single = [compute for work in works for _, compute in work.single]
        self.several = [each for work in works for each in work.several]
        ranked = list(enumerate(works))
        # The name of each value, and which work it is of; functions with several values come last.
        self._names = [
            *((rank, name) for rank, work in ranked for name in work.defaults),
            *((rank, name) for rank, work in ranked for name in work.rows),
            *((rank, name) for rank, work in ranked for name in work.claim_rows),
            *((rank, name) for rank, work in ranked for name, _ in work.single),
        ]
        self._ranks = [rank for rank, work in ranked for _ in work.several]

    def positions(self, values: Sequence[Any], counts: Sequence[int]) -> dict[str, int]:
        """Return where the value of each name is; ``counts`` says how many each function with several gave.

        A value of a later work replaces one of an earlier work, unless it is None.
        """
        several = zip(self._ranks, self.several, counts, strict=True)
        names = [
            *self._names,
            *((rank, name) for rank, (places, _), count in several for name in places[:count]),
        ]
        found = [
            (rank, name, at) for at, (rank, name) in enumerate(names) if values[at] is not None
        ]
        found.sort(key=itemgetter(0))
        return {name: at for _, name, at in found}


class _Layout(NamedTuple):
    """The template of a loop, what picks its values from the list of values, and what makes texts of them."""

    template: str
    pick: Callable[[Sequence[str]], tuple[str, ...]]
    formats: tuple[tuple[int, placement.Formatter], ...]
    names: dict[str, int]
    """Where the value of each name is."""


L = TypeVar("L", bound=PlacementContext)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementTables(Generic[C, L]):
    """The placement tables of one kind of claim: ``C`` is a claim to be written, ``L`` one of its lines."""

    guide: grammar.Guide
    billing: LoopTable[C]
    subscriber: LoopTable[C]
    patient: LoopTable[C]
    claim: LoopTable[C]
    other: LoopTable[C]
    line: LoopTable[L]
    not_sent: Mapping[str, str]
    """Fields that are stored and never sent, each with its reason."""
    place: Callable[[C], str]
    """Returns the claim's place of service."""

    @property
    def loops(self) -> tuple[LoopTable[Any], ...]:
        """The tables, from the billing provider down to the line."""
        return (self.billing, self.subscriber, self.patient, self.claim, self.other, self.line)


def _work(
    rows: Mapping[str, str],
    claim_rows: Mapping[str, str],
    computed: Sequence[Computed[C]],
    filled: frozenset[str],
) -> _Work[C]:
    called: list[Computed[C]] = []
    skipped: list[Computed[C]] = []
    for one in computed:
        (called if one.always or not filled.isdisjoint(one.fields) else skipped).append(one)
    return _Work(
        {
            place: format_element(one.default)
            for one in skipped
            if one.default is not None
            for place in one.places
        },
        tuple(name for name in rows if name in filled),
        tuple(name for name in claim_rows if name in filled),
        tuple((one.target, one.compute) for one in called if isinstance(one.target, str)),
        tuple((one.places, one.compute) for one in called if not isinstance(one.target, str)),
    )


def _merged(one: _Work[C], other: _Work[C]) -> _Work[C]:
    return _Work(
        one.defaults | other.defaults,
        one.rows + other.rows,
        one.claim_rows + other.claim_rows,
        one.single + other.single,
        one.several + other.several,
    )


def _remember(known: OrderedDict[tuple[Any, ...], V], key: tuple[Any, ...], value: V) -> V:
    """Keep a plan or layout; the oldest is dropped."""
    if len(known) >= limits.SHAPES_REMEMBERED_MAX:
        known.popitem(last=False)
    known[key] = value
    return value


def _fields(computed: Sequence[Computed[C]]) -> list[str]:
    return [name for one in computed for name in one.fields]


def _numbered(guide: grammar.Guide, paths: Sequence[str]) -> dict[str, str]:
    """Return each path as the X12 writer takes it, with the occurrence number of its segment.

    Segments that differ only in their qualifier (REF*0B, REF*G2) repeat one segment of the guide, so each
    qualifier gets an occurrence number, in the order of the table.
    """
    ranks: dict[tuple[str, int, int], dict[str, int]] = {}
    out: dict[str, str] = {}
    for text in paths:
        where = placement.parse_path(text)
        if not where.qualifier:
            out[text] = text
            continue
        node = node_at(_loop(guide.root, where.loop), where)
        rank = ranks.setdefault((where.loop, where.loop_nth, id(node)), {})
        number = rank.setdefault(where.qualifier, len(rank) + 1)
        head, element = text.rsplit("/", 1)
        out[text] = text if number == 1 else f"{head}#{number}/{element}"
    return out


def _loop(loop: grammar.LoopSpec, id: str) -> grammar.LoopSpec:
    found = _find(loop, id)
    if found is None:
        raise ValueError(f"the guide has no loop {id}")
    return found


def _find(loop: grammar.LoopSpec, id: str) -> grammar.LoopSpec | None:
    if loop.id == id:
        return loop
    inner = (_find(child, id) for child in loop.children if isinstance(child, grammar.LoopSpec))
    return next((found for found in inner if found), None)
