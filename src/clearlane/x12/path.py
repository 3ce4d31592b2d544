"""Paths such as ``2300/DTP:431/03``: what stands at one in a tree, and how to set it.

The forms are listed in ``place``. Knows guides and trees; knows no field by name.
"""

import re
from typing import NamedTuple

from clearlane.x12 import grammar, pattern, tree
from clearlane.x12.automaton import key_value

_PATH = re.compile(
    r"(?P<loop>[^/#]+)(?:#(?P<loop_nth>\d+))?/(?P<id>[A-Z0-9]+)(?::(?P<qualifier>[^/#]+))?"
    r"(?:#(?P<nth>\d+))?/(?:(?P<element>\d\d)(?:-(?P<component>\d+))?|(?P<period>period))"
)


class Path(NamedTuple):
    """A place in a set, as its text says it."""

    loop: str
    loop_nth: int
    id: str
    qualifier: str
    nth: int
    element: int
    """0 for a period."""
    component: int


def path(text: str) -> Path:
    """A path from its text; ValueError where it is none."""
    found = _PATH.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is no path: write loop/segment/element, such as 2300/DTP:431/03"
        )
    return Path(
        found["loop"],
        int(found["loop_nth"] or 1),
        found["id"],
        found["qualifier"] or "",
        int(found["nth"] or 1),
        int(found["element"] or 0),
        int(found["component"] or 0),
    )


def get(loop: tree.Loop, text: str) -> str:
    """What stands at a path in a loop or below it; empty where nothing does."""
    where = path(text)
    owner = find_loop(loop, where)
    return "" if owner is None else value_at(owner, where)


def put(loop: tree.Loop, text: str, value: str) -> None:
    """Set what stands at a path, making loops and segments on the way; in guide order."""
    where = path(text)
    owner = find_loop(loop, where)
    if owner is None:
        owner = _make_loop(loop, where)
    node = node_at(owner.node, where)
    segment = _nth(owner, where)
    if segment is None:
        segment = _filled(node, where)
        _insert(owner, node, segment)
    _set(node, segment, where, value)


def find_loop(loop: tree.Loop, where: Path) -> tree.Loop | None:
    if loop.node.id == where.loop:
        return loop
    found = loop.descend(where.loop)
    for _ in range(where.loop_nth - 1):
        next(found, None)
    return next(found, None)


def _nth(loop: tree.Loop, where: Path) -> tree.Segment | None:
    left = where.nth
    for item in loop.items:
        if item.__class__ is list and item[0] == where.id and _qualifies(loop.node, item, where):
            left -= 1
            if not left:
                return item
    return None


def _qualifies(loop: grammar.Loop, segment: tree.Segment, where: Path) -> bool:
    if not where.qualifier:
        return True
    keys = {
        child.key
        for child in loop.children
        if isinstance(child, grammar.Segment) and child.id == where.id and child.key[0]
    }
    return any(key_value(segment, key) == where.qualifier for key in keys)


def value_at(loop: tree.Loop, where: Path) -> str:
    segment = _nth(loop, where)
    if segment is None:
        return ""
    if not where.element:
        return tree.element(segment, period_element(node_at(loop.node, where)))
    text = tree.element(segment, where.element)
    if where.component:
        parts = text.split(":")
        return parts[where.component - 1] if len(parts) >= where.component else ""
    return text


def node_at(loop: grammar.Loop, where: Path) -> grammar.Segment:
    """The guide's segment that a path means."""
    found = [c for c in loop.children if isinstance(c, grammar.Segment) and c.id == where.id]
    if where.qualifier:
        found = [c for c in found if where.qualifier in c.qualifiers]
    if not found:
        name = f"{where.id}:{where.qualifier}" if where.qualifier else where.id
        raise ValueError(f"loop {loop.id} has no segment {name}")
    return found[0]


def _make_loop(loop: tree.Loop, where: Path) -> tree.Loop:
    chain = _chain(loop.node, where.loop)
    if chain is None:
        raise ValueError(f"loop {loop.node.id} has no loop {where.loop}")
    for node in chain:
        existing = next((c for c in loop.loops() if c.node is node), None)
        if existing is None or node is chain[-1]:
            existing = tree.Loop(node)
            _insert(loop, node, existing)
            head = node.head
            if head.id != where.id or node is not chain[-1]:
                existing.items.append(_filled(head, where._replace(qualifier="")))
        loop = existing
    return loop


def _chain(loop: grammar.Loop, id: str) -> list[grammar.Loop] | None:
    """The loops from a loop down to the first with this id."""
    for child in loop.children:
        if isinstance(child, grammar.Loop):
            if child.id == id:
                return [child]
            below = _chain(child, id)
            if below is not None:
                return [child, *below]
    return None


def _insert(loop: tree.Loop, node: grammar.Segment | grammar.Loop, item: tree.Item) -> None:
    """Put an item where the guide wants it: before the first that comes later."""
    order = {child: at for at, child in enumerate(loop.node.children)}
    mine = order[node]
    for at, other in enumerate(loop.items):
        if other.__class__ is tree.Loop:
            place = order.get(other.node, mine)
        else:
            place = next(
                (
                    order[child]
                    for child in loop.node.children
                    if isinstance(child, grammar.Segment) and _takes(child, other)  # type: ignore[arg-type]
                ),
                mine,
            )
        if place > mine:
            loop.items.insert(at, item)
            return
    loop.items.append(item)


def _takes(node: grammar.Segment, segment: tree.Segment) -> bool:
    return node.id == segment[0] and (
        not node.qualifiers or key_value(segment, node.key) in node.qualifiers
    )


def _filled(node: grammar.Segment, where: Path) -> tree.Segment:
    """A new segment with its qualifier and what else can have one value only."""
    segment = [node.id]
    for element in node.elements:
        if element.usage == "R" and len(element.codes) == 1:
            _set_element(segment, element.number, 0, element.codes[0])
    if where.qualifier:
        _set_element(segment, *node.key, where.qualifier)
    return segment


def _set(node: grammar.Segment, segment: tree.Segment, where: Path, value: str) -> None:
    if not where.element:
        raise ValueError("put takes an element, not a period: put the qualifier and the date")
    _set_element(segment, where.element, where.component, value)
    for note in pattern.syntax(node):
        if note.kind == "P" and where.element in note.elements and value:
            for number in note.elements:
                codes = node.elements[number - 1].codes
                if len(codes) == 1 and not tree.element(segment, number):
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


def period_element(node: grammar.Segment) -> int:
    found = next((element.number for element in node.elements if element.type == "TP"), 0)
    if not found:
        raise ValueError(f"{node.id} has no period")
    return found
