"""A second transaction that asks payers needs a row with a payload and a reader, and nothing else of the engine.

The row here is a small 276 and 277, registered by the test alone. Also eligibility must not see its requests.

Also tests `pipeline/inquiry/inquiry_transaction` and `store/inquiries`.
"""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

import msgspec
import pytest

from clearlane.connect.connections import RealtimeConnection
from clearlane.connect.port import Presence, RealtimeResult, Reply, Unreachable
from clearlane.inquiry.inquiry_result import InquiryResult, InquiryStruct, RequestStatus
from clearlane.inquiry.response_file import AnswerMatch, read_response
from clearlane.pipeline.inquiry import (
    ask,
    eligibility_list,
    inquiry_batches,
    inquiry_runner,
    inquiry_schedule,
    request_answers,
)
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner
from clearlane.pipeline.inquiry.inquiry_transaction import (
    AnswerReader,
    InquiryTransaction,
    PayloadFormat,
)
from clearlane.pipeline.inquiry.inquiry_transactions import TRANSACTIONS
from clearlane.pipeline.outbound import dispatch
from clearlane.store import inquiries
from clearlane.store.audit import audit
from clearlane.x12 import guides
from clearlane.x12.writer.writer import Envelope, wrap_sets
from tests.patience import PATIENCE_SECONDS, until
from tests.pipeline.flowing import ACTOR, PAYER, Flow

pytestmark = pytest.mark.one_database

COMPLETE, INCOMPLETE = RequestStatus.COMPLETE, RequestStatus.INCOMPLETE
CANNOT_ANSWER_NOW = "E1"
PAID = "F1"


class StatusInquiry(InquiryStruct, frozen=True, kw_only=True):
    """The payload: which claim is asked about."""

    payer_id: str
    claim: str
    path: str = ""
    trace: None = None


class StatusAnswer(InquiryStruct, frozen=True, kw_only=True):
    """The answer as it is stored: the category of the claim's status."""

    category: str


@dataclass(frozen=True)
class ReadAnswer:
    """One set of a 277, as the reader gives it to the engine."""

    trace: str
    claim: str
    category: str
    content: bytes


def write(asked, envelope):
    bodies = (
        [f"BHT*0010*13*{trace}*{envelope.moment:%Y%m%d}*1200", f"TRN*1*{trace}", f"REF*EJ*{one.claim}"]
        for one, trace in asked
    )  # fmt: skip
    return wrap_sets(envelope, guides.by_kind("276"), bodies)


def read_set(set, content):
    rows = {segment[0]: segment for segment in set.all_segments()}
    yield ReadAnswer(rows["TRN"][2], rows["REF"][2], rows["STC"][1], content)


def match(answer, inquiry, trace):
    ours = (answer.trace, answer.claim) == (trace, inquiry.claim)
    return AnswerMatch.MATCHED if ours else AnswerMatch.WRONG_PATIENT


async def record(tx, vault, pending, new):
    late = "late" if new.now > pending.deadline else "in time"
    error = new.result.error
    kind = error.kind if error else pending.transaction.answer_set
    tx.audit("claim_status.recorded", ids=[pending.trace], detail=f"{kind} {late}")


STATUS = InquiryTransaction(
    inquiry_set="276",
    answer_set="277",
    group="HR",
    subject="claim_status",
    payload=PayloadFormat(
        under_payer_id=lambda inquiry, payer_id: inquiry,
        payer=lambda inquiry: ("Medical", inquiry.payer_id),
        patient_key=lambda vault, vendor_id, inquiry: None,
        encode=msgspec.json.encode,
        decode=msgspec.json.Decoder(StatusInquiry).decode,
        write=write,
    ),
    reader=AnswerReader(
        read=lambda content: read_response(content, "277", read_set),
        trace_number=lambda answer: answer.trace,
        match=match,
        may_be_resent=lambda answer: answer.category == CANNOT_ANSWER_NOW,
        build=lambda answer, inquiry, trace, now: StatusAnswer(category=answer.category),
        decode=msgspec.msgpack.Decoder(InquiryResult[StatusAnswer]).decode,
    ),
    record=record,
    answers_are_statements=True,
)


def traced(content):
    """Trace number and claim of each set of a file that was sent."""
    rows = [row.split("*") for row in content.decode().split("~")]
    return zip(
        [row[2] for row in rows if row[0] == "TRN"],
        [row[2] for row in rows if row[0] == "REF"],
        strict=True,
    )


def answer(content, now, category=PAID, *, guide="277", body=None):
    """The payer's file that answers each inquiry of one that was sent."""
    envelope = Envelope(sender="MEADOW", receiver="CLEARLANE", usage="P", moment=now, control=7)
    bodies = (
        ["BHT*0010*08*1*20240501*1200*DG", f"TRN*2*{trace}", f"STC*{category}", f"REF*EJ*{claim}"]
        for trace, claim in traced(content)
    )
    return b"".join(wrap_sets(envelope, guides.by_kind(guide), [body] if body else bodies))


class Payer:
    """A payer with a mailbox and, while ``replies`` is given, real time."""

    def __init__(self, flow):
        self.flow = flow
        self.replies = None
        self.asked = []

    def realtime_connections(self, *payer):
        if self.replies is None:
            return []
        route = self.flow.connections.route(*payer)
        return [RealtimeConnection(route=route, timeout_seconds=1, realtime=self)]

    def mailbox_routes(self, *payer):
        return self.flow.connections.mailbox_routes(*payer)

    async def ask(self, payload, *, payload_type, seconds):
        assert payload_type == "276"
        self.asked.append(payload)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        content = answer(payload, self.flow.clock.now(), reply)
        return Reply(RealtimeResult.ANSWERED, content)

    async def close(self):
        pass


class Office:
    """A site that asks for the status of claims."""

    def __init__(self, flow):
        self.flow, self.payer = flow, Payer(flow)
        self.runner = InquiryRunner(
            flow.database, flow.vault, flow.clock, lambda: self.payer, node="test"
        )
        access = replace(flow.context.payer_access, inquiry_runner=self.runner)
        self.context = flow.context = replace(flow.context, payer_access=access)

    async def ask(self, *claims):
        asked = [StatusInquiry(payer_id=PAYER, claim=claim) for claim in claims]
        return await ask.ask(
            self.context, STATUS, asked, site=self.flow.site, actor=ACTOR, now=self.flow.clock.now()
        )

    def wait(self, id):
        now = self.flow.clock.now()
        waiting = ask.await_answers(
            self.context, STATUS, id, site=self.flow.site, now=now, stopping=asyncio.Event()
        )
        return asyncio.create_task(asyncio.wait_for(waiting, PATIENCE_SECONDS))

    async def read(self, id, transaction=STATUS):
        """The request's status, the answered categories, and the codes of errors."""
        found = await request_answers.read_answers(
            self.context, transaction, id, site=self.flow.site, actor=ACTOR
        )
        return found and await opened(found)

    async def quiet(self, seconds=0):
        self.flow.clock.advance(timedelta(seconds=seconds))

        async def is_quiet():
            return not await inquiry_schedule.has_due_inquiries(self.context, self.flow.clock.now())

        await until(is_quiet)

    async def send(self):
        """Gather inquiries into files and deliver these; the one that the payer got."""
        await inquiry_batches.create_inquiry_batches(self.context, self.flow.clock.now())
        await dispatch.deliver_due(self.context, self.flow.clock.now())
        box = self.flow.connections.open_mailbox(self.flow.connections.route("Medical", PAYER))
        [content] = box.sent.values()
        return content

    async def audited(self, action):
        rows = [row async for row in audit.read_between(self.flow.database, 0, 1 << 62)]
        return [row for row in rows if row["action"] == f"claim_status.{action}"]


async def opened(answers):
    answered = [one.answer.category async for page in answers.answered for one in page]
    refused = [one.error async for page in answers.refused for one in page]
    return answers.status, answered, [(one.kind, one.errors[0].code) for one in refused]


@pytest.fixture
async def office(place, database, clock, monkeypatch):
    monkeypatch.setitem(TRANSACTIONS, STATUS.inquiry_set, STATUS)
    made = Office(await Flow.open(place, database, clock))
    yield made
    await made.runner.stop()


async def test_a_payer_answers_in_real_time_while_the_call_waits(office):
    office.payer.replies = [PAID]
    id = await office.ask("C1", "C2")
    assert await opened(await office.wait(id)) == (COMPLETE, [PAID, PAID], [])
    [one, two] = await office.audited("recorded")
    assert (one["detail"], two["detail"]) == ("277 in time", "277 in time")
    assert [row["count"] for row in await office.audited("submit")] == [2]


@pytest.mark.both_databases
async def test_a_large_request_goes_through_the_queue(office, monkeypatch):
    monkeypatch.setattr(ask, "IMMEDIATE_INQUIRIES_MAX", 1)
    office.payer.replies = [PAID]
    id = await office.ask("C1", "C2", "C3")
    async with office.flow.database.read(inquiries.SCOPE) as tx:
        [queue] = await inquiries.open_queues(tx)
    assert (queue.transaction_set, queue.mode) == ("276", inquiries.BULK)
    await office.quiet()
    assert await office.read(id) == (COMPLETE, [PAID] * 3, [])


async def test_a_payer_that_cannot_answer_now_is_asked_again_soon(office):
    office.payer.replies = [CANNOT_ANSWER_NOW, PAID]
    id = await office.ask("C1")
    waiting = office.wait(id)
    await until(lambda: office.payer.asked)
    await office.quiet(seconds=inquiry_runner.INQUIRY_RETRY_SECONDS[0])
    assert await opened(await waiting) == (COMPLETE, [PAID], [])
    assert len(office.payer.asked) == 2


async def test_an_answer_after_the_call_is_kept(office):
    office.payer.replies = [Unreachable(arrival=Presence.UNKNOWN), PAID]
    id = await office.ask("C1")
    waiting = office.wait(id)
    await until(lambda: office.payer.asked)
    await office.quiet(seconds=60)
    assert await opened(await waiting) == (INCOMPLETE, [], [])
    await office.quiet(seconds=60)
    assert await office.read(id) == (COMPLETE, [PAID], [])
    assert [row["detail"] for row in await office.audited("recorded")] == ["277 late"]


async def test_a_payer_that_never_answers_is_given_up(office):
    office.payer.replies = [Unreachable(arrival=Presence.UNKNOWN)]
    id = await office.ask("C1")
    await until(lambda: office.payer.asked)
    await office.quiet()
    await office.quiet(seconds=3_600 * inquiry_runner.INQUIRY_RETRY_HOURS_MAX)
    assert await office.read(id) == (COMPLETE, [], [("Connection", "Lost")])
    assert [row["detail"] for row in await office.audited("recorded")] == ["Connection late"]


async def test_a_payer_without_real_time_gets_a_file_and_answers_by_file(office):
    id = await office.ask("C1", "C2")
    await office.quiet(seconds=60)
    sent = await office.send()
    assert sent.count(b"ST*276*") == 2
    assert [row["count"] for row in await office.audited("mailed")] == [2]
    stranger = answer(sent, office.flow.clock.now()).replace(b"EJ*C1", b"EJ*C9")
    # An answer to no inquiry is not parked: it may be a statement about a claim.
    assert await office.flow.arrive(stranger) == ["applied"]
    assert await office.read(id) == (INCOMPLETE, [PAID], [])
    own = answer(sent, office.flow.clock.now())
    assert await office.flow.arrive(own, name="own") == ["applied"]
    assert await office.read(id) == (COMPLETE, [PAID, PAID], [])


async def test_a_refusal_of_the_file_ends_its_inquiries(office):
    id = await office.ask("C1", "C2")
    await office.quiet(seconds=60)
    sent = await office.send()
    control = int(sent.split(b"*")[13])
    body = [f"AK1*HR*{control}*005010X212", "AK2*276*0002*005010X212", "IK5*R*5", "AK9*P*2*2*1"]
    refusal = answer(sent, office.flow.clock.now(), guide="999", body=body)
    assert await office.flow.arrive(refusal) == ["applied"]
    assert await office.read(id) == (INCOMPLETE, [], [("999", "5")])


@pytest.mark.both_databases
async def test_eligibility_does_not_see_the_requests_of_another_transaction(office):
    office.payer.replies = [PAID]
    id = await office.ask("C1")
    await office.wait(id)
    flow = office.flow
    details = await request_answers.load_request(flow.database, flow.vault, STATUS, id, actor=ACTOR)
    for transaction, found in ((STATUS, True), (ELIGIBILITY, False)):
        read = await request_answers.read_numbered_answers(
            office.context, transaction, details.request_number, site=flow.site, actor=ACTOR
        )
        assert (read is not None) is found
        assert (await office.read(id, transaction) is not None) is found
        numbered = await request_answers.find_numbered(
            flow.database, transaction, details.request_number
        )
        assert bool(numbered) is found
    assert not await eligibility_list.list_newest(office.context, flow.site, limit=9, actor=ACTOR)


@pytest.mark.both_databases
async def test_old_requests_are_purged_under_the_name_of_their_transaction(office):
    office.payer.replies = [PAID]
    id = await office.ask("C1")
    await office.wait(id)
    office.flow.clock.advance(timedelta(days=office.context.limits.eligibility_days + 1))
    await inquiry_schedule.purge_tick(office.context, None)
    assert await office.read(id) is None
    assert [row["count"] for row in await office.audited("forgotten")] == [1]
