"""The terms that a claim is found by: names without case, accents and punctuation.

Also tests `kernel/compared_names`.
"""

import json
from datetime import date

import pytest

from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, samples
from clearlane.claims.read.decode import open_document
from clearlane.claims.search_terms import search_terms
from clearlane.kernel.compared_names import name_start, search_name


def a_claim(kind, **changes):
    document = samples.document(kind, day=date(2026, 1, 15), full=True)
    document["Claims"][0].update(changes)
    content = json.dumps(document, default=str).encode()
    return open_document(content, kind, claims_max=1).read(0, 1)[0].claim


@pytest.mark.parametrize(
    ("text", "name", "start"),
    [
        ("Arden", "ARDEN", "ARD"),
        ("O'Árden-Byrne ", "OARDENBYRNE", "OAR"),
        ("de la Cruz", "DELACRUZ", "DEL"),
        ("Ng", "NG", "NG"),
        ("", "", ""),
    ],
)
def test_names_are_compared_without_case_accents_and_punctuation(text, name, start):
    assert (search_name(text), name_start(text)) == (name, start)


def test_a_claim_is_found_by_account_patient_start_of_the_name_and_member_id():
    claim = a_claim(
        V3_MEDICAL,
        F02_PatientNameLast="O'Arden",
        F03_PatientDob="1981-03-04",
        F26_PatientAcctNumber=" ACC-7 ",
        F01A_InsuredId="xj-4471",
    )
    terms = search_terms(claim)
    assert terms == ("ACC-7", ("OARDEN", "1981-03-04"), "OAR", "XJ4471")
    assert "OARDEN" not in repr(terms)


def test_a_dental_claim_for_the_insured_is_found_by_the_insureds_name():
    claim = a_claim(V3_DENTAL, F12_InsuredLastName="Arden", F13_InsuredDOB="1981-03-04")
    terms = search_terms(
        claim.model_copy(update={"F20_PatientLastName": None, "F20_PatientDOB": None})
    )
    assert terms[1:3] == (("ARDEN", "1981-03-04"), "ARD")
    assert terms.member == search_name(claim.F15_InsuredID)
