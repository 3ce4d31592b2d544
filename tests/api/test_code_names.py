"""V3's names of codes: complete for the closed lists, one word each, and different from each other."""

import re

import pytest

from clearlane.api.v3 import code_names
from clearlane.claims.lifecycle import ClaimState, PayerDocumentKind
from clearlane.x12 import codes

TABLES = {
    "claim_payment_statuses": code_names.PAYMENT_ACTIONS,
    "payment_methods": code_names.PAYMENT_METHODS,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_code_of_a_closed_list_has_a_name(name):
    assert TABLES[name].keys() == codes.load(name).keys()


def test_every_category_that_is_named_is_in_the_list():
    assert code_names.STATUS_ACTIONS.keys() <= codes.load("status_categories").keys()


@pytest.mark.parametrize("table", [*TABLES.values(), code_names.STATUS_ACTIONS])
def test_names_are_one_word_each_and_differ(table):
    assert len(set(table.values())) == len(table)
    assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]+", name) for name in table.values())


def test_every_state_and_kind_of_document_has_a_name():
    assert code_names.CURRENT_STATES.keys() == set(ClaimState)
    assert code_names.DOCUMENT_TYPES.keys() == {*PayerDocumentKind, None}


@pytest.mark.parametrize(
    ("category", "payment_status", "name"),
    [
        ("", "", ""),
        ("A7", "", "AcknowledgementRejectedForInvalidInformation"),
        ("Z9", "", "Z9"),
        ("", "1", "ProcessedAsPrimary"),
        ("A7", "22", "ReversalOfPreviousPayment"),
        ("", "99", "99"),
    ],
)
def test_a_payer_action_is_the_name_of_its_code_or_the_code_itself(category, payment_status, name):
    assert code_names.payer_action(category, payment_status) == name


@pytest.mark.parametrize(
    ("code", "name"), [("CHK", "Check"), ("ACH", "Ach"), ("ZZ", "ZZ"), ("", None)]
)
def test_a_payment_method_is_null_where_there_is_none(code, name):
    assert code_names.payment_method(code) == name
