"""Ask the payer about a claim: in real time and by file, in every state, slowly, wrongly, never; nothing overrules an 835.

Also tests `pipeline/inquiry/ask_payer`, `pipeline/follow_up/overdue_claims`, `pipeline/inquiry/status_transaction`,
`sandbox/claim_status` and `sandbox/responses/answer277`.
"""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from msgspec.structs import replace as msgspec_replace

from clearlane.claims.inquiry.answer_result import AnswerResult
from clearlane.claims.inquiry.status_inquiry import QuestionKeys
from clearlane.connect.connections import PayerRoute, RealtimeConnection
from clearlane.connect.loopback import LoopbackMailbox, LoopbackRealtime
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.samples import TEST_PAYERS
from clearlane.pipeline.follow_up import overdue_claims
from clearlane.pipeline.follow_up.overdue_claims import act_on_overdue, find_next_step
from clearlane.pipeline.inbound import post, receive
from clearlane.pipeline.inquiry.ask_payer import (
    AskReceipt,
    NotAsked,
    ask_and_wait,
    ask_payer,
    explain_answer,
    list_asks,
)
from clearlane.pipeline.inquiry.inquiry_batches import create_inquiry_batches
from clearlane.pipeline.inquiry.inquiry_runner import (
    InquiryRunner,
    StoredAs,
    open_inquiry,
    store_result,
)
from clearlane.pipeline.inquiry.realtime_inquiry import read_reply
from clearlane.pipeline.load_claim import load_claim_in_scope
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.query.claim_list import load_claim_rows
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.sandbox.simulator import Simulator
from clearlane.store import inquiries
from clearlane.store.events.events import list_all
from clearlane.store.installation.sandbox import NODE, StoredClock, StoredLedger
from tests.claims.test_claim_questions import answer
from tests.patience import until
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow

pytestmark = pytest.mark.one_database

PAYER = "TST01"
LEDGER = f"Medical/{PAYER}"
DAY = timedelta(days=1)


@dataclass
class SandboxConnections:
    """The test payers of a sandbox, whose routes a test may change."""

    simulator: Simulator
    ledger: StoredLedger
    in_real_time: bool = True
    inquiries: str = "270,276"
    own: dict = field(default_factory=dict)
    realtime: dict = field(default_factory=dict)

    def mailbox_routes(self, type, payer_id):
        return [self.route(type, payer_id)]

    def all_mailbox_routes(self):
        return [self.route(*name.split("/")) for name in sorted(self.ledger.payers)]

    def hops(self):
        return []

    def find_hop(self, id):
        return None

    def route(self, type, payer_id):
        return PayerRoute(
            route_id=0, payer_id=payer_id, type=type, kind="loopback", sender_id="CLEARLANE",
            receiver_id=payer_id, usage="T", window_seconds=0, inquiries=self.inquiries, **self.own,
        )  # fmt: skip

    def open_mailbox(self, route):
        name = f"{route.type}/{route.payer_id}"
        payer = self.simulator.payer(name, id=route.payer_id, name="Sandbox", ids=(route.payer_id,))
        return LoopbackMailbox(payer, name=name, ledger=self.ledger, clock=self.simulator.clock)

    def realtime_connections(self, type, payer_id):
        if not self.in_real_time:
            return []
        name = f"{type}/{payer_id}"
        if name not in self.realtime:
            payer = self.simulator.realtime_payer(name, id=payer_id, name="Sandbox", dental=False)
            self.realtime[name] = LoopbackRealtime(payer, self.simulator.clock)
        return [
            RealtimeConnection(
                route=self.route(type, payer_id), timeout_seconds=60, realtime=self.realtime[name]
            )
        ]

    async def close(self):
        pass


class Asking:
    """A node whose payers are those of a sandbox, on a clock that a test moves."""

    def __init__(self, flow, connections, simulator):
        self.flow, self.connections, self.simulator = flow, connections, simulator
        self.runner = flow.context.payer_access.inquiry_runner

    @classmethod
    async def open(cls, place, database, clock):
        flow = await Flow.open(place, database, clock, sandbox=True)
        ledger = StoredLedger(database, flow.vault)
        simulator = Simulator(clock, ledger, StoredClock(database))
        await simulator.load(NODE)
        await simulator.freeze(NODE)
        connections = SandboxConnections(simulator, ledger)
        payers = PayerDirectory(TEST_PAYERS, sandbox=True)
        runner = InquiryRunner(
            database, flow.vault, simulator.clock, lambda: connections, node="test",
            asleep=simulator.counted_clock.waiting_count,
        )  # fmt: skip
        access = replace(
            flow.context.payer_access,
            payers=lambda: payers,
            connections=lambda: connections,
            inquiry_runner=runner,
        )
        flow.context = replace(
            flow.context,
            payer_access=access,
            clock=simulator.clock,
            time_ago=simulator.clock.time_ago,
        )
        flow.clock = simulator.clock
        return cls(flow, connections, simulator)

    @property
    def now(self):
        return self.simulator.clock.now()

    async def sent(self, member="3001", **own):
        """Submit a claim of a scenario and deliver it; its number."""
        [number] = await self.flow.submit(payer=PAYER, F01A_InsuredId=member, **own)
        await self.deliver()
        return number

    async def deliver(self):
        context = self.flow.context
        await dispatch.create_batches(context, self.now, everything=True)
        await dispatch.deliver_due(context, self.now)

    async def pass_days(self, days):
        """Let days pass and post what payers answer; questions that go by file leave."""
        await self.simulator.advance(days * DAY, NODE)
        context = self.flow.context
        for _ in range(2):
            await create_inquiry_batches(context, self.now)
            await dispatch.deliver_due(context, self.now)
            await receive.receive_files(context, self.now, every_route=True)
            await post.post_waiting(context)

    async def ask(self, number, **more):
        return await ask_and_wait(
            self.flow.context, number, site=self.flow.site, actor=ACTOR, now=self.now,
            stopping=asyncio.Event(), **more,
        )  # fmt: skip

    async def asked_alone(self, number):
        """Ask as the service does by itself."""
        return await ask_payer(
            self.flow.context, number, site=self.flow.site, actor=ACTOR, now=self.now
        )

    async def asked_alone_by_person(self, number):
        """Ask by file for a person, who does not wait."""
        self.connections.in_real_time = False
        return await ask_payer(
            self.flow.context,
            number,
            site=self.flow.site,
            actor=ACTOR,
            now=self.now,
            by_person=True,
        )

    async def asks(self, number):
        return await list_asks(self.flow.context, self.flow.site.scope, number)

    async def history(self, number):
        flow = self.flow
        return await load_history_in_scope(
            flow.database, flow.vault, flow.site.scope, number, actor=ACTOR
        )

    async def awaiting(self, number):
        flow = self.flow
        [row] = await load_claim_rows(
            flow.context, flow.site, [number], actor=ACTOR, action="console.claim"
        )
        return row.awaiting, row.no_answer

    async def follow_up(self, days):
        """Let days pass, and act on what is overdue then; how many steps were taken."""
        await self.pass_days(days)
        return await act_on_overdue(self.flow.context, self.now)

    async def headlines(self, number):
        return [one.headline for one in (await self.history(number)).entries]

    async def events(self, number):
        async with self.flow.database.read(EVERYONE) as tx:
            rows = await list_all(tx, ("claim.asked", "claim.answered"), after=0, limit=1_000)
        return [one for one in rows if one.claim_number == number]


@pytest.fixture
async def node(place, database, clock):
    asking = await Asking.open(place, database, clock)
    yield asking
    await asking.runner.stop()


@pytest.mark.both_databases
async def test_a_claim_is_asked_about_in_each_of_its_states(node):
    number = await node.sent("3007")  # pended, then paid
    results = []
    for days in (0, 2, 4, 20):
        await node.pass_days(days)
        asked = await node.ask(number)
        results.append((asked.result, asked.keys, asked.answer.statuses[0].codes[0].category))
    claim, known = QuestionKeys.CLAIM, QuestionKeys.PAYER_NUMBER
    assert results == [
        # Before the 277CA the payer's number is not known; after it the payer is asked by that.
        (AnswerResult.ACCEPTED, claim, "A1"),
        (AnswerResult.PENDING, known, "P1"),
        (AnswerResult.PENDING, known, "P2"),
        (AnswerResult.PAID, known, "F1"),
    ]
    assert len(await node.asks(number)) == 4
    status = await node.flow.status(number)
    # The 835 has decided: the 277 after it changed nothing.
    assert (status.state.value, status.payment_status) == ("complete", "1")
    headlines = await node.headlines(number)
    assert headlines.count("The payer was asked about the claim (276)") == 4
    assert any(one.startswith("277: pending") for one in headlines)
    kinds = [one.type for one in await node.events(number)]
    assert (kinds.count("claim.asked"), kinds.count("claim.answered")) == (4, 4)


async def test_not_found_is_not_a_search_that_failed(node):
    lost, other = await node.sent("3027"), await node.sent("3028")
    await node.pass_days(2)
    asked = await node.ask(lost)
    assert (asked.result, asked.keys) == (AnswerResult.NOT_FOUND, QuestionKeys.PAYER_NUMBER)
    # Its search by numbers fails twice; the question goes on by itself until the claim is found.
    found = await node.ask(other)
    assert (found.result, found.keys) == (AnswerResult.PENDING, QuestionKeys.DAYS)
    assert len(await node.asks(other)) == 1
    states = [(await node.flow.status(one)).state.value for one in (lost, other)]
    assert states == ["acknowledged", "pending"]
    entry = (await node.history(lost)).entries[-1]
    assert "does not have the claim in its system" in entry.sentences[0]
    never = await node.sent("3009")
    assert (await node.ask(never)).result is AnswerResult.NOT_FOUND


async def test_a_claim_that_was_returned_without_a_word_is_rejected_with_its_field(node):
    number = await node.sent("3026")
    await node.pass_days(30)
    assert (await node.flow.status(number)).state.value == "acknowledged"
    asked = await node.ask(number)
    assert asked.result is AnswerResult.REJECTED
    flow = node.flow
    loaded = await load_claim_in_scope(
        flow.database, flow.vault, flow.site.scope, number, actor=ACTOR
    )
    [why] = explain_answer(loaded, asked.answer)
    assert [one.path for one in why.fields] == ["F33A_BillingProviderNpi"]
    assert (await flow.status(number)).state.value == "rejected"
    assert "F33A_BillingProviderNpi" in [
        one.location for one in (await node.history(number)).findings
    ]


async def test_a_payer_that_never_answers_costs_others_nothing(node):
    silent = [await node.sent("3032") for _ in range(5)]
    good = await node.sent("3001")
    await node.pass_days(2)
    receipts = [await node.asked_alone(one) for one in silent]
    assert {one.code for one in receipts} == {"too_young"}
    await node.pass_days(6)
    receipts = [await node.asked_alone(one) for one in silent]
    assert all(isinstance(one, AskReceipt) for one in receipts)
    assert (await node.ask(good)).result is AnswerResult.PENDING
    # One open question at a time, for a person too.
    assert (await node.ask(silent[0])).code == "open"
    assert (await node.asks(silent[0]))[0].is_open
    await node.pass_days(3)  # a day of attempts is over

    async def all_ended():
        node.runner.wake()
        return all([not (await node.asks(one))[0].is_open for one in silent])

    await until(all_ended)
    [ended] = await node.asks(silent[0])
    assert (ended.result, ended.answer) == (AnswerResult.FAILED, None)
    assert "lost before an answer came" in ended.error
    ended_so = "The question ended without an answer about the claim."
    assert any(one.startswith(ended_so) for one in await node.headlines(silent[0]))
    assert (await node.asked_alone(silent[0])).code == "too_soon"


async def test_answers_that_are_wrong_or_about_the_question_change_nothing(node):
    wrong, refused = await node.sent("3031"), await node.sent("3033")
    await node.pass_days(2)
    before = {one: await node.flow.facts(one) for one in (wrong, refused)}
    asked = await node.ask(wrong, wait=timedelta(seconds=0))
    assert asked.is_open
    said = await node.ask(refused)
    assert (said.result, said.answer.level) == (AnswerResult.REFUSED, "provider")
    assert {one: await node.flow.facts(one) for one in before} == before
    assert any("did not take the question" in one for one in await node.headlines(refused))


@pytest.mark.both_databases
async def test_a_payer_without_real_time_is_asked_by_file(node):
    node.connections.in_real_time = False
    numbers = {
        one: await node.sent(one) for one in ("3001", "3027", "3028", "3030", "3032", "3033")
    }
    await node.pass_days(2)
    for number in numbers.values():
        asked = await node.ask(number)
        assert (asked.by_file, asked.is_open) == (True, True)
    await node.pass_days(1)
    results = {one: (await node.asks(number))[0].result for one, number in numbers.items()}
    assert (
        results
        == {
            "3001": AnswerResult.PENDING,
            "3027": AnswerResult.NOT_FOUND,
            "3028": None,  # asked again with other keys, in the next file
            "3030": None,  # slowly
            "3032": None,
            "3033": None,  # at the provider's level, without a trace number: no question is known to be meant
        }
    )
    await node.pass_days(1)
    await node.pass_days(3)
    for member, result in (("3028", "pending"), ("3030", "pending"), ("3032", None)):
        assert (await node.asks(numbers[member]))[0].result == result, member
    states = {one.state for one in await node.flow.files()}
    assert states == {"applied"}


async def test_why_a_payer_is_not_asked(node):
    [waiting] = await node.flow.submit(payer=PAYER)
    assert (await node.ask(waiting)).code == "not_sent"
    assert (await node.ask("C0")).code == "no_claim"
    number = await node.sent()
    node.connections.inquiries = "270"
    refusal = await node.ask(number)
    assert isinstance(refusal, NotAsked)
    assert refusal.code == "no_route"
    node.connections.inquiries = "276"
    node.connections.own = {"status_after_days": 3, "status_every_days": 2}
    assert (await node.asked_alone(number)).code == "too_young"
    await node.pass_days(4)
    # Of enrolled providers only: neither a person nor the service sends a question that the payer would refuse.
    anyone = node.flow.context
    enrolled = [msgspec_replace(one, inquiry_enrollments=("claim_status",)) for one in TEST_PAYERS]
    payers = PayerDirectory(enrolled, sandbox=True)
    access = replace(anyone.payer_access, payers=lambda: payers)
    node.flow.context = replace(anyone, payer_access=access)
    refusals = await node.ask(number), await node.asked_alone(number)
    assert {one.code for one in refusals} == {"not_enrolled"}
    assert refusals[0].sentence.endswith("is not enrolled for them: send an enrollment.")
    node.flow.context = anyone
    assert isinstance(await node.asked_alone(number), AskReceipt)

    async def answered():
        return not (await node.asks(number))[0].is_open

    await until(answered)
    assert (await node.asked_alone(number)).code == "too_soon"
    assert (await node.ask(number)).result is AnswerResult.PENDING


async def test_another_claims_status_is_not_recorded_and_a_later_answer_is(node):
    number = await node.sent()
    await node.pass_days(2)
    context = node.flow.context
    before = await node.flow.facts(number)
    id = (await node.asked_alone_by_person(number)).inquiry_request_id
    async with node.flow.database.read(inquiries.SCOPE) as tx:
        pending = open_inquiry(node.flow.vault, await inquiries.find_inquiry(tx, id, 1))

    async def reply(status):
        question = pending.inquiry
        content = answer(
            status, trace=pending.trace, payer=PAYER, last=question.subscriber.last, member=question.member_id
        )  # fmt: skip
        result = read_reply(pending, content, node.now)
        return await store_result(
            node.flow.database, node.flow.vault, pending, result, node.now, ACTOR, context.answer_days
        )  # fmt: skip

    assert await reply("STC*F2:65*20260303**1.11") is StoredAs.ANSWER
    [asked] = await node.asks(number)
    assert asked.result is AnswerResult.OTHER_CLAIM
    assert await node.flow.facts(number) == before
    assert any("does not agree with the claim" in one for one in await node.headlines(number))
    for _ in range(2):  # the same answer again changes nothing
        said = f"STC*F2:65*20260304**{pending.inquiry.charge}"
        assert await reply(said) is StoredAs.REPEATED
        assert len(await node.flow.facts(number)) == len(before) + 1


STEPS = {"look": "looked through again", "ask": "asks the payer (276)", "again": "asks the payer again", "person": "a person looks at it"}  # fmt: skip


@pytest.mark.both_databases
async def test_an_overdue_claim_is_looked_for_asked_about_twice_and_then_a_persons(
    node, monkeypatch
):
    node.connections.in_real_time = False
    node.connections.own = {"answer_days": 10, "status_after_days": 17, "status_every_days": 5}
    numbers = {one: await node.sent(one) for one in ("3026", "3027", "3032")}
    assert await node.follow_up(2) == 0  # the 277CA came
    first = await find_next_step(node.flow.context)
    assert (await node.awaiting(numbers["3027"]))[0].by == first
    assert await node.follow_up(13) == 3  # the mailbox is looked through
    # Three business days later the claims are still too young for this payer.
    assert await node.follow_up(3) == 0
    record = overdue_claims._go_on_with
    monkeypatch.setattr(overdue_claims, "_go_on_with", _killed)
    with pytest.raises(_Killed):
        await node.follow_up(4)
    monkeypatch.setattr(overdue_claims, "_go_on_with", record)
    assert [len(await node.asks(one)) for one in numbers.values()] == [1, 1, 1]
    # The questions that were asked before the kill are the steps: none is asked twice.
    assert await act_on_overdue(node.flow.context, node.now) == 3
    assert [len(await node.asks(one)) for one in numbers.values()] == [1, 1, 1]
    await node.pass_days(1)
    # One was returned to the provider; one is not in the payer's system, and a person has it at once.
    assert (await node.flow.status(numbers["3026"])).state.value == "rejected"
    assert await act_on_overdue(node.flow.context, node.now) == 1
    assert [(await node.awaiting(one))[1] for one in numbers.values()] == [False, True, False]
    assert await node.follow_up(9) == 1
    assert await node.follow_up(6) == 1
    assert (await node.awaiting(numbers["3032"]))[1]
    assert await node.follow_up(40) == 0
    taken = {
        member: [
            step
            for line in await node.headlines(number)
            for step, words in STEPS.items()
            if words in line
        ]
        for member, number in numbers.items()
    }
    assert taken == {
        "3026": ["look", "ask"],
        "3027": ["look", "ask", "person"],
        "3032": ["look", "ask", "again", "person"],
    }
    assert len(await node.asks(numbers["3032"])) == 2


async def test_an_answer_that_comes_before_its_step_leaves_the_claim_to_a_person_at_once(
    node, monkeypatch
):
    node.connections.own = {"answer_days": 10}
    numbers = {one: await node.sent(one) for one in ("3027", "3001")}
    await node.pass_days(2)
    assert (
        await node.follow_up(13) == 1
    )  # the mailbox is looked through; the other claim is decided
    lost = numbers["3027"]
    record = overdue_claims._go_on_with

    async def recorded_late(*given):
        async def answered():
            asks = await node.asks(lost)
            return bool(asks) and not asks[0].is_open

        if given[1]:
            await until(answered)
        return await record(*given)

    monkeypatch.setattr(overdue_claims, "_go_on_with", recorded_late)
    assert await node.follow_up(6) == 1
    monkeypatch.setattr(overdue_claims, "_go_on_with", record)
    assert (await node.asks(lost))[0].result is AnswerResult.NOT_FOUND
    assert await act_on_overdue(node.flow.context, node.now) == 1
    assert (await node.awaiting(lost))[1]
    assert await node.follow_up(30) == 0
    assert len(await node.asks(lost)) == 1
    lines = await node.headlines(lost)
    assert [sum(words in one for one in lines) for words in STEPS.values()] == [1, 1, 0, 1]


class _Killed(Exception):
    pass


async def _killed(*_):
    raise _Killed


async def test_a_repeated_answer_is_noted_and_the_claim_waits_from_then_on(node):
    node.connections.in_real_time = False
    number = await node.sent("3007")
    await node.pass_days(2)
    both = await asyncio.gather(*(node.asked_alone_by_person(number) for _ in range(2)))
    # Of two questions at once one is asked.
    assert {type(one) for one in both} == {AskReceipt, NotAsked}
    for _ in range(3):
        await node.pass_days(1)
    assert (await node.asks(number))[0].result is AnswerResult.PENDING
    before = len(await node.flow.facts(number))
    for _ in range(2):
        await node.ask(number)
        await node.pass_days(1)
    assert len(await node.asks(number)) == 3
    waiting, _ = await node.awaiting(number)
    assert (waiting.what, waiting.since) == ("decision", node.now)
    lines = await node.headlines(number)
    assert sum("answered" in one or one.startswith("277: pending") for one in lines) >= 3, lines
    assert len(await node.flow.facts(number)) <= before + 2
