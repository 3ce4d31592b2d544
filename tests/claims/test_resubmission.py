"""What a vendor's claim id sent again means, as the interface decisions say."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from clearlane.claims.claim_subject import SubjectComparison
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
    plan_another_claim,
    plan_correction,
)
from tests.cases import every_case

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
REPEATED, IN_USE, SUCCESSOR, ANOTHER, CODE_MISSING, UNDECIDED = ResubmissionDecision
TIMES = ResubmissionTimes(
    repeated_since=NOW - timedelta(hours=24), silent_since=NOW - timedelta(days=30)
)
UNSENT = (ClaimState.RECEIVED, ClaimState.HELD)
ON_ITS_WAY = (ClaimState.SENT, ClaimState.ACKNOWLEDGED, ClaimState.PENDING)


def decide(
    state, *, same, frequency="1", hours=48, silent_days=1, paid=0, patient=0, compared=None,
    asked=False,
):  # fmt: skip
    earlier = EarlierClaim(
        state=state,
        accepted_at=NOW - timedelta(hours=hours),
        last_word_at=NOW - timedelta(days=silent_days),
        paid_cents=paid,
        patient_cents=patient,
    )
    return decide_resubmission(
        earlier, same_content=same, frequency=frequency, times=TIMES, compared=compared,
        is_correction=asked,
    )  # fmt: skip


DUE = ({"paid": 1}, {"patient": 1}, {"paid": 1, "patient": 1})
"""What a payer paid, or left to the patient."""
OTHERS = [{f"same_{name}": False} for name in ("payer", "insured", "patient", "purpose")]
OTHER_DAY = SubjectComparison(common_day=False)
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
    # Interim bills and late charges are claims of their own; a reopening is a replacement.
    *((state, {"same": False, "frequency": f}, ANOTHER) for state in (*ON_ITS_WAY, *UNSENT, ClaimState.COMPLETE) for f in "2345"),
    *((state, {"same": True, "frequency": "3"}, REPEATED) for state in ON_ITS_WAY),
    *((state, {"same": False, "frequency": "Q"}, SUCCESSOR) for state in (*ON_ITS_WAY, ClaimState.COMPLETE)),
    # Complete, the same content: repeated if paid or left to the patient, else within a day.
    *((ClaimState.COMPLETE, {"same": True, "hours": 9_000, **due}, REPEATED) for due in DUE),
    (ClaimState.COMPLETE, {"same": True, "hours": 23}, REPEATED),
    (ClaimState.COMPLETE, {"same": True, "hours": 24}, SUCCESSOR),
    # Complete, with a resubmission code: a new claim, whatever was paid, without a comparison.
    *((ClaimState.COMPLETE, {"same": False, "frequency": f, **due}, SUCCESSOR) for due in ({}, *DUE) for f in "78"),
    # Complete, other content, no code: both must be compared.
    *((ClaimState.COMPLETE, {"same": False, **due}, UNDECIDED) for due in ({}, *DUE)),
    # Nothing paid, nothing left to the patient, a day in common: a corrected claim, whatever else differs.
    *((ClaimState.COMPLETE, {"same": False, "compared": SubjectComparison(**own)}, SUCCESSOR) for own in ({}, *OTHERS)),
    # No day in common: another claim, whatever was paid.
    *((ClaimState.COMPLETE, {"same": False, "compared": OTHER_DAY, **due}, ANOTHER) for due in ({}, *DUE)),
    # Paid or left to the patient: another claim for another payer, insured, patient or purpose.
    *((ClaimState.COMPLETE, {"same": False, "compared": SubjectComparison(**own), **due}, ANOTHER) for own in OTHERS for due in DUE),
    # Else refused: it would be a replacement that nobody asked for.
    *((ClaimState.COMPLETE, {"same": False, "compared": SubjectComparison(), **due}, CODE_MISSING) for due in DUE),
    # A person or a v1 call that names the claim asks for its replacement, for the same payer, insured and patient.
    *((ClaimState.COMPLETE, {"same": False, "asked": True, "compared": one, **due}, SUCCESSOR) for one in (SubjectComparison(), OTHER_DAY) for due in ({}, *DUE)),
    *((ClaimState.COMPLETE, {"same": False, "asked": True, "compared": SubjectComparison(**own), **due}, ANOTHER) for own in OTHERS[:3] for due in DUE),
    (ClaimState.COMPLETE, {"same": False, "asked": True, "compared": SubjectComparison(same_payer=False)}, SUCCESSOR),
    # No word from the payer for thirty days: sent again is a new claim.
    *((state, {"same": same, "silent_days": 30}, SUCCESSOR) for state in ON_ITS_WAY for same in (True, False)),
    *((state, {"same": True, "silent_days": 29}, REPEATED) for state in ON_ITS_WAY),
    (ClaimState.RECEIVED, {"same": False, "silent_days": 90}, IN_USE),
    (ClaimState.RECEIVED, {"same": True, "silent_days": 90}, REPEATED),
]  # fmt: skip


@every_case(("state", "sent", "decision"), CASES)
def test_a_claim_id_sent_again(state, sent, decision):
    assert decide(state, **sent) is decision


def numbers(frequency="1", number="", payer="P1", insured="M1", predetermination=False):
    return CorrectionNumbers(
        frequency=frequency,
        payer_number=number,
        payer_id=payer,
        insured=insured,
        is_predetermination=predetermination,
    )


def predecessor(state, number="", silent=False, **own):
    return PredecessorClaim(
        claim_number="C1",
        state=state,
        is_silent=silent,
        payer_number=number,
        numbers=numbers(**own),
    )


DENIED = predecessor(ClaimState.COMPLETE, "X1")
UNPROCESSABLE = replace(DENIED, is_unprocessable=True)
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
    (numbers(), UNPROCESSABLE, ("1", "")),
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
    (numbers(predetermination=True), DENIED, ("1", "")),
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


@every_case(
    ("sent", "asked", "out"),
    [
        (numbers("7"), False, ("7", "X0")),
        (numbers(), True, ("7", "X0")),
        (numbers(), False, ("1", "")),
    ],
)
def test_a_refused_replacement_stays_one_if_that_is_asked_for(sent, asked, out):
    refused = replace(REJECTED, numbers=numbers("7", "X0"))
    correction = plan_correction(sent, refused, replacements="accepted", is_correction=asked)
    assert (correction.frequency, correction.payer_number) == out


@every_case(
    "before", [replace(LOST, payer_number="X1"), replace(DENIED, numbers=numbers("8", "X0"))]
)
def test_nothing_but_a_decided_claim_is_replaced_unasked(before):
    correction = plan_correction(numbers(), before, replacements="accepted")
    assert (correction.frequency, correction.payer_number) == ("1", "")


@every_case(
    ("compared", "said"),
    [
        (OTHER_DAY, "No service day is in common: it goes out as a new claim (frequency 1), and C1"),
        (SubjectComparison(same_insured=False, same_patient=False), "The insured and the patient differ:"),
        (SubjectComparison(same_payer=False, common_day=False), "The payer differs, and no service day is"),
        (SubjectComparison(same_payer=False), "billed to another payer in C1: it goes out as a new claim"),
        (SubjectComparison(same_payer=False, is_secondary=True), "It is secondary to C1, as it carries"),
        # A decision on other services, or by the same payer on the same policy, makes no secondary claim.
        (replace(OTHER_DAY, is_secondary=True), "No service day is in common"),
        (replace(OTHER_DAY, is_secondary=True, same_payer=False), "no service day is in common"),
        (SubjectComparison(same_insured=False, is_secondary=True), "It is secondary to C1"),
    ],
)  # fmt: skip
def test_another_claim_under_an_id_goes_out_as_a_new_one(compared, said):
    correction = plan_another_claim(numbers(), compared, "C1", ClaimState.COMPLETE)
    assert correction.frequency == "1"
    assert said in correction.reason
    assert correction.reason.endswith("C1 stays Complete.")


@pytest.mark.parametrize("sent", [numbers("7", "MINE"), numbers("7"), numbers()])
def test_a_payer_of_originals_only_gets_new_claims(sent):
    correction = plan_correction(sent, DENIED, replacements=ORIGINAL_ONLY)
    assert (correction.frequency, correction.payer_number) == ("1", "")
    assert not needs_predecessor(sent, ORIGINAL_ONLY)
    assert "takes no replacements" in correction.reason
