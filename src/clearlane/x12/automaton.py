"""A guide compiled to an automaton: which segment leads from which place to which.

The state of a parse is the last matched place. Each place caches, by segment id and qualifier, the move that
follows; the slow search that fills this cache runs once per key. Only qualifiers that the guide knows are cached,
or hostile input would grow the cache without bound.

A loop's children are numbered, and a set of children is one integer with a bit per child. "Which required children
are missing" and "may this rule apply" are therefore one AND each when the loop closes.

Knows a guide's loops and segments; does not know files and findings.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

from clearlane.x12 import grammar, pattern
from clearlane.x12.checker.value_checks import compile_quick_check
from clearlane.x12.rules import SET, Check, LoopRule, rules_for

GUIDES_COMPILED_MAX = 64
QUALIFIERS_REMEMBERED_MAX = 1_024
ALWAYS = -1
"""Every bit: a loop that closes has seen at least the segment that opened it."""
UNKNOWN_QUALIFIER = "\x00"
"""The cache key for every qualifier that the guide does not know."""


class SegmentPlace:
    """A segment at one place of the guide: a state of the automaton."""

    __slots__ = (
        "bit",
        "guesses",
        "index",
        "match",
        "moves",
        "node",
        "plan",
        "quick_check",
        "repeat",
        "special_id",
    )  # fmt: skip

    def __init__(self, node: grammar.SegmentSpec, plan: "LoopPlan", index: int) -> None:
        self.node = node
        self.plan = plan
        self.index = index
        self.bit = 1 << index
        self.repeat = node.repeat
        self.moves: dict[str, Move | dict[str, Move]] = {}
        """By segment id: the move, or the moves by the segment's first element."""
        self.guesses: dict[str, Guess] = {}
        """By segment id, for qualifiers that the guide does not know there."""
        self.match: Callable[[str], object] = self._compile
        """Matches the text of a segment that has nothing wrong, as far as one regular expression can decide."""
        self.quick_check: Callable[[list[str]], bool] | None = None
        """Whether a text that matched still needs ``check_values``; None if there is nothing to check."""
        self.special_id = node.id if node.id in {"HL", "SE"} else ""
        """HL or SE, for which the parser has more to do; else empty."""

    def _compile(self, text: str) -> object:
        # Most places of a guide never occur in a file, so each expression is compiled on first use and then
        # replaces this method in ``self.match``.
        self.match = pattern.compile_pattern(self.node).fullmatch
        self.quick_check = compile_quick_check(self.node, self.plan.node.id)
        return self.match(text)

    def accepts(self, segment: list[str]) -> bool:
        """Return whether id and qualifier of a segment are those of this place."""
        node = self.node
        return segment[0] == node.id and (
            not node.qualifiers or read_key(segment, node.key) in node.qualifiers
        )


class LoopPlan:
    """A loop at one place of the guide."""

    __slots__ = (
        "_bits",
        "bit",
        "checked_on_close",
        "children",
        "depth",
        "first_inner",
        "holds_unit",
        "index",
        "is_level",
        "levels",
        "node",
        "parent",
        "repeat",
        "required",
        "rules",
        "signal_bits",
        "signals",
        "unit",
    )  # fmt: skip

    def __init__(
        self, node: grammar.LoopSpec, parent: "LoopPlan | None", index: int, guide: grammar.Guide
    ) -> None:
        # All that can be known of a loop is decided here, once for a guide, so that reading a segment decides little.
        self.node = node
        self.parent = parent
        self.index = index
        self.bit = 1 << index
        self.repeat = node.repeat
        self.depth: int = 0 if parent is None else parent.depth + 1
        first = node.children[0]
        self.first_inner = 1 if isinstance(first, grammar.SegmentSpec) else 0
        """Index of the first child that does not open the loop."""
        self.children: list[SegmentPlace | LoopPlan] = [
            SegmentPlace(child, self, at)
            if isinstance(child, grammar.SegmentSpec)
            else LoopPlan(child, self, at, guide)
            for at, child in enumerate(node.children)
        ]
        self.required = sum(1 << at for at, child in enumerate(node.children) if child.usage == "R")
        self.levels = sum(
            1 << at
            for at, child in enumerate(node.children)
            if isinstance(child, grammar.LoopSpec) and child.head.id == "HL"
        )
        """The bits of the hierarchical levels (HL loops) directly below this one."""
        self.is_level = node.head.id == "HL"
        self.signals: list[tuple[int, int]] = []
        """Pairs (bits of children here, bit to set in the parent when one of them was seen): see ``_mask``."""
        self.signal_bits = 0
        """The first halves of these pairs together."""
        self._bits = len(self.children)
        names = (node.id,) if parent else (node.id, SET)
        self.rules: tuple[tuple[int, Check, LoopRule], ...] = tuple(
            (self._mask(rule.needs) or ALWAYS, rule.check, rule)
            for rule in rules_for(guide.kind, *names)
        )
        """Each rule, preceded by its bits: at least one of them must be set for the rule to run."""
        self.checked_on_close = self.is_level or bool(self.rules)
        """Whether there is anything to check when the loop closes."""
        self.unit = bool(guide.unit) and node.id == guide.unit
        self.holds_unit: bool = self.unit or any(
            child.holds_unit for child in self.children if isinstance(child, LoopPlan)
        )

    def _mask(self, needs: tuple[str, ...]) -> int:
        """Return the bits of the children that a rule needs.

        A need may name a child of a child (``2400/2430``). The parent has no bit for that, so it gets an extra one beyond its
        own children, and the child loop sets it in the parent's mask when it closes.
        """
        mask = 0
        for need in needs:
            id, _, inner = need.partition("/")
            for child in self.children:
                if child.node.id != id:
                    continue
                mask |= (
                    self._signal_bit(child, inner)
                    if isinstance(child, LoopPlan) and inner
                    else child.bit
                )
        return mask

    def _signal_bit(self, child: "LoopPlan", id: str) -> int:
        """Return the extra bit for children of ``child`` with this id; allocate it at first use."""
        own = sum(c.bit for c in child.children if c.node.id == id)
        bit = next(
            (signal for inner_bits, signal in child.signals if inner_bits == own), 1 << self._bits
        )
        if bit == 1 << self._bits:
            self._bits += 1
            child.signals.append((own, bit))
            child.signal_bits |= own
        return bit

    @property
    def head(self) -> SegmentPlace:
        """The place of the segment that opens the loop."""
        first = self.children[0]
        return first if isinstance(first, SegmentPlace) else first.head

    def knows_segment(self, id: str) -> bool:
        """Return whether a segment of this id belongs to the loop itself, after the one that opens it."""
        return any(
            isinstance(child, SegmentPlace) and child.node.id == id
            for child in self.children[self.first_inner :]
        )

    def opened_loops(self) -> tuple["LoopPlan", ...]:
        """Return the loops that the head opens: this one, and those whose first child is a loop."""
        first = self.children[0]
        return (self,) if isinstance(first, SegmentPlace) else (self, *first.opened_loops())

    def all_places(self) -> Iterator[SegmentPlace]:
        """Yield every place of the loop and of the loops in it."""
        for child in self.children:
            if isinstance(child, SegmentPlace):
                yield child
            else:
                yield from child.all_places()


LoopChange = tuple[int, tuple[LoopPlan, ...], bool]
"""How many loops close first, which loops then open, and whether the order is right."""
Move = tuple[SegmentPlace | None, LoopChange | None]
"""The target place, and the change of loops on the way to it: None for most moves, which stay in their loop.

A move without a target means that the segment has no place in reach. HL and SE always come with a change, so that one
test tells the parser that there is more to do.
"""

Guess = tuple[tuple[tuple[int, int, Move], ...], Move]
"""The moves to required places, each with the loop outwards and the bit that say whether it is filled; and the last resort."""

NO_CHANGE: LoopChange = (0, (), True)
NO_MOVE: Move = (None, NO_CHANGE)


def make_move(
    target: SegmentPlace, pops: int, opens: tuple[LoopPlan, ...], *, right_order: bool
) -> Move:
    """Return the move to a place."""
    change = (pops, opens, right_order)
    return target, None if change == NO_CHANGE and not target.special_id else change


class Automaton:
    """A compiled guide."""

    __slots__ = ("_keys", "_qualifiers", "guide", "root", "start")

    def __init__(self, guide: grammar.Guide) -> None:
        self.guide = guide
        self.root = LoopPlan(guide.root, None, 0, guide)
        self.start = self.root.head
        self._keys: dict[str, tuple[tuple[int, int], ...]] = {}
        self._qualifiers: dict[str, set[str]] = {}
        for place in self.root.all_places():
            self._add_keys(place)

    def _add_keys(self, place: SegmentPlace) -> None:
        node = place.node
        keys = self._keys.setdefault(node.id, ())
        if node.qualifiers:
            self._qualifiers.setdefault(node.id, set()).update(node.qualifiers)
            if node.key not in keys:
                self._keys[node.id] = (*keys, node.key)

    def has_segment(self, id: str) -> bool:
        """Return whether the guide uses this segment anywhere."""
        return id in self._keys

    def find_move(self, place: SegmentPlace, segment: list[str]) -> Move:
        """Return the move from a place for a segment; search once per key and cache it."""
        id = segment[0]
        keys = self._keys.get(id)
        if keys is None:
            return NO_MOVE
        if not keys:
            found = place.moves[id] = self._search(place, segment)
            return found
        known = self._qualifiers[id]
        values = [read_key(segment, key) for key in keys]
        name = "*".join([value if value in known else UNKNOWN_QUALIFIER for value in values])
        if keys == ((1, 0),):
            memory = place.moves.setdefault(id, {})
        else:
            # The parser's inlined lookup reads ``moves[id]`` by the first element only. Segments with another
            # key, or several, are cached under an id that no segment has, so that the lookup misses.
            memory = place.moves.setdefault(id + "*", {})
        move = memory.get(name)  # type: ignore[union-attr]  # such an entry is a dictionary
        if move is None:
            move = memory[name] = self._search(place, segment)  # type: ignore[index]  # such an entry is a dictionary
        return move

    def _search(self, place: SegmentPlace, segment: list[str]) -> Move:
        """Return the first legal move, from the innermost loop outwards; else a move back within a loop.

        A move back never leaves a loop that knows the segment with another qualifier.
        """
        for pops, plan, index in _enclosing_loops(place):
            for child in plan.children[max(index, plan.first_inner) :]:
                move = _move_into(child, segment, pops, right_order=True)
                if move is not None:
                    return move
        for pops, plan, index in _enclosing_loops(place):
            for at, child in enumerate(plan.children[plan.first_inner : index], plan.first_inner):
                # Neighbors with one segment id are one position of the standard, which sets no
                # order among them: a guide's list of REFs is a list, not a sequence.
                one_position = all(_head_id(c) == segment[0] for c in plan.children[at : index + 1])
                move = _move_into(child, segment, pops, right_order=one_position)
                if move is not None:
                    return move
            if plan.knows_segment(segment[0]):
                # A wrong code is likelier than a segment of a loop that is left: NTE*CER in a line does not
                # end the line because a claim may have one.
                return NO_MOVE
        return NO_MOVE

    def next_accepting(self, place: SegmentPlace, segment: list[str]) -> SegmentPlace | None:
        """Return a later place of the same loop that accepts the segment, for when this place is full."""
        for child in place.plan.children[place.index + 1 :]:
            if isinstance(child, SegmentPlace) and child.accepts(segment):
                return child
        return None

    def guess_move(self, place: SegmentPlace, segment: list[str], seen_masks: list[int]) -> Move:
        """Return the most likely move for a qualifier that the guide does not know here; it uses the segment somewhere.

        ``seen_masks`` are the masks of the open loops, innermost last. A required place not yet filled is preferred; else the
        only place in the loop with this segment id.
        """
        id = segment[0]
        guess = place.guesses.get(id)
        if guess is None:
            # Remembered for ids of the guide alone (``has_segment``): hostile input fills no memory.
            guess = place.guesses[id] = _guess(place, id)
        for pops, bit, move in guess[0]:
            if not seen_masks[-1 - pops] & bit:
                return move
        return guess[1]


def _guess(place: SegmentPlace, id: str) -> Guess:
    """Return the required places of a segment id from a place on, and the move if all of them are filled."""
    wanted = []
    for pops, plan, index in _enclosing_loops(place):
        for child in plan.children[max(index, plan.first_inner) :]:
            head = child if isinstance(child, SegmentPlace) else child.head
            if head.node.id == id and plan.required & child.bit:
                opens = child.opened_loops() if isinstance(child, LoopPlan) else ()
                wanted.append((pops, child.bit, make_move(head, pops, opens, right_order=True)))
    same = [
        c
        for c in place.plan.children[place.plan.first_inner :]
        if isinstance(c, SegmentPlace) and c.node.id == id
    ]
    if len(same) == 1:
        right_order = same[0].index >= place.index
        return tuple(wanted), make_move(same[0], 0, (), right_order=right_order)
    return tuple(wanted), NO_MOVE


@lru_cache(maxsize=QUALIFIERS_REMEMBERED_MAX)
def known_qualifiers(plan: LoopPlan, id: str) -> str:
    """Return the qualifiers of a segment of the guide in a loop and the loops in it, as words; empty if there are none."""
    places = (place.node for place in plan.all_places() if place.node.id == id)
    return ", ".join(sorted({code for node in places for code in node.qualifiers}))


@lru_cache(maxsize=GUIDES_COMPILED_MAX)
def compile_guide(guide: grammar.Guide) -> Automaton:
    """Return the automaton of a guide; compiled once per guide."""
    return Automaton(guide)


def read_key(segment: list[str], key: tuple[int, int]) -> str:
    """Return the value at a key: an element, or a component of its first repetition."""
    number, component = key
    if len(segment) <= number:
        return ""
    text = segment[number]
    if not component:
        return text
    parts = text.partition("^")[0].split(":")
    return parts[component - 1] if len(parts) >= component else ""


def _enclosing_loops(place: SegmentPlace) -> Iterator[tuple[int, LoopPlan, int]]:
    """Yield the loops around a place, innermost first: how many close on the way, the loop, the index in it."""
    plan: LoopPlan | None = place.plan
    index = place.index
    pops = 0
    while plan is not None:
        yield pops, plan, index
        index = plan.index
        plan = plan.parent
        pops += 1


def _head_id(child: SegmentPlace | LoopPlan) -> str:
    return (child if isinstance(child, SegmentPlace) else child.head).node.id


def _move_into(
    child: SegmentPlace | LoopPlan, segment: list[str], pops: int, *, right_order: bool
) -> Move | None:
    head = child if isinstance(child, SegmentPlace) else child.head
    if not head.accepts(segment):
        return None
    opens = child.opened_loops() if isinstance(child, LoopPlan) else ()
    return make_move(head, pops, opens, right_order=right_order)
