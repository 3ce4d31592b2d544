"""The tick and the durable work, as a node runs them."""

import asyncio
from dataclasses import replace

from clearlane.engine.dbos_engine import Engine, Pace
from clearlane.engine.workflows import Queue, Schedule, Tables, Workflow
from clearlane.pipeline.inbound import post, receive
from clearlane.store.nodes import Nodes
from tests.api.markers import tables_with
from tests.claims.answers import paid, payment
from tests.patience import PATIENCE_SECONDS
from tests.pipeline.flowing import PAYER, Flow

MARKER = "QZ5E77A1"
PACE = Pace(heartbeat_seconds=1, dead_node_seconds=2, takeovers_max=1, finished_work_days=7)
TABLES = Tables(
    queues=(
        Queue(name=receive.QUEUE, at_once=8, look_seconds=0.1),
        Queue(name=post.QUEUE, at_once=2, look_seconds=0.1),
    ),
    workflows=(Workflow(name=post.NAME, verb=post.post, queue=post.QUEUE),),
    schedules=(
        Schedule(name=receive.NAME, verb=receive.collect, cron=receive.EVERY, queue=receive.QUEUE),
    ),
)


async def test_a_tick_fetches_what_waits_and_durable_work_posts_it(place, database, clock):
    flow = await Flow.open(place, database, clock)
    [id], _ = await flow.sent(F26_PatientAcctNumber=MARKER)
    box = flow.lines.open(flow.lines.line("Medical", PAYER))
    box.files["remittance"] = payment(paid(MARKER, "1", "100", "80", "CAS*CO*45*20"))
    nodes = Nodes(database, id="node", role="worker", beat_seconds=1, keys=place.keys())
    engine = Engine(
        replace(flow.desk, node="node"),
        TABLES,
        nodes=nodes,
        url=place.url,
        pace=PACE,
        stop_seconds=PATIENCE_SECONDS,
    )
    await engine.start()
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while [one.state for one in await flow.files()] != ["Applied"]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    finally:
        await engine.stop()
    assert not box.files
    assert (await flow.status(id))["CurrentState"] == "Complete"
    kept = [one for one in place.data.rglob("*") if one.is_file()]
    assert not [one for one in kept if MARKER.encode() in one.read_bytes()]
    if place.url:
        assert await tables_with(place.url, MARKER) == []
