"""Where the fields of an institutional claim on a UB-04 are in the view."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType

from clearlane.claims import codes
from clearlane.claims.cob import (
    ZERO,
    EarlierDecision,
    EarlierLineDecision,
    OtherPayerDecision,
    total_paid,
)
from clearlane.claims.fields import ClaimPart
from clearlane.claims.institutional_view import CodeView
from clearlane.claims.value_types import ADJUSTMENT_GROUPS, EarlierAdjustment
from clearlane.claims.view import ClaimView, LineView, PayerView, PersonView
from clearlane.claims.view_builder import Given, ViewTable, make, split
from clearlane.kernel import limits

LINES, OTHER_PAYERS, DECISIONS = "FL42_ServiceLines", "FL50_OtherPayers", "X12_PayerDecisions"
BILL_TYPE = "FL04_TypeOfBill"
HIPPS_REVENUE_CODES = frozenset({"0022", "0023", "0024"})
"""The revenue codes whose procedure is a code of a prospective payment system (HIPPS)."""
ACCOMMODATION_FIRST, ACCOMMODATION_LAST = "0100", "0219"
"""The revenue codes that are counted in days."""


def bill_type(given: Given) -> str:
    """Return facility and classification of the type of bill."""
    kind: str = given[BILL_TYPE]
    return kind[:2]


def frequency(given: Given) -> str | None:
    """Return the third character of the type of bill."""
    kind: str = given[BILL_TYPE]
    return kind[2:] or None


def _with_frequency(value: str, given: Given) -> dict[str, object]:
    return {BILL_TYPE: bill_type(given) + value}


def _with_bill_type(value: str, given: Given) -> dict[str, object]:
    return {BILL_TYPE: value + (frequency(given) or "")}


def admission_time(given: Given) -> str | None:
    """Return the day of admission as X12 writes it, with hour and minute if they are stated."""
    day: date | None = given.get("FL12_AdmissionDate")
    return None if day is None else f"{compact(day)}{minutes(given.get('FL13_AdmissionHour'))}"


def _with_admission_time(value: str, given: Given) -> dict[str, object]:
    day = date(int(value[:4]), int(value[4:6]), int(value[6:8]))
    return {"FL12_AdmissionDate": day, "FL13_AdmissionHour": value[8:] or None}


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def compact(day: date) -> str:
    """Return a day as X12 writes it. Cached, because the same days recur."""
    return f"{day:%Y%m%d}"


def minutes(hour: str | None) -> str:
    """Return an hour with its minutes: the form has the hour alone."""
    return f"{hour}00" if hour and len(hour) == 2 else hour or ""


def _discharge_hour(hour: str) -> str:
    return minutes(hour)


def _one_code(code: str) -> tuple[CodeView, ...]:
    return (CodeView(code=code),)


def _with_code(name: str) -> Callable[[Sequence[CodeView], Given], dict[str, object]]:
    return lambda codes, given: {name: codes[0].code}


def _diagnoses(given: Given) -> tuple[str, ...]:
    return tuple([item.FL67_Code for item in given.get("FL67_Diagnoses", ())])


def icd_version(given: Given) -> str:
    """Return the version of diagnoses and procedures: the tenth if the claim does not say it."""
    return given.get("FL66_IcdVersion") or "10"


def _with_icd_version(value: str, given: Given) -> dict[str, object]:
    return {"FL66_IcdVersion": value}


def _if_insured(name: str) -> Callable[[Given], object]:
    """Return what reads a field of the patient who is the insured; the form has none of its own for the insured."""
    return lambda given: given[name] if given["FL59_PatientRelationship"] == codes.SELF else None


def procedure_type(given: Given) -> str | None:
    """Return the code list of a line's procedure: HP for HIPPS, HC for CPT and HCPCS; None if it has none."""
    if "FL44_ProcedureCode" not in given:
        return None
    return "HP" if given["FL42_RevenueCode"] in HIPPS_REVENUE_CODES else "HC"


def unit(given: Given) -> str:
    """Return what a line counts: days of accommodation, else units."""
    return "DA" if ACCOMMODATION_FIRST <= given["FL42_RevenueCode"] <= ACCOMMODATION_LAST else "UN"


# --- other payers and their decisions --------------------------------------------------------------------------


def adjustments(given: Given) -> dict[str, tuple[EarlierAdjustment, ...]]:
    """Return the adjustments of a payer or of its decision about a line, by group."""
    groups: dict[str, tuple[EarlierAdjustment, ...]] = {}
    for item in given.get("X12_Adjustments", ()):
        group, amount = item.X12_AdjustmentGroup, item.X12_AdjustmentAmount
        if amount:
            one = EarlierAdjustment(item.X12_AdjustmentReason, amount)
            groups[group] = (*groups.get(group, ()), one)
    return groups


def payer_line_decision(given: Given, payer: int) -> EarlierLineDecision | None:
    """Return what the other payer of a place decided of a line; None if nothing."""
    decisions: Sequence[ClaimPart] = given.get(DECISIONS, ())
    own = decisions[payer].__dict__ if payer < len(decisions) else {}
    groups, paid, day = (
        adjustments(own),
        own.get("X12_PaidAmount"),
        own.get("X12_AdjudicationDate"),
    )
    if not (paid or groups or day):
        return None
    return EarlierLineDecision(paid or ZERO, groups, day, own.get("X12_PaidUnits"))


def line_decision(given: Given) -> EarlierLineDecision | None:
    """Return the decision of the first payer that decided a line, or None."""
    count = len(given.get(DECISIONS, ()))
    return next(filter(None, (payer_line_decision(given, at) for at in range(count))), None)


def line_remaining_liability(given: Given) -> Decimal | None:
    """Return what the patient still owes for a line, as the first other payer's decision states it."""
    return _of_first(given.get(DECISIONS), "X12_RemainingPatientLiability")


def remaining_liability(given: Given) -> Decimal | None:
    """Return what the patient still owes for the claim, as the first other payer's part states it."""
    return _of_first(given.get(OTHER_PAYERS), "X12_RemainingPatientLiability")


def earlier_paid(given: Given) -> Decimal | None:
    """Return what the first other payer paid for the claim, as its part states it."""
    return _of_first(given.get(OTHER_PAYERS), "FL54_PriorPayments")


def _of_first(parts: Sequence[ClaimPart] | None, name: str) -> Decimal | None:
    return parts[0].__dict__.get(name) if parts else None


def payer_decision(
    payer: Given, lines: tuple[EarlierLineDecision | None, ...]
) -> EarlierDecision | None:
    """Return what another payer decided of a claim and of its lines; None if nothing."""
    paid: Decimal | None = payer.get("FL54_PriorPayments")
    groups, day = adjustments(payer), payer.get("X12_AdjudicationDate")
    if not (paid or groups or day or any(lines)):
        return None
    return EarlierDecision(total_paid(lines) if paid is None else paid, groups, day, lines)


def payer_decisions(given: Given) -> list[OtherPayerDecision]:
    """Return the other payers of a claim with their decisions."""
    if OTHER_PAYERS not in given:
        return []
    lines = [line.__dict__ for line in given[LINES]]
    return [
        OtherPayerDecision(
            payer,
            payer.FL50_PayerName,
            payer.FL51_HealthPlanId or "",
            payer_decision(
                payer.__dict__, tuple([payer_line_decision(line, at) for line in lines])
            ),
        )
        for at, payer in enumerate(given.get(OTHER_PAYERS, ()))
    ]


def decision(given: Given, lines: tuple[EarlierLineDecision | None, ...]) -> EarlierDecision | None:
    """Return the decision of the first payer that decided, or None."""
    return next((one.decision for one in payer_decisions(given) if one.decision), None)


_PAYER_PATHS = MappingProxyType(
    {
        "FL50_PayerName": "name",
        "FL51_HealthPlanId": "id",
        "X12_CoverageType": "coverage",
        "FL61_GroupName": "plan_name",
    }
)
_INSURED_PATHS = MappingProxyType(
    {
        "FL58_InsuredNameLast": "last_name",
        "FL58_InsuredNameFirst": "first_name",
        "FL58_InsuredNameMiddle": "middle_name",
        "FL58_InsuredSuffix": "suffix",
        "FL59_PatientRelationship": "relationship",
        "FL60_InsuredId": "member_id",
        "FL62_GroupNumber": "group_number",
    }
)


def other_payers(given: Given) -> tuple[PayerView, ...]:
    """Return the other payers of a claim with their decisions."""
    return tuple(
        [
            make(
                PayerView,
                {
                    **_filled(one.part, _PAYER_PATHS),
                    "insured": make(PersonView, _filled(one.part, _INSURED_PATHS)),
                    "decision": one.decision,
                    "is_named": True,
                },
            )
            for one in payer_decisions(given)
        ]
    )


def _filled(part: ClaimPart, paths: MappingProxyType[str, str]) -> dict[str, object]:
    given = part.__dict__
    return {path: given[name] for name, path in paths.items() if name in given}


# --- the tables ------------------------------------------------------------------------------------------------


def _codes(**paths: str) -> ViewTable:
    return ViewTable(view=CodeView, paths=MappingProxyType(paths))


CODES = MappingProxyType(
    {
        "FL67_Diagnoses": _codes(FL67_Code="code", FL67_PresentOnAdmission="present_on_admission"),
        "FL70_ReasonsForVisit": _codes(FL70_Code="code"),
        "FL72_ExternalCauses": _codes(
            FL72_Code="code", FL72_PresentOnAdmission="present_on_admission"
        ),
        "FL74_Procedures": _codes(FL74_Code="code", FL74_Date="first_day"),
        "FL35_OccurrenceSpans": _codes(
            FL35_Code="code", FL35_From="first_day", FL35_Through="last_day"
        ),
        "FL31_OccurrenceCodes": _codes(FL31_Code="code", FL31_Date="first_day"),
        "FL39_ValueCodes": _codes(FL39_Code="code", FL39_Amount="amount"),
        "FL18_ConditionCodes": _codes(FL18_Code="code"),
    }
)
"""The lists of codes, by field."""
_PROVIDERS = {
    "FL76_Attending": "attending",
    "FL77_Operating": "operating",
    "FL78_OtherOperating": "other_operating",
    "FL79_Rendering": "rendering",
    "FL79_Referring": "referring",
}


def _provider_paths() -> Iterable[tuple[str, str]]:
    for prefix, role in _PROVIDERS.items():
        yield f"{prefix}NameLast", f"{role}.last_name"
        yield f"{prefix}NameFirst", f"{role}.first_name"
        yield f"{prefix}NameMiddle", f"{role}.middle_name"
        yield f"{prefix}Suffix", f"{role}.suffix"
        yield f"{prefix}Npi", f"{role}.npi"
    yield "FL76_AttendingTaxonomy", "attending.taxonomy"
    yield "FL76_AttendingLicense", "attending.license"


CLAIM = ViewTable(
    view=ClaimView,
    paths=MappingProxyType(
        {
            "Svc_PayerId": "payer.id",
            "Svc_VendorClaimId": "vendor_claim_id",
            "FL01_BillingProviderName": "billing.last_name",
            "FL01_BillingProviderAddress1": "billing.street",
            "FL01_BillingProviderAddress2": "billing.street2",
            "FL01_BillingProviderCity": "billing.city",
            "FL01_BillingProviderState": "billing.state",
            "FL01_BillingProviderZip": "billing.zip",
            "FL01_BillingProviderPhone": "billing.phone",
            "FL02_PayToAddress1": "pay_to.street",
            "FL02_PayToAddress2": "pay_to.street2",
            "FL02_PayToCity": "pay_to.city",
            "FL02_PayToState": "pay_to.state",
            "FL02_PayToZip": "pay_to.zip",
            "FL03a_PatientControlNumber": "account_number",
            "FL03b_MedicalRecordNumber": "medical_record_number",
            BILL_TYPE: "institutional.bill_type",
            "FL05_FederalTaxId": "billing.ein",
            "FL06_StatementFrom": "institutional.first_day",
            "FL06_StatementThrough": "institutional.last_day",
            "FL08_PatientNameLast": "patient.last_name",
            "FL08_PatientNameFirst": "patient.first_name",
            "FL08_PatientNameMiddle": "patient.middle_name",
            "FL08_PatientSuffix": "patient.suffix",
            "FL09_PatientAddress1": "patient.street",
            "FL09_PatientAddress2": "patient.street2",
            "FL09_PatientCity": "patient.city",
            "FL09_PatientState": "patient.state",
            "FL09_PatientZip": "patient.zip",
            "FL10_PatientBirthDate": "patient.birth",
            "FL11_PatientSex": "patient.sex",
            "FL12_AdmissionDate": "dates.admission",
            "FL13_AdmissionHour": "institutional.admission_time",
            "FL14_AdmissionType": "institutional.admission_type",
            "FL15_PointOfOrigin": "institutional.origin",
            "FL16_DischargeHour": "institutional.discharge_hour",
            "FL17_PatientStatus": "institutional.status",
            "FL18_ConditionCodes": "institutional.condition_codes",
            "FL29_AccidentState": "accident_state",
            "FL31_OccurrenceCodes": "institutional.occurrences",
            "FL35_OccurrenceSpans": "institutional.occurrence_spans",
            "FL38_PayerAddress1": "payer.street",
            "FL38_PayerAddress2": "payer.street2",
            "FL38_PayerCity": "payer.city",
            "FL38_PayerState": "payer.state",
            "FL38_PayerZip": "payer.zip",
            "FL39_ValueCodes": "institutional.value_codes",
            "FL47_ClaimTotalCharges": "total_charge",
            "FL50_PayerName": "payer.name",
            OTHER_PAYERS: "other_payers",
            "FL52_ReleaseOfInformation": "release",
            "FL53_AssignmentOfBenefits": "benefits_assigned",
            "X12_AcceptsAssignment": "accepts_assignment",
            "X12_CoverageType": "payer.coverage",
            "X12_PatientEstimatedAmountDue": "institutional.patient_share",
            "FL56_BillingProviderNpi": "billing.npi",
            "FL57_BillingProviderOtherId": "billing.commercial_number",
            "FL58_InsuredNameLast": "subscriber.last_name",
            "FL58_InsuredNameFirst": "subscriber.first_name",
            "FL58_InsuredNameMiddle": "subscriber.middle_name",
            "FL58_InsuredSuffix": "subscriber.suffix",
            "FL59_PatientRelationship": "subscriber.relationship",
            "FL60_InsuredId": "subscriber.member_id",
            "FL61_GroupName": "subscriber.plan_name",
            "FL62_GroupNumber": "subscriber.group_number",
            "FL63_AuthorizationCode": "prior_authorization",
            "X12_ReferralNumber": "referral_number",
            "FL64_DocumentControlNumber": "original_reference",
            "FL65_EmployerName": "subscriber.employer",
            "FL66_IcdVersion": "icd_version",
            "FL67_Diagnoses": "institutional.diagnoses",
            "FL69_AdmittingDiagnosis": "institutional.admitting_diagnosis",
            "FL70_ReasonsForVisit": "institutional.visit_reasons",
            "FL71_DrgCode": "institutional.drg",
            "FL72_ExternalCauses": "institutional.external_causes",
            "FL74_Procedures": "institutional.procedures",
            **dict(_provider_paths()),
            "FL80_Remarks": "note",
            "FL81_BillingProviderTaxonomy": "billing.taxonomy",
            "X12_FacilityName": "facility.last_name",
            "X12_FacilityAddress1": "facility.street",
            "X12_FacilityAddress2": "facility.street2",
            "X12_FacilityCity": "facility.city",
            "X12_FacilityState": "facility.state",
            "X12_FacilityZip": "facility.zip",
            "X12_FacilityNpi": "facility.npi",
            "X12_DelayReasonCode": "delay_reason",
            "X12_AttachmentReportType": "attachments[0].report_type",
            "X12_AttachmentTransmissionCode": "attachments[0].transmission",
            "X12_AttachmentControlNumber": "attachments[0].control_number",
        }
    ),
    converted={
        "FL16_DischargeHour": _discharge_hour,
        "FL69_AdmittingDiagnosis": _one_code,
        "FL71_DrgCode": _one_code,
    },
    computed={
        "institutional.bill_type": bill_type,
        "frequency": frequency,
        "institutional.admission_time": admission_time,
        "diagnoses": _diagnoses,
        "icd_version": icd_version,
        "subscriber.birth": _if_insured("FL10_PatientBirthDate"),
        "subscriber.sex": _if_insured("FL11_PatientSex"),
        "other_payers": other_payers,
        "earlier_paid": earlier_paid,
        "remaining_liability": remaining_liability,
    },
    also={
        BILL_TYPE: ("frequency",),
        "FL12_AdmissionDate": ("institutional.admission_time",),
        "FL67_Diagnoses": ("diagnoses", "icd_version"),
        "FL10_PatientBirthDate": ("subscriber.birth",),
        "FL11_PatientSex": ("subscriber.sex",),
        OTHER_PAYERS: ("earlier_paid", "remaining_liability"),
    },
    written={
        "frequency": _with_frequency,
        "institutional.bill_type": _with_bill_type,
        "icd_version": _with_icd_version,
        "institutional.admission_time": _with_admission_time,
        "institutional.admitting_diagnosis": _with_code("FL69_AdmittingDiagnosis"),
        "institutional.drg": _with_code("FL71_DrgCode"),
    },
    items=CODES,
)
LINE = ViewTable(
    view=LineView,
    paths=MappingProxyType(
        {
            "FL42_RevenueCode": "revenue_code",
            "FL43_Description": "description",
            "FL43_NdcCode": "drug.code",
            "FL43_NdcInternationalUnits": "drug.international_units",
            "FL43_NdcGrams": "drug.grams",
            "FL43_NdcMilligrams": "drug.milligrams",
            "FL43_NdcMilliliters": "drug.milliliters",
            "FL43_NdcUnits": "drug.units",
            "X12_PrescriptionNumber": "drug.prescription",
            "FL44_ProcedureCode": "procedure",
            "FL44_Modifiers": "modifiers",
            "FL45_ServiceDate": "first_day",
            "X12_LastServiceDate": "last_day",
            "FL46_ServiceUnits": "units",
            "FL47_TotalCharges": "charge",
            "FL48_NonCoveredCharges": "not_covered",
            "X12_LineControlNumber": "control_number",
            "X12_RenderingNameLast": "rendering.last_name",
            "X12_RenderingNameFirst": "rendering.first_name",
            "X12_RenderingNpi": "rendering.npi",
            "X12_ReferringNameLast": "referring.last_name",
            "X12_ReferringNameFirst": "referring.first_name",
            "X12_ReferringNpi": "referring.npi",
            DECISIONS: "decision",
        }
    ),
    converted={"FL44_Modifiers": split},
    computed={
        "decision": line_decision,
        "remaining_liability": line_remaining_liability,
        "procedure_type": procedure_type,
        "unit": unit,
    },
    also={
        "FL44_ProcedureCode": ("procedure_type",),
        "FL42_RevenueCode": ("unit",),
        DECISIONS: ("remaining_liability",),
    },
)
NAMES = MappingProxyType(
    {
        "institutional.admission_hour": "FL13_AdmissionHour",
        "frequency": f"the third character of {BILL_TYPE}",
    }
)
"""What a sentence calls a part of a value that has a field of its own."""
_LINE = f"{LINES}[{{0}}]"
PLACES = MappingProxyType(
    {
        "frequency": BILL_TYPE,
        "subscriber.birth": "FL10_PatientBirthDate",
        "subscriber.sex": "FL11_PatientSex",
        "lines[].unit": f"{_LINE}.FL42_RevenueCode",
        "lines[].drug.quantity": f"{_LINE}.FL43_NdcUnits",
        "lines[].procedure_type": f"{_LINE}.FL44_ProcedureCode",
        "diagnoses": "FL67_Diagnoses",
        "diagnoses[]": "FL67_Diagnoses[{0}].FL67_Code",
        # A finding about a code is shown at the code.
        **{
            f"{CLAIM.paths[name]}[]": f"{name}[{{0}}].{next(iter(table.paths))}"
            for name, table in CODES.items()
        },
        "institutional.admission_time": "FL12_AdmissionDate",
        "lines[].decision.paid": f"{_LINE}.{DECISIONS}[0].X12_PaidAmount",
        "lines[].decision.units": f"{_LINE}.{DECISIONS}[0].X12_PaidUnits",
        "lines[].decision.day": f"{_LINE}.{DECISIONS}[0].X12_AdjudicationDate",
        "lines[].remaining_liability": f"{_LINE}.{DECISIONS}[0].X12_RemainingPatientLiability",
        "other_payers": OTHER_PAYERS,
        "other_payers[]": f"{OTHER_PAYERS}[{{0}}].FL50_PayerName",
        **{
            f"other_payers[].{path}": f"{OTHER_PAYERS}[{{0}}].{name}"
            for name, path in _PAYER_PATHS.items()
        },
        **{
            f"other_payers[].insured.{path}": f"{OTHER_PAYERS}[{{0}}].{name}"
            for name, path in _INSURED_PATHS.items()
        },
        "other_payers[].decision.paid": f"{OTHER_PAYERS}[{{0}}].FL54_PriorPayments",
        "other_payers[].decision.day": f"{OTHER_PAYERS}[{{0}}].X12_AdjudicationDate",
        **{
            f"{part}.decision.groups{group}": f"{place}.X12_Adjustments"
            for part, place in (
                ("other_payers[]", f"{OTHER_PAYERS}[{{0}}]"),
                ("lines[]", f"{_LINE}.{DECISIONS}[0]"),
            )
            for group in ("", *(f".{code}" for code in ADJUSTMENT_GROUPS))
        },
        "earlier_paid": f"{OTHER_PAYERS}[0].FL54_PriorPayments",
        "remaining_liability": f"{OTHER_PAYERS}[0].X12_RemainingPatientLiability",
    }
)
