"""Values of a 271 under the fields of the response; what finds no field is kept beside them.

The first of a kind takes the field. What finds no field, or finds it taken, becomes ``AdditionalInformation`` with the
segment and qualifier it came from (``REF:N6``, ``DTP:291``), so nothing is lost.

Knows the values of the 271 view; knows no level by name.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from msgspec import UNSET, UnsetType

from clearlane.eligibility import response, services
from clearlane.eligibility.response import Information
from clearlane.eligibility.wire_struct import stamp
from clearlane.x12.encode import day
from clearlane.x12.tree import Segment, element
from clearlane.x12.views import benefits, shared_types

Fields = dict[str, Any]
Extra = list[Information]

NUMBER_DIGITS_MAX = 18


def troubles(
    refusals: Iterable[benefits.Refusal], location: str, fields: Mapping[str, str]
) -> tuple[response.Trouble, ...] | None:
    """Refusals, code for code. A location that is a path of the document is led on to the field."""
    is_path = "[" in location
    return (
        tuple(
            response.Trouble(
                Code=refusal.reason or None,
                Message=refusal.reason_words or None,
                FollowUpAction=services.name("follow_up_actions", refusal.follow_up) or None,
                Location=f"{location}.{fields[refusal.reason]}"
                if is_path and refusal.reason in fields
                else location,
            )
            for refusal in refusals
        )
        or None
    )


def references(
    table: Mapping[str, tuple[str, ...]],
    told: Iterable[shared_types.Reference],
    found: Fields,
    extra: Extra,
    naming: str,
) -> None:
    """REF: the first of a kind takes the field; ``naming`` is the field that takes a description."""
    for one in told:
        names = table.get(one.qualifier, ())
        fits = bool(names) and bool(one.value) and names[0] not in found
        if fits:
            for name in names:
                found.setdefault(name, one.value)
        description = one.description
        if description and naming and naming not in found:
            found[naming], description = description, ""
        if not fits or description or one.further:
            text = " ".join(filter(None, (description, *one.further)))
            extra.append(
                Information(
                    Qualifier=f"REF:{one.qualifier}", Code=one.value or None, Text=text or None
                )
            )


def dates(
    table: Mapping[str, tuple[str, str, str]],
    told: Iterable[shared_types.Dated],
    found: Fields,
    extra: Extra,
) -> None:
    """DTP: a day to its field or to its end of a period; a period to its field, else the first day of it."""
    spans: dict[str, dict[str, str]] = {}
    for one in told:
        if one.start is None and not (one.form or one.text):
            continue  # A segment that could not be read at all is among the unread ones.
        field, end, wide = table.get(one.qualifier, ("", "", ""))
        if one.start is None or not field or not _dated(one, field, end, wide, found, spans):
            extra.append(undated(one))
    for field, span in spans.items():
        found[field] = response.Range(**span)


def _dated(
    one: shared_types.Dated, field: str, end: str, wide: str, found: Fields, spans: dict[str, Any]
) -> bool:
    """Give a day or period its field. False where all of it, or the end of it, must be told elsewhere."""
    assert one.start is not None, "the caller has looked"
    if one.end is not None and wide:
        return _span(spans, wide, Start=one.start, End=one.end)
    if end:
        return _span(spans, field, **{end: one.start}) and one.end is None
    if field in found:
        return False
    found[field] = stamp(one.start)
    return one.end is None


def _span(spans: dict[str, Any], field: str, **ends: date) -> bool:
    span = spans.setdefault(field, {})
    if any(end in span for end in ends):
        return False
    span.update({end: stamp(day) for end, day in ends.items()})
    return True


def undated(one: shared_types.Dated) -> Information:
    """A date without a field, as the file has it."""
    if one.start is None:
        form, text = one.form, one.text
    elif one.end is None:
        form, text = "D8", day(one.start)
    else:
        form, text = "RD8", f"{day(one.start)}-{day(one.end)}"
    return Information(Qualifier=f"DTP:{one.qualifier}", Code=form or None, Text=text or None)


def number(value: Decimal | None, place: str, extra: Extra) -> Decimal | None:
    """A number that JSON readers can hold; a longer one is told as text."""
    if value is None or len(value.as_tuple().digits) <= NUMBER_DIGITS_MAX:
        return value
    extra.append(Information(Qualifier=place, Text=f"{value:f}"))
    return None


def unread(segments: Iterable[Segment], extra: Extra) -> None:
    """Segments, or parts of them, that no field takes."""
    for segment in segments:
        text = "*".join(segment[2:])
        extra.append(
            Information(Qualifier=segment[0], Code=element(segment, 1) or None, Text=text or None)
        )


def kept(extra: Extra) -> tuple[Information, ...] | UnsetType:
    return tuple(extra) or UNSET
