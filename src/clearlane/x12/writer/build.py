"""Build the tree of a set from nested plain data, in guide order.

    build(guide, {
        "BHT": ["0019", "00", "17", date(2024, 5, 1), "1200", "CH"],
        "1000A": {"NM1": {2: "2", 3: "FERNHILL FAMILY PRACTICE", 9: "S1"}, "PER": [...]},
        "2000A": [{"2010AA": {"NM1": ..., "N3": ..., "REF:EI": {2: "123456789"}}, "2000B": [...]}],
    })

A loop is a mapping (several: a list of them); a segment is a list of its elements, or a mapping of element number to
value (several: a list of those). ``REF:EI`` names the qualifier. A composite is a tuple, a repeated element a list (in a
mapping: ``{1: ["30", "35"]}``). Keys come in any order. Elements that have exactly one code in the guide are filled in,
and so are HL01, HL02, HL04 and LX01 if they are left empty.

Knows guides and values; knows no envelope and no bytes.
"""

from collections.abc import Mapping
from typing import Any

from clearlane.x12 import grammar, pattern, tree
from clearlane.x12.automaton import LoopPlan, SegmentPlace, compile_guide
from clearlane.x12.writer.encode import format_element


def build(guide: grammar.Guide, data: Mapping[str, Any], *, control: str = "0001") -> tree.Loop:
    """Return the tree of a set, from ST to SE, from nested plain data in any order.

    Raises ValueError for a key that has no place in the guide.
    """
    root = compile_guide(guide).root
    built = tree.Loop(root.node, 1)
    header = build_st(guide, control)
    builder = _Builder()
    builder.fill(built, root, {"ST": header[1:], **data, "SE": ["0", control]})
    trailer = built.items[-1]
    trailer[1] = str(built.size())  # type: ignore[index]  # a set ends with its SE
    builder.number(built)
    return built


def build_st(guide: grammar.Guide, number: str) -> list[str]:
    """Return the ST of a guide; that of the 835 has no version."""
    elements = guide.root.head.elements
    versioned = len(elements) > 2 and elements[2].usage != "N"
    return (
        ["ST", guide.transaction, number, guide.id]
        if versioned
        else ["ST", guide.transaction, number]
    )


def body_texts(root: tree.Loop) -> list[str]:
    """Return the texts between ST and SE, as ``wrap_sets`` takes them."""
    return ["*".join(segment) for segment in root.all_segments() if segment[0] not in {"ST", "SE"}]


class _Builder:
    """A builder of one set, which counts positions."""

    def __init__(self) -> None:
        self._position = 1

    def fill(self, loop: tree.Loop, plan: LoopPlan, data: Mapping[str, Any]) -> None:
        placed = self._assign_places(plan, data)
        numbered = 0
        for child in plan.children:
            for value in placed.get(child.index, ()):
                if isinstance(child, SegmentPlace):
                    loop.items.append(_complete(child.node, value))
                    self._position += 1
                    continue
                inner = tree.Loop(child.node, self._position)
                loop.items.append(inner)
                self.fill(inner, child, value)
                if child.head.node.id == "LX":
                    numbered += 1
                    _default(inner.items[0], 1, str(numbered))

    def _assign_places(self, plan: LoopPlan, data: Mapping[str, Any]) -> dict[int, list[Any]]:
        placed: dict[int, list[Any]] = {}
        for key, value in data.items():
            if value is None or value == []:
                continue
            id, _, qualifier = key.partition(":")
            inner = next(
                (c for c in plan.children if isinstance(c, LoopPlan) and c.node.id == id), None
            )
            if inner is not None:
                many = value if isinstance(value, list) else [value]
                placed.setdefault(inner.index, []).extend(many)
                continue
            for one in _as_list(value):
                place, texts = _find_place(plan, id, qualifier, one)
                placed.setdefault(place.index, []).append(texts)
        head = plan.children[0]
        if isinstance(head, SegmentPlace) and head.index not in placed:
            placed[head.index] = [{}]
        return placed

    def number(self, root: tree.Loop) -> None:
        """Fill HL01 (count of levels), HL02 (level above) and HL04 (whether a level is below)."""
        count = 0

        def descend(loop: tree.Loop, parent: str) -> bool:
            nonlocal count
            levels = False
            for inner in loop.loops():
                head: list[str] = inner.items[0]  # type: ignore[assignment]  # a loop begins with a segment
                if head[0] != "HL":
                    descend(inner, parent)
                    continue
                levels = True
                count += 1
                _default(head, 1, str(count))
                _default(head, 2, parent)
                below = descend(inner, head[1])
                _default(head, 4, "1" if below else "0")
            return levels

        descend(root, "")


def _as_list(value: Any) -> list[Any]:
    """Return one segment or several as a list; a composite is a tuple, so a list of lists is several."""
    many = isinstance(value, list) and bool(value) and isinstance(value[0], (list, Mapping))
    return value if many else [value]


def _find_place(
    plan: LoopPlan, id: str, qualifier: str, value: Any
) -> tuple[SegmentPlace, dict[int, str]]:
    """Return the place for the data of a segment, and its elements as texts by number."""
    if isinstance(value, Mapping):
        texts = {number: format_element(element) for number, element in value.items()}
    else:
        texts = {at: format_element(element) for at, element in enumerate(value, 1)}
    places = [c for c in plan.children if isinstance(c, SegmentPlace) and c.node.id == id]
    if qualifier:
        places = [p for p in places if qualifier in p.node.qualifiers]
    for place in places:
        if qualifier:
            _put_key(texts, place.node.key, qualifier)
        probe = [id] + [texts.get(n, "") for n in range(1, max(texts, default=0) + 1)]
        if len(places) == 1 or place.accepts(probe):
            return place, texts
    name = f"{id}:{qualifier}" if qualifier else id
    raise ValueError(f"loop {plan.node.id} has no place for {name}")


def _put_key(texts: dict[int, str], key: tuple[int, int], qualifier: str) -> None:
    number, component = key
    if not component:
        texts[number] = qualifier
        return
    parts = texts.get(number, "").split(":")
    parts += [""] * (component - len(parts))
    parts[component - 1] = qualifier
    texts[number] = ":".join(parts)


def _complete(node: grammar.SegmentSpec, texts: dict[int, str]) -> list[str]:
    """Return the segment with every element that has one allowed value, without empty ones at its end."""
    out = [node.id]
    partners = {
        number: note.elements
        for note in pattern.open_syntax_notes(node)
        if note.kind == "P"
        for number in note.elements
    }
    for element in node.elements:
        text = texts.get(element.number, "")
        if not text and len(element.codes) == 1:
            wanted = element.usage == "R" or any(
                texts.get(n) for n in partners.get(element.number, ())
            )
            text = element.codes[0] if wanted else ""
        elif text and element.components:
            text = _complete_composite(element, text)
        out.append(text)
    while not out[-1]:
        out.pop()
    return out


def _complete_composite(element: grammar.ElementSpec, text: str) -> str:
    parts = text.split(":")
    for at, part in enumerate(element.components[: len(parts)]):
        if not parts[at] and part.usage == "R" and len(part.codes) == 1:
            parts[at] = part.codes[0]
    return ":".join(parts).rstrip(":")


def _default(segment: tree.Item, number: int, text: str) -> None:
    assert isinstance(segment, list), "a level begins with its segment"
    if text:
        segment += [""] * (number + 1 - len(segment))
        segment[number] = segment[number] or text
