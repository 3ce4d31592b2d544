"""Calls that wait: a thousand at once, a node that stops, one that is killed, and two nodes on one database.

Also tests `pipeline/inquiry/request_answers`.
"""

import asyncio
import json
import signal
from contextlib import AsyncExitStack
from time import monotonic as now

import httpx
import pytest

from clearlane.kernel.limits import INQUIRY_WAIT_SECONDS_MAX
from clearlane.sandbox.members import SANDBOX_DELAY_PER_PATIENT_SECONDS
from tests.api.service_process import ServiceProcess, VendorAccount
from tests.cases import by_profile
from tests.databases import KINDS
from tests.eligibility.eligibility_caller import (
    COMPLETE,
    INCOMPLETE,
    SUBMIT,
    Caller,
    answers_at,
    body_of,
    many,
    one,
    requests_at,
    traces,
)

AT_ONCE = 20
CALLS = {"postgresql": by_profile(thorough=1_000, usual=140, quick=100), "sqlite": 100}
"""How many wait at once. The database has no part in waiting, so a thousand on one of them (`make thorough`) are enough."""


@pytest.fixture(params=KINDS)
async def place_of(request, new_place):
    return await new_place(request.param, served=True)


def started(place, name="served"):
    return ServiceProcess(place.data / name, place.url).start()


def with_site(serving):
    account = serving.add_vendor("ACME")
    serving.add_site(account, "A-1", "--baa-accepted")
    return account


def calling(serving, account: VendorAccount):
    return Caller.of(serving, account.auth, "A-1")


async def stored(serving, waiting):
    """Wait until the requests of these calls are stored. A call that fails ends the test."""
    while await requests_at(serving) < len(waiting):
        for task in waiting:
            assert not task.done() or task.result() is not None
        await asyncio.sleep(0.05)


async def asked(serving, waiting):
    """The numbers of the requests of these calls, once all are stored."""
    await stored(serving, waiting)
    return await asyncio.to_thread(numbers, serving)


async def answered(serving, count, waiting):
    """Wait until so many patients have their answers."""
    while await answers_at(serving) < count:
        assert not any(task.done() for task in waiting)
        await asyncio.sleep(0.1)


def numbers(serving):
    rows = [json.loads(line) for line in serving.command("audit", "export").splitlines()]
    details = [row["detail"] for row in rows if row["action"] == "eligibility.submit"]
    return [int(detail.removeprefix("RequestId ").partition(";")[0]) for detail in details]


async def timed(caller):
    """How many seconds a call took, and its answer."""
    began = now()
    answer = body_of(await caller.client.post(SUBMIT, json=one("1008")))
    return now() - began, answer


async def entered(serving, account, count, stack):
    """So many calls that wait. A few connect at a time: who shakes hands for too long is sent away.

    Each few have a client of their own, since a client looks at all its connections for every call.
    """
    waiting = []
    while len(waiting) < count:
        caller = await stack.enter_async_context(calling(serving, account))
        waiting += [asyncio.create_task(timed(caller)) for _ in range(AT_ONCE)]
        await stored(serving, waiting)
    return waiting


async def test_a_thousand_calls_wait_at_once_and_each_is_answered_at_55_seconds(place_of):
    serving, count = await asyncio.to_thread(started, place_of), CALLS[place_of.kind]
    try:
        account = await asyncio.to_thread(with_site, serving)
        async with AsyncExitStack() as stack, calling(serving, account) as caller:
            began = now()
            waiting = await entered(serving, account, count, stack)
            # Other calls are undisturbed: they are answered while all of these wait.
            body = await caller.submit(one("2001"))
            assert body["Status"] == COMPLETE
            ended = any(task.done() for task in waiting)
            assert not ended or now() - began >= INQUIRY_WAIT_SECONDS_MAX
            await caller.advance("55s")
            answers = await asyncio.gather(*waiting)
            # On a slow machine the earliest have waited for so long that their payer is in time.
            left = SANDBOX_DELAY_PER_PATIENT_SECONDS - INQUIRY_WAIT_SECONDS_MAX
            assert {body["Status"] for took, body in answers if took < left} <= {INCOMPLETE}
            ids = {body["RequestId"] for _, body in answers}
            assert len(ids) == count
            await caller.advance("10s")
            for id in list(ids)[::97]:
                assert (await caller.responses(id))["Status"] == COMPLETE
    finally:
        assert await asyncio.to_thread(serving.stop) == 0


async def test_a_node_that_stops_answers_with_what_it_has_and_the_rest_is_asked_by_the_next(
    place_of,
):
    serving = await asyncio.to_thread(started, place_of)
    account = await asyncio.to_thread(with_site, serving)
    async with calling(serving, account) as caller:
        waiting = caller.begin(many(["1008", "2002"]))
        await answered(serving, 1, [waiting])
        stopped = asyncio.create_task(asyncio.to_thread(serving.stop))
        body = await waiting
        assert (body["Status"], traces(body)) == (INCOMPLETE, ["visit 2"])
        assert await stopped == 0
    await _is_completed_by_a_new_start(serving, account, body["RequestId"])


async def test_a_node_that_is_killed_loses_nothing(place_of):
    serving = await asyncio.to_thread(started, place_of)
    account = await asyncio.to_thread(with_site, serving)
    async with calling(serving, account) as caller:
        waiting = [caller.begin(many(["1008", "2002"])) for _ in range(5)]
        await answered(serving, 5, waiting)
        ids = await asked(serving, waiting)
        await asyncio.to_thread(serving.stop, signal.SIGKILL)
        await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(task.exception(), httpx.TransportError) for task in waiting)
    await _is_completed_by_a_new_start(serving, account, *ids)


async def _is_completed_by_a_new_start(serving, account, *ids):
    await asyncio.to_thread(serving.start)
    try:
        async with calling(serving, account) as caller:
            # What was being asked comes free after a lease; then the payer takes its time anew.
            for by in ("120s", "66s"):
                await caller.advance(by)
            for id in ids:
                late = await caller.responses(id)
                assert (late["Status"], traces(late)) == (COMPLETE, ["visit 1", "visit 2"])
    finally:
        assert await asyncio.to_thread(serving.stop) == 0


async def test_two_nodes_share_requests_and_responses(new_place):
    place = await new_place("postgresql")
    first = await asyncio.to_thread(started, place, "one")
    account = await asyncio.to_thread(with_site, first)
    (place.data / "two").mkdir(mode=0o700)
    key = place.data / "two" / "master.key"
    key.write_bytes((place.data / "one" / "master.key").read_bytes())
    key.chmod(0o600)
    second = await asyncio.to_thread(started, place, "two")
    try:
        async with calling(first, account) as one_node, calling(second, account) as other:
            waiting = [one_node.begin(one("1008")), other.begin(one("1008"))]
            await asked(first, waiting)
            for caller in (one_node, other):
                await caller.advance("0s")  # ends when its own payer has the question
            await other.advance("56s")
            bodies = await asyncio.gather(*waiting)
            assert {body["Status"] for body in bodies} == {INCOMPLETE}
            await one_node.advance("10s")
            for caller, body in zip((other, one_node), bodies, strict=True):
                id = body["RequestId"]
                while (await caller.responses(id))["Status"] != COMPLETE:  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
            # A large document brought to one node is worked on by both; the call ends all the same.
            large = await one_node.submit(many([f"3{at:03}" for at in range(40)]))
            assert large["Status"] == COMPLETE
            assert await other.responses(large["RequestId"]) == large
    finally:
        assert await asyncio.to_thread(first.stop) == 0
        assert await asyncio.to_thread(second.stop) == 0
