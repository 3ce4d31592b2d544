"""What payers want: patterns of member ids, and the edits that follow from a payer's fields."""

import pytest

from clearlane.claims.rules import RULES
from clearlane.payers.edits import PAYER_EDITS, PROGRAM_EDITS, edits_of, member_id_pattern
from clearlane.payers.model import Payer
from tests.cases import every_case

PAYER = Payer("Medical", "Meadow Mutual", "MDW10", "MDW10")


@every_case(
    ("pattern", "id", "fits"),
    [
        ("W#{9}|@@@#{6,9}", "W123456789", True),
        ("W#{9}|@@@#{6,9}", "ABC123456", True),
        ("W#{9}|@@@#{6,9}", "W12345678", False),
        ("W#{9}|@@@#{6,9}", "AB1234567", False),
        ("??-#", "A1-7", True),
        ("??-#", "A1-77", False),
    ],
)
def test_a_pattern_fits_whole_ids(pattern, id, fits):
    assert bool(member_id_pattern(pattern).fullmatch(id)) is fits


@every_case("text", ["", "|", "a+", "(#)", "#{3,9}#{1,2}", "#{9,3}", "#{100}", "#" * 201])
def test_what_is_no_pattern_is_refused_with_what_would_pass(text):
    with pytest.raises(ValueError, match="# for a digit"):
        member_id_pattern(text)


def test_edits_are_those_named_those_of_the_program_and_those_of_other_fields():
    assert edits_of(None) == edits_of(PAYER) == frozenset()
    named = Payer("Medical", "M", "M1", "M1", program="Medicaid", edits=("taxonomy",))
    assert edits_of(named) == {"clia", "ndc", "taxonomy"}
    limited = Payer("Medical", "M", "M1", "M1", secondary_filing_days=90, member_id_pattern="#")
    assert edits_of(limited) == {"filing_limit", "member_id"}


def test_every_edit_has_a_rule_and_every_rule_of_an_edit_a_name():
    derived = {"filing_limit", "member_id", "attachments"}
    no_rules = {"cumulative_series"}  # how the payer takes a series of bills
    ruled = PAYER_EDITS.keys() - no_rules
    assert {rule.edit for rule in RULES.values()} - {""} == ruled | derived
    assert frozenset().union(*PROGRAM_EDITS.values()) <= PAYER_EDITS.keys() | derived
