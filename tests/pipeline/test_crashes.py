"""Workers killed with no warning, at every named point and at random: nothing is lost, nothing comes twice.

Also tests `engine/fault_injection`.
"""

import asyncio
import os
import random

import pytest

from clearlane.engine import fault_injection
from tests.cases import IS_THOROUGH, by_profile
from tests.databases import KINDS
from tests.patience import PATIENCE_SECONDS
from tests.pipeline.crashing import crashing
from tests.pipeline.outbound import HARBOR, MEADOW

# One after the other on one worker: they mostly wait, and the others have work meanwhile.
pytestmark = pytest.mark.group("crashes")

BY_A_CALLER = ("accepted", "changed")
"""Of a caller, who repeats the call. At the second `api/test_idempotency` kills, on both databases."""
OF_PAYMENTS = ("payment opened", "payment closed")
"""The payers here send no 835: `test_post_crashes` kills a posting there, on both databases."""
OF_WEBHOOKS = ("webhooks noted", "webhooks sent", "webhooks recorded")
"""The vendor here has no endpoint: `test_webhook_crashes` kills a delivery there, on both databases."""
OF_OVERDUE = ("overdue found", "overdue asked", "overdue stepped", "question sent")
"""The payers here answer: `test_overdue_crashes` kills a sweep there, on both databases."""
OF_FILES = ("file ", "response ", "inquiries ")
"""No site sends files here: `test_file_crashes` kills a service at every step of one, on both databases."""
AT_SFTP = ("written", "before", "after")
"""During an upload, before and after the file gets its name: the payer's server sees to it."""
KILLS = int(os.environ.get("CLEARLANE_TEST_KILLS", by_profile(thorough=12, usual=3, quick=3)))
HERE = [
    point
    for point in fault_injection.CRASH_POINTS
    if point not in {*BY_A_CALLER, *OF_PAYMENTS, *OF_WEBHOOKS, *OF_OVERDUE}
    and not point.startswith(OF_FILES)
]


def shared(points, kind):
    """Return the points of a database: all of them by `make thorough`; otherwise each has every second one."""
    return points if IS_THOROUGH else points[KINDS.index(kind) :: len(KINDS)]


async def finish(made):
    async with made.working() as last:
        await last.is_ready()
        await made.settled()
    made.check(await made.out.states(), await made.out.batches())
    await made.check_events()
    await made.check_filings()


async def test_killed_at_every_named_point_nothing_is_lost_and_nothing_comes_twice(place):
    async with crashing(place) as made:
        await made.submit_and_die()
        await made.resubmit_and_die()
        for point in shared(HERE, place.kind):
            await made.submit()
            async with made.working(point) as worker:
                await worker.dies()
        for moment in shared(AT_SFTP, place.kind):
            await made.submit(3, HARBOR)
            async with made.working() as worker:
                made.sftp.watch = lambda what: what == moment and worker.process.kill()
                await worker.dies()
            made.sftp.watch = None
        await finish(made)


async def test_killed_at_random_under_load_nothing_is_lost_and_nothing_comes_twice(place):
    dice = random.Random(17)
    async with crashing(place) as made:
        for _ in range(KILLS):
            async with made.working() as worker:
                await worker.is_ready()
                left = dice.uniform(0, 1.5)
                while left > 0:
                    await made.submit(dice.randint(1, 5), dice.choice((MEADOW, HARBOR)))
                    pause = min(left, dice.uniform(0, 0.3))
                    await asyncio.sleep(pause)
                    left -= max(pause, 0.01)
        await finish(made)


async def test_of_two_nodes_one_is_killed_and_its_batches_finish_on_the_other(new_place):
    place = await new_place("postgresql")
    async with crashing(place) as made:
        async with made.working("sending") as dying, made.working() as living:
            await living.is_ready()
            async with asyncio.timeout(PATIENCE_SECONDS):
                ends = asyncio.create_task(dying.dies())
                while not ends.done():
                    await made.submit(1)
                    await asyncio.wait([ends], timeout=0.3)
                await ends
            await made.settled()
        made.check(await made.out.states(), await made.out.batches())


@pytest.mark.parametrize("name", ["", "batched:2", "recorded"])
def test_a_point_that_is_not_named_does_nothing(monkeypatch, name):
    monkeypatch.setenv(fault_injection.VARIABLE, name)
    fault_injection.crash_point("batched")
    with pytest.raises(AssertionError, match="no such crash point"):
        fault_injection.crash_point("lunch")
