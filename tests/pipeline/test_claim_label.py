"""What a claim is called, by its state and its payment."""

import pytest

from clearlane.claims.lifecycle import ClaimState, LifecycleStatus
from clearlane.payments.outcome import Outcome
from clearlane.pipeline.claim_label import (
    BY_OUTCOME,
    CONCERNS,
    WITHOUT_PAYMENT,
    ClaimLabel,
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


def test_a_void_that_pays_nothing_did_what_was_asked():
    status = LifecycleStatus(state=ClaimState.COMPLETE, status_category="")
    for outcome, label in (
        (Outcome.DENIED, ClaimLabel.NOTHING_DUE),
        (Outcome.PAID, ClaimLabel.PAID),
    ):
        assert label_claim(status, outcome=outcome, is_void=True) is label
