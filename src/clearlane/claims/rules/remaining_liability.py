"""C76: what the patient still owes after an earlier payer. ``cob`` defines how it is computed."""

from collections.abc import Iterator

from clearlane.claims import cob
from clearlane.claims.cob import OtherInsurance, RemainingLiability
from clearlane.claims.fields import Claim, Line, MedicalClaim
from clearlane.claims.forms import form_of, names_of_forms
from clearlane.claims.rules.insurance import other_insurance
from clearlane.claims.rules.registry import (
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    line_rule,
    rule,
)
from clearlane.kernel.finding import Severity
from clearlane.kernel.formats import format_amount

CLAIM_REMAINING = names_of_forms(lambda names: names.remaining_liability)
LINE_REMAINING = names_of_forms(lambda names: names.line_remaining_liability)


@rule("C762", fields=CLAIM_REMAINING, x12="2320/AMT:EAF/02", when_filled=CLAIM_REMAINING)
def remaining_liability_is_at_one_level(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """What the patient still owes is given for the lines if the earlier payer decided lines, else for the claim."""
    form = form_of(claim)
    decision = form.earlier_decision(claim)
    if decision and any(decision.lines) and form.names.remaining_liability in claim.__dict__:
        yield (
            form.names.remaining_liability,
            "The earlier payer decided lines, so what the patient still owes is sent for them; "
            f"give {form.names.line_remaining_liability} on the lines, not an amount for the claim.",
        )


NOT_SENT = "No earlier payer decided this, so what the patient still owes is not sent; give the decision too."


@rule(
    "C763",
    fields=CLAIM_REMAINING,
    x12="2320/AMT:EAF/02",
    severity=WARNING,
    when_filled=CLAIM_REMAINING,
)
def remaining_liability_follows_a_decision(
    claim: Claim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """What the patient still owes for a claim comes with an earlier payer's decision; without one it is not sent."""
    form = form_of(claim)
    if form.names.remaining_liability in claim.__dict__ and form.earlier_decision(claim) is None:
        yield form.names.remaining_liability, NOT_SENT


@line_rule(
    "C767",
    fields=LINE_REMAINING,
    x12="2430/AMT:EAF/02",
    severity=WARNING,
    when_filled=LINE_REMAINING,
)
def remaining_liability_follows_a_decided_line(
    line: Line, claim: Claim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """What the patient still owes for a line comes with an earlier payer's decision about it; without one it is not sent."""
    form = form_of(claim)
    decision = form.earlier_decision(claim)
    at = next(at for at, one in enumerate(form.lines(claim)) if one is line)
    if decision is None or decision.lines[at] is None:
        yield form.names.line_remaining_liability, NOT_SENT


def _remaining(claim: Claim, other: OtherInsurance) -> RemainingLiability | None:
    """Return what is computed that the patient still owes: nothing for a claim or a line that states it itself."""
    if other.decision is None:
        return None
    form, given = form_of(claim), claim.__dict__
    computed = cob.remaining_liability(
        other.decision, given.get(form.names.patient_paid) or cob.ZERO
    )
    name = form.names.line_remaining_liability
    return RemainingLiability(
        None if form.names.remaining_liability in given else computed.claim,
        tuple(
            None if name in line.__dict__ else owed
            for line, owed in zip(form.lines(claim), computed.lines, strict=True)
        ),
    )


@rule(
    "C764",
    fields=("X12_ClaimPatientResponsibilityAdjustments", *LINE_REMAINING),
    x12="2430/AMT:EAF/02",
    kinds=(MEDICAL,),
    severity=WARNING,
    when_filled=("X12_ClaimPatientResponsibilityAdjustments",),
    reading=other_insurance,
)
def liability_of_the_claim_is_in_its_lines(
    claim: MedicalClaim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """Where an earlier payer decided lines, what the patient owes for the claim as a whole is stated in the lines."""
    found = _remaining(claim, other)
    if found and found.claim is None and any(owed is not None for owed in found.lines):
        yield (
            "X12_ClaimPatientResponsibilityAdjustments",
            "The earlier payer decided lines, and left the patient an amount for the claim as a whole: what is sent "
            "for the lines as what the patient still owes is without it; give X12_LineRemainingPatientLiability "
            "on every decided line.",
        )


@rule(
    "C765",
    fields=(*CLAIM_REMAINING, *LINE_REMAINING),
    x12="2430/AMT:EAF/02",
    severity=Severity.INFO,
    reading=other_insurance,
)
def remaining_liability_is_computed(
    claim: Claim, inputs: RuleInputs, other: OtherInsurance
) -> Iterator[FieldFinding]:
    """What the patient still owes is computed and sent if the claim does not state it, and that is recorded with it."""
    found = _remaining(claim, other)
    if found is None:
        return
    names = form_of(claim).names
    paid = claim.__dict__.get(names.patient_paid) or cob.ZERO
    computed = (
        f"computed: the adjustments of group PR less {format_amount(paid)} that the patient paid"
    )
    if found.claim is not None:
        name = names.remaining_liability
        yield (
            name,
            f"The patient still owes {format_amount(found.claim)}, {computed}; give {name} if it is another amount.",
        )
    owing = [(at, owed) for at, owed in enumerate(found.lines) if owed is not None]
    if owing:
        name, total = names.line_remaining_liability, sum((owed for _, owed in owing), cob.ZERO)
        yield (
            form_of(claim).line_path(owing[0][0], name),
            f"The patient still owes {format_amount(total)} for the decided lines, {computed}; "
            f"give {name} on a line if it is another amount.",
        )
