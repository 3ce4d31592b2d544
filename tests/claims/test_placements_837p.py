"""Medical claims as an 837P: accepted by an independent parser, free of findings, each field in its place.

Also tests `claims/write/placements_837` and `claims/cob`.
"""

import pytest

from clearlane.claims.forms import V3_MEDICAL
from clearlane.claims.forms.samples import minimal_claim
from clearlane.kernel.finding import Severity
from clearlane.x12.checker.check import check
from tests.cases import by_profile
from tests.claims.outgoing import (
    DAY,
    extended,
    medical,
    outgoing,
    random_claims,
    refusals,
    segments,
    written,
)

MEDICAL = V3_MEDICAL
# So many use every row of the tables: tests/claims/test_placement.
CLAIMS = by_profile(thorough=250, usual=100, quick=100)

# What our checker may say of a valid claim, by rule and loop, and why the claim is sent all the same.
KNOWN = {
    (
        "X837-ADDRESS",
        "2010AA",
    ): "A billing ZIP code that was not given is left out, as was decided.",
    ("X837-NAME", "2310A"): "A referring provider may be given without a first name.",
    ("X837-NAME", "2310D"): "A supervising provider may be given without a first name.",
    ("X837-NAME", "2420E"): "An ordering provider may be given without a first name.",
    ("VAL-ZIP4", "2310C"): "Only the billing ZIP code is completed to nine digits.",
    ("X837-PAID", "2300"): "What the patient paid is the caller's word.",
}
COB = {
    "F09_OtherInsuredNameLast": "Lund", "F09_OtherInsuredNameFirst": "Ivo", "F09A_OtherInsuredGroupNum": "POL1",
    "F09_PatientRelationshipToInsured": "Spouse", "X12_OtherPayerName": "Harbor Health Plan",
}  # fmt: skip
CHILD = {
    "F06_PatientRelationshipToInsured": "Child", "F02_PatientNameFirst": "Milo", "F03_PatientDob": "2016-01-02",
    "F05_PatientAddress1": "12 Fernhill Road",
}  # fmt: skip
RENDERING = {
    "X12_RendProviderNameLast": "Fenn", "X12_RendProviderNameFirst": "Oskar", "X12_RenderingNPI": "1679576722",
}  # fmt: skip
FACILITY = {
    "F32_FacilityName": "Fernhill Clinic", "F32_FacilityAddress1": "9 Lark St", "F32_FacilityCity": "Austin",
    "F32_FacilityState": "TX", "F32_FacilityZip": "787011234",
}  # fmt: skip


@pytest.fixture(scope="module")
def file() -> bytes:
    """Random valid claims in one interchange."""
    outs = [
        outgoing(claim, at, account_as_number=at % 2 == 0)
        for at, claim in enumerate(random_claims(MEDICAL, CLAIMS))
    ]
    return written(outs)


def test_the_witness_accepts_every_random_claim(file, caplog):
    assert refusals(file, caplog) == []


def test_every_random_claim_is_clean_here(file):
    found = {
        (finding.rule, finding.position.loop)
        for finding in check(file).findings
        if finding.severity is not Severity.INFO
    }
    assert found <= KNOWN.keys()


@pytest.mark.parametrize("claim", [medical(), extended(MEDICAL)])
def test_the_minimal_and_the_extended_claim_are_accepted(claim, caplog):
    data = written([outgoing(claim)])
    assert refusals(data, caplog) == []
    found = [finding for finding in check(data).findings if finding.severity is Severity.ERROR]
    assert {(finding.rule, finding.position.loop) for finding in found} <= {
        ("X837-ADDRESS", "2010AA")
    }


def test_a_claim_with_only_the_required_fields():
    number = outgoing(medical()).number
    assert segments(medical()) == [
        "HL*1**20*1",
        "NM1*85*2*FERNHILL FAMILY PRACTICE",
        "N3*12 FERNHILL ROAD",
        "N4*AUSTIN*TX",
        "REF*EI*123456789",
        "HL*2*1*22*0",
        "SBR*P*18*******ZZ",
        "NM1*IL*1*ARDEN*ROSA****MI*II4711",
        "N3*12 FERNHILL ROAD",
        "N4*AUSTIN*TX*78701",
        "DMG*D8*19860420*F",
        "NM1*PR*2*MEADOW MUTUAL*****PI*MM001",
        f"CLM*{number}*100***11:B:1*Y*C*N*Y",
        f"REF*D9*{number}",
        "HI*ABK:J029*ABF:R059",
        "LX*1",
        "SV1*HC:99213*100*UN*1***1",
        "DTP*472*D8*20260410",
        f"REF*6R*{number}-1",
    ]


def test_a_patient_who_is_not_the_insured_has_a_level_of_its_own():
    rows = segments(medical(**CHILD))
    assert rows[5:16] == [
        "HL*2*1*22*1",
        "SBR*P********ZZ",
        "NM1*IL*1*ARDEN*ROSA****MI*II4711",
        "NM1*PR*2*MEADOW MUTUAL*****PI*MM001",
        "HL*3*2*23*0",
        "PAT*19",
        "NM1*QC*1*ARDEN*MILO",
        "N3*12 FERNHILL ROAD",
        "N4*AUSTIN*TX*78701",
        "DMG*D8*20160102*F",
        rows[15],
    ]
    assert rows[15].startswith("CLM*")


def test_the_patient_adds_what_the_same_insured_did_not_say():
    rows = segments(medical(F02_PatientNameMiddle="J", F02_PatientSuffix="Jr"))
    assert "NM1*IL*1*ARDEN*ROSA*J**JR*MI*II4711" in rows


def test_phones_of_patients_travel_with_property_and_casualty_claims_only():
    phones = {"F07_InsuredPhone": "5125550142", "F05_PatientPhone": "5125550143"}
    assert not any(row.startswith("PER") for row in segments(medical(**phones)))
    rows = segments(medical(**phones, **CHILD, F01_ClaimType="Auto"))
    assert "PER*IC**TE*5125550142" in rows
    assert "PER*IC**TE*5125550143" in rows


def test_the_directory_names_the_payer():
    rows = segments(medical(), payer_name="HARBOR HEALTH PLAN")
    assert "NM1*PR*2*HARBOR HEALTH PLAN*****PI*MM001" in rows


def test_an_address_of_the_payer_is_sent_whole_or_not_at_all():
    street = {"F00_PayerAddress1": "PO Box 12", "F00_PayerCity": "Austin", "F00_PayerState": "TX"}
    assert "N3*PO BOX 12" not in segments(medical(**street))
    rows = segments(medical(**street, F00_PayerZip="78701"))
    assert rows[rows.index("N3*PO BOX 12") + 1] == "N4*AUSTIN*TX*78701"


def test_an_ssn_stands_in_for_an_ein():
    ssn = {"F25_FederalTaxIdSsn": "987-65-4320"}
    assert "REF*SY*987654320" in segments(medical(F25_FederalTaxIdEin=None, **ssn))
    assert "REF*SY*987654320" not in segments(medical(**ssn))


def test_a_person_who_bills_has_a_first_name():
    rows = segments(medical(F33_BillingProviderNameFirst="Nora", F33_BillingProviderSuffix="MD"))
    assert "NM1*85*1*FERNHILL FAMILY PRACTICE*NORA***MD" in rows
    assert "NM1*85*2*FERNHILL FAMILY PRACTICE" in segments(medical(F33_BillingProviderSuffix="MD"))


def test_a_group_is_named_only_where_it_has_no_number():
    assert "SBR*P*18**GOLD*****ZZ" in segments(medical(F11C_PlanName="Gold"))
    number = {"F11_InsuredsPolicyGroupOrFecaNumber": "G1"}
    assert "SBR*P*18*G1******ZZ" in segments(medical(F11C_PlanName="Gold", **number))


def test_accidents_come_with_day_and_state():
    rows = segments(
        medical(
            F10A_PatientCondEmployment=True,
            F10B_PatientCondAutoAccident=True,
            F10B_PatientCondAutoAccidentState="TX",
            F15_AccidentDate="2026-04-01",
        )
    )
    assert next(row for row in rows if row.startswith("CLM")).endswith("*AA:EM::TX")
    assert "DTP*439*D8*20260401" in rows


@pytest.mark.parametrize(
    ("days", "row"),
    [
        (("2026-04-01", "2026-04-09"), "DTP*314*RD8*20260401-20260409"),
        (("2026-04-01", "2026-04-01"), "DTP*314*RD8*20260401-20260401"),
        (("2026-04-01", None), "DTP*360*D8*20260401"),
        ((None, "2026-04-09"), "DTP*361*D8*20260409"),
    ],
)
def test_a_disability_is_reported_by_the_days_that_are_known(days, row):
    rows = segments(medical(X12_DisabilityDateFrom=days[0], X12_DisabilityDateTo=days[1]))
    assert [found for found in rows if found.startswith(("DTP*31", "DTP*36"))] == [row]


def test_the_number_of_an_earlier_claim_goes_with_a_replacement():
    original = {"F22_OriginalReferenceNumber": "ORIG1"}
    assert "REF*F8*ORIG1" not in segments(medical(**original))
    rows = segments(medical(**original, F22_MedicaidResubmissionCode="Replacement"))
    assert "REF*F8*ORIG1" in rows
    assert ":B:7*" in next(row for row in rows if row.startswith("CLM"))


def test_zeros_that_say_nothing_are_not_sent():
    zeros = {
        "F29_PatientAmountPaid": 0,
        "X12_ClaimContractMonetaryAmount": 0,
        "F29_PayerAmountPaid": 0,
    }
    line = {"X12_ContractMonetaryAmount": 0, "X12_PrimaryPayerPaidAmount": 0}
    assert segments(medical(line, **zeros)) == segments(medical())


def test_glasses_tell_every_reason():
    rows = segments(medical(X12_SpectacleLenses="L2,L3", X12_SpectacleFrames="L5"))
    assert [row for row in rows if row.startswith("CRC")] == ["CRC*E1*Y*L2*L3", "CRC*E3*Y*L5"]


def test_a_blank_diagnosis_moves_the_pointers():
    line = {"F24E_DiagnosisPointers": ["C", "A", "C"]}
    rows = segments(medical(line, F21_DiagnosisCodes=["J02.9", None, "R05.9"]))
    assert "HI*ABK:J029*ABF:R059" in rows
    assert "SV1*HC:99213*100*UN*1***2:1" in rows


def test_icd_9_has_code_lists_of_its_own():
    assert "HI*BK:5273*BF:V700" in segments(
        medical(F21_IcdIndicator="9", F21_DiagnosisCodes=["527.3", "V70.0"])
    )


def test_the_rendering_provider_is_sent_only_if_another():
    rows = segments(medical(**RENDERING, X12_RendProviderTaxonomyCode="207Q00000X"))
    at = rows.index("NM1*82*1*FENN*OSKAR****XX*1679576722")
    assert rows[at + 1] == "PRV*PE*PXC*207Q00000X"
    same = segments(medical(**RENDERING, F33A_BillingProviderNpi="1679576722"))
    assert not any(row.startswith("NM1*82") for row in same)


def test_a_rendering_provider_without_npi_is_known_by_its_name():
    name = {"X12_RendProviderNameLast": "Fernhill Family Practice"}
    assert not any(row.startswith("NM1*82") for row in segments(medical(**name)))
    other = segments(
        medical(X12_RendProviderNameLast="Larkspur Clinic", X12_RendProviderSuffix="MD")
    )
    assert "NM1*82*2*LARKSPUR CLINIC" in other


def test_the_npi_of_the_lines_is_the_rendering_providers():
    name = {"X12_RendProviderNameLast": "Fenn", "X12_RendProviderNameFirst": "Oskar"}
    rows = segments(medical({"F24J_RenderingNpi": "1679576722"}, **name))
    assert "NM1*82*1*FENN*OSKAR****XX*1679576722" in rows


def test_numbers_of_the_rendering_provider_stand_on_a_line_where_they_differ():
    line = {
        "F24J_Shaded_RendProviderUpinNumber": "A12345",
        "F24J_Shaded_RendProviderLocationNumber": "7",
    }
    rows = segments(medical(line, **RENDERING, X12_RendProviderUpinNumber="A12345"))
    at = rows.index("LX*1")
    assert rows[at:][-3:] == ["NM1*82*1*FENN*OSKAR****XX*1679576722", "REF*1G*A12345", "REF*LU*7"]
    same = {"F24J_Shaded_RendProviderUpinNumber": "A12345"}
    rows = segments(medical(same, **RENDERING, X12_RendProviderUpinNumber="A12345"))
    assert not any(row.startswith("NM1*82") for row in rows[rows.index("LX*1") :])


def test_a_facility_is_sent_only_if_elsewhere():
    rows = segments(medical(**FACILITY, F32B_FacilityIdLocationNumber="L1"))
    at = rows.index("NM1*77*2*FERNHILL CLINIC")
    assert rows[at + 1 : at + 4] == ["N3*9 LARK ST", "N4*AUSTIN*TX*787011234", "REF*LU*L1"]
    home = FACILITY | {"F32_FacilityAddress1": "12 Fernhill Road", "F32_FacilityZip": "78701"}
    rows = segments(medical(**home, F33_BillingProviderZip="78701"))
    assert not any(row.startswith("NM1*77") for row in rows)


def test_an_ordering_provider_stands_on_every_line():
    name = {"F17_OrderingProviderNameLast": "Fenn", "F17A_OrderingProviderIdNumber": "G17"}
    assert segments(medical(**name))[-2:] == ["NM1*DK*1*FENN", "REF*G2*G17"]


def test_a_line_tells_its_place_only_where_it_differs():
    rows = segments(medical(X12_PlaceOfServiceCode="22"))
    assert "SV1*HC:99213*100*UN*1*11**1" in rows


def test_marks_and_modifiers_of_a_line():
    line = {
        "F24D_Modifiers": "25,59", "X12_Description": "Long visit", "F24C_Emg": True, "F24H_FamilyPlannning": True,
        "F24H_EarlyPeriodicScreeningDiagnosisAndTreatment": True, "F24A_DateOfServiceTo": "2026-04-12",
        "X12_MeasurementId": "TR", "X12_MeasurementQualifier": "R1", "X12_MeasurementValue": 12.5,
        "X12_ContractTypeCode": "04", "F24_Shaded_LineNoteText": "Note",
    }  # fmt: skip
    rows = segments(medical(line))
    assert rows[rows.index("LX*1") + 1 :] == [
        "SV1*HC:99213:25:59:::LONG VISIT*100*UN*1***1**Y**Y*Y",
        "DTP*472*RD8*20260410-20260412",
        "MEA*TR*R1*12.5",
        "CN1*04",
        f"REF*6R*{outgoing(medical()).number}-1",
        "NTE*ADD*NOTE",
    ]


def test_anesthesia_is_counted_in_minutes():
    line = {"F24D_HcpcsProcedureCode": "00170", "X12_Anesthesia": True, "F24G_DaysOrUnits": 45}
    assert "SV1*HC:00170*100*MJ*45***1" in segments(medical(line))


@pytest.mark.parametrize(
    ("quantity", "row"),
    [
        ({"X12_NdcQuantity": 2.5}, "CTP****2.5*UN"),
        ({"X12_DrugQuantityMilliliters": 3}, "CTP****3*ML"),
        ({"X12_DrugQuantityInternationalUnits": 4, "X12_NdcQuantity": 4}, "CTP****4*F2"),
    ],
)
def test_a_drug_has_a_quantity_in_its_unit(quantity, row):
    line = {"X12_NdcCode": "0009-0011-03", "X12_NdcLinkSequenceNumber": "1", **quantity}
    rows = segments(medical(line))
    assert rows[-3:] == ["LIN**N4*00009001103", row, "REF*VY*1"]
    line["X12_NdcPharmacyPrescriptionNumber"] = "RX1"
    assert segments(medical(line))[-1] == "REF*XZ*RX1"


def test_another_insurance_that_has_not_decided_pays_second():
    rows = segments(medical(**COB, F09D_OtherPlanName="Silver"))
    assert "SBR*P*18*******ZZ" in rows
    at = rows.index("SBR*S*01*POL1******ZZ")
    assert rows[at + 1 : at + 4] == [
        "OI***N***Y",
        "NM1*IL*1*LUND*IVO****MI*POL1",
        "NM1*PR*2*HARBOR HEALTH PLAN*****PI*HARBORHEALTHPLAN",
    ]


def test_a_decision_about_the_claim():
    rows = segments(
        medical(
            **COB,
            X12_ClaimPrimaryPayerPaidAmount="60",
            X12_ClaimContractualObligationAdjustments="45:10,97:5:1",
            X12_ClaimPatientResponsibilityAdjustments="25",
            X12_ClaimAdjudicationDate="2026-04-12",
        ),
        other_payer_id="HARB1",
    )
    assert "SBR*S*18*******ZZ" in rows
    at = rows.index("SBR*P*01*POL1******ZZ")
    assert rows[at + 1 : at + 9] == [
        "CAS*CO*45*10**97*5*1",
        "CAS*PR*192*25",
        "AMT*D*60",
        "AMT*EAF*25",
        "OI***N***Y",
        "NM1*IL*1*LUND*IVO****MI*POL1",
        "NM1*PR*2*HARBOR HEALTH PLAN*****PI*HARB1",
        "DTP*573*D8*20260412",
    ]


def test_a_decision_about_a_line_takes_the_claims_day_where_it_has_none():
    line = {
        "X12_PrimaryPayerPaidAmount": "60", "X12_LineContractualObligationAdjustments": "45:40", "F24D_Modifiers": "25",
    }  # fmt: skip
    rows = segments(medical(line, **COB, X12_ClaimAdjudicationDate="2026-04-12"))
    assert "AMT*D*60" in rows
    assert rows[-4:] == [
        "SVD*HARBORHEALTHPLAN*60*HC:99213:25**1",
        "CAS*CO*45*40",
        "DTP*573*D8*20260412",
        "AMT*EAF*0",
    ]
    assert rows.count("DTP*573*D8*20260412") == 1


DECIDED = {
    "X12_ClaimPrimaryPayerPaidAmount": "60",
    "X12_ClaimContractualObligationAdjustments": "45:10",
    "X12_ClaimPatientResponsibilityAdjustments": "1:20,2:10",
    "X12_ClaimAdjudicationDate": "2026-04-12",
}


@pytest.mark.safe_default(9)
def test_why_medicare_pays_second_is_sent_where_it_does():
    second = {"F01_ClaimType": "Medicare", "X12_MedicareSecondaryReason": "Working aged"}
    rows = segments(medical(**COB, **DECIDED, **second))
    assert "SBR*S*18***12****MB" in rows
    assert "SBR*P*01*POL1******ZZ" in rows
    other = {"X12_OtherPayerClaimType": "MB", "X12_MedicareSecondaryReason": "47"}
    rows = segments(medical(**COB, **other))
    assert "SBR*P*18*******ZZ" in rows
    assert "SBR*S*01*POL1**47****MB" in rows
    # Medicare that pays first has no reason, whatever the claim states.
    rows = segments(medical(**COB, **DECIDED, **other))
    assert "SBR*P*01*POL1******MB" in rows


@pytest.mark.safe_default(9)
def test_what_the_patient_still_owes_is_sent_once_and_by_the_level_of_the_decision():
    """Group PR less what the patient paid: for the lines if they were decided, else for the claim; a field overrides it."""

    def sent(*lines, **more):
        base = minimal_claim(MEDICAL, DAY)["F24_ClaimLines"][0]
        own = {"F24_ClaimLines": [base | line for line in lines]} if lines else {}
        rows = segments(medical(**own, **COB, **more))
        return [row for row in rows if row.startswith("AMT*EAF")]

    assert sent() == []
    assert sent(**DECIDED) == ["AMT*EAF*30"]
    assert sent(**DECIDED, F29_PatientAmountPaid="12.50") == ["AMT*EAF*17.5"]
    assert sent(**DECIDED, F29_PatientAmountPaid="99") == ["AMT*EAF*0"]
    assert sent(**DECIDED, X12_ClaimRemainingPatientLiability="4") == ["AMT*EAF*4"]
    line = {"X12_PrimaryPayerPaidAmount": "70", "X12_LinePatientResponsibilityAdjustments": "2:30",
            "X12_AdjudicationOrPaymentDate": "2026-04-12"}  # fmt: skip
    lines = (line, {}, line | {"X12_LineRemainingPatientLiability": "3"}, line)
    paid = {"F28_TotalCharge": "400", "F29_PatientAmountPaid": "70"}
    # The patient's 70 cover the first line and the third, and 10 of the last; the second was not decided.
    assert sent(*lines, **paid) == ["AMT*EAF*0", "AMT*EAF*3", "AMT*EAF*20"]
    # What the claim as a whole left the patient is covered first.
    whole = {
        "X12_ClaimPatientResponsibilityAdjustments": "3:50",
        "X12_ClaimPrimaryPayerPaidAmount": "20",
    }
    assert sent(line, **whole, F29_PatientAmountPaid="60") == ["AMT*EAF*20"]


def test_a_denial_is_a_payment_of_nothing():
    rows = segments(
        medical(
            **COB,
            X12_ClaimPrimaryPayerPaidAmount="0",
            X12_ClaimOtherAdjustments="23:100",
            X12_ClaimAdjudicationDate="2026-04-12",
        )
    )
    assert "AMT*D*0" in rows
    assert "CAS*OA*23*100" in rows
