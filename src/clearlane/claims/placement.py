"""Tables of fields and places, and how they are carried out: the part that both kinds of claim share.

A ``Scope`` writes one loop of a set (``x12.placement`` tells what a scope is). Its table says

* ``rows``: a field and the place its value takes as it is;
* ``made``: a place whose value is worked out, the function that does it, and the fields it tells;
* ``blocks``: rows and made places that are sent only when a question is answered with yes;
* ``constants``: what is always the same; ``ours``: what the house itself says there (levels, numbers);
* ``echoes``: fields that say again what another field has said, and where that stands.

Which fields are filled is a claim's *shape*. What is to be done for a shape is worked out once: a
function of no filled field is never called, and a block without a filled field never asked.

Knows guides and tables; knows no field by name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from clearlane.kernel import limits
from clearlane.x12 import grammar
from clearlane.x12 import placement as x12_placement
from clearlane.x12.path import node_at


class Shape:
    """Which fields are filled, and what is to be done then: one value a shape, so that a look-up costs little."""

    __slots__ = ("above", "names", "plans")

    def __init__(self, names: tuple[str, ...], above: tuple[str, ...]) -> None:
        self.names = names
        self.above = above
        """Fields of the claim that a line repeats; none elsewhere."""
        self.plans: dict[Any, Any] = {}
        """By scope, and for whoever else works something out once a shape."""


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def shape_of(names: tuple[str, ...], above: tuple[str, ...] = ()) -> Shape:
    """The shape with these filled fields."""
    return Shape(names, above)


class Told(Protocol):
    """What is written: its own filled fields and those of the claim around it."""

    given: Mapping[str, Any]
    above: Mapping[str, Any]
    shape: Shape


C = TypeVar("C", bound=Told)


@dataclass(frozen=True, slots=True)
class Made(Generic[C]):
    """A place whose value is worked out; None leaves it empty.

    ``tells`` names the fields the value comes from: alone, or each with the finer place it takes.
    Several places take the values of one function in turn.
    """

    at: str | Sequence[str]
    make: Callable[[C], Any]
    tells: Sequence[str] | Mapping[str, str]
    always: bool = False
    """Whether there is something to work out even if none of the fields is filled."""
    default: Any = None
    """What is said where none of the fields is filled."""

    @property
    def places(self) -> tuple[str, ...]:
        """Where the value or values go."""
        return (self.at,) if isinstance(self.at, str) else tuple(self.at)

    def told(self) -> Iterator[tuple[str, str]]:
        """Each field with each place it is told at."""
        if isinstance(self.tells, Mapping):
            yield from self.tells.items()
            return
        for name in self.tells:
            for at in self.places:
                yield name, at


@dataclass(frozen=True, slots=True)
class Block(Generic[C]):
    """Rows that are sent only sometimes: by the fields that are filled, and by a question."""

    rows: Mapping[str, str] = field(default_factory=dict)
    made: Sequence[Made[C]] = ()
    when: Callable[[C], object] | None = None
    above: Mapping[str, str] = field(default_factory=dict)
    """Rows whose values are the claim's, on a line."""
    given: Sequence[str] = ()
    """Fields that must all be filled."""
    one_of: Sequence[str] = ()
    """Fields of which one must be filled."""
    lacking: Sequence[str] = ()
    """Fields of which none may be filled."""

    def is_live(self, filled: frozenset[str]) -> bool:
        """Whether there may be something to send for a shape."""
        own = self.one_of or [*self.rows, *self.above, *_fields(self.made)]
        return (
            not filled.isdisjoint(own)
            and filled.issuperset(self.given)
            and filled.isdisjoint(self.lacking)
        )


class Scope(Generic[C]):
    """The table of one loop, carried out."""

    def __init__(
        self,
        guide: grammar.Guide,
        loop: str,
        *,
        rows: Mapping[str, str],
        blocks: Sequence[Block[C]] = (),
        made: Sequence[Made[C]] = (),
        above: Mapping[str, str] | None = None,
        constants: Mapping[str, str] | None = None,
        ours: Mapping[str, str] | None = None,
        echoes: Mapping[str, str] | None = None,
    ) -> None:
        self.loop = loop
        self.ours = dict(ours or {})
        self._rows = dict(rows)
        self._above = dict(above or {})
        self._blocks = tuple(blocks)
        self._made = tuple(made)
        self.echoes = dict(echoes or {})
        self.higher = frozenset(self._above).union(*(block.above for block in self._blocks))
        """The fields of the claim that a line needs."""
        constants = dict(constants or {})
        paths = {**self._written(), **self.ours}
        numbered = _numbered(guide, [*paths.values(), *constants])
        self.placement = x12_placement.compile(
            guide,
            loop,
            {name: numbered[path] for name, path in paths.items()},
            {numbered[path]: value for path, value in constants.items()},
        )

    def values(self, told: C) -> dict[str, Any]:
        """What is to be written, by field or place."""
        plan: _Plan[C] | None = told.shape.plans.get(self)
        if plan is None:
            plan = told.shape.plans[self] = self._learn(told.shape)
        values = plan.defaults.copy()
        _carry_out(plan, told, values)
        for when, inner in plan.blocks:
            if when(told):
                values.update(inner.defaults)
                _carry_out(inner, told, values)
        return values

    def text(self, told: C, **ours: str) -> str:
        """The segments of the scope."""
        values = self.values(told)
        values.update(ours)
        return self.placement.text(values)

    def told(self) -> Iterator[tuple[str, str]]:
        """Every field with every place it may be told at; the field's own places before echoes."""
        yield from self.own()
        yield from self.echoes.items()

    def own(self) -> Iterator[tuple[str, str]]:
        """Every field with every place that it may take itself."""
        yield from self._rows.items()
        yield from self._above.items()
        for made in self._made:
            yield from made.told()
        for block in self._blocks:
            yield from block.rows.items()
            yield from block.above.items()
            for made in block.made:
                yield from made.told()

    def straight(self) -> dict[str, str]:
        """Every field whose value is written as it is, with its place."""
        blocks = [{**block.rows, **block.above} for block in self._blocks]
        return {
            name: at for rows in (self._rows, self._above, *blocks) for name, at in rows.items()
        }

    def _written(self) -> dict[str, str]:
        """What the placement is compiled from: fields and places by the name their value goes under."""
        written: dict[str, str] = {}
        made = [*self._made, *(made for block in self._blocks for made in block.made)]
        for rows in (self.straight(), {at: at for one in made for at in one.places}):
            assert not written.keys() & rows.keys(), "a field and a place have different names"
            written |= rows
        return written

    def _learn(self, shape: Shape) -> "_Plan[C]":
        filled = frozenset(shape.names) | frozenset(shape.above)
        plan = _plan(self._rows, self._above, self._made, filled)
        # Blocks with the same question are one, and the question is asked once.
        asked: dict[Callable[[C], object], _Plan[C]] = {}
        for block in self._blocks:
            if block.is_live(filled):
                inner = _plan(block.rows, block.above, block.made, filled)
                if block.when is None:
                    plan = _both(plan, inner)
                else:
                    known = asked.get(block.when)
                    asked[block.when] = _both(known, inner) if known else inner
        return plan._replace(blocks=tuple(asked.items()))


class _Plan(NamedTuple, Generic[C]):
    """What there is to do for one shape."""

    defaults: dict[str, Any]
    rows: tuple[str, ...]
    above: tuple[str, ...]
    made: tuple[tuple[str, Callable[[C], Any]], ...]
    spread: tuple[tuple[tuple[str, ...], Callable[[C], Any]], ...]
    blocks: tuple[tuple[Callable[[C], object], "_Plan[C]"], ...] = ()


def _carry_out(plan: _Plan[C], told: C, values: dict[str, Any]) -> None:
    given = told.given
    for name in plan.rows:
        values[name] = given[name]
    for name in plan.above:
        values[name] = told.above[name]
    for at, make in plan.made:
        value = make(told)
        if value is not None:
            values[at] = value
    for places, spread in plan.spread:
        for at, value in zip(places, spread(told) or (), strict=False):
            if value is not None:  # a comprehension costs more than it saves here
                values[at] = value  # noqa: PERF403


def _plan(
    rows: Mapping[str, str],
    above: Mapping[str, str],
    made: Sequence[Made[C]],
    filled: frozenset[str],
) -> _Plan[C]:
    live: list[Made[C]] = []
    idle: list[Made[C]] = []
    for one in made:
        (live if one.always or not filled.isdisjoint(one.tells) else idle).append(one)
    return _Plan(
        {at: one.default for one in idle if one.default is not None for at in one.places},
        tuple(name for name in rows if name in filled),
        tuple(name for name in above if name in filled),
        tuple((one.at, one.make) for one in live if isinstance(one.at, str)),
        tuple((one.places, one.make) for one in live if not isinstance(one.at, str)),
    )


def _both(one: _Plan[C], other: _Plan[C]) -> _Plan[C]:
    return _Plan(
        one.defaults | other.defaults,
        one.rows + other.rows,
        one.above + other.above,
        one.made + other.made,
        one.spread + other.spread,
    )


def _fields(made: Sequence[Made[C]]) -> list[str]:
    return [name for one in made for name in one.tells]


def _numbered(guide: grammar.Guide, paths: Sequence[str]) -> dict[str, str]:
    """Each path as the writer wants it.

    Segments of one place of a guide that differ only in their qualifier (REF*0B, REF*G2) are occurrences of
    that place, so each qualifier gets a number of its own, in the order of the table.
    """
    ranks: dict[tuple[str, int, int], dict[str, int]] = {}
    out: dict[str, str] = {}
    for text in paths:
        where = x12_placement.path(text)
        if not where.qualifier:
            out[text] = text
            continue
        node = node_at(_loop(guide.root, where.loop), where)
        rank = ranks.setdefault((where.loop, where.loop_nth, id(node)), {})
        number = rank.setdefault(where.qualifier, len(rank) + 1)
        head, element = text.rsplit("/", 1)
        out[text] = text if number == 1 else f"{head}#{number}/{element}"
    return out


def _loop(loop: grammar.Loop, id: str) -> grammar.Loop:
    found = _find(loop, id)
    if found is None:
        raise ValueError(f"the guide has no loop {id}")
    return found


def _find(loop: grammar.Loop, id: str) -> grammar.Loop | None:
    if loop.id == id:
        return loop
    inner = (_find(child, id) for child in loop.children if isinstance(child, grammar.Loop))
    return next((found for found in inner if found), None)
