"""What an operator may do with a file of the inbox in each state: show, read, replay, discard."""

import pytest

from clearlane.pipeline.inbound import receive
from clearlane.pipeline.operator import inbox_admin
from clearlane.store.audit import audit
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.delivery import inbox
from tests.claims.answers import paid, payment
from tests.pipeline.flowing import PAYER, Flow

NORA = Actor("operator", "nora")
ACCOUNT = "QUILL77"
REMIT = payment(paid(ACCOUNT, "1", "100", "80", "CAS*CO*45*20"))
PAGE = b"<!DOCTYPE html><html><body>no X12</body></html>"
STATES = (inbox.STORED, inbox.APPLIED, inbox.PARKED, inbox.QUARANTINED, inbox.DISCARDED)


@pytest.fixture
async def flow(new_place, clock):
    place = await new_place("sqlite")
    database = await place.open(clock)
    yield await Flow.open(place, database, clock)
    await database.close()


async def leave(flow, state):
    """A file in this state; its id."""
    if state == inbox.STORED:
        route = flow.connections.route("Medical", PAYER)
        return (await receive.receive(flow.context, route, "remit", REMIT)).id
    if state == inbox.APPLIED:
        await flow.sent(F26_PatientAcctNumber=ACCOUNT)
    await flow.arrive(PAGE if state == inbox.QUARANTINED else REMIT)
    [file] = await flow.files()
    if state == inbox.DISCARDED:
        await inbox_admin.discard(flow.context, file.id, actor=NORA)
    return file.id


async def actions(flow):
    return [row["action"] async for row in audit.read_between(flow.database, 0, 1 << 62)]


@pytest.mark.parametrize("state", STATES)
async def test_discard(flow, state):
    id = await leave(flow, state)
    before = await flow.file(id)
    assert before.state == state
    if state == inbox.APPLIED:
        with pytest.raises(OperationRefused, match="nothing to discard"):
            await inbox_admin.discard(flow.context, id, actor=NORA)
        assert await flow.file(id) == before
        return
    after = await inbox_admin.discard(flow.context, id, actor=NORA)
    assert (after.state, after.parked) == (inbox.DISCARDED, 0)
    assert after.reason.startswith(inbox_admin.DISCARDED_TEXT)
    if state != inbox.DISCARDED:
        assert before.reason in after.reason
    assert (await actions(flow)).count("inbox.discard") == 1  # also where it was discarded before
    assert await flow.parked(id) == []
    assert await inbox_admin.read_content(flow.context, id, actor=NORA) in (REMIT, PAGE)


# The state of a file, and the state after it is replayed: with the claim unknown, and known.
REPLAYED = {
    inbox.STORED: (inbox.PARKED, inbox.APPLIED),
    inbox.APPLIED: (inbox.APPLIED, inbox.APPLIED),
    inbox.PARKED: (inbox.PARKED, inbox.APPLIED),
    inbox.QUARANTINED: (inbox.QUARANTINED, inbox.QUARANTINED),
    inbox.DISCARDED: (inbox.PARKED, inbox.APPLIED),
}


@pytest.mark.parametrize("state", STATES)
async def test_replay(flow, state):
    id = await leave(flow, state)
    unknown, known = REPLAYED[state]
    assert (await inbox_admin.replay(flow.context, id, actor=NORA)).state == unknown
    if state != inbox.APPLIED:
        await flow.sent(F26_PatientAcctNumber=ACCOUNT)
    for _ in range(2):  # as often as one likes
        after = await inbox_admin.replay(flow.context, id, actor=NORA)
        assert after.state == known
        assert after.applied == (known == inbox.APPLIED)
    assert len(await flow.parked(id)) == 0
    assert await flow.documents() == (known == inbox.APPLIED)
    assert (await actions(flow)).count("inbox.replay") == 3


@pytest.mark.parametrize("state", STATES)
async def test_load_file_opens_statements_only_when_asked_and_audits_that(flow, state):
    id = await leave(flow, state)
    closed = await inbox_admin.load_file(flow.context, id, with_statements=False, actor=NORA)
    parked = int(state == inbox.PARKED)
    assert (closed.file.state, len(closed.parked), closed.statements) == (state, parked, [])
    assert "inbox.statements.read" not in await actions(flow)
    opened = await inbox_admin.load_file(flow.context, id, with_statements=True, actor=NORA)
    assert [one.claim.account_number for one in opened.statements] == [ACCOUNT] * parked
    assert ACCOUNT not in repr(opened)
    assert (await actions(flow)).count("inbox.statements.read") == 1


@pytest.mark.parametrize(
    "verb",
    [
        lambda context: inbox_admin.load_file(context, 77, with_statements=True, actor=NORA),
        lambda context: inbox_admin.read_content(context, 77, actor=NORA),
        lambda context: inbox_admin.replay(context, 77, actor=NORA),
        lambda context: inbox_admin.discard(context, 77, actor=NORA),
    ],
)
async def test_a_file_that_is_not_there_is_refused_and_nothing_is_audited(flow, verb):
    before = await actions(flow)
    with pytest.raises(OperationRefused, match="There is no file 77"):
        await verb(flow.context)
    assert await actions(flow) == before


async def test_a_test_file_of_an_unknown_sender_is_asked_about_twice(flow):
    """Once as a test, which is stored with the file, and once for its sender, which holds for one posting."""
    strange = REMIT.replace(b"*0*P*:", b"*0*T*:").replace(b"ZZ*MEADOW  ", b"ZZ*THISTLE ")
    assert await flow.arrive(strange) == [inbox.TEST_FILE]
    [file] = await flow.files()
    asked = await inbox_admin.accept_test_file(flow.context, file.id, actor=NORA)
    assert (asked.state, asked.is_test) == (inbox.UNKNOWN_SENDER, 1)
    with pytest.raises(OperationRefused):
        await inbox_admin.accept_test_file(flow.context, file.id, actor=NORA)
    posted, _ = await inbox_admin.accept(flow.context, file.id, remember=False, actor=NORA)
    assert (posted.state, posted.is_test) == (inbox.PARKED, 1)


async def test_a_file_marked_as_a_test_is_an_ordinary_one_in_a_sandbox(new_place, clock):
    place = await new_place("sqlite")
    database = await place.open(clock)
    flow = await Flow.open(place, database, clock, sandbox=True)
    assert await flow.arrive(REMIT.replace(b"*0*P*:", b"*0*T*:")) == [inbox.PARKED]
    assert [one.is_test for one in await flow.files()] == [0]
    await database.close()
