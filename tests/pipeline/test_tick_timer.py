"""The timer of a node: what looks for due work, without a record."""

import asyncio

import pytest
import structlog

from clearlane.engine.tick_timer import TickTimer
from clearlane.engine.workflows import WorkTables, WorkTick
from tests.contexts import EngineContext
from tests.patience import until

QUICK_SECONDS = 0.01
CONTEXT = EngineContext(None, None, None, "node")


class Started:
    """Durable work that ticks have started."""

    def __init__(self):
        self.work = []

    async def __call__(self, name, *ids, key="", alone=""):
        self.work.append((name, ids, key, alone))
        return key


def tick(verb, name="look", **more):
    return WorkTick(name=name, verb=verb, every_seconds=QUICK_SECONDS, **more)


async def test_ticks_run_again_and_again_and_start_durable_work():
    started, seen = Started(), []

    async def answer():
        return 3

    async def look(context, steps):
        seen.append((context.node, steps.work, await steps.run("step", answer)))
        await steps.start("deliver", 7, key="deliver-7", alone="payer")

    timer = TickTimer(CONTEXT, [tick(look)], started)
    timer.start()
    await until(lambda: len(started.work) > 2)
    await timer.stop(1)
    count = len(started.work)
    assert set(seen) == {("node", "look-node", 3)}
    assert set(started.work) == {("deliver", (7,), "deliver-7", "payer")}
    await asyncio.sleep(5 * QUICK_SECONDS)
    assert len(started.work) == count


async def test_a_tick_that_is_woken_runs_at_once_and_again_if_it_was_running():
    runs, going_on = [], asyncio.Event()

    async def look(context, steps):
        runs.append(1)
        await going_on.wait()

    timer = TickTimer(CONTEXT, [WorkTick(name="look", verb=look, every_seconds=600)], Started())
    timer.start()
    timer.wake("look")
    await until(lambda: len(runs) == 1)
    timer.wake("look")  # it may have looked already
    await asyncio.sleep(QUICK_SECONDS)
    assert len(runs) == 1
    going_on.set()
    await until(lambda: len(runs) == 2)
    await timer.stop(1)


async def test_a_tick_that_fails_is_logged_by_its_code_and_runs_again():
    runs = []

    async def look(context, steps):
        runs.append(1)
        raise ValueError("ROSA ARDEN")

    timer = TickTimer(CONTEXT, [tick(look)], Started())
    with structlog.testing.capture_logs() as logs:
        timer.start()
        await until(lambda: len(runs) > 1)
        await timer.stop(1)
    assert {(entry["event"], entry["work"]) for entry in logs} == {("work failed", "look")}
    assert "ROSA" not in str(logs)


@pytest.mark.parametrize("at_once", [1, 3])
async def test_slow_runs_go_on_side_by_side_up_to_a_limit(at_once):
    running, ending = [], asyncio.Event()

    async def look(context, steps):
        running.append(1)
        await ending.wait()

    timer = TickTimer(CONTEXT, [tick(look, at_once=at_once)], Started())
    timer.start()
    await until(lambda: len(running) == at_once)
    await asyncio.sleep(5 * QUICK_SECONDS)
    assert len(running) == at_once
    ending.set()
    await timer.stop(1)


async def test_a_stop_waits_for_running_ticks_and_then_cancels_them():
    ended, stuck = [], []

    async def look(context, steps):
        stuck.append(1)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(1)

    timer = TickTimer(CONTEXT, [tick(look)], Started())
    timer.start()
    await until(lambda: stuck)
    await timer.stop(0)
    assert ended == [1]


def test_a_tick_has_a_name_of_its_own():
    async def look(context, steps): ...

    with pytest.raises(ValueError, match=r"twice: \['look'\]"):
        WorkTables(queues=(), workflows=(), ticks=(tick(look), tick(look))).check()
