"""The scheduled removal of claims that were not accepted, and of those of shadow files. The engine runs the tick once a day.

They are not needed for long: what was wrong was answered at once, and a corrected claim is one of its own.
"""

from datetime import datetime

from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.retention_kinds import RetentionKind
from clearlane.pipeline.retention.cutoffs import list_cutoffs
from clearlane.pipeline.retention.purge_runs import Purge, record_purge
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import not_accepted_claims
from clearlane.store.database.database import Tx
from clearlane.store.files import shadow_claims

NAME, EVERY = Purge.NOT_ACCEPTED.value, "0 29 3 * * *"
CLAIMS_PURGED_AT_ONCE = 200


async def purge_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Remove claims that were not accepted and are older than the setting allows."""
    await record_purge(context, Purge.NOT_ACCEPTED, _purge(context))


async def _purge(context: WorkContext) -> dict[str, int]:
    return {"claims": await purge_old_claims(context, context.clock.now())}


async def purge_old_claims(context: WorkContext, now: datetime) -> int:
    """Remove old claims that no payer gets, a few at a time, then the sets of shadow files without claims; return how many claims."""
    removed = 0
    for cutoff in await list_cutoffs(
        context.database, context.limits.kept_days, RetentionKind.NOT_ACCEPTED, now
    ):

        async def job(tx: Tx, vendor: int = cutoff.vendor_id, before: int = cutoff.before) -> int:
            numbers = await not_accepted_claims.purge(tx, vendor, before, CLAIMS_PURGED_AT_ONCE)
            if numbers:
                tx.audit("claims.forgotten", ids=numbers, count=len(numbers))
            return len(numbers)

        removed += await context.purge(not_accepted_claims.SCOPE, job)

        async def purge_sets(
            tx: Tx, vendor: int = cutoff.vendor_id, before: int = cutoff.before
        ) -> int:
            return len(await shadow_claims.purge_sets(tx, vendor, before, CLAIMS_PURGED_AT_ONCE))

        await context.purge(not_accepted_claims.SCOPE, purge_sets)
    return removed
