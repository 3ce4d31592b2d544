"""Decide what a claim is called: one label for its state and its payment.

    label_claim(status, counting)          # ClaimLabel.DENIED

A label is stored with the claim whenever facts are recorded, so that lists find claims by it. The lists of reasons that
make a denial are in ``payments.claim_payment_label``.
"""

from datetime import datetime, timedelta

from clearlane.claims.claim_filters import OPEN_LABELS
from clearlane.claims.lifecycle import ClaimClosing, ClaimState, LifecycleStatus
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import from_micros
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.answer_days import UsualDays
from clearlane.store.claims.claim_query import ClaimListRow

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
BY_CLOSING: dict[ClaimClosing, ClaimLabel] = {
    ClaimClosing.VOIDED: ClaimLabel.VOIDED,
    ClaimClosing.REPLACED: ClaimLabel.REPLACED,
}
RECORDS_WANTED = "R"
"""The first letter of the status categories by which a payer asks for records (STC01-1)."""
OPEN_STATES = frozenset({ClaimState.SENT, ClaimState.ACKNOWLEDGED, ClaimState.PENDING})


def label_claim(status: LifecycleStatus, counting: ClaimPaymentFact | None) -> ClaimLabel:
    """Return the label of a claim: its state, the label of the payment that counts, and whether that balances.

    A rejection takes precedence over a payment, and a payment over the statuses that came before it. A claim that was
    voided or replaced, and a void that was carried out, are closed whatever the payer wrote, because they need no action.
    """
    if status.state is ClaimState.REJECTED:
        return ClaimLabel.TO_RESEND if status.file_refused else ClaimLabel.REJECTED
    if status.closing is not None:
        return BY_CLOSING[status.closing]
    if counting is not None:
        differs = counting.label is ClaimLabel.PAID and not counting.balanced
        return ClaimLabel.PAID_DIFFERS if differs else counting.label
    if status.state in OPEN_STATES and status.status_category.startswith(RECORDS_WANTED):
        return ClaimLabel.WANTS_RECORDS
    return WITHOUT_PAYMENT[status.state]


def is_unanswered(row: ClaimListRow, now: datetime, usual: UsualDays) -> bool:
    """Return whether the payer of a claim has been silent for longer than is usual."""
    late = now - timedelta(days=usual.of(row.kind, row.payer_id))
    return row.label in OPEN_LABELS and from_micros(row.updated_at) < late


def shown_label(label: ClaimLabel, *, no_answer: bool, is_replaced: bool) -> ClaimLabel:
    """Return the label that people and programs see of a claim.

    A claim that another took over from is replaced, unless it was voided. One whose payer is silent says so.
    """
    if is_replaced and label is not ClaimLabel.VOIDED:
        return ClaimLabel.REPLACED
    return ClaimLabel.NO_ANSWER if no_answer else label
