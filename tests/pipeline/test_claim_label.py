"""What a claim is called, by its state and its payment."""

from types import SimpleNamespace

import pytest

from clearlane.claims.lifecycle import ClaimClosing, ClaimState, LifecycleStatus
from clearlane.kernel.claim_label import CONCERNS, ClaimLabel, LabelConcern
from clearlane.pipeline.claim_label import WITHOUT_PAYMENT, label_claim


def test_every_state_and_label_has_its_row():
    assert WITHOUT_PAYMENT.keys() == set(ClaimState)
    assert CONCERNS.keys() == set(ClaimLabel)


@pytest.mark.parametrize(
    ("state", "category", "paid", "balanced", "label"),
    [
        (ClaimState.RECEIVED, "", None, True, ClaimLabel.RECEIVED),
        (ClaimState.ACKNOWLEDGED, "A2", None, True, ClaimLabel.ACCEPTED),
        (ClaimState.PENDING, "P2", None, True, ClaimLabel.IN_PROCESS),
        (ClaimState.PENDING, "R4", None, True, ClaimLabel.WANTS_RECORDS),
        (ClaimState.REJECTED, "A7", None, True, ClaimLabel.REJECTED),
        (ClaimState.REJECTED, "A7", ClaimLabel.PAID, True, ClaimLabel.REJECTED),
        (ClaimState.COMPLETE, "R4", ClaimLabel.PAID, True, ClaimLabel.PAID),
        (ClaimState.COMPLETE, "", ClaimLabel.PAID, False, ClaimLabel.PAID_DIFFERS),
        (ClaimState.COMPLETE, "", ClaimLabel.DENIED, False, ClaimLabel.DENIED),
        (ClaimState.PENDING, "", ClaimLabel.TAKEN_BACK, True, ClaimLabel.TAKEN_BACK),
    ],
)
def test_a_rejection_stands_before_a_payment_and_a_payment_before_statuses(
    state, category, paid, balanced, label
):
    status = LifecycleStatus(state=state, status_category=category)
    counting = SimpleNamespace(label=paid, balanced=balanced) if paid else None
    assert label_claim(status, counting) is label


@pytest.mark.parametrize("paid", [None, ClaimLabel.DENIED, ClaimLabel.TAKEN_BACK])
def test_what_was_voided_or_replaced_asks_nobody(paid):
    for closing in ClaimClosing:
        status = LifecycleStatus(state=ClaimState.COMPLETE, closing=closing)
        label = label_claim(status, SimpleNamespace(label=paid, balanced=True) if paid else None)
        assert (label, CONCERNS[label]) == (closing.value, LabelConcern.DONE)
