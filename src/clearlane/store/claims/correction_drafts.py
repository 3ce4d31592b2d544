"""Drafts of corrections, sealed: one for each claim, with who writes it and when it was last kept.

Knows no field: contents come sealed.
"""

from typing import NamedTuple

from sqlalchemy import bindparam

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Tx, find_row
from clearlane.store.database.schema import correction_drafts
from clearlane.store.database.sql import scoped_delete, scoped_select, scoped_upsert, select_as

TABLE = "correction_drafts"


@shows("claim_number")
class CorrectionDraft(NamedTuple):
    """A correction that was begun and not sent. ``payload`` is sealed."""

    claim_number: str
    author: str
    begun_at: int
    saved_at: int
    payload: bytes


async def find_draft(tx: Tx, claim_number: str) -> CorrectionDraft | None:
    """Return the draft of a claim's correction."""
    return await find_row(tx, CorrectionDraft, _FIND, claim_number=claim_number)


async def put_draft(tx: Tx, draft: CorrectionDraft, *, forget_before: int) -> None:
    """Keep a draft, and forget those of the site that are too old."""
    await tx.run(_FORGET, before=forget_before)
    await tx.run(_PUT, **draft._asdict())


async def drop_draft(tx: Tx, claim_number: str) -> None:
    """Forget the draft of a claim's correction."""
    await tx.run(_DROP, claim_number=claim_number)


_FIND = scoped_select(
    select_as(correction_drafts, CorrectionDraft).where(
        correction_drafts.c.claim_number == bindparam("claim_number")
    ),
    correction_drafts,
)
_PUT = scoped_upsert(
    correction_drafts,
    *CorrectionDraft._fields,
    key=("claim_number",),
    replace=("author", "begun_at", "saved_at", "payload"),
)
_DROP = scoped_delete(
    correction_drafts, correction_drafts.c.claim_number == bindparam("claim_number")
)
_FORGET = scoped_delete(correction_drafts, correction_drafts.c.saved_at < bindparam("before"))
