"""The durable engine: work of several steps that goes on where it stopped, whatever stopped it.

The only file that knows DBOS's global state: it launches the library inside the running event loop,
registers the tables of :mod:`clearlane.pipeline.schedule` with it, and takes it down again. Knows no
domain.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, TypeVar

import structlog
from sqlalchemy.exc import ProgrammingError, SQLAlchemyError

from clearlane.engine.dbos_guard import hush, library
from clearlane.engine.engine_storage import (
    EMBEDDED,
    SCHEMA,
    EngineRefused,
    address,
    lock,
    prepare,
    upgrade,
)
from clearlane.engine.node_recovery import Pace, Parked, Takeover
from clearlane.engine.workflow_client import APPLICATION, PROTOCOL, Ledger, Work
from clearlane.engine.workflows import (
    Id,
    NodeContext,
    Plain,
    Queue,
    Result,
    Schedule,
    Tables,
    Verb,
    plain,
)
from clearlane.kernel import limits
from clearlane.kernel.faults import WorkFailed, fault_code, fault_frames
from clearlane.kernel.tasks import end_all
from clearlane.store.database import StoreFault
from clearlane.store.nodes import Nodes

__all__ = ["Engine", "EngineRefused", "Pace"]

log = structlog.get_logger()

Answer = TypeVar("Answer")

# The queue of the engine's own ticks.
HOUSE = Queue(name="house", at_once=4, look_seconds=1.0)


class Engine:
    """One node's engine. At most one runs in a process, because the library is global."""

    _in_process: ClassVar["Engine | None"] = None

    def __init__(
        self,
        desk: NodeContext,
        tables: Tables,
        *,
        nodes: Nodes,
        url: str,
        pace: Pace,
        stop_seconds: float = 0,
        migrate: bool = True,
    ) -> None:
        self._embedded = not url.startswith("postgres")
        self._url = address(desk.data, url)
        self._executor = EMBEDDED if self._embedded else desk.node
        self._desk, self._nodes, self._pace = desk, nodes, pace
        self._stop_seconds = stop_seconds
        self._migrate = migrate or self._embedded
        self._tables = self._with_house(tables, pace)
        self._tables.check()
        self._ledger = Ledger(self._url)
        self._takeover = Takeover(
            desk.database,
            self._ledger,
            pace,
            node=self._executor,
            queue_of=self._tables.queue_of,
            ticks=frozenset(row.name for row in self._tables.schedules),
        )
        self._ending = AsyncExitStack()
        self._launched = self._stopping = False
        self._busy: set[asyncio.Task[Any]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Open or make the engine's tables, adopt what was left behind, and begin to work."""
        if Engine._in_process is not None:
            raise EngineRefused("This process already runs an engine: stop that one first.")
        Engine._in_process = self
        self._ending.callback(self._leave_process)
        try:
            if self._embedded:
                self._ending.callback(os.close, lock(self._desk.data))
            # Before any work: what a node without a heartbeat has begun is taken from it.
            await self._begin_to_beat()
            await self._launch()
        except BaseException:
            await self._ending.aclose()
            raise

    async def stop(self) -> None:
        """Let steps that run come to their end, hand the rest on, and go."""
        self._stopping = True
        hush()
        await self._settle()
        await self._ending.aclose()

    @property
    def node(self) -> str:
        """The id under which this node works."""
        return self._desk.node

    async def enqueue(self, name: str, *ids: Id, key: str = "") -> str:
        """Put work on its queue and return its id. The same key is the same work."""
        return await self._ledger.enqueue(name, ids, queue=self._tables.queue_of[name], key=key)

    async def result(self, work: str, *, seconds: float) -> Plain:
        """What work leaves behind; :class:`Failed` when it failed, TimeoutError when it lasts."""
        return await self._ledger.result(work, seconds=seconds)

    async def find(self, work: str) -> Work | None:
        """One piece of work as the engine knows it."""
        return await self._ledger.find(work)

    async def parked(self) -> list[Parked]:
        """Work that waits for a person, because the nodes that did it kept dying."""
        return await self._takeover.parked()

    async def release(self, work: str) -> bool:
        """Let parked work go on from its last finished step; whether there was such work."""
        return await self._takeover.release(work)

    def _with_house(self, tables: Tables, pace: Pace) -> Tables:
        """The tables and the engine's own ticks."""

        async def sweep(desk: NodeContext, steps: "_Steps") -> Plain:
            return await steps.run("sweep", self._takeover.sweep)

        async def purge(desk: NodeContext, steps: "_Steps") -> Plain:
            return await steps.run("purge", self._takeover.purge)

        own = [Schedule(name="purge", verb=purge, cron="0 17 * * * *", queue=HOUSE.name)]
        if not self._embedded:
            every = _every(pace.heartbeat_seconds)
            own.append(Schedule(name="sweep", verb=sweep, cron=every, queue=HOUSE.name))
        return replace(tables, queues=(*tables.queues, HOUSE), schedules=(*tables.schedules, *own))

    async def _launch(self) -> None:
        if self._embedded:
            prepare(self._desk.data)
        dbos = library()
        self._ending.push_async_callback(self._ledger.close)
        if self._migrate:
            await self._off_loop(lambda: upgrade(self._url))
        try:
            # Before the launch: the library looks at once for the queues it finds, later once a second.
            await self._ledger.declare(self._tables.queues)
        except ProgrammingError:
            raise EngineRefused("The engine has no tables. Run: clearlane db upgrade") from None
        if self._embedded:
            # Nobody else can hold work here: what a killed process left is adopted before the
            # library looks for it, and counted like any takeover.
            await self._takeover.adopt(alive=self.node)
        self._ending.push_async_callback(self._destroy)
        dbos.DBOS(config=self._config())
        dbos.DBOS.listen_queues([row.name for row in self._tables.queues])
        for row in self._tables.workflows:
            dbos.DBOS.workflow(name=row.name)(self._work(row.verb))
        ticks = [self._tick(row) for row in self._tables.schedules]
        try:
            # In this thread, because the library adopts the event loop that it finds running.
            dbos.DBOS.launch()
        except dbos.error.DBOSInitializationError:
            raise EngineRefused("The engine's tables are old. Run: clearlane db upgrade") from None
        # From here on work may be in hand when the engine stops.
        self._launched = True
        await self._off_loop(lambda: self._declare(ticks))

    def _config(self) -> Any:
        return {
            "name": APPLICATION,
            "system_database_url": self._url,
            "dbos_system_schema": SCHEMA,
            "run_migrations": False,
            "serializer": library().DBOSPortableJSONSerializer(),
            "application_version": PROTOCOL,
            "executor_id": self._executor,
            "max_executor_threads": limits.ENGINE_THREADS_MAX,
            "sys_db_pool_size": limits.ENGINE_CONNECTIONS_MAX,
            # Nobody waits for messages, so a look costs nothing; it bounds how long a stop takes.
            "notification_listener_polling_interval_sec": 0.2,
            "enable_otlp": False,
            "log_level": "WARNING",
        }

    def _declare(self, ticks: list[dict[str, Any]]) -> None:
        """Make the schedules in the database equal to the table."""
        dbos = library().DBOS
        dbos.apply_schedules(ticks)
        known = {row.name for row in self._tables.schedules}
        for schedule in dbos.list_schedules():
            if schedule["schedule_name"] not in known:
                dbos.delete_schedule(schedule["schedule_name"])

    def _work(self, verb: Verb) -> Callable[..., Awaitable[Plain]]:
        """A verb as the library runs it: found by name, given its desk, silent about its faults."""

        async def work(*ids: Id) -> Plain:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            self._busy.add(task)
            task.add_done_callback(self._tasks.discard)
            try:
                self._go_on()
                steps = _Steps(self, library().DBOS.workflow_id)
                result: Plain = plain(await verb(self._desk, steps, *ids))
            except Exception as fault:  # noqa: BLE001  (whatever it is, only its code may pass)
                raise _failed(fault) from None
            else:
                return result
            finally:
                self._busy.discard(task)

        return work

    def _tick(self, row: Schedule) -> dict[str, Any]:
        body = self._work(row.verb)

        async def tick(due: datetime, context: None) -> None:
            await body()

        registered = library().DBOS.workflow(name=row.name)(tick)
        return {
            "schedule_name": row.name,
            "workflow_fn": registered,
            "schedule": row.cron,
            "queue_name": row.queue,
        }

    async def _begin_to_beat(self) -> None:
        await self._nodes.beat()
        beating = asyncio.create_task(self._beat())
        self._ending.push_async_callback(self._leave, beating)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._pace.heartbeat_seconds)
            try:
                await self._nodes.beat()
            except StoreFault as fault:
                # Silent for too long, this node loses its work to others; until then it tries on.
                log.warning("heartbeat missed", fault=fault_code(fault))

    async def _leave(self, beating: "asyncio.Task[None]") -> None:
        await end_all([beating])
        try:
            await self._nodes.leave()
        except StoreFault as fault:
            log.warning("node row left behind", fault=fault_code(fault))

    def _go_on(self) -> None:
        """Between two steps a stopping engine lets its work go: nothing is recorded, so it can be handed on."""
        if self._stopping:
            raise asyncio.CancelledError

    async def _settle(self) -> None:
        until = asyncio.get_running_loop().time() + self._stop_seconds
        while self._busy and (left := until - asyncio.get_running_loop().time()) > 0:
            await asyncio.wait(self._busy, timeout=min(left, 0.1))
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=limits.CANCEL_SECONDS_MAX)

    async def _destroy(self) -> None:
        # The library lent its pool to this loop and is about to close it; others still use the loop's.
        loop, pool = asyncio.get_running_loop(), ThreadPoolExecutor()
        loop.set_default_executor(pool)
        await self._off_loop(lambda: library().DBOS.destroy(destroy_registry=True))
        loop.set_default_executor(pool)
        if not self._launched:
            return
        try:
            await self._takeover.hand_over()
        except SQLAlchemyError as fault:
            # The database is away. What was in hand will be taken over like a dead node's.
            log.warning("work not handed on", fault=fault_code(fault))

    async def _off_loop(self, job: Callable[[], Answer]) -> Answer:
        with ThreadPoolExecutor(1, thread_name_prefix="engine-set-up") as thread:
            return await asyncio.get_running_loop().run_in_executor(thread, job)

    def _leave_process(self) -> None:
        Engine._in_process = None


class _Steps:
    """The steps of one piece of work, recorded by the library."""

    def __init__(self, engine: Engine, work: str) -> None:
        self._engine, self._id = engine, work

    @property
    def work(self) -> str:
        return self._id

    async def run(
        self, name: str, job: Callable[[], Awaitable[Result]], *, attempts: int = 1
    ) -> Result:
        self._engine._go_on()  # noqa: SLF001  (one room)

        async def step() -> Plain:
            for attempt in range(1, attempts + 1):
                try:
                    return plain(await job())
                except Exception as fault:  # noqa: BLE001  (the same)
                    if attempt == attempts:
                        raise _failed(fault) from None
                await asyncio.sleep(limits.STEP_PAUSE_SECONDS * 2 ** (attempt - 1))
            raise AssertionError("a step has at least one attempt")

        dbos = library()
        try:
            left: Result = await dbos.DBOS.run_step_async({"name": name}, step)
        except dbos.PortableWorkflowError as recorded:
            raise WorkFailed(recorded.message) from None
        return left

    async def start(self, name: str, *ids: Id, key: str = "") -> str:
        return await self._engine.enqueue(name, *ids, key=key)


def _failed(fault: Exception) -> WorkFailed:
    """The fault as the engine may keep it; where it came from goes to the log."""
    if not isinstance(fault, WorkFailed):
        log.error("work failed", fault=fault_code(fault), places=fault_frames(fault))
    return WorkFailed(fault_code(fault))


def _every(seconds: int) -> str:
    return f"*/{seconds} * * * * *" if seconds < 60 else "0 * * * * *"
