"""C75: other insurance and the decision of an earlier payer. ``cob`` defines the meaning of the fields."""

from collections import Counter
from collections.abc import Iterator

from clearlane.claims import cob
from clearlane.claims.cob import OtherInsurance
from clearlane.claims.fields import (
    Claim,
    DentalAdjustment,
    DentalClaim,
    DentalLine,
    MedicalClaim,
    lines_of,
)
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    line_rule,
    quoted,
    rule,
)
from clearlane.kernel import limits
from clearlane.x12 import codes as x12_codes

MEDICAL_NEEDS = (
    "F09_OtherInsuredNameLast",
    "F09A_OtherInsuredGroupNum",
    "F09_PatientRelationshipToInsured",
)
DENTAL_NEEDS = (
    "F05_OtherInsuredLastName",
    "F08_OtherInsuredPolicy",
    "F10_OtherPatientRelationship",
    "F11_OtherPayerName",
)
FLAGS = ("F11D_OtherPlan", "F04_OtherCoverage")
LINE_DATES = ("X12_AdjudicationOrPaymentDate", "X12_AdjudicationDate")
LINE_PAID = ("X12_PrimaryPayerPaidAmount", "X12_PrimaryPaidAmount")


@rule(
    "C751",
    fields=(*MEDICAL_NEEDS, "X12_OtherPayerName", "F09D_OtherPlanName", *DENTAL_NEEDS),
    x12="2330A/NM1/03",
    reading=cob.other_insurance,
)
def other_insurance_is_complete(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """Another insurance is given with insured, number, relationship and payer."""
    medical = isinstance(claim, MedicalClaim)
    for name in MEDICAL_NEEDS if medical else DENTAL_NEEDS:
        if claim.__dict__.get(name) is None:
            yield name, f"The claim names another insurance, but {name} is missing; give it."
    if medical and cob.other_payer_name(claim) is None:
        yield (
            "X12_OtherPayerName",
            "The claim names another insurance without its name; "
            "give X12_OtherPayerName or F09D_OtherPlanName.",
        )


@rule("C752", fields=FLAGS, x12="2320/SBR", severity=WARNING, when_filled=FLAGS)
def flag_agrees(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The mark for other coverage agrees with the fields of the other insurance."""
    name = _name(claim, FLAGS)
    if claim.__dict__.get(name) is False and cob.has_other_insurance(claim):
        yield (
            name,
            f"{name} is false, but another insurance is given, and it is sent; set it to true.",
        )


@rule(
    "C753",
    fields=("X12_ClaimAdjudicationDate", *LINE_DATES),
    x12="2330B/DTP:573/03",
    reading=cob.other_insurance,
)
def decision_has_a_date(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """An earlier payer's decision has a date: the line's, or the claim's."""
    found = other.decision
    if found is None or found.day:
        return
    lines, name = _lines(claim, LINE_DATES)
    for at, line in enumerate(found.lines):
        if line and line.day is None:
            yield (
                f"{lines}[{at}].{name}",
                f"The earlier payer decided this line, but the day is missing; give {name}.",
            )
    if not any(found.lines):
        yield (
            "X12_ClaimAdjudicationDate",
            "The earlier payer decided the claim, but the day is missing; give X12_ClaimAdjudicationDate.",
        )


@rule("C754", fields=LINE_PAID, x12="2430/SVD/02", reading=cob.other_insurance)
def decided_line_is_balanced(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """What was paid for a line and its adjustments make its charge."""
    found = other.decision
    if found is None:
        return
    lines, name = _lines(claim, LINE_PAID)
    for at, (line, decided) in enumerate(zip(lines_of(claim), found.lines, strict=True)):
        if decided is None:
            continue
        charge, explained = cob.line_charge(line), decided.paid + cob.total_adjusted(decided.groups)
        if charge != explained:
            yield (
                f"{lines}[{at}].{name}",
                f"The line costs {charge}, but {decided.paid} paid and {explained - decided.paid} adjusted "
                f"make {explained}; give adjustments that explain the difference.",
            )


@rule(
    "C755",
    fields=("X12_ClaimPrimaryPayerPaidAmount", *LINE_PAID),
    x12="2320/AMT:D/02",
    reading=cob.other_insurance,
)
def decided_claim_is_balanced(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """What was paid for the claim and all adjustments make its total."""
    found = other.decision
    if found is None:
        return
    adjusted = cob.total_adjusted(found.groups) + sum(
        (cob.total_adjusted(line.groups) for line in found.lines if line), cob.ZERO
    )
    charge = cob.claim_charge(claim)
    if charge != found.paid + adjusted:
        lines, name = _lines(claim, LINE_PAID)
        yield (
            "X12_ClaimPrimaryPayerPaidAmount"
            if isinstance(claim, MedicalClaim)
            else f"{lines}[0].{name}",
            f"The claim costs {charge}, but {found.paid} paid and {adjusted} adjusted make "
            f"{found.paid + adjusted}; give what the earlier payer paid and why it did not pay the rest.",
        )


@rule(
    "C756",
    fields=("F29_PayerAmountPaid", "X12_ClaimPrimaryPayerPaidAmount"),
    x12="2320/AMT:D/02",
    kinds=(MEDICAL,),
    when_filled=("F29_PayerAmountPaid",),
)
def paid_fields_agree(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The two fields for what another payer paid agree."""
    paid, also = claim.F29_PayerAmountPaid, claim.X12_ClaimPrimaryPayerPaidAmount
    if paid and also is not None and paid != also:
        yield (
            "F29_PayerAmountPaid",
            f"F29_PayerAmountPaid is {paid}, X12_ClaimPrimaryPayerPaidAmount is {also}; "
            "make them equal, or give one.",
        )


@line_rule(
    "C757", fields=("Adjustments",), x12="2430/CAS", kinds=(DENTAL,), when_filled=("Adjustments",)
)
def dental_adjustments_are_complete(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A dental adjustment has a group, a reason of the list, and an amount."""
    reasons = x12_codes.load("carc")
    for at, item in enumerate(line.Adjustments or ()):
        for name in DentalAdjustment.model_fields:
            if name not in item.__dict__:
                yield (
                    f"Adjustments[{at}].{name}",
                    f"The adjustment is begun but {name} is missing; give it.",
                )
        reason = item.X12_AdjustmentReasonCode
        if reason is not None and reason not in reasons:
            yield (
                f"Adjustments[{at}].X12_AdjustmentReasonCode",
                f"The reason {quoted(reason)} is not on the list; give a claim adjustment reason code.",
            )


@line_rule(
    "C758", fields=("Adjustments",), x12="2430/CAS", kinds=(DENTAL,), when_filled=("Adjustments",)
)
def dental_adjustments_are_few(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """One group has at most six adjustments on a line."""
    if not line.Adjustments:
        return
    counts = Counter(item.X12_AdjustmentGroupCode for item in line.Adjustments)
    for group, count in counts.items():
        if count > limits.ADJUSTMENTS_PER_GROUP_MAX:
            yield (
                "Adjustments",
                f"The group {group} has {count} adjustments; "
                f"at most {limits.ADJUSTMENTS_PER_GROUP_MAX} can be sent.",
            )


@rule(
    "C759",
    fields=("X12_ClaimAdjudicationDate", *LINE_DATES),
    x12="2330B/DTP:573/03",
    reading=cob.other_insurance,
)
def decision_is_past(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """An earlier payer's decision is not in the future."""
    found = other.decision
    if found is None:
        return
    if found.day and found.day > inputs.today:
        yield (
            "X12_ClaimAdjudicationDate",
            f"The day {found.day} is in the future; give a day up to today.",
        )
    lines, name = _lines(claim, LINE_DATES)
    for at, line in enumerate(found.lines):
        if line and line.day and line.day > inputs.today:
            yield (
                f"{lines}[{at}].{name}",
                f"The day {line.day} is in the future; give a day up to today.",
            )


def _name(claim: Claim, names: tuple[str, str]) -> str:
    return names[0] if isinstance(claim, MedicalClaim) else names[1]


def _lines(claim: Claim, names: tuple[str, str]) -> tuple[str, str]:
    return (
        ("F24_ClaimLines", names[0]) if isinstance(claim, MedicalClaim) else ("LineItems", names[1])
    )
