"""The lifecycle of an enrollment with one payer: a table of states and events.

Only payers for which an operator acted have a recorded state; all others are in the initial state. Knows no
payer, clock or database.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class EnrollmentState(StrEnum):
    """The state of an enrollment with one payer."""

    SUBMITTED = "submitted"
    IN_WORK = "in work"
    APPROVED = "approved"
    REFUSED = "refused"


class EnrollmentEvent(StrEnum):
    """An event that an operator records."""

    START = "start"
    APPROVE = "approve"
    REFUSE = "refuse"


INITIAL_STATE = EnrollmentState.SUBMITTED

NEXT: Mapping[tuple[EnrollmentState, EnrollmentEvent], EnrollmentState] = {
    (EnrollmentState.SUBMITTED, EnrollmentEvent.START): EnrollmentState.IN_WORK,
    (EnrollmentState.SUBMITTED, EnrollmentEvent.APPROVE): EnrollmentState.APPROVED,
    (EnrollmentState.SUBMITTED, EnrollmentEvent.REFUSE): EnrollmentState.REFUSED,
    (EnrollmentState.IN_WORK, EnrollmentEvent.START): EnrollmentState.IN_WORK,
    (EnrollmentState.IN_WORK, EnrollmentEvent.APPROVE): EnrollmentState.APPROVED,
    (EnrollmentState.IN_WORK, EnrollmentEvent.REFUSE): EnrollmentState.REFUSED,
    (EnrollmentState.APPROVED, EnrollmentEvent.APPROVE): EnrollmentState.APPROVED,
    (
        EnrollmentState.APPROVED,
        EnrollmentEvent.REFUSE,
    ): EnrollmentState.REFUSED,  # the payer ended the enrollment
    (
        EnrollmentState.REFUSED,
        EnrollmentEvent.START,
    ): EnrollmentState.IN_WORK,  # submitted to the payer again
    (
        EnrollmentState.REFUSED,
        EnrollmentEvent.APPROVE,
    ): EnrollmentState.APPROVED,  # the payer reversed its refusal
    (EnrollmentState.REFUSED, EnrollmentEvent.REFUSE): EnrollmentState.REFUSED,
}
"""The next state by state and event. A pair that is absent is not allowed: an approved enrollment is not restarted."""


PENDING_STATES = frozenset({EnrollmentState.SUBMITTED, EnrollmentState.IN_WORK})
"""The states in which the payer has not answered."""


@dataclass(frozen=True, slots=True)
class EnrollmentProgress:
    """How far an enrollment is with one payer, and since when."""

    state: EnrollmentState
    since: int
    """When it was sent, sent again after a refusal, approved, refused or ended."""
    was_ended: bool = False
    """Whether the refusal ended an enrollment that was approved."""


def replay(submitted_at: int, events: Iterable[tuple[int, str]]) -> EnrollmentProgress:
    """Return the progress after the recorded events with one payer: the time and name of each, in order.

    That an operator sent it to the payer leaves it pending since the vendor sent it.
    """
    found = EnrollmentProgress(INITIAL_STATE, submitted_at)
    for at, name in events:
        state = NEXT.get((found.state, EnrollmentEvent(name)), found.state)
        still_pending = {found.state, state} <= PENDING_STATES
        if state is not found.state:
            found = EnrollmentProgress(
                state,
                found.since if still_pending else at,
                was_ended=(found.state, state)
                == (EnrollmentState.APPROVED, EnrollmentState.REFUSED),
            )
    return found


def current_states(recorded: Iterable[EnrollmentState]) -> frozenset[EnrollmentState]:
    """Return the distinct states of an enrollment over its payers; the initial state if none is recorded."""
    return frozenset(recorded) or frozenset({INITIAL_STATE})
