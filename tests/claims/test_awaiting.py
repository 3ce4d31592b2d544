"""Every claim that is open awaits one thing, from someone; a closed one awaits nothing."""

from datetime import UTC, datetime

import pytest

from clearlane.claims.awaiting import (
    AWAITED_WORDS,
    BY_LABEL,
    SOURCES,
    Awaited,
    AwaitedFrom,
    AwaitedState,
    awaited_thing,
    first_awaited,
    is_of_draft,
)
from clearlane.claims.lifecycle import ClaimState, LifecycleStatus
from clearlane.kernel.claim_label import CONCERNS, ClaimLabel, LabelConcern
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.pipeline.claim_label import WITHOUT_PAYMENT

FRIDAY = datetime(2026, 7, 31, 9, 30, tzinfo=UTC)


def test_the_tables_speak_of_every_label_and_every_thing():
    assert BY_LABEL.keys() == set(ClaimLabel)
    assert SOURCES.keys() == AWAITED_WORDS.keys() == set(Awaited)
    # What the biller must act on, or is on its way, is open; what is closed awaits nothing.
    for label, concern in CONCERNS.items():
        if concern in {LabelConcern.ACT, LabelConcern.WAIT}:
            assert BY_LABEL[label], label
    closed = {ClaimState.COMPLETE, ClaimState.CANCELED}
    assert {state for state, label in WITHOUT_PAYMENT.items() if BY_LABEL[label] is None} == closed


@pytest.mark.parametrize(
    ("label", "category", "has_999", "awaited"),
    [
        (ClaimLabel.SENT, "", False, Awaited.ACK_999),
        (ClaimLabel.SENT, "", True, Awaited.ACK_277CA),
        (ClaimLabel.ACCEPTED, "A2", True, Awaited.DECISION),
        (ClaimLabel.IN_PROCESS, "P1", True, Awaited.DECISION),
        (ClaimLabel.IN_PROCESS, "F1", True, Awaited.PAYMENT),
        (ClaimLabel.PAID, "", True, None),
    ],
)
def test_the_last_fact_decides_between_two(label, category, has_999, awaited):
    status = LifecycleStatus(status_category=category)
    assert awaited_thing(label, status, has_999=has_999) is awaited


def test_a_forwarded_claim_awaits_the_next_payer_and_a_draft_outlasts_what_comes_after_it():
    assert SOURCES[BY_LABEL[ClaimLabel.FORWARDED]] is AwaitedFrom.NEXT_PAYER
    assert SOURCES[BY_LABEL[ClaimLabel.ACCEPTED]] is AwaitedFrom.PAYER
    kept = [is_of_draft(awaited, "secondary_claim") for awaited in (None, Awaited.CROSSOVER)]
    assert kept == [True, True]
    assert not is_of_draft(Awaited.DECISION, "secondary_claim")  # taken back
    assert not is_of_draft(None, "decision")


def test_a_claim_that_was_just_stored_is_to_leave_in_a_business_day():
    first = AwaitedState(**first_awaited("received", to_micros(FRIDAY)))
    assert (first.awaiting, first.awaited_since) == ("sending", to_micros(FRIDAY))
    assert from_micros(first.awaited_by) == FRIDAY.replace(month=8, day=3)
    assert AwaitedState(**first_awaited("held", 1)) == ("release", 1, None)
    assert AwaitedState(**first_awaited("shadow", 1)) == (None, None, None)
