"""One claim's part of a payer's file: what of an 835, 277CA, 277, 999 or TA1 concerns one claim.

    ClaimExtractor().extract(unit)               # a claim payment or a status, while the file is read
    AckParts(message).of(fact)                   # the claims of one acknowledgement, one after the other

Data about other claims is removed: sums over a batch or provider, provider adjustments, errors of other claims. The
payment balance cannot hold for a part.

Knows the loops of the responses to claims; knows no field and no database.
"""

from collections.abc import Iterator

from clearlane.claims.responses.ack_messages import (
    AckMessage,
    ClaimStatusReport,
    GroupAck,
    InterchangeAck,
    LevelRejection,
)
from clearlane.claims.responses.facts import Fact
from clearlane.x12 import tree
from clearlane.x12.reader import reader
from clearlane.x12.reader.extract import ExtractSpec, UnitExtractor, extract_loops, extract_ta1

CLAIM_PART = ExtractSpec(
    repeated=frozenset(
        {"2000", "2000A", "2000B", "2000C", "2000D", "2000E", "2100", "2200D", "2200E"}
    ),
    sums=frozenset({"TS2", "TS3", "QTY", "AMT", "PLB"}),
    # STC04, which above the claims is a sum of their charges.
    sum_elements={"STC": 4},
    closing=frozenset({"AK9"}),
)


class ClaimExtractor(UnitExtractor):
    """Extracts the claims of a file: units, or the claims in them whose loops are at a position."""

    def __init__(self) -> None:
        super().__init__(CLAIM_PART)


def extract_claim(unit: reader.UnitClosed, position: int = 0) -> bytes:
    """Extract one claim alone."""
    return ClaimExtractor().extract(unit, position)


class AckParts:
    """The claims' parts of one acknowledgement. Claims that share a part, as those of a refused set do, get it at once."""

    def __init__(self, message: AckMessage) -> None:
        self._message = message
        self._last: tuple[object, bytes] = (None, b"")

    def of(self, fact: Fact) -> bytes:
        """Return the part of the claim that a fact of this message is about."""
        positions = frozenset(str(one.position) for one in fact.complaints if one.position)
        key = (fact.where, positions)
        if self._last[0] != key:
            self._last = (key, _extract(self._message, fact.where.position, positions))
        return self._last[1]


def _extract(message: AckMessage, position: int, errors: frozenset[str]) -> bytes:
    """Return the part at a position; ``errors`` are the positions in the sent set that a 999 complains about."""
    match message:
        case ClaimStatusReport():
            return extract_claim(message.unit, position)
        case LevelRejection(level=level):
            return extract_loops(level.set, (*level.parents, level.loop), (), CLAIM_PART)
        case InterchangeAck():
            return extract_ta1(message.interchange, message.segment)
        case GroupAck():
            found = [loop for loop in message.responses if loop.position == position]
            segments = [segment for loop in found for segment in _set_verdict(loop, errors)]
            return extract_loops(message.set, (message.set.root,), segments, CLAIM_PART)


def _set_verdict(loop: tree.Loop, errors: frozenset[str]) -> Iterator[tree.Segment]:
    """Yield the verdict of a 999 on one set, with the errors at these positions alone."""
    for item in loop.items:
        if isinstance(item, list):
            yield item
        elif item.value("IK3", 2).lstrip("0") in errors:
            yield from item.all_segments()
