"""Drafts of claims, sealed: of a correction one for each claim, and new claims that people write; with who writes and when.

Knows no field: contents come sealed.
"""

from typing import NamedTuple

from sqlalchemy import bindparam

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Tx, find_row, list_rows
from clearlane.store.database.schema import claim_drafts
from clearlane.store.database.sql import scoped_delete, scoped_select, scoped_upsert, select_as

TABLE = "claim_drafts"


@shows("draft_id")
class ClaimDraft(NamedTuple):
    """A claim that was begun and not sent. ``payload`` is sealed."""

    draft_id: str
    """The number of the claim that is corrected; of a new claim an id of its own."""
    form: str
    """The form that a new claim is written on; empty for a correction."""
    author: str
    begun_at: int
    saved_at: int
    payload: bytes


async def find_draft(tx: Tx, draft_id: str) -> ClaimDraft | None:
    """Return a draft by its id."""
    return await find_row(tx, ClaimDraft, _FIND, draft_id=draft_id)


async def list_new(tx: Tx, *, since: int, limit: int) -> list[ClaimDraft]:
    """Return the drafts of new claims that were saved since a moment, the latest first."""
    return await list_rows(tx, ClaimDraft, _LIST_NEW, since=since, limit=limit)


async def put_draft(tx: Tx, draft: ClaimDraft, *, forget_before: int) -> None:
    """Keep a draft, and forget those of the site that are too old."""
    await tx.run(_FORGET, before=forget_before)
    await tx.run(_PUT, **draft._asdict())


async def drop_draft(tx: Tx, draft_id: str) -> None:
    """Forget a draft."""
    await tx.run(_DROP, draft_id=draft_id)


_FIND = scoped_select(
    select_as(claim_drafts, ClaimDraft).where(claim_drafts.c.draft_id == bindparam("draft_id")),
    claim_drafts,
)
_LIST_NEW = scoped_select(
    select_as(claim_drafts, ClaimDraft)
    .where(claim_drafts.c.form != "", claim_drafts.c.saved_at >= bindparam("since"))
    .order_by(claim_drafts.c.saved_at.desc(), claim_drafts.c.draft_id)
    .limit(bindparam("limit")),
    claim_drafts,
)
_PUT = scoped_upsert(
    claim_drafts,
    *ClaimDraft._fields,
    key=("draft_id",),
    replace=("author", "begun_at", "saved_at", "payload"),
)
_DROP = scoped_delete(claim_drafts, claim_drafts.c.draft_id == bindparam("draft_id"))
_FORGET = scoped_delete(claim_drafts, claim_drafts.c.saved_at < bindparam("before"))
