"""What is kept of one claim's way, beside the claim: its sendings, and the files that spoke of it.

Knows no fact and no file format.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, select

from clearlane.store.database import Tx
from clearlane.store.schema import batch_claims, batches, claim_facts, claims, inbox, sites
from clearlane.store.sql import Statement, mine


class Sending(NamedTuple):
    """A batch that the claim went out in, or waits in."""

    attempt: int
    batch_id: int
    name: str
    control: int
    state: str
    claims: int
    created_at: int
    delivered_at: int | None
    fault: str


class Source(NamedTuple):
    """The file that a fact came in."""

    identity: str
    name: str
    received_at: int


class Ground(NamedTuple):
    """What a claim's row says of it. ``status`` is sealed."""

    state: str
    status: bytes | None
    time_zone: str


async def ground(tx: Tx, request_id: str) -> Ground | None:
    """Where the claim stands."""
    row = await tx.row(_GROUND, request_id=request_id)
    return None if row is None else Ground(*row)


async def sendings(tx: Tx, request_id: str) -> list[Sending]:
    """The batches of a claim, in their order."""
    return [Sending(*row) for row in await tx.rows(_SENDINGS, request_id=request_id)]


async def sources(tx: Tx, request_id: str) -> dict[str, Source]:
    """The files that spoke of a claim, by the fact they brought."""
    found = [Source(*row) for row in await tx.rows(_SOURCES, request_id=request_id)]
    return {one.identity: one for one in found}


_GROUND = Statement(
    select(claims.c.state, claims.c.status, sites.c.time_zone)
    .select_from(claims.join(sites, sites.c.id == claims.c.site_id))
    .where(mine(claims), claims.c.request_id == bindparam("request_id"))
)
_SENDINGS = Statement(
    select(
        batch_claims.c.attempt,
        batches.c.id,
        batches.c.name,
        batches.c.control,
        batches.c.state,
        batches.c.claims,
        batches.c.created_at,
        batches.c.delivered_at,
        batches.c.fault,
    )
    .select_from(batch_claims.join(batches, batches.c.id == batch_claims.c.batch_id))
    .where(mine(batch_claims), batch_claims.c.request_id == bindparam("request_id"))
    .order_by(batch_claims.c.attempt, batches.c.id)
)
_SOURCES = Statement(
    select(claim_facts.c.identity, inbox.c.name, inbox.c.received_at)
    .select_from(claim_facts.join(inbox, inbox.c.id == claim_facts.c.inbox_id))
    .where(mine(claim_facts), claim_facts.c.request_id == bindparam("request_id"))
)
