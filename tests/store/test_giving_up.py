"""A caller that gives up: nothing is stored, or the outcome is the answer."""

import asyncio

import pytest

from clearlane.store.group_commit import Actor, Conflict, Entry, Outcome, Waiting, submit
from clearlane.store.sql import System


async def nothing(tx):
    return None


def an_entry() -> Entry:
    loop = asyncio.get_running_loop()
    return Entry(System("test"), Actor("node", "test"), nothing, loop, loop.create_future())


async def begun():
    """A write that waits for its group, and the task that waits for it."""
    waiting, entry = Waiting(), an_entry()
    task = asyncio.create_task(submit(waiting, entry))
    await asyncio.sleep(0)
    return waiting, entry, task


async def test_a_write_that_still_waits_is_withdrawn():
    waiting, _, task = await begun()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert waiting.take() == []


async def test_a_write_that_a_group_has_taken_is_waited_for():
    waiting, entry, task = await begun()
    assert waiting.take() == [entry]
    task.cancel()
    await asyncio.sleep(0)
    entry.future.set_result("stored")
    assert await task == "stored"


async def test_a_write_that_is_done_as_its_caller_gives_up_is_not_denied():
    waiting, entry, task = await begun()
    waiting.take()
    entry.future.set_result("stored")
    task.cancel()
    assert await task == "stored"


async def test_a_write_that_ends_just_after_its_caller_gave_up_is_not_denied():
    waiting, entry, task = await begun()
    waiting.take()
    task.cancel()
    Outcome(entry, "stored").tell()
    assert await task == "stored"


async def test_a_fault_that_comes_just_after_its_caller_gave_up_is_the_answer():
    waiting, entry, task = await begun()
    waiting.take()
    task.cancel()
    Outcome(entry, fault=Conflict("claims")).tell()
    with pytest.raises(Conflict):
        await task
