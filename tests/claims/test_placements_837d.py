"""Dental claims as an 837D: free of findings, built like the published examples, each field in its place."""

import pytest

from clearlane.claims.forms import V3_DENTAL
from clearlane.kernel.finding import Severity
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import parse
from tests.cases import by_profile
from tests.claims.outgoing import dental, extended, outgoing, random_claims, segments, written
from tests.corpus import samples

DENTAL = V3_DENTAL
CLAIMS, AT_ONCE = by_profile(thorough=500, usual=200, quick=100), 100

# What our checker may say of a valid claim, by rule and loop, and why the claim is sent all the same.
KNOWN = {
    ("VAL-ZIP4", "2310C"): "Only the billing ZIP code is completed to nine digits.",
    ("X837D-ORTHODONTICS", "2400"): "Whether a treatment is orthodontic is the caller's word.",
    ("X837D-ORTHODONTICS", "2300"): "A predetermination may ask before the appliance is placed.",
}
CHILD = {
    "F18_PatientRelationship": "Child", "F20_PatientLastName": "Arden", "F20_PatientFirstName": "Milo",
    "F20_PatientAddress": "12 Fernhill Road", "F20_PatientCity": "Austin", "F20_PatientST": "TX",
    "F20_PatientZip": "78701", "F20_PatientDOB": "2016-01-02", "F22_PatientSex": "M",
}  # fmt: skip
COB = {
    "F04_OtherCoverage": True, "F05_OtherInsuredLastName": "Lund", "F05_OtherInsuredFirstName": "Ivo",
    "F08_OtherInsuredPolicy": "POL1", "F09_OtherInsuredGrpNumber": "GRP1", "F10_OtherPatientRelationship": "Spouse",
    "F11_OtherPayerName": "Harbor Health Plan",
}  # fmt: skip
TREATING = {
    "X12_RenderingProvLastName": "Birch", "X12_RenderingProvFirstName": "Nora", "F53_TreatingDentistNPI": "1679576722",
}  # fmt: skip
LOCATION = {
    "F56_TreatmentAddress": "9 Lark St", "F56_TreatmentCity": "Austin", "F56_TreatmentST": "TX",
    "F56_TreatmentZip": "787011234",
}  # fmt: skip
LINE = {"F24_DateOfServiceFrom": "2026-04-10", "F29_ProcedureCode": "D1110", "F31_LineFee": "95.00"}


def test_every_random_claim_is_clean_here():
    claims = random_claims(DENTAL, CLAIMS)
    outs = [outgoing(claim, at, account_as_number=True) for at, claim in enumerate(claims)]
    files = [written(outs[at : at + AT_ONCE]) for at in range(0, CLAIMS, AT_ONCE)]
    found = {
        (finding.rule, finding.position.loop)
        for data in files
        for finding in check(data).findings
        if finding.severity is not Severity.INFO
    }
    assert found <= KNOWN.keys()


@pytest.mark.parametrize("claim", [dental(), extended(DENTAL)])
def test_the_minimal_and_the_extended_claim_are_clean(claim):
    found = [f for f in check(written([outgoing(claim)])).findings if f.severity is Severity.ERROR]
    assert found == []


def test_a_claim_with_only_the_required_fields():
    number = outgoing(dental()).number
    assert segments(dental()) == [
        "HL*1**20*1",
        "NM1*85*2*LARKSPUR DENTAL*****XX*1234567893",
        "N3*12 FERNHILL ROAD",
        "N4*AUSTIN*TX*787019998",
        "REF*EI*123456789",
        "HL*2*1*22*0",
        "SBR*P*18*******ZZ",
        "NM1*IL*1*ARDEN*ROSA****MI*IID4711",
        "N3*12 FERNHILL ROAD",
        "N4*AUSTIN*TX*78701",
        "DMG*D8*19860420*F",
        "NM1*PR*2*SUMMIT DENTAL*****PI*MM001",
        f"CLM*{number}*95***11:B:1*Y*C*N*Y",
        "DTP*472*D8*20260410",
        f"REF*D9*{number}",
        "LX*1",
        "SV3*AD:D1110*95",
        f"REF*6R*{number}-1",
    ]


def test_a_patient_who_is_not_the_insured_has_a_level_of_its_own():
    rows = segments(dental(**CHILD))
    assert rows[5:15] == [
        "HL*2*1*22*1",
        "SBR*P********ZZ",
        "NM1*IL*1*ARDEN*ROSA****MI*IID4711",
        "NM1*PR*2*SUMMIT DENTAL*****PI*MM001",
        "HL*3*2*23*0",
        "PAT*19",
        "NM1*QC*1*ARDEN*MILO",
        "N3*12 FERNHILL ROAD",
        "N4*AUSTIN*TX*78701",
        "DMG*D8*20160102*M",
    ]


def test_an_insured_that_is_no_person_has_one_name():
    rows = segments(dental(**CHILD, X12_SubscriberEntityTypeQualifier="2", F12_InsuredSuffix="III"))
    assert "NM1*IL*2*ARDEN*****MI*IID4711" in rows


def test_the_tax_number_has_its_qualifier():
    assert "REF*SY*123456789" in segments(dental(X12_TINorSSNQualifier="SSN"))


def test_days_stand_with_the_claim_where_all_lines_agree_else_with_the_lines():
    lines = [LINE, LINE | {"F24_DateOfServiceFrom": "2026-04-11"}]
    rows = segments(dental(LineItems=lines, F32_TotalFee="190"))
    assert [row for row in rows if row.startswith("DTP")] == [
        "DTP*472*D8*20260410", "DTP*472*D8*20260411",
    ]  # fmt: skip
    assert rows.index("DTP*472*D8*20260410") > rows.index("LX*1")


def test_a_period_stands_with_the_claim_and_never_with_a_line():
    long = LINE | {"F24_DateOfServiceTo": "2026-04-11"}
    rows = segments(dental(LineItems=[long, long], F32_TotalFee="190"))
    days = [row for row in rows if row.startswith("DTP*472")]
    assert days == ["DTP*472*RD8*20260410-20260411"]
    assert rows.index(days[0]) < rows.index("LX*1")
    # Rule D118 refuses this; a claim that was taken before it is written with its first day.
    rows = segments(
        dental(LineItems=[LINE | {"F24_DateOfServiceFrom": "2026-04-09"}, long], F32_TotalFee="190")
    )
    assert [row for row in rows if row.startswith("DTP*472")] == [
        "DTP*472*D8*20260409",
        "DTP*472*D8*20260410",
    ]


def test_a_predetermination_has_no_days_of_service():
    rows = segments(dental(F01_TypeOfTransaction="Predetermination"))
    assert next(row for row in rows if row.startswith("CLM")).endswith("*Y**********PB")
    assert not any(row.startswith("DTP*472") for row in rows)


def test_epsdt_is_a_special_program():
    rows = segments(dental(F01_TypeOfTransaction="EPSDT"))
    assert next(row for row in rows if row.startswith("CLM")).endswith("*Y***01")


def test_orthodontics_tell_months_and_day():
    fields = {"F41_DateAppliancePlaced": "2026-01-02", "F42_MonthsTreatment": "24"}
    rows = segments(dental(F40_OrthoTreatment=True, **fields))
    assert "DTP*452*D8*20260102" in rows
    assert "DN1*24" in rows
    assert not any(row.startswith(("DN1", "DTP*452")) for row in segments(dental(**fields)))
    assert "DN1****Y" in segments(dental(F40_OrthoTreatment=True))


def test_missing_teeth_and_attachments():
    rows = segments(
        dental(
            F33_MissingTeeth=["1", "16"],
            X12_AttachmentReportType="RB",
            X12_AttachmentTransmissionCode="EL",
            X12_AttachmentControlNumber="ATT1",
        )
    )
    at = rows.index("DN2*1*M****JP")
    assert rows[at + 1 : at + 3] == ["DN2*16*M****JP", "PWK*RB*EL***AC*ATT1"]


def test_an_attachment_that_waits_at_the_dentists_needs_no_number():
    rows = segments(dental(X12_AttachmentReportType="RB", X12_AttachmentTransmissionCode="AA"))
    assert "PWK*RB*AA" in rows


def test_numbers_notes_and_amounts_stand_in_guide_order():
    rows = segments(
        dental(
            X12_PatientAmountPaid="10.50",
            X12_PredeterminationID="PRE1",
            X12_ClaimFrequencyCode="7",
            X12_PayerControlNumber="ORIG1",
            F02_PriorAuthNum="AUTH1",
            F35_Remarks="Note",
            F34a_DiagnosisCode="K02.9,K05.30",
        )
    )
    at = rows.index("AMT*F5*10.5")
    assert rows[at : at + 7] == [
        "AMT*F5*10.5", "REF*G3*PRE1", "REF*F8*ORIG1", "REF*G1*AUTH1", f"REF*D9*{outgoing(dental()).number}",
        "NTE*ADD*NOTE", "HI*ABK:K029*ABF:K0530",
    ]  # fmt: skip


def test_an_accident_has_cause_day_and_state():
    rows = segments(
        dental(
            F45_TreatmentResultingFrom="Auto",
            F46_AccidentDate="2026-04-01",
            F47_AutoAccidentState="TX",
        )
    )
    assert next(row for row in rows if row.startswith("CLM")).endswith("*Y**AA:::TX")
    assert "DTP*439*D8*20260401" in rows
    none = segments(dental(F45_TreatmentResultingFrom="None"))
    assert next(row for row in none if row.startswith("CLM")).endswith("*Y")


def test_the_treating_dentist_is_sent_only_if_another():
    ids = {
        "F55_TreatingDentistLicense": "LIC1",
        "F56a_DentistSpecialtyCode": "1223G0001X",
        "F58_TreatingDentistAddlID": "G1",
    }
    rows = segments(dental(**TREATING, **ids))
    at = rows.index("NM1*82*1*BIRCH*NORA****XX*1679576722")
    assert rows[at + 1 : at + 4] == ["PRV*PE*PXC*1223G0001X", "REF*0B*LIC1", "REF*G2*G1"]
    same = TREATING | {"F53_TreatingDentistNPI": "1234567893"}
    assert not any(row.startswith("NM1*82") for row in segments(dental(**same)))
    unnamed = {"X12_RenderingProvLastName": "Larkspur Dental"}
    assert not any(row.startswith("NM1*82") for row in segments(dental(**unnamed)))


def test_a_line_has_a_treating_dentist_of_its_own_only_if_another():
    line = {"X12_LineTreatingDentistLastname": "Fenn", "X12_LineTreatingDentistFirstname": "Oskar",
            "X12_LineTreatingDentistSpecialtyCode": "1223G0001X"}  # fmt: skip
    assert segments(dental(line, **TREATING))[-2:] == [
        "NM1*82*1*FENN*OSKAR",
        "PRV*PE*PXC*1223G0001X",
    ]
    same = {"X12_LineTreatingDentistLastname": "Birch", "X12_LineTreatingDentistNPI": "1679576722"}
    rows = segments(dental(same, **TREATING))
    assert not any(row.startswith("NM1*82") for row in rows[rows.index("LX*1") :])
    billing = {
        "X12_LineTreatingDentistLastname": "Birch",
        "X12_LineTreatingDentistNPI": "1234567893",
    }
    assert not any(row.startswith("NM1*82") for row in segments(dental(billing)))


def test_a_treatment_location_is_sent_only_if_elsewhere():
    rows = segments(dental(**LOCATION, X12_TreatmantLocationName="Larkspur North"))
    at = rows.index("NM1*77*2*LARKSPUR NORTH")
    assert rows[at + 1 : at + 3] == ["N3*9 LARK ST", "N4*AUSTIN*TX*787011234"]
    assert "NM1*77*2*LARKSPUR DENTAL" in segments(dental(**LOCATION))
    home = LOCATION | {"F56_TreatmentAddress": "12 Fernhill Road"}
    assert not any(row.startswith("NM1*77") for row in segments(dental(**home)))


def test_a_pay_to_address_is_sent_only_if_elsewhere():
    address = {
        "X12_Paytoaddress": "PO Box 12",
        "X12_PaytoCity": "Austin",
        "X12_PaytoST": "TX",
        "X12_PaytoZip": "78701",
    }
    rows = segments(dental(**address))
    at = rows.index("NM1*87*2")
    assert rows[at + 1 : at + 3] == ["N3*PO BOX 12", "N4*AUSTIN*TX*78701"]
    home = address | {"X12_Paytoaddress": "12 Fernhill Road"}
    assert "NM1*87*2" not in segments(dental(**home))


def test_numbers_of_the_billing_dentist():
    rows = segments(
        dental(
            F50_BillingDentistLicense="LIC1",
            F52a_BillingDentistID="G1",
            F52_BillingDentistPhone="5125550142",
        )
    )
    assert rows[4:7] == ["REF*EI*123456789", "REF*0B*LIC1", "PER*IC**TE*5125550142"]
    assert rows[rows.index("NM1*PR*2*SUMMIT DENTAL*****PI*MM001") + 1] == "REF*G2*G1"


def test_teeth_surfaces_areas_and_quantity():
    line = {
        "Teeth": [
            {"F27_Tooth": "30", "F28_ToothSurface": ["M", "O", None, None, None]},
            {"F27_Tooth": None, "F28_ToothSurface": None},
            {"F27_Tooth": "31", "F28_ToothSurface": None},
        ],
        "F25_AreaOfOralCavity": ["10", None, "20"],
        "F29b_Quantity": 2,
        "F29a_DiagnosisPointer": "B,A",
        "F30_Description": "Two",
        "F31a_OtherFee": "5",
        "X12_PlaceOfServiceCode": "12",
    }  # fmt: skip
    rows = segments(dental(line, F34a_DiagnosisCode="K02.9,K05.30", F32_TotalFee="100"))
    at = rows.index("LX*1")
    assert rows[at + 1 : at + 4] == [
        "SV3*AD:D1110:::::TWO*100*12*10:20**2*****2:1", "TOO*JP*30*M:O", "TOO*JP*31",
    ]  # fmt: skip


def test_a_replaced_prosthesis_is_reported_on_its_lines():
    own = {"F43_Prosthesis": True, "F44_ProsthesisDateOfPriorPlacement": "2020-01-02"}
    lines = [LINE, LINE | {"F29_ProcedureCode": "D5110"}]
    rows = segments(dental(LineItems=lines, F32_TotalFee="190", **own))
    assert "SV3*AD:D1110*95" in rows
    at = rows.index("SV3*AD:D5110*95***R")
    assert rows[at + 1] == "DTP*441*D8*20200102"
    assert "SV3*AD:D1110*95***R" in segments(dental(**own))


def test_other_coverage_with_and_without_a_decision():
    address = {
        "F11_OtherPayerAddress": "1 Quay",
        "F11_OtherPayerCity": "Austin",
        "F11_OtherPayerST": "TX",
        "F11_OtherPayerZip": "78701",
    }
    rows = segments(dental(**COB, **address))
    at = rows.index("SBR*S*01*GRP1******ZZ")
    assert rows[at + 1 : at + 6] == [
        "OI***N***Y", "NM1*IL*1*LUND*IVO****MI*POL1", "NM1*PR*2*HARBOR HEALTH PLAN*****PI*HARBORHEALTHPLAN",
        "N3*1 QUAY", "N4*AUSTIN*TX*78701",
    ]  # fmt: skip
    line = {
        "X12_PrimaryPaidAmount": "60", "X12_UnitsPaid": 1, "X12_AdjudicationDate": "2026-04-12",
        "Adjustments": [
            {"X12_AdjustmentGroupCode": "PR", "X12_AdjustmentReasonCode": "2", "X12_AdjustmentAmount": "15"},
            {"X12_AdjustmentGroupCode": "CO", "X12_AdjustmentReasonCode": "45", "X12_AdjustmentAmount": "12"},
            {"X12_AdjustmentGroupCode": "CO", "X12_AdjustmentReasonCode": "97", "X12_AdjustmentAmount": "8"},
        ],
    }  # fmt: skip
    rows = segments(dental(line, **COB))
    assert "SBR*S*18*******ZZ" in rows
    assert rows[rows.index("SBR*P*01*GRP1******ZZ") + 1] == "AMT*D*60"
    assert rows[-5:] == [
        "SVD*HARBORHEALTHPLAN*60*AD:D1110**1", "CAS*CO*45*12**97*8", "CAS*PR*2*15", "DTP*573*D8*20260412",
        "AMT*EAF*15",
    ]  # fmt: skip


# --- the published examples ---------------------------------------------------------------------------

# A claim with the content of each example. It has more where the writer adds numbers, and
# less where the interface has no field for what the example says.
_COMMON = {
    "F48_BillingDentistLastName": "Anytown Dental", "F52_BillingDentistPhone": "4075551213",
    "F16_InsuredGroupNumber": "12345687", "F12_InsuredMI": "M", "F37_InsuredSignature": "Signed",
    "X12_RenderingProvLastName": "Renderlast", "X12_RenderingProvFirstName": "Renderfirst",
    "F53_TreatingDentistNPI": "1679576722", "F56a_DentistSpecialtyCode": "1223G0001X",
}  # fmt: skip
EXAMPLES = {
    "fillings_and_crown.x12": dental(
        LineItems=[
            {"F29_ProcedureCode": "D2392", "F31_LineFee": "210", "F29b_Quantity": 1, "X12_LineControlNumber": "2001-1",
             "F24_DateOfServiceFrom": "2025-02-05", "Teeth": [{"F27_Tooth": "14", "F28_ToothSurface": ["M", "O"]}]},
            {"F29_ProcedureCode": "D2740", "F31_LineFee": "1100", "F29b_Quantity": 1, "X12_LineControlNumber": "2001-2",
             "F24_DateOfServiceFrom": "2025-02-05", "Teeth": [{"F27_Tooth": "30"}]},
        ],
        F16_InsuredGroupNumber="D2001", F37_InsuredSignature="Signed", F32_TotalFee="1310", X12_ServiceDate="2025-02-05",
        F33_MissingTeeth=["17"], F43_Prosthesis=True, F44_ProsthesisDateOfPriorPlacement="2018-05-11",
        X12_RenderingProvLastName="Birch", X12_RenderingProvFirstName="Nora", F53_TreatingDentistNPI="1679576722",
        F56a_DentistSpecialtyCode="1223G0001X",
    ),
    "irobayna+stupidedi__claim-multi-quantity-single-line.edi": dental(
        {"F29_ProcedureCode": "D0230", "F31_LineFee": "44", "F29b_Quantity": 4, "X12_LineControlNumber": "123456-01",
         "F24_DateOfServiceFrom": "2014-03-03"},
        **_COMMON, F34_DiagnosiseCodeQualifier="9", F34a_DiagnosisCode="527.3", F55_TreatingDentistLicense="321654",
        F32_TotalFee="44", X12_ServiceDate="2014-03-03",
    ),
    "irobayna+stupidedi__multiple-tooth-numbers.edi": dental(
        {"F29_ProcedureCode": "D5214", "F31_LineFee": "900", "Teeth": [{"F27_Tooth": t} for t in (31, 30, 21, 19, 18)]},
        **_COMMON, F32_TotalFee="900", X12_AttachmentReportType="OZ", X12_AttachmentTransmissionCode="EL",
        X12_AttachmentControlNumber="NEA123456798",
    ),
    "cosyte+x12__837d-canonical.edi": dental(
        {"F29_ProcedureCode": "D2391", "F31_LineFee": "180", "F29b_Quantity": 1, "X12_PlaceOfServiceCode": "12",
         "F25_AreaOfOralCavity": ["10"], "Teeth": [{"F27_Tooth": "14", "F28_ToothSurface": ["O"]}]},
        F16_InsuredGroupNumber="GROUP789", F12_InsuredMI="C", F34a_DiagnosisCode="K02.9", F32_TotalFee="180",
        X12_RenderingProvLastName="Rendering", X12_RenderingProvFirstName="Dentist", F53_TreatingDentistNPI="1679576722",
    ),
}  # fmt: skip
HERE_ONLY = {
    ("REF", "6R"): "every line has a control number",
    ("REF", "D9"): "every claim has our trace number",
    ("DTP", "472"): "only a predetermination goes without a day of service",
}
EXAMPLE_ONLY = {("DTP", "472"): "the claim has the day, and the line does not repeat it"}
OTHER_ELEMENTS = {
    ("PER", 2): "a contact is named only where it is not the provider itself",
    (
        "SV3",
        5,
    ): "the interface has no field for a first placement, and the third example has no meaning there",
    ("SV3", 2): "the third example forgets the charge",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_claim_is_built_like_the_published_example_with_the_same_content(name):
    sample = next((one for one in samples() if one.path.name == name), None)
    if sample is None:
        pytest.skip("no corpus beside the checkout")
    published = next(parse(sample.path.read_bytes(), check=False).sets())
    example = built(list(published.all_segments()))
    built_here = built([row.split("*") for row in segments(EXAMPLES[name])])
    assert in_common(built_here, example, HERE_ONLY) == in_common(example, built_here, EXAMPLE_ONLY)


def built(rows: list[list[str]]) -> list[tuple[tuple[str, str], frozenset[int]]]:
    """Each segment from the first level on: id and qualifier, and which elements are filled."""
    first = next(at for at, row in enumerate(rows) if row[0] == "HL")
    keyed = {"REF", "DTP", "NM1", "PRV", "PWK", "TOO"}
    out = []
    for row in rows[first:]:
        if row[0] == "SE":
            continue
        filled = {at for at, text in enumerate(row[1:], 1) if text}
        filled -= {at for id, at in OTHER_ELEMENTS if id == row[0]}
        out.append(((row[0], row[1] if row[0] in keyed else ""), frozenset(filled)))
    return out


def in_common(rows, others, only):
    """Return the segments without those that only this side has, for a stated reason."""
    left = [key for key, _ in others]
    kept = []
    for key, filled in rows:
        if key in left:
            left.remove(key)
            kept.append((key, filled))
        else:
            assert key in only, key
    return kept
