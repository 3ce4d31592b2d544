"""Findings about single segments, and how messages name an element and a value.

A message names the element and the kind of value. It never contains the value itself.
"""

import re
from typing import NamedTuple

from clearlane.kernel.finding import Severity
from clearlane.x12.grammar import ElementSpec, SegmentSpec


class ElementFinding(NamedTuple):
    """Something wrong with one segment. ``rule`` is a key of ``finding_catalogue.FINDING_TYPES``."""

    rule: str
    message: str
    element: int = 0
    component: int = 0
    repetition: int = 0
    kind: str = ""
    code: str = ""
    """What a 999 reports; if empty, the code of the rule."""
    severity: Severity | None = None
    """Set if this finding has another severity than the rule."""


def name_element(
    node: SegmentSpec, element: ElementSpec, component: ElementSpec | None = None
) -> str:
    """Return how a message names an element: ``NM109 (identifier)``."""
    part = component or element
    tail = f"-{component.number}" if component else ""
    return f"{node.id}{element.number:02}{tail} ({part.name.lower()})"


def classify_value(text: str) -> str:
    """Return the kind of a value, which a finding can report in place of the value."""
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
