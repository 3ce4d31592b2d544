"""The life of an enrollment with a payer."""

import re
from datetime import date
from pathlib import Path

import pytest

from clearlane.enrollment.lifecycle import (
    INITIAL_STATE,
    NEXT,
    EnrollmentEvent,
    EnrollmentProgress,
    EnrollmentState,
    RecordedEvent,
    current_states,
    replay,
)


def test_the_table_names_every_state_and_event():
    assert {state for state, _ in NEXT} == set(EnrollmentState)
    assert {event for _, event in NEXT} == set(EnrollmentEvent)


def test_every_state_can_be_reached():
    reached = {INITIAL_STATE}
    for _ in EnrollmentState:
        reached |= {after for (before, _), after in NEXT.items() if before in reached}
    assert reached == set(EnrollmentState)


def test_nothing_returns_to_the_first_state():
    assert INITIAL_STATE not in NEXT.values()


@pytest.mark.parametrize("event", EnrollmentEvent)
def test_the_same_event_twice_changes_nothing(event):
    for (_, of), after in NEXT.items():
        if of is event:
            assert NEXT[after, event] is after


def test_an_approved_enrollment_is_not_taken_up_again():
    assert (EnrollmentState.APPROVED, EnrollmentEvent.START) not in NEXT


def test_nobody_has_acted_means_the_first_state():
    assert current_states([]) == {EnrollmentState.SUBMITTED}
    assert current_states([EnrollmentState.APPROVED, EnrollmentState.REFUSED]) == {
        EnrollmentState.APPROVED,
        EnrollmentState.REFUSED,
    }


def test_the_operators_page_matches_the_table():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "enrollment.md"
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", page.read_text(), re.MULTILINE
    )
    (_, *names), *lines = rows
    events = [EnrollmentEvent(name.strip("`")) for name in names]
    documented = {
        (EnrollmentState(state), event): cell.partition(":")[0]
        for state, *cells in lines
        for event, cell in zip(events, cells, strict=True)
    }
    assert documented == {
        (state, event): NEXT.get((state, event), "does not apply")
        for state in EnrollmentState
        for event in EnrollmentEvent
    }


def test_an_event_that_changes_nothing_leaves_the_day_as_it_was():
    first, later = date(2026, 3, 1), date(2026, 4, 1)
    approved = [RecordedEvent(7, EnrollmentEvent.APPROVE.value, first)]
    assert replay(5, approved) == EnrollmentProgress(EnrollmentState.APPROVED, 7, first)
    again = [*approved, RecordedEvent(9, EnrollmentEvent.APPROVE.value, later)]
    progress = replay(5, again)
    assert progress == EnrollmentProgress(EnrollmentState.APPROVED, 7, later)
    assert not progress.is_live(first)
    assert progress.is_live(later)
    ended = replay(5, [*again, RecordedEvent(11, EnrollmentEvent.END.value)])
    assert ended == EnrollmentProgress(EnrollmentState.ENDED, 11)
    assert not ended.is_live(later)
