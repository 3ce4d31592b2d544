"""Where the fields of a dental claim are in the view."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from types import MappingProxyType

from clearlane.claims import cob, codes
from clearlane.claims.cob import ZERO, EarlierDecision, EarlierLineDecision
from clearlane.claims.value_types import EarlierAdjustment
from clearlane.claims.view import ClaimView, LineAdjustmentView, LineToothView, LineView
from clearlane.claims.view_builder import Given, ViewTable, joined, split

EIN, SSN = "EI", "SY"


def accidents(given: Given) -> tuple[str, ...]:
    """Return the cause of the treatment as an X12 code, if there is one."""
    cause = given.get("F45_TreatmentResultingFrom")
    return () if cause is None or cause == codes.NO_ACCIDENT else (cause,)


def decision(given: Given, lines: tuple[EarlierLineDecision | None, ...]) -> EarlierDecision | None:
    """Return the earlier payer's decision, or None: the form has decisions of lines only."""
    return EarlierDecision(cob.total_paid(lines), {}, None, lines) if any(lines) else None


def line_decision(given: Given) -> EarlierLineDecision | None:
    """Return the earlier payer's decision about a line, or None."""
    groups: dict[str, tuple[EarlierAdjustment, ...]] = {}
    for item in given.get("Adjustments", ()):
        group = item.X12_AdjustmentGroupCode
        if group and item.X12_AdjustmentAmount:
            adjusted = EarlierAdjustment(item.X12_AdjustmentReasonCode, item.X12_AdjustmentAmount)
            groups[group] = (*groups.get(group, ()), adjusted)
    paid, day = given.get("X12_PrimaryPaidAmount"), given.get("X12_AdjudicationDate")
    if not (paid or groups or day):
        return None
    return EarlierLineDecision(paid or ZERO, groups, day, given.get("X12_UnitsPaid"))


def charge(given: Given) -> Decimal:
    """Return the charge of a line; the other fee (31a) is part of it."""
    fee: Decimal = given["F31_LineFee"]
    other: Decimal = given.get("F31a_OtherFee", ZERO)
    return fee + other


def _fee(charge: Decimal, given: Given) -> dict[str, object]:
    return {"F31_LineFee": charge - given.get("F31a_OtherFee", ZERO)}


def _cause(causes: Sequence[str], given: Given) -> dict[str, object]:
    return {"F45_TreatmentResultingFrom": causes[0] if causes else codes.NO_ACCIDENT}


def _purpose(is_asked: object, given: Given) -> dict[str, object]:
    name, asked = "F01_TypeOfTransaction", codes.PREDETERMINATION
    # A claim that is none may be a statement of services or EPSDT: it stays what it is.
    stated = codes.ACTUAL_SERVICES if given.get(name) == asked else given.get(name)
    return {name: asked if is_asked else stated}


def _tax_id(qualifier: str) -> Callable[[str, Given], dict[str, object]]:
    return lambda number, given: {
        "F51_BillingDentistTaxID": number,
        "X12_TINorSSNQualifier": qualifier,
    }


def _ein(given: Given) -> str | None:
    return None if given["X12_TINorSSNQualifier"] == SSN else given["F51_BillingDentistTaxID"]


def _ssn(given: Given) -> str | None:
    return given["F51_BillingDentistTaxID"] if given["X12_TINorSSNQualifier"] == SSN else None


def _is_predetermination(purpose: str) -> bool:
    return purpose == codes.PREDETERMINATION


TOOTH = ViewTable(view=LineToothView, paths={"F27_Tooth": "number", "F28_ToothSurface": "surfaces"})
ADJUSTMENT = ViewTable(
    view=LineAdjustmentView,
    paths={
        "X12_AdjustmentGroupCode": "group",
        "X12_AdjustmentReasonCode": "reason",
        "X12_AdjustmentAmount": "amount",
    },
)
LINE = ViewTable(
    view=LineView,
    paths=MappingProxyType(
        {
            "F24_DateOfServiceFrom": "first_day",
            "F24_DateOfServiceTo": "last_day",
            "F25_AreaOfOralCavity": "areas",
            "F26_ToothSystem": "tooth_system",
            "Teeth": "teeth",
            "F29_ProcedureCode": "procedure",
            "F29a_DiagnosisPointer": "pointers",
            "F29b_Quantity": "units",
            "F30_Description": "description",
            "F31_LineFee": "charge",
            "F31a_OtherFee": "charge",
            "X12_LineControlNumber": "control_number",
            "X12_LineTreatingDentistLastname": "rendering.last_name",
            "X12_LineTreatingDentistFirstname": "rendering.first_name",
            "X12_LineTreatingDentistMI": "rendering.middle_name",
            "X12_LineTreatingDentistSuffix": "rendering.suffix",
            "X12_LineTreatingDentistNPI": "rendering.npi",
            "X12_LineTreatingDentistSpecialtyCode": "rendering.taxonomy",
            "X12_PrimaryPaidAmount": "decision.paid",
            "X12_UnitsPaid": "decision.units",
            "X12_AdjudicationDate": "decision.day",
            "Adjustments": "adjustments",
            "X12_LineRemainingPatientLiability": "remaining_liability",
            "X12_PlaceOfServiceCode": "place",
        }
    ),
    converted={"F29a_DiagnosisPointer": split},
    computed={"decision": line_decision, "charge": charge},
    written={"pointers": joined("F29a_DiagnosisPointer"), "charge": _fee},
    also={"Adjustments": ("decision",)},
    items={"Teeth": TOOTH, "Adjustments": ADJUSTMENT},
)
CLAIM = ViewTable(
    view=ClaimView,
    paths=MappingProxyType(
        {
            "Svc_VendorClaimId": "vendor_claim_id",
            "Svc_PayerId": "payer.id",
            "F01_TypeOfTransaction": "is_predetermination",
            "F02_PriorAuthNum": "prior_authorization",
            "F03_PayerName": "payer.name",
            "F03_PayerAddress1": "payer.street",
            "F03_PayerAddress2": "payer.street2",
            "F03_PayerCity": "payer.city",
            "F03_PayerState": "payer.state",
            "F03_PayerZip": "payer.zip",
            "F04_OtherCoverage": "other_coverage",
            "F05_OtherInsuredLastName": "other_payers[0].insured.last_name",
            "F05_OtherInsuredFirstName": "other_payers[0].insured.first_name",
            "F05_OtherInsuredMI": "other_payers[0].insured.middle_name",
            "F05_OtherInsuredSuffix": "other_payers[0].insured.suffix",
            "F06_OtherInsuredDOB": "other_payers[0].insured.birth",
            "F07_OtherInsuredSex": "other_payers[0].insured.sex",
            "F08_OtherInsuredPolicy": "other_payers[0].insured.member_id",
            "F09_OtherInsuredGrpNumber": "other_payers[0].insured.group_number",
            "F10_OtherPatientRelationship": "other_payers[0].insured.relationship",
            "F11_OtherPayerName": "other_payers[0].name",
            "F11_OtherPayerAddress": "other_payers[0].street",
            "F11_OtherPayerCity": "other_payers[0].city",
            "F11_OtherPayerST": "other_payers[0].state",
            "F11_OtherPayerZip": "other_payers[0].zip",
            "F12_InsuredLastName": "subscriber.last_name",
            "F12_InsuredFirstName": "subscriber.first_name",
            "F12_InsuredMI": "subscriber.middle_name",
            "F12_InsuredSuffix": "subscriber.suffix",
            "F12_InsuredAddress": "subscriber.street",
            "F12_InsuredCity": "subscriber.city",
            "F12_InsuredST": "subscriber.state",
            "F12_InsuredZip": "subscriber.zip",
            "F13_InsuredDOB": "subscriber.birth",
            "F14_InsuredSex": "subscriber.sex",
            "F15_InsuredID": "subscriber.member_id",
            "F16_InsuredGroupNumber": "subscriber.group_number",
            "F17_InsuredEmployerName": "subscriber.employer",
            "F18_PatientRelationship": "subscriber.relationship",
            "F20_PatientLastName": "patient.last_name",
            "F20_PatientFirstName": "patient.first_name",
            "F20_PatientMI": "patient.middle_name",
            "F20_PatientSuffix": "patient.suffix",
            "F20_PatientAddress": "patient.street",
            "F20_PatientCity": "patient.city",
            "F20_PatientST": "patient.state",
            "F20_PatientZip": "patient.zip",
            "F20_PatientDOB": "patient.birth",
            "F22_PatientSex": "patient.sex",
            "F23_PatientID": "account_number",
            "F32_TotalFee": "total_charge",
            "F33_MissingTeeth": "missing_teeth",
            "F34_DiagnosiseCodeQualifier": "icd_version",
            "F34a_DiagnosisCode": "diagnoses",
            "F35_Remarks": "note",
            "F36_PatientSignature": "release_signature",
            "F36_PatientSignatureDate": "dates.release",
            "F37_InsuredSignature": "benefits_signature",
            "F37_InsuredSignatureDate": "dates.assignment",
            "F38_PlaceOfTreatment": "place",
            "F40_OrthoTreatment": "is_orthodontic",
            "F41_DateAppliancePlaced": "dates.appliance_placed",
            "F42_MonthsTreatment": "orthodontic_months",
            "F43_Prosthesis": "replaces_prosthesis",
            "F44_ProsthesisDateOfPriorPlacement": "dates.prior_placement",
            "F45_TreatmentResultingFrom": "causes",
            "F46_AccidentDate": "dates.accident",
            "F47_AutoAccidentState": "accident_state",
            "F48_BillingDentistLastName": "billing.last_name",
            "F48_BillingDentistFirstName": "billing.first_name",
            "F48_BillingDentistMI": "billing.middle_name",
            "F48_BillingDentistSuffix": "billing.suffix",
            "F48_BillingDentistAddress": "billing.street",
            "F48_BillingDentistCity": "billing.city",
            "F48_BillingDentistST": "billing.state",
            "F48_BillingDentistZip": "billing.zip",
            "F48_BillingDentistNPI": "billing.npi",
            "F50_BillingDentistLicense": "billing.license",
            "F51_BillingDentistTaxID": "billing.ein",
            "X12_TINorSSNQualifier": "billing.ssn",
            "F52_BillingDentistPhone": "billing.phone",
            "F52a_BillingDentistID": "billing.commercial_number",
            "F53_TreatingDentistSignature": "provider_signature",
            "F53_TreatingDentistSignatureDate": "dates.provider_signature",
            "X12_RenderingProvLastName": "rendering.last_name",
            "X12_RenderingProvFirstName": "rendering.first_name",
            "X12_RenderingProvMI": "rendering.middle_name",
            "X12_RenderingProvSuffix": "rendering.suffix",
            "F53_TreatingDentistNPI": "rendering.npi",
            "F55_TreatingDentistLicense": "rendering.license",
            "F56a_DentistSpecialtyCode": "rendering.taxonomy",
            "F58_TreatingDentistAddlID": "rendering.commercial_number",
            "X12_TreatmantLocationName": "facility.last_name",
            "F56_TreatmentAddress": "facility.street",
            "F56_TreatmentCity": "facility.city",
            "F56_TreatmentST": "facility.state",
            "F56_TreatmentZip": "facility.zip",
            "X12_TreatmantLocationNPI": "facility.npi",
            "X12_Paytoaddress": "pay_to.street",
            "X12_PaytoCity": "pay_to.city",
            "X12_PaytoST": "pay_to.state",
            "X12_PaytoZip": "pay_to.zip",
            "X12_AttachmentReportType": "attachments[0].report_type",
            "X12_AttachmentControlNumber": "attachments[0].control_number",
            "X12_AttachmentTransmissionCode": "attachments[0].transmission",
            "X12_PatientAmountPaid": "patient_paid",
            "X12_PredeterminationID": "predetermination_id",
            "X12_ClaimFrequencyCode": "frequency",
            "X12_PayerControlNumber": "original_reference",
            "X12_SubscriberIdentificationCodeQualifier": "subscriber.member_id_type",
            "X12_SubscriberEntityTypeQualifier": "subscriber.entity_type",
            "X12_ServiceDate": "dates.service",
        }
    ),
    converted={
        "F34a_DiagnosisCode": split,
        "F01_TypeOfTransaction": _is_predetermination,
    },
    computed={"causes": accidents, "billing.ein": _ein, "billing.ssn": _ssn},
    written={
        "diagnoses": joined("F34a_DiagnosisCode"),
        "is_predetermination": _purpose,
        "causes": _cause,
        "billing.ein": _tax_id(EIN),
        "billing.ssn": _tax_id(SSN),
    },
)
# The decision of a payer is on the lines alone.
PLACES = MappingProxyType(
    {
        "billing.ssn": "F51_BillingDentistTaxID",
        "earlier_paid": "LineItems[0].X12_PrimaryPaidAmount",
    }
)
DUPLICATE = ("first_day", "procedure", "teeth", "areas")
