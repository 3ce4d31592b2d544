"""The life of an enrollment with a payer."""

import re
from pathlib import Path

import pytest

from clearlane.enrollment.lifecycle import FIRST, NEXT, Event, State, states_of


def test_the_table_names_every_state_and_event():
    assert {state for state, _ in NEXT} == set(State)
    assert {event for _, event in NEXT} == set(Event)


def test_every_state_can_be_reached():
    reached = {FIRST}
    for _ in State:
        reached |= {after for (before, _), after in NEXT.items() if before in reached}
    assert reached == set(State)


def test_nothing_returns_to_the_first_state():
    assert FIRST not in NEXT.values()


@pytest.mark.parametrize("event", Event)
def test_the_same_said_twice_changes_nothing(event):
    for (_, of), after in NEXT.items():
        if of is event:
            assert NEXT[after, event] is after


def test_an_approved_enrollment_is_not_taken_up_again():
    assert (State.APPROVED, Event.START) not in NEXT


def test_nobody_has_acted_means_the_first_state():
    assert states_of([]) == {State.SUBMITTED}
    assert states_of([State.APPROVED, State.REFUSED]) == {State.APPROVED, State.REFUSED}


def test_the_operators_page_tells_the_table():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "enrollment.md"
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", page.read_text(), re.MULTILINE)
    (_, *names), *lines = rows
    events = [Event(name.strip("`")) for name in names]
    told = {
        (State(state), event): cell.partition(":")[0]
        for state, *cells in lines
        for event, cell in zip(events, cells, strict=True)
    }
    assert told == {
        (state, event): NEXT.get((state, event), "does not apply")
        for state in State
        for event in Event
    }
