"""Calls that wait for a request to be complete: one promise each, one keeper of the time for all.

A waiting call holds no thread, no timer and no connection. What completes it may happen at this node, which tells
at once, or at another one, which is seen by looking: one query for all that wait. Knows no answer.
"""

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.kernel.faults import fault_code
from clearlane.kernel.tasks import end_all
from clearlane.store import eligibility as store
from clearlane.store.database import Database

log = structlog.get_logger()


@dataclass(slots=True)
class _Waiter:
    """One call."""

    promise: "asyncio.Future[None]"
    missing: int
    """How many answers this node has not yet seen."""


class Waiters:
    """The waiting calls of one node."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._open: dict[int, _Waiter] = {}
        self._deadlines: list[tuple[datetime, int]] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stops: dict[asyncio.Event, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def expect(self, request_id: int, missing: int) -> None:
        """Count the answers of a request from here on. Call :meth:`wait` afterwards, or :meth:`forget`."""
        promise: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open[request_id] = _Waiter(promise, missing)

    def answered(self, request_id: int) -> None:
        """One more answer of a request is kept."""
        waiter = self._open.get(request_id)
        if waiter is not None:
            waiter.missing -= 1
            if waiter.missing <= 0:
                _release(waiter)

    async def wait(self, request_id: int, until: datetime, stopping: asyncio.Event) -> None:
        """Return when the request is complete, at the moment at the latest, or when the node stops."""
        waiter = self._open.get(request_id)
        if waiter is None:  # there was nothing to ask
            return
        try:
            if not waiter.promise.done() and not stopping.is_set():
                heapq.heappush(self._deadlines, (until, request_id))
                self._run("time", self._keep_time)
                self._run("look", self._look)
                self._mind(stopping)
                await waiter.promise
        finally:
            self.forget(request_id)

    def forget(self, request_id: int) -> None:
        """Nobody waits for this request any more."""
        self._open.pop(request_id, None)

    def release_all(self) -> None:
        """Let every call answer with what it has."""
        for waiter in self._open.values():
            _release(waiter)

    async def close(self) -> None:
        """Stop keeping time."""
        self.release_all()
        tasks = [*self._tasks.values(), *self._stops.values()]
        await end_all(tasks)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _run(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = self._tasks.get(name)
        if task is None or task.done():
            self._tasks[name] = asyncio.create_task(work())

    async def _keep_time(self) -> None:
        """Release each call when its time is over; the earliest is waited for, so one timer is enough."""
        while self._deadlines:
            until, request_id = self._deadlines[0]
            if request_id in self._open:
                await self._clock.wait_until(until)
            heapq.heappop(self._deadlines)
            waiter = self._open.get(request_id)
            if waiter is not None:
                _release(waiter)

    async def _look(self) -> None:
        """See what was completed elsewhere, while somebody waits."""
        while self._open:
            await asyncio.sleep(limits.ELIGIBILITY_LOOK_SECONDS)
            waiting = [id for id, one in self._open.items() if not one.promise.done()]
            try:
                async with self._database.read(store.SCOPE) as tx:
                    complete = await store.complete(tx, waiting)
            except Exception as fault:  # noqa: BLE001  (the next look may succeed)
                log.warning("waiting calls not looked after", fault=fault_code(fault))
                continue
            for id in complete:
                if id in self._open:
                    _release(self._open[id])

    def _mind(self, stopping: asyncio.Event) -> None:
        """Release everybody when the node stops."""
        if stopping not in self._stops:

            async def watch() -> None:
                await stopping.wait()
                self.release_all()

            self._stops[stopping] = asyncio.create_task(watch())


def _release(waiter: _Waiter) -> None:
    if not waiter.promise.done():
        waiter.promise.set_result(None)
