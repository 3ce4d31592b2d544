"""Which loops, segments and elements of a guide occur in files: what no sample shows, no test has judged."""

from collections.abc import Iterator

from clearlane.x12.grammar import ElementSpec, LoopSpec, SegmentSpec
from clearlane.x12.tree import Loop

NOT_USED = "N"


def places_of(node: LoopSpec, path: str = "") -> Iterator[str]:
    """Yield every loop and segment of a guide by its path."""
    for child in node.children:
        yield place(path, child)
        if isinstance(child, LoopSpec):
            yield from places_of(child, f"{path}{child.id}/")


def elements_of(node: LoopSpec, path: str = "") -> Iterator[str]:
    """Yield every element and component that a guide uses, by its path."""
    for child in node.children:
        if isinstance(child, LoopSpec):
            yield from elements_of(child, f"{path}{child.id}/")
        else:
            for element in child.elements:
                yield from _parts_of(f"{place(path, child)}/{element.number:02}", element)


def _parts_of(path: str, element: ElementSpec) -> Iterator[str]:
    if element.usage != NOT_USED:
        yield path
        for number, part in enumerate(element.components, 1):
            if part.usage != NOT_USED:
                yield f"{path}-{number}"


def place(path: str, node: SegmentSpec | LoopSpec) -> str:
    """Return the path of a loop or segment."""
    return path + node.id + ("" if isinstance(node, LoopSpec) else ":" + "|".join(node.qualifiers))


def collect(loop: Loop, shown: set[str], path: str = "", *, elements: bool = False) -> None:
    """Add every loop and segment of a tree by the path of its place in the guide; with ``elements``, those too."""
    for item in loop.items:
        if isinstance(item, list):
            for child in loop.node.children:
                if isinstance(child, SegmentSpec) and child.id == item[0] and fits(child, item):
                    own = place(path, child)
                    shown.add(own)
                    if elements:
                        shown.update(_filled(own, item))
        else:
            shown.add(path + item.id)
            collect(item, shown, f"{path}{item.id}/", elements=elements)


def _filled(path: str, row: list[str]) -> Iterator[str]:
    for number, text in enumerate(row[1:], 1):
        if text:
            yield f"{path}/{number:02}"
            for part, word in enumerate(text.split(":"), 1):
                if word:
                    yield f"{path}/{number:02}-{part}"


def fits(node: SegmentSpec, row: list[str]) -> bool:
    """Return whether a segment is one of a place of the guide."""
    number, component = node.key
    if not node.qualifiers:
        return True
    text = row[number] if len(row) > number else ""
    return (text.split(":")[component - 1] if component else text) in node.qualifiers
