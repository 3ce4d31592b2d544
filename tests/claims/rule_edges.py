"""Claims just beyond a limit of a rule and just within it, for the table of ``test_rules``."""

from datetime import date
from typing import Any

from msgspec.structs import replace as with_values

from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, AnyForm, samples
from clearlane.claims.rules.registry import EnrollmentGap
from clearlane.payers.model import Payer
from tests.claims.imported_list_cases import DAY, L, T, code, lines, listed

Fields = dict[str, Any]
M, D = V3_MEDICAL, V3_DENTAL
TODAY, TOMORROW = "2025-03-20", "2025-03-21"
YESTERDAY, SERVED, NEXT_DAY = "2025-03-13", f"{DAY}", "2025-03-15"

FROM, TO, PLACE, UNITS, CODE, MODIFIERS, POINTERS = (
    f"{L}{name}"
    for name in (
        "F24A_DateOfServiceFrom", "F24A_DateOfServiceTo", "F24B_PlaceOfServiceCode", "F24G_DaysOrUnits",
        "F24D_HcpcsProcedureCode", "F24D_Modifiers", "F24E_DiagnosisPointers",
    )
)  # fmt: skip
ILLNESS, ACCIDENT = "F14_DateOfCurrentIllnessOrSymptom", "F15_AccidentDate"
DIAGNOSES = "F21_DiagnosisCodes"
ADMITTED, LEFT = "F18_HospitalizationDateFrom", "F18_HospitalizationDateTo"
DEPENDENT: Fields = {
    "F06_PatientRelationshipToInsured": "Spouse",
    "F05_PatientAddress1": "12 Fernhill Road",
}
CHILD: Fields = {
    "F18_PatientRelationship": "Child",
    "F20_PatientLastName": "Arden",
    "F20_PatientFirstName": "Milo",
    "F20_PatientAddress": "12 Fernhill Road",
    "F20_PatientCity": "Austin",
    "F20_PatientST": "TX",
    "F20_PatientZip": "78701",
    "F22_PatientSex": "M",
}
PASSED_AWAY: Fields = {"F02_PatientNameFirst": "Ivo", **DEPENDENT}
OTHER: Fields = {
    "F09_OtherInsuredNameLast": "Lund",
    "F09_OtherInsuredNameFirst": "Ivo",
    "F09A_OtherInsuredGroupNum": "G77",
    "F09_PatientRelationshipToInsured": "Child",
    "X12_OtherPayerName": "Harbor Health Plan",
}
DECIDED: Fields = {
    **OTHER,
    "X12_ClaimPrimaryPayerPaidAmount": 60,
    "X12_ClaimContractualObligationAdjustments": "45:40",
    "X12_ClaimAdjudicationDate": "2025-03-18",
}
RENDERED_ON_LINE = f"{L}F24J_RenderingNpi"
RENDERING: Fields = {"X12_RendProviderNameLast": "Fenn", "X12_RenderingNPI": "1679576722"}
MINUTES: Fields = {f"{L}X12_Anesthesia": True, CODE: "00170"}
DRUG: Fields = {f"{L}X12_NdcCode": "00009001103"}
AMOUNT_UNITS = {
    "X12_DrugQuantityInternationalUnits": 1,
    "X12_DrugQuantityGrams": 1,
    "X12_DrugQuantityMilligrams": 1,
    "X12_DrugQuantityMilliliters": 1,
    "X12_DrugQuantityUnits": 1,
}
PERSONS_PAST: Fields = {
    "F12_PatientAuthorizationDate": TOMORROW,
    "F14_DateOfCurrentIllnessOrSymptom": TOMORROW,
    "F14_LastMenstrualPeriodDate": TOMORROW,
    "F15_InitialTreatmentDate": TOMORROW,
    "F15_LastSeenDate": TOMORROW,
    "F15_AcuteManifestionDate": TOMORROW,
    "F15_AccidentDate": TOMORROW,
    "F15_LastXRayDate": TOMORROW,
    "F15_HearingAndVisionPrescriptionDate": TOMORROW,
    "F15_AssumedCareStartDate": TOMORROW,
    "F15_PropertyCasualtyFirstContactDate": TOMORROW,
    "F16_LastWorkedDate": TOMORROW,
    "F18_HospitalizationDateFrom": TOMORROW,
    "F18_HospitalizationDateTo": TOMORROW,
    "X12_DisabilityDateFrom": TOMORROW,
}
DENTAL_PAST: Fields = {
    "F36_PatientSignatureDate": TOMORROW,
    "F37_InsuredSignatureDate": TOMORROW,
    "F41_DateAppliancePlaced": TOMORROW,
    "F44_ProsthesisDateOfPriorPlacement": TOMORROW,
    "F46_AccidentDate": TOMORROW,
    "F53_TreatingDentistSignatureDate": TOMORROW,
    "X12_ServiceDate": TOMORROW,
}
FACILITY: Fields = {"F32A_FacilityNpi": "1234567893"}
ROLES: Fields = {
    f"F17B_{role}ProviderNpi": "1234567893" for role in ("Referring", "Supervising", "Ordering")
}
SHADED: Fields = {
    f"{L}F24J_Shaded_RendProviderTaxonomyCode": "207Q00000X",
    f"{L}F24J_Shaded_RendProviderStateLicenseNumber": "L1",
    f"{L}F24J_Shaded_RendProviderUpinNumber": "A12345",
    f"{L}F24J_Shaded_RendProviderCommercialNumber": "C1",
    f"{L}F24J_Shaded_RendProviderLocationNumber": "O1",
}
TREATING = {
    "X12_RenderingProvFirstName": "Nora",
    "X12_RenderingProvMI": "J",
    "X12_RenderingProvSuffix": "JR",
    "F55_TreatingDentistLicense": "L1",
    "F56a_DentistSpecialtyCode": "207Q00000X",
    "F58_TreatingDentistAddlID": "T1",
}
SSN = "F25_FederalTaxIdSsn"
NO_EIN: Fields = {"F25_FederalTaxIdEin": ...}
SUPERVISED: Fields = {
    "F17_SupervisingProviderNameLast": "Fenn",
    "F17B_SupervisingProviderNpi": "1679576722",
    **RENDERING,
}


def on(first: str, last: str, units: object = None) -> Fields:
    """Return a line over a span of days."""
    return {FROM: first, TO: last} | ({} if units is None else {UNITS: units})


def days(name: str, *values: str) -> list[Fields]:
    """Return a claim with each of these days."""
    return [{name: value} for value in values]


def dental_lines(*days: str | None) -> Fields:
    """Return lines of a dental claim; None is one without a day."""
    [line] = samples.minimal_claim(D, DAY)["LineItems"]
    return {
        "LineItems": [
            {**line, "F24_DateOfServiceFrom": day, "F29_ProcedureCode": f"D11{at}0"}
            for at, day in enumerate(days)
        ]
    }


# Rule, form, what is beyond the limit, the place of the finding, and what is within it.
EDGES: list[tuple[str, AnyForm, Fields, str, Fields]] = [
    # people
    ("C201", M, {"F02_PatientNameFirst": "Ivo"}, "F02_PatientNameFirst", {"F02_PatientNameFirst": "ROSA"}),
    ("C201", M, {"F03_PatientSex": "M"}, "F03_PatientSex", PASSED_AWAY | {"F03_PatientSex": "M"}),
    ("C203", M, DEPENDENT, "F02_PatientNameLast", DEPENDENT | {"F03_PatientDob": "1985-03-25"}),
    ("C203", M, DEPENDENT, "F02_PatientNameLast", DEPENDENT | {"F02_PatientNameLast": "Lund"}),
    ("C204", D, CHILD | {"F20_PatientDOB": "1985-03-24"}, "F20_PatientDOB", CHILD | {"F20_PatientDOB": "1985-03-25"}),
    ("C204", D, CHILD | {"F20_PatientDOB": "1985-03-23"}, "F20_PatientDOB",
        CHILD | {"F20_PatientDOB": "1985-03-23", "F18_PatientRelationship": "Spouse"}),
    ("C205", M, PASSED_AWAY | {"F03_PatientDob": TOMORROW}, "F03_PatientDob", PASSED_AWAY | {"F03_PatientDob": TODAY}),
    ("C205", M, OTHER | {"F09B_OtherInsuredDOB": TOMORROW}, "F09B_OtherInsuredDOB", OTHER | {"F09B_OtherInsuredDOB": TODAY}),
    ("C206", M, PASSED_AWAY | {"F03_PatientDob": "1875-03-20"}, "F03_PatientDob", PASSED_AWAY | {"F03_PatientDob": "1875-03-21"}),
    ("C206", M, {"F11A_InsuredDob": "1874-12-31"}, "F11A_InsuredDob", {"F11A_InsuredDob": "1876-01-01"}),
    ("C209", M, {"F17_ReferringProviderNameLast": "Birch2", "F17_ReferringProviderNameFirst": "Nora"},
        "F17_ReferringProviderNameLast", {"F17_ReferringProviderNameLast": "Birch 2 LLC"}),
    ("C209", M, OTHER | {"F09_OtherInsuredNameLast": "Lund 3"}, "F09_OtherInsuredNameLast", OTHER),
    ("C209", M, {"F04_InsuredNameLast": "Arden0"}, "F04_InsuredNameLast", {"F33_BillingProviderNameLast": "Fernhill 24"}),
    ("C209", D, {"F12_InsuredLastName": "Ard3n"}, "F12_InsuredLastName",
        CHILD | {"F20_PatientDOB": "2015-01-01", "X12_SubscriberEntityTypeQualifier": "2", "F12_InsuredLastName": "Plan 9"}),
    ("C211", M, {"F01_ClaimType": "MB", FROM: "2020-01-01", "F01A_InsuredId": "123456789A"}, "F01A_InsuredId",
        {"F01_ClaimType": "MB", FROM: "2019-12-31", "F01A_InsuredId": "123456789A"}),
    ("C211", M, {"F01_ClaimType": "MA", "F01A_InsuredId": "1EG4TE5MK7"}, "F01A_InsuredId", {"F01A_InsuredId": "1EG4TE5MK7"}),
    ("C303", M, {"F23_ReferralNumber": "A*:~^李中文"}, "F23_ReferralNumber", {"F23_ReferralNumber": "A-1"}),
    # providers
    ("C401", M, {"F33_BillingProviderAddress2": "PO BOX 9"}, "F33_BillingProviderAddress2", {"F33_BillingProviderAddress2": "Box Hill"}),
    ("C402", M, FACILITY, "F32_FacilityZip", FACILITY | {
        "F32_FacilityName": "Fernhill Clinic", "F32_FacilityAddress1": "1 Elm St", "F32_FacilityCity": "Austin",
        "F32_FacilityState": "TX", "F32_FacilityZip": "78701",
    }),
    ("C403", D, {"X12_TreatmantLocationNPI": "1000000053"}, "F56_TreatmentAddress", {}),
    ("C404", M, ROLES, "F17_OrderingProviderNameLast", {}),
    ("C404", M, ROLES, "F17_ReferringProviderNameLast", {}),
    ("C405", M, {RENDERED_ON_LINE: "1000000012"} | RENDERING, RENDERED_ON_LINE, {RENDERED_ON_LINE: "1679576722"} | RENDERING),
    ("C405", M, lines("99213", "99214") | {RENDERED_ON_LINE: "1679576722", "F24_ClaimLines[1].F24J_RenderingNpi": "1000000012"} | RENDERING,
        "F24_ClaimLines[1].F24J_RenderingNpi", lines("99213", "99214") | RENDERING),
    ("C406", M, SHADED, f"{L}F24J_Shaded_RendProviderTaxonomyCode", SHADED | RENDERING),
    *[("C407", D, {name: value}, "X12_RenderingProvLastName", {name: value, "X12_RenderingProvLastName": "Birch"})
        for name, value in TREATING.items()],
    ("C409", D, {"X12_PaytoST": "TX"}, "X12_Paytoaddress", {}),
    ("C410", M, {SSN: "219099999", "F33B_BillingProviderSsn": "219099998"}, "F33B_BillingProviderSsn",
        {"F33B_BillingProviderSsn": "219099998"}),
    *[("C414", M, NO_EIN | {SSN: number}, SSN, {SSN: number}) for number in ("000123456", "666-12-3456", "900123456")],
    ("C414", M, NO_EIN | {SSN: "666123456"}, SSN, NO_EIN | {SSN: "665123456"}),
    ("C415", M, SUPERVISED, "F17B_SupervisingProviderNpi", SUPERVISED | {"F17_SupervisingProviderNameLast": "Birch"}),
    # diagnoses
    ("C501", M, {FROM: "2015-10-01", "F21_IcdIndicator": "9", DIAGNOSES: ["4019"]}, "F21_IcdIndicator",
        {FROM: "2015-10-01"}),
    ("C505", M, {DIAGNOSES: ["J02.9", "R05.9", "R05.9"]}, f"{DIAGNOSES}[2]", {DIAGNOSES: ["J02.9", None, None]}),
    ("C505", M, {FROM: "2015-09-30", "F21_IcdIndicator": "9", DIAGNOSES: ["40190", "40190"]}, f"{DIAGNOSES}[1]", {}),
    ("C506", D, {"F34_DiagnosiseCodeQualifier": "AB", "F34a_DiagnosisCode": "K02.9 K05.30 K08.109 Z01.20 K04.0"},
        "F34a_DiagnosisCode", {"F34_DiagnosiseCodeQualifier": "AB", "F34a_DiagnosisCode": "K02.9 K05.30 K08.109 Z01.20"}),
    ("C508", M, {DIAGNOSES: ["V00.01XA"]}, f"{DIAGNOSES}[0]", {DIAGNOSES: ["Z00.00"]}),
    ("C508", M, {DIAGNOSES: ["Y99.8"]}, f"{DIAGNOSES}[0]", {DIAGNOSES: ["U07.1"]}),
    ("C510", M, {POINTERS: ["C"]}, f"{POINTERS}[0]", {POINTERS: ["B"]}),
    ("C510", D, {f"{T}F29a_DiagnosisPointer": "B", "F34a_DiagnosisCode": "K02.9", "F34_DiagnosiseCodeQualifier": "AB"},
        f"{T}F29a_DiagnosisPointer", {}),
    ("C511", M, {POINTERS: [*"ABCDE"], DIAGNOSES: ["J02.9", "R05.9", "I10", "E11.9", "N39.0"]}, POINTERS,
        {POINTERS: [*"ABCD"], DIAGNOSES: ["J02.9", "R05.9", "I10", "E11.9", "N39.0"]}),
    ("C512", M, {POINTERS: [*"ABA"]}, POINTERS, {POINTERS: ["A"]}),
    # lines
    ("C601", D, {f"{T}F29_ProcedureCode": "D0099"}, f"{T}F29_ProcedureCode", {f"{T}F29_ProcedureCode": "D0100"}),
    ("C605", M, MINUTES | {UNITS: 2881}, UNITS, MINUTES | {UNITS: 2880}),
    ("C607", M, {f"{L}X12_MeasurementId": "TR", f"{L}X12_MeasurementQualifier": "R1"}, f"{L}X12_MeasurementValue",
        {f"{L}X12_MeasurementId": "TR"}),
    ("C608", M, {f"{L}X12_ContractMonetaryAmount": "0.01"}, f"{L}X12_ContractTypeCode", {f"{L}X12_ContractMonetaryAmount": 0}),
    ("C609", M, {"X12_ClaimContractMonetaryAmount": "0.01"}, "X12_ClaimContractTypeCode", {"X12_ClaimContractMonetaryAmount": 0}),
    *[("C614", M, {CODE: outside}, CODE, {CODE: inside}) for outside, inside in (
        ("00099", "00100"), ("02000", "01999"), ("10003", "10004"), ("69991", "69990"), ("70009", "70010"),
        ("80000", "79999"), ("80046", "80047"), ("89399", "89398"), ("90280", "90281"), ("99608", "99607"),
    )],
    ("C615", M, {MODIFIERS: "21"}, MODIFIERS, {MODIFIERS: "22"}),
    ("C615", M, {MODIFIERS: "98"}, MODIFIERS, {MODIFIERS: "99"}),
    ("C616", M, {CODE: "99608", "F01_ClaimType": "WC"}, CODE, {CODE: "99608"}),
    ("C614", M, {CODE: "99608"}, CODE, {CODE: "99608", "F01_ClaimType": "AM"}),
    ("C617", M, on(YESTERDAY, SERVED, 3), UNITS, on(YESTERDAY, SERVED, 2)),
    ("C617", M, on(YESTERDAY, SERVED, 1), UNITS, on(SERVED, SERVED, 1)),
    ("C617", M, on(YESTERDAY, SERVED), UNITS, on(SERVED, SERVED, 2)),
    *[("C617", M, on(YESTERDAY, SERVED) | {CODE: visit}, UNITS, on(YESTERDAY, SERVED) | {CODE: other}) for visit, other in (
        ("99349", "99351"), ("98940", "98944"), ("99202", "98939"),
    )],
    # drugs
    *[("C651", M, DRUG, f"{L}X12_NdcQuantity", DRUG | {f"{L}{name}": 1}) for name in AMOUNT_UNITS],
    *[("C652", M, {f"{L}{name}": 1}, f"{L}X12_NdcCode", {f"{L}{name}": 0}) for name in AMOUNT_UNITS],
    ("C652", M, {f"{L}X12_NdcPharmacyPrescriptionNumber": "P1"}, f"{L}X12_NdcCode", {}),
    ("C653", M, DRUG | {f"{L}{name}": 1 for name in AMOUNT_UNITS}, f"{L}X12_DrugQuantityMilliliters",
        DRUG | {f"{L}X12_NdcQuantity": 1, f"{L}X12_DrugQuantityUnits": 1}),
    # money
    ("C702", M, {"F29_PatientAmountPaid": "100.01"}, "F29_PatientAmountPaid", {"F29_PatientAmountPaid": "99.99"}),
    ("C759", M, DECIDED | {"X12_ClaimAdjudicationDate": TOMORROW}, "X12_ClaimAdjudicationDate",
        DECIDED | {"X12_ClaimAdjudicationDate": TODAY}),
    # days
    ("C801", M, on(SERVED, YESTERDAY), TO, on(SERVED, SERVED)),
    ("C802", M, on(SERVED, TOMORROW), TO, on(SERVED, TODAY)),
    ("C802", M, on(TOMORROW, TOMORROW), FROM, on(TODAY, TODAY)),
    ("C803", M, {"F03_PatientDob": NEXT_DAY, "F11A_InsuredDob": NEXT_DAY}, FROM, {"F03_PatientDob": SERVED, "F11A_InsuredDob": SERVED}),
    ("C803", M, {"F03_PatientDob": TODAY, "F11A_InsuredDob": TODAY}, FROM, {"F03_PatientDob": TOMORROW, "F11A_InsuredDob": TOMORROW}),
    ("C804", M, {FROM: "2004-12-31"}, FROM, {FROM: "2005-01-01"}),
    ("C805", M, {"X12_DisabilityDateFrom": SERVED, "X12_DisabilityDateTo": YESTERDAY}, "X12_DisabilityDateTo",
        {"X12_DisabilityDateFrom": SERVED, "X12_DisabilityDateTo": SERVED}),
    ("C805", M, {"F15_AssumedCareStartDate": SERVED, "F15_AssumedCareEndDate": YESTERDAY}, "F15_AssumedCareEndDate",
        {"F15_AssumedCareStartDate": SERVED, "F15_AssumedCareEndDate": SERVED}),
    ("C805", M, {"F16_LastWorkedDate": SERVED, "F16_AuthorizedReturnToWorkDate": YESTERDAY}, "F16_AuthorizedReturnToWorkDate",
        {"F16_LastWorkedDate": SERVED, "F16_AuthorizedReturnToWorkDate": SERVED}),
    ("C805", M, {LEFT: YESTERDAY}, ADMITTED, {"F15_AssumedCareEndDate": YESTERDAY, "F16_AuthorizedReturnToWorkDate": YESTERDAY}),
    ("C806", M, PERSONS_PAST, "X12_DisabilityDateFrom", dict.fromkeys(PERSONS_PAST, TODAY)),
    ("C806", D, DENTAL_PAST, "F41_DateAppliancePlaced", DENTAL_PAST | {"F01_TypeOfTransaction": "Predetermination"}),
    ("C806", D, DENTAL_PAST, "F53_TreatingDentistSignatureDate", dict.fromkeys(DENTAL_PAST, TODAY)),
    ("C807", M, dict.fromkeys(PERSONS_PAST, "1985-03-23"), "F16_LastWorkedDate", dict.fromkeys(PERSONS_PAST, "1985-03-24")),
    ("C807", D, dict.fromkeys(DENTAL_PAST, "1985-03-23"), "F46_AccidentDate", dict.fromkeys(DENTAL_PAST, "1985-03-24")),
    *[("C808", M, {PLACE: place}, ADMITTED, {PLACE: place, ADMITTED: SERVED}) for place in ("21", "51", "61")],
    *[("C808", M, {"X12_PlaceOfServiceCode": place}, ADMITTED, {"X12_PlaceOfServiceCode": "11"}) for place in ("21", "51", "61")],
    ("C811", M, {ILLNESS: NEXT_DAY}, ILLNESS, {ILLNESS: NEXT_DAY} | on(SERVED, NEXT_DAY)),
    ("C810", D, {"X12_ServiceDate": NEXT_DAY}, "X12_ServiceDate", {"X12_ServiceDate": NEXT_DAY} | dental_lines(SERVED, NEXT_DAY)),
    ("C810", D, {"X12_ServiceDate": YESTERDAY}, "X12_ServiceDate", {"X12_ServiceDate": YESTERDAY} | dental_lines(SERVED, YESTERDAY)),
    ("C851", M, {"F10B_PatientCondAutoAccident": True}, ACCIDENT, {"F10B_PatientCondAutoAccident": True, ACCIDENT: SERVED}),
    ("C855", M, {"F10C_PatientCondOtherAccident": True, ACCIDENT: NEXT_DAY}, ACCIDENT,
        {"F10C_PatientCondOtherAccident": True, ACCIDENT: NEXT_DAY} | on(SERVED, NEXT_DAY)),
    # numbers
    ("C901", M, {"F22_MedicaidResubmissionCode": "8"}, "F22_OriginalReferenceNumber", {"F22_MedicaidResubmissionCode": "1"}),
    ("C902", M, {"F22_MedicaidResubmissionCode": "1", "F22_OriginalReferenceNumber": "P1"}, "F22_OriginalReferenceNumber",
        {"F22_MedicaidResubmissionCode": "7", "F22_OriginalReferenceNumber": "P1"}),
    ("C904", M, {"F23_MammographyCertificationNumber": "12345"}, "F23_MammographyCertificationNumber",
        {"F23_MammographyCertificationNumber": "12345A"}),
    *[("C905", M, {CODE: code}, "F23_MammographyCertificationNumber", {CODE: "77064"}) for code in ("77065", "77066", "G0202", "G0204", "G0206")],
    ("C906", M, RENDERING | {"X12_RendProviderUpinNumber": "A123456"}, "X12_RendProviderUpinNumber",
        RENDERING | {"X12_RendProviderUpinNumber": "ABC123", f"{L}F24J_Shaded_RendProviderUpinNumber": "OTH000"}),
]  # fmt: skip

CLIA, BILLING_ZIP, TREATED = (
    "F23_ClinicalLaboratoryImprovementAmendmentNumber",
    "F33_BillingProviderZip",
    "F15_InitialTreatmentDate",
)
LAST_DAYS: Fields = {
    "F24_ClaimLines": [
        {
            **samples.minimal_claim(M, DAY)["F24_ClaimLines"][0],
            "F24A_DateOfServiceFrom": "2025-03-03",
            "F24A_DateOfServiceTo": last,
        }
        for last in ("2025-03-04", SERVED, "2025-03-05")
    ]
}
REPLACES: Fields = {"F22_MedicaidResubmissionCode": "7", "F22_OriginalReferenceNumber": "P1"}
VOIDS: Fields = {"F22_MedicaidResubmissionCode": "8", "F22_OriginalReferenceNumber": "P1"}
FILED = {"filing_days": 3, "corrected_filing_days": 5, "secondary_filing_days": 90}
CORRECTED_LATE, CORRECTED = FILED, {"filing_days": 3, "corrected_filing_days": 6}

# The same, and what the payer wants: beyond the limit and within it.
PAYER_EDGES: list[tuple[str, AnyForm, Fields, Fields, str, Fields, Fields]] = [
    ("C151", M, LAST_DAYS, {"filing_days": 5}, "F24_ClaimLines[1].F24A_DateOfServiceTo", LAST_DAYS, {"filing_days": 6}),
    *[("C151", M, change, CORRECTED_LATE, FROM, change, CORRECTED) for change in (REPLACES, VOIDS)],
    ("C152", M, {"F01A_InsuredId": "AB1234"}, {"member_id_pattern": "@@#{4}?"}, "F01A_InsuredId",
        {"F01A_InsuredId": "ab 1234 x"}, {"member_id_pattern": "@@#{4}?"}),
    *[("C153", M, {BILLING_ZIP: f"78701{filler}"}, {"edits": ("nine_digit_zip",)}, BILLING_ZIP,
        {BILLING_ZIP: "787010001"}, {"edits": ("nine_digit_zip",)}) for filler in ("", "0000", "9998", "9999")],
    *[("C155", M, {CODE: test}, {"edits": ("clia",)}, CLIA, {CODE: other}, {"edits": ("clia",)})
        for test, other in (("80047", "79999"), ("89398", "90281"), ("85025", "8504F"))],
    ("C156", M, {CODE: "J0120"}, {"edits": ("ndc",)}, f"{L}X12_NdcCode", {CODE: "G0008"}, {"edits": ("ndc",)}),
    *[("C157", M, {CODE: code}, {"edits": ("chiropractic",)}, TREATED, {CODE: "98943"}, {"edits": ("chiropractic",)})
        for code in ("98940", "98941", "98942")],
    *[("C158", M, {CODE: "98940", DIAGNOSES: [wrong]}, {"edits": ("chiropractic",)}, f"{DIAGNOSES}[0]",
        {CODE: "98940", DIAGNOSES: [right]}, {"edits": ("chiropractic",)})
        for wrong, right in (("M99.06", "M99.05"), ("M99.10", "M99.00"), ("M54.50", "M9901"))],
    ("C158", M, {CODE: "98940"}, {"edits": ("chiropractic",)}, f"{DIAGNOSES}[0]", {}, {"edits": ("chiropractic",)}),
]  # fmt: skip


def known(gap: EnrollmentGap) -> dict[str, object]:
    """Return what is known of a provider whose enrollment with the payer is not approved."""
    return {"payer": ENROLLED_ONLY, "enrollment": gap, "enrollment_since": date(2025, 3, 1)}


def imported(name: str, *codes: tuple[str, None, None, str]) -> dict[str, object]:
    """Return an imported list of codes."""
    return {"code_lists": listed(name, *codes)}


TEST_PAYER = Payer("Medical", "Meadow Mutual", "T1", "TST01", has_route=True)
ENROLLED_ONLY = with_values(TEST_PAYER, claim_enrollment_required=True)
VOIDED: Fields = {"F22_MedicaidResubmissionCode": "8", "F22_OriginalReferenceNumber": "P1"}
TWO_UNITS = imported("mue", code("99213", "units=2 day"))
TWO_UNITS_A_LINE = imported("mue", code("99213", "units=2 line"))
PAIR = imported("ncci-ptp", code("11042-97597", "modifier"))
ORGANIZATIONS = imported("nppes", code("1679576722", "organization"))
ON_LINE: Fields = {RENDERED_ON_LINE: "1679576722", **RENDERING}
LINES_OF_PAIR: Fields = lines("97597", "11042")

# The same, and what is known beside the claim: beyond the limit and within it.
FACT_EDGES: list[
    tuple[str, AnyForm, Fields, dict[str, object], str, Fields, dict[str, object]]
] = [
    ("C101", M, {}, {"payer": None, "near_payers": ("TST10",)}, "Svc_PayerId", {}, {}),
    ("C101", M, {}, {"payer": None, "near_payers": ("TST10", "TST11")}, "Svc_PayerId", {}, {"payer": None, "payer_of_other_type": True}),
    ("C103", M, {}, {"payer": with_values(TEST_PAYER, active=False, has_route=False)}, "Svc_PayerId", {}, {"payer": None}),
    ("C104", M, {}, {"payer": with_values(TEST_PAYER, has_route=False)}, "Svc_PayerId", {},
        {"payer": with_values(TEST_PAYER, active=False, has_route=False)}),
    *[("C106", M, {}, known(gap), "Svc_PayerId", {}, known(gap) | {"enrolled": True}) for gap in EnrollmentGap],
    ("C107", M, {}, {"earlier_claim_number": "R-1", "earlier_state": "held"}, "Svc_VendorClaimId", {},
        {"earlier_claim_number": "R-1", "is_settled_before": True}),
    ("C110", M, VOIDED, {"payer": with_values(TEST_PAYER, replacements="original_only")}, "F22_MedicaidResubmissionCode",
        VOIDED | {"F22_MedicaidResubmissionCode": "7"}, {"payer": with_values(TEST_PAYER, replacements="original_only")}),
    # imported lists
    ("C662", M, RENDERING, ORGANIZATIONS, "X12_RenderingNPI", {"F33A_BillingProviderNpi": "1679576722"}, ORGANIZATIONS),
    ("C662", M, ON_LINE, ORGANIZATIONS, RENDERED_ON_LINE, RENDERING, imported("nppes", code("1234567893", "organization"))),
    ("C661", M, ON_LINE, imported("nppes-deactivated", code("1679576722")), RENDERED_ON_LINE, ON_LINE,
        imported("nppes-deactivated", code("1234567893"))),
    ("C664", M, LINES_OF_PAIR, PAIR, CODE, LINES_OF_PAIR | {FROM: YESTERDAY}, PAIR),
    ("C664", M, LINES_OF_PAIR, PAIR, CODE, LINES_OF_PAIR | {"F24_ClaimLines[1].F24A_DateOfServiceFrom": YESTERDAY}, PAIR),
    *[("C664", M, LINES_OF_PAIR | {MODIFIERS: "RT,GA"}, imported("ncci-ptp", code("11042-97597", "never")), CODE,
        LINES_OF_PAIR | {MODIFIERS: modifier}, PAIR) for modifier in ("24", "91", "XE", "E1", "TA", "LT", "RI")],
    ("C664", M, LINES_OF_PAIR | {MODIFIERS: "GA"}, PAIR, CODE, lines("11042", "11042"), PAIR),
    ("C665", M, on(SERVED, SERVED, "2.001"), TWO_UNITS, UNITS, on(SERVED, SERVED, 2), TWO_UNITS),
    ("C665", M, on(YESTERDAY, SERVED, "4.001"), TWO_UNITS, UNITS, on(YESTERDAY, SERVED, 4), TWO_UNITS),
    ("C665", M, on(YESTERDAY, SERVED, 5), TWO_UNITS_A_LINE, UNITS, {f"{L}X12_Anesthesia": True, MODIFIERS: "AA", UNITS: 9}, TWO_UNITS),
    ("C667", M, {}, imported("cpt", code("99214")), CODE, {"F01_ClaimType": "WC"}, imported("cpt", code("99214"))),
    ("C667", M, {CODE: "0202T"}, imported("cpt", code("99214")), CODE, {CODE: "G0008"}, imported("cpt", code("99214"))),
    ("C671", M, {MODIFIERS: "QQ,GT"}, imported("hcpcs", code("GT", "modifier")), MODIFIERS, {MODIFIERS: "P6,8P,76"},
        imported("hcpcs", code("GT", "modifier"))),
    ("C670", M, DECIDED, imported("carc", code("46")), "X12_ClaimContractualObligationAdjustments", OTHER, imported("carc", code("46"))),
]  # fmt: skip
