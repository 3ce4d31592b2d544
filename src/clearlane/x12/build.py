"""Nested plain data to the tree of a set, in guide order.

    build(guide, {
        "BHT": ["0019", "00", "17", date(2024, 5, 1), "1200", "CH"],
        "1000A": {"NM1": {2: "2", 3: "FERNHILL FAMILY PRACTICE", 9: "S1"}, "PER": [...]},
        "2000A": [{"2010AA": {"NM1": ..., "N3": ..., "REF:EI": {2: "123456789"}}, "2000B": [...]}],
    })

A loop is a mapping (several: a list of them); a segment is a list of its elements, or a mapping of
element number to value (several: a list of those). ``REF:EI`` names the qualifier. A composite is a
tuple, a repeated element a list (in a mapping: ``{1: ["30", "35"]}``). Keys come in any order. Elements that have exactly one code in the
guide are filled in, and so are HL01, HL02, HL04 and LX01 where they are left empty.

Knows guides and values; knows no envelope and no bytes.
"""

from collections.abc import Mapping
from typing import Any

from clearlane.x12 import grammar, pattern, tree
from clearlane.x12.automaton import Place, Plan, automaton
from clearlane.x12.encode import element_text


def build(guide: grammar.Guide, data: Mapping[str, Any], *, control: str = "0001") -> tree.Loop:
    """The tree of a set, from ST to SE, from nested plain data in any order.

    Raises ValueError for a key that the guide has no place for.
    """
    root = automaton(guide).root
    built = tree.Loop(root.node, 1)
    header = set_header(guide, control)
    builder = _Builder()
    builder.fill(built, root, {"ST": header[1:], **data, "SE": ["0", control]})
    trailer = built.items[-1]
    trailer[1] = str(built.size())  # type: ignore[index]
    builder.number(built)
    return built


def set_header(guide: grammar.Guide, number: str) -> list[str]:
    """The ST of a guide; the 835 has no version in it."""
    elements = guide.root.head.elements
    versioned = len(elements) > 2 and elements[2].usage != "N"
    return (
        ["ST", guide.transaction, number, guide.id]
        if versioned
        else ["ST", guide.transaction, number]
    )


def body(root: tree.Loop) -> list[str]:
    """The texts between ST and SE, as ``seal`` takes them."""
    return ["*".join(segment) for segment in root.walk() if segment[0] not in {"ST", "SE"}]


class _Builder:
    """Builds one set."""

    def __init__(self) -> None:
        self._position = 1

    def fill(self, loop: tree.Loop, plan: Plan, data: Mapping[str, Any]) -> None:
        placed = self._sort(plan, data)
        numbered = 0
        for child in plan.children:
            for value in placed.get(child.index, ()):
                if isinstance(child, Place):
                    loop.items.append(_complete(child.node, value))
                    self._position += 1
                    continue
                inner = tree.Loop(child.node, self._position)
                loop.items.append(inner)
                self.fill(inner, child, value)
                if child.head.node.id == "LX":
                    numbered += 1
                    _default(inner.items[0], 1, str(numbered))

    def _sort(self, plan: Plan, data: Mapping[str, Any]) -> dict[int, list[Any]]:
        placed: dict[int, list[Any]] = {}
        for key, given in data.items():
            if given is None or given == []:
                continue
            id, _, qualifier = key.partition(":")
            inner = next(
                (c for c in plan.children if isinstance(c, Plan) and c.node.id == id), None
            )
            if inner is not None:
                many = given if isinstance(given, list) else [given]
                placed.setdefault(inner.index, []).extend(many)
                continue
            for one in _several(given):
                place, texts = _settle(plan, id, qualifier, one)
                placed.setdefault(place.index, []).append(texts)
        head = plan.children[0]
        if isinstance(head, Place) and head.index not in placed:
            placed[head.index] = [{}]
        return placed

    def number(self, root: tree.Loop) -> None:
        """HL01 counts the levels, HL02 names the one above, HL04 says whether one is below."""
        count = 0

        def descend(loop: tree.Loop, parent: str) -> bool:
            nonlocal count
            levels = False
            for inner in loop.loops():
                head: list[str] = inner.items[0]  # type: ignore[assignment]
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


def _several(given: Any) -> list[Any]:
    """One segment or a list of them; a composite is a tuple, so a list of lists is several."""
    many = isinstance(given, list) and bool(given) and isinstance(given[0], (list, Mapping))
    return given if many else [given]


def _settle(plan: Plan, id: str, qualifier: str, given: Any) -> tuple[Place, dict[int, str]]:
    """The place a segment's data is meant for, and its elements as texts by number."""
    if isinstance(given, Mapping):
        texts = {number: element_text(value) for number, value in given.items()}
    else:
        texts = {at: element_text(value) for at, value in enumerate(given, 1)}
    places = [c for c in plan.children if isinstance(c, Place) and c.node.id == id]
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


def _complete(node: grammar.Segment, texts: dict[int, str]) -> list[str]:
    """The segment with the elements that can have one value only, without empty ones at its end."""
    out = [node.id]
    partners = {
        number: note.elements
        for note in pattern.syntax(node)
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


def _complete_composite(element: grammar.Element, text: str) -> str:
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
