"""The scheduled work of inquiries: send due inquiries, and purge old requests.

The engine runs both ticks. Knows no inquiry.
"""

from datetime import datetime

from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.retention_kinds import RetentionKind
from clearlane.pipeline.inquiry import inquiry_batches
from clearlane.pipeline.inquiry.inquiry_transactions import TRANSACTIONS
from clearlane.pipeline.retention.cutoffs import list_cutoffs
from clearlane.pipeline.retention.purge_runs import Purge, record_purge
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import inquiries
from clearlane.store.database.database import Tx

INQUIRY_PURGED_AT_ONCE = 200

ASK, PURGE = "ask", Purge.ELIGIBILITY.value
ASK_EVERY_SECONDS = 5
PURGE_EVERY = "0 17 3 * * *"


async def inquiry_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Let this node send inquiries that are due, and put those that go out in files into batches."""
    if (runner := context.payer_access.inquiry_runner) is not None:
        runner.wake()
        await inquiry_batches.create_inquiry_batches(context, context.clock.now())


async def purge_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Purge requests that are older than the setting allows."""
    await record_purge(context, Purge.ELIGIBILITY, _purge(context))


async def _purge(context: WorkContext) -> dict[str, int]:
    return {"requests": await purge_old_requests(context, context.clock.now())}


async def purge_old_requests(context: WorkContext, now: datetime) -> int:
    """Delete old requests a few at a time; return how many there were."""
    removed = 0
    for cutoff in await list_cutoffs(
        context.database, context.limits.kept_days, RetentionKind.ELIGIBILITY, now
    ):

        async def job(tx: Tx, vendor: int = cutoff.vendor_id, before: int = cutoff.before) -> int:
            counts = await inquiries.purge(tx, vendor, before, INQUIRY_PURGED_AT_ONCE)
            for transaction_set, count in counts.items():
                tx.audit(f"{TRANSACTIONS[transaction_set].subject}.forgotten", count=count)
            return counts.total()

        removed += await context.purge(inquiries.SCOPE, job)
    return removed


async def has_due_inquiries(context: WorkContext, now: datetime) -> bool:
    """Return whether an inquiry is due or being sent."""
    runner = context.payer_access.inquiry_runner
    return runner is not None and await runner.has_due_inquiries(now)
