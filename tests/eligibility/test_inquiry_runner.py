"""Outcomes of inquiries over a CORE connection: four classes, which are retried, and which count once.

Also tests `pipeline/inquiry/ask`, `pipeline/inquiry/eligibility_request`, `pipeline/inquiry/eligibility_transaction` and
`pipeline/inquiry/realtime_inquiry`.
"""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import select

from clearlane.kernel.clock import SystemClock, to_micros
from clearlane.kernel.limits import INQUIRY_WAIT_SECONDS_MAX
from clearlane.payers.hops import HOP, HopPayer
from clearlane.payers.routes import RouteSecrets
from clearlane.pipeline.inquiry import ask, eligibility_request, inquiry_schedule
from clearlane.pipeline.inquiry.ask import IMMEDIATE_INQUIRIES_MAX
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.inquiry_runner import (
    INQUIRY_LEASE_SECONDS,
    INQUIRY_RETRY_SECONDS,
    open_inquiry,
    retry_seconds,
)
from clearlane.pipeline.inquiry.realtime_inquiry import read_reply
from clearlane.pipeline.inquiry.request_answers import load_request
from clearlane.pipeline.route_connections import RouteConnections
from clearlane.store import inquiries
from clearlane.store.database.schema import inquiry_requests
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches
from clearlane.store.delivery.routes import ActiveRoutes, RouteWithSecrets
from clearlane.store.installation import operating_counts
from tests.connect import core_server as there
from tests.connect.invented import route
from tests.contexts import work_context
from tests.eligibility.eligibility_caller import COMPLETE, INCOMPLETE, many, traces
from tests.eligibility.inquiry_node import ACTOR, Node, benefits, joined, nine, refusal, ta1
from tests.eligibility.invented import document
from tests.patience import PATIENCE_SECONDS, until
from tests.sandbox.invented import clean

pytestmark = pytest.mark.one_database

ALL = Statement(select(inquiry_requests.c.id), system=True)
WAIT = timedelta(seconds=INQUIRY_WAIT_SECONDS_MAX)


@pytest.fixture
async def service():
    """A payer for each test: what one of them left unanswered must not reach the next."""
    async with there.core_payer() as started:
        yield started


@pytest.fixture
async def node(place, database, clock, service):
    made = await Node(place, database, clock, service).open()
    yield made
    await made.runner.stop()


def errors(body):
    return [
        (one["Type"], [error["Code"] for error in one["Errors"]]) for one in body["ErrorResponses"]
    ]


async def test_a_hop_is_asked_in_real_time_under_its_id_of_the_payer(
    place, database, clock, service
):
    """The route in real time has the map of the hop's route for files; the caller sees the payer's own id."""
    node = await Node(place, database, clock, service).open()
    [realtime] = node.connections._routes.realtime_routes("Medical", "MDW10")
    files, _ = route("folder", payer_id="NORTHGATE", outbox=place.data / "out", inbox=place.data)
    of_hop = [
        RouteWithSecrets(
            replace(
                one.route, id=id, type=HOP, payer_id="NORTHGATE", options=one.route.options | more
            ),
            one.secrets,
        )
        for id, one, more in (
            (1, RouteWithSecrets(files, RouteSecrets()), {}),
            (2, realtime, {"inquiries": "270"}),
        )
    ]
    served = {1: [HopPayer("Medical", "MDW10", "60054")]}
    node.connections = RouteConnections(ActiveRoutes(of_hop, served), node.clock)
    assert node.runner.can_reach("Medical", "MDW10", "270")
    assert not node.runner.can_reach("Medical", "MDW10", "276")
    assert [hop.id for hop in node.connections.hops()] == ["NORTHGATE"]
    node.answer_with(partial(benefits, payer="60054"))
    try:
        body = await node.submit()
    finally:
        await node.runner.stop()
    assert (body["Status"], traces(body)) == (COMPLETE, ["visit 7"])
    [request] = node.payer.seen
    assert b"*****PI*60054~" in request.payload
    # Without a map, or one that has the payer no more, no one is asked.
    node.connections = RouteConnections(ActiveRoutes(of_hop), node.clock)
    assert not node.runner.can_reach("Medical", "MDW10", "270")


async def wait_for(waiting, node, seconds, *, seen):
    """Advance the clock once the payer has received so many inquiries."""
    await node.wait_for_inquiries(seen)
    await node.quiet()
    assert not waiting.done()
    node.clock.advance(timedelta(seconds=seconds))


@pytest.mark.both_databases
async def test_a_payer_with_a_real_time_route_alone_is_asked_and_answers(node):
    node.answer_with(benefits)
    body = await node.submit()
    assert (body["Status"], traces(body)) == (COMPLETE, ["visit 7"])
    [request] = node.payer.seen
    assert request.fields["PayloadType"] == "X12_270_Request_005010X279A1"
    assert clean(request.payload)


@pytest.mark.both_databases
async def test_inquiries_are_counted_for_the_operator_by_how_they_ended(node):
    node.answer_with(benefits)
    await node.submit()
    node.payer.mood = "http 500"
    await node.submit()

    async def counts():
        now = to_micros(node.clock.now())
        async with node.database.read(operating_counts.SCOPE) as tx:
            return await operating_counts.count_inquiries(
                tx, now
            ), await operating_counts.count_open_inquiries(tx)

    [[counted], waiting] = await counts()
    assert (counted.payer_id, counted.asked, counted.answered, counted.failed) == ("MDW10", 2, 1, 1)
    assert counted.mean_micros == counted.longest_micros == 0
    assert waiting == []
    node.clock.advance(timedelta(minutes=16))
    assert await counts() == ([], [])


# Code of the outcome, whether the inquiry is retried, and how soon.
ENDS = {
    "http 500": ("Connection", ["Http"]),
    "http 401": ("Connection", ["Http"]),
    "code:SenderIDIllegal": ("Connection", ["Envelope"]),
    "fault": ("Connection", ["Envelope"]),
    "no payload": ("Connection", ["Envelope"]),
    "html": ("Connection", ["Envelope"]),
}


@pytest.mark.parametrize("mood", ENDS)
async def test_http_and_envelope_faults_end_at_once_and_are_distinguished(node, mood):
    node.payer.mood = mood
    body = await node.submit()
    assert body["Status"] == COMPLETE
    assert errors(body) == [ENDS[mood]]
    assert len(node.payer.seen) == 1


@pytest.mark.safe_default(13)
@pytest.mark.parametrize("mood", ["fault", "code:SenderIDIllegal", "http 500"])
async def test_the_words_of_a_payers_fault_are_for_operators_only(node, mood):
    node.payer.mood = mood
    said = {"fault": "bad envelope", "http 500": "500"}.get(mood, "SenderIDIllegal")
    body = await node.submit()
    assert errors(body) == [ENDS[mood]]
    assert said not in json.dumps(body["ErrorResponses"])
    async with node.database.read(inquiries.SCOPE) as tx:
        [(id,)] = await tx.rows(ALL)
    shown = await load_request(node.database, node.vault, ELIGIBILITY, id, actor=ACTOR)
    [error] = shown.inquiries[0].result.error.errors
    assert said in error.payer_text


@pytest.mark.safe_default(13)
async def test_a_payers_answer_has_no_control_characters_and_no_endless_numbers(node):
    def hostile(trace):
        answer = benefits(trace).replace(b"MEADOW", b"MEA\x7fDOW")
        return answer.replace(b"~EB*1*", b"~EB*C*IND*30***23*" + b"9" * 40 + b"~EB*1*", 1)

    node.answer_with(hostile)
    body = await node.submit()
    assert body["Status"] == COMPLETE
    [payer] = body["Responses"][0]["Payers"]
    assert payer["CommonName"].startswith("MEADOW")
    assert f'": {"9" * 10}' not in json.dumps(payer), "a text may have them, a number may not"


@pytest.mark.parametrize(("answer", "kind"), [(ta1, "TA1"), (nine, "999")])
async def test_a_ta1_or_999_ends_at_once(node, answer, kind):
    node.answer_with(answer)
    body = await node.submit()
    assert body["Status"] == COMPLETE
    [(type, codes)] = errors(body)
    assert type == kind
    assert codes
    [status] = body["InterchangeStatuses"]
    assert status["Status"] == "Rejected"
    assert len(node.payer.seen) == 1


async def test_a_refusal_that_does_not_pass_is_an_answer(node):
    node.answer_with(lambda trace: refusal(trace, "79", "C"))
    body = await node.submit()
    assert (body["Status"], len(body["Responses"])) == (COMPLETE, 1)
    assert len(node.payer.seen) == 1


@pytest.mark.parametrize("code", ["42", "80"])
async def test_a_payer_that_cannot_answer_now_is_asked_again_while_the_call_waits(node, code):
    node.answer_with(lambda trace: refusal(trace, code), benefits)
    waiting = node.begin()
    await wait_for(waiting, node, 1, seen=1)
    body = await waiting
    assert (body["Status"], traces(body)) == (COMPLETE, ["visit 7"])
    controls = [request.payload.split(b"*")[13] for request in node.payer.seen]
    assert len(set(controls)) == 2


async def test_a_payer_that_forbids_it_is_not_asked_again(node):
    node.answer_with(lambda trace: refusal(trace, "42", "N"))
    body = await node.submit()
    assert (body["Status"], len(body["Responses"]), len(node.payer.seen)) == (COMPLETE, 1, 1)


@pytest.mark.both_databases
async def test_a_busy_envelope_is_tried_again_by_the_tail_and_in_the_end_reported(node):
    node.payer.mood = "code:ServerBusy"
    waiting = node.begin()
    for seen, pause in enumerate(INQUIRY_RETRY_SECONDS, start=1):
        await wait_for(waiting, node, pause, seen=seen)
    await wait_for(waiting, node, 60, seen=6)
    body = await waiting
    assert (body["Status"], body["ErrorResponses"]) == (INCOMPLETE, [])
    node.clock.advance(timedelta(hours=25))
    await node.quiet()
    assert len(node.payer.seen) == 7
    ended = await node.responses(body["RequestId"])
    assert (ended["Status"], errors(ended)) == (COMPLETE, [("Connection", ["Busy"])])


async def test_a_question_that_may_have_arrived_rests_before_it_is_asked_again(node):
    await node.runner.stop()
    await node.open(seconds_max=3)
    node.payer.seconds = 600
    node.answer_with(benefits)
    waiting = node.begin()
    await node.wait_for_inquiries()
    await node.quiet()
    node.clock.advance(WAIT)
    body = await waiting
    assert body["Status"] == INCOMPLETE
    node.payer.seconds = 0
    node.clock.advance(timedelta(seconds=30))
    await node.quiet()
    assert len(node.payer.seen) == 1, "CORE: not sooner than 90 seconds"
    node.clock.advance(timedelta(seconds=10))
    await node.quiet()
    late = await node.responses(body["RequestId"])
    assert (late["Status"], traces(late), len(node.payer.seen)) == (COMPLETE, ["visit 7"], 2)


async def test_an_answer_for_another_patient_is_ignored_and_the_right_one_kept(node):
    node.answer_with(
        lambda trace: benefits(trace, first="IVO", last="LUND", birth="19700101", member="9"),
        benefits,
    )
    waiting = node.begin()
    await wait_for(waiting, node, 1, seen=1)
    body = await waiting
    assert (body["Status"], traces(body)) == (COMPLETE, ["visit 7"])
    assert "LUND" not in json.dumps(body)


async def test_another_payers_answer_is_refused(node):
    node.answer_with(lambda trace: benefits(trace, payer="HBR20"), benefits)
    waiting = node.begin()
    await wait_for(waiting, node, 1, seen=1)
    body = await waiting
    assert (body["Status"], traces(body)) == (COMPLETE, ["visit 7"])
    assert "HBR20" not in json.dumps(body)


@pytest.mark.both_databases
async def test_a_second_answer_counts_once(node):
    node.answer_with(benefits)
    body = await node.submit()
    async with node.database.read(inquiries.SCOPE) as tx:
        [(id,)] = await tx.rows(ALL)
        found = await inquiries.find_inquiry(tx, id, 1)
    question = open_inquiry(node.vault, found)
    again = read_reply(question, benefits(question.trace, member="2002"), node.clock.now())
    assert await node.runner.store_result(question, again) is False
    assert await node.responses(body["RequestId"]) == body


async def test_a_payer_that_cannot_be_reached_is_tried_again(node):
    port, node.payer.port = node.payer.port, 9
    await node.runner.stop()
    await node.open()
    waiting = node.begin()

    async def stored():
        async with node.database.read(inquiries.SCOPE) as tx:
            return await tx.rows(ALL)

    await until(stored)
    await node.quiet()
    node.clock.advance(WAIT)
    body = await waiting
    assert body["Status"] == INCOMPLETE
    await node.runner.stop()
    node.payer.port = port
    node.answer_with(benefits)
    await node.open()

    async def complete():
        # On a slow machine the first attempt may be recorded after the clock was set forward.
        node.clock.advance(timedelta(hours=1))
        await node.quiet()
        return (await node.responses(body["RequestId"]))["Status"] == COMPLETE

    await until(complete)


@pytest.mark.both_databases
async def test_a_dead_nodes_questions_are_asked_by_another(node, place, service):
    node.payer.seconds = 600
    node.answer_with(benefits)
    waiting = node.begin()
    await node.wait_for_inquiries()
    waiting.cancel()
    # What a killed node leaves behind is its lease, and nothing else.
    for task in list(node.runner._tasks):
        task.cancel()
    other = await Node(place, node.database, node.clock, service, site=node.site).open()
    node.payer.seconds = 0
    await other.quiet()
    assert len(node.payer.seen) == 1, "the lease still holds"
    node.clock.advance(timedelta(seconds=INQUIRY_LEASE_SECONDS))
    await other.quiet()
    numbers = Statement(select(inquiry_requests.c.request_number), system=True)
    async with node.database.read(inquiries.SCOPE) as tx:
        [(number,)] = await tx.rows(numbers)
    late = await other.responses(number)
    assert (late["Status"], traces(late)) == (COMPLETE, ["visit 7"])
    await other.runner.stop()


@pytest.mark.both_databases
async def test_an_answer_at_one_node_ends_the_wait_at_another(node, place, service):
    node.payer.seconds = 600
    node.answer_with(benefits)
    waiting = node.begin()
    await node.wait_for_inquiries()
    other = await Node(place, node.database, node.clock, service, site=node.site).open()
    node.payer.seconds = 0
    async with node.database.read(inquiries.SCOPE) as tx:
        [(id,)] = await tx.rows(ALL)
        found = await inquiries.find_inquiry(tx, id, 1)
    question = open_inquiry(other.vault, found)
    assert await other.runner.store_result(
        question, read_reply(question, benefits(question.trace), node.clock.now())
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        body = await waiting
    assert body["Status"] == COMPLETE
    await other.runner.stop()


async def test_a_stopping_node_answers_with_what_it_has_and_lets_questions_go(node):
    node.payer.seconds = 600
    waiting = node.begin()
    await node.wait_for_inquiries()
    node.stopping.set()
    body = await waiting
    assert body["Status"] == INCOMPLETE
    await node.runner.stop()
    node.payer.seconds = 0
    node.answer_with(benefits)
    node.stopping = asyncio.Event()
    await node.open()
    await node.quiet()
    assert (await node.responses(body["RequestId"]))["Status"] == COMPLETE


async def test_a_call_waits_in_real_seconds_until_55_have_passed(place, database, service):
    node = await Node(place, database, SystemClock(), service).open()
    node.payer.seconds = 600
    done = await node.inquire()
    began = asyncio.get_running_loop().time()
    now = node.clock.now() - WAIT + timedelta(seconds=1)
    body = await joined(
        ask.await_answers(
            node.context,
            ELIGIBILITY,
            done.eligibility_request_id,
            site=node.site,
            now=now,
            stopping=node.stopping,
        )
    )
    assert body["Status"] == INCOMPLETE
    assert asyncio.get_running_loop().time() - began >= 0.9
    await node.runner.stop()


@pytest.mark.both_databases
async def test_old_requests_are_forgotten_after_the_days_of_the_setting(node):
    node.answer_with(benefits)
    old = await node.submit()
    node.clock.advance(timedelta(days=30))
    new = await node.submit()
    context = work_context(
        node.database, node.vault, node.clock, payers=node.payers, eligibility_days=29
    )
    assert await inquiry_schedule.purge_old_requests(context, node.clock.now()) == 1
    assert await node.responses(old["RequestId"]) is None
    assert (await node.responses(new["RequestId"]))["Status"] == COMPLETE


@pytest.mark.both_databases
async def test_a_request_of_many_goes_out_under_the_payers_cap(node):
    node.answer_with(benefits, side_by_side=True)
    count = IMMEDIATE_INQUIRIES_MAX + 5
    request = many(["2001"] * count, "MDW10") | {"IsTest": False}
    body = await node.submit(request)
    assert (body["Status"], len(body["Responses"])) == (COMPLETE, count)
    assert len(node.payer.seen) == count


@pytest.mark.both_databases
async def test_a_key_that_is_taken_is_not_used_twice(node, monkeypatch):
    node.answer_with(benefits)
    keys = iter([76, 76, 76, 77])
    monkeypatch.setattr(ask, "new_request_key", lambda now: next(keys))
    first, second = (await node.submit())["RequestId"], (await node.submit())["RequestId"]
    assert second == first + 1
    async with node.database.read(inquiries.SCOPE) as tx:
        assert sorted(await tx.rows(ALL)) == [(76,), (77,)]


@pytest.mark.both_databases
@pytest.mark.safe_default(7)
async def test_request_numbers_fit_32_bits_and_go_on_ahead_after_a_restore(node):
    node.answer_with(benefits)
    first, second = (await node.submit())["RequestId"], (await node.submit())["RequestId"]
    assert 0 < first < second == first + 1 < 2**31
    await node.database.write(batches.SCOPE, batches.mark_in_doubt_after_restore, actor=ACTOR)
    third = (await node.submit())["RequestId"]
    # What a vendor was given after the backup, a day at a hundred requests a second, is not given again.
    assert second + 8_640_000 < third < 2**31
    assert [(await node.responses(each))["RequestId"] for each in (first, second, third)] == [
        first,
        second,
        third,
    ]


def test_rests_grow_from_what_core_asks_for_to_an_hour():
    rests = [retry_seconds(attempts) for attempts in range(12)]
    assert rests[:4] == [90, 90, 180, 360]
    assert rests == sorted(rests)
    assert rests[-1] == 3_600


def test_keys_fit_into_every_json_reader(clock):
    numbers = [ask.new_request_key(clock.now()) for _ in range(100)]
    clock.advance(timedelta(days=365 * 40))
    numbers.append(ask.new_request_key(clock.now()))
    assert all(0 < number < 2**53 for number in numbers)
    assert max(numbers[:100]) < numbers[-1]


async def test_malformed_requests_ask_nobody(node):
    done = await node.inquire(
        document(IsTest=False, payer_PayerId="MDW10", subscriber_MemberId=None)
    )
    assert isinstance(done, eligibility_request.MalformedInquiry)
    assert not node.payer.seen
