"""The engine's own tables, read and changed through its public client.

Knows work by id, name, state and node, never by content. Works beside a running engine and without
one, so work can be handed on after the engine has stopped.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from clearlane.engine.workflows import Id, Plain, Queue, only_ids, plain
from clearlane.kernel import limits
from clearlane.kernel.faults import WorkFailed

if TYPE_CHECKING:
    from dbos import DBOSClient

Answer = TypeVar("Answer")

APPLICATION = "clearlane"
# The number of the protocol between the verbs and the rows they left behind. Work is carried on only
# by code of the same number, so it changes when steps of unfinished work would no longer fit, and not
# with every release.
PROTOCOL = "1"
LEDGER_THREADS = 2

QUEUED, STARTED = ("ENQUEUED", "DELAYED"), ("PENDING",)
DONE, FAILED, CANCELLED = "SUCCESS", "ERROR", "CANCELLED"
ENDED = (DONE, FAILED)


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work as the engine knows it."""

    id: str
    name: str
    state: str
    node: str
    queue: str


class Ledger:
    """What the engine remembers, by id."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: DBOSClient | None = None
        self._opening = threading.Lock()
        # Own threads: the engine lends its pool to the event loop and takes it away when it stops.
        self._threads = ThreadPoolExecutor(LEDGER_THREADS, thread_name_prefix="engine-ledger")

    async def call(self, ask: Callable[["DBOSClient"], Answer]) -> Answer:
        """Ask the client something, off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: ask(self._opened())
        )

    async def declare(self, queues: Iterable[Queue]) -> None:
        """Make the queues as the table has them."""

        def register(client: "DBOSClient") -> None:
            for queue in queues:
                client.register_queue(
                    queue.name,
                    worker_concurrency=queue.at_once,
                    polling_interval_sec=queue.look_seconds,
                )

        await self.call(register)

    async def enqueue(self, name: str, ids: tuple[Id, ...], *, queue: str, key: str = "") -> str:
        """Put work on a queue; the same key again is the same work and changes nothing."""
        values = only_ids(ids)
        [key] = only_ids([key or "-".join((name, *map(str, ids)))])
        options: Any = {
            "workflow_name": name,
            "queue_name": queue,
            "workflow_id": key,
            "app_version": PROTOCOL,
        }
        await self.call(lambda client: client.enqueue(options, *values))
        return key

    async def find(self, work: str) -> Work | None:
        """One piece of work, if the engine knows it."""
        found = await self._list(workflow_ids=[work], limit=1)
        return found[0] if found else None

    async def started(self, *, node: str | None = None) -> list[Work]:
        """Work begun and not ended, of one node or of all; a page, oldest first."""
        return await self._list(status=list(STARTED), executor_id=node)

    async def ended(
        self, before: datetime, *, names: Iterable[str] | None, states: Iterable[str]
    ) -> list[Work]:
        """Work of these names, or of all, that ended so before a moment: a page, oldest first."""
        return await self._list(
            status=list(states),
            completed_before=before.isoformat(),
            name=None if names is None else list(names),
        )

    async def resume(self, work: str, *, queue: str) -> None:
        """Put begun work back on a queue. Whoever held it can write no more step of it."""
        await self.call(lambda client: client.resume_workflows([work], queue_name=queue))

    async def cancel(self, work: str) -> None:
        """Stop work where it stands; it can be resumed."""
        await self.call(lambda client: client.cancel_workflows([work]))

    async def forget(self, works: list[str]) -> None:
        """Delete work and all its steps."""
        await self.call(lambda client: client.delete_workflows(works))

    async def result(self, work: str, *, seconds: float) -> Plain:
        """What the work left behind; :class:`Failed` when it failed, TimeoutError when it lasts."""
        async with asyncio.timeout(seconds):
            while True:
                rows = await self.call(
                    lambda client: client.list_workflows(workflow_ids=[work], load_input=False)
                )
                if rows and rows[0].status == DONE:
                    return plain(rows[0].output)
                if rows and rows[0].status not in {*QUEUED, *STARTED}:
                    raise WorkFailed(
                        getattr(rows[0].error, "message", None) or rows[0].status.lower()
                    )
                await asyncio.sleep(limits.ENGINE_RESULT_LOOK_SECONDS)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._client.destroy)
            self._client = None
        self._threads.shutdown(wait=False)

    async def _list(self, **wanted: Any) -> list[Work]:
        wanted.setdefault("limit", limits.ENGINE_PAGE_ROWS)
        rows = await self.call(
            lambda client: client.list_workflows(load_input=False, load_output=False, **wanted)
        )
        return [
            Work(row.workflow_id, row.name, row.status, row.executor_id or "", row.queue_name or "")
            for row in rows
        ]

    def _opened(self) -> "DBOSClient":
        from dbos import DBOSClient, DBOSPortableJSONSerializer

        with self._opening:
            if self._client is None:
                self._client = DBOSClient(
                    system_database_url=self._url,
                    serializer=DBOSPortableJSONSerializer(),
                    application_name=APPLICATION,
                    system_database_pool_size=LEDGER_THREADS,
                    # A lost connection is an error of the one who asked, not an endless wait.
                    retry_connection_errors=False,
                )
            return self._client
