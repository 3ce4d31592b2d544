"""Write the TA1: whether a payer accepts the envelope of an interchange.

Knows interchanges; knows no claim.
"""

from datetime import datetime

from clearlane.sandbox.read_837 import InterchangeRead
from clearlane.x12.checker import ack
from clearlane.x12.writer.writer import Envelope, wrap_ta1

REFUSED, CONTENT, USED_BEFORE = "R", "024", "025"
CODE, NOTE = 4, 5


def ta1_segment(interchange: InterchangeRead, moment: datetime, note: str = "") -> list[str]:
    """Return the TA1 segment: the engine's findings, or the payer's own reason for refusing."""
    segment = ack.build_ta1(interchange.source, moment)
    if note and segment[CODE] != REFUSED:
        segment[CODE], segment[NOTE] = REFUSED, note
    return segment


def is_rejection(segment: list[str]) -> bool:
    """Return whether a TA1 segment rejects the whole interchange."""
    return segment[CODE] == REFUSED


def write(segment: list[str], envelope: Envelope) -> bytes:
    """Return the interchange with a TA1 segment."""
    return wrap_ta1(envelope, [segment])
