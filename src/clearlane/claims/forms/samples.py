"""Sample documents made from the catalogue: minimal and extended.

The minimal document has the required fields only. The extended one has every field of the catalogue; if
fields exclude each other, one line has null and another a value.

The people, places and payers are invented.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple, TypeAlias

from clearlane.claims.fields import (
    ClaimField,
    ClaimPart,
    fields_of,
    nested_parts,
)
from clearlane.claims.forms import UB04, V3_DENTAL, V3_MEDICAL, AnyForm, ub04_samples
from clearlane.claims.value_types import ValueType
from clearlane.kernel.formats import is_npi

JSON: TypeAlias = ub04_samples.JSON
PAID_IN_FULL = "3001"
"""The insured's id that makes a test payer pay as charged."""
TEST_PAYERS = {V3_MEDICAL: "TST01", V3_DENTAL: "TST02", UB04: ub04_samples.TEST_PAYER}


def document(
    form: AnyForm,
    *,
    day: date,
    full: bool = False,
    insured_id: str = "",
    claim_id: str = "",
    bill_type: str = "",
) -> JSON:
    """Return a document with one claim; ``day`` is the day of service.

    ``bill_type`` is that of an institutional claim; a ValueError names the types that have a sample.
    """
    if bill_type:
        claim = ub04_samples.bill(bill_type, day)
    else:
        claim = extended_claim(form, day) | _ORIGINAL[form] if full else minimal_claim(form, day)
    if insured_id:
        claim[form.locate("subscriber.member_id")] = insured_id
    if claim_id:
        claim["Svc_VendorClaimId"] = claim_id
    return {"DocumentType": form.document_type, "Claims": [claim]}


def minimal_claim(form: AnyForm, day: date) -> JSON:
    """Return a claim with the required fields only."""
    if form in _WRITTEN:
        return _WRITTEN[form].minimal(day)
    needed = _NEEDED_TOO[form]
    claim = {
        name: _value(field, day)
        for name, field in fields_of(form.claim).items()
        if field.required or name in needed
    }
    claim[form.lines_field] = [
        {
            name: _value(field, day)
            for name, field in fields_of(form.line).items()
            if field.required or name in needed
        }
    ]
    return claim | _MINIMAL[form](claim)


def extended_claim(form: AnyForm, day: date) -> JSON:
    """Return a claim in which every field of the catalogue appears."""
    if form in _WRITTEN:
        return _WRITTEN[form].extended(day)
    claim = _whole(form.claim, day)
    claim[form.lines_field] = [{**_whole(form.line, day), **own} for own in _EXTENDED_LINES[form]]
    return claim | _EXTENDED[form]


class WrittenSamples(NamedTuple):
    """Samples of a form that are written out: what its claims need depends on more than its catalogue says."""

    minimal: Callable[[date], JSON]
    extended: Callable[[date], JSON]


_WRITTEN: Mapping[AnyForm, WrittenSamples] = {
    UB04: WrittenSamples(ub04_samples.minimal, ub04_samples.extended)
}


def _whole(part: type[ClaimPart], day: date) -> JSON:
    inner = nested_parts(part)
    return {
        name: [_whole(inner[name], day)] if name in inner else _value(field, day)
        for name, field in fields_of(part).items()
    }


# --- values -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SamplePerson:
    """An invented person."""

    last: str
    first: str
    middle: str = "J"
    suffix: str = "JR"


ROSA, MILO = SamplePerson("Arden", "Rosa"), SamplePerson("Arden", "Milo")
IVO, TESSA = SamplePerson("Lund", "Ivo"), SamplePerson("Quill", "Tessa")
NORA, OSKAR = SamplePerson("Birch", "Nora"), SamplePerson("Fenn", "Oskar")
PRACTICE, DENTISTRY = "Fernhill Family Practice", "Larkspur Dental"
HARBOR = "Harbor Health Plan"

# The person named in fields with this prefix; the first match counts.
_PEOPLE: tuple[tuple[str, SamplePerson], ...] = (
    ("F02_Patient", TESSA),
    ("F20_Patient", MILO),
    ("F04_Insured", ROSA),
    ("F12_Insured", ROSA),
    ("F09_Other", IVO),
    ("F05_Other", IVO),
    ("F17_", OSKAR),
    ("F48_", NORA),
    ("X12_Line", NORA),
    ("X12_RenderingProv", NORA),
    ("X12_Rend", OSKAR),
    ("F33_", OSKAR),
)


def npi(nine: int) -> str:
    """Return the NPI that begins with nine given digits."""
    return next(text for digit in range(10) if is_npi(text := f"{nine}{digit}"))


BILLING_NPI, RENDERING_NPI = "1234567893", "1679576722"
_NPIS: Mapping[str, str] = {
    "F33A_BillingProviderNpi": BILLING_NPI,
    "F48_BillingDentistNPI": BILLING_NPI,
    "F17B_ReferringProviderNpi": npi(100000001),
    "F17B_SupervisingProviderNpi": npi(100000002),
    "F17B_OrderingProviderNpi": npi(100000003),
    "F32A_FacilityNpi": npi(100000004),
    "X12_TreatmantLocationNPI": npi(100000005),
}

# Days before (or after) the day of service.
_DAYS: Mapping[str, int] = {
    "F03_PatientDob": -14_000,
    "F20_PatientDOB": -3_650,
    "F11A_InsuredDob": -14_600,
    "F13_InsuredDOB": -14_600,
    "F09B_OtherInsuredDOB": -15_000,
    "F06_OtherInsuredDOB": -15_000,
    "F14_DateOfCurrentIllnessOrSymptom": -9,
    "F14_LastMenstrualPeriodDate": -40,
    "F15_InitialTreatmentDate": -8,
    "F15_LastSeenDate": -7,
    "F15_AcuteManifestionDate": -6,
    "F15_AccidentDate": -10,
    "F46_AccidentDate": -10,
    "F15_LastXRayDate": -5,
    "F15_HearingAndVisionPrescriptionDate": -30,
    "F15_AssumedCareStartDate": -4,
    "F15_AssumedCareEndDate": 20,
    "F15_PropertyCasualtyFirstContactDate": -9,
    "F16_LastWorkedDate": -10,
    "F16_AuthorizedReturnToWorkDate": 30,
    "F18_HospitalizationDateFrom": -3,
    "F18_HospitalizationDateTo": 0,
    "X12_DisabilityDateFrom": -10,
    "X12_DisabilityDateTo": 30,
    "F41_DateAppliancePlaced": -60,
    "F44_ProsthesisDateOfPriorPlacement": -2_000,
    "X12_ClaimAdjudicationDate": 0,
    "X12_AdjudicationOrPaymentDate": 0,
    "X12_AdjudicationDate": 0,
}

_AMOUNTS: Mapping[str, str] = {
    "F24F_Charges": "100.00",
    "F31_LineFee": "95.00",
    "F31a_OtherFee": "5.00",
    "F28_TotalCharge": "100.00",
    "F32_TotalFee": "95.00",
    "F29_PatientAmountPaid": "20.00",
    "X12_PatientAmountPaid": "20.00",
    "X12_PrimaryPayerPaidAmount": "60.00",
    "X12_PrimaryPaidAmount": "60.00",
    "X12_AdjustmentAmount": "40.00",
}

_CODES: Mapping[str, str] = {
    "sex": "F",
    "relationship": "Self",
    "claim_type": "Group",
    "medicare_secondary_reason": "12",
    "release": "Yes",
    "benefits": "Y",
    "assignment": "Assigned",
    "icd_version": "10",
    "frequency": "7",
    "contract_type": "04",
    "measurement": "TR",
    "measurement_qualifier": "R1",
    "patient_condition": "M",
    "vision": "L1",
    "delay_reason": "11",
    "adjustment_group": "CO",
    "oral_area": "10",
    "tooth_system": "JP",
    "surface": "M",
    "transaction_type": "ActualServices",
    "accident": "AutoAccident",
    "tax_id": "EI",
    "member_id": "1",
    "entity": "1",
    "attachment_type": "RB",
    "attachment_transmission": "EL",
    "places_of_service": "11",
}

# Values of single fields, used if the type of value is not enough.
_OWN: Mapping[str, object] = {
    "F00_PayerName": "Meadow Mutual",
    "F03_PayerName": "Summit Dental",
    "F33_BillingProviderNameLast": PRACTICE,
    "F48_BillingDentistLastName": DENTISTRY,
    "F09D_OtherPlanName": HARBOR,
    "X12_OtherPayerName": HARBOR,
    "F11_OtherPayerName": HARBOR,
    "F11C_PlanName": "Meadow Gold",
    "F09C_OtherEmployerName": "Tidewater Works",
    "F17_InsuredEmployerName": "Tidewater Works",
    "F32_FacilityName": "Fernhill Clinic",
    "X12_TreatmantLocationName": "Larkspur North",
    "F25_FederalTaxIdEin": "123456789",
    "F25_FederalTaxIdSsn": "219099999",
    "F33B_BillingProviderSsn": "219099999",
    "F51_BillingDentistTaxID": "123456789",
    "F21_DiagnosisCodes": ["J02.9", "R05.9"],
    "F34a_DiagnosisCode": "K02.9",
    "F34_DiagnosiseCodeQualifier": "AB",
    "F24E_DiagnosisPointers": ["A"],
    "F29a_DiagnosisPointer": "A",
    "F24D_HcpcsProcedureCode": "99213",
    "F29_ProcedureCode": "D1110",
    "F24D_Modifiers": "25",
    "X12_NdcCode": "00009-0011-03",
    "F27_Tooth": "30",
    "F33_MissingTeeth": ["1", "16"],
    "F23_ClinicalLaboratoryImprovementAmendmentNumber": "45D0123456",
    "F23_MammographyCertificationNumber": "123456",
    "X12_RendProviderUpinNumber": "A12345",
    "F24J_Shaded_RendProviderUpinNumber": "A12345",
    "F36_PatientSignature": "SIGNATURE ON FILE",
    "F37_InsuredSignature": "SIGNATURE ON FILE",
    "F53_TreatingDentistSignature": "SIGNATURE ON FILE",
    "X12_AdjustmentReasonCode": "45",
    "F31_PhysicianOrSupplierSignatureIsOnFile": True,
    "F04_OtherCoverage": False,
    "F40_OrthoTreatment": False,
    "F43_Prosthesis": False,
    "X12_MeasurementValue": "12.5",
    "F42_MonthsTreatment": "24",
}

_BY_KIND: Mapping[ValueType, Callable[[ClaimField, date], object]] = {
    ValueType.KEY: lambda field, day: "SAMPLE-1",
    ValueType.NAME: lambda field, day: _name(field.name),
    ValueType.STREET: lambda field, day: (
        "Suite 200" if field.name.endswith("2") else "12 Fernhill Road"
    ),
    ValueType.CITY: lambda field, day: "Austin",
    ValueType.STATE: lambda field, day: "TX",
    ValueType.ZIP: lambda field, day: "78701",
    ValueType.PHONE: lambda field, day: "5125550142",
    ValueType.NPI: lambda field, day: _NPIS.get(field.name, RENDERING_NPI),
    ValueType.TAXONOMY: lambda field, day: "207Q00000X",
    ValueType.TAX_ID: lambda field, day: "123456789",
    ValueType.REFERENCE: lambda field, day: _reference(field),
    ValueType.NOTE: lambda field, day: f"Sample {field.label.lower()}",
    ValueType.SIGNATURE: lambda field, day: "SIGNATURE ON FILE",
    ValueType.CODED: lambda field, day: (
        [_CODES[field.codes]] if field.is_array else _CODES[field.codes]
    ),
    ValueType.PLACE: lambda field, day: _CODES[field.codes],
    ValueType.DAY: lambda field, day: (day + timedelta(days=_DAYS.get(field.name, 0))).isoformat(),
    ValueType.AMOUNT: lambda field, day: _AMOUNTS.get(field.name, "10.00"),
    ValueType.COUNT: lambda field, day: "1",
    ValueType.FLAG: lambda field, day: False,
    ValueType.ADJUSTMENTS: lambda field, day: None,
    ValueType.PARTS: lambda field, day: None,
}


def _value(field: ClaimField, day: date) -> object:
    if field.name == "Svc_PayerId":
        return TEST_PAYERS[V3_MEDICAL]
    return _OWN[field.name] if field.name in _OWN else _BY_KIND[field.value_type](field, day)


def _name(field: str) -> str:
    person = next((person for start, person in _PEOPLE if field.startswith(start)), ROSA)
    low = field.lower()
    if "suffix" in low:
        return person.suffix
    if "first" in low:
        return person.first
    return person.middle if "middle" in low or low.endswith("mi") else person.last


def _reference(field: ClaimField) -> str:
    letters = "".join(char for char in field.name.rpartition("_")[2] if char.isupper())
    return f"{letters}4711"[: field.max_length]


# Required as one of several, or required under a condition.
_NEEDED_TOO: Mapping[AnyForm, frozenset[str]] = {
    V3_MEDICAL: frozenset({"F25_FederalTaxIdEin"}),
    V3_DENTAL: frozenset({"X12_ServiceDate", "F24_DateOfServiceFrom"}),
}
# The minimal claim's patient is the insured.
_MINIMAL: Mapping[AnyForm, Callable[[JSON], JSON]] = {
    V3_MEDICAL: lambda claim: {
        "Svc_PayerId": TEST_PAYERS[V3_MEDICAL],
        "F02_PatientNameLast": claim["F04_InsuredNameLast"],
        "F02_PatientNameFirst": claim["F04_InsuredNameFirst"],
        "F03_PatientDob": claim["F11A_InsuredDob"],
    },
    V3_DENTAL: lambda claim: {"Svc_PayerId": TEST_PAYERS[V3_DENTAL]},
}


# Of each 100.00 the earlier payer paid 60.00 and explained the other 40.00.
_ADJUSTED: JSON = {
    "X12_LineContractualObligationAdjustments": "45:20",
    "X12_LineCorrectionAndReversalAdjustments": "45:1",
    "X12_LineOtherAdjustments": "23:2",
    "X12_LinePayorInitiatedReductions": "96:2",
    "X12_LinePatientResponsibilityAdjustments": "1:10,2:5",
    "X12_LineRemainingPatientLiability": "11.00",
}
_NO_DRUG_UNIT: JSON = {
    "X12_DrugQuantityInternationalUnits": None,
    "X12_DrugQuantityGrams": None,
    "X12_DrugQuantityMilligrams": None,
    "X12_DrugQuantityMilliliters": None,
    "X12_DrugQuantityUnits": None,
}


def _medical_line(number: int, unit: str, **own: object) -> JSON:
    return {
        **_ADJUSTED,
        **_NO_DRUG_UNIT,
        unit: "1",
        "X12_ProviderControlNumber": f"LINE-{number}",
        **own,
    }


def _dental_line(number: int, **own: object) -> JSON:
    return {"X12_LineControlNumber": f"LINE-{number}", **own}


_EXTENDED_LINES: Mapping[AnyForm, tuple[JSON, ...]] = {
    V3_MEDICAL: (
        _medical_line(1, "X12_DrugQuantityUnits", F24E_DiagnosisPointers=["A", "B"], F24C_Emg=True),
        _medical_line(
            2,
            "X12_DrugQuantityMilliliters",
            F24D_HcpcsProcedureCode="J1885",
            F24D_Modifiers="RT,59",
            F24H_EarlyPeriodicScreeningDiagnosisAndTreatment=True,
        ),
        _medical_line(
            3,
            "X12_DrugQuantityMilligrams",
            F24D_HcpcsProcedureCode="J3490",
            F24H_FamilyPlannning=True,
        ),
        _medical_line(4, "X12_DrugQuantityGrams", F24D_HcpcsProcedureCode="85025"),
        _medical_line(
            5,
            "X12_DrugQuantityInternationalUnits",
            F24D_HcpcsProcedureCode="00170",
            F24D_Modifiers="AA",
            X12_Anesthesia=True,
            F24G_DaysOrUnits="45",
        ),
    ),
    V3_DENTAL: (
        _dental_line(
            1,
            F25_AreaOfOralCavity=None,
            Teeth=[{"F27_Tooth": "30", "F28_ToothSurface": ["M", "O", None, None, None]}],
            F29_ProcedureCode="D2392",
        ),
        _dental_line(2, F29_ProcedureCode="D4341", Teeth=None, F26_ToothSystem=None),
    ),
}
# A document is sent as it is, so its claim is an original: there is no claim that it could replace. The insured's
# id selects payment in full, however often the sample is sent.
_ORIGINAL: Mapping[AnyForm, JSON] = {
    UB04: {
        "FL04_TypeOfBill": "111",
        "FL60_InsuredId": PAID_IN_FULL,
        "FL64_DocumentControlNumber": None,
    },
    V3_MEDICAL: {
        "F01A_InsuredId": PAID_IN_FULL,
        # Medicare's ids have a form of their own.
        "F01_ClaimType": "Group",
        "X12_MedicareSecondaryReason": None,
        "F22_MedicaidResubmissionCode": "1",
        "F22_OriginalReferenceNumber": None,
    },
    V3_DENTAL: {
        "F15_InsuredID": PAID_IN_FULL,
        "X12_ClaimFrequencyCode": "1",
        "X12_PayerControlNumber": None,
    },
}
_EXTENDED: Mapping[AnyForm, JSON] = {
    V3_MEDICAL: {
        "Svc_PayerId": TEST_PAYERS[V3_MEDICAL],
        "F06_PatientRelationshipToInsured": "Spouse",
        "F09_PatientRelationshipToInsured": "Child",
        "F10A_PatientCondEmployment": True,
        "F10B_PatientCondAutoAccident": True,
        "F11D_OtherPlan": True,
        "F28_TotalCharge": "500.00",
        "F29_PayerAmountPaid": "295.00",
        "X12_ClaimPrimaryPayerPaidAmount": "295.00",
        "X12_ClaimContractualObligationAdjustments": "45:1",
        "X12_ClaimCorrectionAndReversalAdjustments": "45:1",
        "X12_ClaimOtherAdjustments": "23:1",
        "X12_ClaimPayorInitiatedReductions": "96:1",
        "X12_ClaimPatientResponsibilityAdjustments": "3:1",
        # The earlier payer decided lines; it pays first because of an accident, and Medicare second.
        "X12_ClaimRemainingPatientLiability": None,
        "F01_ClaimType": "Medicare",
        "F01A_InsuredId": "1EG4TE5MK73",
        "X12_MedicareSecondaryReason": "14",
    },
    V3_DENTAL: {
        "Svc_PayerId": TEST_PAYERS[V3_DENTAL],
        "F04_OtherCoverage": True,
        "F10_OtherPatientRelationship": "Child",
        "F18_PatientRelationship": "Child",
        "F32_TotalFee": "200.00",
        "F40_OrthoTreatment": True,
        "F43_Prosthesis": True,
    },
}
