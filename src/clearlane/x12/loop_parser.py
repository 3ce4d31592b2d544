"""The walk through one transaction set: segments in, loops out, every fault on the way reported.

Loop membership comes from the guide's automaton alone. A segment without a place is kept where it
stood and reported; the walk never stops before the SE.
Knows one set and its guide; knows nothing of bytes and envelopes.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from clearlane.kernel.finding import Severity
from clearlane.kernel.limits import SEGMENTS_HELD_MAX
from clearlane.x12 import grammar, tree
from clearlane.x12.automaton import NOWHERE, Automaton, Move, Place, Plan
from clearlane.x12.collector import Report
from clearlane.x12.element import flaws, generic
from clearlane.x12.findings import Flaw
from clearlane.x12.rules import Context, Fault, Rule
from clearlane.x12.value_checks import looks

# Segments that belong to the envelope end a set that has no SE.
CONTROL = frozenset({"ISA", "GS", "ST", "GE", "IEA"})

# What a payer answers is nested by its order too, so a wrong pointer there does not make it unreadable.
ANSWERS = frozenset({"271", "277", "277CA"})

Give = Callable[[tree.Loop, tuple[tree.Loop, ...]], None]
"""Takes a closed unit and the loops around it."""


class Walk:
    """The walk through a set of a known guide. ``root`` must hold the ST already."""

    __slots__ = (
        "_check", "_context", "_counts", "_give", "_held", "_levels", "_loops", "_machine",
        "_place", "_report", "_seens", "done", "position",
    )  # fmt: skip

    def __init__(
        self,
        root: tree.Loop,
        machine: Automaton,
        report: Report,
        *,
        check: bool,
        give: Give | None,
        file: dict[str, Any] | None = None,
    ) -> None:
        self._machine = machine
        self._report = report
        self._check = check
        self._give = give
        """Where to put each closed unit; None keeps everything in the tree."""
        self._loops = [root]
        self._seens = [machine.start.bit]
        self._counts: dict[int, dict[int, int]] = {}
        """By depth: how often children of the open loop there have come, from the second time on."""
        self._place = machine.start
        self._held = 0
        self._levels = 0
        header: tree.Segment = root.items[0]  # type: ignore[assignment]
        state: dict[str, Any] = {}
        self._context = Context(machine.guide.kind, header, state, self._loops, file)
        self.position = 1
        """How many segments of the set have been read."""
        self.done = False
        if check:
            for flaw in flaws(machine.start.node, root.node.id, header):
                report.flaw(flaw, header[0], 1, root.node.id)

    def run(  # noqa: C901, PLR0915 - the hot loop: a call a segment would cost a third of the speed
        self, texts: list[str], segments: list[list[str]]
    ) -> int:
        """Take segments until the set or the batch ends; answers how many were taken."""
        place, position, check = self._place, self.position, self._check
        locate, seens = self._machine.locate, self._seens
        items, seen = self._loops[-1].items, seens[-1]
        start = position
        for text, segment in zip(texts, segments, strict=True):
            position += 1
            move: Any = place.goto.get(segment[0])
            if move.__class__ is dict:
                move = move.get(segment[1]) if len(segment) > 1 else None
            target, pops, opens, in_order = move or locate(place, segment)
            if target is None:
                seens[-1] = seen
                target, pops, opens, in_order = self._stray(place, segment, position)
                if target is None:
                    if segment[0] in CONTROL:
                        position -= 1
                        break
                    items.append(segment)
                    continue
            if not in_order:
                seens[-1] = seen
                if self._retreat(place.plan, target, pops, opens, segment, position):
                    seen = seens[-1]
                    items.append(segment)
                    continue
            if pops or opens:
                seens[-1] = seen
                self._turn(place.plan, pops, opens, position)
                items, seen = self._loops[-1].items, seens[-1]
            bit = target.bit
            if seen & bit and target.repeat:
                target = self._again(target, segment, seen, position)
                bit = target.bit
            seen |= bit
            place = target
            items.append(segment)
            if check:
                if place.match(text) is None:
                    self._examine(flaws, place, segment, position)
                elif (watch := place.watch) is not None and watch(segment):
                    self._examine(looks, place, segment, position)
            if place.duty:
                if place.duty == "HL":
                    self._level(segment, position)
                    continue
                seens[-1] = seen
                self.position = position
                self._finish(segment)
                break
        seens[-1] = seen
        self._place = place
        self.position = position
        self._held += position - start
        if self._give is not None and self._held > SEGMENTS_HELD_MAX and not self.done:
            self._shed()
        return position - start

    def stop(self) -> None:
        """The set ends without an SE."""
        self.position += 1
        self._report.add("SE-MISSING", "The set must end with an SE segment", "SE", self.position)
        self._finish(None)

    # What follows runs once a loop, or only when something is wrong.

    def _stray(self, place: Place, segment: list[str], position: int) -> Move:
        """A segment that no move leads to: guess what was meant, or keep it unplaced."""
        id = segment[0]
        loop = place.plan.node.id
        if id in CONTROL:
            return NOWHERE
        if not self._machine.knows(id):
            if len(id) in {2, 3} and id.isascii() and id.isalnum() and id.isupper():
                self._report.add(
                    "SEG-UNKNOWN", f"{id} is no segment of this guide", id, position, loop=loop
                )
            else:
                message = "A segment id must be two or three capital letters and digits"
                self._report.add("SEG-ID", message, "", position, loop=loop)
        else:
            move = self._machine.guess(place, segment, self._seens)
            if move[0] is not None:
                return move
            known = sorted(
                {code for p in place.plan.places() if p.node.id == id for code in p.node.qualifiers}
            )
            hint = f": here it must be qualified by {', '.join(known)}" if known else ""
            message = f"{id} has no place here in loop {loop}{hint}"
            self._report.add("SEG-UNEXPECTED", message, id, position, loop=loop)
        if self._check and not self._report.full:
            for flaw in generic(segment):
                self._report.flaw(flaw, id[:3], position, loop)
        return NOWHERE

    def _retreat(
        self,
        plan: Plan,
        target: Place,
        pops: int,
        opens: tuple[Plan, ...],
        segment: list[str],
        position: int,
    ) -> bool:
        """A segment that should have come earlier. Tells whether it must stay where it stands.

        Going back to a loop around this one closes the loops between. Where one of these still lacks
        something required, its segments are likely to follow, so the segment stays among them.
        """
        message = f"{segment[0]} stands after segments that must follow it"
        self._tell("SEG-ORDER", message, target, position)
        for depth in range(1, pops + 1):
            if plan.required & ~self._seens[-depth]:
                self._seens[-1 - pops] |= opens[0].bit if opens else target.bit
                if self._check:
                    self._examine(flaws, target, segment, position)
                return True
            assert plan.parent is not None, "a move closes no more loops than are open"
            plan = plan.parent
        return False

    def _turn(self, plan: Plan, pops: int, opens: tuple[Plan, ...], position: int) -> None:
        """Close some loops from ``plan`` outwards, then open some; a segment at ``position`` does it."""
        while pops:
            plan = self._close(plan, position)
            pops -= 1
        loops, seens = self._loops, self._seens
        for plan in opens:
            seen = seens[-1]
            if seen & plan.bit:
                if plan.repeat and self._count(plan.index) > plan.repeat:
                    self._too_often(plan, position)
            else:
                seens[-1] = seen | plan.bit
            loop = tree.Loop(plan.node, position)
            loops[-1].items.append(loop)
            loops.append(loop)
            seens.append(0)

    def _too_often(self, plan: Plan, position: int) -> None:
        most = "once" if plan.repeat == 1 else f"{plan.repeat} times"
        message = f"Loop {plan.node.id} ({plan.node.name}) may stand at most {most} here"
        self._report.add("LOOP-REPEAT", message, plan.head.node.id, position, loop=plan.node.id)

    def _count(self, index: int) -> int:
        """How often a child of the innermost loop has come, from its second time on."""
        counts = self._counts.setdefault(len(self._loops), {})
        counts[index] = counts.get(index, 1) + 1
        return counts[index]

    def _again(self, place: Place, segment: list[str], seen: int, position: int) -> Place:
        """A place is met again: allowed, or meant for a twin further on, or once too often."""
        if self._count(place.index) <= place.repeat:
            return place
        twin = self._machine.next_twin(place, segment)
        if twin is not None and (
            not seen & twin.bit or not twin.repeat or self._count(twin.index) <= twin.repeat
        ):
            return twin
        most = "once" if place.repeat == 1 else f"{place.repeat} times"
        message = f"{segment[0]} ({place.node.name}) may stand at most {most} here"
        self._tell("SEG-REPEAT", message, place, position)
        return place

    def _close(self, plan: Plan, position: int) -> Plan:
        """Close the innermost loop, whose plan is given; answers the plan of the loop around it."""
        if self._counts:
            self._counts.pop(len(self._loops), None)
        loop = self._loops.pop()
        seen = self._seens.pop()
        if seen & plan.telling:
            for own, theirs in plan.tells:
                if seen & own:
                    self._seens[-1] |= theirs
        if plan.required & ~seen or (plan.judged and self._check):
            self._complete(loop, plan, seen)
        if plan.holds_unit and self._give is not None:
            if plan.unit:
                self._give(loop, tuple(self._loops))
            size = position - loop.position
            # What was let go inside is no longer held.
            self._held -= size - sum(gap.segments for gap in loop.gaps or ())
            self._loops[-1].let_go(size)
        assert plan.parent is not None, "the root is never closed by a move"
        return plan.parent

    def _complete(self, loop: tree.Loop, plan: Plan, seen: int) -> None:
        """What must be true of a loop when it closes."""
        missing = plan.required & ~seen
        if missing:
            self._missing(loop, plan, missing)
        if self._check:
            if plan.is_level:
                self._children(loop, has_child=bool(seen & plan.levels))
            context = self._context
            for needs, check, rule in plan.rules:
                if seen & needs:
                    for fault in check(loop, context):
                        self._fault(rule, fault, loop)

    def _fault(self, rule: Rule, fault: Fault, loop: tree.Loop) -> None:
        found = None
        if fault.segment is not None:
            for around in (loop, *reversed(self._loops)):
                found = around.find(fault.segment)
                if found is not None:
                    break
        position, owner = found or (loop.position, loop)
        segment_id = fault.segment[0] if fault.segment is not None else loop.node.head.id
        code = fault.code or ("I12" if fault.element else "I6")
        self._report.add(
            rule.id,
            fault.message,
            segment_id,
            position,
            loop=owner.node.id,
            element=fault.element,
            component=fault.component,
            repetition=fault.repetition,
            severity=fault.severity or rule.severity,
            snip=rule.snip,
            code=code,
        )

    def _missing(self, loop: tree.Loop, plan: Plan, missing: int) -> None:
        for child in plan.children:
            if not missing & child.bit:
                continue
            head = child if isinstance(child, Place) else child.head
            position = _expected(loop, plan, child.index)
            if head is child:
                message = f"{head.node.id} ({head.node.name}) is required in loop {plan.node.id}"
                self._report.add("SEG-MISSING", message, head.node.id, position, loop=plan.node.id)
            else:
                inner = child.node
                message = f"Loop {inner.id} ({inner.name}) is required in loop {plan.node.id}"
                self._report.add("LOOP-MISSING", message, head.node.id, position, loop=inner.id)

    def _level(self, segment: list[str], position: int) -> None:
        """HL01 counts through the set; HL02 names the level around this one."""
        if not self._check:
            return
        number, parent = tree.element(segment, 1), tree.element(segment, 2)
        loop = self._loops[-1].node.id
        expected = self._levels + 1
        if number != str(expected):
            message = f"HL01 must be {expected}, one more than the level before"
            self._report.add("HL-NUMBER", message, "HL", position, loop=loop, element=1)
        # After a jump the count goes on from what the file says, so that one slip is told once.
        plain = number.isascii() and number.isdigit() and len(number) < 10
        self._levels = int(number) if plain else expected
        above = self._loops[-2]
        if above.node.head.id == "HL":
            head: list[str] = above.items[0]  # type: ignore[assignment]
            if parent != tree.element(head, 1):
                message = f"HL02 must be the HL01 of the level above, loop {above.node.id}"
                weight = Severity.WARNING if self._context.kind in ANSWERS else None
                self._report.add(
                    "HL-PARENT", message, "HL", position, loop=loop, element=2, severity=weight
                )

    def _children(self, loop: tree.Loop, *, has_child: bool) -> None:
        head: list[str] = loop.items[0]  # type: ignore[assignment]
        flag = tree.element(head, 4)
        if flag in {"0", "1"} and (flag == "1") != has_child:
            message = (
                "HL04 must be 1: a level below follows"
                if has_child
                else "HL04 must be 0: no level below follows"
            )
            self._report.add("HL-CHILD", message, "HL", loop.position, loop=loop.node.id, element=4)

    def _examine(
        self,
        look: Callable[[grammar.Segment, str, list[str]], Iterable[Flaw]],
        place: Place,
        segment: list[str],
        position: int,
    ) -> None:
        # A hostile file must not buy the slow look a million times.
        if self._report.full:
            return
        loop = place.plan.node.id
        for flaw in look(place.node, loop, segment):
            self._report.flaw(flaw, place.node.id, position, loop)

    def _tell(self, rule: str, message: str, place: Place, position: int) -> None:
        self._report.add(rule, message, place.node.id, position, loop=place.plan.node.id)

    def _finish(self, trailer: list[str] | None) -> None:
        """The set ends: close what is open, then judge the whole."""
        self.done = True
        plan = self._place.plan
        while trailer is None and plan.parent is not None:
            plan = self._close(plan, self.position)
        root = self._loops.pop()
        seen = self._seens[0]
        if trailer is None:
            seen |= sum(
                c.bit
                for c in self._machine.root.children
                if isinstance(c, Place) and c.node.id == "SE"
            )
        self._complete(root, self._machine.root, seen)

    def _shed(self) -> None:
        """Hostile input: more is open at once than the reader will hold. Keep the heads alone."""
        message = (
            f"More than {SEGMENTS_HELD_MAX} segments belong to one unit: not all of them are held"
        )
        self._report.add("FILE-MEMORY", message, self._place.node.id, self.position)
        following = [loop.position for loop in self._loops[1:]] + [self.position + 1]
        for loop, end in zip(self._loops, following, strict=True):
            inner = [] if loop is self._loops[-1] else loop.items[-1:]
            loop.items[1:] = inner
            loop.gaps = [tree.Gap(1, end - loop.position - 1, None)]
        self._held = 0


def _expected(loop: tree.Loop, plan: Plan, index: int) -> int:
    """Where a missing child was to stand: after the last one that comes before it in the guide."""
    position = expected = loop.position
    for size, found in _parts(loop, plan):
        position += size
        if found < index:
            expected = position
    return expected


def _parts(loop: tree.Loop, plan: Plan) -> Iterator[tuple[int, int]]:
    """The parts of a loop in file order, also those let go: how many segments, which child."""
    gaps = loop.gaps or []
    for at, item in enumerate(loop.items):
        yield from _let_go(gaps, plan, at)
        if item.__class__ is tree.Loop:
            yield item.size(), _index(plan, item.node)
        else:
            yield 1, _place_index(plan, item)  # type: ignore[arg-type]
    yield from _let_go(gaps, plan, len(loop.items))


def _let_go(gaps: list[tree.Gap], plan: Plan, at: int) -> Iterator[tuple[int, int]]:
    for gap in gaps:
        if gap.index == at:
            yield gap.segments, _index(plan, gap.node)


def _index(plan: Plan, node: grammar.Loop | None) -> int:
    return next((c.index for c in plan.children if c.node is node), len(plan.children))


def _place_index(plan: Plan, segment: list[str]) -> int:
    return next(
        (c.index for c in plan.children if isinstance(c, Place) and c.accepts(segment)),
        len(plan.children),
    )
