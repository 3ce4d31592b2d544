"""Items that arrive together are processed together, and a fault reaches only its caller.

Also tests `pipeline/intake/prepare_claims` and `pipeline/intake/submit`.
"""

import asyncio

import pytest

from clearlane.pipeline.intake.microbatch import MicroBatcher


class Stage:
    def __init__(self, items_max: int = 4) -> None:
        self.batches: list[list[int]] = []
        self.batcher = MicroBatcher(self._work, items_max=items_max)

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
    stage = Stage(items_max=4)
    results = await asyncio.gather(*(stage.run(at, at + 1) for at in (1, 3, 5)), stage.run(7))
    assert results == [[10, 20], [30, 40], [50, 60], [70]]
    assert stage.batches == [[1, 2, 3, 4], [5, 6, 7]]


async def test_a_caller_with_more_than_a_batch_takes_has_a_batch_alone():
    stage = Stage(items_max=2)
    assert await asyncio.gather(stage.run(1, 2, 3), stage.run(4)) == [[10, 20, 30], [40]]
    assert stage.batches == [[1, 2, 3], [4]]


async def test_others_run_between_two_batches():
    stage = Stage(items_max=1)
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
