"""C7: totals."""

from collections.abc import Iterator

from clearlane.claims import cob
from clearlane.claims.fields import Claim, MedicalClaim, lines_of
from clearlane.claims.rules.registry import WARNING, FieldFinding, RuleInputs, rule

TOTALS = ("F28_TotalCharge", "F32_TotalFee")
PATIENT_PAID = ("F29_PatientAmountPaid", "X12_PatientAmountPaid")


@rule("C701", fields=TOTALS, x12="2300/CLM/02")
def total_is_the_sum(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The total charge is the sum of the lines; other fees (31a) of a dental line count."""
    stated, summed = cob.claim_charge(claim), cob.sum_of_lines(lines_of(claim))
    if stated != summed:
        yield (
            _name(claim, TOTALS),
            f"The total is {stated}, the lines add up to {summed}; make them equal.",
        )


@rule("C702", fields=PATIENT_PAID, x12="2300/AMT:F5/02", severity=WARNING, when_filled=PATIENT_PAID)
def patient_paid_no_more_than_the_total(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The patient has not paid more than the total."""
    name = _name(claim, PATIENT_PAID)
    paid = claim.__dict__.get(name)
    if paid is not None and paid > cob.claim_charge(claim):
        yield (
            name,
            f"The patient paid {paid}, more than the total of {cob.claim_charge(claim)}; check both.",
        )


@rule("C703", fields=TOTALS, x12="2300/CLM/02", severity=WARNING)
def total_is_not_zero(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim asks for something."""
    if not cob.claim_charge(claim):
        yield _name(claim, TOTALS), "The total is 0; some payers refuse such a claim."


def _name(claim: Claim, names: tuple[str, str]) -> str:
    return names[0] if isinstance(claim, MedicalClaim) else names[1]
