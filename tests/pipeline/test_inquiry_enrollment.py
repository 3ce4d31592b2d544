"""A payer that answers enrolled providers only is not asked before the enrollment counts: by request, by file, by 270 and by 276."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import structs

from clearlane.enrollment.lifecycle import EnrollmentEvent
from clearlane.inquiry.sent_inquiry import Refusal
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.pipeline.enrollment.enroll import enroll
from clearlane.pipeline.inquiry import eligibility_request, request_answers
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.inquiry_plan import plan_inquiries
from clearlane.pipeline.inquiry.sender_transactions import CLAIMS, PATIENTS
from clearlane.pipeline.operator.enrollment_admin import EnrolledWith, apply_event
from clearlane.x12 import parse
from clearlane.x12.checker.check import check
from tests.eligibility.eligibility_caller import many
from tests.eligibility.inquiry_node import joined
from tests.eligibility.test_inquiry_batches import Mail
from tests.eligibility.test_x12_inquiry import sent as sent_270
from tests.eligibility.test_x12_inquiry import subscriber
from tests.enrollment.invented import a_document, an_enrollment
from tests.pipeline.flowing import ACTOR, PAYER, Flow
from tests.pipeline.test_process_file import Channel, segments
from tests.pipeline.test_status_files import NPI, answers_of, question, sent
from tests.pipeline.test_status_files import node as node  # a fixture

DAY = timedelta(days=1)
PATIENT = (PAYER, subscriber())
STEPS = (
    (None, 0, "the provider is not enrolled for them: send an enrollment."),
    ("submit", 0, "the provider's enrollment for them has been pending since"),
    (EnrollmentEvent.REFUSE, 0, "it refused the provider's enrollment for them on"),
    (EnrollmentEvent.APPROVE, 9, "the provider's enrollment for them counts from"),
    (EnrollmentEvent.APPROVE, 0, ""),
    (EnrollmentEvent.END, 0, "it ended the provider's enrollment for them on"),
)
"""What happens, from how many days later on an approval counts, and why the payer is not asked."""


class Enrolling:
    """One provider's enrollment with a payer that answers enrolled providers only."""

    def __init__(self, flow, transaction):
        self.flow, self.transaction, self.id = flow, transaction, ""
        own = {"offers_eligibility": True, "has_route": True}
        requires = {"inquiry_enrollments": (transaction.value,)}
        before = flow.context.payer_access
        payers = PayerDirectory(
            [structs.replace(one, **own, **requires) for one in before.payers().all],
            sandbox=True,
        )
        flow.context = replace(flow.context, payer_access=replace(before, payers=lambda: payers))

    async def submit(self, **numbers):
        flow = self.flow
        document = a_document(an_enrollment(Npi=NPI, **numbers))
        receipt = await enroll(
            flow.context, document, site=flow.site, actor=ACTOR, now=flow.clock.now()
        )
        self.id = receipt.results[0].id

    async def move(self, event, days=0):
        flow = self.flow
        payers = flow.context.payer_access.payers().all
        live_from = flow.clock.now().date() + days * DAY
        await apply_event(
            flow.database, flow.vault, self.id, event, [EnrolledWith(one, self.transaction) for one in payers], reason="",
            now=flow.clock.now(), actor=ACTOR, sites=flow.sites,
            live_from=live_from if event is EnrollmentEvent.APPROVE else None,
        )  # fmt: skip

    async def take(self, step, days):
        if step == "submit":
            await self.submit()
        elif step is not None:
            await self.move(step, days)


async def planned(flow, sender, content):
    [asked] = parse(content).sets()
    plan = await plan_inquiries(
        sender, flow.context, flow.site, sender.read_all(asked), realtime=False
    )
    return [*plan.refusals.values()], " ".join(plan.not_asked())


async def test_a_270_waits_for_the_enrollment_and_says_how_far_it_is(place, database, clock):
    mail = Mail(await Flow.open(place, database, clock))
    flow = mail.flow
    enrolling = Enrolling(flow, EnrolledTransaction.ELIGIBILITY)

    async def requested():
        document = json.dumps(many(["2001"], PAYER) | {"IsTest": False}).encode()
        receipt = await eligibility_request.inquire(
            flow.context, document, site=flow.site, actor=ACTOR, now=flow.clock.now()
        )
        body = await joined(
            request_answers.load_answers(
                flow.database, flow.vault, ELIGIBILITY, flow.site.scope, receipt.eligibility_request_id
            )
        )  # fmt: skip
        return json.dumps(body)

    for step, days, why in STEPS:
        await enrolling.take(step, days)
        found, sentences = await planned(flow, PATIENTS, sent_270(PATIENT))
        body = await requested()
        assert ("ProviderNotEnrolled" in body) is bool(why)
        assert why in body
        assert found == ([Refusal.NOT_ENROLLED] if why else [])
        assert (f"eligibility inquiries (270) of enrolled providers only, and {why}" in sentences) is bool(why)  # fmt: skip


@pytest.mark.one_database
async def test_a_276_file_of_a_provider_who_is_not_enrolled_is_answered_without_the_payer(node):
    flow = node.flow
    channel = Channel(flow)
    number = await node.sent("3007")
    enrolling = Enrolling(flow, EnrolledTransaction.CLAIM_STATUS)
    content = sent(question("OURS 1", f"REF*D9*{number}"))
    file, answers = await channel.process(content, "monday.276")
    assert (file.state, file.accepted) == ("rejected", 0)
    words = answers["text"].decode()
    assert "trace number OURS 1" in words
    assert "the billing provider is not enrolled for them: send an enrollment." in words
    answer = await answers_of(node, channel, file.file_id)
    assert [one[1] for one in segments(answer, "STC")] == ["E4:24:1P"]
    assert [one for one in check(answer).findings if one.severity == "error"] == []
    assert await node.asks(number) == []
    # Another enrollment with the same number that counts is enough.
    await enrolling.submit(Tin="123456789")
    await enrolling.submit(Tin="987654321")
    assert (await planned(flow, CLAIMS, content))[0] == [Refusal.NOT_ENROLLED]
    await enrolling.move(EnrollmentEvent.APPROVE)
    assert await planned(flow, CLAIMS, content) == ([], "")
    # By its tax id too; a number of another provider is not enrolled.
    by_tax_id = content.replace(b"XX*1234567893", b"FI*987654321")
    assert await planned(flow, CLAIMS, by_tax_id) == ([], "")
    other = content.replace(NPI.encode(), b"1679576722")
    assert (await planned(flow, CLAIMS, other))[0] == [Refusal.NOT_ENROLLED]


@pytest.mark.one_database
async def test_the_271_names_the_provider_who_is_not_enrolled(place, database, clock):
    mail = Mail(await Flow.open(place, database, clock))
    Enrolling(mail.flow, EnrolledTransaction.ELIGIBILITY)
    channel = Channel(mail.flow)
    content = sent_270((PAYER, subscriber(), subscriber("2002", "VISIT 8")))
    file, answers = await channel.process(content, "monday.270")
    assert (file.state, file.accepted) == ("rejected", 0)
    assert answers["text"].decode().count("is not enrolled for them") == 2
    [asked] = parse(content).sets()
    plan = await plan_inquiries(
        PATIENTS, mail.flow.context, mail.flow.site, PATIENTS.read_all(asked), realtime=False
    )
    chains = list(PATIENTS.answer_levels(plan, {}, mail.flow.clock.now().date()))
    assert [chain[-1][-1] for chain in chains] == [["AAA", "N", "", "50", "C"]] * 2
    assert {len(chain) for chain in chains} == {2}
