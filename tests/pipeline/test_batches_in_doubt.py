"""A batch in doubt is delivered when the payer has answered it; a file discarded while it is posted stays so."""

import asyncio

import pytest

from clearlane.claims.batch_lifecycle import BatchState
from clearlane.connect.port import Presence
from clearlane.pipeline.inbound import post
from clearlane.pipeline.operator import batch_admin, inbox_admin
from clearlane.pipeline.outbound import deliver, dispatch
from clearlane.store.database.database import OperationRefused
from clearlane.store.delivery import batches
from tests.claims.answers import nine, paid, patient, payment, status
from tests.pipeline.flowing import ACTOR, EVERYONE, PAYER, Flow, accounts, controls

pytestmark = pytest.mark.one_database

TAKEN = ("AK2*837*0001*005010X222A1", "IK5*A")


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def batch_of(flow, id):
    async with flow.database.read(EVERYONE) as tx:
        return await batches.find(tx, id)


async def content_of(flow, id):
    batch = await batch_of(flow, id)
    async with flow.database.read(EVERYONE) as tx:
        return await batches.read_content(tx, flow.vault, batch)


async def batched(flow, count=2):
    """Claims in a batch that has not gone out."""
    ids = await flow.submit(count)
    [batch_id] = await dispatch.create_batches(flow.context, flow.clock.now(), everything=True)
    return ids, batch_id


async def doubtful(flow, count=2):
    """A batch of which nobody can say whether it went out, its claims, and their account numbers."""
    ids, batch_id = await batched(flow, count)
    await flow.database.write(EVERYONE, batches.mark_in_doubt_after_restore, actor=ACTOR)
    assert (await batch_of(flow, batch_id)).state == BatchState.IN_DOUBT
    return ids, batch_id, await content_of(flow, batch_id)


def acknowledged(content):
    return nine(controls(content), TAKEN)


def accepted(content):
    reports = [patient(one, "A2:20*20261102*WQ*100") for one in accounts(content)]
    return status(*reports, batch=f"{controls(content):09}0001")


def remitted(content):
    claims = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in accounts(content)]
    return payment(*claims, amount=str(80 * len(claims)))


@pytest.mark.parametrize("answer", [acknowledged, accepted, remitted])
async def test_a_batch_in_doubt_that_is_answered_is_delivered_and_goes_out_no_more(flow, answer):
    ids, batch_id, content = await doubtful(flow)
    assert {row.state for row in (await flow.statuses()).values()} == {"received"}
    assert await flow.arrive(answer(content)) == ["applied"]
    batch = await batch_of(flow, batch_id)
    assert (batch.state, batch.fault) == (BatchState.DELIVERED, "")
    rows = await flow.statuses()
    assert "received" not in {rows[id].state for id in ids}
    with pytest.raises(OperationRefused, match="twice"):
        await batch_admin.resend(flow.context, batch_id, actor=ACTOR)
    assert await flow.send() == b""


@pytest.mark.both_databases
async def test_a_batch_of_which_half_is_answered_stays_in_doubt_and_is_not_sent_again_unasked(flow):
    _, batch_id, content = await doubtful(flow)
    one, _ = accounts(content)
    await flow.arrive(payment(paid(one, "1", "100", "80", "CAS*CO*45*20")))
    assert (await batch_of(flow, batch_id)).state == BatchState.IN_DOUBT
    assert (await batch_admin.load_batch(flow.context, batch_id)).answered == 1
    with pytest.raises(OperationRefused, match="1 of the 2 claims"):
        await batch_admin.resend(flow.context, batch_id, actor=ACTOR)
    await batch_admin.resend(flow.context, batch_id, actor=ACTOR, even_if_answered=True)
    assert await flow.send() == content


async def test_an_answer_about_an_earlier_sending_proves_nothing_of_the_later(flow):
    """One claim of two is refused in the 999, so the other goes out again; and of that nobody knows."""
    ids, content = await flow.sent(2)
    segments = content.decode().split("~")
    start = next(at for at, one in enumerate(segments) if one.startswith("ST*"))
    at = next(at for at, one in enumerate(segments) if one.startswith("CLM*")) - start + 1
    refused = ["AK2*837*0001*005010X222A1", f"IK3*CLM*{at}*2300*8", "IK4*2**7*X", "IK5*R*5"]
    await flow.arrive(nine(controls(content), refused, verdict="R"))
    [again] = await dispatch.create_batches(flow.context, flow.clock.now(), everything=True)
    await flow.database.write(EVERYONE, batches.mark_in_doubt_after_restore, actor=ACTOR)
    assert (await batch_admin.load_batch(flow.context, again)).answered == 0
    assert await deliver.confirm_answered_batches(flow.context, PAYER) == []
    await flow.arrive(acknowledged(await content_of(flow, again)))
    assert (await batch_of(flow, again)).state == BatchState.DELIVERED
    assert [row.state for _, row in sorted((await flow.statuses()).items())] == [
        "rejected",
        "sent",
    ]
    assert ids


async def test_an_answer_that_comes_before_the_doubt_leaves_none(flow):
    """The node dies after the upload, and the other side cannot tell; but the 999 is there already."""
    _, batch_id = await batched(flow)
    batch = await batch_of(flow, batch_id)
    await deliver._mark_sending(flow.context, batch, "dead")
    await deliver._mark_arriving(flow.context, batch, "dead")
    await flow.arrive(acknowledged(await content_of(flow, batch_id)))
    box = flow.connections.open_mailbox(flow.connections.route("Medical", PAYER))

    async def cannot_tell(name):
        return Presence.UNKNOWN

    box.look = cannot_tell
    assert await deliver.attempt_delivery(flow.context, batch_id, "dead") == deliver.ARRIVED
    assert (await batch_of(flow, batch_id)).state == BatchState.DELIVERED
    assert not box.sent


async def test_a_file_that_is_discarded_while_it_is_posted_stays_discarded(flow, monkeypatch):
    ids, content = await flow.sent(1)
    record, begun, go_on = post._record_result, asyncio.Event(), asyncio.Event()

    async def slow(*given, **named):
        begun.set()
        await go_on.wait()
        return await record(*given, **named)

    monkeypatch.setattr(post, "_record_result", slow)
    arriving = asyncio.create_task(flow.arrive(payment(paid(accounts(content)[0]), paid("NOBODY"))))
    await begun.wait()
    [file] = await flow.files()
    assert (await inbox_admin.discard(flow.context, file.id, actor=ACTOR)).state == "discarded"
    go_on.set()
    assert await arriving == ["discarded"]
    [file] = await flow.files()
    # What was recorded stays and is counted; nothing is parked.
    assert (file.applied, file.parked) == (1, 0)
    assert inbox_admin.DISCARDED_TEXT in file.reason
    assert await flow.parked(file.id) == []
    assert (await flow.status(ids[0])).state == "complete"
