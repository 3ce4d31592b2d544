"""Decide what a claim is called: one label for its state and its payment.

    label_claim(status, counting)          # ClaimLabel.DENIED

A label is stored with the claim whenever facts are recorded, so that lists find claims by it; that of a claim whose payer
does not answer, when a person is to look at it (``follow_up.overdue_claims``). The lists of reasons that
make a denial are in ``payments.claim_payment_label``.
"""

from clearlane.claims.lifecycle import ClaimClosing, ClaimState, LifecycleStatus
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payments.model import ClaimPaymentFact

WITHOUT_PAYMENT: dict[ClaimState, ClaimLabel] = {
    ClaimState.RECEIVED: ClaimLabel.RECEIVED,
    ClaimState.HELD: ClaimLabel.HELD,
    ClaimState.CANCELED: ClaimLabel.CANCELED,
    ClaimState.SENT: ClaimLabel.SENT,
    ClaimState.ACKNOWLEDGED: ClaimLabel.ACCEPTED,
    ClaimState.PENDING: ClaimLabel.IN_PROCESS,
    ClaimState.REJECTED: ClaimLabel.REJECTED,
    # Only a notice is complete without a payment, a void or a replacement.
    ClaimState.COMPLETE: ClaimLabel.NOTICE_ACCEPTED,
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


def shown_label(label: ClaimLabel, *, is_replaced: bool) -> ClaimLabel:
    """Return the label that people and programs see of a claim.

    A claim that another took over from is replaced, unless it was voided.
    """
    return ClaimLabel.REPLACED if is_replaced and label is not ClaimLabel.VOIDED else label
