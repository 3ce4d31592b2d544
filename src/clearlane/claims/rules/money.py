"""C7: totals."""

import re
from collections.abc import Iterator

from clearlane.claims.cob import ZERO
from clearlane.claims.codes import NOTICES
from clearlane.claims.rules.registry import WARNING, FieldFinding, RuleInputs, rule
from clearlane.claims.view import ClaimView
from clearlane.kernel.formats import format_amount

# CPT category II, CMS's quality codes (G8395 to G9999, M), and vaccines.
_BILLED_AT_ZERO = re.compile(r"\d{4}F|G[89]\d{3}|M\d{4}|90[4-7]\d\d", re.ASCII)


@rule("C701", paths=("total_charge",), x12="2300/CLM/02", covers=("X837-TOTAL",))
def total_is_the_sum(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The total charge is the sum of the line charges, of a dental claim with its other fees (box 31a)."""
    total, charges = view.total_charge, [line.charge for line in view.lines]
    if total is None or None in charges:
        return
    summed = sum([charge for charge in charges if charge is not None], ZERO)
    if total != summed:
        yield (
            "total_charge",
            f"The total is {format_amount(total)}, the lines add up to {format_amount(summed)}; "
            "make them equal.",
        )


@rule(
    "C702",
    paths=("patient_paid",),
    x12="2300/AMT:F5/02",
    severity=WARNING,
    when_filled=("patient_paid",),
    covers=("X837-PAID",),
)
def patient_paid_no_more_than_the_total(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The patient has not paid more than the total."""
    paid, total = view.patient_paid, view.total_charge
    if paid is not None and total is not None and paid > total:
        yield (
            "patient_paid",
            f"The patient paid {format_amount(paid)}, more than the total of {format_amount(total)}; check both.",
        )


@rule("C703", paths=("total_charge",), x12="2300/CLM/02", severity=WARNING)
def total_is_not_zero(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim asks for something; only notices, reports of encounters, tracking codes and vaccines that a state supplies are billed at 0."""
    is_free = view.is_predetermination or view.is_encounter or view.frequency in NOTICES
    if view.total_charge != ZERO or is_free:
        return
    if not all(_BILLED_AT_ZERO.fullmatch(line.procedure) for line in view.lines):
        yield "total_charge", "The total is 0.00; some payers reject such a claim."
