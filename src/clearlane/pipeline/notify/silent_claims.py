"""Tell vendors of claims that their payers have not answered for too long."""

from datetime import datetime, timedelta

from clearlane.engine.workflows import WorkSteps
from clearlane.events.event import NewEvent
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.answer_days import usual_days
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_updates, silent_claims
from clearlane.store.claims.payer_filter import EVERY_PAYER, PayerFilter
from clearlane.store.claims.silent_claims import SilenceLimit
from clearlane.store.database.database import Tx

NAME = "silent-claims"
EVERY_SECONDS = 300


async def silence_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Look for claims without an answer."""
    await tell_of_silent_claims(context, context.clock.now())


async def tell_of_silent_claims(context: WorkContext, now: datetime) -> int:
    """Add the event of every claim that became silent, once; return how many there were."""
    count = 0
    for limit in await _limits(context, now):
        async with context.database.read(silent_claims.SCOPE) as tx:
            vendors = await silent_claims.list_vendors(tx, limit)
        for vendor_id in vendors:
            count += await _tell_vendor(context, vendor_id, limit, to_micros(now))
    return count


async def _limits(context: WorkContext, now: datetime) -> list[SilenceLimit]:
    """Return the limit of each payer with a number of days of its own, now or earlier, and then that of all others.

    A payer that gets a number begins where the others are, so it comes before they go on.
    """
    access, default = context.payer_access, context.limits.claim_silence_days
    usual = usual_days(access.payers(), access.connections(), default=default)
    async with context.database.read(silent_claims.SCOPE) as tx:
        earlier = await silent_claims.list_payers(tx)
    days = {**dict.fromkeys(earlier, default), **usual.own}

    def before(days: int) -> int:
        return to_micros(context.time_ago(now, timedelta(days=days)))

    return [
        *(SilenceLimit(before(one), PayerFilter(payers=(key,)), key) for key, one in days.items()),
        SilenceLimit(before(default), PayerFilter(other_than=tuple(days)) if days else EVERY_PAYER),
    ]


async def _tell_vendor(context: WorkContext, vendor_id: int, limit: SilenceLimit, at: int) -> int:
    """Add the events of one vendor's claims; return how many there were."""

    async def job(tx: Tx) -> tuple[int, int]:
        found = await silent_claims.find_silent(tx, vendor_id, limit)
        counted = await claim_updates.count_event(tx, found.claim_numbers)
        tx.add_events(
            [
                NewEvent(
                    "claim.no_answer", at, one.vendor_id, one.site_id, one.claim_number,
                    one.sequence,
                )
                for one in counted
            ]
        )  # fmt: skip
        await silent_claims.save_progress(tx, vendor_id, limit, found.through)
        return len(counted), found.through

    count = through = 0
    while through < limit.before:
        added, through = await context.database.write(silent_claims.SCOPE, job, actor=context.actor)
        count += added
    return count
