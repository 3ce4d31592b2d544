"""Payers that take files only: inquiries go out as a 270 file, and what comes back is applied to them.

Also tests `eligibility/matching`, `eligibility/inbound`, `pipeline/inbound/post_inquiries` and
`pipeline/route_connections`.
"""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from clearlane.connect.connections import RealtimeConnection
from clearlane.connect.port import Unreachable
from clearlane.eligibility.read_270 import read_patients
from clearlane.inquiry.response_file import AnswerMatch
from clearlane.inquiry.sent_inquiry import Refusal
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.hops import Hop
from clearlane.payers.model import Payer
from clearlane.pipeline.inbound import post_inquiries
from clearlane.pipeline.inquiry import (
    ask,
    eligibility_request,
    inquiry_batches,
    inquiry_schedule,
    request_answers,
)
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.inquiry_plan import plan_inquiries
from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner
from clearlane.pipeline.inquiry.sender_transactions import PATIENTS
from clearlane.pipeline.operator import inbox_admin
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.route_connections import RouteConnections
from clearlane.sandbox.eligibility import responder_of
from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import read
from clearlane.sandbox.responses.envelope import reply_envelope
from clearlane.store import inquiries
from clearlane.store.delivery import batches
from clearlane.store.delivery.routes import ActiveRoutes
from clearlane.x12 import parse
from tests.contexts import work_context
from tests.eligibility.eligibility_caller import COMPLETE, INCOMPLETE, many, traces
from tests.eligibility.inquiry_node import joined, nine, ta1
from tests.eligibility.test_x12_inquiry import sent as sent_270
from tests.eligibility.test_x12_inquiry import subscriber
from tests.pipeline.flowing import ACTOR, OTHER_PAYER, PAYER, Flow
from tests.pipeline.test_file_payers import NORTHGATE, HopConnections
from tests.sandbox.invented import clean

pytestmark = pytest.mark.one_database

NAME = f"Meadow Mutual {PAYER}"


class Unanswered:
    """A real-time connection to every payer, on which nobody answers."""

    def __init__(self, connections):
        self._connections = connections

    def realtime_connections(self, *payer):
        return [
            RealtimeConnection(
                route=self._connections.route(*payer), timeout_seconds=1, realtime=self
            )
        ]

    async def ask(self, payload, **_):
        raise Unreachable

    async def close(self):
        pass


class Mail:
    """An installation whose payers have mailboxes and no real time."""

    def __init__(self, flow):
        self.flow = flow
        payers = [
            Payer("Medical", f"Meadow Mutual {id}", id, id, offers_eligibility=True, has_route=True)
            for id in (PAYER, OTHER_PAYER)
        ]
        self.payers = PayerDirectory(payers, sandbox=False)
        self.connections = RouteConnections(ActiveRoutes([]), flow.clock)
        self.runner = InquiryRunner(
            flow.database, flow.vault, flow.clock, lambda: self.connections, node="test"
        )
        access = replace(flow.context.payer_access, inquiry_runner=self.runner)
        flow.context = replace(flow.context, payer_access=access)
        self.context = work_context(
            flow.database, flow.vault, flow.clock, payers=self.payers,
            connections=flow.connections, inquiry_runner=self.runner,
        )  # fmt: skip

    def use_hop(self):
        """Reach the payer over a hop."""
        self.flow.connections = HopConnections()
        access = replace(self.context.payer_access, connections=lambda: self.flow.connections)
        self.flow.context = self.context = replace(self.context, payer_access=access)

    async def ask(self, *members):
        """Ask about some patients; the number of the request, and the call that waits."""
        content = json.dumps(many(members, PAYER) | {"IsTest": False}).encode()
        now = self.flow.clock.now()
        done = await eligibility_request.inquire(
            self.context, content, site=self.flow.site, actor=ACTOR, now=now
        )
        assert isinstance(done, eligibility_request.InquiryReceipt), done
        waiting = ask.await_answers(
            self.context,
            ELIGIBILITY,
            done.eligibility_request_id,
            site=self.flow.site,
            now=now,
            stopping=asyncio.Event(),
        )
        return done.eligibility_request_id, asyncio.create_task(joined(waiting))

    async def send(self):
        """Gather and deliver; the file that the payer got."""
        box = self.flow.connections.open_mailbox(self.flow.connections.route("Medical", PAYER))
        before = set(box.sent)
        await inquiry_batches.create_inquiry_batches(self.flow.context, self.flow.clock.now())
        await dispatch.deliver_due(self.flow.context, self.flow.clock.now())
        new = [content for name, content in box.sent.items() if name not in before]
        return new[0] if new else b""

    async def responses(self, id):
        return await joined(
            request_answers.read_answers(
                self.context, ELIGIBILITY, id, site=self.flow.site, actor=ACTOR
            )
        )


@pytest.fixture
async def mail(place, database, clock):
    made = Mail(await Flow.open(place, database, clock))
    yield made
    await made.runner.stop()


def answers(content, now, profile=Profile(PAYER, NAME)):  # noqa: B008  (a value)
    """What a payer of its own making leaves for a file of inquiries: by kind."""
    [one] = read(content)
    responder = responder_of(profile)
    return {
        kind: write(reply_envelope(one.parties, at, now))
        for at, (kind, write) in enumerate(responder.response_files(one, now, ""), start=1)
    }


@pytest.mark.both_databases
async def test_inquiries_go_out_as_a_file_and_its_answers_come_back(mail):
    now = mail.flow.clock.now()
    id, waiting = await mail.ask("2001", "2002")
    assert await mail.send() == b"", "the window has not passed"
    mail.flow.clock.advance(timedelta(seconds=60))
    body = await waiting
    assert (body["Status"], body["Responses"]) == (INCOMPLETE, [])
    sent = await mail.send()
    assert clean(sent)
    assert sent.count(b"ST*270*") == 2
    left = answers(sent, now)
    assert set(left) == {"999", "271"}
    assert await mail.flow.arrive(left["999"]) == ["applied"]
    assert (await mail.responses(id))["Status"] == INCOMPLETE
    assert await mail.flow.arrive(left["271"], name="later") == ["applied"]
    late = await mail.responses(id)
    assert (late["Status"], traces(late)) == (COMPLETE, ["visit 1", "visit 2"])
    # The same answers in another file change nothing.
    assert await mail.flow.arrive(left["271"] + b"\n", name="again") == ["applied"]
    assert await mail.responses(id) == late
    assert await mail.send() == b""


async def test_inquiries_go_over_a_hop_under_its_id_of_the_payer_and_its_answers_are_taken(mail):
    flow = mail.flow
    mail.use_hop()
    id, waiting = await mail.ask("2001", "2002")
    flow.clock.advance(timedelta(seconds=60))
    await waiting
    sent = await mail.send()
    assert sent.count(b"*****PI*60054~") == 2
    assert PAYER.encode() not in sent
    async with flow.database.read(batches.SCOPE) as tx:
        batch = await batches.find(tx, 1)
    assert (batch.hop, batch.hop_payer_id, batch.payer_id) == (NORTHGATE.id, "60054", PAYER)
    left = answers(sent, flow.clock.now(), Profile("60054", NAME))
    # Of a payer that the hop does not serve nothing is taken.
    foreign = left["271"].replace(b"PI*60054", b"PI*60055")
    assert await flow.arrive(foreign, payer=NORTHGATE.id, name="foreign") == ["parked"]
    flow.connections.hop = Hop(NORTHGATE.id, NORTHGATE.name, [
        one._replace(active=False) for one in NORTHGATE.payers
    ])  # fmt: skip
    assert await flow.arrive(left["271"], payer=NORTHGATE.id, name="later") == ["applied"]
    body = await mail.responses(id)
    assert (body["Status"], traces(body)) == (COMPLETE, ["visit 1", "visit 2"])


async def test_a_payer_that_only_a_hop_for_claims_serves_is_not_asked(mail):
    connections = mail.flow.connections
    connections.mailbox_routes = lambda *key: [
        replace(connections.route(*key), hop="NORTHGATE", inquiries="")
    ]
    id, waiting = await mail.ask("2001")
    await waiting
    assert "PayerWithoutRoute" in str(await mail.responses(id))
    async with mail.flow.database.read(inquiries.SCOPE) as tx:
        assert await inquiries.open_queues(tx) == []
    # The patient of a 270 file is refused at once, and not after a day.
    [asked] = parse(sent_270((PAYER, subscriber()))).sets()
    patients = read_patients(asked)
    plan = await plan_inquiries(PATIENTS, mail.context, mail.flow.site, patients, realtime=False)
    assert (len(plan.inquiries), [*plan.refusals.values()]) == (0, [Refusal.PAYER_NOT_ASKED])
    # Real time beside the hop is enough.
    connections.realtime_connections = lambda *payer: [
        SimpleNamespace(route=connections.route(*payer))
    ]
    plan = await plan_inquiries(PATIENTS, mail.context, mail.flow.site, patients, realtime=False)
    assert (len(plan.inquiries), plan.refusals) == (1, {})


async def test_the_answer_in_time_ends_the_call(mail):
    connections = mail.flow.connections
    connections.mailbox_routes = lambda *key: [replace(connections.route(*key), window_seconds=5)]
    _, waiting = await mail.ask("2001")
    mail.flow.clock.advance(timedelta(seconds=5))
    sent = await mail.send()
    await mail.flow.arrive(answers(sent, mail.flow.clock.now())["271"])
    assert (await waiting)["Status"] == COMPLETE


@pytest.mark.parametrize(
    ("made", "kind", "before", "sender"),
    [
        (ta1, "TA1", b"", PAYER),
        (ta1, "TA1", b"", NORTHGATE.id),
        (nine, "999", b"", PAYER),
        (nine, "999", b"", NORTHGATE.id),
        (ta1, "TA1", b"\xef\xbb\xbf", PAYER),
        (nine, "999", b"\xef\xbb\xbf", PAYER),
        (nine, "999", b"left by a transfer program\r\n", PAYER),
    ],
)
async def test_a_refused_file_or_set_is_reported_to_its_patients(mail, made, kind, before, sender):
    if sender != PAYER:
        mail.use_hop()
    id, waiting = await mail.ask("2001", "2002")
    mail.flow.clock.advance(timedelta(seconds=60))
    await waiting
    sent = await mail.send()
    control = int(sent.split(b"*")[13])
    _, content = made("")
    content = content.replace(b"*0*T*:", b"*0*P*:")
    refusal = content.replace(b"TA1*000000017", b"TA1*%09d" % control)
    refusal = refusal.replace(b"AK1*HS*17", b"AK1*HS*%d" % control)
    payer = sent.split(b"*")[8]
    refusal = refusal.replace(b"TST01          ", payer).replace(
        b"*TST01*", b"*%s*" % payer.strip()
    )
    assert await mail.flow.arrive(before + refusal, payer=sender) == ["applied"]
    body = await mail.responses(id)
    # A TA1 refuses the whole file; the 999 refuses the first set of two.
    expected = ["visit 1", "visit 2"] if kind == "TA1" else ["visit 1"]
    assert traces(body) == expected
    assert {error["Type"] for error in body["ErrorResponses"]} == {kind}
    assert len(body["InterchangeStatuses"]) == 1


@pytest.mark.both_databases
async def test_another_payers_file_is_refused_and_a_stranger_ignored(mail):
    id, waiting = await mail.ask("2001")
    mail.flow.clock.advance(timedelta(seconds=60))
    await waiting
    left = answers(await mail.send(), mail.flow.clock.now())
    assert await mail.flow.arrive(left["271"], payer=OTHER_PAYER) == ["parked"]
    stranger = left["271"].replace(b"ARDEN*ROSA", b"LUND*IVO").replace(b"19800229", b"19700101")
    assert await mail.flow.arrive(stranger, name="stranger") == ["parked"]
    assert (await mail.responses(id))["Status"] == INCOMPLETE
    assert await mail.flow.arrive(left["271"], name="own") == ["applied"]
    assert (await mail.responses(id))["Status"] == COMPLETE


async def test_an_answer_for_nobody_is_parked_with_its_number_and_the_reason(mail):
    _, waiting = await mail.ask("2001")
    mail.flow.clock.advance(timedelta(seconds=60))
    await waiting
    content = answers(await mail.send(), mail.flow.clock.now())["271"]
    row = next(row for row in content.split(b"~") if b"*9CLEARLANE" in row)
    ours = row.split(b"*")[2]
    cases = {
        content.replace(ours, b"NOT-A-NUMBER"): ("NOT-A-NUMBER", post_inquiries.NO_TRACE),
        content.replace(ours, b"5-1"): ("5-1", post_inquiries.NO_INQUIRY),
        content.replace(b"ARDEN*ROSA", b"LUND*IVO").replace(b"19800229", b"19700101"): (
            ours.decode(),
            post_inquiries.MISMATCHES[AnswerMatch.WRONG_PATIENT],
        ),
    }
    for at, (changed, expected) in enumerate(cases.items()):
        assert await mail.flow.arrive(changed, name=f"odd{at}") == ["parked"]
        file = (await mail.flow.files())[-1]
        looked = await inbox_admin.load_file(
            mail.flow.context, file.id, with_statements=True, actor=ACTOR
        )
        [parked], [said] = looked.parked, looked.statements
        assert (parked.kind, said.claim.claim_number, parked.reason) == ("271", *expected)


@pytest.mark.both_databases
async def test_a_payer_that_loses_its_real_time_route_is_asked_by_file(mail):
    mail.connections, none = Unanswered(mail.flow.connections), mail.connections
    id, waiting = await mail.ask("2001")
    async with mail.flow.database.read(inquiries.SCOPE) as tx:
        [queue] = await inquiries.open_queues(tx)
    assert queue.mode == inquiries.INTERACTIVE
    mail.flow.clock.advance(timedelta(seconds=60))
    await waiting
    await mail.send()
    async with mail.flow.database.read(inquiries.SCOPE) as tx:
        assert await inquiries.open_queues(tx) == [queue], "there is a way"
    mail.connections = none
    mail.flow.clock.advance(timedelta(hours=1))
    sent = await mail.send()
    assert await mail.flow.arrive(answers(sent, mail.flow.clock.now())["271"]) == ["applied"]
    assert (await mail.responses(id))["Status"] == COMPLETE


@pytest.mark.both_databases
async def test_the_tick_gathers_what_waited_long_enough(mail):
    _, waiting = await mail.ask("2001")
    mail.flow.clock.advance(timedelta(seconds=60))
    await waiting
    await inquiry_schedule.inquiry_tick(mail.flow.context, None)
    await dispatch.deliver_due(mail.flow.context, mail.flow.clock.now())
    box = mail.flow.connections.open_mailbox(mail.flow.connections.route("Medical", PAYER))
    assert len(box.sent) == 1
