"""C7: totals."""

from collections.abc import Iterator

from clearlane.claims.cob import ZERO
from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of, names_of_forms
from clearlane.claims.rules.registry import WARNING, FieldFinding, RuleInputs, rule
from clearlane.kernel.formats import format_amount

TOTALS = names_of_forms(lambda names: names.total_charge)
PATIENT_PAID = names_of_forms(lambda names: names.patient_paid)


@rule("C701", fields=TOTALS, x12="2300/CLM/02")
def total_is_the_sum(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The total charge is the sum of the line charges, of a dental claim with its other fees (box 31a)."""
    form = form_of(claim)
    stated, summed = form.charge(claim), sum(map(form.line_charge, form.lines(claim)), ZERO)
    if stated != summed:
        yield (
            form.names.total_charge,
            f"The total is {format_amount(stated)}, the lines add up to {format_amount(summed)}; make them equal.",
        )


@rule("C702", fields=PATIENT_PAID, x12="2300/AMT:F5/02", severity=WARNING, when_filled=PATIENT_PAID)
def patient_paid_no_more_than_the_total(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The patient has not paid more than the total."""
    form = form_of(claim)
    name = form.names.patient_paid
    paid, total = claim.__dict__.get(name), form.charge(claim)
    if paid is not None and paid > total:
        yield (
            name,
            f"The patient paid {format_amount(paid)}, more than the total of {format_amount(total)}; check both.",
        )


@rule("C703", fields=TOTALS, x12="2300/CLM/02", severity=WARNING)
def total_is_not_zero(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim asks for something."""
    form = form_of(claim)
    if not form.charge(claim):
        yield form.names.total_charge, "The total is 0.00; some payers refuse such a claim."
