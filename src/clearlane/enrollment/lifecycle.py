"""The life of an enrollment with one payer: a table of states and events.

Nobody has acted for most payers, so a payer that is not named stands at the first state. Knows no
payer, no clock and no database.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum


class State(StrEnum):
    """Where an enrollment stands with a payer."""

    SUBMITTED = "submitted"
    IN_WORK = "in work"
    APPROVED = "approved"
    REFUSED = "refused"


class Event(StrEnum):
    """What an operator says has happened."""

    START = "start"
    APPROVE = "approve"
    REFUSE = "refuse"


FIRST = State.SUBMITTED

NEXT: Mapping[tuple[State, Event], State] = {
    (State.SUBMITTED, Event.START): State.IN_WORK,
    (State.SUBMITTED, Event.APPROVE): State.APPROVED,
    (State.SUBMITTED, Event.REFUSE): State.REFUSED,
    (State.IN_WORK, Event.START): State.IN_WORK,
    (State.IN_WORK, Event.APPROVE): State.APPROVED,
    (State.IN_WORK, Event.REFUSE): State.REFUSED,
    (State.APPROVED, Event.APPROVE): State.APPROVED,
    (State.APPROVED, Event.REFUSE): State.REFUSED,  # the payer has ended it
    (State.REFUSED, Event.START): State.IN_WORK,  # the payer is asked once more
    (State.REFUSED, Event.APPROVE): State.APPROVED,  # the payer has thought again
    (State.REFUSED, Event.REFUSE): State.REFUSED,
}
"""An event that is not here cannot happen: an approved enrollment is not taken up again."""


def states_of(known: Iterable[State]) -> frozenset[State]:
    """The states an enrollment has with the payers somebody acted for; the first one before that."""
    return frozenset(known) or frozenset({FIRST})
