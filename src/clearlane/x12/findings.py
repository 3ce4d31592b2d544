"""A fault of one segment, and how messages name an element and a value.

A message names the element and the kind of value. It never holds the value itself.
"""

import re
from typing import NamedTuple

from clearlane.x12.grammar import Element, Segment


class Flaw(NamedTuple):
    """A fault of one segment. ``rule`` is a key of ``faults.FAULTS``."""

    rule: str
    message: str
    element: int = 0
    component: int = 0
    repetition: int = 0
    kind: str = ""


def designate(node: Segment, element: Element, component: Element | None = None) -> str:
    """How a message names an element: ``NM109 (identifier)``."""
    part = component or element
    tail = f"-{component.number}" if component else ""
    return f"{node.id}{element.number:02}{tail} ({part.name.lower()})"


def value_kind(text: str) -> str:
    """What sort of value a text is, so that a finding can say it without telling the value."""
    if not text:
        return "empty"
    if text.isascii() and text.isdigit():
        return "digits"
    if _NUMBER.fullmatch(text):
        return "decimal"
    if text.isascii() and text.isalpha():
        return "letters"
    return "text"


_NUMBER = re.compile(r"-?\d*(?:\.\d+)?", re.ASCII)
