"""Field, form box, place and finding side by side.

Also tests `claims/write/derived_values` and `claims/finding`.
"""

import pytest

from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import FORMS
from clearlane.claims.responses.explain import explain
from clearlane.kernel.finding import Severity
from tests.claims.outgoing import dental, extended, medical, outgoing, random_claims

COB = {
    "F09_OtherInsuredNameLast": "Lund", "F09A_OtherInsuredGroupNum": "POL1", "F09_PatientRelationshipToInsured": "18",
    "F09D_OtherPlanName": "Silver", "X12_OtherPayerName": "Harbor Health Plan",
}  # fmt: skip


def by_field(claim, findings=(), **more):
    return {row.field: row for row in explain(outgoing(claim, **more), findings)}


def test_a_field_stands_beside_its_box_its_place_and_what_was_sent():
    row = by_field(medical())["F24_ClaimLines[0].F24F_Charges"]
    assert (row.box, row.label, row.given) == ("24F", "Charge", "100")
    assert row.sent == (("2400/SV1/02", "100"),)
    assert row.not_sent == ""


@pytest.mark.parametrize("kind", FORMS.values())
def test_every_filled_field_is_sent_or_says_why_not(kind):
    for claim in (*random_claims(kind, 25), extended(kind)):
        rows = by_field(claim)
        schema = kind
        names = {name for name in claim.__dict__ if name != schema.lines_field}
        assert names <= rows.keys()
        for row in rows.values():
            assert bool(row.sent) != bool(row.not_sent)
        for name, reason in kind.placements.not_sent.items():
            if name in rows:
                assert rows[name].not_sent == reason


def test_findings_stand_with_their_field():
    findings = [
        ClaimFinding(rule="C1", message="-", location="Claims[3].F24_ClaimLines[0].F24F_Charges"),
        ClaimFinding(rule="C2", message="-", location="Claims[3].F24_ClaimLines[0].F24E_DiagnosisPointers[1]"),
        ClaimFinding(rule="C3", message="-", location="Claims[3].F33_BillingProviderZip"),
        ClaimFinding(rule="C4", message="-", location="Claims[3].F24_ClaimLines[0].F24G_DaysOrUnits"),
        ClaimFinding(rule="C5", message="-", location="Claims[3].NoSuchField"),
    ]  # fmt: skip
    rows = by_field(medical(), findings)
    found = {row.field: [one.rule for one in row.findings] for row in rows.values() if row.findings}
    assert found == {
        "F24_ClaimLines[0].F24F_Charges": ["C1"],
        "F24_ClaimLines[0].F24E_DiagnosisPointers": ["C2"],
        "F33_BillingProviderZip": ["C3"],
        "F24_ClaimLines[0].F24G_DaysOrUnits": ["C4"],
        "NoSuchField": ["C5"],
    }
    missing = rows["F33_BillingProviderZip"]
    assert (missing.box, missing.given, missing.sent) == ("33", "", ())
    assert rows["NoSuchField"].label == ""


def test_the_patient_is_shown_where_the_insured_stands_only_if_both_are_one():
    assert by_field(medical())["F02_PatientNameLast"].sent == (("2010BA/NM1/03", "ARDEN"),)
    child = {"F06_PatientRelationshipToInsured": "19", "F05_PatientAddress1": "1 Lark St"}
    assert by_field(medical(**child))["F02_PatientNameLast"].sent == (("2010CA/NM1/03", "ARDEN"),)


def test_a_field_is_shown_at_the_place_where_its_own_value_stands():
    rows = by_field(medical(**COB))
    assert rows["F09A_OtherInsuredGroupNum"].sent == (
        ("2320/SBR/03", "POL1"),
        ("2330A/NM1/09", "POL1"),
    )
    assert rows["F09D_OtherPlanName"].sent == ()
    assert rows["X12_OtherPayerName"].sent[0] == ("2330B/NM1/03", "HARBOR HEALTH PLAN")
    account = medical(F26_PatientAcctNumber="ACCT1")
    assert by_field(account)["F26_PatientAcctNumber"].sent == ()
    row = by_field(account, account_as_number=True)["F26_PatientAcctNumber"]
    assert row.sent == (("2300/CLM/01", "ACCT1"),)


@pytest.mark.safe_default(9)
def test_what_nobody_stated_is_shown_with_what_it_was_made_of():
    """The other payer's id, the other insured's, and what the patient still owes."""
    line = {"X12_PrimaryPayerPaidAmount": "60", "X12_AdjudicationOrPaymentDate": "2026-04-12",
            "X12_LinePatientResponsibilityAdjustments": "1:40"}  # fmt: skip
    claim = medical(line, **COB, F29_PatientAmountPaid="15")
    at = "Claims[0].F24_ClaimLines[0].X12_LineRemainingPatientLiability"
    info = ClaimFinding(rule="C9", message="-", severity=Severity.INFO, location=at)
    rows = by_field(claim, [info], other_payer_id="HARB1")
    owed = rows["F24_ClaimLines[0].X12_LineRemainingPatientLiability"]
    assert (owed.given, owed.sent, owed.not_sent) == ("", (("2430/AMT:EAF/02", "25"),), "")
    assert "less what the patient paid" in owed.derived
    assert owed.findings == (info,)
    payer = rows["X12_OtherPayerName"]
    assert payer.sent == (("2330B/NM1/03", "HARBOR HEALTH PLAN"), ("2330B/NM1/09", "HARB1"))
    assert "directory" in payer.derived
    assert rows["X12_OtherInsuredId"].sent == (("2330A/NM1/09", "POL1"),)
    assert "box 9a" in rows["X12_OtherInsuredId"].derived

    unknown = by_field(claim)["X12_OtherPayerName"]
    assert unknown.sent[1] == ("2330B/NM1/09", "HARBORHEALTHPLAN")
    assert "made from its name" in unknown.derived

    stated = by_field(
        medical(line | {"X12_LineRemainingPatientLiability": "7"}, **COB, X12_OtherInsuredId="M3"),
        other_payer_id="HARB1",
    )
    owed = stated["F24_ClaimLines[0].X12_LineRemainingPatientLiability"]
    assert (owed.given, owed.sent, owed.derived) == ("7", (("2430/AMT:EAF/02", "7"),), "")
    assert stated["X12_OtherInsuredId"].sent == (("2330A/NM1/09", "M3"),)
    assert stated["X12_OtherInsuredId"].derived == ""
    assert stated["F09A_OtherInsuredGroupNum"].sent == (("2320/SBR/03", "POL1"),)


def test_adjustments_are_shown_whole():
    line = {"X12_PrimaryPayerPaidAmount": "60", "X12_LineContractualObligationAdjustments": "45:30,97:10",
            "X12_AdjudicationOrPaymentDate": "2026-04-12"}  # fmt: skip
    rows = by_field(medical(line, **COB))
    row = rows["F24_ClaimLines[0].X12_LineContractualObligationAdjustments"]
    assert row.sent == (("2430/CAS:CO/02", "CO*45*30**97*10"),)


def test_teeth_are_shown_on_their_line():
    line = {"Teeth": [{"F27_Tooth": "30", "F28_ToothSurface": ["M", "O", None, None, None]}]}
    row = by_field(dental(line))["LineItems[0].Teeth"]
    assert row.given == "30 M, O"
    assert row.sent == (("2400/TOO/02", "30"), ("2400/TOO/03", "M:O"))


def test_a_row_is_not_printed_with_what_it_holds():
    assert "ARDEN" not in repr(explain(outgoing(medical())))
