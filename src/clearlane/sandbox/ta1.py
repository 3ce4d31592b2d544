"""The TA1: whether a payer can open an interchange.

Knows interchanges; knows no claim.
"""

from datetime import datetime

from clearlane.sandbox.read_837 import InterchangeRead
from clearlane.x12 import ack
from clearlane.x12.writer import Envelope, answer

REFUSED, CONTENT, USED_BEFORE = "R", "024", "025"
CODE, NOTE = 4, 5


def verdict(interchange: InterchangeRead, moment: datetime, note: str = "") -> list[str]:
    """The TA1 segment: what the engine found, or the payer's own ground for refusing."""
    segment = ack.ta1(interchange.source, moment)
    if note and segment[CODE] != REFUSED:
        segment[CODE], segment[NOTE] = REFUSED, note
    return segment


def refuses(segment: list[str]) -> bool:
    """Whether nothing of the interchange is taken in."""
    return segment[CODE] == REFUSED


def write(segment: list[str], envelope: Envelope) -> bytes:
    """The interchange that carries it."""
    return answer(envelope, [segment])
