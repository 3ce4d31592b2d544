"""What a claim is called, by its state and its payment."""

import pytest

from clearlane.claims.lifecycle import ClaimClosing, ClaimState, LifecycleStatus
from clearlane.payments.outcome import Outcome
from clearlane.pipeline.claim_label import (
    BY_OUTCOME,
    CONCERNS,
    WITHOUT_PAYMENT,
    ClaimLabel,
    LabelConcern,
    claim_outcome,
    label_claim,
)


def test_every_state_outcome_and_label_has_its_row():
    assert WITHOUT_PAYMENT.keys() == set(ClaimState)
    assert BY_OUTCOME.keys() == set(Outcome)
    assert CONCERNS.keys() == set(ClaimLabel)


@pytest.mark.parametrize(
    ("state", "category", "outcome", "balanced", "label"),
    [
        (ClaimState.RECEIVED, "", None, True, ClaimLabel.RECEIVED),
        (ClaimState.ACKNOWLEDGED, "A2", None, True, ClaimLabel.ACCEPTED),
        (ClaimState.PENDING, "P2", None, True, ClaimLabel.IN_PROCESS),
        (ClaimState.PENDING, "R4", None, True, ClaimLabel.WANTS_RECORDS),
        (ClaimState.REJECTED, "A7", None, True, ClaimLabel.REJECTED),
        (ClaimState.REJECTED, "A7", Outcome.PAID, True, ClaimLabel.REJECTED),
        (ClaimState.COMPLETE, "R4", Outcome.PAID, True, ClaimLabel.PAID),
        (ClaimState.COMPLETE, "", Outcome.PAID, False, ClaimLabel.PAID_DIFFERS),
        (ClaimState.COMPLETE, "", Outcome.DENIED, False, ClaimLabel.DENIED),
        (ClaimState.PENDING, "", Outcome.TAKEN_BACK, True, ClaimLabel.TAKEN_BACK),
    ],
)
def test_a_rejection_stands_before_a_payment_and_a_payment_before_statuses(
    state, category, outcome, balanced, label
):
    status = LifecycleStatus(state=state, status_category=category)
    assert label_claim(status, outcome=outcome, balanced=balanced) is label


@pytest.mark.parametrize("outcome", [None, Outcome.DENIED, Outcome.TAKEN_BACK])
def test_what_was_voided_or_replaced_asks_nobody(outcome):
    for closing in ClaimClosing:
        status = LifecycleStatus(state=ClaimState.COMPLETE, closing=closing)
        label = label_claim(status, outcome=outcome)
        assert (label, CONCERNS[label]) == (closing.value, LabelConcern.DONE)
        assert claim_outcome(status, None) == closing.value
