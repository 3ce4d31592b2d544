"""The values of repaired fields as they were given, so that a claim can be explained in its sender's own spelling."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from clearlane.claims.fields import ClaimPart
from clearlane.claims.read.repairs import Repair

_INDEX = re.compile(r"(\w+)\[(\d+)\]", re.ASCII)


def given_values(claim: ClaimPart, repairs: Iterable[Repair]) -> Mapping[str, str]:
    """Return the value that each repaired field of a claim had before, by the field's path."""
    # Nearly every claim has two dozen repairs, most of them of its own fields, whose path is their name.
    own = claim.__dict__
    given: dict[str, str] = {}
    for field, _ in repairs:
        if field:
            value = own[field] if field in own else _value_at(claim, field)
            given[field] = value if value.__class__ is str else _text(value)
    return given


def _value_at(part: Any, path: str) -> Any:
    """Return the value at a path such as ``F24_ClaimLines[0]``; None if there is none."""
    for name in path.split("."):
        part = _step(part, name)
    return part


def _step(part: Any, name: str) -> Any:
    """Return what a part has under a name, which may have an index."""
    if not isinstance(part, ClaimPart):
        return None
    if not name.endswith("]"):
        return part.__dict__.get(name)
    indexed = _INDEX.fullmatch(name)
    items = part.__dict__.get(indexed[1]) if indexed else None
    number = int(indexed[2]) if indexed else 0
    return items[number] if items and number < len(items) else None


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(_text(item) for item in value if item is not None)
    return "" if value is None else str(value)
