"""Claims that were not accepted or are shadows, over all clients: kept for some time, then removed with what belongs to them.

No payer was sent one, so neither batches nor facts, documents or payments name it.
"""

from sqlalchemy import BigInteger, and_, bindparam, delete, func, select

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
from clearlane.store.retention.legal_holds import HELD_CLAIMS, site_not_held

SCOPE = SystemScope("claims that no payer gets are removed by age, whoever sent them")


async def purge(tx: Tx, vendor_id: int, before: int, limit: int) -> list[str]:
    """Remove a vendor's claims that came before a time and that no payer gets; return their numbers."""
    rows = await tx.rows(_OLD, vendor=vendor_id, before=before, limit=limit)
    ids = [dict(zip(_ID_COLUMNS, row, strict=True)) for row in rows]
    numbers = [str(one["claim_number"]) for one in ids]
    if numbers:
        await claim_ids.remove_others(tx, ids)
        for statement in (_PURGE_ANSWERS, _PURGE_DRAFTS, *_PURGE):
            await tx.run(statement, claim_numbers=numbers)
    return numbers


async def count_old(tx: Tx, vendor_id: int, before: int) -> int:
    """Return how many of a vendor's claims would be removed."""
    row = await tx.row(_COUNT_OLD, vendor=vendor_id, before=before)
    return int(row[0]) if row else 0


_ID_COLUMNS = ("vendor_id", "site_id", "vendor_claim_hash", "claim_number")
# Found by the index of claims that are not complete, which begins with the state.
_IS_OLD = and_(
    claims.c.state != inlined(COMPLETE_STATE),
    claims.c.state.in_([inlined(state) for state in NEVER_SENT]),
    claims.c.created_at < bindparam("before", type_=BigInteger),
    claims.c.vendor_id == bindparam("vendor", type_=BigInteger),
    site_not_held(claims),
    claims.c.claim_number.notin_(HELD_CLAIMS),
)
_OLD = Statement(
    select(*(claims.c[name] for name in _ID_COLUMNS)).where(_IS_OLD).limit(bindparam("limit")),
    system=True,
)
_COUNT_OLD = Statement(select(func.count()).select_from(claims).where(_IS_OLD), system=True)
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
