"""Map values of a 271 to fields of the response.

The first value of a qualifier takes its field. A value without a field, or whose field is taken, is returned with its
segment and qualifier (``REF:N6``, ``DTP:291``): a benefit has ``AdditionalInformation`` for it, other levels have not.

Knows the values of the 271 view; knows no level by name.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from clearlane.api.v3.benefits import benefit_names, json_types
from clearlane.api.v3.benefits.json_types import InformationJson, format_day_text
from clearlane.x12.tree import Segment, get_element
from clearlane.x12.views import benefits, shared_types
from clearlane.x12.writer.encode import format_day

Fields = dict[str, Any]
Unmapped = list[InformationJson]

NUMBER_DIGITS_MAX = 18


def map_refusals(
    refusals: Iterable[benefits.RefusalView], location: str, fields: Mapping[str, str]
) -> tuple[json_types.ErrorJson, ...] | None:
    """Return the errors for the AAA segments of a level; None if there are none.

    A location that is a path of the request is extended to the field that the reason code concerns.
    """
    is_path = "[" in location
    return (
        tuple(
            json_types.ErrorJson(
                Code=refusal.reason or None,
                Message=refusal.reason_words or None,
                FollowUpAction=benefit_names.name("follow_up_actions", refusal.follow_up) or None,
                Location=f"{location}.{fields[refusal.reason]}"
                if is_path and refusal.reason in fields
                else location,
            )
            for refusal in refusals
        )
        or None
    )


def map_references(
    table: Mapping[str, tuple[str, ...]],
    references: Iterable[shared_types.ReferenceView],
    found: Fields,
    naming: str,
) -> Unmapped:
    """Map REF segments, and return those without a field; ``naming`` takes a description (REF03)."""
    unmapped: Unmapped = []
    for reference in references:
        names = table.get(reference.qualifier, ())
        fits = bool(names) and bool(reference.value) and names[0] not in found
        if fits:
            for name in names:
                found.setdefault(name, reference.value)
        description = reference.description
        if description and naming and naming not in found:
            found[naming], description = description, ""
        if not fits or description or reference.further:
            text = " ".join(filter(None, (description, *reference.further)))
            unmapped.append(
                InformationJson(
                    Qualifier=f"REF:{reference.qualifier}",
                    Code=reference.value or None,
                    Text=text or None,
                )
            )
    return unmapped


def map_dates(
    table: Mapping[str, tuple[str, str, str]],
    dates: Iterable[shared_types.DateView],
    found: Fields,
) -> Unmapped:
    """Map DTP segments, and return those without a field.

    A day goes to its field or to its end of a date range; a range goes to its range field, else its first day
    to the day field.
    """
    unmapped: Unmapped = []
    ranges: dict[str, dict[str, str]] = {}
    for value in dates:
        if value.start is None and not (value.form or value.text):
            continue  # An unreadable segment is added with the other unmapped segments.
        field, end, range_field = table.get(value.qualifier, ("", "", ""))
        if (
            value.start is None
            or not field
            or not _map_date(value, value.start, (field, end, range_field), found, ranges)
        ):
            unmapped.append(unmapped_date(value))
    for field, date_range in ranges.items():
        found[field] = json_types.DateRangeJson(**date_range)
    return unmapped


def _map_date(
    value: shared_types.DateView,
    start: date,
    place: tuple[str, str, str],
    found: Fields,
    ranges: dict[str, Any],
) -> bool:
    """Map one date. Returns False if it, or its end, has no field and stays unmapped."""
    field, end, range_field = place
    if value.end is not None and range_field:
        return _map_range(ranges, range_field, Start=start, End=value.end)
    if end:
        return _map_range(ranges, field, **{end: start}) and value.end is None
    if field in found:
        return False
    found[field] = format_day_text(start)
    return value.end is None


def _map_range(ranges: dict[str, Any], field: str, **ends: date) -> bool:
    date_range = ranges.setdefault(field, {})
    if any(end in date_range for end in ends):
        return False
    date_range.update({end: format_day_text(day) for end, day in ends.items()})
    return True


def unmapped_date(value: shared_types.DateView) -> InformationJson:
    """Return the information for a date without a field, as in the file."""
    if value.start is None:
        form, text = value.form, value.text
    elif value.end is None:
        form, text = "D8", format_day(value.start)
    else:
        form, text = "RD8", f"{format_day(value.start)}-{format_day(value.end)}"
    return InformationJson(Qualifier=f"DTP:{value.qualifier}", Code=form or None, Text=text or None)


def map_number(value: Decimal | None, place: str, unmapped: Unmapped) -> Decimal | None:
    """Return a number that JSON readers can represent; a longer one becomes unmapped text."""
    if value is None or len(value.as_tuple().digits) <= NUMBER_DIGITS_MAX:
        return value
    unmapped.append(InformationJson(Qualifier=place, Text=f"{value:f}"))
    return None


def unmapped_segments(segments: Iterable[Segment]) -> Iterator[InformationJson]:
    """Yield the information for segments that no field takes."""
    for segment in segments:
        text = "*".join(segment[2:])
        yield InformationJson(
            Qualifier=segment[0], Code=get_element(segment, 1) or None, Text=text or None
        )
