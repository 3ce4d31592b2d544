"""The ticks of eligibility: wake what asks, and forget what was kept long enough.

    await busy(desk, now)      # whether a question is due or being answered, other than by waiting

Knows that there is asking; knows no question.
"""

from datetime import datetime, timedelta

from clearlane.engine.workflows import Steps
from clearlane.kernel import limits
from clearlane.kernel.clock import micros
from clearlane.pipeline.eligibility import inquiry_batches
from clearlane.pipeline.work_context import Desk
from clearlane.store import eligibility as store
from clearlane.store.database import Actor, Tx

ASK, FORGET = "ask", "forget-eligibility"
QUEUE = "eligibility"
ASK_EVERY = "*/5 * * * * *"
FORGET_EVERY = "0 17 3 * * *"


async def ask(desk: Desk, steps: Steps) -> None:
    """Let this node look for questions that are due, and write those that go out in files."""
    if desk.beyond is not None and desk.beyond.asking is not None:
        desk.beyond.asking.wake()
        await inquiry_batches.gather(desk, desk.clock.now())


async def forget(desk: Desk, steps: Steps) -> None:
    """Forget requests that are older than the setting allows."""
    if desk.beyond is not None:
        await forget_old(desk, desk.clock.now())


async def forget_old(desk: Desk, now: datetime) -> int:
    """Forget old requests a few at a time; how many there were."""
    before = micros(now - timedelta(days=desk.outside.eligibility_days))
    forgotten = 0

    async def job(tx: Tx) -> int:
        count = await store.purge(tx, before, limits.ELIGIBILITY_PURGED_AT_ONCE)
        if count:
            tx.audit("eligibility.forgotten", count=count)
        return count

    while count := await desk.database.write(store.SCOPE, job, actor=Actor("node", desk.node)):
        forgotten += count
    return forgotten


async def busy(desk: Desk, now: datetime) -> bool:
    """Whether something is to be done at this moment, or is being done."""
    asking = desk.outside.asking
    return asking is not None and await asking.busy(now)
