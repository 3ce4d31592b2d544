"""Parse the segments of one transaction set into loops, and report everything that is wrong.

Loop membership comes from the guide's automaton alone. A segment without a place is kept where it occurred and
reported; parsing continues up to the SE. Knows one set and its guide; does not know bytes and envelopes.

How a segment is processed (``LoopParser.consume``):

1. The cached move of the current place gives the target place, how many loops close and which open.
2. The open loops are a stack of ``tree.Loop``; beside it ``_seen_masks`` holds one integer per open loop, with a bit for
   each child that has occurred. A set bit on arrival means a repetition, which is counted only then.
3. The whole text of the segment is matched against one regular expression. Only if it does not match does the slow
   element interpreter run, to name what is wrong.
4. When a loop closes, ``required & ~seen`` are the missing children, and ``seen & needs`` selects the rules to run.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from clearlane.kernel import limits
from clearlane.kernel.finding import Severity
from clearlane.x12 import grammar, tree
from clearlane.x12.automaton import (
    NO_CHANGE,
    NO_MOVE,
    Automaton,
    LoopPlan,
    Move,
    SegmentPlace,
    known_qualifiers,
)
from clearlane.x12.checker.collector import FindingCollector
from clearlane.x12.checker.element import check_segment, check_unplaced_segment
from clearlane.x12.checker.findings import ElementFinding
from clearlane.x12.checker.value_checks import check_values
from clearlane.x12.rules import LoopRule, RuleContext, RuleFinding

# Segments of the envelope end a set that has no SE.
CONTROL_SEGMENTS = frozenset({"ISA", "GS", "ST", "GE", "IEA"})

# Responses of payers can be nested by segment order alone, so a wrong HL02 is only a warning there.
RESPONSES = frozenset({"271", "277", "277CA"})


class CloseCallback(Protocol):
    """Receives each closed unit, and each closed loop around units, with the loops around it."""

    def __call__(
        self, loop: tree.Loop, parents: tuple[tree.Loop, ...], *, is_unit: bool
    ) -> None: ...


class LoopParser:
    """A parser of one set of a known guide. ``root`` must already contain the ST."""

    __slots__ = (
        "_automaton", "_check", "_context", "_counts", "_findings", "_held_segments", "_held_separators", "_last_level",
        "_loops", "_on_closed", "_place", "_seen_masks", "done", "position",
    )  # fmt: skip

    def __init__(
        self,
        root: tree.Loop,
        automaton: Automaton,
        findings: FindingCollector,
        *,
        check: bool,
        on_closed: CloseCallback | None,
        file_state: dict[str, Any] | None = None,
        held_separators: dict[int, str] | None = None,
    ) -> None:
        """``held_separators`` are those of the file's delimiters."""
        self._automaton = automaton
        self._findings = findings
        self._check = check
        self._held_separators = held_separators
        self._on_closed = on_closed
        """Receives what is then dropped; None keeps everything in the tree."""
        self._loops = [root]
        self._seen_masks = [automaton.start.bit]
        self._counts: list[dict[int, int]] = [{}]
        """For each open loop, by index of the child: how often it occurred, from the second time on."""
        self._place = automaton.start
        self._held_segments = 0
        self._last_level = 0
        header: tree.Segment = root.items[0]  # type: ignore[assignment]  # a loop begins with a segment
        set_state: dict[str, Any] = {}
        self._context = RuleContext(
            automaton.guide.kind, header, set_state, self._loops, file_state
        )
        self.position = 1
        """How many segments of the set have been read."""
        self.done = False
        if check:
            for finding in check_segment(automaton.start.node, root.node.id, header):
                findings.add_element_finding(finding, header[0], 1, root.node.id)

    def consume(  # noqa: C901, PLR0915 - the hot loop: a call per segment would cost a third of the speed
        self, texts: list[str], segments: list[list[str]]
    ) -> int:
        """Consume segments until the set or the list ends; return how many were consumed.

        It has 25 branches because it runs once a segment: every move of the automaton is here, and only loops that
        change and segments that are wrong cost a call.
        """
        # Attributes are kept in locals, and ``seen`` (the mask of the innermost loop) is written back to the stack
        # only before a call that reads it.
        place, position, check = self._place, self.position, self._check
        find_move, seen_masks = self._automaton.find_move, self._seen_masks
        items, seen = self._loops[-1].items, seen_masks[-1]
        start = position
        for position, segment in enumerate(segments, start + 1):
            move: Any = place.moves.get(segment[0])
            # A dict holds moves by qualifier. A miss (None) goes to the search, which fills the cache.
            if move.__class__ is dict:
                move = move.get(segment[1]) if len(segment) > 1 else None
            if move is None:
                move = find_move(place, segment)
            target, change = move
            if change is not None:
                seen_masks[-1] = seen
                if target is None:
                    target, change = self._handle_unexpected(place, segment, position)
                    if target is None:
                        if segment[0] in CONTROL_SEGMENTS:
                            position -= 1
                            break
                        items.append(segment)
                        continue
                pops, opens, in_order = change or NO_CHANGE
                if not in_order and self._handle_wrong_order(
                    place.plan, target, pops, opens, segment, position
                ):
                    seen = seen_masks[-1]
                    items.append(segment)
                    continue
                if pops or opens:
                    self._change_loops(place.plan, pops, opens, position)
                    items, seen = self._loops[-1].items, seen_masks[-1]
            bit = target.bit
            # A repeat of 0 means without limit.
            if seen & bit and target.repeat:
                target = self._handle_repeat(target, segment, seen, position)
                bit = target.bit
            seen |= bit
            place = target
            items.append(segment)
            if check:
                if place.match(texts[position - start - 1]) is None:
                    self._report_elements(check_segment, place, segment, position)
                elif (quick_check := place.quick_check) is not None and quick_check(segment):
                    self._report_elements(check_values, place, segment, position)
            if change is not None and place.special_id:
                if place.special_id == "HL":
                    self._check_level(segment, position)
                    continue
                seen_masks[-1] = seen
                self.position = position
                self._finish(segment)
                break
        seen_masks[-1] = seen
        self._place = place
        self.position = position
        self._held_segments += position - start
        if self._held_segments > limits.SEGMENTS_HELD_MAX and self._on_closed and not self.done:
            self._drop_open_segments()
        return position - start

    def end_without_se(self) -> None:
        """End a set that has no SE."""
        self.position += 1
        self._findings.add("SE-MISSING", "The set must end with an SE segment", "SE", self.position)
        self._finish(None)

    # The methods below run once per loop, or only when something is wrong.

    def _handle_unexpected(self, place: SegmentPlace, segment: list[str], position: int) -> Move:
        """Guess the place of a segment that no move leads to, or report it as unplaced."""
        id = segment[0]
        loop = place.plan.node.id
        if id in CONTROL_SEGMENTS:
            return NO_MOVE
        if not self._automaton.has_segment(id):
            if len(id) in {2, 3} and id.isascii() and id.isalnum() and id.isupper():
                self._findings.add(
                    "SEG-UNKNOWN", f"{id} is no segment of this guide", id, position, loop=loop
                )
            else:
                message = "A segment id must be two or three capital letters and digits"
                self._findings.add("SEG-ID", message, "", position, loop=loop)
        else:
            move = self._automaton.guess_move(place, segment, self._seen_masks)
            if move[0] is not None:
                return move
            known = known_qualifiers(place.plan, id)
            hint = f": here it must be qualified by {known}" if known else ""
            message = f"{id} has no place here in loop {loop}{hint}"
            self._findings.add("SEG-UNEXPECTED", message, id, position, loop=loop)
        if self._check and not self._findings.is_full:
            for finding in check_unplaced_segment(segment):
                self._findings.add_element_finding(finding, id[:3], position, loop)
        return NO_MOVE

    def _handle_wrong_order(
        self,
        plan: LoopPlan,
        target: SegmentPlace,
        pops: int,
        opens: tuple[LoopPlan, ...],
        segment: list[str],
        position: int,
    ) -> bool:
        """Report a segment that should have come earlier. Return whether it must stay in the current loop.

        A move back to an enclosing loop closes the loops between. If one of these still lacks a required child, its
        segments are likely to follow, so the segment stays among them.
        """
        message = f"{segment[0]} comes after segments that must follow it"
        self._report_at("SEG-ORDER", message, target, position)
        for depth in range(1, pops + 1):
            if plan.required & ~self._seen_masks[-depth]:
                self._seen_masks[-1 - pops] |= opens[0].bit if opens else target.bit
                if self._check:
                    self._report_elements(check_segment, target, segment, position)
                return True
            assert plan.parent is not None, "a move closes no more loops than are open"
            plan = plan.parent
        return False

    def _change_loops(
        self, plan: LoopPlan, pops: int, opens: tuple[LoopPlan, ...], position: int
    ) -> None:
        """Close ``pops`` loops from ``plan`` outwards, then open others; the segment at ``position`` causes it."""
        while pops:
            plan = self._close(plan, position)
            pops -= 1
        loops, seen_masks = self._loops, self._seen_masks
        for plan in opens:
            seen = seen_masks[-1]
            if seen & plan.bit:
                if plan.repeat and self._count(plan.index) > plan.repeat:
                    self._report_loop_repeat(plan, position)
            else:
                seen_masks[-1] = seen | plan.bit
            loop = tree.Loop(plan.node, position)
            loops[-1].items.append(loop)
            loops.append(loop)
            seen_masks.append(0)
            self._counts.append({})

    def _report_loop_repeat(self, plan: LoopPlan, position: int) -> None:
        limit = "once" if plan.repeat == 1 else f"{plan.repeat} times"
        message = f"Loop {plan.node.id} ({plan.node.name}) may occur at most {limit} here"
        self._findings.add("LOOP-REPEAT", message, plan.head.node.id, position, loop=plan.node.id)

    def _count(self, index: int) -> int:
        """Return how often a child of the innermost loop has occurred; called from its second time on."""
        counts = self._counts[-1]
        count = counts[index] = counts.get(index, 1) + 1
        return count

    def _handle_repeat(
        self, place: SegmentPlace, segment: list[str], seen: int, position: int
    ) -> SegmentPlace:
        """Return the place of a repeated segment: the same, or a later one that accepts it; report too many."""
        if self._count(place.index) <= place.repeat:
            return place
        later = self._automaton.next_accepting(place, segment)
        if later is not None and (
            not seen & later.bit or not later.repeat or self._count(later.index) <= later.repeat
        ):
            return later
        limit = "once" if place.repeat == 1 else f"{place.repeat} times"
        message = f"{segment[0]} ({place.node.name}) may occur at most {limit} here"
        self._report_at("SEG-REPEAT", message, place, position)
        return place

    def _close(self, plan: LoopPlan, position: int) -> LoopPlan:
        """Close the innermost loop, which has this plan. Return the plan of the loop around it."""
        self._counts.pop()
        loop = self._loops.pop()
        seen = self._seen_masks.pop()
        # Pass bits that rules of the parent need (``2400/2430``) up into the parent's mask.
        if seen & plan.signal_bits:
            for child_bits, signal in plan.signals:
                if seen & child_bits:
                    self._seen_masks[-1] |= signal
        if plan.required & ~seen or (plan.checked_on_close and self._check):
            self._check_closed_loop(loop, plan, seen)
        if plan.holds_unit and self._on_closed is not None:
            self._on_closed(loop, tuple(self._loops), is_unit=plan.unit)
            size = position - loop.position
            # Segments dropped inside the loop are not counted as held any more.
            dropped = sum(drop.segments for drop in loop.dropped) if loop.dropped else 0
            self._held_segments -= size - dropped
            self._loops[-1].drop_last(size)
        assert plan.parent is not None, "the root is never closed by a move"
        return plan.parent

    def _check_closed_loop(self, loop: tree.Loop, plan: LoopPlan, seen: int) -> None:
        """Report missing children, a wrong HL04 and the findings of the rules of a closed loop."""
        missing = plan.required & ~seen
        if missing:
            self._report_missing(loop, plan, missing)
        if self._check:
            if plan.is_level:
                self._check_child_flag(loop, has_child=bool(seen & plan.levels))
            context = self._context
            for needs, check, rule in plan.rules:
                if seen & needs:
                    for finding in check(loop, context):
                        self._report_rule_finding(rule, finding, loop)

    def _report_rule_finding(self, rule: LoopRule, finding: RuleFinding, loop: tree.Loop) -> None:
        found = None
        if finding.segment is not None:
            for around in (loop, *reversed(self._loops)):
                found = around.find(finding.segment)
                if found is not None:
                    break
        position, owner = found or (loop.position, loop)
        segment_id = finding.segment[0] if finding.segment is not None else loop.node.head.id
        code = finding.code or _default_code(finding)
        self._findings.add(
            rule.id,
            finding.message,
            segment_id,
            position,
            loop=owner.node.id,
            element=finding.element,
            component=finding.component,
            repetition=finding.repetition,
            severity=finding.severity or rule.severity,
            snip=rule.snip,
            code=code,
        )

    def _report_missing(self, loop: tree.Loop, plan: LoopPlan, missing: int) -> None:
        for child in plan.children:
            if not missing & child.bit:
                continue
            head = child if isinstance(child, SegmentPlace) else child.head
            position = _expected_position(loop, plan, child.index)
            if head is child:
                message = f"{head.node.id} ({head.node.name}) is required in loop {plan.node.id}"
                self._findings.add(
                    "SEG-MISSING", message, head.node.id, position, loop=plan.node.id
                )
            else:
                inner = child.node
                message = f"Loop {inner.id} ({inner.name}) is required in loop {plan.node.id}"
                self._findings.add("LOOP-MISSING", message, head.node.id, position, loop=inner.id)

    def _check_level(self, segment: list[str], position: int) -> None:
        """Check that HL01 counts through the set and HL02 names the level above."""
        if not self._check:
            return
        number, parent = tree.get_element(segment, 1), tree.get_element(segment, 2)
        loop = self._loops[-1].node.id
        expected = self._last_level + 1
        if number != str(expected):
            message = f"HL01 must be {expected}, one more than the level before"
            self._findings.add("HL-NUMBER", message, "HL", position, loop=loop, element=1)
        # After a jump continue from the number in the file, so that one slip is reported once.
        plain = number.isascii() and number.isdigit() and len(number) < 10
        self._last_level = int(number) if plain else expected
        above = self._loops[-2]
        if above.node.head.id == "HL":
            head: list[str] = above.items[0]  # type: ignore[assignment]  # a loop begins with a segment
            if parent != tree.get_element(head, 1):
                message = f"HL02 must be the HL01 of the level above, loop {above.node.id}"
                # A number of no level can be read in a response. One of a level farther above, such as a 277CA's
                # patient under the receiver, states another hierarchy.
                lost = (
                    parent
                    not in {
                        tree.get_element(outer.items[0], 1)  # type: ignore[arg-type]  # a loop begins with a segment
                        for outer in self._loops[1:-2]
                        if outer.node.head.id == "HL"
                    }
                )
                severity = Severity.WARNING if lost and self._context.kind in RESPONSES else None
                self._findings.add(
                    "HL-PARENT", message, "HL", position, loop=loop, element=2, severity=severity
                )

    def _check_child_flag(self, loop: tree.Loop, *, has_child: bool) -> None:
        head: list[str] = loop.items[0]  # type: ignore[assignment]  # a loop begins with a segment
        flag = tree.get_element(head, 4)
        if flag in {"0", "1"} and (flag == "1") != has_child:
            message = (
                "HL04 must be 1: a level below follows"
                if has_child
                else "HL04 must be 0: no level below follows"
            )
            # X12's own published 271 promises levels that do not follow.
            promised = self._context.kind == "271" and not has_child
            severity = Severity.WARNING if promised else None
            loop_id = loop.node.id
            self._findings.add(
                "HL-CHILD", message, "HL", loop.position, loop=loop_id, element=4, severity=severity
            )

    def _report_elements(
        self,
        check: Callable[[grammar.SegmentSpec, str, list[str]], Iterable[ElementFinding]],
        place: SegmentPlace,
        segment: list[str],
        position: int,
    ) -> None:
        # Limit the slow path: a hostile file could otherwise trigger it for every segment.
        if self._findings.is_full:
            return
        loop = place.plan.node.id
        if table := self._held_separators:
            segment = [text.translate(table) for text in segment]
        for finding in check(place.node, loop, segment):
            self._findings.add_element_finding(finding, place.node.id, position, loop)

    def _report_at(self, rule: str, message: str, place: SegmentPlace, position: int) -> None:
        self._findings.add(rule, message, place.node.id, position, loop=place.plan.node.id)

    def _finish(self, trailer: list[str] | None) -> None:
        """End the set: close the open loops, then check the whole."""
        self.done = True
        plan = self._place.plan
        while trailer is None and plan.parent is not None:
            plan = self._close(plan, self.position)
        root = self._loops.pop()
        seen = self._seen_masks[0]
        if trailer is None:
            seen |= sum(
                c.bit
                for c in self._automaton.root.children
                if isinstance(c, SegmentPlace) and c.node.id == "SE"
            )
        self._check_closed_loop(root, self._automaton.root, seen)

    def _drop_open_segments(self) -> None:
        """Drop all but the first segments of the open loops: hostile input holds too many open at once."""
        limit = limits.SEGMENTS_HELD_MAX
        message = f"More than {limit} segments belong to one unit: not all of them are held"
        self._findings.add("FILE-MEMORY", message, self._place.node.id, self.position)
        following = [loop.position for loop in self._loops[1:]] + [self.position + 1]
        for loop, end in zip(self._loops, following, strict=True):
            inner = [] if loop is self._loops[-1] else loop.items[-1:]
            loop.items[1:] = inner
            loop.dropped = [tree.DroppedLoops(1, end - loop.position - 1, None)]
        self._held_segments = 0


def _default_code(finding: RuleFinding) -> str:
    """Return what a 999 reports if the rule does not say: a missing segment, a missing element, or a wrong one."""
    if not finding.element:
        return "I6"
    text = tree.get_element(finding.segment or [], finding.element)
    if finding.component:
        parts = tree.split_components(text)
        text = parts[finding.component - 1] if finding.component <= len(parts) else ""
    return "I12" if text else "I9"


def _expected_position(loop: tree.Loop, plan: LoopPlan, index: int) -> int:
    """Return where a missing child was expected: after the last child that precedes it in the guide."""
    position = expected = loop.position
    for size, found in _child_sizes(loop, plan):
        position += size
        if found < index:
            expected = position
    return expected


def _child_sizes(loop: tree.Loop, plan: LoopPlan) -> Iterator[tuple[int, int]]:
    """Yield the children of a loop in file order, dropped ones included: number of segments, index of the child."""
    dropped = loop.dropped or []
    for at, item in enumerate(loop.items):
        yield from _dropped_sizes(dropped, plan, at)
        if item.__class__ is tree.Loop:
            yield item.size(), _loop_index(plan, item.node)
        else:
            yield 1, _place_index(plan, item)  # type: ignore[arg-type]  # no loop, so a segment
    yield from _dropped_sizes(dropped, plan, len(loop.items))


def _dropped_sizes(
    dropped: list[tree.DroppedLoops], plan: LoopPlan, at: int
) -> Iterator[tuple[int, int]]:
    for drop in dropped:
        if drop.index == at:
            yield drop.segments, _loop_index(plan, drop.node)


def _loop_index(plan: LoopPlan, node: grammar.LoopSpec | None) -> int:
    return next((c.index for c in plan.children if c.node is node), len(plan.children))


def _place_index(plan: LoopPlan, segment: list[str]) -> int:
    return next(
        (c.index for c in plan.children if isinstance(c, SegmentPlace) and c.accepts(segment)),
        len(plan.children),
    )
