"""Coordination of benefits: what the claim tells of another insurance and of an earlier payer's decision.

How the fields are understood:

- the *other insurance* is the other insured (box 9, ADA 5 to 10) and the other payer
  (``X12_OtherPayerName`` or, without it, the plan's name of box 9d; ADA 11);
- the *decision* is what that payer paid and adjusted. For the claim: ``X12_ClaimPrimaryPayerPaidAmount``
  (or ``F29_PayerAmountPaid``), the five adjustment fields, ``X12_ClaimAdjudicationDate``. For a line: its paid
  amount, its adjustments, its date. A dental claim has them on lines only;
- a zero without anything else is no decision, because some callers fill every number. A denial is a decision
  of zero with adjustments or a date;
- with a decision the claim goes to the payer as the second one, without it as the first;
- a decided line without a date takes the claim's date.

**Balance.** A line's charge is what was paid plus the line's adjustments. The claim's charge is what was paid
for the claim plus all adjustments, of the claim and of its lines.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from clearlane.claims.fields import Claim, DentalLine, Line, MedicalClaim, MedicalLine, lines_of
from clearlane.claims.value_types import Adjusted

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
# Any of these says that there is another insurance. The relationship alone does not: it is often sent always.
MEDICAL_SIGNS = frozenset(
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
DENTAL_SIGNS = frozenset(
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

Groups = Mapping[str, tuple[Adjusted, ...]]


@dataclass(frozen=True, slots=True, repr=False)
class LineDecision:
    """What the earlier payer decided about one line."""

    paid: Decimal
    groups: Groups
    day: date | None
    units: Decimal | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Decision:
    """What the earlier payer decided about the claim; a line it did not decide is None."""

    paid: Decimal
    groups: Groups
    day: date | None
    lines: tuple[LineDecision | None, ...]


def decision(claim: Claim) -> Decision | None:
    """The earlier payer's decision, or None if there is none."""
    lines = tuple(_line_decision(line) for line in lines_of(claim))
    if not isinstance(claim, MedicalClaim):
        if not any(lines):
            return None
        return Decision(sum((line.paid for line in lines if line), ZERO), {}, None, lines)
    given = claim.__dict__
    groups: Groups = {group: given[name] for name, group in CLAIM_GROUPS.items() if name in given}
    paid = claim.X12_ClaimPrimaryPayerPaidAmount
    if paid is None:
        paid = claim.F29_PayerAmountPaid
    day = claim.X12_ClaimAdjudicationDate
    if not (paid or groups or day or any(lines)):
        return None
    if paid is None:
        paid = sum((line.paid for line in lines if line), ZERO) - total(groups)
    return Decision(paid, groups, day, lines)


def other_insurance(claim: Claim) -> bool:
    """Whether the claim speaks of another insurance."""
    given = claim.__dict__
    if isinstance(claim, MedicalClaim):
        return bool(claim.F11D_OtherPlan) or any(
            given.get(name) is not None for name in MEDICAL_SIGNS
        )
    return claim.F04_OtherCoverage or any(given.get(name) is not None for name in DENTAL_SIGNS)


@dataclass(frozen=True, slots=True, repr=False)
class Story:
    """What a claim tells of another insurance: that there is one, and what it decided."""

    named: bool
    decision: Decision | None


def story(claim: Claim) -> Story | None:
    """The story, or None where the claim tells of no other insurance."""
    named, decided = other_insurance(claim), decision(claim)
    return Story(named, decided) if named or decided else None


def other_payer_name(claim: Claim) -> str | None:
    """The other payer's name."""
    if isinstance(claim, MedicalClaim):
        return claim.X12_OtherPayerName or claim.F09D_OtherPlanName
    return claim.F11_OtherPayerName


def total(groups: Groups) -> Decimal:
    """The sum of adjustments."""
    return sum((adjusted.amount for group in groups.values() for adjusted in group), ZERO)


# Most lines tell of no decision, and asking for all these fields at once is quick.
_MEDICAL_DECISION = ("X12_PrimaryPayerPaidAmount", "X12_AdjudicationOrPaymentDate", *LINE_GROUPS)
_DENTAL_DECISION = ("X12_PrimaryPaidAmount", "X12_AdjudicationDate", "Adjustments")


def _line_decision(line: Line) -> LineDecision | None:
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
    return LineDecision(paid or ZERO, groups, day, units)


def _dental_groups(line: DentalLine) -> dict[str, tuple[Adjusted, ...]]:
    found: dict[str, tuple[Adjusted, ...]] = {}
    for item in line.Adjustments or ():
        if item.X12_AdjustmentGroupCode and item.X12_AdjustmentAmount:
            adjusted = Adjusted(item.X12_AdjustmentReasonCode, item.X12_AdjustmentAmount)
            group = item.X12_AdjustmentGroupCode
            found[group] = (*found.get(group, ()), adjusted)
    return found


def charges(line: Line) -> Decimal:
    """What a line costs; ADA's other fee (31a) is part of it."""
    if isinstance(line, MedicalLine):
        return line.F24F_Charges
    return line.F31_LineFee + (line.F31a_OtherFee or ZERO)


def charge_of(claim: Claim) -> Decimal:
    """The charge the claim states."""
    return claim.F28_TotalCharge if isinstance(claim, MedicalClaim) else claim.F32_TotalFee


def summed(lines: Iterable[Line]) -> Decimal:
    """The sum of the lines."""
    return sum(map(charges, lines), ZERO)
