"""Remove the beginning of the audit trail when its retention period is over.

The trail is a chain: what goes is a prefix, and a signed record says up to which row. While any legal hold is in force
nothing goes, because a row of the trail may be about what is held without naming it.

Rows have the time of the machine, and the clock of a sandbox may be years ahead: so the age of a row is counted from the
newest one.
"""

import json
from collections.abc import Sequence

from clearlane.pipeline.work_context import WorkContext
from clearlane.store.audit import trail_cut
from clearlane.store.audit.trail_cut import OldRow
from clearlane.store.database.database import SystemScope, Tx
from clearlane.store.database.schema import ANCHORED_ACTION
from clearlane.store.retention import legal_holds

SCOPE = SystemScope("the audit trail belongs to the installation")
ROWS_AT_ONCE = 500
DAY_MICROS = 86_400_000_000


async def cut_audit_trail(context: WorkContext, days: int) -> int:
    """Remove the first rows of the trail that are more than some days older than the newest; return how many."""
    async with context.database.read(SCOPE) as tx:
        before = await trail_cut.newest_at(tx) - days * DAY_MICROS

    async def page(tx: Tx) -> int:
        if await legal_holds.list_holds(tx):
            return 0
        removed = await trail_cut.cut_page(
            tx, context.vault, before=before, limit=ROWS_AT_ONCE, now=context.clock.now()
        )
        if removed:
            tx.audit("audit.purged", count=len(removed), detail=f"up to row {removed[-1].seq}")
        for anchor in _anchors(removed):
            tx.audit(ANCHORED_ACTION, ids=[anchor])
        return len(removed)

    return await context.purge(SCOPE, page)


async def count_old_rows(context: WorkContext, before: int) -> int:
    """Return how many rows would go now."""
    async with context.database.read(SCOPE) as tx:
        return 0 if await legal_holds.list_holds(tx) else await trail_cut.count_old(tx, before)


def _anchors(removed: Sequence[OldRow]) -> list[str]:
    """Return the data directories of which these rows say that they anchor: that must be said again."""
    ids = [json.loads(row.ids) for row in removed if row.action == ANCHORED_ACTION]
    return sorted({id for found in ids for id in found})
