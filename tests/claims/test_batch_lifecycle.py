"""The lifecycle of a batch: which events can happen in which state, and what follows."""

import pytest

from clearlane.claims.batch_lifecycle import (
    INITIAL_STATE,
    NEXT,
    BatchEvent,
    BatchEventNotAllowed,
    BatchState,
    allows,
    next_state,
    states_that_allow,
)

_ = None
EXPECTED = {
    # event: after Ready, Sending, InDoubt, Delivered; None where it cannot happen
    BatchEvent.REROUTED: ("ready", _, _, _),
    BatchEvent.ATTEMPTED: ("sending", "sending", _, _),
    BatchEvent.NOT_ARRIVED: (_, "ready", _, _),
    BatchEvent.MAY_HAVE_ARRIVED: (_, "sending", _, _),
    BatchEvent.CANNOT_BE_KNOWN: (_, "in_doubt", _, _),
    BatchEvent.RESTORED: ("in_doubt", "in_doubt", _, _),
    BatchEvent.RESENT: ("ready", "ready", "ready", _),
    BatchEvent.DELIVERED: ("delivered", "delivered", "delivered", _),
}


def test_the_table_is_as_expected():
    assert {
        event: tuple(NEXT.get((state, event)) for state in BatchState) for event in BatchEvent
    } == EXPECTED


@pytest.mark.parametrize("event", BatchEvent)
def test_an_event_moves_a_batch_or_is_refused(event):
    for state, expected in zip(BatchState, EXPECTED[event], strict=True):
        assert allows(state, event) is (expected is not None)
        assert (state in states_that_allow(event)) is (expected is not None)
        if expected is not None:
            assert next_state(state, event) is BatchState(expected)
            continue
        with pytest.raises(BatchEventNotAllowed, match=f"{state} cannot be {event.name}"):
            next_state(state, event)


def test_every_state_can_be_reached():
    reached = {INITIAL_STATE}
    for _state in BatchState:
        reached |= {after for (before, _event), after in NEXT.items() if before in reached}
    assert reached == set(BatchState)


def test_a_delivered_batch_never_changes_again():
    assert not any(allows(BatchState.DELIVERED, event) for event in BatchEvent)


def test_a_batch_in_doubt_is_not_sent_by_itself():
    assert not allows(BatchState.IN_DOUBT, BatchEvent.ATTEMPTED)
    assert {event for event in BatchEvent if allows(BatchState.IN_DOUBT, event)} == {
        BatchEvent.RESENT,
        BatchEvent.DELIVERED,
    }
