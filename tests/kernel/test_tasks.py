"""Tasks end for good, also those that were busy when they were told."""

import asyncio

from clearlane.kernel.clock import SystemClock
from clearlane.kernel.tasks import end_all
from clearlane.store.group_commit import Actor, Entry, Outcome, Waiting, submit
from clearlane.store.sql import System


async def forever():
    await asyncio.Event().wait()


async def test_tasks_that_wait_are_ended_and_others_are_left_as_they_are():
    done = asyncio.create_task(asyncio.sleep(0, "result"))
    await done
    tasks = [asyncio.create_task(forever()) for _ in range(3)]
    await asyncio.sleep(0)
    await end_all([done, *tasks])
    assert all(task.cancelled() for task in tasks)
    assert done.result() == "result"
    await end_all([])  # nothing to end is fine


async def test_a_task_that_is_told_while_its_write_is_being_stored_ends_all_the_same():
    """As a heartbeat does: its write cannot be taken back, so it hears of the end only afterwards."""
    loop, waiting, beats = asyncio.get_running_loop(), Waiting(), []

    async def job(tx):
        return SystemClock().now()

    async def beat():
        while True:
            entry = Entry(System("test"), Actor("node", "n"), job, loop, loop.create_future())
            beats.append(entry)
            await submit(waiting, entry)
            await asyncio.sleep(0)

    task = asyncio.create_task(beat())
    await asyncio.sleep(0)
    [taken] = waiting.take()
    ending = asyncio.create_task(end_all([task]))
    await asyncio.sleep(0)
    Outcome(taken).tell()
    await ending
    assert task.cancelled()
    assert len(beats) > 1
