"""What was given is remembered for every repaired field, in the sender's spelling."""

from datetime import date

import pytest

from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.claims.given_values import given_values
from clearlane.claims.read.decode import open_document
from clearlane.claims.read.repairs import Repair
from clearlane.claims.rules import RuleInputs, repair_and_check

DAY = date(2025, 3, 14)


@pytest.fixture
def claim():
    import json

    document = samples.document(V3_MEDICAL, day=DAY)
    document["Claims"][0] |= {
        "F02_PatientNameLast": "arden",
        "F21_DiagnosisCodes": ["e11.9", "I10"],
    }
    document["Claims"][0]["F24_ClaimLines"][0]["F24D_HcpcsProcedureCode"] = "g0438"
    return open_document(json.dumps(document, default=str).encode(), V3_MEDICAL).read(0, 1)[0].claim


def test_each_repaired_field_has_the_value_that_was_given(claim):
    checked = repair_and_check(claim, RuleInputs(today=DAY, available=frozenset()), at="Claims[0]")
    assert checked.given["F02_PatientNameLast"] == "arden"
    assert checked.given["F21_DiagnosisCodes"] == "e11.9, I10"
    assert checked.given["F24_ClaimLines[0].F24D_HcpcsProcedureCode"] == "g0438"
    assert checked.given.keys() == {repair.field for repair in checked.repairs}


@pytest.mark.parametrize(
    "path", ["F99_Nothing", "F24_ClaimLines[7].F24F_Charges", "F02_PatientNameLast.More"]
)
def test_a_field_that_was_not_given_is_empty(claim, path):
    assert given_values(claim, [Repair(path, "case"), Repair("", "names")]) == {path: ""}
