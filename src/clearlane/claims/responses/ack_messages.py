"""Messages of TA1, 999, 277CA and 277 files, as read before any claim is looked up.

Knows envelopes and the layout of what was sent; does not interpret verdicts.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from clearlane.claims.responses.facts import ClaimKey, Fact, FilePosition
from clearlane.claims.write.sent_layout import SentClaim
from clearlane.x12 import tree
from clearlane.x12.reader import reader
from clearlane.x12.views import verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class InterchangeReference:
    """The sent interchange that a message answers, by the number the message gives."""

    level: str
    """Which number it is: interchange (ISA13), group (GS06) or batch (BHT03)."""
    number: str
    positions: frozenset[tuple[str, str, int]] = frozenset()
    """The segments that the message names: GS06, ST02, position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterchangeAck:
    """A TA1."""

    reference: InterchangeReference
    at: datetime
    serial: int
    where: FilePosition
    verdict: verdicts.InterchangeVerdictView
    interchange: tree.Interchange = field(repr=False)
    """The interchange that it came in."""
    segment: tree.Segment = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAck:
    """A 999."""

    reference: InterchangeReference
    at: datetime
    serial: int
    where: FilePosition
    verdict: verdicts.GroupVerdictView
    set: tree.TransactionSet = field(repr=False)
    responses: tuple[tree.Loop, ...] = field(repr=False)
    """The loop (2000) of each set that it answers, in the order of ``verdict.sets``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimStatusReport:
    """A 277CA or 277 status of one claim: its fact, not yet matched, and the unit it was read from."""

    fact: Fact
    unit: reader.UnitClosed = field(repr=False)
    reference: None = None
    source_id: str = ""
    """The id of who reports it: the payer, or a clearinghouse on the way."""
    batch_number: str = ""
    """The number of the batch that it answers (BHT03), as the report returns it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRejection:
    """A 277CA level that is rejected without naming its claims."""

    reference: InterchangeReference
    fact: Fact
    level: reader.ParentClosed = field(repr=False)
    """The loop of the level, with its status."""
    provider: str = ""
    """The number of the provider whose claims are rejected; empty for all of the batch."""


AckMessage: TypeAlias = InterchangeAck | GroupAck | ClaimStatusReport | LevelRejection


def same_number(one: str, other: str) -> bool:
    """Return whether two control numbers are equal without their padding."""
    return bool(one) and one.strip().lstrip("0") == other.strip().lstrip("0")


def key_of(claim: SentClaim) -> ClaimKey:
    """Return the numbers of a claim that was sent."""
    return ClaimKey(
        claim_number=claim.number, account_number=claim.account, line_controls=claim.controls
    )


def position_in_file(set: tree.TransactionSet, position: int) -> FilePosition:
    """Return the position in the file of a segment of a set."""
    group = set.group
    return FilePosition(
        interchange=group.interchange.number, group=group.number, set=set.number, position=position
    )
