"""The scheduled removal of old events, and of answers under an ``Idempotency-Key``. The engine runs the tick once a day."""

from datetime import datetime, timedelta

from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import SystemClock, to_micros
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.store.events import events, webhooks
from clearlane.store.installation import idempotent_answers

NAME = "forget-events"
EVERY = "0 41 3 * * *"


async def purge_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Remove events that are older than the setting allows, and answers that are no longer given again."""
    now = SystemClock().now()
    await purge_old_events(context, now)
    await purge_old_answers(context, now)


async def purge_old_events(context: WorkContext, now: datetime) -> int:
    """Remove old events; return how many rows there were. Their numbers are of the wall clock, as ``now`` is."""
    before = to_micros(now - timedelta(days=context.limits.event_days))

    async def job(tx: Tx) -> int:
        await webhooks.remove_before(tx, before)
        return await events.remove_before(tx, before)

    return await context.database.write(events.EVERYONE, job, actor=context.actor)


async def purge_old_answers(context: WorkContext, now: datetime) -> int:
    """Remove answers that are no longer given again, of vendors that have not called since; return how many."""
    before = to_micros(now - timedelta(hours=idempotent_answers.ANSWERS_KEPT_HOURS))
    return await context.database.write(
        idempotent_answers.EVERYONE,
        lambda tx: idempotent_answers.remove_before(tx, before),
        actor=context.actor,
    )
