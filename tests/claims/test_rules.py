"""Every rule, by a table: a claim that breaks it, with the location of the finding, and one that keeps it.

Also tests `claims/rules/insurance`, `claims/rules/diagnoses`, `claims/rules/providers`, `claims/rules/dental`,
`claims/rules/money`, `claims/rules/numbers`, `claims/rules/remaining_liability`, `claims/rules/registry`, `claims/rules/dates`, `claims/rules/drugs`,
`claims/rules/addresses`, `claims/rules/code_list_age`, `claims/rules/diagnoses_of_patient`, `claims/rules/payer_edits`, `claims/rules/places` and `claims/rules/people`.
"""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from datetime import date, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace as with_values

from clearlane.claims.fields import fields_of, nested_parts
from clearlane.claims.finding import FINDINGS_PER_CLAIM_MAX
from clearlane.claims.forms import FORMS, V3_DENTAL, V3_FORMS, V3_MEDICAL, AnyForm, samples
from clearlane.claims.read.decode import read_claim
from clearlane.claims.read.repairs import Repair
from clearlane.claims.read.tolerant_reading import AS_SHORT_TEXT
from clearlane.claims.rules import (
    NO_LEADING_ZEROS,
    RULES,
    RuleInputs,
    diagnoses,
    diagnoses_of_patient,
    repair_and_check,
    skipped_rules,
)
from clearlane.claims.rules.registry import ExternalData, RuleScope, listed, quoted
from clearlane.kernel.finding import Severity, Stage
from clearlane.kernel.formats import format_amount
from clearlane.payers.edits import edits_of
from clearlane.payers.model import Payer
from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.code_editions import CodeEdition, CodeLists, EditionCode, combine
from tests.cases import every_case
from tests.claims.imported_list_cases import ROWS
from tests.claims.rule_edges import EDGES, FACT_EDGES, PAYER_EDGES

DAY = date(2025, 3, 14)
TODAY = date(2025, 3, 20)
ZIP_PAYER = Payer("Medical", "M", "T1", "TST01", has_route=True, billing_zip_required=True)
FUTURE = "2025-03-21"
MEDICAL, DENTAL = V3_MEDICAL, V3_DENTAL
PAYERS = {
    MEDICAL: Payer("Medical", "Meadow Mutual", "T1", "TST01", is_test=True, has_route=True),
    DENTAL: Payer("Dental", "Summit Dental", "T2", "TST02", is_test=True, has_route=True),
}
OFFLINE: frozenset[ExternalData] = frozenset()


def wanting(kind=MEDICAL, *, later=0, **wishes):
    """Return what is known of a payer that wants something of a claim, some days later."""
    payer = with_values(PAYERS[kind], **wishes)
    return {
        "payer": payer,
        "edits": edits_of(payer),
        "today": TODAY + timedelta(days=later),
    }


class Case(NamedTuple):
    """Changes that break a rule, the location of the finding, and changes that keep it."""

    kind: AnyForm
    breaks: dict[str, Any]
    at: str
    keeps: dict[str, Any]
    full: bool = False
    facts: Mapping[str, Any] = MappingProxyType({})
    fine: Mapping[str, Any] = MappingProxyType({})
    """Facts with which the kept claim is checked."""


OF_JSON = [rule for rule in RULES.values() if any(map(rule.applies_to, V3_FORMS))]
"""The rules that a claim of V3 can break; `test_known_faults` and `test_ub04` have the others."""


def m(breaks, at, keeps, **more):
    return Case(MEDICAL, breaks, at, keeps, **more)


def d(breaks, at, keeps, **more):
    return Case(DENTAL, breaks, at, keeps, **more)


def dental_line(last=None):
    """A line that begins on 12 March 2025."""
    days = {"F24_DateOfServiceFrom": "2025-03-12", "F24_DateOfServiceTo": last}
    return days | {"F29_ProcedureCode": "D1110", "F31_LineFee": "47.50"}


L, T = "F24_ClaimLines[0].", "LineItems[0]."
UNTIL = {f"{L}F24A_DateOfServiceTo": "2025-03-14"}
ON_OCTOBER_2 = {f"{L}F24A_DateOfServiceFrom": "2026-10-02"}
IMPORTED_UNTIL_SEPTEMBER = CodeLists(
    {
        "icd-10-cm": combine(
            dated_codes.load("icd-10-cm"),
            [
                (
                    CodeEdition(1, "icd-10-cm", "1", date(2026, 10, 1), date(2027, 9, 30), 1),
                    [EditionCode("J029", None, None)],
                )
            ],
        )
    }
)
TEETH = f"{T}Teeth"
OTHER = {
    "F09_OtherInsuredNameLast": "Lund",
    "F09A_OtherInsuredGroupNum": "G77",
    "F09_PatientRelationshipToInsured": "Child",
    "X12_OtherPayerName": "Harbor Health Plan",
}
DENTAL_OTHER = {
    "F05_OtherInsuredLastName": "Lund",
    "F08_OtherInsuredPolicy": "P77",
    "F10_OtherPatientRelationship": "Child",
    "F11_OtherPayerName": "Harbor Health Plan",
    "F04_OtherCoverage": True,
}
REPLACES = {"F22_MedicaidResubmissionCode": "7", "F22_OriginalReferenceNumber": "P1"}
DECIDED = {
    **OTHER,
    "X12_ClaimPrimaryPayerPaidAmount": 60,
    "X12_ClaimContractualObligationAdjustments": "45:40",
    "X12_ClaimAdjudicationDate": "2025-03-18",
}
LINE_DECIDED = {
    **OTHER,
    f"{L}X12_PrimaryPayerPaidAmount": 60,
    f"{L}X12_LineContractualObligationAdjustments": "45:40",
    f"{L}X12_AdjudicationOrPaymentDate": "2025-03-18",
}
# The line costs 100, of which the claim's patient owes 5 that no line has.
OWED_FOR_THE_CLAIM = {
    "X12_ClaimPatientResponsibilityAdjustments": "3:5",
    "X12_ClaimPrimaryPayerPaidAmount": 55,
}
DENTAL_DECIDED = {
    **DENTAL_OTHER,
    f"{T}X12_PrimaryPaidAmount": "60.00",
    f"{T}X12_AdjudicationDate": "2025-03-18",
    f"{T}Adjustments": [
        {
            "X12_AdjustmentGroupCode": "CO",
            "X12_AdjustmentReasonCode": "45",
            "X12_AdjustmentAmount": "35.00",
        }
    ],
}
ADJUSTMENT = {
    "X12_AdjustmentGroupCode": "CO",
    "X12_AdjustmentReasonCode": "45",
    "X12_AdjustmentAmount": "1",
}
SPOUSE = {
    "F06_PatientRelationshipToInsured": "Spouse",
    "F05_PatientAddress1": "12 Fernhill Road",
    "F02_PatientNameFirst": "Ivo",
}
CHILD = {
    "F18_PatientRelationship": "Child",
    "F20_PatientLastName": "Arden",
    "F20_PatientFirstName": "Milo",
    "F20_PatientAddress": "12 Fernhill Road",
    "F20_PatientCity": "Austin",
    "F20_PatientST": "TX",
    "F20_PatientZip": "78701",
    "F20_PatientDOB": "2015-01-01",
    "F22_PatientSex": "M",
}
FACILITY = {
    "F32_FacilityName": "Fernhill Clinic",
    "F32_FacilityAddress1": "1 Elm St",
    "F32_FacilityCity": "Austin",
    "F32_FacilityState": "TX",
    "F32_FacilityZip": "78701",
}
LOCATION = {
    "F56_TreatmentAddress": "1 Elm St",
    "F56_TreatmentCity": "Austin",
    "F56_TreatmentST": "TX",
    "F56_TreatmentZip": "78701",
}
PAY_TO = {
    "X12_Paytoaddress": "PO Box 5",
    "X12_PaytoCity": "Austin",
    "X12_PaytoST": "TX",
    "X12_PaytoZip": "78701",
}
PAYER_ADDRESS = {
    "F00_PayerAddress1": "1 Elm St",
    "F00_PayerCity": "Austin",
    "F00_PayerState": "TX",
    "F00_PayerZip": "78701",
}
MINUTES = {f"{L}X12_Anesthesia": True, f"{L}F24G_DaysOrUnits": 5}
MEASURED = {
    f"{L}X12_MeasurementId": "TR",
    f"{L}X12_MeasurementQualifier": "R1",
    f"{L}X12_MeasurementValue": 12.5,
}
ORTHODONTICS = {
    "F40_OrthoTreatment": True,
    "F41_DateAppliancePlaced": "2025-01-05",
    "F42_MonthsTreatment": 24,
}
PREDETERMINATION = {
    "F01_TypeOfTransaction": "Predetermination",
    "X12_ServiceDate": ...,
    f"{T}F24_DateOfServiceFrom": ...,
}
ATTACHED = {
    "X12_AttachmentReportType": "RB",
    "X12_AttachmentTransmissionCode": "EL",
    "X12_AttachmentControlNumber": "ACN1",
}
LINE = samples.minimal_claim(MEDICAL, DAY)["F24_ClaimLines"][0]
DENTAL_LINE = samples.minimal_claim(DENTAL, DAY)["LineItems"][0]


def tooth(name, *surfaces):
    return [{"F27_Tooth": name, "F28_ToothSurface": list(surfaces)}]


def lines(count, base=LINE, **own):
    return [
        {**base, **{name: value.format(at) for name, value in own.items()}} for at in range(count)
    ]


CASES: dict[str, list[Case]] = {
    "C101": [
        m({}, "Svc_PayerId", {}, facts={"payer": None}),
        d({}, "Svc_PayerId", {}, facts={"payer": None}),
    ],
    "C102": [m({}, "Svc_PayerId", {}, facts={"payer": None, "payer_of_other_type": True})],
    "C103": [
        m(
            {},
            "Svc_PayerId",
            {},
            facts={"payer": Payer("Medical", "M", "T1", "TST01", active=False)},
        )
    ],
    "C104": [m({}, "Svc_PayerId", {}, facts={"payer": Payer("Medical", "M", "T1", "TST01")})],
    "C108": [
        m(
            {},
            "Svc_PayerId",
            {},
            facts={
                "payer": Payer("Medical", "M", "T1", "TST01", has_route=True, accepts_claims=False)
            },
        )
    ],
    "C105": [
        m({}, "Svc_PayerId", {}, facts={"sandbox": False}, fine={"sandbox": True}),
        m(
            {},
            "Svc_PayerId",
            {},
            facts={"sandbox": False},
            fine={"sandbox": False, "payer": Payer("Medical", "M", "L1", "LIVE1", has_route=True)},
        ),
    ],
    "C106": [
        m(
            {},
            "Svc_PayerId",
            {},
            facts={"payer": Payer("Medical", "M", "T1", "TST01", claim_enrollment_required=True)},
            fine={
                "payer": Payer("Medical", "M", "T1", "TST01", claim_enrollment_required=True),
                "enrolled": True,
            },
        )
    ],
    "C107": [m({}, "Svc_VendorClaimId", {}, facts={"earlier_claim_number": "R-1"})],
    "C109": [
        m(
            {},
            "F22_MedicaidResubmissionCode",
            {},
            facts={"correction": "The claim goes out as a new one."},
        ),
        d(
            {},
            "X12_ClaimFrequencyCode",
            {},
            facts={"correction": "The claim goes out as a new one."},
        ),
    ],
    "C112": [
        m(
            {},
            "Svc_VendorClaimId",
            {},
            facts={"earlier_claim_number": "R-1", "is_settled_before": True},
        )
    ],
    "C120": [m({}, "Svc_VendorClaimId", {}, facts={"equal_claim": "R-1"})],
    "C113": [m({}, "Svc_PayerId", {}, facts={"paid_by_another": "R-1"})],
    "C110": [
        m(
            {"F22_MedicaidResubmissionCode": "8", "F22_OriginalReferenceNumber": "P1"},
            "F22_MedicaidResubmissionCode",
            {"F22_MedicaidResubmissionCode": "8", "F22_OriginalReferenceNumber": "P1"},
            facts={"payer": Payer("Medical", "M", "T1", "TST01", replacements="original_only")},
            fine={"payer": Payer("Medical", "M", "T1", "TST01")},
        )
    ],
    "C201": [
        m(
            {"F02_PatientNameLast": "Lund"},
            "F02_PatientNameLast",
            {"F02_PatientNameLast": "ar-den"},
        ),
        m(
            {"F03_PatientDob": "1990-01-01"},
            "F03_PatientDob",
            SPOUSE | {"F03_PatientDob": "1990-01-01"},
        ),
        d(
            {"F20_PatientFirstName": "Ivo"},
            "F20_PatientFirstName",
            {"F20_PatientFirstName": "Rosa"},
        ),
        d({"F22_PatientSex": "M"}, "F22_PatientSex", {"F22_PatientSex": "female"}),
    ],
    "C202": [m(SPOUSE | {"F05_PatientAddress1": ...}, "F05_PatientAddress1", SPOUSE)],
    "C203": [m(SPOUSE | {"F02_PatientNameFirst": "Rosa"}, "F02_PatientNameLast", SPOUSE)],
    "C204": [
        m(
            SPOUSE | {"F06_PatientRelationshipToInsured": "Child", "F03_PatientDob": "1950-01-01"},
            "F03_PatientDob",
            SPOUSE | {"F03_PatientDob": "1950-01-01"},
        ),
        d(CHILD | {"F20_PatientDOB": "1950-01-01"}, "F20_PatientDOB", CHILD),
    ],
    "C205": [
        m({"F11A_InsuredDob": FUTURE}, "F11A_InsuredDob", {"F09B_OtherInsuredDOB": "2025-03-20"}),
        d({"F13_InsuredDOB": FUTURE}, "F13_InsuredDOB", {}),
    ],
    "C206": [
        m({"F03_PatientDob": "1825-01-01"}, "F03_PatientDob", {"F03_PatientDob": "1925-01-01"}),
        d(
            {"F06_OtherInsuredDOB": "1825-01-01"},
            "F06_OtherInsuredDOB",
            {"F06_OtherInsuredDOB": "1925-01-01"},
        ),
    ],
    "C207": [
        d(
            {"X12_SubscriberEntityTypeQualifier": "2"},
            "X12_SubscriberEntityTypeQualifier",
            CHILD | {"X12_SubscriberEntityTypeQualifier": "2"},
        )
    ],
    "C208": [
        d(
            {"F36_PatientSignature": "none"},
            "F36_PatientSignature",
            {"F36_PatientSignature": "R Arden"},
        )
    ],
    "C301": [
        m({"F00_PayerName": "X" * 61}, "F00_PayerName", {"F00_PayerName": "X" * 60}),
        m({"F23_ReferralNumber": "X" * 51}, "F23_ReferralNumber", {"F23_ReferralNumber": "X" * 50}),
        m({"Svc_VendorClaimId": "X" * 101}, "Svc_VendorClaimId", {"Svc_VendorClaimId": "X" * 100}),
        m(
            {f"{L}X12_Description": "X" * 81},
            f"{L}X12_Description",
            {f"{L}X12_Description": "X" * 80},
        ),
        m({"F21_DiagnosisCodes": ["J0290000"]}, "F21_DiagnosisCodes[0]", {}),
        d({"F34a_DiagnosisCode": "K" * 41}, "F34a_DiagnosisCode", {}),
    ],
    "C302": [
        m({"F05_PatientCity": "X"}, "F05_PatientCity", {"F05_PatientCity": "Ox"}),
        m({"F01A_InsuredId": "1"}, "F01A_InsuredId", {"F01A_InsuredId": "12"}),
    ],
    "C303": [
        m({"F01A_InsuredId": "A*1"}, "F01A_InsuredId", {"F01A_InsuredId": "A-1"}),
        m({"F23_ReferralNumber": "A~1"}, "F23_ReferralNumber", {"F23_ReferralNumber": "A/1"}),
        m({"F02_PatientNameLast": "李"}, "F02_PatientNameLast", {"F02_PatientNameLast": "Ärden"}),
        m({"F02_PatientNameLast": "Arden 李"}, "F02_PatientNameLast", {}),
        m({"F23_ReferralNumber": "A\u0007B"}, "F23_ReferralNumber", {}),
        d(
            {f"{T}X12_LineControlNumber": "1:2"},
            f"{T}X12_LineControlNumber",
            {f"{T}F30_Description": "a:b*c~d^e"},
        ),
    ],
    "C304": [
        m(
            {"F33A_BillingProviderNpi": "1234567890"},
            "F33A_BillingProviderNpi",
            {"F33A_BillingProviderNpi": "1234567893"},
        ),
        m(
            {"F17B_ReferringProviderNpi": "123456789"},
            "F17B_ReferringProviderNpi",
            {"F17B_ReferringProviderNpi": "123-456-7893"},
        ),
        m({f"{L}F24J_RenderingNpi": "3234567893"}, f"{L}F24J_RenderingNpi", {}),
        d({"F48_BillingDentistNPI": "1234567894"}, "F48_BillingDentistNPI", {}),
        d({f"{T}X12_LineTreatingDentistNPI": "ABC"}, f"{T}X12_LineTreatingDentistNPI", {}),
    ],
    "C305": [
        m({"F05_PatientState": "XX"}, "F05_PatientState", {"F05_PatientState": "tx"}),
        m({"F07_InsuredState": "ON"}, "F07_InsuredState", {"F07_InsuredState": "PR"}),
        d({"F48_BillingDentistST": "Texas"}, "F48_BillingDentistST", {}),
    ],
    "C306": [
        m({"F05_PatientZip": "7870"}, "F05_PatientZip", {"F05_PatientZip": "78701-1234"}),
        d({"F12_InsuredZip": "00000"}, "F12_InsuredZip", {"F12_InsuredZip": "00501"}),
    ],
    "C307": [
        m(
            {"F05_PatientPhone": "555-0142"},
            "F05_PatientPhone",
            {"F05_PatientPhone": "1 (512) 555-0142"},
        ),
        d(
            {"F52_BillingDentistPhone": "0125550142"},
            "F52_BillingDentistPhone",
            {"F52_BillingDentistPhone": "512.555.0142"},
        ),
    ],
    "C308": [
        m(
            {"F33B_BillingProviderTaxonomyCode": "207Q"},
            "F33B_BillingProviderTaxonomyCode",
            {"F33B_BillingProviderTaxonomyCode": "207q00000x"},
        )
    ],
    "C309": [
        m(
            {"F25_FederalTaxIdEin": "12345678"},
            "F25_FederalTaxIdEin",
            {"F25_FederalTaxIdEin": "12-3456789"},
        ),
        d({"F51_BillingDentistTaxID": "000000000"}, "F51_BillingDentistTaxID", {}),
    ],
    "C310": [
        m({"F03_PatientSex": "Z"}, "F03_PatientSex", {"F03_PatientSex": "female"}),
        m(
            {"F12_PatientAuthorization": "No"},
            "F12_PatientAuthorization",
            {"F12_PatientAuthorization": "i"},
        ),
        m(
            {f"{L}F24B_PlaceOfServiceCode": "98"},
            f"{L}F24B_PlaceOfServiceCode",
            {f"{L}F24B_PlaceOfServiceCode": "office"},
        ),
        m({"X12_ContactLenses": "L1,L9"}, "X12_ContactLenses", {"X12_ContactLenses": "L1, l5"}),
        d(
            {"F01_TypeOfTransaction": "Guess"},
            "F01_TypeOfTransaction",
            {"F01_TypeOfTransaction": "EPSDT/Title XIX"},
        ),
        d(
            {f"{T}F25_AreaOfOralCavity": ["10", "99"]},
            f"{T}F25_AreaOfOralCavity[1]",
            {f"{T}F25_AreaOfOralCavity": ["UR", None]},
        ),
        d(
            {TEETH: tooth("3", "M", "Q")},
            f"{TEETH}[0].F28_ToothSurface[1]",
            {TEETH: tooth("3", "MOD")},
        ),
    ],
    "C311": [
        m({f"{L}F24F_Charges": -1}, f"{L}F24F_Charges", {f"{L}F24F_Charges": 0}),
        d(
            {"X12_PatientAmountPaid": "-0.01"},
            "X12_PatientAmountPaid",
            {
                f"{TEETH}": None,
                **DENTAL_DECIDED,
                f"{T}Adjustments": [{**ADJUSTMENT, "X12_AdjustmentAmount": "-5"}],
            },
        ),
    ],
    "C312": [m({"F28_TotalCharge": 100.005}, "F28_TotalCharge", {"F28_TotalCharge": "100.000"})],
    "C313": [
        m({"F28_TotalCharge": 100000000}, "F28_TotalCharge", {"F28_TotalCharge": 99999999.99})
    ],
    "C314": [
        m(
            {f"{L}F24G_DaysOrUnits": 0},
            f"{L}F24G_DaysOrUnits",
            {f"{L}F24G_DaysOrUnits": 1.125, f"{L}X12_NdcQuantity": 0},
        ),
        m({f"{L}F24G_DaysOrUnits": 1.0005}, f"{L}F24G_DaysOrUnits", {}),
        m({f"{L}F24G_DaysOrUnits": 10**8}, f"{L}F24G_DaysOrUnits", {}),
    ],
    "C315": [
        m(
            {"X12_ClaimOtherAdjustments": "23:1.005"},
            "X12_ClaimOtherAdjustments",
            {"X12_ClaimOtherAdjustments": "23:1.05"},
        )
    ],
    "C316": [
        m(
            {"X12_ClaimOtherAdjustments": "ZZ9:5"},
            "X12_ClaimOtherAdjustments",
            {"X12_ClaimOtherAdjustments": "b7:5"},
        ),
        m(
            {f"{L}X12_LineOtherAdjustments": "999:5"},
            f"{L}X12_LineOtherAdjustments",
            {f"{L}X12_LineOtherAdjustments": "5"},
        ),
    ],
    "C317": [
        m(
            {"X12_ClaimOtherAdjustments": ",".join(f"{n}:1" for n in range(1, 8))},
            "X12_ClaimOtherAdjustments",
            {"X12_ClaimOtherAdjustments": ",".join(f"{n}:1" for n in range(1, 7))},
        )
    ],
    "C318": [
        m(
            {"F23_PriorAuthorizationNumber": "none"},
            "F23_PriorAuthorizationNumber",
            {"F23_PriorAuthorizationNumber": "NONE1"},
        )
    ],
    "C319": [
        m(
            {f"{L}F24D_HcpcsProcedureCode": "9921"},
            f"{L}F24D_HcpcsProcedureCode",
            {f"{L}F24D_HcpcsProcedureCode": "g0008"},
        ),
        d({f"{T}F29_ProcedureCode": "D111"}, f"{T}F29_ProcedureCode", {}),
    ],
    "C320": [
        m({f"{L}X12_NdcCode": "12345"}, f"{L}X12_NdcCode", {f"{L}X12_NdcCode": "0009-0011-3"})
    ],
    "C321": [
        d({TEETH: tooth("33")}, f"{TEETH}[0].F27_Tooth", {TEETH: tooth("08")}),
        d(
            {"F33_MissingTeeth": ["1", "X"]},
            "F33_MissingTeeth[1]",
            {"F33_MissingTeeth": [1, "t", "82", "AS", None]},
        ),
    ],
    "C322": [
        m(
            {f"{L}F24D_Modifiers": "25,59,76,77,GT"},
            f"{L}F24D_Modifiers",
            {f"{L}F24D_Modifiers": "25597677"},
        ),
        m({f"{L}F24D_Modifiers": "2"}, f"{L}F24D_Modifiers", {f"{L}F24D_Modifiers": "rt lt"}),
    ],
    "C401": [
        m(
            {"F33_BillingProviderAddress1": "P.O. Box 12"},
            "F33_BillingProviderAddress1",
            {"F33_BillingProviderAddress1": "12 Boxwood Rd"},
        ),
        d({"F48_BillingDentistAddress": "PO BOX 12"}, "F48_BillingDentistAddress", {}),
    ],
    "C402": [
        m(FACILITY | {"F32_FacilityCity": ...}, "F32_FacilityCity", FACILITY),
        m({"F32A_FacilityNpi": "1234567893"}, "F32_FacilityName", {}),
    ],
    "C403": [d(LOCATION | {"F56_TreatmentZip": ...}, "F56_TreatmentZip", LOCATION)],
    "C404": [
        m(
            {"F17B_SupervisingProviderNpi": "1234567893"},
            "F17_SupervisingProviderNameLast",
            {
                "F17B_SupervisingProviderNpi": "1234567893",
                "F17_SupervisingProviderNameLast": "Fenn",
            },
        )
    ],
    "C405": [
        m(
            {f"{L}F24J_RenderingNpi": "1679576722"},
            f"{L}F24J_RenderingNpi",
            {f"{L}F24J_RenderingNpi": "1234567893", "F33A_BillingProviderNpi": "1234567893"},
        ),
        m(
            {
                f"{L}F24J_RenderingNpi": "1679576722",
                "X12_RendProviderNameLast": "Fenn",
                "X12_RenderingNPI": "1234567893",
            },
            f"{L}F24J_RenderingNpi",
            {f"{L}F24J_RenderingNpi": "1679576722", "X12_RendProviderNameLast": "Fenn"},
        ),
    ],
    "C406": [
        m(
            {f"{L}F24J_Shaded_RendProviderLocationNumber": "L1"},
            f"{L}F24J_Shaded_RendProviderLocationNumber",
            {
                f"{L}F24J_Shaded_RendProviderLocationNumber": "L1",
                "X12_RendProviderNameLast": "Fenn",
            },
        )
    ],
    "C407": [
        d(
            {"F53_TreatingDentistNPI": "1679576722"},
            "X12_RenderingProvLastName",
            {"F53_TreatingDentistNPI": "1234567893"},
        ),
        d(
            {"F55_TreatingDentistLicense": "L1"},
            "X12_RenderingProvLastName",
            {"F55_TreatingDentistLicense": "L1", "X12_RenderingProvLastName": "Birch"},
        ),
    ],
    "C408": [
        d(
            {f"{T}X12_LineTreatingDentistNPI": "1679576722"},
            f"{T}X12_LineTreatingDentistLastname",
            {
                f"{T}X12_LineTreatingDentistNPI": "1679576722",
                f"{T}X12_LineTreatingDentistLastname": "Birch",
            },
        )
    ],
    "C409": [d(PAY_TO | {"X12_PaytoST": ...}, "X12_PaytoST", PAY_TO)],
    "C410": [
        m(
            {"F25_FederalTaxIdSsn": "987654320", "F33B_BillingProviderSsn": "987654321"},
            "F33B_BillingProviderSsn",
            {"F25_FederalTaxIdSsn": "987654320", "F33B_BillingProviderSsn": "987-65-4320"},
        )
    ],
    "C411": [m({}, "F33A_BillingProviderNpi", {"F33A_BillingProviderNpi": "1234567893"})],
    "C412": [
        m({}, "F33_BillingProviderZip", {"F33_BillingProviderZip": "78701"}),
        m({}, "F33_BillingProviderZip", {}, fine={"payer": ZIP_PAYER}),
    ],
    "C111": [
        m(
            {},
            "F33_BillingProviderZip",
            {"F33_BillingProviderZip": "78701"},
            facts={"payer": ZIP_PAYER},
            fine={"payer": ZIP_PAYER},
        ),
        m({}, "F33_BillingProviderZip", {}, facts={"payer": ZIP_PAYER}, fine={}),
    ],
    "C151": [
        # Nine days after the service, by the limit of originals; then of corrected claims, of claims to a second
        # payer, and Medicare's.
        m(
            {},
            f"{L}F24A_DateOfServiceFrom",
            {},
            facts=wanting(filing_days=5),
            fine=wanting(filing_days=6),
        ),
        m(
            REPLACES,
            f"{L}F24A_DateOfServiceFrom",
            REPLACES,
            facts=wanting(corrected_filing_days=5, filing_days=90),
            fine=wanting(filing_days=5),
        ),
        m(
            DECIDED,
            f"{L}F24A_DateOfServiceFrom",
            DECIDED,
            facts=wanting(secondary_filing_days=1),
            fine=wanting(secondary_filing_days=2, filing_days=5),
        ),
        m(
            {},
            f"{L}F24A_DateOfServiceFrom",
            {},
            facts=wanting(program="Medicare", later=360),
            fine=wanting(program="Medicare", later=359),
        ),
        m(
            {},
            f"{L}F24A_DateOfServiceFrom",
            {"X12_DelayReasonCode": "9"},
            facts=wanting(filing_days=1),
            fine=wanting(filing_days=1),
        ),
        d(
            {},
            f"{T}F24_DateOfServiceFrom",
            {},
            facts=wanting(DENTAL, filing_days=5),
            fine=wanting(DENTAL, filing_days=6),
        ),
    ],
    "C152": [
        m(
            {"F01A_InsuredId": "W12345678"},
            "F01A_InsuredId",
            {"F01A_InsuredId": "w123456789"},
            facts=wanting(member_id_pattern="W#{9}|@@@#{6,9}"),
            fine=wanting(member_id_pattern="W#{9}|@@@#{6,9}"),
        )
    ],
    "C153": [
        m(
            {"F33_BillingProviderZip": "78701"},
            "F33_BillingProviderZip",
            {"F33_BillingProviderZip": "78701-1234"},
            facts=wanting(edits=("nine_digit_zip",)),
            fine=wanting(edits=("nine_digit_zip",)),
        )
    ],
    "C154": [
        m(
            {},
            "F33B_BillingProviderTaxonomyCode",
            {"F33B_BillingProviderTaxonomyCode": "207Q00000X"},
            facts=wanting(edits=("taxonomy",)),
            fine=wanting(edits=("taxonomy",)),
        )
    ],
    "C155": [
        m(
            {f"{L}F24D_HcpcsProcedureCode": "80053"},
            "F23_ClinicalLaboratoryImprovementAmendmentNumber",
            {
                f"{L}F24D_HcpcsProcedureCode": "80053",
                "F23_ClinicalLaboratoryImprovementAmendmentNumber": "12D4567890",
            },
            facts=wanting(edits=("clia",)),
            fine=wanting(program="Medicaid"),
        )
    ],
    "C156": [
        m(
            {f"{L}F24D_HcpcsProcedureCode": "J1885"},
            f"{L}X12_NdcCode",
            {
                f"{L}F24D_HcpcsProcedureCode": "J1885",
                f"{L}X12_NdcCode": "12345678901",
                f"{L}X12_NdcQuantity": "1",
            },
            facts=wanting(program="Medicaid"),
            fine=wanting(edits=("ndc",)),
        )
    ],
    "C157": [
        m(
            {f"{L}F24D_HcpcsProcedureCode": "98941"},
            "F15_InitialTreatmentDate",
            {f"{L}F24D_HcpcsProcedureCode": "98941", "F15_InitialTreatmentDate": "2025-03-01"},
            facts=wanting(program="Medicare"),
            fine=wanting(program="Medicare"),
        )
    ],
    "C158": [
        m(
            {f"{L}F24D_HcpcsProcedureCode": "98941"},
            "F21_DiagnosisCodes[0]",
            {f"{L}F24D_HcpcsProcedureCode": "98941", "F21_DiagnosisCodes": ["M99.03", "M54.50"]},
            facts=wanting(edits=("chiropractic",)),
            fine=wanting(edits=("chiropractic",)),
        )
    ],
    "C159": [
        d(
            ATTACHED,
            "X12_AttachmentTransmissionCode",
            ATTACHED,
            facts=wanting(DENTAL, attachments=("BM",)),
            fine=wanting(DENTAL, attachments=("BM", "EL")),
        ),
        d(
            ATTACHED,
            "X12_AttachmentTransmissionCode",
            {},
            facts=wanting(DENTAL, attachments=("none",)),
            fine=wanting(DENTAL, attachments=("none",)),
        ),
    ],
    "C119": [
        m(
            OTHER,
            "X12_OtherPayerName",
            OTHER,
            facts={"other_payer_unknown": True},
        ),
        m(
            OTHER | {"X12_OtherPayerName": ..., "F09D_OtherPlanName": "Harbor"},
            "F09D_OtherPlanName",
            OTHER,
            facts={"other_payer_unknown": True},
        ),
        d(DENTAL_OTHER, "F11_OtherPayerName", DENTAL_OTHER, facts={"other_payer_unknown": True}),
    ],
    "C413": [
        m({"F00_PayerCity": "Austin"}, "F00_PayerAddress1", PAYER_ADDRESS),
        d({"F11_OtherPayerZip": "78701", **DENTAL_OTHER}, "F11_OtherPayerCity", DENTAL_OTHER),
    ],
    "C501": [
        m({"F21_IcdIndicator": "9", "F21_DiagnosisCodes": ["4019"]}, "F21_IcdIndicator", {}),
        m(
            {f"{L}F24A_DateOfServiceFrom": "2015-09-30"},
            "F21_IcdIndicator",
            {
                f"{L}F24A_DateOfServiceFrom": "2015-09-30",
                "F21_IcdIndicator": "ICD-9",
                "F21_DiagnosisCodes": ["401.9"],
            },
        ),
        d(
            {"F34_DiagnosiseCodeQualifier": "B", "F34a_DiagnosisCode": "521.00"},
            "F34_DiagnosiseCodeQualifier",
            {"F34_DiagnosiseCodeQualifier": "AB", "F34a_DiagnosisCode": "K02.9"},
        ),
    ],
    "C502": [
        m(
            {"F21_DiagnosisCodes": ["QB0"]},
            "F21_DiagnosisCodes[0]",
            {"F21_DiagnosisCodes": ["QA0.8"]},
        ),
        m(
            {"F21_DiagnosisCodes": ["J02.9", "12345"]},
            "F21_DiagnosisCodes[1]",
            {"F21_DiagnosisCodes": ["j02.9", "I10"]},
        ),
        m({"F21_DiagnosisCodes": ["J02*9"]}, "F21_DiagnosisCodes[0]", {}),
        d(
            {"F34_DiagnosiseCodeQualifier": "AB", "F34a_DiagnosisCode": "K02.9,K"},
            "F34a_DiagnosisCode",
            {},
        ),
    ],
    "C503": [
        m(
            {"F21_DiagnosisCodes": ["J99.99"]},
            "F21_DiagnosisCodes[0]",
            {"F21_DiagnosisCodes": ["U07.1"]},
        ),
        # I42.0 was divided on October 1, 2026.
        m(
            {**ON_OCTOBER_2, "F21_DiagnosisCodes": ["I42.0"]},
            "F21_DiagnosisCodes[0]",
            {**ON_OCTOBER_2, "F21_DiagnosisCodes": ["I42.00"]},
            facts={"today": date(2026, 11, 2)},
            fine={"today": date(2026, 11, 2)},
        ),
        m(
            {"F21_DiagnosisCodes": ["I42.00"]},
            "F21_DiagnosisCodes[0]",
            {"F21_DiagnosisCodes": ["I42.0"]},
        ),
    ],
    "C513": [
        m(
            {f"{L}F24A_DateOfServiceFrom": "2027-04-01", "F21_DiagnosisCodes": ["J02.9", "J99.99"]},
            "F21_DiagnosisCodes[1]",
            {f"{L}F24A_DateOfServiceFrom": "2027-03-31"},
            facts={"today": date(2027, 5, 2)},
            fine={"today": date(2027, 5, 2)},
        ),
        m(
            {f"{L}F24A_DateOfServiceFrom": "2027-04-01"},
            "F21_DiagnosisCodes[0]",
            {f"{L}F24A_DateOfServiceFrom": "2027-04-01"},
            facts={"today": date(2027, 5, 2)},
            fine={"today": date(2027, 5, 2), "code_lists": IMPORTED_UNTIL_SEPTEMBER},
        ),
    ],
    "C504": [
        m(
            {"F21_DiagnosisCodes": ["E11"]},
            "F21_DiagnosisCodes[0]",
            {"F21_DiagnosisCodes": ["E11.9"]},
        )
    ],
    "C505": [m({"F21_DiagnosisCodes": ["J02.9", "j029"]}, "F21_DiagnosisCodes[1]", {})],
    "C506": [
        m(
            {"F21_DiagnosisCodes": [f"E11.{n}" for n in range(13)]},
            "F21_DiagnosisCodes",
            {"F21_DiagnosisCodes": ["J02.9", *[f"M54.{n}" for n in range(11)]]},
        ),
        d(
            {
                "F34_DiagnosiseCodeQualifier": "AB",
                "F34a_DiagnosisCode": "K02.9 K05.30 K08.109 Z01.20 K04.0",
            },
            "F34a_DiagnosisCode",
            {},
        ),
    ],
    "C507": [
        m(
            {"F21_DiagnosisCodes": [None, "J02.9"]},
            "F21_DiagnosisCodes[0]",
            {"F21_DiagnosisCodes": ["J02.9", None]},
        )
    ],
    "C508": [
        m(
            {"F21_DiagnosisCodes": ["W19.XXXA"]},
            "F21_DiagnosisCodes[0]",
            {"F21_DiagnosisCodes": ["J02.9", "W19.XXXA"]},
        )
    ],
    "C509": [
        d(
            {"F34a_DiagnosisCode": "K02.9"},
            "F34_DiagnosiseCodeQualifier",
            {"F34a_DiagnosisCode": "K02.9", "F34_DiagnosiseCodeQualifier": "AB"},
        )
    ],
    "C510": [
        m(
            {f"{L}F24E_DiagnosisPointers": ["A", "C"]},
            f"{L}F24E_DiagnosisPointers[1]",
            {f"{L}F24E_DiagnosisPointers": ["ab"]},
        ),
        m(
            {f"{L}F24E_DiagnosisPointers": ["13"]},
            f"{L}F24E_DiagnosisPointers[0]",
            {f"{L}F24E_DiagnosisPointers": ["2", "1"]},
        ),
        m(
            {f"{L}F24E_DiagnosisPointers": ["B"], "F21_DiagnosisCodes": ["J02.9", None, "R05.9"]},
            f"{L}F24E_DiagnosisPointers[0]",
            {f"{L}F24E_DiagnosisPointers": ["C"], "F21_DiagnosisCodes": ["J02.9", None, "R05.9"]},
        ),
        d(
            {f"{T}F29a_DiagnosisPointer": "A"},
            f"{T}F29a_DiagnosisPointer",
            {f"{T}F29a_DiagnosisPointer": "A", "F34a_DiagnosisCode": "K02.9"},
        ),
    ],
    "C511": [
        m(
            {
                f"{L}F24E_DiagnosisPointers": ["A", "B", "C", "D", "E"],
                "F21_DiagnosisCodes": ["J02.9", "R05.9", "I10", "E11.9", "N39.0"],
            },
            f"{L}F24E_DiagnosisPointers",
            {},
        ),
        d({f"{T}F29a_DiagnosisPointer": "ABCDE"}, f"{T}F29a_DiagnosisPointer", {}),
    ],
    "C512": [
        m(
            {f"{L}F24E_DiagnosisPointers": ["A", "A"]},
            f"{L}F24E_DiagnosisPointers",
            {f"{L}F24E_DiagnosisPointers": ["A", "B"]},
        )
    ],
    "C601": [
        d(
            {f"{T}F29_ProcedureCode": "99213"},
            f"{T}F29_ProcedureCode",
            {f"{T}F29_ProcedureCode": "d1110"},
        )
    ],
    "C602": [
        m({"F24_ClaimLines": lines(51)}, "F24_ClaimLines", {"F24_ClaimLines": lines(50)}),
        d({"LineItems": lines(51, DENTAL_LINE)}, "LineItems", {}),
    ],
    "C603": [
        m(
            {f"{L}F24D_HcpcsProcedureCode": "J3490"},
            f"{L}X12_Description",
            {f"{L}F24D_HcpcsProcedureCode": "J3490", f"{L}X12_Description": "Drug"},
        ),
        d(
            {f"{T}F29_ProcedureCode": "D9999"},
            f"{T}F30_Description",
            {f"{T}F29_ProcedureCode": "D9999", f"{T}F30_Description": "Other"},
        ),
    ],
    "C604": [
        m(
            {"F24_ClaimLines": lines(2, X12_ProviderControlNumber="1")},
            "F24_ClaimLines[1].X12_ProviderControlNumber",
            {"F24_ClaimLines": lines(2, X12_ProviderControlNumber="{}")},
        ),
        d(
            {"LineItems": lines(2, DENTAL_LINE, X12_LineControlNumber="1")},
            "LineItems[1].X12_LineControlNumber",
            {},
        ),
    ],
    "C605": [
        m(
            {f"{L}X12_Anesthesia": True, f"{L}F24D_HcpcsProcedureCode": "00170"},
            f"{L}F24G_DaysOrUnits",
            {
                f"{L}X12_Anesthesia": True,
                f"{L}F24D_HcpcsProcedureCode": "00170",
                f"{L}F24G_DaysOrUnits": 45,
            },
        ),
        m(
            {
                f"{L}X12_Anesthesia": True,
                f"{L}F24D_HcpcsProcedureCode": "00170",
                f"{L}F24G_DaysOrUnits": 4.5,
            },
            f"{L}F24G_DaysOrUnits",
            {f"{L}X12_Anesthesia": False},
        ),
    ],
    "C606": [
        m({f"{L}F24D_HcpcsProcedureCode": "00170"}, f"{L}X12_Anesthesia", {}),
        m(
            {f"{L}F24D_HcpcsProcedureCode": "01999"},
            f"{L}X12_Anesthesia",
            {f"{L}F24D_HcpcsProcedureCode": "0001A"},
        ),
        m(
            {f"{L}F24D_HcpcsProcedureCode": "01995"},
            f"{L}X12_Anesthesia",
            {f"{L}F24D_HcpcsProcedureCode": "01996"},
        ),
    ],
    "C613": [
        m(
            MINUTES,
            f"{L}X12_Anesthesia",
            MINUTES | {f"{L}F24D_HcpcsProcedureCode": "00170"},
        ),
        m(
            MINUTES | {f"{L}F24D_HcpcsProcedureCode": "01996"},
            f"{L}X12_Anesthesia",
            MINUTES | {f"{L}F24D_HcpcsProcedureCode": "43239", f"{L}F24D_Modifiers": "QS,AA"},
        ),
    ],
    "C607": [
        m(
            MEASURED | {f"{L}X12_MeasurementQualifier": ...},
            f"{L}X12_MeasurementQualifier",
            MEASURED,
        ),
        m(
            {f"{L}X12_MeasurementValue": 5},
            f"{L}X12_MeasurementId",
            {f"{L}X12_MeasurementValue": 0},
        ),
    ],
    "C608": [
        m(
            {f"{L}X12_ContractMonetaryAmount": 5},
            f"{L}X12_ContractTypeCode",
            {f"{L}X12_ContractMonetaryAmount": 5, f"{L}X12_ContractTypeCode": "flat"},
        )
    ],
    "C609": [
        m(
            {"X12_ClaimContractCode": "A1"},
            "X12_ClaimContractTypeCode",
            {"X12_ClaimContractCode": "A1", "X12_ClaimContractTypeCode": "4"},
        )
    ],
    "C610": [
        m({f"{L}F24D_Modifiers": "25,25"}, f"{L}F24D_Modifiers", {f"{L}F24D_Modifiers": "25,59"})
    ],
    "C611": [d({f"{T}F29b_Quantity": 1.5}, f"{T}F29b_Quantity", {f"{T}F29b_Quantity": "2"})],
    "C612": [
        m(
            {"F24_ClaimLines": lines(2)},
            "F24_ClaimLines[1].F24D_HcpcsProcedureCode",
            {"F24_ClaimLines": lines(2, F24D_Modifiers="2{}")},
        ),
        d({"LineItems": lines(2, DENTAL_LINE)}, "LineItems[1].F29_ProcedureCode", {}),
    ],
    "C521": [
        m(
            {"F21_DiagnosisCodes": ["D63.1", "N18.9"]},
            "F21_DiagnosisCodes[0]",
            {"F21_DiagnosisCodes": ["N18.9", "D63.1"]},
        )
    ],
    "C522": [
        m(
            {"F21_DiagnosisCodes": ["S52.501S", "M25.531"]},
            "F21_DiagnosisCodes[0]",
            {"F21_DiagnosisCodes": ["M25.531", "S52.501S"]},
        )
    ],
    "C523": [
        m(
            {"F21_DiagnosisCodes": ["J02.9", "A33"]},
            "F21_DiagnosisCodes[1]",
            {"F21_DiagnosisCodes": ["J02.9", "O09.91"]},
        )
    ],
    "C524": [
        m(
            {f"{L}F24A_DateOfServiceFrom": "2024-03-12", "F21_DiagnosisCodes": ["A54.22"]},
            "F21_DiagnosisCodes[0]",
            {f"{L}F24A_DateOfServiceFrom": "2024-10-12", "F21_DiagnosisCodes": ["A54.22"]},
        )
    ],
    "C614": [
        m(
            {f"{L}F24D_HcpcsProcedureCode": "99999"},
            f"{L}F24D_HcpcsProcedureCode",
            {f"{L}F24D_HcpcsProcedureCode": "99607"},
        ),
        m(
            {f"{L}F24D_HcpcsProcedureCode": "02000"},
            f"{L}F24D_HcpcsProcedureCode",
            {f"{L}F24D_HcpcsProcedureCode": "0202T"},
        ),
    ],
    "C615": [
        m({f"{L}F24D_Modifiers": "25,48"}, f"{L}F24D_Modifiers", {f"{L}F24D_Modifiers": "25,LT"})
    ],
    "C641": [
        m(
            {f"{L}F24B_PlaceOfServiceCode": "27", f"{L}F24A_DateOfServiceFrom": "2023-09-30"},
            f"{L}F24B_PlaceOfServiceCode",
            {f"{L}F24B_PlaceOfServiceCode": "27", f"{L}F24A_DateOfServiceFrom": "2023-10-01"},
        )
    ],
    "C811": [
        m(
            {"F14_DateOfCurrentIllnessOrSymptom": "2025-03-15"},
            "F14_DateOfCurrentIllnessOrSymptom",
            {"F14_DateOfCurrentIllnessOrSymptom": "2025-03-14"},
        )
    ],
    "C209": [
        m(
            {"F02_PatientNameFirst": "R0sa", "F04_InsuredNameFirst": "R0sa"},
            "F02_PatientNameFirst",
            {},
        )
    ],
    "C210": [m(OTHER, "F09_OtherInsuredNameFirst", OTHER | {"F09_OtherInsuredNameFirst": "Ivo"})],
    "C211": [
        m(
            {"F01_ClaimType": "Medicare", "F01A_InsuredId": "1SG4TE5MK73"},
            "F01A_InsuredId",
            {"F01_ClaimType": "Medicare", "F01A_InsuredId": "1EG4-TE5-MK73"},
        )
    ],
    "C414": [
        m(
            {"F25_FederalTaxIdSsn": "987654321", "F25_FederalTaxIdEin": ...},
            "F25_FederalTaxIdSsn",
            {"F25_FederalTaxIdSsn": "219099999", "F25_FederalTaxIdEin": ...},
        )
    ],
    "C415": [
        m(
            {
                "F17_SupervisingProviderNameLast": "Fenn",
                "F17B_SupervisingProviderNpi": "1000000020",
                "X12_RenderingNPI": "1000000020",
                "X12_RendProviderNameLast": "Fenn",
            },
            "F17B_SupervisingProviderNpi",
            {
                "F17_SupervisingProviderNameLast": "Fenn",
                "F17B_SupervisingProviderNpi": "1000000020",
                "X12_RenderingNPI": "1000000038",
                "X12_RendProviderNameLast": "Fenn",
            },
        )
    ],
    "C616": [
        m(
            {f"{L}F24D_HcpcsProcedureCode": "99999", "F01_ClaimType": "WC"},
            f"{L}F24D_HcpcsProcedureCode",
            {"F01_ClaimType": "WC"},
        )
    ],
    "C617": [
        m(
            {f"{L}F24A_DateOfServiceFrom": "2025-03-10"} | UNTIL,
            f"{L}F24G_DaysOrUnits",
            {f"{L}F24A_DateOfServiceFrom": "2025-03-10", f"{L}F24G_DaysOrUnits": "3"} | UNTIL,
        ),
        m(
            {f"{L}F24A_DateOfServiceFrom": "2025-03-10", f"{L}F24G_DaysOrUnits": "9"} | UNTIL,
            f"{L}F24G_DaysOrUnits",
            {f"{L}F24D_HcpcsProcedureCode": "85025", f"{L}F24G_DaysOrUnits": "9"} | UNTIL,
        ),
    ],
    "C909": [
        d(
            {
                "X12_AttachmentReportType": "OZ",
                "X12_AttachmentTransmissionCode": "AA",
                "X12_AttachmentControlNumber": "N1",
            },
            "X12_AttachmentControlNumber",
            {"X12_AttachmentReportType": "OZ", "X12_AttachmentTransmissionCode": "AA"},
        )
    ],
    "D119": [
        d(
            {f"{T}F29_ProcedureCode": "D2740"},
            f"{T}Teeth",
            {f"{T}F29_ProcedureCode": "D2740", f"{T}Teeth": [{"F27_Tooth": "3"}]},
        )
    ],
    "D120": [
        d(
            {f"{T}F29_ProcedureCode": "D8080"},
            "F42_MonthsTreatment",
            {
                f"{T}F29_ProcedureCode": "D8080",
                "F40_OrthoTreatment": True,
                "F41_DateAppliancePlaced": "2025-01-02",
                "F42_MonthsTreatment": "24",
            },
        )
    ],
    "C431": [
        m({"F05_PatientZip": "10001"}, "F05_PatientZip", {"F05_PatientZip": "75001"}),
        d({"F48_BillingDentistZip": "90001"}, "F48_BillingDentistZip", {}),
    ],
    "C651": [
        m(
            {f"{L}X12_NdcCode": "00009001103"},
            f"{L}X12_NdcQuantity",
            {f"{L}X12_NdcCode": "00009001103", f"{L}X12_NdcQuantity": 1},
        )
    ],
    "C652": [
        m({f"{L}X12_NdcQuantity": 1}, f"{L}X12_NdcCode", {f"{L}X12_NdcQuantity": 0}),
        m({f"{L}X12_NdcLinkSequenceNumber": "1"}, f"{L}X12_NdcCode", {}),
    ],
    "C653": [
        m(
            {
                f"{L}X12_NdcCode": "00009001103",
                f"{L}X12_DrugQuantityGrams": 1,
                f"{L}X12_DrugQuantityUnits": 1,
            },
            f"{L}X12_DrugQuantityUnits",
            {
                f"{L}X12_NdcCode": "00009001103",
                f"{L}X12_DrugQuantityGrams": 1,
                f"{L}X12_DrugQuantityUnits": 0,
            },
        ),
        m(
            {
                f"{L}X12_NdcCode": "00009001103",
                f"{L}X12_DrugQuantityGrams": 1,
                f"{L}X12_NdcQuantity": 2,
            },
            f"{L}X12_NdcQuantity",
            {
                f"{L}X12_NdcCode": "00009001103",
                f"{L}X12_DrugQuantityGrams": 1,
                f"{L}X12_NdcQuantity": "1.0",
            },
        ),
    ],
    "C701": [
        m({"F28_TotalCharge": 100.01}, "F28_TotalCharge", {"F28_TotalCharge": "100"}),
        d(
            {f"{T}F31a_OtherFee": "5"},
            "F32_TotalFee",
            {f"{T}F31a_OtherFee": "5", "F32_TotalFee": "100.00"},
        ),
    ],
    "C702": [
        m(
            {"F29_PatientAmountPaid": 100.01},
            "F29_PatientAmountPaid",
            {"F29_PatientAmountPaid": 100},
        ),
        d({"X12_PatientAmountPaid": 96}, "X12_PatientAmountPaid", {}),
    ],
    "C703": [m({"F28_TotalCharge": 0, f"{L}F24F_Charges": 0}, "F28_TotalCharge", {})],
    "C751": [
        m({"F11D_OtherPlan": True}, "F09_OtherInsuredNameLast", OTHER | {"F11D_OtherPlan": True}),
        m(
            OTHER | {"X12_OtherPayerName": ...},
            "X12_OtherPayerName",
            OTHER | {"X12_OtherPayerName": ..., "F09D_OtherPlanName": "Harbor"},
        ),
        m({"F29_PayerAmountPaid": 5}, "F09A_OtherInsuredGroupNum", {"F29_PayerAmountPaid": 0}),
        m(
            {f"{L}X12_AdjudicationOrPaymentDate": "2025-03-18"},
            "F09_PatientRelationshipToInsured",
            {"F09_PatientRelationshipToInsured": "Self"},
        ),
        d({"F04_OtherCoverage": True}, "F08_OtherInsuredPolicy", DENTAL_OTHER),
        d({f"{T}X12_PrimaryPaidAmount": 5}, "F11_OtherPayerName", {f"{T}X12_PrimaryPaidAmount": 0}),
    ],
    "C752": [
        m(OTHER | {"F11D_OtherPlan": False}, "F11D_OtherPlan", OTHER),
        d(DENTAL_OTHER | {"F04_OtherCoverage": False}, "F04_OtherCoverage", DENTAL_OTHER),
    ],
    "C753": [
        m(DECIDED | {"X12_ClaimAdjudicationDate": ...}, "X12_ClaimAdjudicationDate", DECIDED),
        m(
            LINE_DECIDED | {f"{L}X12_AdjudicationOrPaymentDate": ...},
            f"{L}X12_AdjudicationOrPaymentDate",
            LINE_DECIDED
            | {f"{L}X12_AdjudicationOrPaymentDate": ..., "X12_ClaimAdjudicationDate": "2025-03-18"},
        ),
        d(
            DENTAL_DECIDED | {f"{T}X12_AdjudicationDate": ...},
            f"{T}X12_AdjudicationDate",
            DENTAL_DECIDED,
        ),
    ],
    "C754": [
        m(
            LINE_DECIDED | {f"{L}X12_PrimaryPayerPaidAmount": 61},
            f"{L}X12_PrimaryPayerPaidAmount",
            LINE_DECIDED,
        ),
        d(
            DENTAL_DECIDED | {f"{T}X12_PrimaryPaidAmount": "59"},
            f"{T}X12_PrimaryPaidAmount",
            DENTAL_DECIDED,
        ),
    ],
    "C755": [
        m(
            DECIDED | {"X12_ClaimPrimaryPayerPaidAmount": 61},
            "X12_ClaimPrimaryPayerPaidAmount",
            DECIDED,
        ),
        m(
            DECIDED | {"X12_ClaimPrimaryPayerPaidAmount": ..., "F29_PayerAmountPaid": 61},
            "X12_ClaimPrimaryPayerPaidAmount",
            DECIDED | {"X12_ClaimPrimaryPayerPaidAmount": ..., "F29_PayerAmountPaid": 60},
        ),
        m(
            LINE_DECIDED | {"X12_ClaimPrimaryPayerPaidAmount": 5},
            "X12_ClaimPrimaryPayerPaidAmount",
            LINE_DECIDED,
        ),
        d(
            DENTAL_DECIDED | {f"{T}X12_PrimaryPaidAmount": "59"},
            f"{T}X12_PrimaryPaidAmount",
            DENTAL_DECIDED,
        ),
    ],
    "C756": [
        m(
            DECIDED | {"F29_PayerAmountPaid": 50},
            "F29_PayerAmountPaid",
            DECIDED | {"F29_PayerAmountPaid": "60.00"},
        )
    ],
    "C757": [
        d(
            {f"{T}Adjustments": [{**ADJUSTMENT, "X12_AdjustmentGroupCode": None}]},
            f"{T}Adjustments[0].X12_AdjustmentGroupCode",
            DENTAL_DECIDED,
        ),
        d(
            {f"{T}Adjustments": [{**ADJUSTMENT, "X12_AdjustmentReasonCode": "ZZZ"}]},
            f"{T}Adjustments[0].X12_AdjustmentReasonCode",
            {f"{T}Adjustments": None},
        ),
    ],
    "C758": [
        d(
            {f"{T}Adjustments": [ADJUSTMENT] * 7},
            f"{T}Adjustments",
            {f"{T}Adjustments": [ADJUSTMENT] * 6},
        )
    ],
    "C759": [
        m(DECIDED | {"X12_ClaimAdjudicationDate": FUTURE}, "X12_ClaimAdjudicationDate", DECIDED),
        m(
            LINE_DECIDED | {f"{L}X12_AdjudicationOrPaymentDate": FUTURE},
            f"{L}X12_AdjudicationOrPaymentDate",
            LINE_DECIDED,
        ),
        d(
            DENTAL_DECIDED | {f"{T}X12_AdjudicationDate": FUTURE},
            f"{T}X12_AdjudicationDate",
            DENTAL_DECIDED,
        ),
    ],
    "C760": [
        m(
            DECIDED | {"F01_ClaimType": "Medicare"},
            "X12_MedicareSecondaryReason",
            DECIDED | {"F01_ClaimType": "Medicare", "X12_MedicareSecondaryReason": "Working aged"},
        ),
        m(
            LINE_DECIDED | {"F01_ClaimType": "MA"},
            "X12_MedicareSecondaryReason",
            OTHER | {"F01_ClaimType": "Medicare"},
        ),
        m(
            OTHER | {"X12_OtherPayerClaimType": "MB"},
            "X12_MedicareSecondaryReason",
            DECIDED | {"X12_OtherPayerClaimType": "MB"},
        ),
    ],
    "C761": [
        m(
            DECIDED | {"X12_MedicareSecondaryReason": "12"},
            "X12_MedicareSecondaryReason",
            DECIDED | {"F01_ClaimType": "Medicare", "X12_MedicareSecondaryReason": "12"},
        ),
        m(
            {"F01_ClaimType": "Medicare", "X12_MedicareSecondaryReason": "12"},
            "X12_MedicareSecondaryReason",
            OTHER | {"X12_OtherPayerClaimType": "MB", "X12_MedicareSecondaryReason": "47"},
        ),
    ],
    "C762": [
        m(
            LINE_DECIDED | {"X12_ClaimRemainingPatientLiability": 5},
            "X12_ClaimRemainingPatientLiability",
            DECIDED | {"X12_ClaimRemainingPatientLiability": 5},
        ),
    ],
    "C763": [
        m(
            OTHER | {"X12_ClaimRemainingPatientLiability": 5},
            "X12_ClaimRemainingPatientLiability",
            DECIDED | {"X12_ClaimRemainingPatientLiability": 5},
        ),
    ],
    "C764": [
        m(
            LINE_DECIDED | OWED_FOR_THE_CLAIM,
            "X12_ClaimPatientResponsibilityAdjustments",
            LINE_DECIDED | OWED_FOR_THE_CLAIM | {f"{L}X12_LineRemainingPatientLiability": 5},
        ),
    ],
    "C765": [
        m(
            DECIDED,
            "X12_ClaimRemainingPatientLiability",
            DECIDED | {"X12_ClaimRemainingPatientLiability": 0},
        ),
        m(LINE_DECIDED, f"{L}X12_LineRemainingPatientLiability", OTHER),
        d(
            DENTAL_DECIDED,
            f"{T}X12_LineRemainingPatientLiability",
            DENTAL_DECIDED | {f"{T}X12_LineRemainingPatientLiability": "3.50"},
        ),
    ],
    "C766": [m(OTHER, "X12_OtherInsuredId", OTHER | {"X12_OtherInsuredId": "M3000003"})],
    "C767": [
        m(
            DECIDED | {f"{L}X12_LineRemainingPatientLiability": 5},
            f"{L}X12_LineRemainingPatientLiability",
            LINE_DECIDED | {f"{L}X12_LineRemainingPatientLiability": 5},
        ),
        d(
            {f"{T}X12_LineRemainingPatientLiability": "5"},
            f"{T}X12_LineRemainingPatientLiability",
            DENTAL_DECIDED | {f"{T}X12_LineRemainingPatientLiability": "5"},
        ),
    ],
    "C801": [
        m(
            {f"{L}F24A_DateOfServiceTo": "2025-03-13"},
            f"{L}F24A_DateOfServiceTo",
            {f"{L}F24A_DateOfServiceTo": "2025-03-14"},
        ),
        d({f"{T}F24_DateOfServiceTo": "2025-03-13"}, f"{T}F24_DateOfServiceTo", {}),
    ],
    "C802": [
        m(
            {f"{L}F24A_DateOfServiceFrom": FUTURE},
            f"{L}F24A_DateOfServiceFrom",
            {f"{L}F24A_DateOfServiceFrom": "2025-03-20"},
        ),
        m({f"{L}F24A_DateOfServiceTo": FUTURE}, f"{L}F24A_DateOfServiceTo", {}),
        d(
            {f"{T}F24_DateOfServiceFrom": FUTURE},
            f"{T}F24_DateOfServiceFrom",
            {"F01_TypeOfTransaction": "PB", f"{T}F24_DateOfServiceFrom": FUTURE},
        ),
    ],
    "C803": [
        m(
            {"F03_PatientDob": "2025-03-15"},
            f"{L}F24A_DateOfServiceFrom",
            {"F03_PatientDob": "2025-03-14"},
        ),
        d({"F13_InsuredDOB": "2025-03-15"}, f"{T}F24_DateOfServiceFrom", {}),
    ],
    "C804": [
        m(
            {f"{L}F24A_DateOfServiceFrom": "2004-12-31"},
            f"{L}F24A_DateOfServiceFrom",
            {f"{L}F24A_DateOfServiceFrom": "2018-04-01"},
        )
    ],
    "C805": [
        m(
            {
                "F18_HospitalizationDateFrom": "2025-03-10",
                "F18_HospitalizationDateTo": "2025-03-09",
            },
            "F18_HospitalizationDateTo",
            {
                "F18_HospitalizationDateFrom": "2025-03-10",
                "F18_HospitalizationDateTo": "2025-03-10",
            },
        ),
        m(
            {"F18_HospitalizationDateTo": "2025-03-09"},
            "F18_HospitalizationDateFrom",
            {"X12_DisabilityDateTo": "2025-06-01"},
        ),
        m(
            {"F16_LastWorkedDate": "2025-03-10", "F16_AuthorizedReturnToWorkDate": "2025-03-09"},
            "F16_AuthorizedReturnToWorkDate",
            {},
        ),
    ],
    "C806": [
        m(
            {"F14_DateOfCurrentIllnessOrSymptom": FUTURE},
            "F14_DateOfCurrentIllnessOrSymptom",
            {"F16_AuthorizedReturnToWorkDate": FUTURE},
        ),
        d(
            {"F36_PatientSignatureDate": FUTURE},
            "F36_PatientSignatureDate",
            {"F36_PatientSignatureDate": "2025-03-20"},
        ),
    ],
    "C807": [
        m(
            {"F15_InitialTreatmentDate": "1940-01-01"},
            "F15_InitialTreatmentDate",
            {"F15_InitialTreatmentDate": "2020-01-01"},
        ),
        d(
            {"F44_ProsthesisDateOfPriorPlacement": "1940-01-01", "F43_Prosthesis": True},
            "F44_ProsthesisDateOfPriorPlacement",
            {},
        ),
    ],
    "C808": [
        m(
            {f"{L}F24B_PlaceOfServiceCode": "21"},
            "F18_HospitalizationDateFrom",
            {f"{L}F24B_PlaceOfServiceCode": "21", "F18_HospitalizationDateFrom": "2025-03-10"},
        ),
        m({f"{L}F24B_PlaceOfServiceCode": "51"}, "F18_HospitalizationDateFrom", {}),
        m(
            {"X12_PlaceOfServiceCode": "61"},
            "F18_HospitalizationDateFrom",
            {"X12_PlaceOfServiceCode": "22"},
        ),
    ],
    "C809": [
        m(
            {
                "F14_LastMenstrualPeriodDate": "2025-03-01",
                "F03_PatientSex": "M",
                "F11A_InsuredSex": "M",
            },
            "F14_LastMenstrualPeriodDate",
            {"F14_LastMenstrualPeriodDate": "2025-03-01"},
        )
    ],
    "C810": [
        d({"X12_ServiceDate": "2025-03-01"}, "X12_ServiceDate", {"X12_ServiceDate": "2025-03-14"})
    ],
    "C851": [
        m(
            {"F10C_PatientCondOtherAccident": True},
            "F15_AccidentDate",
            {"F10A_PatientCondEmployment": True},
        ),
        d(
            {"F45_TreatmentResultingFrom": "OtherAccident"},
            "F46_AccidentDate",
            {"F45_TreatmentResultingFrom": "None"},
        ),
    ],
    "C852": [
        m(
            {"F15_AccidentDate": "2025-03-01"},
            "F15_AccidentDate",
            {"F15_AccidentDate": "2025-03-01", "F10A_PatientCondEmployment": True},
        ),
        d(
            {"F46_AccidentDate": "2025-03-01"},
            "F46_AccidentDate",
            {"F46_AccidentDate": "2025-03-01", "F45_TreatmentResultingFrom": "EM"},
        ),
    ],
    "C853": [
        m(
            {"F10B_PatientCondAutoAccident": True, "F15_AccidentDate": "2025-03-01"},
            "F10B_PatientCondAutoAccidentState",
            {"F10B_PatientCondAutoAccident": False},
        ),
        d(
            {"F45_TreatmentResultingFrom": "Auto accident", "F46_AccidentDate": "2025-03-01"},
            "F47_AutoAccidentState",
            {},
        ),
    ],
    "C854": [
        m(
            {"F10B_PatientCondAutoAccidentState": "TX"},
            "F10B_PatientCondAutoAccidentState",
            {"F10B_PatientCondAutoAccidentState": "TX", "F10B_PatientCondAutoAccident": True},
        )
    ],
    "C855": [
        m(
            {"F10A_PatientCondEmployment": True, "F15_AccidentDate": "2025-03-15"},
            "F15_AccidentDate",
            {"F10A_PatientCondEmployment": True, "F15_AccidentDate": "2025-03-14"},
        )
    ],
    "C856": [
        m(
            {
                "F10A_PatientCondEmployment": True,
                "F10B_PatientCondAutoAccident": True,
                "F10C_PatientCondOtherAccident": True,
            },
            "F10C_PatientCondOtherAccident",
            {"F10A_PatientCondEmployment": True, "F10B_PatientCondAutoAccident": True},
        )
    ],
    "C901": [
        m(
            {"F22_MedicaidResubmissionCode": "7"},
            "F22_OriginalReferenceNumber",
            {"F22_MedicaidResubmissionCode": "7", "F22_OriginalReferenceNumber": "ICN1"},
        ),
        d(
            {"X12_ClaimFrequencyCode": "Void"},
            "X12_PayerControlNumber",
            {"X12_ClaimFrequencyCode": "1"},
        ),
    ],
    "C902": [
        m(
            {"F22_OriginalReferenceNumber": "ICN1"},
            "F22_OriginalReferenceNumber",
            {"F22_MedicaidResubmissionCode": "8", "F22_OriginalReferenceNumber": "ICN1"},
        )
    ],
    "C903": [
        m(
            {"F23_ClinicalLaboratoryImprovementAmendmentNumber": "45X0123456"},
            "F23_ClinicalLaboratoryImprovementAmendmentNumber",
            {"F23_ClinicalLaboratoryImprovementAmendmentNumber": "45d0123456"},
        )
    ],
    "C904": [
        m(
            {"F23_MammographyCertificationNumber": "12"},
            "F23_MammographyCertificationNumber",
            {"F23_MammographyCertificationNumber": "123456"},
        )
    ],
    "C905": [
        m(
            {f"{L}F24D_HcpcsProcedureCode": "77067"},
            "F23_MammographyCertificationNumber",
            {
                f"{L}F24D_HcpcsProcedureCode": "77067",
                "F23_MammographyCertificationNumber": "123456",
            },
        )
    ],
    "C906": [
        m(
            {"X12_RendProviderUpinNumber": "12345", "X12_RendProviderNameLast": "Fenn"},
            "X12_RendProviderUpinNumber",
            {"X12_RendProviderUpinNumber": "a12345", "X12_RendProviderNameLast": "Fenn"},
        ),
        m(
            {f"{L}F24J_Shaded_RendProviderUpinNumber": "X"},
            f"{L}F24J_Shaded_RendProviderUpinNumber",
            {},
        ),
    ],
    "C907": [
        d(ATTACHED | {"X12_AttachmentControlNumber": ...}, "X12_AttachmentControlNumber", ATTACHED),
        d(
            ATTACHED | {"X12_AttachmentReportType": ...},
            "X12_AttachmentReportType",
            ATTACHED | {"X12_AttachmentTransmissionCode": "AA", "X12_AttachmentControlNumber": ...},
        ),
    ],
    "C908": [
        m(
            {"F22_MedicaidResubmissionCode": "6", "F22_OriginalReferenceNumber": "ICN1"},
            "F22_MedicaidResubmissionCode",
            {"F22_MedicaidResubmissionCode": "7", "F22_OriginalReferenceNumber": "ICN1"},
        ),
        d({"X12_ClaimFrequencyCode": "Corrected"}, "X12_ClaimFrequencyCode", {}),
    ],
    "D101": [
        d(
            {TEETH: tooth("8", "O")},
            f"{TEETH}[0].F28_ToothSurface[0]",
            {TEETH: tooth("8", "I", "M")},
        ),
        d(
            {TEETH: tooth("30", "M", "I")},
            f"{TEETH}[0].F28_ToothSurface[1]",
            {TEETH: tooth("30", "O", "M")},
        ),
        d({TEETH: tooth("E", "O")}, f"{TEETH}[0].F28_ToothSurface[0]", {TEETH: tooth("A", "O")}),
    ],
    "D102": [
        d(
            {TEETH: tooth("30", "M", "M")},
            f"{TEETH}[0].F28_ToothSurface",
            {TEETH: tooth("30", "M", None, "O")},
        ),
        d({TEETH: tooth("30", "M", "O", "D", "B", "L", "F")}, f"{TEETH}[0].F28_ToothSurface", {}),
    ],
    "D103": [d({TEETH: [{"F28_ToothSurface": ["M"]}]}, f"{TEETH}[0].F27_Tooth", {TEETH: [{}]})],
    "D104": [
        d({TEETH: [*tooth("3"), *tooth("3")]}, TEETH, {TEETH: [*tooth("3"), *tooth("4")]}),
        d(
            {TEETH: [{"F27_Tooth": n} for n in range(1, 34)]},
            TEETH,
            {TEETH: [{"F27_Tooth": n} for n in range(1, 33)]},
        ),
    ],
    "D105": [
        d(
            {f"{T}F29_ProcedureCode": "D2140"},
            TEETH,
            {f"{T}F29_ProcedureCode": "D2140", TEETH: tooth("3", "O")},
        )
    ],
    "D106": [
        d(
            {f"{T}F25_AreaOfOralCavity": ["10", "10"]},
            f"{T}F25_AreaOfOralCavity",
            {f"{T}F25_AreaOfOralCavity": ["10", "20"]},
        )
    ],
    "D107": [
        d(
            {f"{T}F29_ProcedureCode": "D4341"},
            f"{T}F25_AreaOfOralCavity",
            {f"{T}F29_ProcedureCode": "D4341", f"{T}F25_AreaOfOralCavity": ["UR"]},
        )
    ],
    "D108": [
        d(
            {f"{T}F26_ToothSystem": "ISO", TEETH: tooth("99")},
            f"{T}F26_ToothSystem",
            {f"{T}F26_ToothSystem": "ISO", TEETH: tooth("46", "O")},
        )
    ],
    "D109": [
        d({"F33_MissingTeeth": ["1", "01"]}, "F33_MissingTeeth", {"F33_MissingTeeth": ["1", "2"]}),
        d(
            {"F33_MissingTeeth": [*range(1, 33), "A", "B", "C", "D"]},
            "F33_MissingTeeth",
            {"F33_MissingTeeth": [*range(1, 33)]},
        ),
    ],
    "D110": [
        d(
            {"F33_MissingTeeth": ["3"], f"{T}F29_ProcedureCode": "D2140", TEETH: tooth("3", "O")},
            TEETH,
            {"F33_MissingTeeth": ["3"], f"{T}F29_ProcedureCode": "D6010", TEETH: tooth("3")},
        )
    ],
    "D111": [
        d(ORTHODONTICS | {"F41_DateAppliancePlaced": ...}, "F41_DateAppliancePlaced", ORTHODONTICS),
        d(ORTHODONTICS | {"F42_MonthsTreatment": 0}, "F42_MonthsTreatment", {}),
    ],
    "D112": [
        d(ORTHODONTICS | {"F42_MonthsTreatment": 1.5}, "F42_MonthsTreatment", ORTHODONTICS),
        d(
            ORTHODONTICS | {"F42_MonthsTreatment": 121},
            "F42_MonthsTreatment",
            ORTHODONTICS | {"F42_MonthsTreatment": 120},
        ),
    ],
    "D113": [
        d(ORTHODONTICS | {"F40_OrthoTreatment": False}, "F41_DateAppliancePlaced", ORTHODONTICS),
        d(
            ORTHODONTICS | {"F40_OrthoTreatment": False},
            "F42_MonthsTreatment",
            {"F42_MonthsTreatment": 0},
        ),
    ],
    "D114": [
        d(
            {"F43_Prosthesis": True},
            "F44_ProsthesisDateOfPriorPlacement",
            {"F43_Prosthesis": True, "F44_ProsthesisDateOfPriorPlacement": "2018-01-01"},
        )
    ],
    "D115": [
        d(
            {"F44_ProsthesisDateOfPriorPlacement": "2018-01-01"},
            "F44_ProsthesisDateOfPriorPlacement",
            {},
        )
    ],
    "D116": [
        d({"F01_TypeOfTransaction": "Predetermination"}, "X12_ServiceDate", PREDETERMINATION),
        d({"F01_TypeOfTransaction": "Predetermination"}, f"{T}F24_DateOfServiceFrom", {}),
    ],
    "D118": [
        d(
            {"LineItems": [dental_line(), dental_line("2025-03-13")]},
            "LineItems[1].F24_DateOfServiceTo",
            {"LineItems": [dental_line("2025-03-13"), dental_line("2025-03-13")]},
        ),
        d(
            {"LineItems": [dental_line("2025-03-13"), dental_line("2025-03-14")]},
            "LineItems[0].F24_DateOfServiceTo",
            {"LineItems": [dental_line(), dental_line("2025-03-12")]},
        ),
    ],
    "D117": [
        d({TEETH: tooth("8", "B")}, f"{TEETH}[0].F28_ToothSurface", {TEETH: tooth("8", "F")}),
        d({TEETH: tooth("3", "F")}, f"{TEETH}[0].F28_ToothSurface", {TEETH: tooth("3", "B")}),
    ],
}
for rule_id, kind, breaks, at, keeps, finding, silent in ROWS:
    case = Case(kind, breaks, at, keeps, facts={"code_lists": finding}, fine={"code_lists": silent})
    CASES.setdefault(rule_id, []).append(case)
for rule_id, kind, beyond, at, within in EDGES:
    CASES[rule_id].append(Case(kind, beyond, at, within))
for rule_id, kind, beyond, wanted, at, within, fine in PAYER_EDGES:
    case = Case(kind, beyond, at, within, facts=wanting(kind, **wanted), fine=wanting(kind, **fine))
    CASES[rule_id].append(case)
for rule_id, kind, beyond, facts, at, within, fine in FACT_EDGES:
    CASES[rule_id].append(Case(kind, beyond, at, within, facts=facts, fine=fine))
PAIRS = [
    pytest.param(rule_id, case, id=f"{rule_id}-{at}")
    for rule_id, cases in CASES.items()
    for at, case in enumerate(cases)
]


def changed(case, changes):
    claim = (samples.extended_claim if case.full else samples.minimal_claim)(case.kind, DAY)
    for path, value in changes.items():
        part, name = claim, path
        inside = re.fullmatch(r"(\w+)\[(\d+)\]\.(.+)", path)
        if inside:
            part, name = claim[inside[1]][int(inside[2])], inside[3]
        if value is ...:
            part.pop(name, None)
        else:
            part[name] = deepcopy(value)  # changes of its lines stay in this claim
    return claim


def checked(case, changes, facts):
    found = read_claim(case.kind, json.dumps(changed(case, changes)).encode(), "Claims[0]")
    assert found.findings == (), [(f.location, f.message) for f in found.findings]
    assert found.ignored_fields == ()
    return repair_and_check(found.claim, inputs_of(case, facts))


def inputs_of(case, facts):
    """What is known beside the claim of a case."""
    known = {"today": TODAY, "payer": PAYERS.get(case.kind, PAYERS[MEDICAL]), **facts}
    return RuleInputs(**known)


def test_every_rule_has_a_claim_that_breaks_it_and_one_that_keeps_it():
    assert CASES.keys() == {rule.id for rule in OF_JSON}


@every_case(("rule_id", "case"), PAIRS)
def test_a_claim_that_breaks_a_rule_is_reported_at_the_field(rule_id, case):
    result = checked(case, case.breaks, case.facts)
    found = {(finding.rule, finding.location) for finding in result.findings}
    assert (rule_id, case.at) in found
    if RULES[rule_id].severity is Severity.ERROR:
        assert not result.accepted


@every_case(("rule_id", "case"), PAIRS)
def test_a_claim_that_keeps_a_rule_is_left_in_peace(rule_id, case):
    result = checked(case, case.keeps, case.fine)
    assert rule_id not in {finding.rule for finding in result.findings}


@every_case(("rule_id", "case"), PAIRS)
def test_a_finding_says_what_is_wrong_and_never_shows_it_when_printed(rule_id, case):
    for finding in checked(case, case.breaks, case.facts).findings:
        assert finding.stage is Stage.RULE
        assert finding.message[-1] == "."
        assert len(finding.message) > 20
        assert finding.message not in repr(finding)
        assert finding.rule in repr(finding)


@every_case("found", OF_JSON, ids=lambda found: found.id)
def test_a_rule_names_its_fields_boxes_and_place(found):
    assert re.fullmatch(r"[CD]\d{3}", found.id)
    assert found.sentence[-1] == "."
    assert found.fields
    assert found.x12
    for kind in filter(found.applies_to, FORMS.values()):
        known = {**fields_of(kind.line), **fields_of(kind.claim)}
        boxes = {known[name].box for name in found.fields if name in known} - {""}
        assert set(found.boxes(kind)) == boxes
    parts = [schema.claim for schema in FORMS.values()]
    for part in parts:
        parts += nested_parts(part).values()
    everywhere = {name for part in parts for name in fields_of(part)}
    assert set(found.fields) <= everywhere
    tables = [
        form.line_view_table if found.scope is RuleScope.LINE else form.view_table
        for form in FORMS.values()
    ]
    assert found.when_filled <= {
        path for table in tables for path in table.filled_paths(table.paths)
    }


def test_all_findings_of_a_claim_are_reported_at_once():
    case = m(
        {
            "F33A_BillingProviderNpi": "1234567890",
            "F05_PatientState": "XX",
            "F28_TotalCharge": 5,
            f"{L}F24D_Modifiers": "1",
            f"{L}F24E_DiagnosisPointers": ["L"],
            "F15_AccidentDate": FUTURE,
        },
        "",
        {},
    )
    rules = {finding.rule for finding in checked(case, case.breaks, {}).findings}
    assert {"C304", "C305", "C701", "C322", "C510", "C806", "C852", "C855"} <= rules


@pytest.mark.safe_default(9)
def test_a_frequency_that_is_not_accepted_is_not_advised():
    case = m({}, "", {})
    found = checked(case, {"F22_MedicaidResubmissionCode": "5"}, {}).findings
    (message,) = [one.message for one in found if "Resubmission" in one.location]
    assert message.endswith("give one of 1 (Original), 7 (Replacement), 8 (Void).")


@pytest.mark.safe_default(9)
def test_minutes_that_are_refused_are_not_asked_for():
    case = m({}, "", {})
    for code in ("99213", "01996"):
        changes = {f"{L}X12_Anesthesia": True, f"{L}F24D_HcpcsProcedureCode": code}
        found = [one for one in checked(case, changes, {}).findings if L in one.location]
        assert [one.location for one in found] == [f"{L}X12_Anesthesia"]
        assert "without 01953 and 01996" in found[0].message


def test_every_mark_that_a_rule_asks_for_is_looked_up():
    asked = {*diagnoses_of_patient.AGES, *diagnoses_of_patient.SEXES}
    assert asked | {diagnoses_of_patient.MANIFESTATION} == diagnoses.MARKS


@pytest.mark.safe_default(8)
def test_a_code_that_may_be_newer_than_the_list_is_sent_with_a_warning():
    """The list of diagnoses ends on 2027-03-31: of a later service it cannot say that a code does not exist."""
    case, facts = m({}, "", {}), {"today": date(2027, 5, 2)}
    severities = {}
    for day, code in (
        ("2027-03-31", "J99.99"), ("2027-04-01", "J99.99"), ("2027-04-01", "J9*"), ("2027-04-01", "J02.9"),
    ):  # fmt: skip
        changes = {f"{L}F24A_DateOfServiceFrom": day, "F21_DiagnosisCodes": [code]}
        found = checked(case, changes, facts).findings
        about = [f for f in found if f.location == "F21_DiagnosisCodes[0]"]
        severities[day, code] = {f.severity for f in about}
    assert severities == {
        ("2027-03-31", "J99.99"): {Severity.ERROR},
        ("2027-04-01", "J99.99"): {Severity.WARNING},
        ("2027-04-01", "J9*"): {Severity.ERROR, Severity.WARNING},
        ("2027-04-01", "J02.9"): {Severity.WARNING},
    }


@pytest.mark.safe_default(8)
def test_a_predetermination_is_about_services_to_come():
    case = d({}, "", {})
    asked = {
        "F01_TypeOfTransaction": "Predetermination",
        "X12_ServiceDate": ...,
        f"{T}F24_DateOfServiceFrom": ...,
        "F34_DiagnosiseCodeQualifier": "AB",
        "F34a_DiagnosisCode": "K99.99",
    }
    for today, accepted in ((date(2027, 3, 31), False), (date(2027, 5, 2), True)):
        assert checked(case, asked, {"today": today}).accepted is accepted


def test_the_path_of_the_claim_stands_before_every_location():
    claim = read_claim(
        MEDICAL, json.dumps(changed(m({}, "", {}), {"F28_TotalCharge": 5})).encode(), ""
    ).claim
    findings = repair_and_check(
        claim, RuleInputs(today=TODAY, available=OFFLINE), at="Claims[7]"
    ).findings
    assert findings
    assert all(finding.location.startswith("Claims[7].F") for finding in findings)


@pytest.mark.parametrize("at", ["", "Claims[7]"])
def test_a_short_text_that_came_as_a_number_says_so_at_its_path_alone(at):
    changes = {"F05_PatientZip": "7870", "F07_InsuredZip": "7870"}
    claim = read_claim(MEDICAL, json.dumps(changed(m({}, "", {}), changes)).encode(), "").claim
    facts = RuleInputs(today=TODAY, available=OFFLINE)
    tolerated = (
        Repair("F05_PatientZip", AS_SHORT_TEXT),
        Repair("F07_InsuredZip", "blanks removed"),
    )
    found = repair_and_check(claim, facts, at=at, tolerated=tolerated)
    places = {one.location for one in found.findings if NO_LEADING_ZEROS in one.message}
    assert places == {f"{at}.F05_PatientZip" if at else "F05_PatientZip"}
    assert found.repairs[:2] == tolerated


def test_of_many_errors_fifty_are_listed_and_the_others_counted():
    wrong = changed(
        m({}, "", {}), {f"{L}F24D_HcpcsProcedureCode": "??", f"{L}F24D_Modifiers": "!!"}
    )
    found = []
    for lines in (20, 60):
        many = wrong | {"F24_ClaimLines": wrong["F24_ClaimLines"] * lines}
        claim = read_claim(MEDICAL, json.dumps(many).encode(), "").claim
        facts = RuleInputs(today=TODAY, available=OFFLINE)
        findings = repair_and_check(claim, facts, at="Claims[7]").findings
        found.append([each for each in findings if each.severity is Severity.ERROR])
    few, many = found
    assert [each for each in few if each.count > 1] == []
    *listed, last = many
    more = last.count
    assert len(listed) == FINDINGS_PER_CLAIM_MAX
    assert more >= 60 * 2 - 50
    assert (last.location, last.message) == (
        "Claims[7]",
        f"And {more} more errors in this claim: the first 50 are listed.",
    )


@pytest.mark.parametrize("kind", FORMS.values())
def test_rules_that_need_facts_are_listed_when_the_facts_are_not_known(kind):
    facts = RuleInputs(today=TODAY, available=OFFLINE)
    assert {each.id for each in skipped_rules(kind, facts)} == {
        *(f"C{n}" for n in range(101, 114)),
        "C119",
        "C120",
        *(each.id for each in RULES.values() if each.edit and each.applies_to(kind)),
    }
    assert skipped_rules(kind, RuleInputs(today=TODAY)) == []
    claim = read_claim(kind, json.dumps(samples.minimal_claim(kind, DAY)).encode(), "").claim
    assert not any(f.rule.startswith("C1") for f in repair_and_check(claim, facts).findings)


@pytest.mark.parametrize("kind", FORMS.values())
@pytest.mark.parametrize("full", [False, True])
def test_the_sample_claims_are_accepted(kind, full):
    result = checked(Case(kind, {}, "", {}, full=full), {}, {})
    assert result.accepted
    if full:
        assert result.findings == ()


def test_words_of_a_sentence():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert quoted("x" * 61) == f"'{'x' * 60}...'"


def test_scopes_are_three():
    assert {each.scope for each in RULES.values()} == set(RuleScope)


@pytest.mark.safe_default(16)
def test_amounts_in_messages_have_two_decimals():
    assert [format_amount(Decimal(text)) for text in ("1", "99.5", "1.005")] == [
        "1.00",
        "99.50",
        "1.005",
    ]
