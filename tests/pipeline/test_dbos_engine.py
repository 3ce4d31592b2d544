"""What the engine guarantees to verbs, operators and patients while it runs.

Also tests `engine/engine_storage`, `engine/workflows`, `engine/self_check`, `engine/workflow_client`,
`engine/dbos_guard`, `engine/queue_watch`, `pipeline/schedule` and `kernel/faults`.
"""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import replace
from datetime import timedelta

import asyncpg
import psutil
import pytest
from sqlalchemy import select

from clearlane.engine import self_check
from clearlane.engine.backlog import EngineBacklog, read_backlog
from clearlane.engine.dbos_engine import ENGINE_THREADS_MAX, Engine, EngineRefused, RecoverySettings
from clearlane.engine.dbos_guard import THREAD_PREFIX, load_dbos
from clearlane.engine.engine_storage import engine_database_url
from clearlane.engine.node_recovery import NodeRecovery
from clearlane.engine.workflow_client import CANCELLED, DONE, FAILED, WorkflowClient
from clearlane.engine.workflows import (
    ENGINE_ID_CHARACTERS_MAX,
    ENGINE_LIST_IDS_MAX,
    NotAnId,
    Workflow,
    WorkQueue,
    WorkSchedule,
    WorkTick,
    check_ids,
    check_step_value,
)
from clearlane.kernel.clock import SystemClock
from clearlane.kernel.faults import WorkFailed
from clearlane.pipeline import schedule
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from clearlane.store.installation.nodes import SCOPE, NodeRegistration, live_nodes
from tests.contexts import EngineContext
from tests.manual_clock import ManualClock
from tests.patience import PATIENCE_SECONDS, until
from tests.pipeline.nodes_engine import read_marks

RECOVERY = RecoverySettings(
    heartbeat_seconds=1, dead_node_seconds=2, takeovers_max=1, finished_work_days=7
)
MARKER = "ROSA ARDEN 1931-12-01"
# As the product's tables, but quick to poll, so that the tests do not wait for the queue, and without schedules
# and ticks that need payers.
QUICK = replace(
    schedule.TABLES,
    queues=tuple(replace(row, poll_seconds=0.05) for row in schedule.QUEUES),
    schedules=(),
    ticks=(),
)


def tables(**verbs):
    rows = tuple(Workflow(name=name, verb=verb, queue="work") for name, verb in verbs.items())
    return replace(QUICK, workflows=(*QUICK.workflows, *rows))


@asynccontextmanager
async def running(
    place, has=QUICK, *, node="node", stop_seconds=PATIENCE_SECONDS, recovery=RECOVERY
):
    """An engine in this process, as the server runs it."""
    database = await place.open(SystemClock())
    nodes = NodeRegistration(
        database, id=node, role="worker", heartbeat_seconds=1, keys=place.keys()
    )
    context = EngineContext(database, SystemClock(), place.data, node)
    engine = Engine(
        context,
        has,
        nodes=nodes,
        url=place.url,
        recovery_settings=recovery,
        stop_seconds=stop_seconds,
    )
    try:
        await engine.start()
        try:
            yield engine
        finally:
            await engine.stop()
    finally:
        await database.close()


def outside():
    """Where this process listens and whom it is connected to."""
    every = psutil.Process().net_connections("inet")
    return {(c.laddr, c.raddr) for c in every if c.raddr or c.status == "LISTEN"}


async def everything_kept(place):
    """Every text in the engine's tables."""
    if place.kind == "sqlite":
        files = place.data.glob("engine.db*")
        return b"".join(file.read_bytes() for file in files).decode("latin-1")
    connection = await asyncpg.connect(place.url)
    names = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'dbos'")
    rows = [await connection.fetch(f'SELECT t::text FROM dbos."{name}" t') for [name] in names]
    await connection.close()
    return "\n".join(row[0] for table in rows for row in table)


@pytest.mark.parametrize(
    "value",
    [
        "Rosa Arden",
        "",
        "x" * (ENGINE_ID_CHARACTERS_MAX + 1),
        1.5,
        True,
        None,
        {"a": 1},
        ["a"],
        b"a",
    ],
)
def test_only_ids_enter(value):
    with pytest.raises(NotAnId, match="value 2 is not an id"):
        check_ids(["good", value])


def test_ids_enter_and_ids_are_left_behind():
    assert check_ids(["claim-17", 17, "2024-01-31T10:00:00+00:00"])
    assert [check_step_value(value) for value in (None, True, 3, "b-1", ["a", "b"], (1, 2))] == [
        None, True, 3, "b-1", ["a", "b"], [1, 2],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value", ["two words", {"id": 1}, 2.5, [["a"]], ["a"] * (ENGINE_LIST_IDS_MAX + 1)]
)
def test_nothing_else_is_left_behind(value):
    with pytest.raises(NotAnId):
        check_step_value(value)


def test_a_fault_without_a_code_of_one_word_stays_unnamed():
    assert WorkFailed("payer-away").code == "payer-away"
    assert WorkFailed(f"no claim of {MARKER}").code == "unnamed"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (tables(**{"self-check": self_check.run_self_check}), r"twice: \['self-check'\]"),
        (replace(QUICK, queues=()), r"missing: \[.*'work'\]"),
    ],
)
def test_tables_that_cannot_work_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        wrong.check()
    QUICK.check()


@pytest.mark.slow
async def test_work_runs_and_of_its_faults_only_a_code_is_kept(place, capfd, caplog):
    async def leak(context, steps, id):
        async def step():
            raise ValueError(MARKER)

        with pytest.raises(WorkFailed, match=r"^ValueError$"):
            await steps.run("leak", step)
        raise RuntimeError(MARKER)

    async def spill(context, steps, id):
        async def step():
            return MARKER

        await steps.run("spill", step)

    async with running(place, tables(leak=leak, spill=spill)) as engine:
        assert (
            await engine.result(
                await engine.enqueue("self-check", "a", 2, 0), seconds=PATIENCE_SECONDS
            )
            == ["node"] * 2
        )
        assert read_marks(place.data, "a") == [
            "1 begun node", "1 ended node", "2 begun node", "2 ended node",
        ]  # fmt: skip
        for name, code in (("leak", "RuntimeError"), ("spill", "NotAnId")):
            with pytest.raises(WorkFailed, match=f"^{code}$"):
                await engine.result(await engine.enqueue(name, 1), seconds=PATIENCE_SECONDS)
        with pytest.raises(NotAnId):
            await engine.enqueue("leak", MARKER)
        kept = await everything_kept(place)
    said = "".join(capfd.readouterr()) + caplog.text
    assert "ValueError" in kept
    assert "test_dbos_engine.py:" in said, "the log has the place"
    for text in (kept, said):
        assert "ROSA" not in text
        assert "1931" not in text


async def test_a_step_is_tried_again_and_the_same_key_is_the_same_work(new_place, monkeypatch):
    monkeypatch.setattr("clearlane.engine.dbos_engine.STEP_PAUSE_SECONDS", 0.01)
    tries = []

    async def shaky(context, steps, id):
        async def step():
            tries.append(id)
            if len(tries) < 3:
                raise TimeoutError
            return len(tries)

        taken = await steps.run("shaky", step, attempts=3)
        assert await steps.start("self-check", "child", 1, 0) == "self-check-child-1-0"
        return taken

    async with running(await new_place("sqlite"), tables(shaky=shaky)) as engine:
        assert await engine.enqueue("shaky", 7) == await engine.enqueue("shaky", 7) == "shaky-7"
        assert await engine.result("shaky-7", seconds=PATIENCE_SECONDS) == 3
        assert await engine.result("self-check-child-1-0", seconds=PATIENCE_SECONDS) == ["node"]
        assert await engine.enqueue("shaky", 7, key="shaky-7") == "shaky-7"
        await asyncio.sleep(0.3)
        assert tries == [7, 7, 7]
        assert (await engine.find("shaky-7")).state == DONE
        assert await engine.find("unknown") is None


async def test_work_that_a_woken_tick_starts_begins_without_its_queue_and_once(place, capfd):
    ended, runs = asyncio.Event(), []

    async def work(context, steps, id):
        runs.append(id)
        await ended.wait()
        return await steps.run("done", lambda: asyncio.sleep(0, id))

    async def look(context, steps):
        for id in (1, 2):
            await steps.start("own", id, key=f"own-{id}")

    own = Workflow(name="own", verb=work, queue="slow", begins_at_once=True)
    has = replace(
        QUICK,
        queues=(*QUICK.queues, WorkQueue(name="slow", at_once=4, poll_seconds=600)),
        workflows=(*QUICK.workflows, own),
        ticks=(WorkTick(name="look", verb=look, every_seconds=600),),
    )
    async with running(place, has) as engine:
        for _ in range(2):  # the second finds it running
            engine.wake("look")
            await until(lambda: runs[:1] == [1])
        found = await until(lambda: engine.find("own-2"))
        # One of a kind begins at once: the limit of the queue is for the others.
        assert ((await engine.find("own-1")).queue, found.queue) == ("", "slow")
        await engine.enqueue("own", 1, key="own-1")  # as the tick of another node
        ended.set()
        for id in (1, 2):
            assert await engine.result(f"own-{id}", seconds=PATIENCE_SECONDS) == id
        assert runs == [1, 2]
    logged = capfd.readouterr()
    assert "engine library" not in logged.out + logged.err


async def test_work_on_a_queue_begins_without_a_poll_and_each_free_place_is_filled(place):
    """The library polls seldom; the engine wakes it when there is work, its own or that of another node."""
    running_now = most = 0

    async def work(context, steps, id):
        nonlocal running_now, most
        running_now += 1
        most = max(most, running_now)
        await asyncio.sleep(0.01)
        running_now -= 1
        return await steps.run("done", lambda: asyncio.sleep(0, id))

    has = replace(
        QUICK,
        queues=(*QUICK.queues, WorkQueue(name="narrow", at_once=2, poll_seconds=600)),
        workflows=(*QUICK.workflows, Workflow(name="own", verb=work, queue="narrow")),
    )
    async with running(place, has) as engine:
        client = WorkflowClient(engine_database_url(place.data, place.url))
        try:  # as another node
            await client.enqueue("own", (99,), queue="narrow")
        finally:
            await client.close()
        assert await engine.result("own-99", seconds=PATIENCE_SECONDS) == 99
        for id in range(20):
            await engine.enqueue("own", id)
        for id in range(20):
            assert await engine.result(f"own-{id}", seconds=PATIENCE_SECONDS) == id
    assert most <= 2


@pytest.mark.slow
async def test_a_stopping_engine_ends_its_step_hands_the_rest_over_and_leaves_no_trace(place):
    async with running(place, node="one") as engine:
        await engine.enqueue("self-check", "long", 8, 250)
        await until(lambda: read_marks(place.data, "long"))
    left = read_marks(place.data, "long")
    done = len(left) // 2
    steps = range(1, done + 1)
    assert left == [f"{step} {what} one" for step in steps for what in ("begun", "ended")]
    assert 1 <= done < 8
    assert await asyncio.to_thread(lambda: "threads work after it") == "threads work after it"
    database = await place.open(SystemClock())
    async with database.read(SCOPE) as tx:
        assert await live_nodes(tx) == []
    await database.close()
    async with running(place, node="two") as engine:
        result = await engine.result("self-check-long-8-250", seconds=PATIENCE_SECONDS)
        assert result == ["one"] * done + ["two"] * (8 - done)
        assert await engine.parked() == []


async def test_work_that_does_not_end_in_time_is_cut_and_goes_on_later(new_place):
    place = await new_place("postgresql")
    async with running(place, node="one", stop_seconds=0) as engine:
        await engine.enqueue("self-check", "cut", 2, 300)
        await until(lambda: read_marks(place.data, "cut"))
    async with running(place, node="two") as engine:
        assert await engine.result("self-check-cut-2-300", seconds=PATIENCE_SECONDS) == [
            "two",
            "two",
        ]
    assert read_marks(place.data, "cut")[:2] == ["1 begun one", "1 begun two"]


async def test_no_connection_outlives_the_engine_not_even_that_of_a_thread_that_still_asks(
    new_place,
):
    place = await new_place("postgresql")
    other = await asyncpg.connect(place.url)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(running(place, stop_seconds=0))
        locked = other.transaction()
        await locked.start()
        await other.execute("LOCK TABLE dbos.operation_outputs IN ACCESS EXCLUSIVE MODE")
        await engine.enqueue("self-check", "locked", 1, 0)
        waiting = await until(lambda: _sessions(other, "wait_event_type = 'Lock'"))
        stopping = asyncio.create_task(stack.aclose())
        await until(lambda: load_dbos()._dbos._dbos_global_instance is None)
        await locked.rollback()
        await stopping
    try:
        await until(lambda: _are_gone(other, waiting))
    finally:
        await other.close()


async def _sessions(connection, condition):
    """The sessions of this database that a condition holds for."""
    rows = await connection.fetch(
        f"SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND {condition}"
    )
    return {row["pid"] for row in rows}


async def _are_gone(connection, sessions):
    return sessions.isdisjoint(await _sessions(connection, "true"))


async def test_the_engines_file_is_private_and_can_be_thrown_away(new_place):
    place = await new_place("sqlite")
    file = place.data / "engine.db"
    for id in ("before", "after"):
        async with running(place) as engine:
            await engine.result(
                await engine.enqueue("self-check", id, 1, 0), seconds=PATIENCE_SECONDS
            )
            for each in place.data.glob("engine.*"):
                assert each.stat().st_mode & 0o777 == 0o600, each.name
            with closing(sqlite3.connect(file)) as connection:
                assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert await engine.find("self-check-before-1-0") is None or id == "before"
        file.unlink()
        file.with_name("engine.db-wal").write_bytes(b"left over")


async def test_the_library_asks_sqlite_for_the_time_as_old_versions_know_it(new_place):
    place = await new_place("sqlite")
    async with running(place):
        now = load_dbos()._sys_db_sqlite.SQLiteSystemDatabase._now_ms_sql(None)
        with closing(sqlite3.connect(place.data / "engine.db")) as connection:
            tables = connection.execute("SELECT group_concat(sql) FROM sqlite_master").fetchone()[0]
    for statement in (str(now), tables):
        assert "strftime" in statement
        assert "unixepoch" not in statement


async def test_a_file_that_is_no_database_is_renamed(new_place):
    place = await new_place("sqlite")
    (place.data / "engine.db").write_bytes(b"no database at all" * 100)
    async with running(place) as engine:
        await engine.result(
            await engine.enqueue("self-check", "new", 1, 0), seconds=PATIENCE_SECONDS
        )
    assert (place.data / "engine.db.damaged").read_bytes().startswith(b"no database")


async def test_one_engine_in_a_process_and_one_process_on_a_data_directory(new_place):
    place = await new_place("sqlite")
    async with running(place):
        with pytest.raises(EngineRefused, match="already runs an engine"):
            async with running(await new_place("sqlite")):
                pass


async def test_it_opens_no_connection_to_the_outside(new_place, monkeypatch):
    monkeypatch.setenv("DBOS__CLOUD", "true")
    monkeypatch.setenv("DBOS__APPVERSION", "another")
    before = outside()  # other tests of this process may have left connections behind
    async with running(await new_place("sqlite")) as engine:
        await engine.result(
            await engine.enqueue("self-check", "quiet", 1, 0), seconds=PATIENCE_SECONDS
        )
        assert outside() <= before
        assert not [name for name in os.environ if name.startswith("DBOS_")]


@pytest.mark.slow
async def test_schedules_are_those_of_the_tables(new_place):
    place = await new_place("sqlite")
    ticked = []

    async def tick(context, steps):
        ticked.append(steps.work)

    with_tick = replace(
        QUICK,
        schedules=(WorkSchedule(name="tick", verb=tick, cron="* * * * * *", queue="work"),),
    )
    async with running(place, with_tick):
        await until(lambda: ticked)
    with closing(sqlite3.connect(place.data / "engine.db")) as connection:
        query = "SELECT schedule_name FROM workflow_schedules ORDER BY schedule_name"
        assert connection.execute(query).fetchall() == [("purge",), ("tick",)]
        async with running(place):
            assert connection.execute(query).fetchall() == [("purge",)]


@pytest.mark.slow
async def test_finished_work_is_purged_parked_work_is_kept_until_it_is_released(place):
    async def sick(context, steps, id):
        raise WorkFailed("sick")

    later = ManualClock(SystemClock().now() + timedelta(days=8))
    async with running(place, tables(sick=sick)) as engine:
        await engine.result(
            await engine.enqueue("self-check", "good", 1, 0), seconds=PATIENCE_SECONDS
        )
        with pytest.raises(WorkFailed, match=r"^sick$"):
            await engine.result(await engine.enqueue("sick", 1), seconds=PATIENCE_SECONDS)
        await engine.enqueue("self-check", "stuck", 2, 400)
        await until(lambda: read_marks(place.data, "stuck"))
        taker = NodeRecovery(
            engine._context.database, engine._client, replace(RECOVERY, takeovers_max=0),
            node="taker", queue_of=engine._tables.queue_of, ticks=frozenset(["purge"]), clock=later,
        )  # fmt: skip
        await taker.adopt(alive="node")
        [parked] = await engine.parked()
        assert (parked.work, parked.takeovers) == ("self-check-stuck-2-400", 1)
        assert (await engine.find(parked.work)).state == CANCELLED

        assert (await engine.find("sick-1")).state == FAILED
        assert await taker.purge() == 2
        assert await engine.find("self-check-good-1-0") is None
        assert await engine.find("sick-1") is None

        assert await engine.release("self-check-good-1-0") is False
        assert await engine.release(parked.work) is True
        assert await engine.parked() == []
        assert await engine.result(parked.work, seconds=PATIENCE_SECONDS) == ["node", "node"]
        async with engine._context.database.read(SCOPE) as tx:
            actions = [row[0] for row in await tx.rows(Statement(select(audit.c.action)))]
        assert [action for action in actions if action.startswith("work.")] == [
            "work.park", "work.release",
        ]  # fmt: skip


async def test_work_can_be_enqueued_from_another_process(place):
    async with running(place):
        client = WorkflowClient(engine_database_url(place.data, place.url))
        assert await self_check.check_engine(client, place.data, seconds=PATIENCE_SECONDS) == [
            "node"
        ]
        left = await client.enqueue("self-check", ("left", 1, 0), queue="nobody")
        backlog = await read_backlog(place.data, place.url)
        assert (backlog.waiting, backlog.total) == ({"nobody": 1}, 1)
        assert abs(backlog.oldest_at_millis / 1_000 - SystemClock().now().timestamp()) < 3_600
        await client.delete([left])
        assert await read_backlog(place.data, place.url) == EngineBacklog()
        # No thread of the library that wakes a hundred times a second for messages that nobody sends.
        await until(lambda: not any("run_notifier" in one.name for one in threading.enumerate()))
        await client.close()
        assert list((place.data / "self-check").iterdir()) == []


async def test_without_tables_and_the_right_to_make_them_it_is_refused(new_place):
    place = await new_place("postgresql")
    database = await place.open(SystemClock())
    nodes = NodeRegistration(
        database, id="n", role="worker", heartbeat_seconds=1, keys=place.keys()
    )
    context = EngineContext(database, SystemClock(), place.data, "n")
    engine = Engine(
        context,
        schedule.TABLES,
        nodes=nodes,
        url=place.url,
        recovery_settings=RECOVERY,
        migrate=False,
    )
    with pytest.raises(EngineRefused, match="clearlane db upgrade"):
        await engine.start()
    assert await engine.backlog() is None
    async with database.read(SCOPE) as tx:
        assert await live_nodes(tx) == []
    await database.close()


@pytest.mark.slow
async def test_threads_are_bounded(new_place):
    before = threading.active_count()
    async with running(await new_place("sqlite")) as engine:
        pieces = [await engine.enqueue("self-check", f"many{n}", 2, 0) for n in range(12)]
        for piece in pieces:
            await engine.result(piece, seconds=PATIENCE_SECONDS)
        executors = [one for one in threading.enumerate() if one.name.startswith(THREAD_PREFIX)]
        assert len(executors) <= ENGINE_THREADS_MAX
        # One for each queue (6) and schedule (1), two clients, the writer of SQLite, and the library's own.
        assert threading.active_count() - before - len(executors) <= 16


def test_a_command_that_does_not_need_the_library_does_not_load_it():
    loaded = subprocess.run(
        [sys.executable, "-c", "import clearlane.cli.installation.worker, clearlane.pipeline, sys; print('dbos' in sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert loaded.stdout.strip() == "False"
