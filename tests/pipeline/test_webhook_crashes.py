"""A node that dies between any two steps of delivering webhooks loses none; some come again."""

import asyncio
import json
import os
import signal

from clearlane.engine import fault_injection
from tests.patience import until
from tests.pipeline.flowing import Flow
from tests.pipeline.test_claim_events import feed
from tests.pipeline.test_crashes import OF_WEBHOOKS
from tests.pipeline.test_webhook_runner import add
from tests.pipeline.webhook_receiver import WebhookReceiver
from tests.prepared_process import PreparedProcess

CLAIMS = 40


async def start(place, nth, crash_at=""):
    """Start to deliver in another process, on the data directory of the one before."""
    given = {
        "kind": place.kind, "url": place.url, "data": str(place.data), "node": f"n{nth}", "nth": nth,
    }  # fmt: skip
    return await asyncio.to_thread(
        PreparedProcess, "tests.pipeline.webhook_process", json.dumps(given),
        env={**os.environ, fault_injection.VARIABLE: crash_at},
    )  # fmt: skip


async def test_killed_at_every_point_no_webhook_is_missing(place, database, clock):
    flow = await Flow.open(place, database, clock, sandbox=True)
    noted, sent, recorded = OF_WEBHOOKS

    async with WebhookReceiver() as receiver:

        def ids(since=0):
            return [json.loads(one.body)["id"] for one in receiver.messages[since:]]

        await add(flow, receiver, clock)
        # At last while failed ones wait to be tried again.
        for nth, (point, status) in enumerate([(noted, 200), (f"{sent}:2", 200), (recorded, 503)]):
            receiver.answer(status)
            before = len(receiver.messages)
            await flow.submit(CLAIMS)
            assert await (await start(place, nth, point)).ends() == -signal.SIGKILL
        failed = ids(before)
        # And while the endpoint has messages and has not answered.
        receiver.answer(200)
        receiver.hang()
        before = len(receiver.messages)
        process = await start(place, 3)
        await until(lambda: len(receiver.messages) > before)
        process.kill()
        assert await process.ends() == -signal.SIGKILL
        unanswered, after = ids(before), len(receiver.messages)
        receiver.resume()
        assert await (await start(place, 4)).ends() == 0
        expected = {one["id"] for one in await feed(flow)}
        assert len(expected) == 3 * CLAIMS
        assert set(ids()) == expected
        assert set(failed) | set(unanswered) <= set(ids(after))
        assert len(ids()) < 2 * len(expected)
