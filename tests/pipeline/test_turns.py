"""What comes in one turn of the loop is done in one stroke, and a fault meets the one who brought it."""

import asyncio

import pytest

from clearlane.pipeline.intake.microbatch import Turns


class Stage:
    def __init__(self, most: int = 4) -> None:
        self.strokes: list[list[int]] = []
        self.turns = Turns(self._work, most=most)

    def _work(self, items):
        self.strokes.append(list(items))
        if 13 in items:
            raise ValueError("not this one")
        return [item * 10 for item in items]

    async def do(self, *items: int):
        return list(await self.turns.do(items))


async def test_those_who_come_together_are_served_together_and_each_gets_its_own():
    stage = Stage()
    assert await asyncio.gather(stage.do(1), stage.do(2, 3), stage.do(4)) == [[10], [20, 30], [40]]
    assert stage.strokes == [[1, 2, 3, 4]]


async def test_who_comes_alone_does_not_wait_for_others():
    stage = Stage()
    assert [await stage.do(1), await stage.do(2)] == [[10], [20]]
    assert stage.strokes == [[1], [2]]


async def test_a_turn_takes_so_many_and_the_others_wait_for_the_next():
    stage = Stage(most=4)
    ends = await asyncio.gather(*(stage.do(at, at + 1) for at in (1, 3, 5)), stage.do(7))
    assert ends == [[10, 20], [30, 40], [50, 60], [70]]
    assert stage.strokes == [[1, 2, 3, 4], [5, 6, 7]]


async def test_one_who_brings_more_than_a_turn_takes_has_a_turn_for_himself():
    stage = Stage(most=2)
    assert await asyncio.gather(stage.do(1, 2, 3), stage.do(4)) == [[10, 20, 30], [40]]
    assert stage.strokes == [[1, 2, 3], [4]]


async def test_others_run_between_two_turns():
    stage = Stage(most=1)
    seen = []

    async def other():
        for _ in range(3):
            seen.append(len(stage.strokes))
            await asyncio.sleep(0)

    await asyncio.gather(*(stage.do(at) for at in range(3)), other())
    assert seen == [0, 1, 2]


async def test_a_fault_meets_the_one_who_brought_it():
    stage = Stage()
    first, bad, last = await asyncio.gather(
        stage.do(1), stage.do(2, 13), stage.do(3), return_exceptions=True
    )
    assert (first, last) == ([10], [30])
    assert isinstance(bad, ValueError)


@pytest.mark.parametrize("others", [(2,), (13,)])
async def test_one_who_gives_up_harms_nobody(others):
    stage = Stage()
    leaving = asyncio.create_task(stage.do(1))
    staying = asyncio.create_task(stage.do(*others))
    await asyncio.sleep(0)
    leaving.cancel()
    ends = await asyncio.gather(leaving, staying, return_exceptions=True)
    assert isinstance(ends[0], asyncio.CancelledError)
    assert ends[1] == [20] or isinstance(ends[1], ValueError)
