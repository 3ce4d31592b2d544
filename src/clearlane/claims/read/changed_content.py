"""Change the JSON of a claim by the paths that findings name, without regard to case.

    faults = [*path_faults(form, content, {"f24_claimlines[0].f24f_charges": "150.00"})]
    changed = with_paths(form, content, {"F24_ClaimLines[1]": None})        # without its second line

A path names a field (``F28_TotalCharge``), an item of a list (``F24_ClaimLines[0]``) or a field of an item. None removes
what it names; the place after the last item adds one. Every path means the claim as it is: items are removed last.

Knows fields and lists; knows no value.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from clearlane.claims.claim_form import AnyForm
from clearlane.claims.fields import ClaimPart, fields_of, nested_parts
from clearlane.claims.finding import ClaimFinding, shape_finding

ITEM_DIGITS_MAX = 6
_STEP = re.compile(rf"(?P<name>\w+)(?:\[(?P<at>\d{{1,{ITEM_DIGITS_MAX}}})\])?", re.ASCII)
_IN_DOCUMENT = re.compile(r"claims\[\d+\]\.", re.ASCII | re.IGNORECASE)

Content = Mapping[str, Any]
Places = tuple[str | int, ...]
"""Names and indexes down to a value, in the catalogue's spelling."""
UNKNOWN_FIELD = "A {kind} claim has no such field."
NOT_A_LIST = "It has one value: leave out the place in brackets."
NO_ITEM = "The claim has {count} of them: [{count}] adds one, and a larger number names none."
NO_PART = "Name the item first, such as {name}[0]."
TWICE = "It is named twice, or is part of another path that is named: give it once."


class _Fault(ValueError):
    """A path that leads nowhere; its text says why."""


class _Change(NamedTuple):
    path: str
    places: Places
    value: object


def path_faults(
    form: AnyForm, content: Content, changes: Mapping[str, object]
) -> Iterator[ClaimFinding]:
    """Yield why paths cannot be used: unknown fields, items that the claim does not have, what is named twice."""
    found: list[_Change] = []
    for path, value in changes.items():
        try:
            found.append(_Change(path, _places(form, content, path), value))
        except _Fault as fault:
            yield shape_finding(path, str(fault))
    for one in found:
        if one.places[0] == form.id_field:
            yield shape_finding(one.path, "A correction keeps the claim's id; leave it out.")
        if any(_overlap(one.places, other.places) for other in found if other is not one):
            yield shape_finding(one.path, TWICE)


def with_paths(form: AnyForm, content: Content, changes: Mapping[str, object]) -> dict[str, Any]:
    """Return the content with other values at paths that have no faults."""
    found = [_Change(path, _places(form, content, path), value) for path, value in changes.items()]
    result = dict(content)
    # Lists are changed first and shortened last, from their ends, so that every index means the claim as it is.
    removed = [one for one in found if one.value is None and isinstance(one.places[-1], int)]
    for one in sorted(
        found, key=lambda one: [str(step).rjust(ITEM_DIGITS_MAX) for step in one.places]
    ):
        if one not in removed:
            result = _put(result, one.places, one.value)
    for one in sorted(removed, key=lambda one: int(one.places[-1]), reverse=True):
        result = _put(result, one.places, None)
    return result


def _places(form: AnyForm, content: Content, path: str) -> Places:
    """Return where a path leads, in the catalogue's spelling; raise a :class:`_Fault` if it leads nowhere."""
    part: type[ClaimPart] = form.claim
    value: Any = content
    found: list[str | int] = []
    steps = _IN_DOCUMENT.sub("", path.strip(), count=1).split(".")
    for at, step in enumerate(steps):
        matched = _STEP.fullmatch(step)
        name = _names(part).get(matched["name"].casefold()) if matched else None
        if matched is None or name is None:
            raise _Fault(UNKNOWN_FIELD.format(kind=form.kind))
        found.append(name)
        value = value.get(name) if isinstance(value, Mapping) else None
        if matched["at"] is not None:
            place = _item(part, name, value, int(matched["at"]))
            found.append(place)
            value = value[place] if value and place < len(value) else None
        if at == len(steps) - 1:
            break
        inner = nested_parts(part).get(name)
        if inner is None:
            raise _Fault(UNKNOWN_FIELD.format(kind=form.kind))
        if matched["at"] is None:
            raise _Fault(NO_PART.format(name=name))
        part = inner
    return tuple(found)


@cache
def _names(part: type[ClaimPart]) -> Mapping[str, str]:
    """Return the fields of a part by every spelling that documents may use, folded."""
    aliases = {alias: row.name for row in fields_of(part).values() for alias in row.aliases}
    known = {**aliases, **{name: name for name in part.model_fields}}
    return {spelling.casefold(): name for spelling, name in known.items()}


def _item(part: type[ClaimPart], name: str, value: Sequence[object] | None, at: int) -> int:
    """Return the place of an item: one that the list has, or the one after its last."""
    if not fields_of(part)[name].is_array:
        raise _Fault(NOT_A_LIST)
    count = len(value or ())
    if at > count:
        raise _Fault(NO_ITEM.format(count=count))
    return at


def _overlap(one: Places, other: Places) -> bool:
    return one[: len(other)] == other


def _put(holder: Any, places: Places, value: object) -> Any:
    """Return what holds a value with another one; None removes it."""
    step, *rest = places
    if isinstance(step, int):
        items = list(holder or ())
        changed = (
            _put(items[step] if step < len(items) else None, tuple(rest), value) if rest else value
        )
        items[step : step + 1] = [] if changed is None else [changed]
        return items
    fields = dict(holder or {})
    changed = _put(fields.get(step), tuple(rest), value) if rest else value
    if changed is None:
        fields.pop(step, None)
    else:
        fields[step] = changed
    return fields
