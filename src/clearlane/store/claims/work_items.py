"""Work on claims: who has one, until when it rests, and that it is done. Notes about claims, sealed.

Knows no reason and no text: they come sealed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select

from clearlane.kernel.redacted_repr import shows
from clearlane.store.claims.claims import IS_NOT_SUPERSEDED
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import claim_notes, claims, work_items
from clearlane.store.database.sql import (
    among,
    scoped_insert,
    scoped_select,
    scoped_upsert,
    select_as,
)

TABLE, NOTES = "work_items", "claim_notes"
NOTES_PER_CLAIM_MAX = 200
RESTING_ROWS_MAX = 10_000
"""Maximum number of resting claims that a list or a summary knows of."""


@shows("claim_number")
class ClaimWorkItem(NamedTuple):
    """What people decided about working on a claim. ``payload`` is sealed: why it is done."""

    claim_number: str
    assigned_to: str | None = None
    snoozed_until: str | None = None
    done_label: str | None = None
    changed_at: int = 0
    payload: bytes | None = None


class RestingClaim(NamedTuple):
    """A claim that needs no attention now: it sleeps until a later day, or was done at its label."""

    claim_number: str
    label: str
    total_cents: int


@shows("note_id")
class ClaimNote(NamedTuple):
    """A note of a person about a claim. ``payload`` is sealed."""

    note_id: str
    claim_number: str
    author: str
    at: int
    payload: bytes


async def list_items(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, ClaimWorkItem]:
    """Return the work items of claims of the site; claims that no one touched have none."""
    rows = await tx.rows(_ITEMS, claim_numbers=list(claim_numbers))
    return {str(row[0]): ClaimWorkItem(*row) for row in rows}


async def list_resting(tx: Tx, today: str) -> list[RestingClaim]:
    """Return claims of the scope that rest on a day."""
    return await list_rows(tx, RestingClaim, _RESTING, today=today)


async def list_assigned(tx: Tx, user: str) -> list[str]:
    """Return the numbers of the claims of the scope that are assigned to a console user."""
    return await list_rows(tx, str, _ASSIGNED, user=user)


async def list_put_aside(tx: Tx, at: int) -> list[ClaimWorkItem]:
    """Return the work items of the site that were put aside or done at a moment, and not changed since."""
    return await list_rows(tx, ClaimWorkItem, _PUT_ASIDE, at=at)


async def put_items(tx: Tx, items: Sequence[ClaimWorkItem]) -> None:
    """Write work items."""
    await tx.many(_PUT, [item._asdict() for item in items])


async def add_note(tx: Tx, note: ClaimNote) -> None:
    """Add a note to a claim."""
    await tx.run(_ADD_NOTE, **note._asdict())
    tx.audit("claim.note", ids=[note.claim_number])


async def list_notes(tx: Tx, claim_number: str) -> list[ClaimNote]:
    """Return the notes of a claim, the latest first."""
    return await list_rows(tx, ClaimNote, _NOTES, claim_number=claim_number)


_PUT = scoped_upsert(
    work_items, *ClaimWorkItem._fields, key=("claim_number",), replace=ClaimWorkItem._fields[1:]
)
_ITEMS = scoped_select(
    select_as(work_items, ClaimWorkItem).where(among(work_items.c.claim_number, "claim_numbers")),
    work_items,
)
_PUT_ASIDE = scoped_select(
    select_as(work_items, ClaimWorkItem).where(
        work_items.c.changed_at == bindparam("at"),
        work_items.c.snoozed_until.is_not(None) | work_items.c.done_label.is_not(None),
    ),
    work_items,
)
_RESTING = scoped_select(
    select_as(claims, RestingClaim)
    .join_from(work_items, claims, work_items.c.claim_number == claims.c.claim_number)
    .where(
        IS_NOT_SUPERSEDED,
        (work_items.c.snoozed_until > bindparam("today"))
        | (work_items.c.done_label == claims.c.label),
    )
    .limit(RESTING_ROWS_MAX),
    work_items,
    claims,
)
_ASSIGNED = scoped_select(
    select(work_items.c.claim_number).where(work_items.c.assigned_to == bindparam("user")),
    work_items,
)
_NOTES = scoped_select(
    select_as(claim_notes, ClaimNote)
    .where(claim_notes.c.claim_number == bindparam("claim_number"))
    .order_by(claim_notes.c.note_id.desc())
    .limit(NOTES_PER_CLAIM_MAX),
    claim_notes,
)
_ADD_NOTE = scoped_insert(claim_notes, *ClaimNote._fields)
