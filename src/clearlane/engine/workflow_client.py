"""Read and change the engine's tables through the library's public client.

Knows work by id, name, state and node, never by content. Needs no running engine, so work can be handed over after the
engine has stopped.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from clearlane.engine.workflows import Id, StepValue, WorkQueue, check_ids, check_step_value
from clearlane.kernel.faults import WorkFailed

if TYPE_CHECKING:
    from dbos import DBOSClient, WorkflowHandle

ENGINE_PAGE_ROWS = 500
ENGINE_RESULT_POLL_SECONDS = 0.1

ClientResult = TypeVar("ClientResult")

APPLICATION = "clearlane"
# The version of the workflows' steps. Unfinished work is continued only by code of the same version, so it changes
# when the steps of a workflow change, and not with every release.
PROTOCOL = "1"
CLIENT_THREADS = 2

QUEUED, STARTED = ("ENQUEUED", "DELAYED"), ("PENDING",)
DONE, FAILED, CANCELLED = "SUCCESS", "ERROR", "CANCELLED"
ENDED = (DONE, FAILED)


@dataclass(frozen=True, slots=True)
class QueuedWork:
    """One piece of work in the engine's tables."""

    id: str
    name: str
    state: str
    node: str
    queue: str


class WorkflowClient:
    """Client of the engine's tables."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: DBOSClient | None = None
        self._opening = threading.Lock()
        # Own threads: the library makes its pool the loop's default and closes it when it stops.
        self._threads = ThreadPoolExecutor(CLIENT_THREADS, thread_name_prefix="engine-client")

    async def call(self, ask: Callable[["DBOSClient"], ClientResult]) -> ClientResult:
        """Call the library's client in a thread."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: ask(self._connected())
        )

    async def register_queues(self, queues: Iterable[WorkQueue]) -> None:
        """Create or update the queues."""

        def register(client: "DBOSClient") -> None:
            for queue in queues:
                client.register_queue(
                    queue.name,
                    worker_concurrency=queue.at_once,
                    polling_interval_sec=queue.poll_seconds,
                )

        await self.call(register)

    async def enqueue(
        self, name: str, ids: tuple[Id, ...], *, queue: str, key: str = "", alone: str = ""
    ) -> str:
        """Put work on a queue; return its id. The same key again is the same work and changes nothing.

        Of work that is ``alone`` under a word, none is added while other such work waits or runs: that one's id is returned.
        """
        values = check_ids(ids)
        [key] = check_ids([key or "-".join((name, *map(str, ids)))])
        options: Any = {
            "workflow_name": name,
            "queue_name": queue,
            "workflow_id": key,
            "app_version": PROTOCOL,
        }
        if alone:
            options |= {"deduplication_id": alone, "duplication_policy": "return-existing"}
        handle: WorkflowHandle[Any] = await self.call(
            lambda client: client.enqueue(options, *values)
        )
        return str(handle.get_workflow_id())

    async def find(self, work: str) -> QueuedWork | None:
        """Return one piece of work; None if it is unknown."""
        found = await self._list(workflow_ids=[work], limit=1)
        return found[0] if found else None

    async def started(self, *, node: str | None = None) -> list[QueuedWork]:
        """Return a page of unfinished work of one node or of all, the oldest first."""
        return await self._list(status=list(STARTED), executor_id=node)

    async def ended(
        self, before: datetime, *, names: Iterable[str] | None, states: Iterable[str]
    ) -> list[QueuedWork]:
        """Return a page of work that ended before a moment in one of the states, the oldest first."""
        return await self._list(
            status=list(states),
            completed_before=before.isoformat(),
            name=None if names is None else list(names),
        )

    async def resume(self, work: str, *, queue: str) -> None:
        """Put started work back on a queue. The node that had it can record no further step."""
        await self.call(lambda client: client.resume_workflows([work], queue_name=queue))

    async def cancel(self, work: str) -> None:
        """Stop work at its current step; it can be resumed."""
        await self.call(lambda client: client.cancel_workflows([work]))

    async def delete(self, works: list[str]) -> None:
        """Delete work and all its steps."""
        await self.call(lambda client: client.delete_workflows(works))

    async def result(self, work: str, *, seconds: float) -> StepValue:
        """Wait for the result of work; raise :class:`WorkFailed` when it failed, TimeoutError when it lasts."""
        async with asyncio.timeout(seconds):
            while True:
                rows = await self.call(
                    lambda client: client.list_workflows(workflow_ids=[work], load_input=False)
                )
                if rows and rows[0].status == DONE:
                    return check_step_value(rows[0].output)
                if rows and rows[0].status not in {*QUEUED, *STARTED}:
                    raise WorkFailed(
                        getattr(rows[0].error, "message", None) or rows[0].status.lower()
                    )
                await asyncio.sleep(ENGINE_RESULT_POLL_SECONDS)

    async def close(self) -> None:
        """Close the connections, after the calls that use them."""
        client, self._client = self._client, None

        def close() -> None:
            # The library would leave the connection of a call that still runs open for ever.
            self._threads.shutdown(cancel_futures=True)
            if client is not None:
                client.destroy()

        with ThreadPoolExecutor(1, thread_name_prefix="engine-client-close") as thread:
            await asyncio.get_running_loop().run_in_executor(thread, close)

    async def _list(self, **wanted: Any) -> list[QueuedWork]:
        wanted.setdefault("limit", ENGINE_PAGE_ROWS)
        rows = await self.call(
            lambda client: client.list_workflows(load_input=False, load_output=False, **wanted)
        )
        return [
            QueuedWork(
                row.workflow_id, row.name, row.status, row.executor_id or "", row.queue_name or ""
            )
            for row in rows
        ]

    def _connected(self) -> "DBOSClient":
        from dbos import DBOSClient, DBOSPortableJSONSerializer

        with self._opening:
            if self._client is None:
                self._client = DBOSClient(
                    system_database_url=self._url,
                    serializer=DBOSPortableJSONSerializer(),
                    application_name=APPLICATION,
                    system_database_pool_size=CLIENT_THREADS,
                    # A lost connection is an error for the caller, not an endless wait.
                    retry_connection_errors=False,
                )
            return self._client
