"""Work that comes in one turn of the event loop is done in one stroke, stage by stage.

A stage that runs for many claims one after the other costs half of what it costs when each claim walks through all
stages by itself: the processor has the stage's code and tables at hand. Knows no claim.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Turns(Generic[Item, Result]):
    """One stage. ``work`` gives one result for each item, in order; a turn takes about ``most`` of them."""

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Result]], *, most: int) -> None:
        self._work = work
        self._most = most
        self._waiting: deque[tuple[Sequence[Item], asyncio.Future[Sequence[Result]]]] = deque()

    async def do(self, items: Sequence[Item]) -> Sequence[Result]:
        """Have these done, with what others bring in the same turn."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._run, loop)
        future: asyncio.Future[Sequence[Result]] = loop.create_future()
        self._waiting.append((items, future))
        return await future

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        taken, room = [], self._most
        while self._waiting and (room == self._most or len(self._waiting[0][0]) <= room):
            taken.append(self._waiting.popleft())
            room -= len(taken[-1][0])
        if self._waiting:
            loop.call_soon(self._run, loop)
        try:
            results = self._work([item for items, _ in taken for item in items])
        except Exception:  # noqa: BLE001  (each is told its own below)
            self._run_each(taken)
            return
        start = 0
        for items, future in taken:
            end = start + len(items)
            if not future.done():
                future.set_result(results[start:end])
            start = end

    def _run_each(
        self, taken: Sequence[tuple[Sequence[Item], "asyncio.Future[Sequence[Result]]"]]
    ) -> None:
        """A fault meets the one who brought it."""
        for items, future in taken:
            if future.done():
                continue
            try:
                future.set_result(self._work(items))
            except Exception as fault:  # noqa: BLE001  (raised where it is waited for)
                future.set_exception(fault)
