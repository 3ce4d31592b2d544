"""What a vendor's claim id sent again means, as the interface decisions say."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.resubmission import (
    ORIGINAL_ONLY,
    CorrectionNumbers,
    EarlierClaim,
    PredecessorClaim,
    ResubmissionDecision,
    ResubmissionTimes,
    decide_resubmission,
    needs_predecessor,
    plan_correction,
)
from tests.cases import every_case

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
REPEATED, IN_USE, SUCCESSOR = (
    ResubmissionDecision.REPEATED_REQUEST,
    ResubmissionDecision.ID_IN_USE,
    ResubmissionDecision.SUCCESSOR,
)
TIMES = ResubmissionTimes(
    repeated_since=NOW - timedelta(hours=24), silent_since=NOW - timedelta(days=30)
)
UNSENT = (ClaimState.RECEIVED, ClaimState.HELD)
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
    *((state, {"same": True}, REPEATED) for state in (*UNSENT, *ON_ITS_WAY)),
    *((state, {"same": False}, IN_USE) for state in (*UNSENT, *ON_ITS_WAY)),
    # Rejected or canceled: a new claim, whatever the content.
    *((ClaimState.REJECTED, {"same": same}, SUCCESSOR) for same in (True, False)),
    *((ClaimState.CANCELED, {"same": same}, SUCCESSOR) for same in (True, False)),
    # A replacement or void is a new claim once the earlier one was delivered; the same one again is repeated.
    *((state, {"same": False, "frequency": f}, SUCCESSOR) for state in ON_ITS_WAY for f in "78"),
    *((state, {"same": True, "frequency": f}, REPEATED) for state in ON_ITS_WAY for f in "78"),
    *((state, {"same": False, "frequency": f}, IN_USE) for state in UNSENT for f in "78"),
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


@every_case(("state", "sent", "decision"), CASES)
def test_a_claim_id_sent_again(state, sent, decision):
    assert decide(state, **sent) is decision


def numbers(frequency="1", number="", payer="P1", insured="M1", purpose=""):
    return CorrectionNumbers(
        frequency=frequency, payer_number=number, payer_id=payer, insured=insured, purpose=purpose
    )


def predecessor(state, number="", silent=False, **own):
    return PredecessorClaim(
        request_id="C1", state=state, is_silent=silent, payer_number=number, numbers=numbers(**own)
    )


DENIED = predecessor(ClaimState.COMPLETE, "X1")
REJECTED = predecessor(ClaimState.REJECTED, "X9")
LOST = predecessor(ClaimState.SENT, silent=True)
SENT = predecessor(ClaimState.SENT)
ACKNOWLEDGED = predecessor(ClaimState.ACKNOWLEDGED, "X1")
OUT = [
    # As sent, before, how it goes out: None as it is.
    (numbers(), None, None),
    (numbers("7"), None, None),
    (numbers("7", "MINE"), DENIED, None),
    (numbers("8", "MINE"), REJECTED, None),
    (numbers("6"), DENIED, None),
    # No number at the payer: a new claim.
    (numbers(), REJECTED, ("1", "")),
    (numbers(), LOST, ("1", "")),
    (numbers("7"), REJECTED, ("1", "")),
    (numbers("7"), LOST, ("1", "")),
    # A number at the payer: a replacement or void of it.
    (numbers(), DENIED, ("7", "X1")),
    (numbers("1", "MINE"), DENIED, ("7", "MINE")),
    (numbers("7"), DENIED, ("7", "X1")),
    (numbers("8"), DENIED, ("8", "X1")),
    (numbers("7"), ACKNOWLEDGED, ("7", "X1")),
    # What the payer may still have, and what it cannot take back, is left to the rules.
    (numbers("7"), SENT, None),
    (numbers("8"), REJECTED, None),
    (numbers("8"), LOST, None),
    # Another payer, insured or purpose: a new claim.
    (numbers(payer="P2"), DENIED, ("1", "")),
    (numbers(insured="M2"), DENIED, ("1", "")),
    (numbers(purpose="PB"), DENIED, ("1", "")),
    (numbers("7", payer="P2"), DENIED, None),
]


@every_case(("sent", "before", "out"), OUT)
def test_how_a_correction_goes_out(sent, before, out):
    correction = plan_correction(sent, before, replacements="accepted")
    assert (correction and (correction.frequency, correction.payer_number)) == out
    assert correction is None or correction.reason.endswith(".")
    assert correction is None or "X1" not in f"{correction} {correction.reason}"


def test_a_person_may_decide_that_it_goes_out_as_a_new_claim():
    for before in (DENIED, REJECTED, ACKNOWLEDGED):
        correction = plan_correction(numbers(), before, replacements="accepted", chosen="1")
        assert (correction.frequency, correction.payer_number) == ("1", "")


def test_a_refused_replacement_is_corrected_under_the_number_it_had():
    refused = replace(REJECTED, numbers=numbers("7", "X0"))
    for frequency in "17":
        correction = plan_correction(numbers(frequency), refused, replacements="accepted")
        assert (correction.frequency, correction.payer_number) == ("7", "X0")


@pytest.mark.parametrize("sent", [numbers("7", "MINE"), numbers("7"), numbers()])
def test_a_payer_of_originals_only_gets_new_claims(sent):
    correction = plan_correction(sent, DENIED, replacements=ORIGINAL_ONLY)
    assert (correction.frequency, correction.payer_number) == ("1", "")
    assert not needs_predecessor(sent, ORIGINAL_ONLY)
    assert "takes no replacements" in correction.reason
