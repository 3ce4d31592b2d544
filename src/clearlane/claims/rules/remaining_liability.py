"""C76: what the patient still owes after an earlier payer. ``cob`` defines how it is computed."""

from collections.abc import Iterator

from clearlane.claims import cob
from clearlane.claims.cob import RemainingLiability
from clearlane.claims.rules.insurance import OtherPayers, other_payers
from clearlane.claims.rules.registry import (
    OUR_WRITER,
    WARNING,
    FieldFinding,
    RuleInputs,
    line_rule,
    rule,
)
from clearlane.claims.view import ClaimView, LineView, PayerView
from clearlane.kernel.finding import Severity
from clearlane.kernel.formats import format_amount

REMAINING = ("remaining_liability",)
LINE_REMAINING = "lines[].remaining_liability"
PATIENT_GROUP = "other_payers[0].decision.groups.PR"


@rule(
    "C762", paths=REMAINING, x12="2320/AMT:EAF/02", when_filled=REMAINING, not_in_files=OUR_WRITER
)
def remaining_liability_is_at_one_level(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """What the patient still owes is given for the lines if the earlier payer decided lines, else for the claim."""
    decision = view.decision
    if decision and any(decision.lines) and view.remaining_liability is not None:
        yield (
            "remaining_liability",
            "The earlier payer decided lines, so what the patient still owes is sent for them; "
            f"give {view.form.name_of(LINE_REMAINING)} on the lines, not an amount for the claim.",
        )


NOT_SENT = "No earlier payer decided this, so what the patient still owes is not sent; give the decision too."


@rule(
    "C763",
    paths=REMAINING,
    x12="2320/AMT:EAF/02",
    severity=WARNING,
    when_filled=REMAINING,
    not_in_files=OUR_WRITER,
)
def remaining_liability_follows_a_decision(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """What the patient still owes for a claim comes with an earlier payer's decision; without one it is not sent."""
    if view.remaining_liability is not None and view.decision is None:
        yield "remaining_liability", NOT_SENT


@line_rule(
    "C767",
    paths=REMAINING,
    x12="2430/AMT:EAF/02",
    severity=WARNING,
    when_filled=REMAINING,
    not_in_files=OUR_WRITER,
)
def remaining_liability_follows_a_decided_line(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """What the patient still owes for a line comes with an earlier payer's decision about it; without one it is not sent."""
    if line.remaining_liability is not None and line.decision is None:
        yield "remaining_liability", NOT_SENT


def _remaining(view: ClaimView, other: PayerView) -> RemainingLiability | None:
    """Return what is computed that the patient still owes: nothing for a claim or a line that states it itself."""
    if other.decision is None:
        return None
    computed = cob.remaining_liability(other.decision, view.patient_paid or cob.ZERO)
    return RemainingLiability(
        computed.claim if view.remaining_liability is None else None,
        tuple(
            owed if line.remaining_liability is None else None
            for line, owed in zip(view.lines, computed.lines, strict=True)
        ),
    )


@rule(
    "C764",
    paths=(PATIENT_GROUP, LINE_REMAINING),
    x12="2430/AMT:EAF/02",
    severity=WARNING,
    when_filled=(PATIENT_GROUP,),
    reading=other_payers,
    not_in_files=OUR_WRITER,
)
def liability_of_the_claim_is_in_its_lines(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """Where an earlier payer decided lines, what the patient owes for the claim as a whole is stated in the lines."""
    for at, other in enumerate(others):
        found = _remaining(view, other)
        if found and found.claim is None and any(owed is not None for owed in found.lines):
            yield (
                f"other_payers[{at}].decision.groups.PR",
                "The earlier payer decided lines, and left the patient an amount for the claim as a whole: what is sent "
                f"for the lines as what the patient still owes is without it; give {view.form.name_of(LINE_REMAINING)} "
                "on every decided line.",
            )


@rule(
    "C765",
    paths=(LINE_REMAINING, *REMAINING),
    x12="2430/AMT:EAF/02",
    severity=Severity.INFO,
    reading=other_payers,
    not_in_files=OUR_WRITER,
)
def remaining_liability_is_computed(
    view: ClaimView, inputs: RuleInputs, others: OtherPayers
) -> Iterator[FieldFinding]:
    """What the patient still owes is computed and sent if the claim does not state it, and that is recorded with it."""
    paid = view.patient_paid or cob.ZERO
    computed = (
        f"computed: the adjustments of group PR less {format_amount(paid)} that the patient paid"
    )
    for found in filter(None, [_remaining(view, other) for other in others]):
        if found.claim is not None:
            yield (
                "remaining_liability",
                f"The patient still owes {format_amount(found.claim)}, {computed}; "
                f"give {view.form.name_of('remaining_liability')} if it is another amount.",
            )
        owing = [(at, owed) for at, owed in enumerate(found.lines) if owed is not None]
        if owing:
            total = sum((owed for _, owed in owing), cob.ZERO)
            yield (
                f"lines[{owing[0][0]}].remaining_liability",
                f"The patient still owes {format_amount(total)} for the decided lines, {computed}; "
                f"give {view.form.name_of(LINE_REMAINING)} on a line if it is another amount.",
            )
