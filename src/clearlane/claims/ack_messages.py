"""What a response says before anything is looked up, and what reading all of them takes.

Knows envelopes and the layout of what was sent; knows no verdict.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from clearlane.claims.facts import ClaimKey, Fact, Where
from clearlane.claims.sent_layout import SentClaim
from clearlane.x12 import reader, tree
from clearlane.x12.views import verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """Which of our interchanges is spoken of: by its own number, its group's, or the batch number in it."""

    by: str
    """interchange (ISA13), group (GS06) or batch (BHT03)."""
    number: str
    positions: frozenset[tuple[str, str, int]] = frozenset()
    """The segments it names: GS06, ST02, position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardInterchange:
    """A TA1."""

    asks: Asks
    at: datetime
    serial: int
    where: Where
    verdict: verdicts.InterchangeVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardGroup:
    """A 999."""

    asks: Asks
    at: datetime
    serial: int
    where: Where
    verdict: verdicts.GroupVerdict
    places: tuple[int, ...]
    """The position of each AK2 in the 999."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardStatus:
    """A status of one claim: its fact, still to be matched, and the loop it was read from."""

    fact: Fact
    unit: reader.Unit
    asks: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardLevel:
    """A level that is rejected without naming its claims."""

    asks: Asks
    fact: Fact
    provider: str = ""
    """The number of the provider whose claims are rejected; empty for all of the batch."""


Heard: TypeAlias = HeardInterchange | HeardGroup | HeardStatus | HeardLevel


def same_number(one: str, other: str) -> bool:
    """Control numbers are compared without their padding."""
    return bool(one) and one.strip().lstrip("0") == other.strip().lstrip("0")


def sent_key(claim: SentClaim) -> ClaimKey:
    """What one of our claims is called by."""
    return ClaimKey(number=claim.number, account=claim.account, controls=claim.controls)


def where_in(set: tree.Set, position: int) -> Where:
    """Where in its file a position of a set stands."""
    group = set.group
    return Where(
        interchange=group.interchange.number, group=group.number, set=set.number, position=position
    )
