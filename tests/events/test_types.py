"""The table of event types, and which types a subscription asks for."""

import pytest

from clearlane.events.types import (
    FAMILIES,
    TYPES,
    Audience,
    is_for_vendors,
    matching_types,
    unknown_patterns,
)

CLAIM_TYPES = {name for name in TYPES if name.startswith("claim.")}


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], set(TYPES)),
        (["*"], set(TYPES)),
        (["claim.*"], CLAIM_TYPES),
        (["ping"], {"ping"}),
        (["claim.paid", "claim.*"], CLAIM_TYPES),
        (["route.*", "ping"], {"route.down", "route.up", "ping"}),
    ],
)
def test_patterns_ask_for_types(patterns, expected):
    assert matching_types(patterns) == expected
    assert not unknown_patterns(patterns)


@pytest.mark.parametrize("pattern", ["", "claim", "claim.", "claims.*", "ping.*", "claim.p*", ".*"])
def test_a_pattern_that_matches_nothing_is_named(pattern):
    assert unknown_patterns(["claim.*", pattern]) == [pattern]


def test_every_type_has_a_family_and_a_sentence():
    assert FAMILIES == (
        "claim", "payment", "eligibility", "enrollment", "document", "file", "payer", "webhook", "baa",
        "route",
    )  # fmt: skip
    assert all(row.meaning.endswith(".") for row in TYPES.values())
    operators = {name for name in TYPES if not is_for_vendors(name)}
    assert operators == {"payment.unmatched", "route.down", "route.up"}
    assert {row.audience for row in TYPES.values()} == set(Audience)
