"""Files of claims with another payer: clean by two other readers and by our own checker, whatever the claims state.

Also tests `claims/cob`, `claims/forms/medical` and `claims/forms/dental`.
"""

import json
from itertools import product

import pytest
from x12sdk.io import X12ModelReader

from clearlane.claims.forms import V3_DENTAL, V3_FORMS, V3_MEDICAL, form_of
from clearlane.claims.forms.samples import minimal_claim
from clearlane.claims.read.decode import read_claim
from clearlane.claims.rules import RuleInputs, repair_and_check
from clearlane.kernel.finding import Severity
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import parse
from clearlane.x12.tree import Loop
from tests.claims.outgoing import DAY, outgoing, refusals, written

MEDICAL, DENTAL = V3_MEDICAL, V3_DENTAL
CLAIMS_MIN = 60
DECIDED = DAY.isoformat()
OTHER = {
    "F09_OtherInsuredNameLast": "Lund", "F09_OtherInsuredNameFirst": "Ivo", "F09A_OtherInsuredGroupNum": "GRP300",
    "F09_PatientRelationshipToInsured": "Child", "X12_OtherPayerName": "Harbor Health Plan", "F11D_OtherPlan": True,
    "F33_BillingProviderZip": "787011234", "F33A_BillingProviderNpi": "1234567893",
}  # fmt: skip
DENTAL_OTHER = {
    "F04_OtherCoverage": True, "F05_OtherInsuredLastName": "Lund", "F05_OtherInsuredFirstName": "Ivo",
    "F08_OtherInsuredPolicy": "M3000003", "F09_OtherInsuredGrpNumber": "GRP300",
    "F10_OtherPatientRelationship": "Child", "F11_OtherPayerName": "Harbor Health Plan",
    "F48_BillingDentistZip": "787011234",
}  # fmt: skip
CHILD = {
    "F06_PatientRelationshipToInsured": "Child", "F02_PatientNameFirst": "Milo", "F03_PatientDob": "2015-06-01",
    "F05_PatientAddress1": "12 Fernhill Road",
}  # fmt: skip
DENTAL_CHILD = {
    "F18_PatientRelationship": "Child", "F20_PatientLastName": "Arden", "F20_PatientFirstName": "Milo",
    "F20_PatientAddress": "12 Fernhill Road", "F20_PatientCity": "Austin", "F20_PatientST": "TX",
    "F20_PatientZip": "78701", "F20_PatientDOB": "2015-06-01", "F22_PatientSex": "M",
}  # fmt: skip
OF_CLAIM = {
    "X12_ClaimPrimaryPayerPaidAmount": 120, "X12_ClaimAdjudicationDate": DECIDED,
    "X12_ClaimContractualObligationAdjustments": "45:50", "X12_ClaimPatientResponsibilityAdjustments": "1:20,2:10",
}  # fmt: skip
OF_LINE = {
    "X12_PrimaryPayerPaidAmount": 60, "X12_AdjudicationOrPaymentDate": DECIDED,
    "X12_LineContractualObligationAdjustments": "45:25", "X12_LinePatientResponsibilityAdjustments": "1:10,2:5",
}  # fmt: skip
OF_DENTAL_LINE = {
    "X12_PrimaryPaidAmount": "60", "X12_AdjudicationDate": DECIDED,
    "Adjustments": [
        {"X12_AdjustmentGroupCode": group, "X12_AdjustmentReasonCode": reason, "X12_AdjustmentAmount": amount}
        for group, reason, amount in (("CO", "45", "25"), ("PR", "2", "10"))
    ],
}  # fmt: skip


def medical_claims():
    """Decided for the claim, for its lines, or not at all; Medicare second or not; and so on."""
    ways = product(
        ("claim", "lines", ""), (False, True), (False, True), (False, True), ("", "12.50")
    )
    for level, medicare, child, stated, paid in ways:
        claim = minimal_claim(MEDICAL, DAY) | OTHER | (CHILD if child else {})
        line = claim["F24_ClaimLines"][0] | (OF_LINE if level == "lines" else {})
        other = line | {"F24D_HcpcsProcedureCode": "85025"}
        claim |= (OF_CLAIM if level == "claim" else {}) | {"F28_TotalCharge": 200}
        if paid:
            claim["F29_PatientAmountPaid"] = paid
        if medicare:
            claim["F01_ClaimType" if level else "X12_OtherPayerClaimType"] = "Medicare"
            claim["X12_MedicareSecondaryReason"] = "12"
        if stated:
            claim["X12_OtherInsuredId"] = "M3000003"
            if level == "claim":
                claim["X12_ClaimRemainingPatientLiability"] = "7.25"
            if level == "lines":
                other["X12_LineRemainingPatientLiability"] = "7.25"
        yield claim | {"F24_ClaimLines": [line, other]}, level


def dental_claims():
    for level, child, stated, paid in product(
        ("lines", ""), (False, True), (False, True), ("", "5")
    ):
        claim = minimal_claim(DENTAL, DAY) | DENTAL_OTHER | (DENTAL_CHILD if child else {})
        line = claim["LineItems"][0] | (OF_DENTAL_LINE if level else {})
        if paid:
            claim["X12_PatientAmountPaid"] = paid
        if level and stated:
            line["X12_LineRemainingPatientLiability"] = "7.25"
        yield claim | {"LineItems": [line]}, level


CLAIMS = {MEDICAL: medical_claims, DENTAL: dental_claims}


def files(kind):
    """The claims as they go out, in a file for payers of the directory and one for others."""
    outs = []
    for number, (raw, level) in enumerate(CLAIMS[kind](), 1):
        read = read_claim(kind, json.dumps(raw).encode(), "Claims[0]")
        checked = repair_and_check(read.claim, RuleInputs(today=DAY, available=frozenset()))
        assert checked.accepted, [(f.rule, f.message) for f in checked.findings]
        assert bool(form_of(checked.claim).earlier_decision(checked.claim)) == bool(level)
        outs.append((number, checked.claim))
    for id in ("HARB1", ""):
        yield (
            written([outgoing(claim, at, other_payer_id=id) for at, claim in outs]),
            len(outs),
        )


def levels_of_remaining(claim: Loop) -> set[str]:
    """The loops of a claim that say what the patient still owes."""
    loops = [*claim.descendants("2320"), *claim.descendants("2430")]
    return {loop.id for loop in loops if loop.segment("AMT", "EAF")}


@pytest.mark.safe_default(9)
@pytest.mark.parametrize("kind", V3_FORMS)
def test_files_of_claims_with_another_payer_are_clean(kind, caplog):
    count = 0
    for data, claims in files(kind):
        found = [f for f in check(data).findings if f.severity is not Severity.INFO]
        assert [(f.rule, f.message) for f in found] == []
        count += claims
        if kind is MEDICAL:  # neither knows dental claims
            assert refusals(data, caplog) == []
            with X12ModelReader(data.decode()) as reader:
                assert len(list(reader.models())) == 1
        root = next(parse(data, check=False).sets()).root
        wanted = [
            {"claim": {"2320"}, "lines": {"2430"}}.get(level, set()) for _, level in CLAIMS[kind]()
        ]
        assert [levels_of_remaining(one) for one in root.descendants("2300")] == wanted
    assert kind is DENTAL or count >= CLAIMS_MIN
