"""Decide what to do with a file that waits in a payer's mailbox and may still be being written.

    act = next_act(file, seen, now, settle_seconds=60)

A payer that writes a file under its final name may pause at any byte. So a file is taken when two visits saw it with the same
size and time, or when it is old enough by the clock of the server that stamped it. Taking half a file does no harm: it
stays where it is, and what it holds later is taken as new content. Dropping half a file loses the rest, so a file is dropped
only in a later visit than the one that stored it, if it was seen unchanged for the whole time, and never if an interchange
in it has no end.

Pure. Knows no mailbox, table or clock.
"""

from enum import StrEnum

from clearlane.connect.port import IncomingFile
from clearlane.kernel import limits
from clearlane.store.delivery.seen_files import SeenFile

MICROS = 1_000_000


class VisitAct(StrEnum):
    """What a visit does with a file."""

    LEAVE = "leave"
    TAKE = "take"
    DROP = "drop"


def next_act(
    file: IncomingFile, seen: SeenFile | None, now: int, *, settle_seconds: int
) -> VisitAct:
    """Return what to do with a file, by how the visit before saw it; ``seen`` is None if it is new or has changed."""
    if seen is None:
        old = file.age_seconds is not None and file.age_seconds >= settle_seconds
        return VisitAct.TAKE if old or not settle_seconds else VisitAct.LEAVE
    if seen.inbox_id is None:
        return VisitAct.TAKE
    if seen.unfinished or not is_quiet(seen, now, settle_seconds=settle_seconds):
        return VisitAct.LEAVE
    return VisitAct.DROP


def is_quiet(seen: SeenFile | None, now: int, *, settle_seconds: int) -> bool:
    """Return whether a file was unchanged long enough that its writer is done with it.

    Measured by our own clock from one visit to another: only the time between them counts, so it does not matter how far
    the clocks differ.
    """
    if seen is None:
        return not settle_seconds
    return now - seen.first_seen_at >= settle_seconds * MICROS


def unchanged(file: IncomingFile, seen: SeenFile | None, now: int) -> SeenFile | None:
    """Return how a file was seen, if it has not changed; None if it is new or has changed.

    What was seen in the future was seen by a clock that was ahead, and does not count.
    """
    if seen is None or seen.first_seen_at > now + MICROS * limits.CLOCK_DIFFERENCE_SECONDS_MAX:
        return None
    same = (seen.bytes, seen.modified_nanos) == (file.size, file.modified_nanos)
    return seen if same else None
