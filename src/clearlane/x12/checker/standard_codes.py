"""Codes that X12 itself has, as far as our guides and lists know them.

A code that X12 has and a guide does not use is another error (I6) than a code that X12 does not have (7). The standard's own
lists are not at hand: a code counts as X12's if any guide here uses it in the same element of the same segment, or the
element's code list has it. Loaded when a wrong code is first met. Knows guides; knows no file.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from clearlane.x12 import codes, grammar, guides

Place = tuple[str, int, int]
"""Segment, element and component (0 for none)."""


def is_x12_code(segment: str, element: int, component: int, code: str) -> bool:
    """Return whether X12 has a code for an element, used by the guide at hand or not."""
    listed = codes.LISTS.get((segment, element, component), "")
    return code in _codes_of_guides()[segment, element, component] or (
        bool(listed) and codes.is_listed(listed, code)
    )


@cache
def _codes_of_guides() -> defaultdict[Place, set[str]]:
    found: defaultdict[Place, set[str]] = defaultdict(set)
    for kind in guides.KINDS:
        for node in _segments(guides.by_kind(kind).root):
            for element in node.elements:
                found[node.id, element.number, 0].update(element.codes)
                for part in element.components:
                    found[node.id, element.number, part.number].update(part.codes)
    return found


def _segments(loop: grammar.LoopSpec) -> Iterator[grammar.SegmentSpec]:
    for child in loop.children:
        if isinstance(child, grammar.SegmentSpec):
            yield child
        else:
            yield from _segments(child)
