"""Lock claims, and update the state, queue flag and status row of each.

Claims of several clients are updated in one transaction, so every statement here runs in a :class:`SystemScope`.
Knows no fact.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import bindparam, update

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claims, sites
from clearlane.store.database.sql import Statement, among, select_as


@shows("claim_number")
class ClaimStateRow(NamedTuple):
    """Where a claim stands, and the claims before and after it. ``status`` is sealed."""

    vendor_id: int
    site_id: int
    claim_number: str
    kind: str
    state: str
    payer_id: str
    vendor_claim_hash: str
    total_cents: int
    sendings: int
    queued: int
    """Positive while it waits for a batch, and the same negative while it is held."""
    status: bytes | None
    predecessor_id: str | None
    """The claim under the same vendor's claim id that it took over from."""
    successor_id: str | None
    """The claim that took over from it."""
    prior_payer_claim: str | None
    """The claim to an earlier payer whose decision it carries."""
    former_holder: str | None
    patient_key: int | None
    service_day: str | None
    is_superseded: int
    """0 although it has a successor if that one never took effect."""
    event_sequence: int
    """The number of events about it that its vendor was given."""
    label: str
    awaiting: str | None
    """What it awaits (``claims.awaiting``)."""
    awaited_since: int | None
    awaited_by: int | None
    time_zone: str


@shows("claim_number")
class ClaimStateUpdate(NamedTuple):
    """The new state of a claim's row. ``status`` is sealed."""

    claim_number: str
    state: str
    queued: int
    paid_cents: int
    patient_cents: int
    updated_at: int
    status: bytes
    payer_number_key: int | None
    """Keyed hash of the payer's number, cut to 64 bits."""
    event_sequence: int
    label: str
    """What people call the claim (``pipeline.claim_label``)."""
    awaiting: str | None
    awaited_since: int | None
    awaited_by: int | None


class CountedEvent(NamedTuple):
    """A claim, and the number of its newest event."""

    vendor_id: int
    site_id: int
    claim_number: str
    sequence: int


async def lock_claims(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, ClaimStateRow]:
    """Lock claims, always in one order, so that the facts read afterward are complete."""
    return await _by_number(tx, _LOCK, claim_numbers)


async def list_links(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, ClaimStateRow]:
    """Return those of these claims that have a predecessor or successor, by their numbers, without locking them."""
    return await _by_number(tx, _LINKS, claim_numbers)


async def _by_number(
    tx: Tx, statement: Statement, claim_numbers: Sequence[str]
) -> dict[str, ClaimStateRow]:
    rows = await tx.rows(statement, claim_numbers=sorted(set(claim_numbers)))
    return {claim.claim_number: claim for claim in (ClaimStateRow(*row) for row in rows)}


async def update_claims(tx: Tx, rows: Sequence[ClaimStateUpdate]) -> None:
    """Write the new state of claims."""
    await tx.many(
        _UPDATE, [{f"new_{name}": value for name, value in row._asdict().items()} for row in rows]
    )


async def count_event(tx: Tx, claim_numbers: Sequence[str]) -> list[CountedEvent]:
    """Count one more event of each claim, and return the numbers in the order of the claims."""
    rows = await tx.rows(_COUNT_EVENT, claim_numbers=sorted(set(claim_numbers)))
    return sorted((CountedEvent(*row) for row in rows), key=attrgetter("claim_number"))


_OWNER = (sites.c.vendor_id == claims.c.vendor_id) & (sites.c.id == claims.c.site_id)
STATE_ROWS = select_as(claims, ClaimStateRow, sites.c.time_zone).join_from(claims, sites, _OWNER)
LOCK = STATE_ROWS.order_by(claims.c.claim_number).with_for_update(of=claims)
_LOCK = Statement(LOCK.where(among(claims.c.claim_number, "claim_numbers")), system=True)
_LINKS = Statement(
    STATE_ROWS.where(
        among(claims.c.claim_number, "claim_numbers"),
        claims.c.predecessor_id.is_not(None) | claims.c.successor_id.is_not(None),
    ),
    system=True,
)
_UPDATE = Statement(
    update(claims)
    .where(claims.c.claim_number == bindparam("new_claim_number"))
    .values({name: bindparam(f"new_{name}") for name in ClaimStateUpdate._fields[1:]}),
    system=True,
)
_COUNT_EVENT = Statement(
    update(claims)
    .where(among(claims.c.claim_number, "claim_numbers"))
    .values(event_sequence=claims.c.event_sequence + 1)
    .returning(
        claims.c.vendor_id, claims.c.site_id, claims.c.claim_number, claims.c.event_sequence
    ),
    system=True,
)
