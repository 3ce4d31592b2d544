"""Answers that take long: one after the other within a request, real seconds unless the clock is advanced."""

import asyncio
from datetime import timedelta

import pytest

from clearlane.connect.loopback import LoopbackRealtime
from clearlane.connect.port import RealtimeResult
from clearlane.kernel.clock import SystemClock
from clearlane.kernel.limits import SANDBOX_DELAY_REMEMBERED_SECONDS
from clearlane.sandbox.clock import SandboxClock, decode_state
from clearlane.sandbox.eligibility import EligibilityPayer
from clearlane.sandbox.model import Profile
from clearlane.sandbox.response_delays import ResponseDelays
from tests.cases import full_or_quick
from tests.patience import PATIENCE_SECONDS
from tests.sandbox.asking import NOW, Question, ask, asked, canonical, clock, payer
from tests.sandbox.invented import clean, starting

SECOND = timedelta(seconds=1)
DELAY = 65 * SECOND


def question(trace: str, **more) -> bytes:
    return ask("1008", traces=((trace, "9123456789"),), **more)


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_patients_of_one_request_wait_for_each_other_and_requests_do_not():
    time = clock()
    one = payer(time=time)
    asked_at_once = [
        asyncio.create_task(one.answer(question(trace, child=child), NOW))
        for trace, child in (("17-1", False), ("17-2", True), ("17-3", True), ("18-1", False))
    ]
    done = []
    for step in (64, 1, 64, 1, 65):
        await settle()
        time.advance(step * SECOND)
        await settle()
        done.append([task.done() for task in asked_at_once])
    assert done == [
        [False, False, False, False],
        [True, False, False, True],
        [True, False, False, True],
        [True, True, False, True],
        [True, True, True, True],
    ]
    replies = [await task for task in asked_at_once]
    assert all(map(clean, replies))
    assert all(starting(canonical(reply), "EB*1*") for reply in replies)
    # Each answer is written at the moment it is due: 9:30 and 65, 130, 195 seconds.
    assert [reply[:106].split(b"*")[10] for reply in replies] == [
        b"0931",
        b"0932",
        b"0933",
        b"0931",
    ]


async def test_several_patients_in_one_interchange_are_delayed_together():
    time = clock()
    both = asked(
        Question(member="1008", traces=(("17-1", "9123456789"),)),
        Question(member="1008", traces=(("17-2", "9123456789"),)),
    )
    task = asyncio.create_task(payer(time=time).answer(both, NOW))
    await settle()
    time.advance(129 * SECOND)
    await settle()
    assert not task.done()
    time.advance(SECOND)
    assert clean(await task)


async def test_a_question_that_is_refused_does_not_wait():
    content = question("17-1").replace(b"19800229", b"19810229")
    assert b"IK5*R*5~" in await payer().answer(content, NOW)


async def test_a_repeated_inquiry_keeps_its_due_time():
    time = clock()
    one = payer(time=time)
    connection = LoopbackRealtime(one, time)
    for _ in range(2):
        reply = await connection.ask(question("17-1"), payload_type="", seconds=0.001)
        assert reply.result is RealtimeResult.TIMEOUT
        time.advance(DELAY / 2)
    reply = await connection.ask(question("17-1"), payload_type="", seconds=PATIENCE_SECONDS)
    assert reply.result is RealtimeResult.ANSWERED
    assert reply.payload_type == "X12_271_Response_005010X279A1"
    again = asyncio.create_task(one.answer(question("17-1"), time.now()))
    await settle()
    assert not again.done()
    again.cancel()


async def test_many_wait_at_once_and_one_advance_answers_them():
    time, count = clock(), full_or_quick(1_000, 100)
    one = payer(time=time)
    tasks = [
        asyncio.create_task(one.answer(question(f"{number}-1"), NOW)) for number in range(count)
    ]
    await settle()
    assert not any(task.done() for task in tasks)
    assert b"EB*1*" in await one.answer(ask("2001"), NOW)
    time.advance(DELAY)
    replies = await asyncio.gather(*tasks)
    assert len(set(replies)) == count


async def test_new_payer_objects_share_delays_and_payers_do_not_delay_each_other():
    time, delays = clock(), ResponseDelays()
    tasks = [
        asyncio.create_task(
            EligibilityPayer(Profile(id, id), time, delays=delays).answer(question(trace), NOW)
        )
        for id, trace in (("TST01", "17-1"), ("TST01", "17-2"), ("TST1E", "17-3"))
    ]
    await settle()
    time.advance(DELAY)
    await settle()
    assert [task.done() for task in tasks] == [True, False, True]
    time.advance(DELAY)
    await asyncio.gather(*tasks)


async def test_a_question_without_a_trace_number_waits_too():
    time = clock()
    task = asyncio.create_task(payer(time=time).answer(ask("1008", traces=(), reference=""), NOW))
    await settle()
    assert not task.done()
    time.advance(DELAY)
    assert b"EB*1*" in await task


async def test_waiting_takes_real_seconds():
    time = SandboxClock(SystemClock())
    before = time.now()
    await time.wait_until(before + timedelta(milliseconds=30))
    assert time.now() - before >= timedelta(milliseconds=30)
    await time.wait_until(before)


async def test_a_change_by_another_node_wakes_who_waits():
    time, other = clock(), clock()
    task = asyncio.create_task(time.wait_until(NOW + DELAY))
    await settle()
    time.freeze()
    await settle()
    assert not task.done()
    time.state = decode_state(other.advance(DELAY).encode())
    await asyncio.wait_for(task, PATIENCE_SECONDS)


def test_delays_of_a_request_follow_each_other_and_an_idle_request_starts_anew():
    delays = ResponseDelays()
    assert delays.reserve(("A", "1"), DELAY, NOW) == NOW + DELAY
    assert delays.reserve(("A", "2"), DELAY, NOW + SECOND) == NOW + 2 * DELAY
    assert delays.reserve(("A", "1"), DELAY, NOW + SECOND) == NOW + DELAY
    assert delays.reserve(("B", "1"), DELAY, NOW + SECOND) == NOW + SECOND + DELAY
    delays.release(("A", "1"))
    late = NOW + 10 * DELAY
    assert delays.reserve(("A", "1"), DELAY, late) == late + DELAY


@pytest.mark.parametrize("given_up", [False, True])
def test_what_nobody_comes_back_for_is_forgotten(given_up):
    delays = ResponseDelays()
    now = NOW
    for number in range(5_000):
        delays.reserve((str(number), "1"), DELAY, now)
        if not given_up:
            delays.release((str(number), "1"))
        now += 10 * SECOND
    remembered = SANDBOX_DELAY_REMEMBERED_SECONDS / 10 if given_up else 0
    assert len(delays) < 3 * (remembered + 20)
