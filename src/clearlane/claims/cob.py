"""Coordination of benefits: a claim's other insurance and the decision of an earlier payer.

Meaning of the fields:

- the *other insurance* is the other insured (box 9, ADA 5 to 10) and the other payer
  (``X12_OtherPayerName`` or, without it, the plan's name of box 9d; ADA 11);
- the *decision* is what that payer paid and adjusted. For the claim: ``X12_ClaimPrimaryPayerPaidAmount``
  (or ``F29_PayerAmountPaid``), the five adjustment fields, ``X12_ClaimAdjudicationDate``. For a line: its paid
  amount, its adjustments, its date. A dental claim has them on lines only;
- a zero without anything else is no decision, because some callers fill every number. A denial is a decision
  of zero with adjustments or a date;
- with a decision the claim goes to the payer as secondary, without it as primary;
- a decided line without a date takes the claim's date.

**Balance.** A line's charge is what was paid plus the line's adjustments. The claim's charge is what was paid
for the claim plus all adjustments, of the claim and of its lines.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from clearlane.claims.fields import Claim, DentalLine, Line, MedicalClaim, MedicalLine, lines_of
from clearlane.claims.value_types import EarlierAdjustment

ZERO = Decimal(0)

CLAIM_GROUPS = {
    "X12_ClaimContractualObligationAdjustments": "CO",
    "X12_ClaimCorrectionAndReversalAdjustments": "CR",
    "X12_ClaimOtherAdjustments": "OA",
    "X12_ClaimPayorInitiatedReductions": "PI",
    "X12_ClaimPatientResponsibilityAdjustments": "PR",
}
LINE_GROUPS = {
    "X12_LineContractualObligationAdjustments": "CO",
    "X12_LineCorrectionAndReversalAdjustments": "CR",
    "X12_LineOtherAdjustments": "OA",
    "X12_LinePayorInitiatedReductions": "PI",
    "X12_LinePatientResponsibilityAdjustments": "PR",
}
# Any of these means that there is another insurance. The relationship alone does not: some callers always send it.
MEDICAL_OTHER_INSURANCE_FIELDS = frozenset(
    {
        "F09_OtherInsuredNameLast",
        "F09_OtherInsuredNameFirst",
        "F09_OtherInsuredNameMiddle",
        "F09_OtherInsuredSuffix",
        "F09A_OtherInsuredGroupNum",
        "F09B_OtherInsuredDOB",
        "F09B_OtherInsuredSex",
        "F09C_OtherEmployerName",
        "F09D_OtherPlanName",
        "X12_OtherPayerName",
    }
)
DENTAL_OTHER_INSURANCE_FIELDS = frozenset(
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

Groups = Mapping[str, tuple[EarlierAdjustment, ...]]


@dataclass(frozen=True, slots=True, repr=False)
class EarlierLineDecision:
    """An earlier payer's decision about one line."""

    paid: Decimal
    groups: Groups
    day: date | None
    units: Decimal | None = None


@dataclass(frozen=True, slots=True, repr=False)
class EarlierDecision:
    """An earlier payer's decision about a claim; None for a line it did not decide."""

    paid: Decimal
    groups: Groups
    day: date | None
    lines: tuple[EarlierLineDecision | None, ...]


def earlier_decision(claim: Claim) -> EarlierDecision | None:
    """Return the earlier payer's decision, or None."""
    lines = tuple(_line_decision(line) for line in lines_of(claim))
    if not isinstance(claim, MedicalClaim):
        if not any(lines):
            return None
        return EarlierDecision(sum((line.paid for line in lines if line), ZERO), {}, None, lines)
    given = claim.__dict__
    groups: Groups = {group: given[name] for name, group in CLAIM_GROUPS.items() if name in given}
    paid = claim.X12_ClaimPrimaryPayerPaidAmount
    if paid is None:
        paid = claim.F29_PayerAmountPaid
    day = claim.X12_ClaimAdjudicationDate
    if not (paid or groups or day or any(lines)):
        return None
    if paid is None:
        paid = sum((line.paid for line in lines if line), ZERO) - total_adjusted(groups)
    return EarlierDecision(paid, groups, day, lines)


def has_other_insurance(claim: Claim) -> bool:
    """Return whether the claim has fields of another insurance."""
    given = claim.__dict__
    if isinstance(claim, MedicalClaim):
        return bool(claim.F11D_OtherPlan) or any(
            given.get(name) is not None for name in MEDICAL_OTHER_INSURANCE_FIELDS
        )
    return claim.F04_OtherCoverage or any(
        given.get(name) is not None for name in DENTAL_OTHER_INSURANCE_FIELDS
    )


@dataclass(frozen=True, slots=True, repr=False)
class OtherInsurance:
    """Another insurance of a claim: whether its own fields name it, and its decision."""

    named: bool
    decision: EarlierDecision | None


def other_insurance(claim: Claim) -> OtherInsurance | None:
    """Return the other insurance of a claim, or None."""
    named, decided = has_other_insurance(claim), earlier_decision(claim)
    return OtherInsurance(named, decided) if named or decided else None


def other_payer_name(claim: Claim) -> str | None:
    """Return the other payer's name."""
    if isinstance(claim, MedicalClaim):
        return claim.X12_OtherPayerName or claim.F09D_OtherPlanName
    return claim.F11_OtherPayerName


def total_adjusted(groups: Groups) -> Decimal:
    """Return the sum of adjustments."""
    return sum((adjusted.amount for group in groups.values() for adjusted in group), ZERO)


# Most lines have no decision, and testing all these fields at once is quick.
_MEDICAL_DECISION = ("X12_PrimaryPayerPaidAmount", "X12_AdjudicationOrPaymentDate", *LINE_GROUPS)
_DENTAL_DECISION = ("X12_PrimaryPaidAmount", "X12_AdjudicationDate", "Adjustments")


def _line_decision(line: Line) -> EarlierLineDecision | None:
    given = line.__dict__
    groups: Groups
    if isinstance(line, MedicalLine):
        if given.keys().isdisjoint(_MEDICAL_DECISION):
            return None
        groups = {group: given[name] for name, group in LINE_GROUPS.items() if name in given}
        paid, day, units = line.X12_PrimaryPayerPaidAmount, line.X12_AdjudicationOrPaymentDate, None
    elif given.keys().isdisjoint(_DENTAL_DECISION):
        return None
    else:
        groups = _dental_groups(line)
        paid, day, units = line.X12_PrimaryPaidAmount, line.X12_AdjudicationDate, line.X12_UnitsPaid
    if not (paid or groups or day):
        return None
    return EarlierLineDecision(paid or ZERO, groups, day, units)


def _dental_groups(line: DentalLine) -> dict[str, tuple[EarlierAdjustment, ...]]:
    found: dict[str, tuple[EarlierAdjustment, ...]] = {}
    for item in line.Adjustments or ():
        if item.X12_AdjustmentGroupCode and item.X12_AdjustmentAmount:
            adjusted = EarlierAdjustment(item.X12_AdjustmentReasonCode, item.X12_AdjustmentAmount)
            group = item.X12_AdjustmentGroupCode
            found[group] = (*found.get(group, ()), adjusted)
    return found


def line_charge(line: Line) -> Decimal:
    """Return the charge of a line; ADA's other fee (31a) is part of it."""
    if isinstance(line, MedicalLine):
        return line.F24F_Charges
    return line.F31_LineFee + (line.F31a_OtherFee or ZERO)


def claim_charge(claim: Claim) -> Decimal:
    """Return the total charge that the claim states."""
    return claim.F28_TotalCharge if isinstance(claim, MedicalClaim) else claim.F32_TotalFee


def sum_of_lines(lines: Iterable[Line]) -> Decimal:
    """Return the sum of the lines' charges."""
    return sum(map(line_charge, lines), ZERO)
