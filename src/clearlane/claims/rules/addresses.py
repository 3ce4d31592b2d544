"""C43: whether the parts of an address belong together."""

from collections.abc import Iterator
from functools import cache, lru_cache

from clearlane.claims.rules.registry import WARNING, FieldFinding, RuleInputs, quoted, rule
from clearlane.claims.view import ClaimView
from clearlane.kernel import limits
from clearlane.kernel.formats import is_zip
from clearlane.x12 import codes

ADDRESSES = ("billing", "pay_to", "facility", "patient", "subscriber")
PREFIX_LENGTH = 3
COUNTRIES = tuple(f"{whose}.country" for whose in ADDRESSES)
_WITHOUT_POSTAL_CODES = """
AE AG AO AW BF BI BJ BS BW BZ CD CF CG CI CK CM DJ DM ER FJ GD GM GQ GY HK KI KM KP ML MO MR MW NR QA RW SB SC SL SR ST
TG TK TO TV UG VU YE ZW
"""
WITHOUT_POSTAL_CODES = frozenset(_WITHOUT_POSTAL_CODES.split())
"""Countries whose posts have no postal codes, by the Universal Postal Union."""


@cache
def states_by_prefix() -> dict[str, frozenset[str]]:
    """Return the states in which ZIP codes begin with these three digits."""
    found: dict[str, set[str]] = {}
    for state, ranges in codes.load("zip_prefixes").items():
        for each in ranges.split():
            first, _, last = each.partition("-")
            for number in range(int(first), int(last or first) + 1):
                found.setdefault(f"{number:03}", set()).add(state)
    return {prefix: frozenset(states) for prefix, states in found.items()}


@cache
def states() -> frozenset[str]:
    """Return the states that have ZIP codes."""
    return frozenset(codes.load("zip_prefixes"))


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _is_elsewhere(state: str, zip_code: str) -> bool:
    """Return whether a ZIP code is one of another state; other faults of the two are those of other rules."""
    if not is_zip(zip_code) or state not in states():
        return False
    return state not in states_by_prefix().get(zip_code[:PREFIX_LENGTH], (state,))


@rule(
    "C431",
    paths=[f"{whose}.zip" for whose in ADDRESSES],
    x12="N4/03",
    severity=WARNING,
)
def zip_is_in_the_state(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A ZIP code is one of its state."""
    for whose in ADDRESSES:
        address = getattr(view, whose)
        state, zip_code = address.state, address.zip
        if state and zip_code and _is_elsewhere(state, zip_code):
            yield (
                f"{whose}.zip",
                f"The ZIP code {quoted(zip_code)} is not one of {quoted(state)}; check both.",
            )


@rule(
    "C432",
    paths=COUNTRIES,
    x12="N4/03",
    severity=WARNING,
)
def country_has_postal_codes(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An address in a country without postal codes has none."""
    for whose in ADDRESSES:
        address = getattr(view, whose)
        if address.zip and address.country in WITHOUT_POSTAL_CODES:
            yield (
                f"{whose}.zip",
                f"The country {quoted(address.country)} has no postal codes; leave the code out, or check the country.",
            )
