"""The deliveries of one claim, and the files that brought facts about it.

Knows no fact and no file format.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, select

from clearlane.store.claims import claim_ids
from clearlane.store.claims.claim_updates import STATE_ROWS, ClaimStateRow
from clearlane.store.claims.claims import IS_NOT_SUPERSEDED
from clearlane.store.database.database import Tx, find_row, list_rows
from clearlane.store.database.schema import batch_claims, batches, claim_facts, claims, inbox
from clearlane.store.database.sql import among, scoped_select

UNDER_ONE_ID_MAX = 50
"""How many claims under one vendor's claim id are shown: claims of files may all have the same."""


class ClaimSending(NamedTuple):
    """A batch that holds the claim, sent or not."""

    attempt: int
    batch_id: int
    name: str
    control: int
    state: str
    claims: int
    created_at: int
    delivered_at: int | None
    fault: str


class FactSource(NamedTuple):
    """The inbox file that brought a fact."""

    identity: str
    name: str
    received_at: int


async def find_state(tx: Tx, claim_number: str) -> ClaimStateRow | None:
    """Return the state of a claim."""
    return await find_row(tx, ClaimStateRow, _STATE, claim_number=claim_number)


async def list_under_same_id(tx: Tx, state: ClaimStateRow) -> list[ClaimStateRow]:
    """Return the other live claims under a claim's vendor's claim id, in order; the last ones if there are many."""
    under_id = await claim_ids.list_under(tx, [state.vendor_claim_hash])
    is_holder = state.claim_number in under_id.holders.values()
    is_former = not (is_holder or state.is_superseded) and state.status is not None
    if not is_former and state.former_holder is None:
        return []
    others = [number for number in under_id.claim_numbers if number != state.claim_number]
    found = await list_rows(tx, ClaimStateRow, _UNDER_ID, claim_numbers=others)
    return found[::-1]


async def list_sendings(tx: Tx, claim_number: str) -> list[ClaimSending]:
    """Return the batches of a claim, in order."""
    return await list_rows(tx, ClaimSending, _SENDINGS, claim_number=claim_number)


async def list_sources(tx: Tx, claim_number: str) -> dict[str, FactSource]:
    """Return the inbox files about a claim, by the identity of the fact they brought."""
    found = [FactSource(*row) for row in await tx.rows(_SOURCES, claim_number=claim_number)]
    return {one.identity: one for one in found}


_STATE = scoped_select(STATE_ROWS.where(claims.c.claim_number == bindparam("claim_number")), claims)
_UNDER_ID = scoped_select(
    STATE_ROWS.where(among(claims.c.claim_number, "claim_numbers"), IS_NOT_SUPERSEDED)
    .order_by(claims.c.claim_number.desc())
    .limit(UNDER_ONE_ID_MAX),
    claims,
)
_SENDINGS = scoped_select(
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
    .where(batch_claims.c.claim_number == bindparam("claim_number"))
    .order_by(batch_claims.c.attempt, batches.c.id),
    batch_claims,
)
_SOURCES = scoped_select(
    select(claim_facts.c.identity, inbox.c.name, inbox.c.received_at)
    .select_from(claim_facts.join(inbox, inbox.c.id == claim_facts.c.inbox_id))
    .where(claim_facts.c.claim_number == bindparam("claim_number")),
    claim_facts,
)
