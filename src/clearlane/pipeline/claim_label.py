"""What a claim is called: one label for its state and its payment, and who must act.

    label_claim(status, outcome=Outcome.DENIED, balanced=True)          # ClaimLabel.DENIED

A label is stored with the claim whenever facts are recorded, so that lists find claims by it. Knows states and
outcomes; the lists of reasons that make a denial are in ``payments.outcome``.
"""

from enum import StrEnum

from clearlane.claims.lifecycle import ClaimClosing, ClaimState, LifecycleStatus
from clearlane.payments.model import ClaimPaymentFact
from clearlane.payments.outcome import Outcome, is_forwarded
from clearlane.store.delivery.file_refusals import TO_RESEND as TO_RESEND_LABEL


class ClaimLabel(StrEnum):
    """The label of a claim."""

    RECEIVED = "received"
    HELD = "held"
    CANCELED = "canceled"
    SENT = "sent"
    ACCEPTED = "accepted"
    IN_PROCESS = "in process"
    NOT_ACCEPTED = "not accepted"
    """By us: it was never sent to a payer."""
    REJECTED = "rejected"
    TO_RESEND = TO_RESEND_LABEL
    """The payer refused the whole file for its envelope: the operator's matter, not the biller's."""
    WANTS_RECORDS = "wants records"
    PREDETERMINED = "predetermined"
    TAKEN_BACK = "taken back"
    FORWARDED = "forwarded"
    DENIED = "denied"
    PARTLY_DENIED = "partly denied"
    PATIENT_OWES = "patient owes"
    NOTHING_DUE = "nothing due"
    VOIDED = "voided"
    REPLACED = "replaced"
    PAID = "paid"
    PAID_DIFFERS = "paid, differs"


def label_key(label: str) -> str:
    """Return a label as programs read it: ``partly_denied``."""
    return label.replace(",", "").replace(" ", "_")


class LabelConcern(StrEnum):
    """Who must act on a claim; it decides the color of its label."""

    ACT = "act"
    """The biller must act."""
    LATE = "late"
    """Late or unsure: look."""
    WAIT = "wait"
    """On its way."""
    GOOD = "good"
    """Money agreed."""
    DONE = "done"
    """Closed, nothing to do."""


CONCERNS: dict[ClaimLabel, LabelConcern] = {
    ClaimLabel.RECEIVED: LabelConcern.WAIT,
    ClaimLabel.HELD: LabelConcern.DONE,
    ClaimLabel.CANCELED: LabelConcern.DONE,
    ClaimLabel.SENT: LabelConcern.WAIT,
    ClaimLabel.ACCEPTED: LabelConcern.WAIT,
    ClaimLabel.IN_PROCESS: LabelConcern.WAIT,
    ClaimLabel.NOT_ACCEPTED: LabelConcern.ACT,
    ClaimLabel.REJECTED: LabelConcern.ACT,
    ClaimLabel.TO_RESEND: LabelConcern.WAIT,
    ClaimLabel.WANTS_RECORDS: LabelConcern.ACT,
    ClaimLabel.PREDETERMINED: LabelConcern.DONE,
    ClaimLabel.TAKEN_BACK: LabelConcern.ACT,
    ClaimLabel.FORWARDED: LabelConcern.WAIT,
    ClaimLabel.DENIED: LabelConcern.ACT,
    ClaimLabel.PARTLY_DENIED: LabelConcern.ACT,
    ClaimLabel.PATIENT_OWES: LabelConcern.GOOD,
    ClaimLabel.NOTHING_DUE: LabelConcern.DONE,
    ClaimLabel.VOIDED: LabelConcern.DONE,
    ClaimLabel.REPLACED: LabelConcern.DONE,
    ClaimLabel.PAID: LabelConcern.GOOD,
    ClaimLabel.PAID_DIFFERS: LabelConcern.LATE,
}

WITHOUT_PAYMENT: dict[ClaimState, ClaimLabel] = {
    ClaimState.RECEIVED: ClaimLabel.RECEIVED,
    ClaimState.HELD: ClaimLabel.HELD,
    ClaimState.CANCELED: ClaimLabel.CANCELED,
    ClaimState.SENT: ClaimLabel.SENT,
    ClaimState.ACKNOWLEDGED: ClaimLabel.ACCEPTED,
    ClaimState.PENDING: ClaimLabel.IN_PROCESS,
    ClaimState.REJECTED: ClaimLabel.REJECTED,
    ClaimState.COMPLETE: ClaimLabel.PAID,
}
BY_OUTCOME: dict[Outcome, ClaimLabel] = {
    Outcome.PREDETERMINED: ClaimLabel.PREDETERMINED,
    Outcome.TAKEN_BACK: ClaimLabel.TAKEN_BACK,
    Outcome.FORWARDED: ClaimLabel.FORWARDED,
    Outcome.DENIED: ClaimLabel.DENIED,
    Outcome.PARTLY_DENIED: ClaimLabel.PARTLY_DENIED,
    Outcome.PATIENT_OWES: ClaimLabel.PATIENT_OWES,
    Outcome.NOTHING_DUE: ClaimLabel.NOTHING_DUE,
    Outcome.VOIDED: ClaimLabel.VOIDED,
    Outcome.REPLACED: ClaimLabel.REPLACED,
    Outcome.PAID: ClaimLabel.PAID,
}
BY_CLOSING: dict[ClaimClosing, Outcome] = {
    ClaimClosing.VOIDED: Outcome.VOIDED,
    ClaimClosing.REPLACED: Outcome.REPLACED,
}
RECORDS_WANTED = "R"
"""The first letter of the status categories by which a payer asks for records (STC01-1)."""
OPEN_STATES = frozenset({ClaimState.SENT, ClaimState.ACKNOWLEDGED, ClaimState.PENDING})


def label_claim(
    status: LifecycleStatus,
    *,
    outcome: Outcome | None,
    balanced: bool = True,
) -> ClaimLabel:
    """Return the label of a claim: its state, the outcome of the payment that counts, and whether that balances.

    A rejection takes precedence over a payment, and a payment over the statuses that came before it. A claim that was
    voided or replaced, and a void that was carried out, are closed whatever the payer wrote, because they need no action.
    """
    if status.state is ClaimState.REJECTED:
        return ClaimLabel.TO_RESEND if status.file_refused else ClaimLabel.REJECTED
    if status.closing is not None:
        outcome = BY_CLOSING[status.closing]
    if outcome is not None:
        label = BY_OUTCOME[outcome]
        return ClaimLabel.PAID_DIFFERS if label is ClaimLabel.PAID and not balanced else label
    if status.state in OPEN_STATES and status.status_category.startswith(RECORDS_WANTED):
        return ClaimLabel.WANTS_RECORDS
    return WITHOUT_PAYMENT[status.state]


def claim_outcome(status: LifecycleStatus, counting: ClaimPaymentFact | None) -> Outcome | None:
    """Return what became of a claim in the payment that counts; None before any.

    What was paid and then forwarded is forwarded: the money is in the amounts.
    """
    if status.closing is not None:
        return BY_CLOSING[status.closing]
    if counting is None:
        return None
    forwarded = counting.outcome is Outcome.PAID and is_forwarded(counting.status_code)
    return Outcome.FORWARDED if forwarded else counting.outcome
