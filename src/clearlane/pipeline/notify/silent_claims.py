"""Tell vendors of claims that their payers have not answered for too long."""

from datetime import datetime, timedelta

from clearlane.engine.workflows import WorkSteps
from clearlane.events.event import NewEvent
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.answer_days import usual_days
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import claim_updates
from clearlane.store import silent_claims as store
from clearlane.store.database import Tx
from clearlane.store.silent_claims import SilenceLimit

NAME = "silent-claims"
EVERY_SECONDS = 300


async def silence_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Look for claims without an answer."""
    await tell_of_silent_claims(context, context.clock.now())


async def tell_of_silent_claims(context: WorkContext, now: datetime) -> int:
    """Add the event of every claim that became silent, once; return how many there were."""
    at, access = to_micros(now), context.payer_access
    default = context.limits.claim_silence_days
    usual = usual_days(access.payers(), access.connections(), default=default)
    limits = [
        SilenceLimit(to_micros(context.time_ago(now, timedelta(days=group.days))), group.payers)
        for group in usual.groups
    ]
    async with context.database.read(store.SCOPE) as tx:
        vendors = await store.list_vendors(tx, limits)
    count = 0
    for vendor_id in vendors:

        async def job(tx: Tx, vendor_id: int = vendor_id) -> tuple[int, int]:
            found = await store.find_silent(tx, vendor_id, limits)
            counted = await claim_updates.count_event(tx, found.request_ids)
            tx.add_events(
                [
                    NewEvent(
                        "claim.no_answer", at, one.vendor_id, one.site_id, one.request_id,
                        one.sequence,
                    )
                    for one in counted
                ]
            )  # fmt: skip
            await store.save_progress(tx, vendor_id, found.through)
            return len(counted), found.through

        through = 0
        while through < limits[0].before:
            added, through = await context.database.write(store.SCOPE, job, actor=context.actor)
            count += added
    return count
