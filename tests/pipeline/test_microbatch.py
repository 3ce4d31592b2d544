"""Items that arrive together are processed together, and a fault reaches only its caller.

Also tests `pipeline/intake/prepare_claims`, `pipeline/intake/judge`, `pipeline/intake/store` and `pipeline/intake/submit`.
"""

import asyncio
import time
from datetime import date

import pytest

from clearlane.claims.rules import RuleInputs
from clearlane.pipeline.intake.microbatch import MicroBatcher
from clearlane.pipeline.intake.prepare_claims import PAYERS_REMEMBERED_MAX, KnownPayers


def be_busy(seconds):
    time.sleep(seconds)


class Stage:
    def __init__(self, size_max: int = 4) -> None:
        self.batches: list[list[int]] = []
        self.batcher = MicroBatcher(
            self._work, size_max=size_max, size=lambda item: 3 if item > 100 else 1
        )

    def _work(self, items):
        self.batches.append(list(items))
        if 13 in items:
            raise ValueError("not this one")
        return [item * 10 for item in items]

    async def run(self, *items: int):
        return list(await self.batcher.run(items))


async def test_callers_that_come_together_are_processed_together_and_each_gets_its_own():
    stage = Stage()
    assert await asyncio.gather(stage.run(1), stage.run(2, 3), stage.run(4)) == [
        [10],
        [20, 30],
        [40],
    ]
    assert stage.batches == [[1, 2, 3, 4]]


async def test_a_caller_alone_does_not_wait_for_others():
    stage = Stage()
    assert [await stage.run(1), await stage.run(2)] == [[10], [20]]
    assert stage.batches == [[1], [2]]


async def test_a_batch_takes_so_many_and_the_others_wait_for_the_next():
    stage = Stage(size_max=4)
    results = await asyncio.gather(*(stage.run(at, at + 1) for at in (1, 3, 5)), stage.run(7))
    assert results == [[10, 20], [30, 40], [50, 60], [70]]
    assert stage.batches == [[1, 2, 3, 4], [5, 6, 7]]


async def test_a_caller_with_more_than_a_batch_takes_gets_several():
    stage = Stage(size_max=2)
    assert await asyncio.gather(stage.run(1, 2, 3), stage.run(4)) == [[10, 20, 30], [40]]
    assert stage.batches == [[1, 2], [4], [3]]


async def test_a_large_item_takes_the_place_of_several():
    stage = Stage(size_max=4)
    assert await stage.run(1, 101, 102, 2, 3) == [10, 1010, 1020, 20, 30]
    assert stage.batches == [[1, 101], [102, 2], [3]]


@pytest.mark.slow
async def test_work_in_the_background_pauses_while_others_have_something_to_do():
    stage = Stage(size_max=1)
    done = asyncio.Event()
    seen = []

    async def call():
        """A call that takes ten iterations, each long enough to be noticed."""
        for _ in range(10):
            await asyncio.sleep(0)
            be_busy(0.002)
        seen.append(len(stage.batches))
        done.set()

    def work(items):
        stage.batches.append(list(items))
        be_busy(0.05)
        return items

    stage.batcher = MicroBatcher(work, size_max=1)
    both = asyncio.gather(stage.batcher.run(range(20), is_background=True), call())
    results, _ = await both
    assert list(results) == list(range(20))
    assert seen[0] <= 5


async def test_of_several_callers_in_the_background_one_works_at_a_time():
    working, most = [], []

    def work(items):
        working.append(items)
        most.append(len(working))
        be_busy(0.005)
        working.remove(items)
        return items

    batcher = MicroBatcher(work, size_max=1)
    calls = [batcher.run(range(at, at + 3), is_background=True) for at in (0, 10, 20)]
    results = await asyncio.gather(*calls)
    assert [list(each) for each in results] == [[0, 1, 2], [10, 11, 12], [20, 21, 22]]
    assert most == [1] * 9


async def test_others_run_between_two_batches():
    stage = Stage(size_max=1)
    seen = []

    async def other():
        for _ in range(3):
            seen.append(len(stage.batches))
            await asyncio.sleep(0)

    await asyncio.gather(*(stage.run(at) for at in range(3)), other())
    assert seen == [0, 1, 2]


async def test_a_fault_reaches_only_the_caller_whose_items_raise():
    stage = Stage()
    first, bad, last = await asyncio.gather(
        stage.run(1), stage.run(2, 13), stage.run(3), return_exceptions=True
    )
    assert (first, last) == ([10], [30])
    assert isinstance(bad, ValueError)


@pytest.mark.parametrize("others", [(2,), (13,)])
async def test_a_caller_that_gives_up_harms_no_other(others):
    stage = Stage()
    leaving = asyncio.create_task(stage.run(1))
    staying = asyncio.create_task(stage.run(*others))
    await asyncio.sleep(0)
    leaving.cancel()
    results = await asyncio.gather(leaving, staying, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert results[1] == [20] or isinstance(results[1], ValueError)


INPUTS = RuleInputs(today=date(2026, 7, 1))


def test_what_rules_know_of_a_payer_is_remembered_until_a_snapshot_is_replaced():
    known, payers, settings, others = KnownPayers(), object(), object(), object()
    known.made_of(payers, settings)["MM001",] = INPUTS
    assert known.made_of(payers, settings) == {("MM001",): INPUTS}
    assert known.made_of(payers, others) == {}
    assert known.made_of(payers, settings) == {}


def test_payers_are_forgotten_before_they_take_much_memory():
    known, payers = KnownPayers(), object()
    for at in range(PAYERS_REMEMBERED_MAX + 1):
        known.made_of(payers)[f"P{at}",] = INPUTS
    assert len(known.made_of(payers)) == 1
