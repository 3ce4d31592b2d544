"""`clearlane work`: stopped work is listed and released, as an operator types it.

Also tests `cli/work` and `engine/parked_work`.
"""

import asyncio
import json

import pytest

from clearlane.engine import self_check
from clearlane.engine.engine_storage import (
    engine_database_url,
    prepare_sqlite_file,
    upgrade_engine_tables,
)
from clearlane.engine.node_recovery import NodeRecovery, RecoverySettings
from clearlane.engine.workflow_client import CANCELLED, WorkflowClient
from clearlane.kernel.clock import SystemClock
from clearlane.pipeline.schedule import TABLES

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


def released_by(clearlane):
    """Who released work, as the audit chain has it."""
    lines = clearlane("audit export --format jsonl").splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    return [row["actor"].partition(":")[0] for row in rows if row["action"] == "work.release"]
