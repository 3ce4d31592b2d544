"""Wake the threads of the engine's library when their queues have work, so that they need not poll.

    watch = QueueWatch(data, url, seconds=1.25)
    hold_polls(instance, watch.gate)     # of dbos_guard
    watch.start()

The library's poll of one queue is three transactions and three milliseconds of CPU, and there is a thread for each queue.
One small query over all queues, on a connection that stays open, costs a hundredth of that. The threads poll when it finds
work, when this node puts work on a queue, and now and then in any case.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from clearlane.engine.engine_storage import FILE_NAME, SCHEMA
from clearlane.kernel.tasks import cancel_all
from clearlane.store.database.database import StoreFault

QUEUE_IDLE_SECONDS = 30.0
"""A thread of the library that no one wakes polls this often."""
LOOK_AGAIN_SECONDS = 15.0
"""How long to wait after the database could not be asked."""
THREAD_PREFIX = "queue-worker-"
_WAITING = "SELECT DISTINCT queue_name FROM {table} WHERE status = 'ENQUEUED'"


class QueueGate(threading.Event):
    """The stop event of the library's queue threads, on which they also wait between two polls.

    A thread waits for ``wake`` of its own queue, and seldom as shortly as it asked to.
    """

    def __init__(self) -> None:
        super().__init__()
        self._woken: dict[str, threading.Event] = {}

    def wake(self, queue: str) -> None:
        """Let the thread of a queue poll now."""
        self._of(queue).set()

    def set(self) -> None:
        """Stop all threads."""
        super().set()
        for woken in [*self._woken.values()]:
            woken.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until this thread's queue has work; return whether to stop."""
        woken = self._of(threading.current_thread().name.removeprefix(THREAD_PREFIX))
        if not self.is_set():  # what is set after this, wakes
            woken.wait(None if timeout is None else max(timeout, QUEUE_IDLE_SECONDS))
            woken.clear()
        return self.is_set()

    def _of(self, queue: str) -> threading.Event:
        return self._woken.setdefault(queue, threading.Event())


class QueueWatch:
    """Looks for work on the queues and wakes their threads."""

    def __init__(self, data: Path, url: str, *, seconds: float) -> None:
        self.gate = QueueGate()
        self._seconds = seconds
        self._source: _WaitingQueues = (
            _PostgresqlQueues(url) if url.startswith("postgres") else _SqliteQueues(data)
        )
        self._waiting: frozenset[str] = frozenset()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look from now on."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Look no more."""
        if self._task is not None:
            await cancel_all([self._task])
        await self._source.close()

    def added(self, queue: str) -> None:
        """Wake a queue's thread: this node has put work on it."""
        self._waiting |= {queue}
        self.gate.wake(queue)

    def finished(self, queue: str) -> None:
        """Wake a queue's thread if more waits there: a place has become free."""
        if queue in self._waiting:
            self.gate.wake(queue)

    async def _run(self) -> None:
        while True:
            try:
                self._waiting = frozenset(await self._source.waiting())
                pause = self._seconds
            except (StoreFault, sqlite3.Error):
                pause = LOOK_AGAIN_SECONDS
            for queue in self._waiting:
                self.gate.wake(queue)
            await asyncio.sleep(pause)


class _WaitingQueues(Protocol):
    """Reads the queues on which work waits."""

    async def waiting(self) -> Collection[str]:
        """Return their names."""

    async def close(self) -> None:
        """Close the connection."""


class _SqliteQueues:
    """The engine's own file. A read of a few pages waits for no writer."""

    def __init__(self, data: Path) -> None:
        self._file = (data / FILE_NAME).absolute()
        self._connection: sqlite3.Connection | None = None

    async def waiting(self) -> Collection[str]:
        if self._connection is None:
            uri = f"{self._file.as_uri()}?mode=ro"
            self._connection = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)
        rows = self._connection.execute(_WAITING.format(table="workflow_status")).fetchall()
        return [str(queue) for (queue,) in rows if queue]

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


class _PostgresqlQueues:
    """The engine's tables in PostgreSQL, with the rights of the login."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: Any = None

    async def waiting(self) -> Collection[str]:
        from clearlane.store.database.postgresql_connection import (
            DRIVER_ERRORS,
            connect,
            connection_fault,
        )

        try:
            if self._connection is None:
                self._connection = await connect(self._url)
            rows = await self._connection.fetch(_WAITING.format(table=f"{SCHEMA}.workflow_status"))
        except DRIVER_ERRORS as error:
            await self.close()
            raise StoreFault(f"PostgreSQL: {connection_fault(error)}") from None
        return [str(queue) for (queue,) in rows if queue]

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.terminate()
