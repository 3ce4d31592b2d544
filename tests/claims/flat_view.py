"""The values of a view by path, to compare views of one claim in two forms."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from clearlane.claims.cob import EarlierDecision, EarlierLineDecision
from clearlane.claims.view import ClaimView

PARTS = (EarlierDecision, EarlierLineDecision)


def flat(view: ClaimView) -> dict[str, Any]:
    """Return every value that a view states, by path; a mark that is not set is none."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(view):
        if field.name != "form":
            _put(found, field.name, getattr(view, field.name))
    return found


def _put(found: dict[str, Any], path: str, value: Any) -> None:
    if value in (None, False, "", ()):
        return
    if isinstance(value, PARTS) or dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            _put(found, f"{path}.{field.name}", getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            found[f"{path}.{key}"] = inner
    elif type(value) is tuple and not isinstance(value[0], str | None):
        for at, inner in enumerate(value):
            _put(found, f"{path}[{at}]", inner)
    else:
        found[path] = value
