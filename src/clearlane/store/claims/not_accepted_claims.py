"""Claims that were not accepted or are shadows, over all clients: kept for some time, then removed with what belongs to them.

No payer was sent one, so neither batches nor facts, documents or payments name it.
"""

from sqlalchemy import bindparam, delete, select

from clearlane.store.claims import claim_ids
from clearlane.store.claims.claims import NEVER_SENT
from clearlane.store.database.database import SystemScope, Tx
from clearlane.store.database.schema import (
    claim_drafts,
    claim_events,
    claim_notes,
    claims,
    file_claims,
    shadow_answers,
    shadow_claims,
    work_items,
)
from clearlane.store.database.schema.core import COMPLETE_STATE
from clearlane.store.database.sql import Statement, among, inlined

SCOPE = SystemScope("claims that no payer gets are removed by age, whoever sent them")


async def purge(tx: Tx, before: int, limit: int) -> list[str]:
    """Remove claims that came before a time and that no payer gets; return their numbers."""
    rows = await tx.rows(_OLD, before=before, limit=limit)
    ids = [dict(zip(_ID_COLUMNS, row, strict=True)) for row in rows]
    numbers = [str(one["claim_number"]) for one in ids]
    if numbers:
        await claim_ids.remove_others(tx, ids)
        for statement in (_PURGE_ANSWERS, _PURGE_DRAFTS, *_PURGE):
            await tx.run(statement, claim_numbers=numbers)
    return numbers


_ID_COLUMNS = ("vendor_id", "site_id", "vendor_claim_hash", "claim_number")
# Found by the index of claims that are not complete, which begins with the state.
_OLD = Statement(
    select(*(claims.c[name] for name in _ID_COLUMNS))
    .where(
        claims.c.state != inlined(COMPLETE_STATE),
        claims.c.state.in_([inlined(state) for state in NEVER_SENT]),
        claims.c.created_at < bindparam("before"),
    )
    .limit(bindparam("limit")),
    system=True,
)
_PURGE = tuple(
    Statement(delete(table).where(among(table.c.claim_number, "claim_numbers")), system=True)
    for table in (
        claim_events,
        claim_notes,
        file_claims,
        shadow_claims,
        work_items,
        claims,
    )
)
_PURGE_ANSWERS = Statement(
    delete(shadow_answers).where(among(shadow_answers.c.subject_id, "claim_numbers")), system=True
)
_PURGE_DRAFTS = Statement(
    delete(claim_drafts).where(among(claim_drafts.c.draft_id, "claim_numbers")), system=True
)
