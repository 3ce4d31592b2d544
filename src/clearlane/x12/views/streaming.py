"""Stream views while a file is read: segments directly into views, without a tree in between.

A ``SetStreamer`` follows the guide's automaton and passes each segment to the handler of its view builder, so that a claim
costs little and memory stays constant. ``stream_sets`` runs it over a file. The views are equal to those built from the
tree of the same set; a segment without a place goes to the ``other`` of the loop it was in.

Knows automata and view builders; reports no findings: that is the checker's work.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import msgspec

from clearlane.kernel.limits import SEGMENTS_HELD_MAX
from clearlane.x12 import grammar, guides, lexer, reader, tree
from clearlane.x12.automaton import LoopPlan, Move, SegmentPlace, compile_guide
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.loop_parser import CONTROL_SEGMENTS
from clearlane.x12.tree import Segment
from clearlane.x12.views.binding import Slots, ViewBuilder
from clearlane.x12.views.original import SeparatorRestorer

PART, UNIT, END = "part", "unit", "end"
STREAMS_COMPILED_MAX = 64


class StreamEvent(NamedTuple):
    """One event of a stream: a view that is complete."""

    event: str
    """PART: a loop around units, before its first unit; UNIT; END: the whole set without both."""
    value: Any
    kind: str
    """The set's kind, such as 835; empty if its guide is unknown."""
    control: str
    """ST02."""


class TooManySegmentsError(ValueError):
    """More segments belong to one unit than are kept in memory."""


BuilderChooser: TypeAlias = Callable[[str], ViewBuilder]
"""Returns the view builder of a whole set by kind; the empty kind is that of an unknown guide."""


def stream_sets(source: reader.Source, choose_builder: BuilderChooser) -> Iterator[StreamEvent]:
    """Yield the views of a file while it is read. Raises TooManySegmentsError if one unit is too large."""
    file = _File(choose_builder)
    scanner = lexer.Lexer()
    for chunk in reader.iter_chunks(source):
        for token in scanner.feed(chunk):
            yield from file.process(token)
    for token in scanner.finish():
        yield from file.process(token)
    yield from file.end()


class _File:
    """A reader of envelopes that passes each set to a streamer of its own."""

    def __init__(self, choose_builder: BuilderChooser) -> None:
        self._choose_builder = choose_builder
        self._version: str | None = None
        """GS08 of the group that is open."""
        self._delimiters = Delimiters()
        self._set: SetStreamer | UnknownSetStreamer | None = None
        self._set_name = ("", "")
        self._restorer: SeparatorRestorer | None = None

    def process(self, token: lexer.Token) -> Iterator[StreamEvent]:
        """Yield the events that a token completes."""
        if isinstance(token, lexer.InterchangeHeader):
            yield from self.end()
            self._delimiters = token.delimiters
        elif isinstance(token, lexer.SegmentChunk):
            at, segments = 0, token.segments
            while at < len(segments):
                if self._set is None:
                    self._on_control_segment(segments[at])
                    at += 1
                    continue
                at += self._set.consume(segments[at:] if at else segments)
                yield from self._take_events(self._set)
                if self._set.done or at < len(segments):
                    yield from self._close()

    def end(self) -> Iterator[StreamEvent]:
        """Yield the events of what is still open at the end of the interchange."""
        yield from self._close()
        self._version = None

    def _on_control_segment(self, segment: Segment) -> None:
        if segment[0] == "GS":
            self._version = tree.get_element(segment, 8).strip()
        elif segment[0] in {"GE", "IEA"}:
            self._version = None
        elif segment[0] == "ST" and self._version is not None:
            self._open(segment)

    def _open(self, header: Segment) -> None:
        transaction, own = tree.get_element(header, 1), tree.get_element(header, 3).strip()
        versions = filter(None, (own, self._version))
        found = (guides.by_version(transaction, version) for version in versions)
        guide = next(filter(None, found), None)
        kind = guide.kind if guide else ""
        self._set_name = kind, tree.get_element(header, 2)
        self._restorer = SeparatorRestorer(self._delimiters)
        builder = self._choose_builder(kind)
        self._set = (
            SetStreamer(guide, builder, header) if guide else UnknownSetStreamer(builder, header)
        )

    def _close(self) -> Iterator[StreamEvent]:
        if self._set is not None:
            self._set.end()
            yield from self._take_events(self._set)
        self._set = None

    def _take_events(self, set: "SetStreamer | UnknownSetStreamer") -> Iterator[StreamEvent]:
        """Yield and clear a set's pending events, with the original characters restored."""
        assert self._restorer is not None, "a set is open"
        restore, (kind, control) = self._restorer.restore, self._set_name
        for event, value in set.events:
            yield StreamEvent(event, restore(value), kind, control)
        set.events.clear()


class _LoopUse(NamedTuple):
    """How a loop is read: into a field of the parent, as part of the parent, or not at all."""

    builder: ViewBuilder | None
    bindings: dict[str, Any]
    at: int = -1
    """The field's index; -1 if the segments belong to the parent's view."""
    many: bool = False


IGNORED_LOOP = _LoopUse(None, {})


class _Step(NamedTuple):
    """A move of the automaton together with the handler of the segment."""

    following: dict[str, Any]
    """The steps from the target place: by segment id, and where it matters by the segment's first element."""
    target: Any
    bit: int
    pops: int
    opens: tuple[LoopPlan, ...]
    handler: Any
    last: bool


class _CompiledStream:
    """A guide's automaton and a builder's tables combined: for each place the steps that have occurred.

    Only keys that the guide or the tables know are cached, or hostile input would grow the cache.
    """

    def __init__(self, guide: grammar.Guide, builder: ViewBuilder) -> None:
        self.automaton = compile_guide(guide)
        self.steps: dict[SegmentPlace, dict[str, Any]] = {}
        self.uses: dict[LoopPlan, _LoopUse] = {
            self.automaton.root: _LoopUse(builder, builder.bindings)
        }

    def use(self, plan: LoopPlan) -> _LoopUse:
        """Return how a loop is read."""
        found = self.uses.get(plan)
        if found is None:
            assert plan.parent is not None, "the root's use is known"
            found = self.uses[plan] = _loop_use(plan, self.use(plan.parent))
        return found

    def step(self, place: SegmentPlace, segment: Segment) -> _Step | None:
        """Return the step from a place; None if the guide has none."""
        move = self.automaton.find_move(place, segment)
        if move[0] is None:
            return None
        step = self.make_step(move, segment)
        id, qualifier = segment[0], segment[1] if len(segment) > 1 else ""
        known, choice = place.moves.get(id), self.use(move[0].plan).bindings.get(id)
        memory = self.steps.setdefault(place, {})
        if known.__class__ is dict and qualifier in known:
            memory.setdefault(id, {})[qualifier] = step
        elif known.__class__ is tuple and choice.__class__ is not dict:
            memory[id] = step
        return step

    def make_step(self, move: Move, segment: Segment) -> _Step:
        """Combine a move with the handler of the segment."""
        target, pops, opens, _ = move
        assert target is not None, "a move leads somewhere"
        handler = self.use(target.plan).bindings.get(segment[0])
        if handler.__class__ is dict:
            handler = handler.get(segment[1] if len(segment) > 1 else "") or handler.get("")
        following = self.steps.setdefault(target, {})
        return _Step(following, target, target.bit, pops, opens, handler, target.special_id == "SE")


@lru_cache(STREAMS_COMPILED_MAX)
def compile_stream(guide: grammar.Guide, builder: ViewBuilder) -> _CompiledStream:
    """Return the compiled stream of a guide and a builder; compiled once."""
    return _CompiledStream(guide, builder)


class _Frame(msgspec.Struct, gc=False):
    """An open loop."""

    plan: LoopPlan
    use: _LoopUse
    slots: Slots
    other: list[Segment]
    party: Slots | None
    own: bool = True
    """Whether the slots are the loop's own, not those of its parent."""
    emitted: Any = None


class SetStreamer:
    """A streamer of one set of a known guide, from its ST to its SE."""

    def __init__(self, guide: grammar.Guide, builder: ViewBuilder, header: Segment) -> None:
        self.events: list[tuple[str, Any]] = []
        self.done = False
        self._held_segments = 0
        self._compiled = compile_stream(guide, builder)
        self._place = self._compiled.automaton.start
        self._seen_masks = [self._place.bit]
        root = self._compiled.automaton.root
        self._frames = [_Frame(root, self._compiled.use(root), *builder.new_slots())]
        builder.put(header, self._frames[0].slots, None, self._frames[0].other)

    def consume(self, segments: list[Segment]) -> int:
        """Consume segments until the set or the list ends; return how many were consumed."""
        place, consumed, frame, seen_masks = self._place, 0, self._frames[-1], self._seen_masks
        following = self._compiled.steps.setdefault(place, {})
        slots, other, own, seen = frame.slots, frame.other, frame.own, seen_masks[-1]
        for segment in segments:
            step = following.get(segment[0])
            if step.__class__ is dict:
                step = step.get(segment[1]) if len(segment) > 1 else None
            if step is None:
                seen_masks[-1] = seen
                step = self._compiled.step(place, segment) or self._guess_step(place, segment)
                if step is None:
                    if segment[0] in CONTROL_SEGMENTS:
                        break
                    consumed += 1
                    other.append(segment)
                    continue
            consumed += 1
            following, place, bit, pops, opens, handler, last = step
            if pops or opens:
                seen_masks[-1] = seen
                frame = self._change_loops(pops, opens)
                slots, other, own, seen = frame.slots, frame.other, frame.own, seen_masks[-1]
            seen |= bit
            if own and handler is not None:
                handler(segment, slots, other)
            else:
                self._put_aside(frame, handler, segment)
            if last:
                self.done = True
                break
        seen_masks[-1] = seen
        self._place = place
        self._count_held(consumed)
        return consumed

    def end(self) -> None:
        """Close everything that is open and emit the set."""
        while len(self._frames) > 1:
            self._close()
        root = self._frames.pop()
        builder = root.use.builder
        assert builder is not None, "the root has a builder"
        self.events.append((END, builder.finish(root.slots, root.party, root.other)))

    def _guess_step(self, place: SegmentPlace, segment: Segment) -> _Step | None:
        """Return the most likely step for a segment that no move leads to, or None."""
        if segment[0] in CONTROL_SEGMENTS:
            return None
        move = self._compiled.automaton.guess_move(place, segment, self._seen_masks)
        return None if move[0] is None else self._compiled.make_step(move, segment)

    def _put_aside(self, frame: _Frame, handler: Any, segment: Segment) -> None:
        """Read a segment of an inlined loop or of a party, or keep it in ``other``."""
        builder = frame.use.builder
        if builder is None:
            frame.other.append(segment)
        elif handler is not None:
            handler(segment, frame.slots, frame.other)
        elif not builder.put_party(segment, frame.party, frame.other):
            frame.other.append(segment)

    def _count_held(self, segments: int) -> None:
        self._held_segments += segments
        if self._held_segments > SEGMENTS_HELD_MAX + segments:
            raise TooManySegmentsError(f"more than {SEGMENTS_HELD_MAX} segments belong to one unit")

    def _change_loops(self, pops: int, opens: tuple[LoopPlan, ...]) -> _Frame:
        while pops:
            self._close()
            pops -= 1
        for plan in opens:
            self._seen_masks[-1] |= plan.bit
            self._open(plan)
        return self._frames[-1]

    def _open(self, plan: LoopPlan) -> None:
        parent = self._frames[-1]
        use = self._compiled.uses.get(plan) or self._compiled.use(plan)
        builder = use.builder
        if builder is not None and use.at >= 0 and (use.many or parent.slots[use.at] is None):
            slots, other, party = builder.new_slots()
            frame = _Frame(plan, use, slots, other, party)
            if plan.unit:
                self._emit_enclosing()
        else:
            # Inlined in the parent, without a field there, or a field for one loop that is filled already.
            inner = use if use.at < 0 else IGNORED_LOOP
            frame = _Frame(plan, inner, parent.slots, parent.other, parent.party, own=False)
        self._frames.append(frame)
        self._seen_masks.append(0)

    def _close(self) -> None:
        frame = self._frames.pop()
        self._seen_masks.pop()
        if not frame.own:
            return
        (builder, _, at, many), plan = frame.use, frame.plan
        assert builder is not None, "a loop with slots of its own has a builder"
        value = builder.finish(frame.slots, frame.party, frame.other)
        if not plan.holds_unit:
            parent = self._frames[-1].slots
            if not many:
                parent[at] = value
            elif parent[at]:
                parent[at].append(value)
            else:
                parent[at] = [value]
        elif plan.unit:
            self.events.append((UNIT, value))
            self._held_segments = 0
        elif value != frame.emitted:
            self.events.append((PART, value))

    def _emit_enclosing(self) -> None:
        """Emit the loops around a unit that begins, if not emitted yet."""
        for frame in self._frames:
            if frame.emitted is None and frame.own:
                builder = frame.use.builder
                assert builder is not None, "a loop with slots of its own has a builder"
                party = frame.party.copy() if frame.party else None
                frame.emitted = builder.finish(frame.slots.copy(), party, frame.other)
                self.events.append((PART, frame.emitted))


class UnknownSetStreamer:
    """A streamer of one set whose guide is unknown: it keeps every segment."""

    def __init__(self, builder: ViewBuilder, header: Segment) -> None:
        self.events: list[tuple[str, Any]] = []
        self.done = False
        self._builder = builder
        self._slots, self._other, _ = builder.new_slots()
        self._put(header)

    def consume(self, segments: list[Segment]) -> int:
        """Consume segments until the set or the list ends; return how many were consumed."""
        for consumed, segment in enumerate(segments):
            if segment[0] in CONTROL_SEGMENTS:
                return consumed
            self._put(segment)
            if segment[0] == "SE":
                self.done = True
                return consumed + 1
        return len(segments)

    def end(self) -> None:
        """Emit the set."""
        self.events.append((END, self._builder.finish(self._slots, None, self._other)))

    def _put(self, segment: Segment) -> None:
        self._builder.put(segment, self._slots, None, self._other)
        if len(self._other) > SEGMENTS_HELD_MAX:
            raise TooManySegmentsError(
                f"more than {SEGMENTS_HELD_MAX} segments are in a set without a guide"
            )


def _loop_use(plan: LoopPlan, parent_use: _LoopUse) -> _LoopUse:
    builder, id = parent_use.builder, plan.node.id
    if builder is None:
        return IGNORED_LOOP
    child = builder.loops.get(id)
    if child is not None:
        return _LoopUse(
            child.builder, child.builder.bindings, builder.indexes[child.field], child.many
        )
    return _LoopUse(builder, builder.bindings) if id in builder.inline else IGNORED_LOOP
