"""The values of repaired fields as they were given, so that a claim can be explained in its sender's own spelling."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from clearlane.claims.fields import ClaimPart
from clearlane.claims.repairs import Repair

_INDEX = re.compile(r"(\w+)\[(\d+)\]", re.ASCII)


def given_values(claim: ClaimPart, repairs: Iterable[Repair]) -> Mapping[str, str]:
    """Return the value that each repaired field of a claim had before, by the field's path."""
    return {field: _text(_value_at(claim, field)) for field, _ in repairs if field}


def _value_at(part: Any, path: str) -> Any:
    """Return the value at a path such as ``F24_ClaimLines[0].F24F_Charges``; None where there is none."""
    for step in path.split("."):
        indexed = _INDEX.fullmatch(step)
        name = indexed[1] if indexed else step
        part = part.__dict__.get(name) if isinstance(part, ClaimPart) else None
        if indexed and part is not None:
            number = int(indexed[2])
            part = part[number] if number < len(part) else None
    return part


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(_text(item) for item in value if item is not None)
    return "" if value is None else str(value)
