"""Claims wait for the enrollment of their provider, say so, and are released when it counts; and why there is no ERA.

Also tests `store/enrollment_waits`, `pipeline/enrollment/era_answer` and `pipeline/enrollment/provider_progress`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from clearlane.claims.forms.x12_loops import check_claim
from clearlane.claims.rule_settings import RuleSetting, RuleSettings
from clearlane.enrollment.lifecycle import EnrollmentEvent
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.pipeline.enrollment.enroll import enroll
from clearlane.pipeline.enrollment.era_answer import EraState, explain_claim_era
from clearlane.pipeline.enrollment.inquiry_enrollment import why_not_asked
from clearlane.pipeline.follow_up.awaited_enrollments import release_enrolled
from clearlane.pipeline.follow_up.watch_filing_limits import watch_filing_limits
from clearlane.pipeline.intake.hold_claims import RELEASE, change_unsent_claim
from clearlane.pipeline.intake.judge_file_claims import FileClaim, SeenClaims, judge_file_claims
from clearlane.pipeline.intake.store_file_claims import store_file_claims
from clearlane.pipeline.load_claim import load_claim_in_scope
from clearlane.pipeline.operator.enrollment_admin import EnrolledWith, apply_event
from clearlane.pipeline.query.claim_list import find_claim
from clearlane.store.events.events import list_all
from tests.claims.answers import paid, payment
from tests.claims.file_claims import VISITS, claims_in
from tests.databases import START
from tests.enrollment.invented import a_document, an_enrollment
from tests.pipeline.flowing import ACTOR, EVERYONE, PAYER, Flow, accounts

DAY = timedelta(days=1)
SAME = {"Npi": "1881018489", "Tin": "123456789"}
BILLING = {
    "F33A_BillingProviderNpi": SAME["Npi"],
    "F25_FederalTaxIdEin": SAME["Tin"],
    "F25_FederalTaxIdSsn": None,
}
WAITS = RuleSettings([RuleSetting(rule="C106", severity="warning", reason="they come in time")])


@pytest.fixture
async def flow(place, database, clock):
    flow = await Flow.open(place, database, clock)
    flow.replace_payer(
        claim_enrollment_required=True, era_availability="RequiresEnrollment", filing_days=58
    )
    return flow


async def enrolled(flow):
    receipt = await enroll(
        flow.context, a_document(an_enrollment(**SAME)), site=flow.site, actor=ACTOR, now=flow.clock.now()
    )  # fmt: skip
    return receipt.results[0].id


async def move(flow, id, event, transaction=EnrolledTransaction.CLAIMS, live_from=None):
    [payer] = flow.context.payer_access.payers().all
    await apply_event(
        flow.database, flow.vault, id, event, [EnrolledWith(payer, transaction)], reason="",
        now=flow.clock.now(), actor=ACTOR, sites=flow.sites, live_from=live_from,
    )  # fmt: skip


async def state(flow, number):
    row = await find_claim(flow.context, number, flow.site.scope)
    return row.label.value, row.awaiting.what.value, row.awaiting.source.value


async def events_of(flow, number):
    async with flow.database.read(EVERYONE) as tx:
        types = ("claim.received", "claim.held", "claim.released", "claim.filing_limit_near")
        found = await list_all(tx, types, after=0, limit=1_000)
    return [(one.type, one.sequence) for one in found if one.claim_number == number]


async def test_a_claim_waits_says_so_warns_of_its_limit_and_is_released(flow):
    flow.context = replace(flow.context, rule_settings=lambda: WAITS)
    id = await enrolled(flow)
    [result] = await flow.post(**BILLING)
    assert result.accepted
    number = result.claim_number
    loaded = await load_claim_in_scope(
        flow.database, flow.vault, flow.site.scope, number, actor=ACTOR
    )
    [found] = [one for one in loaded.findings if one.rule == "C106"]
    assert found.message.endswith("; the claim waits until the payer has approved it.")
    waiting = ("held", "enrollment", "payer")
    assert await state(flow, number) == waiting
    row = await find_claim(flow.context, number, flow.site.scope)
    assert row.reason.text == "Kept back until the payer has enrolled the provider"
    assert await flow.send() == b""
    # Its service is 30 days before START, and the payer takes it for 58 days.
    assert await watch_filing_limits(flow.context, flow.clock.now()) == 1
    await move(flow, id, EnrollmentEvent.APPROVE, live_from=START.date() + 5 * DAY)
    assert await release_enrolled(flow.context, flow.clock.now()) == 0
    assert await state(flow, number) == waiting
    flow.clock.advance(5 * DAY)
    assert await release_enrolled(flow.context, flow.clock.now()) == 1
    assert await release_enrolled(flow.context, flow.clock.now()) == 0
    assert await state(flow, number) == ("received", "sending", "clearinghouse")
    assert len(accounts(await flow.send())) == 1
    assert await events_of(flow, number) == [
        ("claim.received", 1), ("claim.held", 2), ("claim.filing_limit_near", 3), ("claim.released", 4),
    ]  # fmt: skip
    # From now on claims go out at once.
    assert len((await flow.sent(**BILLING))[0]) == 1


@pytest.mark.one_database
async def test_a_person_may_release_it_and_a_refusal_leaves_it_to_one(flow):
    flow.context = replace(flow.context, rule_settings=lambda: WAITS)
    id = await enrolled(flow)
    first, second = [one.claim_number for one in await flow.post(2, **BILLING)]
    done = await change_unsent_claim(
        flow.context, flow.site, first, RELEASE, actor=ACTOR, now=flow.clock.now()
    )
    assert done.refusal == ""
    assert len(accounts(await flow.send())) == 1
    await move(flow, id, EnrollmentEvent.REFUSE)
    assert await release_enrolled(flow.context, flow.clock.now()) == 1
    assert await state(flow, second) == ("held", "release", "biller")
    assert await flow.send() == b""


@pytest.mark.one_database
async def test_a_claim_that_was_not_accepted_waits_too_and_is_never_sent_by_itself(flow):
    id = await enrolled(flow)
    [result] = await flow.post(**BILLING)
    assert not result.accepted
    assert await state(flow, result.claim_number) == ("not_accepted", "enrollment", "payer")
    # Something else is wrong with this one.
    [wrong] = await flow.post(**BILLING, F03_PatientDob="2099-01-01")
    assert (await state(flow, wrong.claim_number))[1] == "correction"
    await move(flow, id, EnrollmentEvent.APPROVE)
    assert await release_enrolled(flow.context, flow.clock.now()) == 1
    assert await state(flow, result.claim_number) == ("not_accepted", "correction", "biller")
    assert await flow.send() == b""


@pytest.mark.one_database
async def test_claims_of_files_wait_as_well(flow):
    flow.context = replace(flow.context, rule_settings=lambda: WAITS)
    data = VISITS.read_bytes().replace(b"2025", b"2023").replace(b"MDW10", PAYER.encode())
    data = data.replace(b"ABF:R51", b"ABF:R519")
    claims = list(claims_in(data))
    page = [FileClaim(claim, check_claim(claim)) for claim in claims]
    judged = await judge_file_claims(
        flow.context, flow.site, page, now=flow.clock.now(), seen=SeenClaims()
    )
    header = next(one.judgement.header for one in judged if one.row.payer_id == PAYER)
    document = a_document(an_enrollment(Npi=header.billing_npi, Tin=header.billing_tax_id))
    await enroll(flow.context, document, site=flow.site, actor=ACTOR, now=flow.clock.now())
    judged = await judge_file_claims(
        flow.context, flow.site, page, now=flow.clock.now(), seen=SeenClaims()
    )
    rows = [one.row for one in judged if one.row.state == "received"]
    await flow.database.write(
        flow.site.scope,
        lambda tx: store_file_claims(tx, flow.context, flow.site, rows),
        actor=ACTOR,
    )
    assert rows
    assert {await state(flow, one.claim_number) for one in rows} == {
        ("held", "enrollment", "payer")
    }
    assert await flow.send() == b""


@pytest.mark.one_database
async def test_why_there_is_no_era_and_no_question_is_answered_at_every_step(flow):
    async def era(number):
        row = await find_claim(flow.context, number, flow.site.scope)
        [payer] = flow.context.payer_access.payers().all
        now = flow.clock.now()
        return await explain_claim_era(
            flow.database, flow.vault, flow.site, row.stored, row.status, payer, now
        )

    async def not_asked():
        [payer] = flow.context.payer_access.payers().all
        billing = SAME["Npi"], SAME["Tin"]
        return await why_not_asked(flow.context, flow.site, payer, billing, flow.clock.now())

    flow.replace_payer(era_availability="RequiresEnrollment")
    assert await not_asked() == ""
    flow.replace_payer(era_availability="RequiresEnrollment", inquiry_enrollments=("claim_status",))
    why = [await not_asked()]
    [number] = await flow.submit(**BILLING)
    assert await era(number) is None
    [account] = accounts(await flow.send())
    seen = [await era(number)]
    id = await enrolled(flow)
    seen.append(await era(number))
    why.append(await not_asked())
    for event, live_from in (
        (EnrollmentEvent.REFUSE, None),
        (EnrollmentEvent.APPROVE, START.date() + 9 * DAY),
        (EnrollmentEvent.APPROVE, START.date()),
        (EnrollmentEvent.END, None),
    ):
        for transaction in (EnrolledTransaction.ERA, EnrolledTransaction.CLAIM_STATUS):
            await move(flow, id, event, transaction, live_from)
        seen.append(await era(number))
        why.append(await not_asked())
    assert [one.state.value for one in seen] == [
        "not_enrolled", "pending", "refused", "later", "expected", "ended",
    ]  # fmt: skip
    assert seen[3].sentence.startswith(
        f"The billing provider's enrollment for ERAs (835) counts from {START.date() + 9 * DAY} on"
    )
    words = (
        "is not enrolled",
        "has been pending since",
        "it refused",
        "counts from",
        "",
        "it ended",
    )
    assert all(word in one for word, one in zip(words, why, strict=True)), why
    assert why[4] == ""
    assert set(seen[0].as_json()) == {"state", "reason"}
    for availability, expected in (("NotAvailable", EraState.NOT_AVAILABLE), ("Available", EraState.EXPECTED)):  # fmt: skip
        flow.replace_payer(era_availability=availability)
        assert (await era(number)).state is expected
    await flow.arrive(payment(paid(account)))
    assert (await era(number)).state is EraState.RECEIVED
