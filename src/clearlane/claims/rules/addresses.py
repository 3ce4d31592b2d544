"""C43: whether the parts of an address belong together."""

from collections.abc import Iterator
from functools import cache

from clearlane.claims.rules.registry import WARNING, FieldFinding, RuleInputs, quoted, rule
from clearlane.claims.view import ClaimView
from clearlane.kernel.formats import is_zip
from clearlane.x12 import codes

ADDRESSES = ("billing", "pay_to", "facility", "patient", "subscriber")
PREFIX_LENGTH = 3


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


@rule(
    "C431",
    paths=[f"{whose}.zip" for whose in ADDRESSES],
    x12="N4/03",
    severity=WARNING,
)
def zip_is_in_the_state(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A ZIP code is one of its state."""
    known = states_by_prefix()
    for whose in ADDRESSES:
        address = getattr(view, whose)
        state, zip_code = address.state, address.zip
        if not (state and zip_code and is_zip(zip_code)):
            continue
        if state not in known.get(zip_code[:PREFIX_LENGTH], (state,)):
            yield (
                f"{whose}.zip",
                f"The ZIP code {quoted(zip_code)} is not one of {quoted(state)}; check both.",
            )
