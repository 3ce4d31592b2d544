"""A node that dies between any two steps of delivering webhooks loses none; some come again."""

import asyncio
import json
import os
import signal
import sys

from clearlane.engine import fault_injection
from tests.patience import PATIENCE_SECONDS
from tests.pipeline.flowing import Flow
from tests.pipeline.test_claim_events import feed
from tests.pipeline.test_crashes import OF_WEBHOOKS
from tests.pipeline.test_webhook_runner import add
from tests.pipeline.webhook_receiver import WebhookReceiver

CLAIMS = 20


async def run(place, nth, crash_at=""):
    """Deliver in another process; how it ended."""
    given = {
        "kind": place.kind, "url": place.url, "data": str(place.data), "node": f"n{nth}", "nth": nth,
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.pipeline.webhook_process", json.dumps(given),
        env={**os.environ, fault_injection.VARIABLE: crash_at},
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await process.wait()


async def test_killed_at_every_point_no_webhook_is_missing(place, database, clock):
    flow = await Flow.open(place, database, clock, sandbox=True)
    async with WebhookReceiver() as receiver:
        await add(flow, receiver, clock)
        await flow.submit(CLAIMS)
        points = [f"{point}:{time}" for time in (1, 2) for point in OF_WEBHOOKS]
        for nth, point in enumerate(points):
            assert await run(place, nth, point) in {-signal.SIGKILL, 0}
            await flow.submit(CLAIMS)
        assert await run(place, len(points)) == 0
        expected = {one["id"] for one in await feed(flow)}
        received = [json.loads(message.body)["id"] for message in receiver.messages]
    assert len(expected) == CLAIMS * (len(points) + 1)
    assert set(received) == expected
    assert len(received) < 2 * len(expected)
