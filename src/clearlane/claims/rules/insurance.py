"""C75: other insurance and the decision of an earlier payer. ``cob`` defines the meaning of the fields."""

from collections import Counter
from collections.abc import Iterator

from clearlane.claims import cob, codes
from clearlane.claims.cob import OtherInsurance
from clearlane.claims.fields import (
    Claim,
    DentalAdjustment,
    DentalClaim,
    DentalLine,
    MedicalClaim,
)
from clearlane.claims.forms import fields_of_forms, form_of, names_of_forms
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
from clearlane.kernel.formats import format_amount
from clearlane.x12 import codes as x12_codes

NEEDS = fields_of_forms(
    lambda form: [name for names in form.other_insurance_needs for name in names]
)
FLAGS = names_of_forms(lambda names: names.other_coverage)
CLAIM_DATES = names_of_forms(lambda names: names.earlier_decision_day)
CLAIM_PAID = names_of_forms(lambda names: names.earlier_paid)
LINE_DATES = names_of_forms(lambda names: names.line_earlier_decision_day)
LINE_PAID = names_of_forms(lambda names: names.line_earlier_paid)
MEDICARE_REASONS = names_of_forms(lambda names: names.medicare_reason)


def other_insurance(claim: Claim) -> OtherInsurance | None:
    """Return the other insurance of a claim, or None."""
    form = form_of(claim)
    named, decided = form.has_other_insurance(claim), form.earlier_decision(claim)
    return OtherInsurance(named, decided) if named or decided else None


@rule(
    "C751",
    fields=NEEDS,
    x12="2330A/NM1/03",
    reading=other_insurance,
)
def other_insurance_is_complete(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """Another insurance is given with insured, number, relationship and payer."""
    given = claim.__dict__
    for names in form_of(claim).other_insurance_needs:
        if any(given.get(name) is not None for name in names):
            continue
        missing = " or ".join(names)
        yield names[0], f"The claim names another insurance, but {missing} is missing; give it."


@rule("C752", fields=FLAGS, x12="2320/SBR", severity=WARNING, when_filled=FLAGS)
def flag_agrees(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The mark for other coverage agrees with the fields of the other insurance."""
    form = form_of(claim)
    name = form.names.other_coverage
    if claim.__dict__.get(name) is False and form.has_other_insurance(claim):
        yield (
            name,
            f"{name} is false, but another insurance is given, and it is sent; set it to true.",
        )


@rule(
    "C753",
    fields=(*CLAIM_DATES, *LINE_DATES),
    x12="2330B/DTP:573/03",
    reading=other_insurance,
)
def decision_has_a_date(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """An earlier payer's decision has a date: the line's, or the claim's."""
    found = other.decision
    if found is None or found.day:
        return
    form = form_of(claim)
    name, of_claim = form.names.line_earlier_decision_day, form.names.earlier_decision_day
    for at, line in enumerate(found.lines):
        if line and line.day is None:
            yield (
                form.line_path(at, name),
                f"The earlier payer decided this line, but the day is missing; give {name}.",
            )
    if not any(found.lines):
        yield (
            of_claim,
            f"The earlier payer decided the claim, but the day is missing; give {of_claim}.",
        )


@rule("C754", fields=LINE_PAID, x12="2430/SVD/02", reading=other_insurance)
def decided_line_is_balanced(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """What was paid for a line and its adjustments make its charge."""
    found = other.decision
    if found is None:
        return
    form = form_of(claim)
    for at, (line, decided) in enumerate(zip(form.lines(claim), found.lines, strict=True)):
        if decided is None:
            continue
        charge = form.line_charge(line)
        explained = decided.paid + cob.total_adjusted(decided.groups)
        if charge != explained:
            yield (
                form.line_path(at, form.names.line_earlier_paid),
                f"The line costs {format_amount(charge)}, but {format_amount(decided.paid)} paid and "
                f"{format_amount(explained - decided.paid)} adjusted make {format_amount(explained)}; give adjustments that explain the difference.",
            )


@rule(
    "C755",
    fields=(*CLAIM_PAID, *LINE_PAID),
    x12="2320/AMT:D/02",
    reading=other_insurance,
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
    form = form_of(claim)
    charge = form.charge(claim)
    if charge != found.paid + adjusted:
        yield (
            form.names.earlier_paid or form.line_path(0, form.names.line_earlier_paid),
            f"The claim costs {format_amount(charge)}, but {format_amount(found.paid)} paid and {format_amount(adjusted)} "
            f"adjusted make {format_amount(found.paid + adjusted)}; give what the earlier payer paid and why it did not pay the rest.",
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
            f"F29_PayerAmountPaid is {format_amount(paid)}, X12_ClaimPrimaryPayerPaidAmount is {format_amount(also)}; "
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
    fields=(*CLAIM_DATES, *LINE_DATES),
    x12="2330B/DTP:573/03",
    reading=other_insurance,
)
def decision_is_past(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """An earlier payer's decision is not in the future."""
    found = other.decision
    if found is None:
        return
    form = form_of(claim)
    if found.day and found.day > inputs.today:
        yield (
            form.names.earlier_decision_day,
            f"The day {found.day} is in the future; give a day up to today.",
        )
    for at, line in enumerate(found.lines):
        if line and line.day and line.day > inputs.today:
            yield (
                form.line_path(at, form.names.line_earlier_decision_day),
                f"The day {line.day} is in the future; give a day up to today.",
            )


@rule(
    "C760", fields=MEDICARE_REASONS, x12="2000B/SBR/05", kinds=(MEDICAL,), reading=other_insurance
)
def second_medicare_has_a_reason(
    claim: MedicalClaim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """Where Medicare pays after another payer, the claim says why."""
    form, name = form_of(claim), "X12_MedicareSecondaryReason"
    if name not in claim.__dict__ and form.medicare_is_second(
        claim, decided=other.decision is not None
    ):
        yield (
            name,
            f"Medicare pays after another payer, and the claim does not say why; give {name}: "
            f"{codes.accepted_values('medicare_secondary_reason')}.",
        )


@rule(
    "C761",
    fields=MEDICARE_REASONS,
    x12="2000B/SBR/05",
    kinds=(MEDICAL,),
    severity=WARNING,
    when_filled=MEDICARE_REASONS,
)
def reason_has_a_second_medicare(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The reason why Medicare pays second comes with a Medicare that pays second; without one it is not sent."""
    name, other = "X12_MedicareSecondaryReason", other_insurance(claim)
    decided = other is not None and other.decision is not None
    if name in claim.__dict__ and not (
        other and form_of(claim).medicare_is_second(claim, decided=decided)
    ):
        yield (
            name,
            "There is a reason why Medicare pays second, but by their types of coverage no payer that pays second "
            f"is Medicare, so it is not sent; give {'F01_ClaimType' if decided else 'X12_OtherPayerClaimType'} "
            "as MA or MB, or leave the reason out.",
        )


@rule(
    "C766",
    fields=("X12_OtherInsuredId", "F09A_OtherInsuredGroupNum"),
    x12="2330A/NM1/09",
    kinds=(MEDICAL,),
    severity=WARNING,
    when_filled=("F09A_OtherInsuredGroupNum",),
)
def other_insured_has_a_member_id(
    claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Another insured is named by a member id; box 9a is a policy or group number, and without an id it is sent as both."""
    if claim.F09A_OtherInsuredGroupNum is not None and claim.X12_OtherInsuredId is None:
        yield (
            "X12_OtherInsuredId",
            "The claim states no member id of the other insured, which an 837 must have; the policy or group number of "
            "box 9a is sent in its place too. Give X12_OtherInsuredId.",
        )
