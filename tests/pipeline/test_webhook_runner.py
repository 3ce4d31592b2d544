"""Events are delivered to webhook endpoints at least once, signed, and again where that fails.

Also tests `pipeline/notify/webhook_delivery`, `pipeline/notify/dead_lease`, `pipeline/notify/webhook_endpoints`, `store/events/webhooks` and `store/events/event_watch`.
"""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook

from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import Vendor, VendorState
from clearlane.connect.webhook_http import WebhookSender
from clearlane.events.event import format_event_id
from clearlane.events.retries import ATTEMPTS_MAX, RETRY_SECONDS
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.intake.hold_claims import HOLD, RELEASE, change_unsent_claim
from clearlane.pipeline.notify import webhook_delivery, webhook_endpoints
from clearlane.pipeline.notify.dead_lease import DirectoryHolder
from clearlane.pipeline.notify.webhook_runner import WebhookRunner
from clearlane.store.events import webhooks
from clearlane.store.events.event_watch import EventWatch
from tests.manual_clock import ManualClock
from tests.patience import until
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow
from tests.pipeline.test_claim_events import feed
from tests.pipeline.webhook_receiver import WebhookReceiver

pytestmark = pytest.mark.one_database


@pytest.fixture
async def flow(place, database, clock):
    flow = await Flow.open(place, database, clock, sandbox=True)
    vendor = Vendor(flow.site.vendor_id, "FERNHILL", "Fernhill Family Practice", VendorState.ACTIVE)
    accounts = AccountDirectory(pepper=b"", vendors=[vendor], secrets={}, sites=[flow.site])
    watch = EventWatch(database)
    flow.context = replace(flow.context, accounts=lambda: accounts, event_watch=watch)
    yield flow
    await watch.close()


@pytest.fixture
async def receiver():
    async with WebhookReceiver() as receiver:
        yield receiver


@pytest.fixture
def wall():
    return ManualClock(datetime.now(UTC))


@pytest.fixture
async def runner(flow, wall):
    runner = WebhookRunner(flow.context, WebhookSender(sandbox=True), wall, chance=lambda: 0.0)
    yield runner
    await runner.stop()


async def add(flow, receiver, wall, types=("claim.*",), sites=()):
    return await webhook_endpoints.add_endpoint(
        flow.context, flow.site.vendor_id, url=receiver.url, types=types, sites=sites, actor=ACTOR,
        now=wall.now(),
    )  # fmt: skip


async def load(flow, endpoint):
    return await webhook_endpoints.load_endpoint(
        flow.context, flow.site.vendor_id, endpoint.row.endpoint_id
    )


async def deliveries(flow, endpoint):
    """The log of an endpoint, the oldest first: state, attempts, status."""
    rows = await webhook_endpoints.list_deliveries(
        flow.context, flow.site.vendor_id, endpoint.row.endpoint_id, before=None, limit=100
    )
    return [(row.state, row.attempts, row.status) for row, _ in reversed(rows)]


def ids(receiver):
    return [json.loads(message.body)["id"] for message in receiver.messages]


async def test_events_come_signed_and_as_the_feed_has_them(flow, receiver, runner, wall):
    await flow.submit()
    endpoint = await add(flow, receiver, wall)
    await flow.submit(3)
    await runner.deliver_due()
    expected = (await feed(flow))[1:]
    received = [
        Webhook(endpoint.content.secrets[0].secret).verify(message.body, dict(message.headers))
        for message in receiver.messages
    ]
    assert sorted(received, key=lambda one: one["id"]) == expected
    assert [message.headers["webhook-id"] for message in receiver.messages] == ids(receiver)
    assert await deliveries(flow, endpoint) == [("delivered", 1, 200)] * 3
    for event in expected:
        async with flow.database.read(flow.site.scope) as tx:
            rows = await webhooks.list_claim_deliveries(tx, event["claim_number"], limit=10)
        assert [(row.type, row.status) for row in rows] == [(event["type"], 200)]
    await runner.deliver_due()
    assert len(receiver.messages) == 3
    assert (runner.counts.delivered, runner.counts.failed) == (3, 0)


async def test_an_endpoint_gets_the_types_and_sites_that_it_wants(flow, receiver, runner, wall):
    await add(flow, receiver, wall, types=["payment.*"])
    await add(flow, receiver, wall, sites=[flow.site.id + 1])
    await flow.submit()
    await runner.deliver_due()
    assert receiver.messages == []


async def test_a_ping_goes_to_the_endpoint_that_it_names(flow, receiver, runner, wall):
    other = await add(flow, receiver, wall)
    endpoint = await add(flow, receiver, wall, types=["payment.*"])
    vendor, id = flow.site.vendor_id, endpoint.row.endpoint_id
    await webhook_endpoints.ping_endpoint(flow.context, vendor, id, actor=ACTOR)
    await runner.deliver_due()
    [message] = receiver.messages
    assert json.loads(message.body)["type"] == "ping"
    assert json.loads(message.body)["data"] == {"endpoint_id": id}
    assert await deliveries(flow, other) == []


@pytest.mark.both_databases
async def test_a_failure_is_tried_again_and_then_the_endpoint_is_disabled(
    flow, receiver, runner, wall
):
    endpoint = await add(flow, receiver, wall)
    receiver.answer(500, b"a fault")
    await flow.submit()
    for attempt, pause in enumerate((*RETRY_SECONDS, 0), 1):
        await runner.deliver_due()
        assert len(receiver.messages) == attempt
        wall.advance(timedelta(seconds=pause - 1))
        await runner.deliver_due()
        assert len(receiver.messages) == attempt
        wall.advance(timedelta(seconds=1))
    assert len(receiver.messages) == ATTEMPTS_MAX
    assert await deliveries(flow, endpoint) == [("failed", ATTEMPTS_MAX, 500)]
    row = (await load(flow, endpoint)).row
    assert (row.state, row.fault) == ("disabled", "It answered 500.")
    found = await feed(flow)
    assert [one["type"] for one in found] == ["claim.received", "webhook.disabled"]
    assert found[1]["data"] == {"endpoint_id": endpoint.row.endpoint_id}
    assert format_event_id(row.failed_event) == found[0]["id"]
    assert runner.counts.disabled == 1
    async with flow.database.read(EVERYONE) as tx:
        assert await webhooks.count_disabled(tx) == 1


@pytest.mark.both_databases
@pytest.mark.parametrize("replay", [True, False])
async def test_enabling_replays_everything_since_it_failed(flow, receiver, runner, wall, replay):
    endpoint = await add(flow, receiver, wall)
    await flow.submit()
    await runner.deliver_due()
    receiver.answer(503)
    await flow.submit()
    for pause in (*RETRY_SECONDS, 0):
        await runner.deliver_due()
        wall.advance(timedelta(seconds=pause))
    await flow.submit()
    receiver.messages.clear()
    receiver.answer(204)
    await runner.deliver_due()
    assert receiver.messages == []
    vendor, id = flow.site.vendor_id, endpoint.row.endpoint_id
    await webhook_endpoints.enable_endpoint(flow.context, vendor, id, replay=replay, actor=ACTOR)
    await flow.submit()
    await runner.deliver_due()
    received = [one["id"] for one in await feed(flow) if one["type"] == "claim.received"]
    assert sorted(ids(receiver)) == (received[1:] if replay else received[3:])
    assert (await load(flow, endpoint)).row.failing_since is None


async def test_who_disables_an_endpoint_can_have_what_it_missed_later(flow, receiver, runner, wall):
    endpoint = await add(flow, receiver, wall)
    vendor, id = flow.site.vendor_id, endpoint.row.endpoint_id
    receiver.answer(503)
    await flow.submit()
    await runner.deliver_due()
    for _ in range(2):
        await webhook_endpoints.disable_endpoint(
            flow.context, vendor, id, actor=ACTOR, now=wall.now()
        )
    await flow.submit()
    wall.advance(timedelta(days=1))
    receiver.answer(204)
    receiver.messages.clear()
    await runner.deliver_due()
    assert receiver.messages == []
    types = [one["type"] for one in await feed(flow)]
    assert types.count("webhook.disabled") == 1
    await webhook_endpoints.enable_endpoint(flow.context, vendor, id, replay=True, actor=ACTOR)
    await runner.deliver_due()
    received = [one["id"] for one in await feed(flow) if one["type"] == "claim.received"]
    assert sorted(ids(receiver)) == received


async def test_what_was_delivered_can_be_sent_again(flow, receiver, runner, wall):
    endpoint = await add(flow, receiver, wall)
    await flow.submit(3)
    await runner.deliver_due()
    receiver.messages.clear()
    vendor, id = flow.site.vendor_id, endpoint.row.endpoint_id
    numbers = [row.event_id for row, _ in await webhook_endpoints.list_deliveries(
        flow.context, vendor, id, before=None, limit=10)][::-1]  # fmt: skip
    await webhook_endpoints.resend(
        flow.context, vendor, id, numbers[1], actor=ACTOR, now=wall.now()
    )
    await runner.deliver_due()
    assert ids(receiver) == [format_event_id(numbers[1])]
    receiver.messages.clear()
    await webhook_endpoints.replay_endpoint(flow.context, vendor, id, after=numbers[0], actor=ACTOR)
    await flow.submit()
    await runner.deliver_due()
    assert sorted(ids(receiver))[:2] == [format_event_id(number) for number in numbers[1:]]
    assert len(receiver.messages) == 3
    with pytest.raises(webhook_endpoints.NoSuchEndpoint):
        await webhook_endpoints.resend(flow.context, vendor, id, 17, actor=ACTOR, now=wall.now())


async def test_while_a_secret_is_rotated_both_sign_for_a_day(flow, receiver, runner, wall):
    endpoint = await add(flow, receiver, wall)
    vendor, id = flow.site.vendor_id, endpoint.row.endpoint_id
    rotated = await webhook_endpoints.rotate_secret(
        flow.context, vendor, id, actor=ACTOR, now=wall.now()
    )
    old, new = endpoint.content.secrets[0].secret, rotated.content.secrets[0].secret
    assert old != new
    await flow.submit()
    await runner.deliver_due()
    for secret in (old, new):
        assert Webhook(secret).verify(receiver.messages[0].body, dict(receiver.messages[0].headers))
    wall.advance(timedelta(hours=25))
    await flow.submit()
    await runner.deliver_due()
    assert len(receiver.messages[1].headers["webhook-signature"].split()) == 1


@pytest.mark.both_databases
async def test_a_slow_endpoint_delays_no_other(flow, receiver, runner, wall):
    async with WebhookReceiver() as slow:
        slow.hang()
        await add(flow, slow, wall)
        await add(flow, receiver, wall)
        await flow.submit(20)
        delivering = asyncio.create_task(runner.deliver_due())
        await until(lambda: len(receiver.messages) == 20)
        assert len(slow.messages) <= webhook_delivery.WEBHOOK_AT_ONCE
        slow.answer(200)
        await slow.close()
        await delivering


@pytest.mark.both_databases
async def test_the_address_and_the_secret_are_kept_sealed(flow, receiver, wall, place):
    endpoint = await add(flow, receiver, wall)
    async with flow.database.read(webhook_endpoints.vendor_scope(flow.site.vendor_id)) as tx:
        [row] = await webhooks.list_endpoints(tx)
    assert receiver.url.encode() not in row.payload
    assert endpoint.content.secrets[0].secret not in repr(endpoint) + repr(row)
    other = await flow.new_site()
    with pytest.raises(webhook_endpoints.NoSuchEndpoint):
        await webhook_endpoints.load_endpoint(flow.context, other.vendor_id, row.endpoint_id)
    assert await webhook_endpoints.list_endpoints(flow.context, other.vendor_id) == []


async def test_a_vendor_has_a_limited_number_of_endpoints(flow, receiver, wall):
    for _ in range(webhook_endpoints.ENDPOINTS_PER_VENDOR_MAX):
        await add(flow, receiver, wall)
    with pytest.raises(webhook_endpoints.TooManyEndpoints):
        await add(flow, receiver, wall)


async def test_a_running_node_delivers_by_itself(flow, receiver, runner, wall):
    await add(flow, receiver, wall)
    runner.start()
    await flow.submit()
    await until(lambda: receiver.messages)
    await flow.submit()
    await until(lambda: len(receiver.messages) == 2)


async def hold_lease(flow, endpoint, wall, node):
    """Let another node have an endpoint."""
    now = wall.now()
    return await flow.database.write(
        webhooks.SCOPE,
        lambda tx: webhooks.take_lease(
            tx, endpoint.row.endpoint_id, node, now=to_micros(now),
            until=to_micros(now + webhook_delivery.LEASE),
        ),
        actor=ACTOR,
    )  # fmt: skip


@pytest.mark.both_databases
async def test_of_two_nodes_one_delivers_to_an_endpoint_and_the_other_takes_over(
    flow, receiver, runner, wall
):
    endpoint = await add(flow, receiver, wall)
    await flow.submit()
    assert await hold_lease(flow, endpoint, wall, "second")
    await runner.deliver_due()
    assert receiver.messages == []
    wall.advance(webhook_delivery.LEASE + timedelta(seconds=1))
    await runner.deliver_due()
    assert len(receiver.messages) == 1


@pytest.mark.both_databases
async def test_the_lease_of_a_dead_node_of_the_same_data_directory_is_taken_at_once(
    flow, receiver, wall, runner
):
    endpoint = await add(flow, receiver, wall)
    await flow.submit()
    before = DirectoryHolder.take(flow.context.data)
    before.record("before")
    assert await hold_lease(flow, endpoint, wall, "before")
    # While its process lives, no one takes it.
    await runner.deliver_due()
    assert receiver.messages == []
    before.close()
    after = WebhookRunner(flow.context, runner.sender, wall, chance=lambda: 0.0)
    await after.deliver_due()
    assert len(receiver.messages) == 1
    await after.stop()


def claims_of(receiver):
    """The numbers of events as they came, by claim."""
    found = {}
    for message in receiver.messages:
        content = json.loads(message.body)
        found.setdefault(content["claim_number"], []).append(content["id"])
    return found


@pytest.mark.both_databases
async def test_events_of_a_claim_come_in_order_and_a_failed_one_holds_up_its_claim_alone(
    flow, receiver, runner, wall
):
    endpoint = await add(flow, receiver, wall)
    numbers = await flow.submit(40)
    for verb in (HOLD, RELEASE):
        for number in numbers:
            await change_unsent_claim(
                flow.context, flow.site, number, verb, actor=ACTOR, now=flow.context.clock.now()
            )
    failing = numbers[3]
    receiver.refuse = lambda message: failing.encode() in message.body
    await runner.deliver_due()
    found = claims_of(receiver)
    assert len(found.pop(failing)) == 1
    assert len(found) == 39
    for events in found.values():
        assert len(events) == 3
        assert events == sorted(events)
    async with flow.database.read(EVERYONE) as tx:
        # What waits behind the failed one is no backlog.
        assert await webhooks.oldest_due(tx, to_micros(wall.now())) is None
    receiver.refuse = None
    receiver.messages.clear()
    wall.advance(timedelta(seconds=6))
    async with flow.database.read(EVERYONE) as tx:
        assert await webhooks.oldest_due(tx, to_micros(wall.now())) is not None
    await runner.deliver_due()
    events = claims_of(receiver)
    assert [*events] == [failing]
    assert len(events[failing]) == 3
    assert events[failing] == sorted(events[failing])
    assert {state for state, _, _ in await deliveries(flow, endpoint)} == {"delivered"}


@pytest.mark.both_databases
async def test_a_ping_passes_a_backlog_and_an_endpoint_that_answers_slowly(
    flow, receiver, runner, wall, monkeypatch
):
    monkeypatch.setattr(webhook_delivery, "WEBHOOK_WAITING_MAX", 1)
    endpoint = await add(flow, receiver, wall)
    await flow.submit(30)
    receiver.hang(lambda message: b'"ping"' not in message.body)
    delivering = asyncio.create_task(runner.deliver_due())
    await until(lambda: len(receiver.messages) == webhook_delivery.WEBHOOK_AT_ONCE)
    await flow.submit(1)
    vendor, id = flow.site.vendor_id, endpoint.row.endpoint_id
    await webhook_endpoints.ping_endpoint(flow.context, vendor, id, actor=ACTOR)
    await until(lambda: any(b'"ping"' in message.body for message in receiver.messages))
    assert len(receiver.messages) == webhook_delivery.WEBHOOK_AT_ONCE + 1
    receiver.resume()
    await delivering
    assert len(receiver.messages) == 32
