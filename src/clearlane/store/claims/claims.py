"""Stored claims and their events.

Columns hold ids, codes, days and amounts; what a patient or provider wrote is sealed by the vault, and
what must be found again is a keyed hash. Knows no field of a claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from sqlalchemy import bindparam, select

from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import (
    NEVER_SENT_STATES,
    NOT_ACCEPTED_STATE,
    SHADOW_STATES,
    STATES_WITH_ERRORS,
    claim_events,
    claims,
)
from clearlane.store.database.sql import Statement, among, inlined, scoped_insert, scoped_select

TABLE = "claims"
HEADER_COLUMN = "claims.header"

RECEIVED = "received"
NOT_ACCEPTED = NOT_ACCEPTED_STATE
SHADOW, SHADOW_NOT_ACCEPTED = SHADOWS = SHADOW_STATES
NEVER_SENT = NEVER_SENT_STATES
"""The states of claims that no payer gets: the checks stopped them, or they came in a shadow file."""
WITH_ERRORS = STATES_WITH_ERRORS
"""The states of claims that the checks stopped, or would have."""
SUPERSEDED = "Superseded"
"""The event of a claim whose vendor's claim id a successor took over."""
# The value is part of the SQL text: with a placeholder no database knows that a partial index applies.
IS_NOT_SUPERSEDED = claims.c.is_superseded == inlined(0)
"""What lists, sums and worklists ask of a claim: no other was sent in its place. Several claims under one
vendor's claim id may be listed; of those that were not accepted, only the last, until a claim is accepted under the id."""
IS_REAL = claims.c.is_shadow == inlined(0)
"""What sums ask of a claim beside that: it came in no shadow file."""


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A stored claim."""

    claim_number: str
    kind: str
    form: str
    state: str
    payer_id: str
    account_as_number: bool
    """Whether CLM01 is the patient's account number; else it is the claim number."""
    created_at: int
    prior_payer_claim: str | None
    """The claim to the payer before, if it carries that payer's decision."""
    payload: bytes = field(repr=False)
    header: bytes = field(repr=False)


async def find(tx: Tx, claim_number: str) -> StoredClaim | None:
    """Return one claim of the scope."""
    return next(iter(await find_many(tx, [claim_number])), None)


async def find_many(tx: Tx, claim_numbers: Sequence[str]) -> list[StoredClaim]:
    """Return those of these claims that belong to the scope."""
    return await list_rows(tx, StoredClaim, _SOME, claim_numbers=list(claim_numbers))


async def list_events(tx: Tx, claim_number: str) -> list[tuple[int, str]]:
    """Return time and event of a claim, in order."""
    return [(at, event) for at, event in await tx.rows(_EVENTS, claim_number=claim_number)]


async def add_event(tx: Tx, claim_number: str, at: int, event: str) -> None:
    """Add an event to a claim of the scope."""
    await tx.run(_ADD_EVENT, claim_number=claim_number, at=at, event=event)


async def find_owner(tx: Tx, claim_number: str) -> tuple[int, int] | None:
    """Return vendor and site of a claim, for an operator who has its claim number only."""
    row = await tx.row(_OWNER, claim_number=claim_number)
    return None if row is None else (int(row[0]), int(row[1]))


_SOME = scoped_select(
    select(*(claims.c[each.name] for each in fields(StoredClaim))).where(
        among(claims.c.claim_number, "claim_numbers")
    ),
    claims,
)
_ADD_EVENT = scoped_insert(claim_events, "claim_number", "at", "event")
_EVENTS = scoped_select(
    select(claim_events.c.at, claim_events.c.event)
    .where(claim_events.c.claim_number == bindparam("claim_number"))
    .order_by(claim_events.c.id),
    claim_events,
)
_OWNER = Statement(
    select(claims.c.vendor_id, claims.c.site_id).where(
        claims.c.claim_number == bindparam("claim_number")
    ),
    system=True,
)
