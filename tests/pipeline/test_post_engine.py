"""Scheduled receiving and durable posting, as a node runs them."""

import asyncio
from dataclasses import replace

from clearlane.engine.dbos_engine import Engine, RecoverySettings
from clearlane.engine.workflows import Workflow, WorkQueue, WorkTables, WorkTick
from clearlane.pipeline.inbound import post, receive
from clearlane.store.installation.nodes import NodeRegistration
from tests.api.markers import tables_with
from tests.claims.answers import paid, payment
from tests.patience import PATIENCE_SECONDS
from tests.pipeline.flowing import PAYER, Flow

MARKER = "QZ5E77A1"
RECOVERY = RecoverySettings(
    heartbeat_seconds=1, dead_node_seconds=2, takeovers_max=1, finished_work_days=7
)
TABLES = WorkTables(
    queues=(WorkQueue(name=post.QUEUE, at_once=2, poll_seconds=0.1),),
    workflows=(Workflow(name=post.NAME, verb=post.post, queue=post.QUEUE),),
    ticks=(WorkTick(name=receive.NAME, verb=receive.receive_tick, every_seconds=0.2, at_once=8),),
)


async def test_a_tick_fetches_what_waits_and_durable_work_posts_it(place, database, clock):
    flow = await Flow.open(place, database, clock)
    [id], _ = await flow.sent(F26_PatientAcctNumber=MARKER)
    box = flow.connections.open_mailbox(flow.connections.route("Medical", PAYER))
    box.files["remittance"] = payment(paid(MARKER, "1", "100", "80", "CAS*CO*45*20"))
    nodes = NodeRegistration(
        database, id="node", role="worker", heartbeat_seconds=1, keys=place.keys()
    )
    engine = Engine(
        replace(flow.context, node="node"),
        TABLES,
        nodes=nodes,
        url=place.url,
        recovery_settings=RECOVERY,
        stop_seconds=PATIENCE_SECONDS,
    )
    await engine.start()
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while [one.state for one in await flow.files()] != ["applied"]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    finally:
        await engine.stop()
    assert not box.files
    assert (await flow.status(id)).state == "complete"
    kept = [one for one in place.data.rglob("*") if one.is_file()]
    assert not [one for one in kept if MARKER.encode() in one.read_bytes()]
    if place.url:
        assert await tables_with(place.url, MARKER) == []
