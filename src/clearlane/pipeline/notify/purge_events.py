"""The scheduled removal of old events. The engine runs the tick once a day."""

from datetime import datetime, timedelta

from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import SystemClock, to_micros
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import events, webhooks
from clearlane.store.database import Tx

NAME = "forget-events"
EVERY = "0 41 3 * * *"


async def purge_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Remove events that are older than the setting allows."""
    await purge_old_events(context, SystemClock().now())


async def purge_old_events(context: WorkContext, now: datetime) -> int:
    """Remove old events; return how many rows there were. Their numbers are of the wall clock, as ``now`` is."""
    before = to_micros(now - timedelta(days=context.limits.event_days))

    async def job(tx: Tx) -> int:
        await webhooks.remove_before(tx, before)
        return await events.remove_before(tx, before)

    return await context.database.write(events.EVERYONE, job, actor=context.actor)
