"""The lifecycle of an enrollment with one payer for one transaction: a table of states and events.

Only those for which an operator acted have a recorded state; all others are in the initial state. Knows no
payer, clock or database.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import NamedTuple


class EnrollmentState(StrEnum):
    """The state of an enrollment with one payer for one transaction."""

    SUBMITTED = "submitted"
    IN_WORK = "in work"
    APPROVED = "approved"
    REFUSED = "refused"
    ENDED = "ended"
    """It was approved, and the payer ended it."""


class EnrollmentEvent(StrEnum):
    """An event that an operator records."""

    START = "start"
    APPROVE = "approve"
    REFUSE = "refuse"
    END = "end"


INITIAL_STATE = EnrollmentState.SUBMITTED

NEXT: Mapping[tuple[EnrollmentState, EnrollmentEvent], EnrollmentState] = {
    (EnrollmentState.SUBMITTED, EnrollmentEvent.START): EnrollmentState.IN_WORK,
    (EnrollmentState.SUBMITTED, EnrollmentEvent.APPROVE): EnrollmentState.APPROVED,
    (EnrollmentState.SUBMITTED, EnrollmentEvent.REFUSE): EnrollmentState.REFUSED,
    (EnrollmentState.IN_WORK, EnrollmentEvent.START): EnrollmentState.IN_WORK,
    (EnrollmentState.IN_WORK, EnrollmentEvent.APPROVE): EnrollmentState.APPROVED,
    (EnrollmentState.IN_WORK, EnrollmentEvent.REFUSE): EnrollmentState.REFUSED,
    (EnrollmentState.APPROVED, EnrollmentEvent.APPROVE): EnrollmentState.APPROVED,
    (EnrollmentState.APPROVED, EnrollmentEvent.REFUSE): EnrollmentState.ENDED,
    (EnrollmentState.APPROVED, EnrollmentEvent.END): EnrollmentState.ENDED,
    (
        EnrollmentState.REFUSED,
        EnrollmentEvent.START,
    ): EnrollmentState.IN_WORK,  # submitted to the payer again
    (
        EnrollmentState.REFUSED,
        EnrollmentEvent.APPROVE,
    ): EnrollmentState.APPROVED,  # the payer reversed its refusal
    (EnrollmentState.REFUSED, EnrollmentEvent.REFUSE): EnrollmentState.REFUSED,
    (EnrollmentState.ENDED, EnrollmentEvent.START): EnrollmentState.IN_WORK,
    (EnrollmentState.ENDED, EnrollmentEvent.APPROVE): EnrollmentState.APPROVED,
    (EnrollmentState.ENDED, EnrollmentEvent.REFUSE): EnrollmentState.ENDED,
    (EnrollmentState.ENDED, EnrollmentEvent.END): EnrollmentState.ENDED,
}
"""The next state by state and event. A pair that is absent is not allowed: an approved enrollment is not restarted."""


PENDING_STATES = frozenset({EnrollmentState.SUBMITTED, EnrollmentState.IN_WORK})
"""The states in which the payer has not answered."""


class RecordedEvent(NamedTuple):
    """An event that was recorded, and the first day on which an approval counts."""

    at: int
    event: str
    live_from: date | None = None


@dataclass(frozen=True, slots=True)
class EnrollmentProgress:
    """How far an enrollment is with one payer for one transaction, and since when."""

    state: EnrollmentState
    since: int
    """When it was sent, sent again after a refusal, approved, refused or ended."""
    live_from: date | None = None
    """The first day on which an approved one counts."""

    def is_live(self, today: date) -> bool:
        """Return whether it counts on a day of the site."""
        is_approved = self.state is EnrollmentState.APPROVED
        return is_approved and (self.live_from is None or self.live_from <= today)


def replay(submitted_at: int, events: Iterable[RecordedEvent]) -> EnrollmentProgress:
    """Return the progress after the recorded events with one payer for one transaction, in order.

    That an operator sent it to the payer leaves it pending since the vendor sent it.
    """
    found = EnrollmentProgress(INITIAL_STATE, submitted_at)
    for one in events:
        state = NEXT.get((found.state, EnrollmentEvent(one.event)), found.state)
        still_pending = {found.state, state} <= PENDING_STATES
        since = found.since if state is found.state or still_pending else one.at
        live_from = one.live_from if state is EnrollmentState.APPROVED else None
        found = EnrollmentProgress(state, since, live_from)
    return found


def current_states(recorded: Iterable[EnrollmentState]) -> frozenset[EnrollmentState]:
    """Return the distinct states of an enrollment over its payers; the initial state if none is recorded."""
    return frozenset(recorded) or frozenset({INITIAL_STATE})
