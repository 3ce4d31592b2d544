"""Tasks are canceled for good, also those that were busy at first; threads in the background make way."""

import asyncio
import sys
import threading

import pytest

from clearlane.kernel.clock import SystemClock
from clearlane.kernel.tasks import (
    INTERPRETER_SECONDS_MAX,
    READ_HERE_BYTES_MAX,
    cancel_all,
    run_by_size,
    run_in_background,
    run_side_by_side,
)
from clearlane.store.database.group_commit import (
    Actor,
    PendingWrite,
    WriteQueue,
    WriteResult,
    submit,
)
from clearlane.store.database.sql import SystemScope


async def forever():
    await asyncio.Event().wait()


async def test_waiting_tasks_are_canceled_and_finished_ones_left_as_they_are():
    done = asyncio.create_task(asyncio.sleep(0, "result"))
    await done
    tasks = [asyncio.create_task(forever()) for _ in range(3)]
    await asyncio.sleep(0)
    await cancel_all([done, *tasks])
    assert all(task.cancelled() for task in tasks)
    assert done.result() == "result"
    await cancel_all([])  # nothing to end is fine


async def test_a_task_whose_write_is_being_stored_is_canceled_after_it():
    """Like a heartbeat: its write cannot be taken back, so the cancellation reaches it only afterward."""
    loop, waiting, beats = asyncio.get_running_loop(), WriteQueue(), []

    async def job(tx):
        return SystemClock().now()

    async def beat():
        while True:
            entry = PendingWrite(
                SystemScope("test"), Actor("node", "n"), job, loop, loop.create_future()
            )
            beats.append(entry)
            await submit(waiting, entry)
            await asyncio.sleep(0)

    task = asyncio.create_task(beat())
    await asyncio.sleep(0)
    [taken] = waiting.take()
    ending = asyncio.create_task(cancel_all([task]))
    await asyncio.sleep(0)
    WriteResult(taken).resolve()
    await ending
    assert task.cancelled()
    assert len(beats) > 1


async def test_a_computation_in_the_background_gives_the_interpreter_back_soon():
    usual = sys.getswitchinterval()

    def compute(number, *, fails=False):
        assert sys.getswitchinterval() == pytest.approx(INTERPRETER_SECONDS_MAX)
        if fails:
            raise ValueError
        return number

    computed = await asyncio.gather(*(run_in_background(compute, at) for at in range(3)))
    assert computed == [0, 1, 2]
    with pytest.raises(ValueError):
        await run_in_background(compute, 1, fails=True)
    assert sys.getswitchinterval() == usual > INTERPRETER_SECONDS_MAX


@pytest.mark.parametrize("at_once", [1, 3, 99])
async def test_jobs_run_side_by_side_up_to_the_first_that_ends_them(at_once):
    faults = {2: ValueError(), 5: KeyError()}
    running = most = 0

    async def job(at):
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(10 - at):
            await asyncio.sleep(0)
        running -= 1
        if at in faults:
            raise faults[at]
        return at

    jobs = [lambda at=at: job(at) for at in range(9)]
    outcomes = await run_side_by_side(jobs, at_once, passing=(ValueError,))
    assert most == min(at_once, 9)
    assert outcomes[:6] == [0, 1, faults[2], 3, 4, faults[5]]
    assert outcomes[6:] == [6, 7, 8][: len(outcomes) - 6]
    assert await run_side_by_side([], at_once) == []


@pytest.mark.parametrize(("more", "is_here"), [(0, True), (1, False)])
async def test_what_is_small_runs_here_and_the_rest_in_a_thread(more, is_here):
    thread = await run_by_size(READ_HERE_BYTES_MAX + more, threading.get_ident)
    assert (thread == threading.get_ident()) is is_here
