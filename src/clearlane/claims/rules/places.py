"""C64: places of service. That a code exists at all is checked with its field, and by the guide."""

from collections.abc import Iterator
from datetime import date
from functools import lru_cache

from clearlane.claims.rules.dates import Span, span
from clearlane.claims.rules.registry import FieldFinding, RuleInputs, quoted, rule
from clearlane.claims.view import ClaimView
from clearlane.kernel import limits
from clearlane.x12.codes.dated_codes import DatedCodes

PLACE_OF_SERVICE = "place-of-service"


# Results are remembered by list: a list that an operator has changed is another one.
@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _first_day_after(known: DatedCodes, place: str, first: date, last: date) -> date | None:
    """Return the day from which a place is valid if that is after these days, or None."""
    if not known.covers(last) or known.is_valid(place, first, last):
        return None
    return next((p.first_day for p in known.periods(place) if p.first_day > last), None)


@rule("C641", paths=("lines[].place", "place"), x12="2400/SV1/05", reading=span)
def place_is_valid_on_the_day(
    view: ClaimView, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A place of service is on CMS's list on the day of service."""
    known = inputs.code_lists[PLACE_OF_SERVICE]
    given = [("place", view.place, days.first, days.last)]
    for at, (line, (first, last)) in enumerate(zip(view.lines, days.lines, strict=True)):
        service = first or last
        if line.place and service:
            given.append((f"lines[{at}].place", line.place, service, last or service))
    for path, place, first, last in given:
        since = _first_day_after(known, place, first, last) if place else None
        if since:
            yield (
                path,
                f"The place of service {quoted(place)} is valid from {since} on, and the service was on {last}; "
                "give a place that was valid on that day.",
            )
