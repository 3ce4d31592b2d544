"""Hold calls until their request to payers is complete, or until they have waited long enough.

A waiting call has a future and no thread, timer or connection of its own. Answers stored by this node release it at
once; those stored by other nodes are found by one query for all waiting calls. Knows no answer.
"""

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clearlane.kernel.clock import Clock
from clearlane.kernel.faults import fault_code
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all
from clearlane.store import inquiries
from clearlane.store.database.database import Database

log = get_logger()

INQUIRY_POLL_SECONDS = 0.5


@dataclass(slots=True)
class _PendingCall:
    """One waiting call."""

    future: "asyncio.Future[None]"
    missing: int
    """How many answers this node has not counted yet."""


class PendingCalls:
    """The waiting calls of one node."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._open: dict[int, _PendingCall] = {}
        self._deadlines: list[tuple[datetime, int]] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stops: dict[asyncio.Event, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def expect(self, inquiry_request_id: int, missing: int) -> None:
        """Begin to count the answers of a request. Call :meth:`wait` afterward, or :meth:`forget`."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open[inquiry_request_id] = _PendingCall(future, missing)

    def count_answer(self, inquiry_request_id: int) -> None:
        """Count one more stored answer of a request, and release its call at the last."""
        call = self._open.get(inquiry_request_id)
        if call is not None:
            call.missing -= 1
            if call.missing <= 0:
                _release(call)

    async def wait(self, inquiry_request_id: int, until: datetime, stopping: asyncio.Event) -> None:
        """Return when the request is complete, at ``until`` at the latest, or when the node stops."""
        call = self._open.get(inquiry_request_id)
        if call is None:  # the request has no inquiry
            return
        try:
            if not call.future.done() and not stopping.is_set():
                heapq.heappush(self._deadlines, (until, inquiry_request_id))
                self._ensure_task("time", self._release_expired)
                self._ensure_task("poll", self._poll_completed)
                self._release_on_stop(stopping)
                await call.future
        finally:
            self.forget(inquiry_request_id)

    def forget(self, inquiry_request_id: int) -> None:
        """Stop counting the answers of a request."""
        self._open.pop(inquiry_request_id, None)

    def release_all(self) -> None:
        """Release every call: it responds with what has arrived."""
        for call in self._open.values():
            _release(call)

    async def close(self) -> None:
        """Release every call and stop the tasks."""
        self.release_all()
        tasks = [*self._tasks.values(), *self._stops.values()]
        await cancel_all(tasks)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ensure_task(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = self._tasks.get(name)
        if task is None or task.done():
            self._tasks[name] = asyncio.create_task(work())

    async def _release_expired(self) -> None:
        """Release each call at its deadline. Only the earliest is waited for, so one timer is enough."""
        while self._deadlines:
            until, inquiry_request_id = self._deadlines[0]
            if inquiry_request_id in self._open:
                await self._clock.wait_until(until)
            heapq.heappop(self._deadlines)
            call = self._open.get(inquiry_request_id)
            if call is not None:
                _release(call)

    async def _poll_completed(self) -> None:
        """Release calls whose requests other nodes completed, while any call waits."""
        while self._open:
            await asyncio.sleep(INQUIRY_POLL_SECONDS)
            waiting = [id for id, one in self._open.items() if not one.future.done()]
            try:
                async with self._database.read(inquiries.SCOPE) as tx:
                    complete = await inquiries.complete_requests(tx, waiting)
            except Exception as fault:  # noqa: BLE001  (the next poll may succeed)
                log.warning("waiting calls not polled", fault=fault_code(fault))
                continue
            for id in complete:
                if id in self._open:
                    _release(self._open[id])

    def _release_on_stop(self, stopping: asyncio.Event) -> None:
        """Release every call when the node stops."""
        if stopping not in self._stops:

            async def watch() -> None:
                await stopping.wait()
                self.release_all()

            self._stops[stopping] = asyncio.create_task(watch())


def _release(call: _PendingCall) -> None:
    if not call.future.done():
        call.future.set_result(None)
