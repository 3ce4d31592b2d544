"""The scheduled removal of old events, and of answers under an ``Idempotency-Key``. The engine runs the tick once a day."""

from datetime import datetime, timedelta

from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import SystemClock, to_micros
from clearlane.kernel.retention_kinds import RetentionKind
from clearlane.pipeline.retention.cutoffs import list_cutoffs
from clearlane.pipeline.retention.purge_runs import Purge, record_purge
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.store.events import events, webhooks
from clearlane.store.installation import idempotent_answers

NAME = Purge.EVENTS.value
EVERY = "0 41 3 * * *"
ROWS_PURGED_AT_ONCE = 50
"""A row has up to a few hundred events, and each of these a delivery for each endpoint."""


async def purge_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Remove events that are older than the setting allows, and answers that are no longer given again."""
    await record_purge(context, Purge.EVENTS, _purge(context, SystemClock().now()))


async def _purge(context: WorkContext, now: datetime) -> dict[str, int]:
    return {
        "events": await purge_old_events(context, now),
        "answers": await purge_old_answers(context, now),
    }


async def purge_old_events(context: WorkContext, now: datetime) -> int:
    """Remove old events; return how many rows there were. Their numbers are of the wall clock, as ``now`` is."""
    removed = 0
    cutoffs = await list_cutoffs(
        context.database, context.limits.kept_days, RetentionKind.EVENTS, now
    )
    for cutoff in cutoffs:

        async def job(tx: Tx, vendor: int = cutoff.vendor_id, before: int = cutoff.before) -> int:
            numbers = await events.remove_before(tx, vendor, before, ROWS_PURGED_AT_ONCE)
            if numbers:
                await webhooks.remove_through(tx, vendor, numbers[-1])
                tx.audit("events.forgotten", count=len(numbers))
            return len(numbers)

        removed += await context.purge(events.EVERYONE, job)
    oldest = min((one.before for one in cutoffs), default=0)
    return removed + await context.database.write(
        events.EVERYONE,
        lambda tx: events.remove_others_before(tx, oldest),
        actor=context.actor,
    )


async def purge_old_answers(context: WorkContext, now: datetime) -> int:
    """Remove answers that are no longer given again, of vendors that have not called since; return how many."""
    before = to_micros(now - timedelta(hours=idempotent_answers.ANSWERS_KEPT_HOURS))
    return await context.database.write(
        idempotent_answers.EVERYONE,
        lambda tx: idempotent_answers.remove_before(tx, before),
        actor=context.actor,
    )
