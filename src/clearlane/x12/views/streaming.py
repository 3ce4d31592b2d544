"""Views while a file is read: segments straight into values, without a tree in between.

A ``Flow`` walks one set by its guide's automaton and lets the sorters' tables take each segment as it comes, so
that a claim costs little and memory stays flat. ``follow`` drives it over a file. What it tells is what the sorters make of
the same set as a tree; a segment without a place goes to the ``other`` of the loop it stood in.

Knows automata and sorters; knows no findings: a file's faults are the checker's.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import msgspec

from clearlane.kernel.limits import SEGMENTS_HELD_MAX
from clearlane.x12 import grammar, guides, lexer, reader, tree
from clearlane.x12.automaton import Move, Place, Plan, automaton
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.loop_parser import CONTROL
from clearlane.x12.tree import Segment
from clearlane.x12.views.binding import Slots, Sorter
from clearlane.x12.views.original import Originals

PART, UNIT, END = "part", "unit", "end"
COURSES_MAX = 64


class Told(NamedTuple):
    """What a flow tells."""

    what: str
    """PART: a loop around units, before its first unit; UNIT; END: the whole set without both."""
    value: Any
    kind: str
    """The set's kind, such as 835; empty where its guide is not known."""
    control: str
    """ST02."""


class TooMany(ValueError):
    """More segments belong together than are held in memory."""


Sorters: TypeAlias = Callable[[str], Sorter]
"""The sorter of a whole set, by kind; the empty kind stands for an unknown guide."""


def follow(source: reader.Source, sorters: Sorters) -> Iterator[Told]:
    """Everything of a file, as it comes. Raises TooMany where too much belongs together."""
    file = _File(sorters)
    scanner = lexer.Lexer()
    for chunk in reader.chunks(source):
        for token in scanner.feed(chunk):
            yield from file.take(token)
    for token in scanner.finish():
        yield from file.take(token)
    yield from file.end()


class _File:
    """Follows the envelopes and hands each set to a flow of its own."""

    def __init__(self, sorters: Sorters) -> None:
        self._sorters = sorters
        self._version: str | None = None
        """GS08 of the group that is open."""
        self._delimiters = Delimiters()
        self._set: Flow | UnknownFlow | None = None
        self._name = ("", "")
        self._originals: Originals | None = None

    def take(self, token: lexer.Token) -> Iterator[Told]:
        if isinstance(token, lexer.Header):
            yield from self.end()
            self._delimiters = token.delimiters
        elif isinstance(token, lexer.Batch):
            at, segments = 0, token.segments
            while at < len(segments):
                if self._set is None:
                    self._outside(segments[at])
                    at += 1
                    continue
                at += self._set.run(segments[at:] if at else segments)
                yield from self._told(self._set)
                if self._set.done or at < len(segments):
                    yield from self._close()

    def end(self) -> Iterator[Told]:
        """The interchange ends, with whatever is open in it."""
        yield from self._close()
        self._version = None

    def _outside(self, segment: Segment) -> None:
        if segment[0] == "GS":
            self._version = tree.element(segment, 8).strip()
        elif segment[0] in {"GE", "IEA"}:
            self._version = None
        elif segment[0] == "ST" and self._version is not None:
            self._open(segment)

    def _open(self, header: Segment) -> None:
        transaction, own = tree.element(header, 1), tree.element(header, 3).strip()
        versions = filter(None, (own, self._version))
        found = (guides.by_version(transaction, version) for version in versions)
        guide = next(filter(None, found), None)
        kind = guide.kind if guide else ""
        self._name = kind, tree.element(header, 2)
        self._originals = Originals(self._delimiters)
        sorter = self._sorters(kind)
        self._set = Flow(guide, sorter, header) if guide else UnknownFlow(sorter, header)

    def _close(self) -> Iterator[Told]:
        if self._set is not None:
            self._set.end()
            yield from self._told(self._set)
        self._set = None

    def _told(self, set: "Flow | UnknownFlow") -> Iterator[Told]:
        assert self._originals is not None, "a set is open"
        restore, (kind, control) = self._originals.restored, self._name
        for what, value in set.told:
            yield Told(what, restore(value), kind, control)
        set.told.clear()


class _Use(NamedTuple):
    """What becomes of a loop: a value in a field of the loop around it, part of that loop, or nothing."""

    sorter: Sorter | None
    rows: dict[str, Any]
    at: int = -1
    """The field's position; -1 where the segments go to the loop around it."""
    many: bool = False


LOST = _Use(None, {})


class _Step(NamedTuple):
    """Where a segment leads, and what takes it there."""

    following: dict[str, Any]
    """The steps from there, by segment id and where it matters by the segment's first element."""
    target: Any
    bit: int
    pops: int
    opens: tuple[Plan, ...]
    row: Any
    last: bool


class _Course:
    """A guide's automaton and a sorter's tables as one: for each place the steps that were met.

    Only what the guide or the tables know is remembered, or hostile input would grow the memory.
    """

    def __init__(self, guide: grammar.Guide, sorter: Sorter) -> None:
        self.machine = automaton(guide)
        self.steps: dict[Place, dict[str, Any]] = {}
        self.uses: dict[Plan, _Use] = {self.machine.root: _Use(sorter, sorter.rows)}

    def use(self, plan: Plan) -> _Use:
        """What becomes of a loop."""
        found = self.uses.get(plan)
        if found is None:
            assert plan.parent is not None, "the root's use is known"
            found = self.uses[plan] = _use(plan, self.use(plan.parent))
        return found

    def step(self, place: Place, segment: Segment) -> _Step | None:
        """The step from a place; None where the guide has none."""
        move = self.machine.locate(place, segment)
        if move[0] is None:
            return None
        step = self.made(move, segment)
        id, qualifier = segment[0], segment[1] if len(segment) > 1 else ""
        known, choice = place.goto.get(id), self.use(move[0].plan).rows.get(id)
        memory = self.steps.setdefault(place, {})
        if known.__class__ is dict and qualifier in known:
            memory.setdefault(id, {})[qualifier] = step
        elif known.__class__ is tuple and choice.__class__ is not dict:
            memory[id] = step
        return step

    def made(self, move: Move, segment: Segment) -> _Step:
        """A move with what takes the segment."""
        target, pops, opens, _ = move
        assert target is not None, "a move leads somewhere"
        row = self.use(target.plan).rows.get(segment[0])
        if row.__class__ is dict:
            row = row.get(segment[1] if len(segment) > 1 else "") or row.get("")
        following = self.steps.setdefault(target, {})
        return _Step(following, target, target.bit, pops, opens, row, target.duty == "SE")


@lru_cache(COURSES_MAX)
def course(guide: grammar.Guide, sorter: Sorter) -> _Course:
    """The course of a guide and a sorter, made once."""
    return _Course(guide, sorter)


class _Frame(msgspec.Struct, gc=False):
    """An open loop."""

    plan: Plan
    use: _Use
    slots: Slots
    other: list[Segment]
    party: Slots | None
    own: bool = True
    """Whether the room is the loop's own, not that of the loop around it."""
    told: Any = None


class Flow:
    """One set of a known guide, from its ST to its SE."""

    def __init__(self, guide: grammar.Guide, sorter: Sorter, header: Segment) -> None:
        self.told: list[tuple[str, Any]] = []
        self.done = False
        self._held = 0
        self._course = course(guide, sorter)
        self._place = self._course.machine.start
        self._seens = [self._place.bit]
        root = self._course.machine.root
        self._frames = [_Frame(root, self._course.use(root), *sorter.start())]
        sorter.put(header, self._frames[0].slots, None, self._frames[0].other)

    def run(self, segments: list[Segment]) -> int:
        """Take segments until the set or the batch ends; answers how many were taken."""
        place, taken, frame, seens = self._place, 0, self._frames[-1], self._seens
        following = self._course.steps.setdefault(place, {})
        slots, other, own, seen = frame.slots, frame.other, frame.own, seens[-1]
        for segment in segments:
            step = following.get(segment[0])
            if step.__class__ is dict:
                step = step.get(segment[1]) if len(segment) > 1 else None
            if step is None:
                seens[-1] = seen
                step = self._course.step(place, segment) or self._stray(place, segment)
                if step is None:
                    if segment[0] in CONTROL:
                        break
                    taken += 1
                    other.append(segment)
                    continue
            taken += 1
            following, place, bit, pops, opens, row, last = step
            if pops or opens:
                seens[-1] = seen
                frame = self._turn(pops, opens)
                slots, other, own, seen = frame.slots, frame.other, frame.own, seens[-1]
            seen |= bit
            if own and row is not None:
                row(segment, slots, other)
            else:
                self._aside(frame, row, segment)
            if last:
                self.done = True
                break
        seens[-1] = seen
        self._place = place
        self._hold(taken)
        return taken

    def end(self) -> None:
        """The set ends: everything open is closed, the whole told."""
        while len(self._frames) > 1:
            self._close()
        root = self._frames.pop()
        sorter = root.use.sorter
        assert sorter is not None, "the root has a sorter"
        self.told.append((END, sorter.finished(root.slots, root.party, root.other)))

    def _stray(self, place: Place, segment: Segment) -> _Step | None:
        """A segment that no move leads to: what was most likely meant, if anything."""
        if segment[0] in CONTROL:
            return None
        move = self._course.machine.guess(place, segment, self._seens)
        return None if move[0] is None else self._course.made(move, segment)

    def _aside(self, frame: _Frame, row: Any, segment: Segment) -> None:
        """A segment of an inner loop without a value of its own, of a party, or without a field."""
        sorter = frame.use.sorter
        if sorter is None:
            frame.other.append(segment)
        elif row is not None:
            row(segment, frame.slots, frame.other)
        elif not sorter.give(segment, frame.party, frame.other):
            frame.other.append(segment)

    def _hold(self, segments: int) -> None:
        self._held += segments
        if self._held > SEGMENTS_HELD_MAX + segments:
            raise TooMany(f"more than {SEGMENTS_HELD_MAX} segments belong to one unit")

    def _turn(self, pops: int, opens: tuple[Plan, ...]) -> _Frame:
        while pops:
            self._close()
            pops -= 1
        for plan in opens:
            self._seens[-1] |= plan.bit
            self._open(plan)
        return self._frames[-1]

    def _open(self, plan: Plan) -> None:
        parent = self._frames[-1]
        use = self._course.uses.get(plan) or self._course.use(plan)
        sorter = use.sorter
        if sorter is not None and use.at >= 0 and (use.many or parent.slots[use.at] is None):
            slots, other, party = sorter.start()
            frame = _Frame(plan, use, slots, other, party)
            if plan.unit:
                self._tell_around()
        else:
            # Part of the loop around it; or without a field there, or with one that is taken already.
            inner = use if use.at < 0 else LOST
            frame = _Frame(plan, inner, parent.slots, parent.other, parent.party, own=False)
        self._frames.append(frame)
        self._seens.append(0)

    def _close(self) -> None:
        frame = self._frames.pop()
        self._seens.pop()
        if not frame.own:
            return
        (sorter, _, at, many), plan = frame.use, frame.plan
        assert sorter is not None, "a loop with room of its own has a sorter"
        value = sorter.finished(frame.slots, frame.party, frame.other)
        if not plan.holds_unit:
            parent = self._frames[-1].slots
            if not many:
                parent[at] = value
            elif parent[at]:
                parent[at].append(value)
            else:
                parent[at] = [value]
        elif plan.unit:
            self.told.append((UNIT, value))
            self._held = 0
        elif value != frame.told:
            self.told.append((PART, value))

    def _tell_around(self) -> None:
        """A unit begins: the loops around it that were not told yet."""
        for frame in self._frames:
            if frame.told is None and frame.own:
                sorter = frame.use.sorter
                assert sorter is not None, "a loop with room of its own has a sorter"
                party = frame.party.copy() if frame.party else None
                frame.told = sorter.finished(frame.slots.copy(), party, frame.other)
                self.told.append((PART, frame.told))


class UnknownFlow:
    """One set whose guide is not known: every segment as it comes."""

    def __init__(self, sorter: Sorter, header: Segment) -> None:
        self.told: list[tuple[str, Any]] = []
        self.done = False
        self._sorter = sorter
        self._slots, self._other, _ = sorter.start()
        self._put(header)

    def run(self, segments: list[Segment]) -> int:
        """Take segments until the set or the batch ends; answers how many were taken."""
        for taken, segment in enumerate(segments):
            if segment[0] in CONTROL:
                return taken
            self._put(segment)
            if segment[0] == "SE":
                self.done = True
                return taken + 1
        return len(segments)

    def end(self) -> None:
        """The set ends: the whole is told."""
        self.told.append((END, self._sorter.finished(self._slots, None, self._other)))

    def _put(self, segment: Segment) -> None:
        self._sorter.put(segment, self._slots, None, self._other)
        if len(self._other) > SEGMENTS_HELD_MAX:
            raise TooMany(f"more than {SEGMENTS_HELD_MAX} segments stand in a set without a guide")


def _use(plan: Plan, around: _Use) -> _Use:
    sorter, id = around.sorter, plan.node.id
    if sorter is None:
        return LOST
    below = sorter.loops.get(id)
    if below is not None:
        return _Use(below.sorter, below.sorter.rows, sorter.at[below.field], below.many)
    return _Use(sorter, sorter.rows) if id in sorter.inline else LOST
