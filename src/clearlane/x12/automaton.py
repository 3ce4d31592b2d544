"""A guide compiled for walking: which segment leads from which place to which.

The state of a walk is the last matched place. A place remembers, for each segment id and qualifier it
has met, the move that follows; the slow search that fills this memory runs once a key. Only qualifiers
that the guide knows are remembered, or hostile input would grow the memory without bound.

Knows a guide's loops and segments; knows nothing of files and findings.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

from clearlane.x12 import grammar, pattern
from clearlane.x12.rules import SET, Check, Rule, rules_for
from clearlane.x12.value_checks import watch

GUIDES_COMPILED_MAX = 64
ALWAYS = -1
"""Every bit: a loop that closes has seen at least the segment that opened it."""
UNKNOWN = "\x00"
"""Stands for every qualifier the guide does not know."""


class Place:
    """A segment at one place of the guide."""

    __slots__ = (
        "bit", "duty", "goto", "index", "match", "node", "plan", "repeat", "watch",
    )  # fmt: skip

    def __init__(self, node: grammar.Segment, plan: "Plan", index: int) -> None:
        self.node = node
        self.plan = plan
        self.index = index
        self.bit = 1 << index
        self.repeat = node.repeat
        self.goto: dict[str, Move | dict[str, Move]] = {}
        """By segment id: the move, or the moves by the segment's first element."""
        self.match: Callable[[str], object] = self._compile
        """Whether a segment's text is flawless here, as far as one regular expression can say."""
        self.watch: Callable[[list[str]], bool] | None = None
        """Whether a flawless text needs a look at its values all the same."""
        self.duty = node.id if node.id in {"HL", "SE"} else ""
        """What the walk must do here beside the match."""

    def _compile(self, text: str) -> object:
        # Most places of a guide are never met, so each expression is made on first use.
        self.match = pattern.compile(self.node).fullmatch
        self.watch = watch(self.node, self.plan.node.id)
        return self.match(text)

    def accepts(self, segment: list[str]) -> bool:
        """Whether id and qualifier are those of this place."""
        node = self.node
        return segment[0] == node.id and (
            not node.qualifiers or key_value(segment, node.key) in node.qualifiers
        )


class Plan:
    """A loop at one place of the guide."""

    __slots__ = (
        "_bits", "bit", "children", "depth", "holds_unit", "index", "inner", "is_level", "judged", "levels", "node",
        "parent", "repeat", "required", "rules", "telling", "tells", "unit",
    )  # fmt: skip

    def __init__(
        self, node: grammar.Loop, parent: "Plan | None", index: int, guide: grammar.Guide
    ) -> None:
        self.node = node
        self.parent = parent
        self.index = index
        self.bit = 1 << index
        self.repeat = node.repeat
        self.depth: int = 0 if parent is None else parent.depth + 1
        first = node.children[0]
        self.inner = 1 if isinstance(first, grammar.Segment) else 0
        """Where the children begin that do not open the loop."""
        self.children: list[Place | Plan] = [
            Place(child, self, at)
            if isinstance(child, grammar.Segment)
            else Plan(child, self, at, guide)
            for at, child in enumerate(node.children)
        ]
        self.required = sum(1 << at for at, child in enumerate(node.children) if child.usage == "R")
        self.levels = sum(
            1 << at
            for at, child in enumerate(node.children)
            if isinstance(child, grammar.Loop) and child.head.id == "HL"
        )
        """The bits of the hierarchical levels below this one."""
        self.is_level = node.head.id == "HL"
        self.tells: list[tuple[int, int]] = []
        """For a rule of the loop around: the bit of a child here, and the bit that tells it there."""
        self.telling = 0
        """The former bits together."""
        self._bits = len(self.children)
        names = (node.id,) if parent else (node.id, SET)
        self.rules: tuple[tuple[int, Check, Rule], ...] = tuple(
            (self._mask(rule.needs) or ALWAYS, rule.check, rule)
            for rule in rules_for(guide.kind, *names)
        )
        """Each rule after the bits of the children without one of which it need not run."""
        self.judged = self.is_level or bool(self.rules)
        """Whether something must be looked at when the loop closes."""
        self.unit = bool(guide.unit) and node.id == guide.unit
        self.holds_unit: bool = self.unit or any(
            child.holds_unit for child in self.children if isinstance(child, Plan)
        )

    def _mask(self, needs: tuple[str, ...]) -> int:
        """The bits of the children that a rule needs; a child's child gets a bit beyond them."""
        mask = 0
        for need in needs:
            id, _, inner = need.partition("/")
            for child in self.children:
                if child.node.id != id:
                    continue
                mask |= self._told(child, inner) if isinstance(child, Plan) and inner else child.bit
        return mask

    def _told(self, child: "Plan", id: str) -> int:
        own = sum(c.bit for c in child.children if c.node.id == id)
        bit = next((theirs for ours, theirs in child.tells if ours == own), 1 << self._bits)
        if bit == 1 << self._bits:
            self._bits += 1
            child.tells.append((own, bit))
            child.telling |= own
        return bit

    @property
    def head(self) -> Place:
        """The place of the segment that opens the loop."""
        first = self.children[0]
        return first if isinstance(first, Place) else first.head

    def opening(self) -> tuple["Plan", ...]:
        """The loops that the head opens: this one, and those whose first child is a loop."""
        first = self.children[0]
        return (self,) if isinstance(first, Place) else (self, *first.opening())

    def places(self) -> Iterator[Place]:
        """Every place of the loop and of the loops in it."""
        for child in self.children:
            if isinstance(child, Place):
                yield child
            else:
                yield from child.places()


Move = tuple[Place | None, int, tuple[Plan, ...], bool]
"""Where to, how many loops close first, which open then, and whether the order is right. Without a
place the segment has none in reach."""

NOWHERE: Move = (None, 0, (), True)


class Automaton:
    """A compiled guide."""

    __slots__ = ("_keys", "_known", "guide", "root", "start")

    def __init__(self, guide: grammar.Guide) -> None:
        self.guide = guide
        self.root = Plan(guide.root, None, 0, guide)
        self.start = self.root.head
        self._keys: dict[str, tuple[tuple[int, int], ...]] = {}
        self._known: dict[str, set[str]] = {}
        for place in self.root.places():
            self._learn(place)

    def _learn(self, place: Place) -> None:
        node = place.node
        keys = self._keys.setdefault(node.id, ())
        if node.qualifiers:
            self._known.setdefault(node.id, set()).update(node.qualifiers)
            if node.key not in keys:
                self._keys[node.id] = (*keys, node.key)

    def knows(self, id: str) -> bool:
        """Whether the segment stands anywhere in the guide."""
        return id in self._keys

    def locate(self, place: Place, segment: list[str]) -> Move:
        """The move from a place, searched for once and remembered."""
        id = segment[0]
        keys = self._keys.get(id)
        if keys is None:
            return NOWHERE
        if not keys:
            found = place.goto[id] = self._search(place, segment)
            return found
        known = self._known[id]
        values = [key_value(segment, key) for key in keys]
        name = "*".join([value if value in known else UNKNOWN for value in values])
        if keys == ((1, 0),):
            memory = place.goto.setdefault(id, {})
        else:
            # The reader's short cut looks under the bare id only, so these stay out of its way.
            memory = place.goto.setdefault(id + "*", {})
        move = memory.get(name)  # type: ignore[union-attr]
        if move is None:
            move = memory[name] = self._search(place, segment)  # type: ignore[index]
        return move

    def _search(self, place: Place, segment: list[str]) -> Move:
        """Legal moves first, from the innermost loop outwards; then moves back in a loop."""
        for pops, plan, index in _outwards(place):
            for child in plan.children[max(index, plan.inner) :]:
                move = _entry(child, segment, pops, right_order=True)
                if move is not None:
                    return move
        for pops, plan, index in _outwards(place):
            for at, child in enumerate(plan.children[plan.inner : index], plan.inner):
                # Neighbours with one segment id are one position of the standard, which sets no
                # order among them: a guide's list of REFs is a list, not a sequence.
                one_position = all(_head_id(c) == segment[0] for c in plan.children[at : index + 1])
                move = _entry(child, segment, pops, right_order=one_position)
                if move is not None:
                    return move
        return NOWHERE

    def next_twin(self, place: Place, segment: list[str]) -> Place | None:
        """A later place of the same loop that takes the same segment, for when this one is full."""
        for child in place.plan.children[place.index + 1 :]:
            if isinstance(child, Place) and child.accepts(segment):
                return child
        return None

    def guess(self, place: Place, segment: list[str], seen: list[int]) -> Move:
        """For a qualifier the guide does not know here: the place it was most likely meant for.

        ``seen`` are the masks of the open loops, innermost last. A required place not yet filled is
        taken; else the only place in the loop that has this id.
        """
        id = segment[0]
        for pops, plan, index in _outwards(place):
            mask = seen[len(seen) - 1 - pops]
            wanted = plan.required & ~mask
            for child in plan.children[max(index, plan.inner) :]:
                head = child if isinstance(child, Place) else child.head
                if head.node.id == id and wanted & child.bit:
                    return head, pops, () if head is child else child.opening(), True  # type: ignore[union-attr]
        same = [
            c
            for c in place.plan.children[place.plan.inner :]
            if isinstance(c, Place) and c.node.id == id
        ]
        if len(same) == 1:
            return same[0], 0, (), same[0].index >= place.index
        return NOWHERE


@lru_cache(maxsize=GUIDES_COMPILED_MAX)
def automaton(guide: grammar.Guide) -> Automaton:
    """The automaton of a guide, made once."""
    return Automaton(guide)


def key_value(segment: list[str], key: tuple[int, int]) -> str:
    """What stands at a key: an element, or a component of its first occurrence."""
    number, component = key
    if len(segment) <= number:
        return ""
    text = segment[number]
    if not component:
        return text
    parts = text.partition("^")[0].split(":")
    return parts[component - 1] if len(parts) >= component else ""


def _outwards(place: Place) -> Iterator[tuple[int, Plan, int]]:
    """The loops around a place, innermost first: how many close on the way, and where one stands."""
    plan: Plan | None = place.plan
    index = place.index
    pops = 0
    while plan is not None:
        yield pops, plan, index
        index = plan.index
        plan = plan.parent
        pops += 1


def _head_id(child: Place | Plan) -> str:
    return (child if isinstance(child, Place) else child.head).node.id


def _entry(child: Place | Plan, segment: list[str], pops: int, *, right_order: bool) -> Move | None:
    if isinstance(child, Place):
        return (child, pops, (), right_order) if child.accepts(segment) else None
    head = child.head
    return (head, pops, child.opening(), right_order) if head.accepts(segment) else None
