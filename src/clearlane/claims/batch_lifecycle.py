"""The lifecycle of a batch: a table of states and events, from the stored file to its delivery.

    after = next_state(batch.state, BatchEvent.DELIVERED)

The store changes the state of a batch by these events alone. Knows no payer, clock or database.
"""

from collections.abc import Mapping
from enum import StrEnum


class BatchState(StrEnum):
    """The state of a batch, as operators see it."""

    READY = "ready"
    SENDING = "sending"
    IN_DOUBT = "in_doubt"
    DELIVERED = "delivered"


class BatchEvent(StrEnum):
    """Something that happens to a batch."""

    REROUTED = "written for another route"
    ATTEMPTED = "attempt begins"
    NOT_ARRIVED = "failed, not arrived"
    MAY_HAVE_ARRIVED = "failed, may have arrived"
    CANNOT_BE_KNOWN = "arrival cannot be known"
    RESTORED = "restored from a backup"
    RESENT = "resent by an operator"
    DELIVERED = "known to have arrived"


class BatchEventNotAllowed(Exception):
    """The table has no row for this state and event: the batch stays as it is."""

    def __init__(self, state: BatchState, event: BatchEvent) -> None:
        super().__init__(f"a batch that is {state} cannot be {event.name}")


INITIAL_STATE = BatchState.READY

_R, _S, _D, _A = BatchState
NEXT: Mapping[tuple[BatchState, BatchEvent], BatchState] = {
    (_R, BatchEvent.REROUTED): _R,  # a file that may have been sent is never written again
    (_R, BatchEvent.ATTEMPTED): _S,  # durable before the first byte is sent
    (_S, BatchEvent.ATTEMPTED): _S,  # if it may have arrived, look into the mailbox first
    (_S, BatchEvent.NOT_ARRIVED): _R,
    (_S, BatchEvent.MAY_HAVE_ARRIVED): _S,
    (_S, BatchEvent.CANNOT_BE_KNOWN): _D,
    (_R, BatchEvent.RESTORED): _D,  # it may have been sent since the backup
    (_S, BatchEvent.RESTORED): _D,
    (_R, BatchEvent.RESENT): _R,  # at once, if its payer is paused
    (_S, BatchEvent.RESENT): _R,
    (_D, BatchEvent.RESENT): _R,
    (_R, BatchEvent.DELIVERED): _A,  # brought to the payer by other means
    (_S, BatchEvent.DELIVERED): _A,
    (_D, BatchEvent.DELIVERED): _A,  # the payer answered it, or an operator found out
}
"""The next state by state and event. A pair that is absent is not allowed: a delivered batch is never sent again."""


def allows(state: BatchState, event: BatchEvent) -> bool:
    """Return whether an event can happen to a batch in a state."""
    return (state, event) in NEXT


def next_state(state: BatchState, event: BatchEvent) -> BatchState:
    """Return the state after an event. Raises :class:`BatchEventNotAllowed`."""
    try:
        return NEXT[state, event]
    except KeyError:
        raise BatchEventNotAllowed(state, event) from None


def states_that_allow(event: BatchEvent) -> tuple[BatchState, ...]:
    """Return the states in which an event can happen."""
    return tuple(state for state in BatchState if allows(state, event))
