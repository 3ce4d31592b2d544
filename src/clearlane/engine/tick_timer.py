"""Run ticks by a timer of this node: work that only looks for what is due, and may be repeated.

Nothing is recorded in the engine's tables, so that an idle node costs little; rows of our own, and the keys of durable
work, keep two nodes from doing a thing twice. Knows no domain and no engine library.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from clearlane.engine.workflows import Id, NodeContext, Result, WorkSteps, WorkTick
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all

log = get_logger()

# So that the nodes of an installation do not all look at the same moment.
SPREAD = 0.05

StartWork = Callable[..., Awaitable[str]]
"""Starts durable work: name, ids, key and what it is alone under, as :meth:`Engine.enqueue`."""


class TickTimer:
    """The timer of one node."""

    def __init__(self, context: NodeContext, ticks: Sequence[WorkTick], start: StartWork) -> None:
        self._context, self._ticks, self._start_work = context, ticks, start
        self._loops: list[asyncio.Task[None]] = []
        self._running: dict[str, set[asyncio.Task[None]]] = {tick.name: set() for tick in ticks}
        self._woken = {tick.name: asyncio.Event() for tick in ticks}

    def start(self) -> None:
        """Begin to run the ticks."""
        self._loops = [asyncio.create_task(self._repeat(tick)) for tick in self._ticks]

    def wake(self, name: str) -> None:
        """Run a tick now: something is due that no other node knows of yet."""
        self._woken[name].set()

    async def stop(self, seconds: float) -> None:
        """Begin no tick any more, let running ones end within a time, and cancel the rest."""
        await cancel_all(self._loops)
        running = set[asyncio.Task[None]]().union(*self._running.values())
        if running:
            await asyncio.wait(running, timeout=max(seconds, 0.001))
        await cancel_all([task for task in running if not task.done()])

    async def _repeat(self, tick: WorkTick) -> None:
        running, woken = self._running[tick.name], self._woken[tick.name]
        pause = random.uniform(0, tick.every_seconds)  # noqa: S311  (a spread, not a secret)
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), pause)
            if woken.is_set() and len(running) >= tick.at_once:
                # What is running may have looked before the thing was due.
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            woken.clear()
            if len(running) < tick.at_once:
                task = asyncio.create_task(self._run(tick))
                running.add(task)
                task.add_done_callback(running.discard)
            pause = tick.every_seconds * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311

    async def _run(self, tick: WorkTick) -> None:
        steps: WorkSteps = _UnrecordedSteps(f"{tick.name}-{self._context.node}", self._start_work)
        try:
            await tick.verb(self._context, steps)
        except Exception as fault:  # noqa: BLE001  (the next run may succeed)
            log.warning(
                "work failed",
                work=tick.name,
                fault=fault_code(fault),
                places=fault_frames(fault),
            )


class _UnrecordedSteps:
    """Steps of a tick: run as they come, since all of it may be repeated."""

    def __init__(self, work: str, start: StartWork) -> None:
        self._work, self._start_work = work, start

    @property
    def work(self) -> str:
        return self._work

    async def run(
        self, name: str, job: Callable[[], Awaitable[Result]], *, attempts: int = 1
    ) -> Result:
        return await job()

    async def start(self, name: str, *ids: Id, key: str = "", alone: str = "") -> str:
        return await self._start_work(name, *ids, key=key, alone=alone)
