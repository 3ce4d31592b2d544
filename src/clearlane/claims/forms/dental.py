"""The form of dental claims: the ADA form, sent as an 837D."""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from clearlane.claims import cob, codes
from clearlane.claims.claim_form import ClaimForm, FilledFields, SharedFieldNames
from clearlane.claims.cob import ZERO, EarlierDecision, EarlierLineDecision
from clearlane.claims.fields import ClaimKind, DentalClaim, DentalDocument, DentalLine
from clearlane.claims.value_types import EarlierAdjustment
from clearlane.kernel import limits

if TYPE_CHECKING:
    from clearlane.claims.write.placement import PlacementTables

# The relationship alone means no other insurance: some callers always send it.
OTHER_INSURANCE = frozenset(
    {
        "F05_OtherInsuredLastName",
        "F05_OtherInsuredFirstName",
        "F05_OtherInsuredMI",
        "F05_OtherInsuredSuffix",
        "F06_OtherInsuredDOB",
        "F07_OtherInsuredSex",
        "F08_OtherInsuredPolicy",
        "F09_OtherInsuredGrpNumber",
        "F11_OtherPayerName",
        "F11_OtherPayerAddress",
        "F11_OtherPayerCity",
        "F11_OtherPayerST",
        "F11_OtherPayerZip",
    }
)
# Most lines have no decision, and testing all these fields at once is quick.
LINE_DECISION = ("X12_PrimaryPaidAmount", "X12_AdjudicationDate", "Adjustments")
# What a patient who is not the insured must have.
DEPENDENT = (
    "F20_PatientLastName",
    "F20_PatientFirstName",
    "F20_PatientAddress",
    "F20_PatientCity",
    "F20_PatientST",
    "F20_PatientZip",
    "F20_PatientDOB",
    "F22_PatientSex",
)


def diagnoses(claim: DentalClaim) -> Sequence[str | None]:
    """Return the diagnoses by place; a place may be blank."""
    return claim.F34a_DiagnosisCode.split(",") if claim.F34a_DiagnosisCode else ()


def diagnosis_paths(claim: DentalClaim) -> list[tuple[str, str]]:
    """Return every diagnosis with its path: one field holds them all."""
    return [("F34a_DiagnosisCode", code) for code in diagnoses(claim) if code]


def icd_version(claim: DentalClaim) -> str:
    """Return the ICD version, ``10`` or ``9``; a claim without one means ICD-10."""
    return claim.F34_DiagnosiseCodeQualifier or "10"


def relationship(claim: DentalClaim) -> str:
    """Return the X12 code of the patient's relationship to the insured."""
    return claim.F18_PatientRelationship


def patient_birth(claim: DentalClaim) -> date:
    """Return the patient's birth date; a claim for the insured need not repeat it."""
    return claim.F20_PatientDOB or claim.F13_InsuredDOB


def accidents(claim: DentalClaim) -> list[str]:
    """Return the cause of the treatment as an X12 code, if there is one."""
    cause = claim.F45_TreatmentResultingFrom
    return [] if cause is None or cause == codes.NO_ACCIDENT else [cause]


def is_predetermination(claim: DentalClaim) -> bool:
    """Return whether the claim asks what would be paid, for services not yet done."""
    return claim.F01_TypeOfTransaction == codes.PREDETERMINATION


def billing_ids(claim: DentalClaim) -> tuple[str | None, str | None]:
    """Return the billing dentist's NPI and tax id."""
    return claim.F48_BillingDentistNPI, claim.F51_BillingDentistTaxID


def earlier_decision(claim: DentalClaim) -> EarlierDecision | None:
    """Return the earlier payer's decision, or None: the form has decisions of lines only."""
    decided = tuple([_line_decision(line) for line in claim.LineItems])
    return EarlierDecision(cob.total_paid(decided), {}, None, decided) if any(decided) else None


def _line_decision(line: DentalLine) -> EarlierLineDecision | None:
    if line.__dict__.keys().isdisjoint(LINE_DECISION):
        return None
    groups = _groups(line)
    paid, day = line.X12_PrimaryPaidAmount, line.X12_AdjudicationDate
    if not (paid or groups or day):
        return None
    return EarlierLineDecision(paid or ZERO, groups, day, line.X12_UnitsPaid)


def _groups(line: DentalLine) -> dict[str, tuple[EarlierAdjustment, ...]]:
    found: dict[str, tuple[EarlierAdjustment, ...]] = {}
    for item in line.Adjustments or ():
        if item.X12_AdjustmentGroupCode and item.X12_AdjustmentAmount:
            adjusted = EarlierAdjustment(item.X12_AdjustmentReasonCode, item.X12_AdjustmentAmount)
            group = item.X12_AdjustmentGroupCode
            found[group] = (*found.get(group, ()), adjusted)
    return found


def missing_fields(claim: FilledFields, lines: Sequence[FilledFields]) -> Iterator[str]:
    """Yield the missing fields that are required in one case and not in another."""
    get = claim.get
    relation = _code("relationship", get("F18_PatientRelationship"))
    if relation not in (None, codes.SELF):
        yield from (name for name in DEPENDENT if get(name) is None)
    if _code("transaction_type", get("F01_TypeOfTransaction")) == codes.PREDETERMINATION:
        return
    if get("X12_ServiceDate") is None:
        yield "X12_ServiceDate"
    for at, line in enumerate(lines):
        if line.get("F24_DateOfServiceFrom") is None:
            yield f"LineItems[{at}].F24_DateOfServiceFrom"


def _code(name: str, value: Any) -> str | None:
    return codes.find(name, value) if isinstance(value, str) else None


def pointers(line: DentalLine) -> Sequence[str | None]:
    """Return the diagnosis pointers of a line."""
    return line.F29a_DiagnosisPointer.split(",") if line.F29a_DiagnosisPointer else ()


def line_charge(line: DentalLine) -> Decimal:
    """Return the charge of a line; the other fee (31a) is part of it."""
    return line.F31_LineFee + (line.F31a_OtherFee or ZERO)


def duplicate_key(line: DentalLine) -> object:
    """Return what a payer compares when it looks for duplicate lines."""
    teeth = tuple((tooth.F27_Tooth, tooth.F28_ToothSurface) for tooth in line.Teeth or ())
    return line.F24_DateOfServiceFrom, line.F29_ProcedureCode, teeth, line.F25_AreaOfOralCavity


@cache
def load_placements() -> "PlacementTables[Any, Any]":
    """Return the tables that place its fields in an 837D, imported at their first use."""
    from clearlane.claims.write.placements_837d import TABLES

    return TABLES


FORM: ClaimForm[DentalClaim, DentalLine] = ClaimForm(
    kind=ClaimKind.DENTAL,
    form_name="ADA",
    document=DentalDocument,
    document_type="DentalClaim",
    claim=DentalClaim,
    line=DentalLine,
    lines_field="LineItems",
    payer_type="Dental",
    file_tag="837D",
    line_segment="SV3",
    load_placements=load_placements,
    names=SharedFieldNames(
        account="F23_PatientID",
        member_id="F15_InsuredID",
        billing_state="F48_BillingDentistST",
        billing_zip="F48_BillingDentistZip",
        diagnoses="F34a_DiagnosisCode",
        icd_version="F34_DiagnosiseCodeQualifier",
        total_charge="F32_TotalFee",
        patient_paid="X12_PatientAmountPaid",
        frequency="X12_ClaimFrequencyCode",
        original_reference="X12_PayerControlNumber",
        purpose="F01_TypeOfTransaction",
        accident_date="F46_AccidentDate",
        accident_state="F47_AutoAccidentState",
        other_coverage="F04_OtherCoverage",
        earlier_paid="",
        earlier_decision_day="",
        coverage="",
        other_coverage_type="",
        medicare_reason="",
        remaining_liability="",
        first_day="F24_DateOfServiceFrom",
        last_day="F24_DateOfServiceTo",
        procedure="F29_ProcedureCode",
        description="F30_Description",
        pointers="F29a_DiagnosisPointer",
        line_control="X12_LineControlNumber",
        line_earlier_paid="X12_PrimaryPaidAmount",
        line_earlier_decision_day="X12_AdjudicationDate",
        line_remaining_liability="X12_LineRemainingPatientLiability",
    ),
    diagnoses_max=limits.DENTAL_DIAGNOSES_MAX,
    persons=(
        ("F20_PatientLastName", "F12_InsuredLastName", "last name"),
        ("F20_PatientFirstName", "F12_InsuredFirstName", "first name"),
        ("F20_PatientDOB", "F13_InsuredDOB", "birth date"),
        ("F22_PatientSex", "F14_InsuredSex", "sex"),
    ),
    birth_dates=("F20_PatientDOB", "F13_InsuredDOB", "F06_OtherInsuredDOB"),
    past_days=(
        "F36_PatientSignatureDate",
        "F37_InsuredSignatureDate",
        "F41_DateAppliancePlaced",
        "F44_ProsthesisDateOfPriorPlacement",
        "F46_AccidentDate",
        "F53_TreatingDentistSignatureDate",
        "X12_ServiceDate",
    ),
    billing_streets=("F48_BillingDentistAddress",),
    payer_addresses={
        "payer's": ("F03_PayerAddress1", "F03_PayerCity", "F03_PayerState", "F03_PayerZip"),
        "other payer's": (
            "F11_OtherPayerAddress",
            "F11_OtherPayerCity",
            "F11_OtherPayerST",
            "F11_OtherPayerZip",
        ),
    },
    accident_fields=("F45_TreatmentResultingFrom",),
    accident_fields_text="F45_TreatmentResultingFrom",
    other_insurance_fields=OTHER_INSURANCE,
    other_insurance_needs=(
        ("F05_OtherInsuredLastName",),
        ("F08_OtherInsuredPolicy",),
        ("F10_OtherPatientRelationship",),
        ("F11_OtherPayerName",),
    ),
    other_payer_names=("F11_OtherPayerName",),
    decision_fields=frozenset(LINE_DECISION),
    diagnoses=diagnoses,
    diagnosis_paths=diagnosis_paths,
    icd_version=icd_version,
    relationship=relationship,
    patient_birth=patient_birth,
    accidents=accidents,
    is_predetermination=is_predetermination,
    billing_ids=billing_ids,
    earlier_decision=earlier_decision,
    missing_fields=missing_fields,
    pointers=pointers,
    line_charge=line_charge,
    duplicate_key=duplicate_key,
)
