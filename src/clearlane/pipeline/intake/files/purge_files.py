"""The scheduled removal of files: uploads that were not finished after a day, and files that are kept no longer."""

from datetime import datetime, timedelta

from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import to_micros
from clearlane.kernel.retention_kinds import RetentionKind
from clearlane.pipeline.retention.cutoffs import list_cutoffs
from clearlane.pipeline.retention.purge_runs import Purge, record_purge
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.store.files import old_files

NAME, EVERY = Purge.FILES.value, "0 41 * * * *"
UPLOAD_HOURS_MAX = 24
FILES_PURGED_AT_ONCE = 20


async def purge_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Remove unfinished uploads, and files that are older than the setting allows."""
    await record_purge(context, Purge.FILES, _purge(context))


async def _purge(context: WorkContext) -> dict[str, int]:
    return {"files": await purge_old_files(context, context.clock.now())}


async def purge_old_files(context: WorkContext, now: datetime) -> int:
    """Remove old files, a few at a time; return how many there were."""
    unfinished_before = to_micros(now - timedelta(hours=UPLOAD_HOURS_MAX))
    total = 0
    for cutoff in await list_cutoffs(
        context.database, context.limits.kept_days, RetentionKind.FILES, now
    ):

        async def job(tx: Tx, vendor: int = cutoff.vendor_id, before: int = cutoff.before) -> int:
            removed = await old_files.purge(
                tx,
                vendor,
                unfinished_before=unfinished_before,
                before=before,
                limit=FILES_PURGED_AT_ONCE,
            )
            if removed:
                tx.audit("files.forgotten", ids=removed, count=len(removed))
            return len(removed)

        total += await context.purge(old_files.SCOPE, job)
    return total
