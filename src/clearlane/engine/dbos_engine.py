"""The durable engine: work in steps that continues after a crash at the first unfinished step.

The only module that knows DBOS's global state: it launches the library inside the running event loop, registers
workflows and schedules with it, and destroys it again. Knows no domain.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, TypeVar

from sqlalchemy.exc import ProgrammingError, SQLAlchemyError

from clearlane.engine.backlog import EngineBacklog, read_backlog
from clearlane.engine.dbos_guard import destroy_dbos, hold_polls, load_dbos, silence_dbos
from clearlane.engine.engine_storage import (
    EMBEDDED,
    SCHEMA,
    EngineRefused,
    engine_database_url,
    lock_data_directory,
    prepare_sqlite_file,
    upgrade_engine_tables,
)
from clearlane.engine.node_recovery import NodeRecovery, RecoverySettings
from clearlane.engine.parked_work import ParkedWork, find_finished_work
from clearlane.engine.queue_watch import QueueGate, QueueWatch
from clearlane.engine.tick_timer import TickTimer
from clearlane.engine.workflow_client import APPLICATION, PROTOCOL, QueuedWork, WorkflowClient
from clearlane.engine.workflows import (
    Id,
    NodeContext,
    Result,
    StepValue,
    Verb,
    WorkQueue,
    WorkSchedule,
    WorkSteps,
    WorkTables,
    WorkTick,
    check_ids,
    check_step_value,
)
from clearlane.kernel.faults import WorkFailed, fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all
from clearlane.store.database.database import StoreFault
from clearlane.store.installation.nodes import NodeRegistration

__all__ = ["Engine", "EngineRefused", "RecoverySettings"]

log = get_logger()

ENGINE_THREADS_MAX = 16
ENGINE_CONNECTIONS_MAX = 8
STEP_PAUSE_SECONDS = 1.0
CANCEL_SECONDS_MAX = 5
BEGIN_SECONDS = 1.0

JobResult = TypeVar("JobResult")

# The queue of the engine's own schedule, hourly, for which no one waits.
HOUSEKEEPING = WorkQueue(name="housekeeping", at_once=4, poll_seconds=15.0)


class Engine:
    """The engine of one node. At most one runs in a process, because the library is global."""

    _in_process: ClassVar["Engine | None"] = None

    def __init__(
        self,
        context: NodeContext,
        tables: WorkTables,
        *,
        nodes: NodeRegistration,
        url: str,
        recovery_settings: RecoverySettings,
        stop_seconds: float = 0,
        migrate: bool = True,
    ) -> None:
        self._embedded = not url.startswith("postgres")
        self._database_url = url
        self._url = engine_database_url(context.data, url)
        self._executor = EMBEDDED if self._embedded else context.node
        self._context, self._nodes, self._recovery_settings = context, nodes, recovery_settings
        self._stop_seconds = stop_seconds
        self._migrate = migrate or self._embedded
        self._tables = self._with_own_schedules(tables, recovery_settings)
        self._tables.check()
        self._client = WorkflowClient(self._url)
        self._watch = QueueWatch(
            context.data, url, seconds=min(row.poll_seconds for row in self._tables.queues)
        )
        self._recovery = NodeRecovery(
            context.database,
            self._client,
            recovery_settings,
            node=self._executor,
            queue_of=self._tables.queue_of,
            ticks=frozenset(row.name for row in self._tables.schedules),
            find_finished=partial(find_finished_work, context, self._tables.workflows),
        )
        self._ticks = TickTimer(context, self._tables.ticks, self._start)
        self._at_once = {row.name for row in self._tables.workflows if row.begins_at_once}
        self._functions: dict[str, Callable[..., Awaitable[StepValue]]] = {}
        self._working: Counter[str] = Counter()
        """How much work of each name runs here."""
        self._begun_at: dict[str, float] = {}
        """When work of a name was last begun without its queue."""
        self._exit_stack = AsyncExitStack()
        self._launched = self._stopping = False
        self._running: set[asyncio.Task[Any]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """Open or create the engine's tables, recover unfinished work, and begin to work."""
        if Engine._in_process is not None:
            raise EngineRefused("This process already runs an engine: stop that one first.")
        Engine._in_process = self
        self._exit_stack.callback(self._leave_process)
        try:
            if self._embedded:
                self._exit_stack.callback(os.close, lock_data_directory(self._context.data))
            # Before any work: other nodes take over what a node without a heartbeat has begun.
            await self._start_heartbeat()
            await self._launch()
            self._ticks.start()
        except BaseException:
            await self._exit_stack.aclose()
            raise

    async def stop(self) -> None:
        """Let running steps finish, hand the rest to other nodes, and stop."""
        self._stopping = True
        silence_dbos()
        await asyncio.gather(self._ticks.stop(self._stop_seconds), self._finish_running_work())
        await self._exit_stack.aclose()

    @property
    def node(self) -> str:
        """The id of this node."""
        return self._context.node

    async def enqueue(self, name: str, *ids: Id, key: str = "", alone: str = "") -> str:
        """Put work on its queue; return its id. The same key is the same work, and one at a time is ``alone``."""
        queue = self._tables.queue_of[name]
        work = await self._client.enqueue(name, ids, queue=queue, key=key, alone=alone)
        self._watch.added(queue)
        return work

    def wake(self, name: str) -> None:
        """Run a tick of this node now."""
        self._ticks.wake(name)

    async def result(self, work: str, *, seconds: float) -> StepValue:
        """Wait for the result of work; raise :class:`WorkFailed` when it failed, TimeoutError when it lasts."""
        return await self._client.result(work, seconds=seconds)

    async def find(self, work: str) -> QueuedWork | None:
        """Return one piece of work, None if it is unknown."""
        return await self._client.find(work)

    async def backlog(self) -> EngineBacklog | None:
        """Return the work that no node has begun."""
        return await read_backlog(self._context.data, self._database_url)

    async def parked(self) -> list[ParkedWork]:
        """Return work that waits for a person, because the nodes that did it kept dying."""
        return await self._recovery.parked()

    async def release(self, work: str) -> bool:
        """Continue parked work at its first unfinished step; return whether there was such work."""
        return await self._recovery.release(work)

    def _with_own_schedules(
        self, tables: WorkTables, recovery_settings: RecoverySettings
    ) -> WorkTables:
        """Return the tables with the engine's own queue, schedule and tick."""

        async def sweep(context: NodeContext, steps: WorkSteps) -> StepValue:
            return await self._recovery.sweep()

        async def purge(context: NodeContext, steps: "_Steps") -> StepValue:
            return await steps.run("purge", self._recovery.purge)

        own = WorkSchedule(name="purge", verb=purge, cron="0 17 * * * *", queue=HOUSEKEEPING.name)
        tables = replace(
            tables,
            queues=(*tables.queues, HOUSEKEEPING),
            schedules=(*tables.schedules, own),
        )
        if self._embedded:  # there is no other node whose work could be taken over
            return tables
        # By the timer of every node: a schedule's run would be four rows of the engine's each time, and a takeover is
        # counted by one node only, whoever looks.
        every = recovery_settings.heartbeat_seconds
        tick = WorkTick(name="sweep", verb=sweep, every_seconds=every)
        return replace(tables, ticks=(*tables.ticks, tick))

    async def _launch(self) -> None:
        if self._embedded:
            prepare_sqlite_file(self._context.data)
        dbos = load_dbos()
        self._exit_stack.push_async_callback(self._client.close)
        if self._migrate:
            await self._off_loop(lambda: upgrade_engine_tables(self._url))
        try:
            # Before the launch: the library polls the queues it finds at once, later ones after a second.
            await self._client.register_queues(self._tables.queues)
        except ProgrammingError:
            raise EngineRefused("The engine has no tables. Run: clearlane db upgrade") from None
        if self._embedded:
            # No other process works here: what a killed process left is taken over before the library
            # looks for it, and counted like any takeover.
            await self._recovery.adopt(alive=self.node)
        self._exit_stack.push_async_callback(self._destroy)
        hold_polls(dbos.DBOS(config=self._config()), self._watch.gate, QueueGate())
        dbos.DBOS.listen_queues([row.name for row in self._tables.queues])
        for row in self._tables.workflows:
            function = dbos.DBOS.workflow(name=row.name)(self._as_workflow(row.verb, row.name))
            self._functions[row.name] = function
        ticks = [self._as_schedule(row) for row in self._tables.schedules]
        try:
            # In this thread, because the library uses the event loop that it finds running.
            dbos.DBOS.launch()
        except dbos.error.DBOSInitializationError:
            raise EngineRefused("The engine's tables are old. Run: clearlane db upgrade") from None
        # From here on work may be running when the engine stops.
        self._launched = True
        self._exit_stack.push_async_callback(self._watch.stop)
        self._watch.start()
        await self._off_loop(lambda: self._apply_schedules(ticks))

    def _config(self) -> Any:
        return {
            "name": APPLICATION,
            "system_database_url": self._url,
            "dbos_system_schema": SCHEMA,
            "run_migrations": False,
            "serializer": load_dbos().DBOSPortableJSONSerializer(),
            "application_version": PROTOCOL,
            "executor_id": self._executor,
            "max_executor_threads": ENGINE_THREADS_MAX,
            "sys_db_pool_size": ENGINE_CONNECTIONS_MAX,
            # We use none of its messages and events: so no connection that listens, and no thread that wakes a hundred
            # times a second to notify. The interval bounds how long a stop takes.
            "use_listen_notify": False,
            "notification_listener_polling_interval_sec": 0.2,
            "enable_otlp": False,
            "log_level": "WARNING",
        }

    def _apply_schedules(self, ticks: list[dict[str, Any]]) -> None:
        """Make the schedules in the database equal to the tables."""
        dbos = load_dbos().DBOS
        dbos.apply_schedules(ticks)
        known = {row.name for row in self._tables.schedules}
        for schedule in dbos.list_schedules():
            if schedule["schedule_name"] not in known:
                dbos.delete_schedule(schedule["schedule_name"])

    async def _start(self, name: str, *ids: Id, key: str = "", alone: str = "") -> str:
        """Start work for a tick: begin it here if it may begin at once and none of its name runs, else queue it."""
        now = asyncio.get_running_loop().time()
        # Work that was begun just now does not count as running yet.
        is_busy = self._working[name] or now - self._begun_at.get(name, 0) < BEGIN_SECONDS
        if name not in self._at_once or is_busy or self._stopping:
            return await self.enqueue(name, *ids, key=key, alone=alone)
        dbos = load_dbos()
        [key] = check_ids([key])
        self._begun_at[name] = now
        with dbos.SetWorkflowID(key):
            handle = await dbos.DBOS.start_workflow_async(self._functions[name], *check_ids(ids))
        return str(handle.get_workflow_id())

    def _as_workflow(self, verb: Verb, name: str = "") -> Callable[..., Awaitable[StepValue]]:
        """Return a verb as the library runs it: with its context, and with faults reduced to codes."""

        async def work(*ids: Id) -> StepValue:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            self._running.add(task)
            self._working[name] += 1
            task.add_done_callback(self._tasks.discard)
            try:
                self._raise_if_stopping()
                steps = _Steps(self, load_dbos().DBOS.workflow_id)
                result: StepValue = check_step_value(await verb(self._context, steps, *ids))
            except Exception as fault:  # noqa: BLE001  (of any exception only its code may be stored)
                raise _as_work_failed(fault) from None
            else:
                return result
            finally:
                self._running.discard(task)
                self._working[name] -= 1
                self._watch.finished(self._tables.queue_of.get(name, ""))
                self._begun_at.pop(name, None)

        return work

    def _as_schedule(self, row: WorkSchedule) -> dict[str, Any]:
        body = self._as_workflow(row.verb)

        async def tick(due: datetime, context: None) -> None:
            await body()

        registered = load_dbos().DBOS.workflow(name=row.name)(tick)
        return {
            "schedule_name": row.name,
            "workflow_fn": registered,
            "schedule": row.cron,
            "queue_name": row.queue,
        }

    async def _start_heartbeat(self) -> None:
        await self._nodes.heartbeat()
        beating = asyncio.create_task(self._beat())
        self._exit_stack.push_async_callback(self._stop_heartbeat, beating)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._recovery_settings.heartbeat_seconds)
            try:
                await self._nodes.heartbeat()
            except StoreFault as fault:
                # Without heartbeats for too long, this node loses its work to others; until then it keeps trying.
                log.warning("heartbeat missed", fault=fault_code(fault))

    async def _stop_heartbeat(self, beating: "asyncio.Task[None]") -> None:
        await cancel_all([beating])
        try:
            await self._nodes.deregister()
        except StoreFault as fault:
            log.warning("node row left behind", fault=fault_code(fault))

    def _raise_if_stopping(self) -> None:
        """Stop work between two steps: nothing is recorded, so that another node can continue it."""
        if self._stopping:
            raise asyncio.CancelledError

    async def _finish_running_work(self) -> None:
        until = asyncio.get_running_loop().time() + self._stop_seconds
        while self._running and (left := until - asyncio.get_running_loop().time()) > 0:
            await asyncio.wait(self._running, timeout=min(left, 0.1))
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CANCEL_SECONDS_MAX)

    async def _destroy(self) -> None:
        # The library made its pool the loop's default and is about to close it; others still use the default.
        loop, pool = asyncio.get_running_loop(), ThreadPoolExecutor()
        loop.set_default_executor(pool)
        await self._off_loop(destroy_dbos)
        loop.set_default_executor(pool)
        if not self._launched:
            return
        try:
            await self._recovery.hand_over()
        except SQLAlchemyError as fault:
            # The database is down. The work will be taken over like that of a dead node.
            log.warning("work not handed over", fault=fault_code(fault))

    async def _off_loop(self, job: Callable[[], JobResult]) -> JobResult:
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
        self._engine._raise_if_stopping()  # noqa: SLF001  (same module)

        async def step() -> StepValue:
            for attempt in range(1, attempts + 1):
                try:
                    return check_step_value(await job())
                except Exception as fault:  # noqa: BLE001  (of any exception only its code may be stored)
                    if attempt == attempts:
                        raise _as_work_failed(fault) from None
                await asyncio.sleep(STEP_PAUSE_SECONDS * 2 ** (attempt - 1))
            raise AssertionError("a step has at least one attempt")

        dbos = load_dbos()
        try:
            value: Result = await dbos.DBOS.run_step_async({"name": name}, step)
        except dbos.PortableWorkflowError as recorded:
            raise WorkFailed(recorded.message) from None
        return value

    async def start(self, name: str, *ids: Id, key: str = "", alone: str = "") -> str:
        return await self._engine.enqueue(name, *ids, key=key, alone=alone)


def _as_work_failed(fault: Exception) -> WorkFailed:
    """Return a fault as the engine may store it; its frames are logged."""
    if not isinstance(fault, WorkFailed):
        log.error("work failed", fault=fault_code(fault), places=fault_frames(fault))
    return WorkFailed(fault_code(fault))
