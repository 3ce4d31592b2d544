"""What a vendor's claim id sent again means, as the interface decisions say."""

from datetime import UTC, datetime, timedelta

import pytest

from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.resubmission import (
    EarlierClaim,
    ResubmissionDecision,
    ResubmissionTimes,
    decide_resubmission,
)

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
REPEATED, IN_USE, SUCCESSOR = (
    ResubmissionDecision.REPEATED_REQUEST,
    ResubmissionDecision.ID_IN_USE,
    ResubmissionDecision.SUCCESSOR,
)
TIMES = ResubmissionTimes(
    repeated_since=NOW - timedelta(hours=24), silent_since=NOW - timedelta(days=30)
)
ON_ITS_WAY = (ClaimState.SENT, ClaimState.ACKNOWLEDGED, ClaimState.PENDING)


def decide(state, *, same, frequency="1", hours=48, silent_days=1, paid=0):
    earlier = EarlierClaim(
        state=state,
        accepted_at=NOW - timedelta(hours=hours),
        last_word_at=NOW - timedelta(days=silent_days),
        paid_cents=paid,
    )
    return decide_resubmission(earlier, same_content=same, frequency=frequency, times=TIMES)


CASES = [
    # On its way: the same content is a repeated request, other content is refused.
    *((state, {"same": True}, REPEATED) for state in (ClaimState.RECEIVED, *ON_ITS_WAY)),
    *((state, {"same": False}, IN_USE) for state in (ClaimState.RECEIVED, *ON_ITS_WAY)),
    # Rejected: a new claim, whatever the content.
    *((ClaimState.REJECTED, {"same": same}, SUCCESSOR) for same in (True, False)),
    # A replacement or void is a new claim once the earlier one was delivered; the same one again is repeated.
    *((state, {"same": False, "frequency": f}, SUCCESSOR) for state in ON_ITS_WAY for f in "78"),
    *((state, {"same": True, "frequency": f}, REPEATED) for state in ON_ITS_WAY for f in "78"),
    *((ClaimState.RECEIVED, {"same": False, "frequency": f}, IN_USE) for f in "78"),
    (ClaimState.SENT, {"same": False, "frequency": "6"}, IN_USE),
    # Complete: other content is a new claim; the same is repeated where paid, or unpaid within a day.
    (ClaimState.COMPLETE, {"same": False}, SUCCESSOR),
    (ClaimState.COMPLETE, {"same": False, "paid": 1}, SUCCESSOR),
    (ClaimState.COMPLETE, {"same": True, "paid": 1, "hours": 9_000}, REPEATED),
    (ClaimState.COMPLETE, {"same": True, "hours": 23}, REPEATED),
    (ClaimState.COMPLETE, {"same": True, "hours": 24}, SUCCESSOR),
    # No word from the payer for thirty days: sent again is a new claim.
    *((state, {"same": same, "silent_days": 30}, SUCCESSOR) for state in ON_ITS_WAY for same in (True, False)),
    *((state, {"same": True, "silent_days": 29}, REPEATED) for state in ON_ITS_WAY),
    (ClaimState.RECEIVED, {"same": False, "silent_days": 90}, IN_USE),
    (ClaimState.RECEIVED, {"same": True, "silent_days": 90}, REPEATED),
]  # fmt: skip


@pytest.mark.parametrize(("state", "sent", "decision"), CASES)
def test_a_claim_id_sent_again(state, sent, decision):
    assert decide(state, **sent) is decision
