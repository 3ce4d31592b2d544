"""The lifecycle of an enrollment with one payer: a table of states and events.

Only payers for which an operator acted have a recorded state; all others are in the initial state. Knows no
payer, clock or database.
"""

from collections.abc import Iterable, Mapping
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


def current_states(recorded: Iterable[EnrollmentState]) -> frozenset[EnrollmentState]:
    """Return the distinct states of an enrollment over its payers; the initial state if none is recorded."""
    return frozenset(recorded) or frozenset({INITIAL_STATE})
