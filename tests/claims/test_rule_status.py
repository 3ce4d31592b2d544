"""Statuses and sources of claim rules: codes of the lists, and places that payers' codes are traced to."""

from clearlane.claims.responses.ack_verdicts import allowed_entities
from clearlane.claims.responses.code_advice import ENTITY_LOOPS, STATUS_PLACES
from clearlane.claims.responses.rule_status import (
    CATEGORIES,
    GUIDE_STATUSES,
    PLACE_STATUSES,
    RULE_STATUSES,
    SOURCES,
    source_of,
    status_of,
)
from clearlane.claims.rules import RULES
from clearlane.kernel.finding import Severity
from clearlane.x12 import codes

# Statuses that name another segment than the rule does.
ELSEWHERE = {
    "C107": "A duplicate is known by its days.",
    "C112": "A duplicate is known by its days.",
    "C120": "A duplicate is known by its days.",
    "C612": "A duplicate is known by its days.",
    "C754": "A balance is that of the other payer's payment.",
}
STATED = {rule.id: status for rule in RULES.values() if (status := status_of(rule))}


def test_every_rule_that_finds_something_has_a_status_and_a_source():
    assert RULES.keys() - STATED.keys() == {
        rule.id for rule in RULES.values() if rule.severity is Severity.INFO
    }
    assert all(map(source_of, RULES.values()))
    assert {*CATEGORIES, *RULE_STATUSES, *SOURCES} <= RULES.keys()
    assert PLACE_STATUSES.keys() == {rule.x12 for rule in RULES.values()}


def test_categories_statuses_and_entities_are_of_the_lists():
    for id, (category, status, entity) in STATED.items():
        assert category in codes.load("status_categories"), id
        assert status in codes.load("statuses"), id
        assert not entity or entity in ENTITY_LOOPS.keys() | allowed_entities(), id
    vague = codes.load_column("statuses", 3)
    assert codes.load("statuses").keys() - vague.keys() >= set(GUIDE_STATUSES.values())
    assert not GUIDE_STATUSES.keys() & PLACE_STATUSES.keys()


def segment_of(place: str) -> str:
    """Return the segment of a place such as 2300/REF:F8/02; a line's own (SV1, SV3) as {line}."""
    parts = place.removeprefix("{e}/").split("/")
    name = next(part for part in parts if not part[0].isdigit()).partition(":")[0]
    return "{line}" if name.startswith("SV") and name != "SVD" else name


def test_a_payers_code_is_traced_to_the_segment_of_the_rule():
    """Whoever gets the status from a payer is shown a field of the segment that the rule is about."""
    other, traced = {}, 0
    for id, (_, status, _) in STATED.items():
        places = STATUS_PLACES.get(status, ())
        if places and id not in RULE_STATUSES:
            traced += 1
            segments = set(map(segment_of, places))
            if segment_of(RULES[id].x12) not in segments:
                other[id] = segments
    assert traced > 100
    assert other.keys() == ELSEWHERE.keys()
