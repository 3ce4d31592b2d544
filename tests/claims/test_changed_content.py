"""Changing a claim's JSON by the paths that findings name."""

import pytest

from clearlane.claims.forms import FORMS
from clearlane.claims.read.changed_content import path_faults, with_paths

FORM = FORMS["v3_medical"]
LINE = {"F24D_ProcedureCode": "99213", "F24F_Charges": "1"}
CONTENT = {
    "Svc_VendorClaimId": "V-1",
    "F28_TotalCharge": "2",
    "F24_ClaimLines": [{**LINE, "F24E_DiagnosisPointers": ["A", "B"]}, LINE],
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"f28_TOTALcharge": "9"}, {"F28_TotalCharge": "9"}),
        ({"F28_TotalCharge": None}, {"F28_TotalCharge": ...}),
        (
            {"f24_claimlines[1].f24f_charges": "9"},
            {"F24_ClaimLines": [CONTENT["F24_ClaimLines"][0], {**LINE, "F24F_Charges": "9"}]},
        ),
        (
            {"Claims[0].F24_ClaimLines[0].F24E_DiagnosisPointers[2]": "C"},
            {"F24_ClaimLines": [{**LINE, "F24E_DiagnosisPointers": ["A", "B", "C"]}, LINE]},
        ),
        # The places are those of the claim as it is, whatever else goes.
        (
            {
                "F24_ClaimLines[0]": None,
                "F24_ClaimLines[1].F24F_Charges": "3",
                "F24_ClaimLines[2]": LINE,
            },
            {"F24_ClaimLines": [{**LINE, "F24F_Charges": "3"}, LINE]},
        ),
        ({"F24_ClaimLines[0]": None, "F24_ClaimLines[1]": None}, {"F24_ClaimLines": []}),
        ({"F24_ClaimLines": [LINE]}, {"F24_ClaimLines": [LINE]}),
    ],
)
def test_a_path_changes_what_it_names(changes, expected):
    assert list(path_faults(FORM, CONTENT, changes)) == []
    wanted = {name: value for name, value in (CONTENT | expected).items() if value is not ...}
    assert with_paths(FORM, CONTENT, changes) == wanted


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("Nope", "no such field"),
        ("", "no such field"),
        ("F24_ClaimLines[0].Nope", "no such field"),
        ("F24_ClaimLines[-1]", "no such field"),
        ("F28_TotalCharge.x", "no such field"),
        ("F28_TotalCharge[0]", "leave out the place"),
        ("F24_ClaimLines[3].F24F_Charges", "The claim has 2 of them: [2] adds one"),
        ("F24_ClaimLines.F24F_Charges", "such as F24_ClaimLines[0]"),
        ("svc_vendorclaimid", "keeps the claim's id"),
    ],
)
def test_a_path_that_leads_nowhere_says_what_would_pass(path, words):
    (fault,) = path_faults(FORM, CONTENT, {path: "1"})
    assert fault.location == path
    assert words in fault.message


def test_what_is_named_twice_is_named():
    for changes in (
        {"F28_TotalCharge": "1", "f28_totalcharge": "2"},
        {"F24_ClaimLines": [], "F24_ClaimLines[0].F24F_Charges": "1"},
        {"F24_ClaimLines[0]": None, "f24_claimlines[0].F24F_Charges": "1"},
    ):
        faults = [*path_faults(FORM, CONTENT, changes)]
        assert faults
        assert all("named twice" in one.message for one in faults)
