"""Repairs are shown folded: one sentence a kind."""

from datetime import date

import pytest

from clearlane.claims.forms import FORMS, samples
from clearlane.claims.read.decode import read_document
from clearlane.claims.read.repair_summary import SENTENCES, summarize_repairs
from clearlane.claims.read.repairs import repair


def test_many_repairs_of_one_kind_are_one_sentence():
    repairs = [(f"F{at}", "case") for at in range(44)] + [("F33_BillingProviderZip", "completed")]
    assert summarize_repairs(repairs) == [
        "44 fields were put in upper case.",
        "F33_BillingProviderZip was completed with 9998.",
    ]


def test_a_field_repaired_twice_in_one_way_counts_once():
    assert summarize_repairs([("A", "text"), ("A", "text")]) == [
        "A came as a number and was read as text."
    ]


def test_a_kind_that_is_not_known_yet_is_shown_all_the_same():
    assert summarize_repairs([("A", "odd"), ("B", "odd")]) == ["2 fields were repaired: odd."]


@pytest.mark.parametrize("kind", FORMS.values())
def test_every_repair_of_the_samples_has_its_sentence(kind):
    document = samples.document(kind, day=date(2025, 3, 14), full=True)
    import json

    _, (found,) = read_document(json.dumps(document).encode(), kind)
    assert {each.kind for each in repair(found.claim)[1]} <= SENTENCES.keys()
