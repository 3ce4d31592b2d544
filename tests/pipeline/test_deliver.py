"""Payers that are away, slow, refuse, or take a file and do not say so: nothing is lost, nothing comes twice."""

import asyncio
from itertools import pairwise

import pytest
from sqlalchemy import func, select

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.connect.port import Denied, Presence, Unreachable
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.inbound import receive
from clearlane.pipeline.outbound import deliver, dispatch
from clearlane.pipeline.outbound.delivery_policy import DENIED_SECONDS, pause_seconds
from clearlane.pipeline.query.history.load_history import load_claim_history
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches
from clearlane.store.delivery.control_numbers import CONTROL_NUMBERS_SKIPPED
from clearlane.store.events import events
from tests.cases import full_or_quick
from tests.patience import until
from tests.pipeline.outbound import HARBOR, MEADOW, Payer837, outbound

pytestmark = pytest.mark.one_database

LAST_SENDING = Statement(select(func.max(audit.c.seq)).where(audit.c.action == "batch.sending"))
AWAY = Unreachable("The payer cannot be reached.", Presence.ABSENT)
LOST = Unreachable("The line broke.", Presence.UNKNOWN)


@pytest.fixture
async def out(place, clock):
    async with outbound(place, clock) as made:
        yield made


async def begin(out, id, holder="dead", *, arriving=True):
    """What is left when a node dies in the middle of a delivery."""
    batch = await out.batch(id)
    sending = await deliver._mark_sending(out.context, batch, holder)
    if sending and arriving:
        await deliver._mark_arriving(out.context, batch, holder)
    return sending


async def batched(out, count=1, payer_id=MEADOW):
    await out.submit(count, payer_id)
    out.pass_time(minutes=1)
    [id] = await out.create_batches()
    return id


def test_pauses_grow_and_have_an_end():
    pauses = [pause_seconds(failures) for failures in range(1, 2_000)]
    assert pauses[:4] == [15, 30, 60, 120]
    assert pauses == sorted(pauses)
    assert pauses[-1] == limits.RETRY_SECONDS_MAX


@pytest.mark.safe_default(13)
async def test_what_a_payers_machine_says_is_no_sentence_for_vendors_and_sites(out):
    said = "550 user clearlane: no such account on host b7"
    payer = out.connections.add()
    [number] = await out.submit(1, MEADOW)
    out.pass_time(minutes=1)
    await out.create_batches()
    payer.trouble = Unreachable(said, Presence.ABSENT)
    await out.deliver()
    actor = Actor("vendor", "ACME")
    history = await load_claim_history(out.context.database, out.context.vault, number, actor=actor)
    [entry] = [one for one in history.entries if one.headline.startswith("Not delivered")]
    assert said not in " ".join(entry.sentences)
    assert "could not be reached" in " ".join(entry.sentences)
    assert entry.operator_sentences == (said,)


@pytest.mark.both_databases
async def test_a_payer_that_is_away_is_tried_again_after_growing_pauses(out):
    payer = out.connections.add()
    id = await batched(out)
    payer.trouble = AWAY
    tried = []
    for _ in range(2_000):
        await out.deliver()
        batch = await out.batch(id)
        if batch.attempts > len(tried):
            tried.append(out.clock.now())
        if len(tried) == 6:
            break
        assert not await out.has_due_work()
        out.pass_time(seconds=5)
    gaps = [(later - sooner).total_seconds() for sooner, later in pairwise(tried)]
    assert gaps == [15, 30, 60, 120, 240]
    assert (batch.state, batch.fault) == (BatchState.READY, "The payer cannot be reached.")
    assert (await out.route_health()).failures == 6
    payer.trouble = None
    out.pass_time(hours=1)
    assert await out.deliver() == 1
    health = await out.route_health()
    assert (health.failures, health.paused_until, health.fault) == (0, None, "")
    assert set(payer.came.values()) == {1}


@pytest.mark.both_databases
async def test_the_breaker_lets_one_file_try_and_then_all_go_in_order(out):
    payer = out.connections.add(window_seconds=0)
    ids = []
    for _ in range(4):
        ids += await out.submit(1)
        await out.create_batches()
    payer.trouble = AWAY
    await out.deliver()
    assert [batch.attempts for batch in await out.batches()] == [1, 0, 0, 0]
    out.pass_time(seconds=14)
    await out.deliver()
    assert [batch.attempts for batch in await out.batches()] == [1, 0, 0, 0]
    out.pass_time(seconds=1)
    await out.deliver()
    assert [batch.attempts for batch in await out.batches()] == [2, 0, 0, 0]
    payer.trouble = None
    out.pass_time(seconds=30)
    assert await out.deliver() == 4
    assert payer.claims == ids


async def test_a_payer_that_is_known_to_be_back_is_not_waited_for(out):
    payer = out.connections.add()
    await batched(out)
    payer.trouble = AWAY
    await out.deliver()
    payer.trouble = None
    assert await out.deliver() == 0
    await dispatch.retry_payer_now(out.context, ("Medical", MEADOW), out.clock.now())
    assert await out.deliver() == 1


async def test_a_payer_that_is_away_for_thirty_days_gets_everything_in_order(out):
    payer, ids = out.connections.add(), []
    payer.trouble = AWAY
    for _ in range(full_or_quick(30, 9)):
        ids += await out.submit(2)
        for _ in range(4):
            await out.go(hours=6)
    payer.trouble = None
    for _ in range(3):
        await out.go(hours=1)
    assert payer.claims == ids
    assert set(payer.came.values()) == {1}
    assert set((await out.states()).values()) == {("sent", 1, 0)}
    names = list(payer.sent)
    assert names == sorted(names)
    assert not await out.has_due_work()


@pytest.mark.slow
async def test_a_payer_that_never_answers_delays_no_other(out, monkeypatch):
    class BlackHole(Payer837):
        async def put(self, name, content, before_arrival):
            await before_arrival()
            await asyncio.Event().wait()

    monkeypatch.setattr("clearlane.pipeline.outbound.deliver.DELIVERY_SECONDS_MAX", 3)
    out.connections.add(MEADOW, mailbox=BlackHole())
    harbor = out.connections.add(HARBOR)
    await out.submit(1, MEADOW)
    await out.submit(1, HARBOR)
    out.pass_time(minutes=1)
    await out.create_batches()
    delivering = asyncio.create_task(out.deliver())
    await until(lambda: harbor.sent)
    assert not delivering.done()
    assert await delivering == 1
    [arrived, stuck] = await out.batches()
    assert (stuck.state, stuck.holder, arrived.state) == (
        BatchState.SENDING,
        "",
        BatchState.DELIVERED,
    )
    assert stuck.fault == "It took longer than 3 seconds."


async def test_a_refusal_is_kept_in_words_and_keeps_back_only_that_file(out):
    payer = out.connections.add(window_seconds=0)
    first = await batched(out)
    payer.trouble = Denied("The login was refused.")
    await out.deliver()
    batch = await out.batch(first)
    assert (batch.state, batch.fault) == (BatchState.READY, "The login was refused.")
    assert batch.due_at - to_micros(out.clock.now()) == DENIED_SECONDS * 1_000_000
    payer.trouble = None
    await out.submit(1)
    out.pass_time(minutes=5)
    await out.create_batches()
    assert await out.deliver() == 1
    assert (await out.batch(first)).state == BatchState.READY
    out.pass_time(hours=1)
    assert await out.deliver() == 1


@pytest.mark.safe_default(13)
@pytest.mark.parametrize(
    "trouble", [Denied("The login was refused."), AWAY], ids=["refused", "away"]
)
async def test_a_poll_that_works_makes_the_batches_of_its_route_due_at_once(out, trouble):
    payer = out.connections.add(window_seconds=0)
    id = await batched(out)
    payer.trouble = trouble
    await out.deliver()
    await receive.receive_files(out.context, out.clock.now(), every_route=True)
    assert not await out.has_due_work()  # the poll failed, too
    payer.trouble = None
    assert await out.deliver() == 0
    await receive.receive_files(out.context, out.clock.now(), every_route=True)
    assert await out.deliver() == 1
    assert (await out.batch(id)).state == BatchState.DELIVERED
    async with out.context.database.read(batches.SCOPE) as tx:
        seen = await events.list_all(tx, ("route.down", "route.up"), after=0, limit=10)
    assert [one.type for one in seen] == ["route.down", "route.up"]


async def test_a_payer_that_is_read_from_but_takes_no_files_is_tried_once_after_polls(out):
    payer = out.connections.add(window_seconds=0)
    id = await batched(out)
    for polled in range(4):
        payer.trouble = Denied("No permission to write.")
        await out.deliver()
        payer.trouble = None
        await receive.receive_files(out.context, out.clock.now(), every_route=True)
        assert (await out.batch(id)).attempts == min(polled + 1, 2)
        out.pass_time(minutes=1)
    # A poll that fails in between shows that the route was down: the next one that works counts again.
    payer.trouble = AWAY
    await receive.receive_files(out.context, out.clock.now(), every_route=True)
    payer.trouble = None
    await receive.receive_files(out.context, out.clock.now(), every_route=True)
    assert await out.deliver() == 1
    assert (await out.batch(id)).state == BatchState.DELIVERED


async def test_a_file_whose_answer_was_lost_is_looked_for_and_not_sent_again(out):
    payer = out.connections.add()
    id = await batched(out)
    payer.lose_answers = 1
    await out.deliver()
    assert (await out.batch(id)).state == BatchState.SENDING
    out.pass_time(seconds=15)
    assert await out.has_due_work()
    assert await out.deliver() == 1
    assert set(payer.came.values()) == {1}
    assert (await out.batch(id)).state == BatchState.DELIVERED


async def test_a_payer_that_cannot_be_asked_leaves_the_file_open_and_not_in_doubt(out):
    payer = out.connections.add()
    id = await batched(out)
    payer.lose_answers = 1
    await out.deliver()
    payer.trouble = LOST
    out.pass_time(seconds=15)
    await out.deliver()
    assert (await out.batch(id)).state == BatchState.SENDING
    payer.trouble = None
    out.pass_time(minutes=1)
    assert await out.deliver() == 1
    assert set(payer.came.values()) == {1}


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("there", "tells", "state"),
    [
        (True, True, BatchState.DELIVERED),
        (False, True, BatchState.DELIVERED),
        (True, False, BatchState.DELIVERED),
        (False, False, BatchState.IN_DOUBT),
    ],
)
async def test_after_a_crash_the_other_side_is_asked(out, there, tells, state):
    payer = out.connections.add(mailbox=Payer837(can_tell=tells))
    id = await batched(out)
    await begin(out, id)
    batch = await out.batch(id)
    if there:
        await payer.put(batch.name, await out.content(batch))
    await out.deliver()
    assert (await out.batch(id)).state == BatchState.SENDING  # somebody may still be at it
    out.pass_time(minutes=15)
    await out.deliver()
    assert (await out.batch(id)).state == state
    assert sum(payer.came.values()) == (1 if state == BatchState.DELIVERED else 0)
    assert not await out.has_due_work()


async def test_the_same_piece_of_work_takes_up_what_it_began_at_once(out):
    payer = out.connections.add()
    id = await batched(out)
    await begin(out, id, "work-1")
    assert await deliver.attempt_delivery(out.context, id, "work-2") == deliver.SKIPPED
    assert await deliver.attempt_delivery(out.context, id, "work-1") == deliver.ARRIVED
    assert await deliver.attempt_delivery(out.context, id, "work-1") == deliver.SKIPPED
    assert set(payer.came.values()) == {1}


@pytest.mark.both_databases
async def test_two_who_deliver_at_once_send_one_file(out):
    payer = out.connections.add(window_seconds=0)
    for _ in range(3):
        await out.submit(1)
        await out.create_batches()
    await asyncio.gather(*(out.deliver() for _ in range(4)))
    assert set(payer.came.values()) == {1}
    assert len(payer.sent) == 3


async def test_a_route_that_is_gone_leaves_in_doubt_only_what_may_have_gone_over_it(out):
    out.connections.add(window_seconds=0)
    doubtful = await batched(out)
    await begin(out, doubtful)
    await out.submit(1)
    [clean] = await out.create_batches()
    out.connections.routes.clear()
    other = out.connections.add()
    out.pass_time(minutes=15)
    await out.deliver()
    await out.deliver()
    assert (await out.batch(doubtful)).state == BatchState.IN_DOUBT
    assert (await out.batch(clean)).state == BatchState.DELIVERED
    assert len(other.sent) == 1


async def test_a_route_that_goes_just_before_a_file_is_sent_leaves_it_waiting(out):
    payer = out.connections.add()
    id = await batched(out)
    ways, asked = out.connections.mailbox_routes, []

    def gone(type, payer_id):
        asked.append(payer_id)
        return ways(type, payer_id) if len(asked) == 1 else []

    out.connections.mailbox_routes = gone
    assert await deliver.attempt_delivery(out.context, id, "work") == deliver.LATER
    batch = await out.batch(id)
    assert (batch.state, batch.fault) == (BatchState.READY, deliver.ROUTE_GONE)
    out.connections.mailbox_routes = ways
    out.pass_time(minutes=1)
    assert await out.deliver() == 1
    assert set(payer.came.values()) == {1}


@pytest.mark.both_databases
async def test_the_second_route_takes_over_after_its_time_and_no_claim_takes_both(out):
    first = out.connections.add(takeover_seconds=3_600, window_seconds=0)
    second = out.connections.add(window_seconds=0)
    first.trouble = AWAY
    ids = await out.submit(2)
    await out.create_batches()
    for _ in range(59):
        await out.go(minutes=1)
    assert not second.sent
    for _ in range(40):
        await out.go(minutes=1)
    assert second.claims == ids
    [batch] = await out.batches()
    [content] = second.sent.values()
    assert (batch.route_id, batch.digest) == (2, (await out.batch(batch.id)).digest)
    # While the first is away the others go the second way without waiting again.
    ids += await out.submit(1)
    await out.go(seconds=1)
    assert second.claims == ids
    # The first is tried again after a while, and has its place back when it answers.
    first.trouble = None
    ids += await out.submit(1)
    await out.go(hours=1)
    assert first.claims == ids[-1:]
    assert second.claims == ids[:-1]
    assert (await out.route_health()).fallback_route_id is None
    assert set((await out.states()).values()) == {("sent", 1, 0)}
    assert content


async def test_the_first_route_tried_again_in_vain_costs_no_second_wait(out):
    first = out.connections.add(takeover_seconds=600, window_seconds=0)
    second = out.connections.add(window_seconds=0)
    first.trouble = AWAY
    ids = await out.submit(1)
    for _ in range(20):
        await out.go(minutes=1)
    assert second.claims == ids
    ids += await out.submit(1)
    out.pass_time(minutes=30)
    await out.create_batches()
    await out.deliver()
    await out.deliver()
    assert second.claims == ids
    assert not first.sent


async def test_what_may_have_gone_over_the_first_route_stays_there_and_the_others_go_on(out):
    first = out.connections.add(takeover_seconds=600, window_seconds=0)
    second = out.connections.add(window_seconds=0)
    doubtful = await out.submit(1)
    await out.create_batches()
    first.lose_answers = 1
    await out.deliver()
    first.trouble = LOST
    behind = await out.submit(1)
    for _ in range(30):
        await out.go(minutes=1)
    assert second.claims == behind
    assert (await out.batches())[0].state == BatchState.SENDING
    first.trouble = None
    for _ in range(3):
        await out.go(hours=1)
    assert first.claims == doubtful
    assert second.claims == behind
    assert set((await out.states()).values()) == {("sent", 1, 0)}


@pytest.mark.both_databases
async def test_a_node_whose_delivery_was_taken_over_records_nothing(out):
    payer = out.connections.add()
    id = await batched(out)
    slow, go_on = asyncio.Event(), asyncio.Event()
    real = Payer837.put

    async def put(name, content, before_arrival):
        slow.set()
        await go_on.wait()
        raise AWAY

    payer.put = put
    late = asyncio.create_task(deliver.attempt_delivery(out.context, id, "late"))
    await slow.wait()
    out.pass_time(minutes=15)
    payer.put = lambda name, content, before: real(payer, name, content, before)
    assert await out.deliver() == 1
    go_on.set()
    assert await late == deliver.LATER
    assert (await out.batch(id)).state == BatchState.DELIVERED


async def test_an_unknown_fault_of_a_connection_is_looked_into_later(out):
    payer = out.connections.add()
    id = await batched(out)
    payer.trouble = ZeroDivisionError("ROSA ARDEN")
    await out.deliver()
    batch = await out.batch(id)
    assert (batch.state, batch.fault) == (BatchState.SENDING, deliver.UNKNOWN_FAILURE)
    payer.trouble = None
    out.pass_time(minutes=1)
    assert await out.deliver() == 1


@pytest.mark.both_databases
async def test_what_a_restore_cannot_know_is_in_doubt_and_numbers_jump(out):
    payer = out.connections.add(window_seconds=0)
    ready = await batched(out)
    await out.submit(2)
    before = (await out.batch(ready)).control
    await out.context.database.write(
        batches.SCOPE, batches.mark_in_doubt_after_restore, actor=Actor("operator", "test")
    )
    assert await out.go(minutes=1) == 0
    assert not payer.sent
    [first, held] = await out.batches()
    assert {(batch.state, batch.fault) for batch in (first, held)} == {
        (BatchState.IN_DOUBT, batches.RESTORED)
    }
    assert (held.claims, held.control > before + CONTROL_NUMBERS_SKIPPED) == (2, True)
    assert not await out.has_due_work()
    await out.submit(1)
    assert await out.go(minutes=1) == 1


async def test_a_batch_that_never_came_to_its_last_step_is_sent_though_nobody_can_tell(out):
    """A node that died before the mark has delivered nothing: there is no doubt."""
    payer = out.connections.add(mailbox=Payer837(can_tell=False))
    id = await batched(out)
    assert await begin(out, id, arriving=False)
    out.pass_time(hours=1)
    assert await out.deliver() == 1
    assert (await out.batch(id)).state is BatchState.DELIVERED
    assert set(payer.came.values()) == {1}


async def test_a_transfer_that_fails_before_its_last_step_did_not_arrive(out):
    class BreaksEarly(Payer837):
        async def put(self, name, content, before_arrival):
            raise LOST

    out.connections.add(mailbox=BreaksEarly(can_tell=False))
    id = await batched(out)
    await out.deliver()
    assert (await out.batch(id)).state is BatchState.READY


@pytest.mark.both_databases
async def test_the_mark_before_the_last_step_is_anchored_and_needs_the_lease(out):
    out.connections.add()
    id = await batched(out)
    await begin(out, id)
    batch = await out.batch(id)
    assert batch.arriving
    async with out.context.database.read(batches.SCOPE) as tx:
        [(seq,)] = await tx.rows(LAST_SENDING)
    assert out.context.database.anchor.read().head.seq >= seq
    with pytest.raises(Unreachable, match="Another node"):
        await deliver._mark_arriving(out.context, batch, "another")
