"""What values of filters are called: choices by their words, days as pages write them, abbreviations as they are."""

import pytest

from clearlane.claims.claim_filters import CLAIM_FILTERS
from clearlane.console.claims.claim_filters import CHOICE_WORDS, ClaimFilterForm
from clearlane.console.frame.filter_words import choice_words, value_words

FILTERS = {one.name: one for one in CLAIM_FILTERS}


@pytest.mark.parametrize(
    ("name", "choice", "words"),
    [
        ("awaiting", "277CA", "277CA"), ("awaiting", "secondary_claim", "Claim for the next payer"),
        ("label", "wants_records", "Payer wants records"), ("state", "not_accepted", "Not accepted"),
        ("filing_limit", "14", "Within 14 days"),
    ],
)  # fmt: skip
def test_a_choice_is_called_what_people_call_it(name, choice, words):
    assert choice_words(FILTERS[name], choice, CHOICE_WORDS) == words
    assert value_words(FILTERS[name], choice.upper(), CHOICE_WORDS) == words


def test_other_values_are_shown_as_they_are_and_days_as_pages_write_them():
    assert value_words(FILTERS["service_from"], "2026-01-05", {}) == "Jan 5, 2026"
    assert value_words(FILTERS["payer"], "TST01", {}) == "TST01"


def test_chips_of_claims_read_as_parts_of_a_sentence():
    given = {
        "awaiting": "277ca", "overdue": "true", "label": "not_accepted", "kind": "dental", "filing_limit": "3",
    }  # fmt: skip
    chips = [text for text, _ in ClaimFilterForm(given=given).chips()]
    assert chips == [
        "awaiting 277CA", "overdue", "not accepted", "dental", "filing limit within 3 days",
    ]  # fmt: skip
