"""What an operator may do with a batch in each state: resend, mark as delivered, export."""

import pytest

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.connect.port import Presence, Unreachable
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.operator import batch_admin
from clearlane.pipeline.outbound import deliver
from clearlane.store.audit import audit
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.delivery import batches
from tests.pipeline.outbound import HARBOR, numbers_in, outbound

NORA = Actor("operator", "nora")
AWAY = Unreachable("The payer cannot be reached.", Presence.ABSENT)


@pytest.fixture
async def out(new_place, clock):
    async with outbound(await new_place("sqlite"), clock) as made:
        yield made


async def ready(out):
    out.connections.add()
    await out.submit(2)
    out.pass_time(minutes=1)
    [id] = await out.create_batches()
    return id


async def being_sent(out):
    id = await ready(out)
    await deliver._mark_sending(out.context, await out.batch(id), "node-1")
    return id


async def interrupted(out):
    """Its node died; the lease has ended."""
    id = await being_sent(out)
    out.pass_time(hours=1)
    return id


async def paused(out):
    id = await ready(out)
    out.connections.mailboxes[1].trouble = AWAY
    await out.deliver()
    out.connections.mailboxes[1].trouble = None
    assert (await out.route_health()).paused_until > to_micros(out.clock.now())
    return id


async def in_doubt(out):
    id = await ready(out)
    await batch_admin.mark_in_doubt_after_restore(out.context, actor=NORA)
    return id


async def delivered(out):
    id = await ready(out)
    assert await out.deliver() == 1
    return id


async def unknown(out):
    return 77


BEING_SENT = "is being sent at this moment"
DELIVERED = "is delivered: sent again"
UNKNOWN = "There is no batch 77"
# How the batch was left, and why an operator is refused; empty where it can be done.
CASES = [
    (ready, ""),
    (interrupted, ""),
    (paused, ""),
    (in_doubt, ""),
    (being_sent, BEING_SENT),
    (delivered, DELIVERED),
    (unknown, UNKNOWN),
]


async def actions(out):
    return [row["action"] async for row in audit.read_between(out.context.database, 0, 1 << 62)]


@pytest.mark.parametrize(("left", "refusal"), CASES)
async def test_resend(out, left, refusal):
    id = await left(out)
    if refusal:
        before = await out.batch(id)
        with pytest.raises(OperationRefused, match=refusal):
            await batch_admin.resend(out.context, id, actor=NORA)
        assert await out.batch(id) == before
        assert "batch.resend" not in await actions(out)
        return
    await batch_admin.resend(out.context, id, actor=NORA)
    batch, health = await out.batch(id), await out.route_health()
    assert (batch.state, batch.holder, batch.fault) == (BatchState.READY, "", "")
    assert batch.due_at == to_micros(out.clock.now())
    assert (health.failures, health.paused_until) == (0, None)
    assert (await actions(out)).count("batch.resend") == 1
    assert await out.deliver() == 1
    assert list(out.connections.mailboxes[1].came.values()) == [1]


@pytest.mark.parametrize(("left", "refusal"), CASES)
async def test_mark_delivered(out, left, refusal):
    id = await left(out)
    if refusal:
        before = await out.batch(id)
        with pytest.raises(OperationRefused, match=refusal):
            await batch_admin.mark_delivered(out.context, id, actor=NORA)
        assert await out.batch(id) == before
        return
    await batch_admin.mark_delivered(out.context, id, actor=NORA)
    batch = await out.batch(id)
    assert (batch.state, batch.delivered_at) == (
        BatchState.DELIVERED,
        to_micros(out.clock.now()),
    )
    assert {state for state, _, _ in (await out.states()).values()} == {"sent"}
    assert await out.deliver() == 0
    assert not out.connections.mailboxes[1].came


async def test_a_delivery_is_recorded_once_however_often_it_is_reported(out):
    id = await delivered(out)
    before = await out.batch(id)
    out.pass_time(hours=1)
    await deliver.record_delivery(out.context, id, actor=NORA)
    assert await out.batch(id) == before
    assert (await actions(out)).count("batch.delivered") == 1


@pytest.mark.parametrize(
    ("left", "state"),
    [
        (ready, BatchState.READY),
        (being_sent, BatchState.SENDING),
        (in_doubt, BatchState.IN_DOUBT),
        (delivered, BatchState.DELIVERED),
    ],
)
async def test_load_batch(out, left, state):
    details = await batch_admin.load_batch(out.context, await left(out))
    assert (details.batch.state, len(details.members), details.answered) == (state, 2, 0)


async def test_load_batch_refuses_one_that_is_not_there(out):
    with pytest.raises(OperationRefused, match=UNKNOWN):
        await batch_admin.load_batch(out.context, 77)


async def test_export_batches_what_waits_and_leaves_out_what_is_delivered(out):
    await delivered(out)
    waiting = await out.submit(2)
    no_route = await out.submit(1, HARBOR)
    assert await batch_admin.count_unbatched_claims(out.context) == 3
    found = [one async for one in batch_admin.export_undelivered(out.context, actor=NORA)]
    exported = {number for one in found for number in numbers_in(one.content)}
    assert exported == {*waiting, *no_route}
    assert {one.batch.state for one in found} == {BatchState.READY}
    assert await batch_admin.count_unbatched_claims(out.context) == 0
    assert (await actions(out)).count("batch.exported") == 1
    again = [one async for one in batch_admin.export_undelivered(out.context, actor=NORA)]
    assert [one.batch.id for one in again] == [one.batch.id for one in found]


async def test_after_a_restore_what_was_never_sent_is_in_doubt_once(out):
    id = await ready(out)
    await out.submit(3)
    assert await batch_admin.count_unbatched_claims(out.context) == 3
    assert await batch_admin.mark_in_doubt_after_restore(out.context, actor=NORA) == (1, 3)
    assert await batch_admin.mark_in_doubt_after_restore(out.context, actor=NORA) == (0, 0)
    assert await batch_admin.count_unbatched_claims(out.context) == 3
    batch = await out.batch(id)
    assert (batch.state, batch.fault) == (BatchState.IN_DOUBT, batches.RESTORED)


async def test_an_attempt_that_a_decision_overtook_changes_nothing(out):
    """The node that sent it comes back after an operator has marked it as delivered."""
    id = await interrupted(out)
    sent = await out.batch(id)
    await batch_admin.mark_delivered(out.context, id, actor=NORA)
    assert await deliver._mark_in_doubt(out.context, sent, "Unclear.") == deliver.DOUBTFUL
    assert await deliver._mark_sending(out.context, sent, "node-1") is None
    assert await deliver.attempt_delivery(out.context, id, "node-1") == deliver.SKIPPED
    assert (await out.batch(id)).state is BatchState.DELIVERED
