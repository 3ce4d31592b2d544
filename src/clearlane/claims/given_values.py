"""The values of repaired fields as they were given, so that a claim can be explained in its sender's own spelling."""

from collections.abc import Iterable, Mapping
from typing import Any

from clearlane.claims.fields import ClaimPart, value_at
from clearlane.claims.read.repairs import Repair


def given_values(claim: ClaimPart, repairs: Iterable[Repair]) -> Mapping[str, str]:
    """Return the value that each repaired field of a claim had before, by the field's path."""
    # Nearly every claim has two dozen repairs, most of them of its own fields, whose path is their name.
    own = claim.__dict__
    given: dict[str, str] = {}
    for field, _ in repairs:
        if field:
            value = own[field] if field in own else value_at(claim, field)
            given[field] = value if value.__class__ is str else _text(value)
    return given


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(_text(item) for item in value if item is not None)
    return "" if value is None else str(value)
