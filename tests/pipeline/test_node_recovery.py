"""Work survives nodes that die: each is a real process, killed without warning."""

import asyncio
import json
import os
import signal
from collections import Counter
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import select

from clearlane.engine.engine_storage import EMBEDDED, engine_database_url
from clearlane.engine.node_recovery import NodeRecovery, RecoverySettings
from clearlane.engine.workflow_client import CANCELLED, WorkflowClient
from clearlane.kernel.clock import SystemClock
from clearlane.kernel.faults import WorkFailed
from clearlane.pipeline import schedule
from clearlane.store.database.schema import takeovers
from clearlane.store.database.sql import Statement
from clearlane.store.installation.nodes import SCOPE, live_nodes
from tests.patience import PATIENCE_SECONDS, until
from tests.pipeline.nodes_engine import read_marks
from tests.prepared_process import PreparedProcess

RECOVERY = RecoverySettings(
    heartbeat_seconds=1, dead_node_seconds=2, takeovers_max=1, finished_work_days=7
)


class Node:
    """A node in a process of its own."""

    def __init__(self, place, name):
        given = {"kind": place.kind, "url": place.url, "data": str(place.data), "node": name}
        self.name = name
        self.process = PreparedProcess(
            "tests.pipeline.nodes_engine", json.dumps(given), env=os.environ, text=True
        )

    async def says(self, word):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while line := await asyncio.to_thread(self.process.stdout.readline):
                if line.startswith(word):
                    return line
        raise AssertionError(f"{self.name} ended without saying {word}")

    async def ends(self):
        return await self.process.ends()

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)


@asynccontextmanager
async def nodes(place, *names, ready=True):
    """Nodes that run, with none left when the test is over."""
    started = [Node(place, name) for name in names]
    try:
        for node in started if ready else ():
            await node.says("ready")
        yield started
    finally:
        for node in started:
            node.kill(signal.SIGCONT)
            node.kill()
            node.process.wait()
            node.process.close()


@asynccontextmanager
async def client_of(place):
    client = WorkflowClient(engine_database_url(place.data, place.url))
    yield client
    await client.close()


def begun(place, id, step):
    return any(mark.startswith(f"{step} begun") for mark in read_marks(place.data, id))


def how_often(place, id):
    """How often each step began and ended, whoever took it."""
    return Counter(mark.rsplit(" ", 1)[0] for mark in read_marks(place.data, id))


ONCE = Counter(f"{step} {what}" for step in (1, 2, 3) for what in ("begun", "ended"))


async def test_killed_on_sqlite_work_goes_on_at_its_last_finished_step(new_place):
    place = await new_place("sqlite")
    async with client_of(place) as client:
        async with nodes(place, "first") as [first]:
            piece = await client.enqueue("self-check", ("kill", 3, 1_000), queue="work")
            await until(lambda: begun(place, "kill", 2))
            first.kill()
            await first.ends()
        async with nodes(place, "second"):
            await until(lambda: how_often(place, "kill")["2 begun"] == 2)
            assert await client.result(piece, seconds=PATIENCE_SECONDS) == [
                "first",
                "second",
                "second",
            ]
    assert how_often(place, "kill") == ONCE + Counter({"2 begun": 1})


async def test_on_postgresql_another_node_takes_over_and_only_the_step_in_flight_runs_twice(
    new_place,
):
    place = await new_place("postgresql")
    ids = [f"piece{number}" for number in range(3)]
    async with client_of(place) as client, nodes(place, "first", "second") as [first, second]:
        second.kill(signal.SIGSTOP)  # so that the first takes it all
        pieces = [await client.enqueue("self-check", (id, 3, 1_000), queue="work") for id in ids]
        await until(lambda: all(begun(place, id, 2) for id in ids))
        first.kill()
        second.kill(signal.SIGCONT)
        results = [await client.result(piece, seconds=PATIENCE_SECONDS) for piece in pieces]
        second.kill(signal.SIGTERM)
        assert await second.ends() == 0
    for id, result in zip(ids, results, strict=True):
        assert result == ["first", "second", "second"]
        assert how_often(place, id) == ONCE + Counter({"2 begun": 1})


async def test_a_node_that_wakes_after_its_work_was_taken_records_no_further_step(new_place):
    place = await new_place("postgresql")
    async with client_of(place) as client, nodes(place, "sleeper") as [sleeper]:
        piece = await client.enqueue("self-check", ("zombie", 3, 1_000), queue="work")
        await until(lambda: begun(place, "zombie", 2))
        sleeper.kill(signal.SIGSTOP)
        async with nodes(place, "heir"):
            assert await client.result(piece, seconds=PATIENCE_SECONDS) == [
                "sleeper",
                "heir",
                "heir",
            ]
            sleeper.kill(signal.SIGCONT)
            await until(lambda: "2 ended sleeper" in read_marks(place.data, "zombie"))
            assert not any(mark == "3 begun sleeper" for mark in read_marks(place.data, "zombie"))
            assert await client.result(piece, seconds=PATIENCE_SECONDS) == [
                "sleeper",
                "heir",
                "heir",
            ]


async def test_a_node_that_leaves_in_good_order_hands_its_work_over_uncounted(new_place):
    place = await new_place("postgresql")
    async with client_of(place) as client, nodes(place, "going", "staying") as [going, staying]:
        staying.kill(signal.SIGSTOP)
        piece = await client.enqueue("self-check", ("left", 3, 1_000), queue="work")
        await until(lambda: begun(place, "left", 2))
        staying.kill(signal.SIGCONT)
        going.kill(signal.SIGTERM)
        assert await going.ends() == 0
        assert await client.result(piece, seconds=PATIENCE_SECONDS) == ["going", "going", "staying"]
    assert how_often(place, "left") == ONCE
    database = await place.open(SystemClock())
    async with database.read(SCOPE) as tx:
        assert await tx.rows(Statement(select(takeovers.c.work_id))) == []
        assert [node.id for node in await live_nodes(tx)] in (["staying"], [])
    await database.close()


async def test_work_that_kills_its_nodes_is_parked_and_schedules_run_once_over_those_that_live(
    place,
):
    async with client_of(place) as client:
        async with nodes(place, "a") as [first]:
            piece = await client.enqueue("poison", ("dose",), queue="work")
            assert await first.ends() == -signal.SIGKILL
        async with nodes(place, "b", ready=False) as [second]:
            assert await second.ends() == -signal.SIGKILL
        async with nodes(place, *("c", "d") if place.kind == "postgresql" else ("c",)):
            before = len(ticks(place))
            with pytest.raises(WorkFailed, match=r"^cancelled$"):
                await client.result(piece, seconds=PATIENCE_SECONDS)
            assert (await client.find(piece)).state == CANCELLED
            await until(lambda: len(ticks(place)) >= before + 2)
        assert (place.data / "dose").read_text().splitlines() == ["died a", "died b"]
        assert len(ticks(place)) == len(set(ticks(place)))
        database = await place.open(SystemClock())
        [parked] = await _recovery(database, client).parked()
        await database.close()
    last = EMBEDDED if place.kind == "sqlite" else "b"
    assert (parked.work, parked.takeovers, parked.last_node) == (piece, 2, last)
    assert parked.reason == f"2 nodes died while they did it; the last was {last}."


def ticks(place):
    file = place.data / "ticks"
    return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


def _recovery(database, client):
    return NodeRecovery(
        database,
        client,
        RECOVERY,
        node="test",
        queue_of=schedule.TABLES.queue_of,
        ticks=frozenset(),
    )
