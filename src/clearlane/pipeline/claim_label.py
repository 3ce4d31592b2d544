"""What a claim is called: one label for its state and its payment, and who must act.

    label_claim(status, outcome=Outcome.DENIED, balanced=True)          # ClaimLabel.DENIED

A label is stored with the claim whenever facts are recorded, so that lists find claims by it. Knows states and
outcomes; the lists of reasons that make a denial are in ``payments.outcome``.
"""

from enum import StrEnum

from clearlane.claims.lifecycle import ClaimState, LifecycleStatus
from clearlane.payments.outcome import Outcome


class ClaimLabel(StrEnum):
    """The label of a claim."""

    RECEIVED = "received"
    HELD = "held"
    CANCELED = "canceled"
    SENT = "sent"
    ACCEPTED = "accepted"
    IN_PROCESS = "in process"
    REJECTED = "rejected"
    WANTS_RECORDS = "wants records"
    PREDETERMINED = "predetermined"
    TAKEN_BACK = "taken back"
    FORWARDED = "forwarded"
    DENIED = "denied"
    PARTLY_DENIED = "partly denied"
    PATIENT_OWES = "patient owes"
    NOTHING_DUE = "nothing due"
    PAID = "paid"
    PAID_DIFFERS = "paid, differs"


class LabelConcern(StrEnum):
    """Who must act on a claim; it decides the colour of its label."""

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
    ClaimLabel.REJECTED: LabelConcern.ACT,
    ClaimLabel.WANTS_RECORDS: LabelConcern.ACT,
    ClaimLabel.PREDETERMINED: LabelConcern.DONE,
    ClaimLabel.TAKEN_BACK: LabelConcern.ACT,
    ClaimLabel.FORWARDED: LabelConcern.WAIT,
    ClaimLabel.DENIED: LabelConcern.ACT,
    ClaimLabel.PARTLY_DENIED: LabelConcern.ACT,
    ClaimLabel.PATIENT_OWES: LabelConcern.GOOD,
    ClaimLabel.NOTHING_DUE: LabelConcern.DONE,
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
    Outcome.PAID: ClaimLabel.PAID,
}
RECORDS_WANTED = "R"
"""The first letter of the status categories by which a payer asks for records (STC01-1)."""
OPEN_STATES = frozenset({ClaimState.SENT, ClaimState.ACKNOWLEDGED, ClaimState.PENDING})


def label_claim(
    status: LifecycleStatus,
    *,
    outcome: Outcome | None,
    balanced: bool = True,
    is_void: bool = False,
) -> ClaimLabel:
    """Return the label of a claim: its state, the outcome of the payment that counts, and whether that balances.

    A rejection stands before a payment, and a payment before the statuses that came on the way to it. A void that
    pays nothing did what was asked, whatever the reason that the payer writes with it: nobody need act.
    """
    if status.state is ClaimState.REJECTED:
        return ClaimLabel.REJECTED
    if outcome is Outcome.DENIED and is_void:
        return ClaimLabel.NOTHING_DUE
    if outcome is not None:
        label = BY_OUTCOME[outcome]
        return ClaimLabel.PAID_DIFFERS if label is ClaimLabel.PAID and not balanced else label
    if status.state in OPEN_STATES and status.status_category.startswith(RECORDS_WANTED):
        return ClaimLabel.WANTS_RECORDS
    return WITHOUT_PAYMENT[status.state]
