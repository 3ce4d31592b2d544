"""`clearlane work`: stopped work is listed and released, as an operator types it.

Also tests `cli/installation/work` and `engine/parked_work`.
"""

import asyncio
import json
from functools import partial
from types import SimpleNamespace

import pytest

from clearlane.engine import parked_work, self_check
from clearlane.engine.engine_storage import (
    engine_database_url,
    prepare_sqlite_file,
    upgrade_engine_tables,
)
from clearlane.engine.node_recovery import NodeRecovery, RecoverySettings
from clearlane.engine.workflow_client import CANCELLED, WorkflowClient
from clearlane.kernel.clock import SystemClock
from clearlane.pipeline.schedule import TABLES, WORKFLOWS
from clearlane.store.database.database import Actor
from clearlane.store.delivery import inbox

PARKS_AT_ONCE = RecoverySettings(
    heartbeat_seconds=1, dead_node_seconds=2, takeovers_max=0, finished_work_days=7
)


@pytest.fixture
def in_engine(place):
    """Do something with the engine's tables while no engine runs."""
    url = engine_database_url(place.data, place.url)
    if place.kind == "sqlite":
        prepare_sqlite_file(place.data)
    upgrade_engine_tables(url)

    def do(work):
        async def connected():
            client, database = WorkflowClient(url), await place.open(SystemClock())
            try:
                return await work(client, database)
            finally:
                await client.close()
                await database.close()

        return asyncio.run(connected())

    return do


@pytest.fixture
def stopped(in_engine):
    """The id of work that a node gave up, as node recovery leaves it."""

    async def park(client, database):
        id = await client.enqueue(self_check.NAME, ("stuck", 1, 0), queue="lost-queue")
        recovery = NodeRecovery(
            database,
            client,
            PARKS_AT_ONCE,
            node="taker",
            queue_of=TABLES.queue_of,
            ticks=frozenset(),
        )
        await recovery._take_over(await client.find(id), silent=0)
        return id

    return in_engine(park)


def test_stopped_work_is_listed_and_released_once(clearlane, in_engine, stopped):
    def state():
        found = in_engine(lambda client, _: client.find(stopped))
        return found.state, found.queue

    [listed] = clearlane("work list --json")
    assert (listed["work"], listed["takeovers"]) == (stopped, 1)
    assert stopped in clearlane("work list")
    assert state()[0] == CANCELLED

    assert clearlane(f"work release {stopped} --json")["changed"] is True
    assert state() == ("ENQUEUED", self_check.QUEUE)
    assert clearlane("work list --json") == []
    assert "No stopped work has the id" in clearlane(f"work release {stopped}", code=1)
    assert state() == ("ENQUEUED", self_check.QUEUE)
    assert released_by(clearlane) == ["operator"]


def test_a_release_that_was_cut_off_is_done_by_the_next(clearlane, in_engine, stopped):
    # On its queue already, but still listed: the command died in between.
    in_engine(lambda client, _: client.resume(stopped, queue=self_check.QUEUE))
    clearlane(f"work release {stopped}")
    assert clearlane("work list --json") == []


async def park(client, database, key):
    """Leave work as node recovery leaves it that has taken it over too often."""
    name = key.partition("-")[0]
    await client.enqueue(name, (1,), queue=TABLES.queue_of[name], key=key)
    recovery = recovery_of(client, database)
    await recovery._take_over(await client.find(key), silent=0)


def recovery_of(client, database, **more):
    return NodeRecovery(
        database, client, PARKS_AT_ONCE,
        node="taker", queue_of=TABLES.queue_of, ticks=frozenset(), **more,
    )  # fmt: skip


@pytest.mark.safe_default(13)
def test_stopped_work_whose_file_or_batch_is_finished_goes_by_itself(clearlane, in_engine):
    """The file was posted by later work, and the batch is gone; nobody has to release what stopped."""
    file = inbox.NewInboxFile(
        payer_id="TST01", type="Medical", route_id=1, name="one.835", digest="d",
        bytes=1, received_at=1, content=b"sealed",
    )  # fmt: skip
    actor = Actor("node", "test")

    async def leave(client, database):
        id, _ = await database.write(inbox.SCOPE, lambda tx: inbox.add(tx, file), actor=actor)
        for key in (f"post-{id}-1", "deliver-77-1-5"):
            await park(client, database, key)
        return id

    async def apply(client, database):
        outcome = inbox.InboxResult(state="applied", kinds="835", reason="")
        await database.write(
            inbox.SCOPE, lambda tx: inbox.record_result(tx, id, outcome, 2), actor=actor
        )

    def listed():
        return [row["work"] for row in clearlane("work list --json")]

    id = in_engine(leave)
    assert listed() == [f"post-{id}-1"]
    in_engine(apply)
    assert listed() == []

    async def sweep(client, database):
        find = partial(
            parked_work.find_finished_work, SimpleNamespace(database=database), WORKFLOWS
        )
        await recovery_of(client, database, find_finished=find).discard_finished()
        works = (f"post-{id}-1", "deliver-77-1-5")
        return await parked_work.list_parked_work(database), [
            await client.find(work) for work in works
        ]

    assert in_engine(sweep) == ([], [None, None])


def released_by(clearlane):
    """Who released work, as the audit chain has it."""
    lines = clearlane("audit export --format jsonl").splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    return [row["actor"].partition(":")[0] for row in rows if row["action"] == "work.release"]
