"""Element paths such as ``2300/DTP:431/03``: read and set values in a tree.

The notation is described in ``placement``. Knows guides and trees; knows no field by name.
"""

import re
from typing import NamedTuple

from clearlane.x12 import grammar, pattern, tree
from clearlane.x12.automaton import read_key

_PATH = re.compile(
    r"(?P<loop>[^/#]+)(?:#(?P<loop_nth>\d+))?/(?P<id>[A-Z0-9]+)(?::(?P<qualifier>[^/#]+))?"
    r"(?:#(?P<nth>\d+))?/(?:(?P<element>\d\d)(?:-(?P<component>\d+))?|(?P<period>period))"
)


class ElementPath(NamedTuple):
    """A parsed path."""

    loop: str
    loop_nth: int
    id: str
    qualifier: str
    nth: int
    element: int
    """0 for a period."""
    component: int


def parse_path(text: str) -> ElementPath:
    """Parse a path; raise ValueError if it is malformed."""
    found = _PATH.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is not a path: write loop/segment/element, such as 2300/DTP:431/03"
        )
    return ElementPath(
        found["loop"],
        int(found["loop_nth"] or 1),
        found["id"],
        found["qualifier"] or "",
        int(found["nth"] or 1),
        int(found["element"] or 0),
        int(found["component"] or 0),
    )


def get(loop: tree.Loop, text: str) -> str:
    """Return the value at a path in a loop or below it; empty if there is none."""
    where = parse_path(text)
    owner = find_loop(loop, where)
    return "" if owner is None else value_at(owner, where)


def put(loop: tree.Loop, text: str, value: str) -> None:
    """Set the value at a path. Create missing loops and segments in guide order."""
    where = parse_path(text)
    owner = find_loop(loop, where)
    if owner is None:
        owner = _make_loop(loop, where)
    node = node_at(owner.node, where)
    segment = _find_segment(owner, where)
    if segment is None:
        segment = _new_segment(node, where)
        _insert(owner, node, segment)
    _set_value(node, segment, where, value)


def find_loop(loop: tree.Loop, where: ElementPath) -> tree.Loop | None:
    """Return the loop that a path names, the given one or below it, or None."""
    if loop.node.id == where.loop:
        return loop
    found = loop.descendants(where.loop)
    for _ in range(where.loop_nth - 1):
        next(found, None)
    return next(found, None)


def _find_segment(loop: tree.Loop, where: ElementPath) -> tree.Segment | None:
    left = where.nth
    for item in loop.items:
        if item.__class__ is list and item[0] == where.id and _qualifies(loop.node, item, where):
            left -= 1
            if not left:
                return item
    return None


def _qualifies(loop: grammar.LoopSpec, segment: tree.Segment, where: ElementPath) -> bool:
    if not where.qualifier:
        return True
    keys = {
        child.key
        for child in loop.children
        if isinstance(child, grammar.SegmentSpec) and child.id == where.id and child.key[0]
    }
    return any(read_key(segment, key) == where.qualifier for key in keys)


def value_at(loop: tree.Loop, where: ElementPath) -> str:
    """Return the value at a path in the loop that it names."""
    segment = _find_segment(loop, where)
    if segment is None:
        return ""
    if not where.element:
        return tree.get_element(segment, period_element(node_at(loop.node, where)))
    text = tree.get_element(segment, where.element)
    if where.component:
        parts = text.split(":")
        return parts[where.component - 1] if len(parts) >= where.component else ""
    return text


def node_at(loop: grammar.LoopSpec, where: ElementPath) -> grammar.SegmentSpec:
    """Return the guide's segment that a path names."""
    found = [c for c in loop.children if isinstance(c, grammar.SegmentSpec) and c.id == where.id]
    if where.qualifier:
        found = [c for c in found if where.qualifier in c.qualifiers]
    if not found:
        name = f"{where.id}:{where.qualifier}" if where.qualifier else where.id
        raise ValueError(f"loop {loop.id} has no segment {name}")
    return found[0]


def _make_loop(loop: tree.Loop, where: ElementPath) -> tree.Loop:
    loops = _loop_chain(loop.node, where.loop)
    if loops is None:
        raise ValueError(f"loop {loop.node.id} has no loop {where.loop}")
    for node in loops:
        existing = next((c for c in loop.loops() if c.node is node), None)
        if existing is None or node is loops[-1]:
            existing = tree.Loop(node)
            _insert(loop, node, existing)
            head = node.head
            if head.id != where.id or node is not loops[-1]:
                existing.items.append(_new_segment(head, where._replace(qualifier="")))
        loop = existing
    return loop


def _loop_chain(loop: grammar.LoopSpec, id: str) -> list[grammar.LoopSpec] | None:
    """Return the loops from a loop down to the first with this id."""
    for child in loop.children:
        if isinstance(child, grammar.LoopSpec):
            if child.id == id:
                return [child]
            below = _loop_chain(child, id)
            if below is not None:
                return [child, *below]
    return None


def _insert(loop: tree.Loop, node: grammar.SegmentSpec | grammar.LoopSpec, item: tree.Item) -> None:
    """Insert an item in guide order: before the first that comes later."""
    order = {child: at for at, child in enumerate(loop.node.children)}
    own_index = order[node]
    for at, other in enumerate(loop.items):
        if other.__class__ is tree.Loop:
            place = order.get(other.node, own_index)
        else:
            place = next(
                (
                    order[child]
                    for child in loop.node.children
                    if isinstance(child, grammar.SegmentSpec) and _accepts(child, other)  # type: ignore[arg-type]  # only a segment comes here
                ),
                own_index,
            )
        if place > own_index:
            loop.items.insert(at, item)
            return
    loop.items.append(item)


def _accepts(node: grammar.SegmentSpec, segment: tree.Segment) -> bool:
    return node.id == segment[0] and (
        not node.qualifiers or read_key(segment, node.key) in node.qualifiers
    )


def _new_segment(node: grammar.SegmentSpec, where: ElementPath) -> tree.Segment:
    """Return a segment with its qualifier and every element that has only one allowed value."""
    segment = [node.id]
    for element in node.elements:
        if element.usage == "R" and len(element.codes) == 1:
            _set_element(segment, element.number, 0, element.codes[0])
    if where.qualifier:
        _set_element(segment, *node.key, where.qualifier)
    return segment


def _set_value(
    node: grammar.SegmentSpec, segment: tree.Segment, where: ElementPath, value: str
) -> None:
    if not where.element:
        raise ValueError("put takes an element, not a period: put the qualifier and the date")
    _set_element(segment, where.element, where.component, value)
    for note in pattern.open_syntax_notes(node):
        if note.kind == "P" and where.element in note.elements and value:
            for number in note.elements:
                codes = node.elements[number - 1].codes
                if len(codes) == 1 and not tree.get_element(segment, number):
                    _set_element(segment, number, 0, codes[0])
    while len(segment) > 1 and not segment[-1]:
        segment.pop()


def _set_element(segment: tree.Segment, number: int, component: int, value: str) -> None:
    segment += [""] * (number + 1 - len(segment))
    if not component:
        segment[number] = value
        return
    parts = segment[number].split(":")
    parts += [""] * (component - len(parts))
    parts[component - 1] = value
    segment[number] = ":".join(parts).rstrip(":")


def period_element(node: grammar.SegmentSpec) -> int:
    """Return the number of the element that holds a date or period."""
    found = next((element.number for element in node.elements if element.type == "TP"), 0)
    if not found:
        raise ValueError(f"{node.id} has no period")
    return found
