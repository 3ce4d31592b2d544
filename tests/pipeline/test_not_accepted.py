"""Claims that Clearlane did not accept, on both databases: listed until another takes their place, kept for some time.

Also tests `store/claims/not_accepted_claims`, `pipeline/intake/purge_not_accepted` and
`claims/responses/explain_findings`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from clearlane.pipeline import schedule
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.operator import claim_work
from clearlane.pipeline.query.claim_list import load_claim_rows
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.store.claims.claim_query import ClaimListKey, by_label, list_claims
from clearlane.store.database.schema import audit, claim_notes, claims
from clearlane.store.database.sql import Statement
from tests.databases import START
from tests.pipeline.flowing import ACTOR, EVERYONE, OTHER_PAYER, Flow, accounts

LABEL = "not_accepted"
WRONG = {"F28_TotalCharge": "1.00"}
NOTES = Statement(select(func.count()).select_from(claim_notes), system=True)
NUMBERS = Statement(select(claims.c.claim_number), system=True)
AUDITED = Statement(select(audit.c.action, audit.c.ids))

pytestmark = pytest.mark.safe_default(16)


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def listed(flow, label=LABEL):
    """The claims that the lists of a label show, the latest first."""
    async with flow.database.read(flow.site.scope) as tx:
        return await list_claims(tx, by_label([label], limit=100), ClaimListKey)


async def numbers(flow, label=LABEL):
    return [key.claim_number for key in await listed(flow, label)]


async def rows(flow, *wanted):
    return await load_claim_rows(flow.context, flow.site, wanted, actor=ACTOR, action="a test")


async def stored_numbers(flow):
    async with flow.database.read(EVERYONE) as tx:
        return {number for (number,) in await tx.rows(NUMBERS)}


async def test_it_is_listed_with_charge_day_and_the_rule_that_it_breaks(flow):
    npi = {"F33A_BillingProviderNpi": "1234567890"}
    one, two, absurd, good = await flow.post(
        each=[
            npi | {"F28_TotalCharge": "100.00"},
            npi | {"Svc_PayerId": OTHER_PAYER},
            {"F28_TotalCharge": "9" * 20, "Svc_VendorClaimId": "ABSURD"},
            {},
        ]
    )
    assert [each.accepted for each in (one, two, absurd, good)] == [False, False, False, True]
    assert set(await numbers(flow)) == {one.claim_number, two.claim_number, absurd.claim_number}
    first, second, third = await rows(flow, one.claim_number, two.claim_number, absurd.claim_number)
    assert (first.charge, third.charge) == (100_00, 0)
    assert first.service_day == START.date() - timedelta(days=30)
    assert (first.patient, first.vendor_claim_id) == (second.patient, "V1-0")
    # What both have in common is the rule's sentence and the box; each row has its own words.
    assert first.reason.cause == second.reason.cause
    assert first.reason.text == second.reason.text
    assert first.reason.text.endswith("(box 33a)")
    assert "1234567890" not in first.reason.text
    assert first.reason.explanation.fields[0].path == "F33A_BillingProviderNpi"
    summary = await refresh_summary(flow.context, flow.site)
    totals = summary.labels[LABEL]
    keys = await listed(flow)
    assert (totals.count, totals.charge) == (3, sum(key.total_cents for key in keys))
    # The figures of the month are those of the list of all claims. It was never sent, so V3's list leaves it out.
    assert sum(sum(day.counts.values()) for day in summary.days) == 4
    received = await listed(flow, "received")
    assert sum(day.charge for day in summary.days) == sum(k.total_cents for k in [*keys, *received])
    assert (summary.month.received, summary.month.answered) == (4, 0)
    assert set(await flow.statuses()) == {good.claim_number}


async def test_the_latest_under_an_id_is_listed_until_a_claim_is_accepted(flow):
    own = {"Svc_VendorClaimId": "MINE"}
    other_site = await flow.new_site()
    [elsewhere] = await flow.post(site=other_site, **own, **WRONG)
    [first] = await flow.post(**own, **WRONG)
    [second] = await flow.post(**own, F28_TotalCharge="2.00")
    assert await numbers(flow) == [second.claim_number]
    # In one document the second counts as sent later.
    before, good, after = await flow.post(
        each=[own | WRONG, own, own | {"F28_TotalCharge": "3.00"}]
    )
    assert (before.accepted, good.accepted, after.accepted) == (False, True, False)
    assert await numbers(flow) == [after.claim_number]
    [again] = await flow.post(**own)
    assert again.claim_number == good.claim_number
    assert await numbers(flow) == []
    assert await numbers(flow, "received") == [good.claim_number]
    [changed] = await flow.post(**own, F07_InsuredAddress1="17 Larkspur Lane")
    assert not changed.accepted
    assert await numbers(flow) == [changed.claim_number]
    [row] = await rows(flow, changed.claim_number)
    assert good.claim_number in row.reason.of_claim
    replaced = [one.is_replaced for one in await rows(flow, first.claim_number, after.claim_number)]
    assert replaced == [True, True]
    async with flow.database.read(other_site.scope) as tx:
        [key] = await list_claims(tx, by_label([LABEL], limit=10), ClaimListKey)
    assert key.claim_number == elsewhere.claim_number


async def test_a_correction_is_accepted_in_its_place_as_its_vendor_stated_it(flow):
    replacement = {"F22_MedicaidResubmissionCode": "7", "F22_OriginalReferenceNumber": "P1"}
    [bad] = await flow.post(F28_TotalCharge="1.00", Svc_PayerId="NOBODY", **replacement)
    fields = {"Svc_PayerId": "MM001"}

    async def correct(**more):
        return await submit_correction(
            flow.context, flow.site, bad.claim_number, fields | more, actor=ACTOR,
            now=flow.clock.now(),
        )  # fmt: skip

    refused = await correct()
    assert not refused.accepted
    assert [one.rule for one in refused.findings if one.severity == "error"] == ["C701"]
    assert await numbers(flow) == [bad.claim_number]
    done = await correct(F28_TotalCharge="100.00")
    assert (done.accepted, done.sent_as, done.payer_number) == (True, "replacement", "P1")
    assert await numbers(flow) == []
    assert await numbers(flow, "received") == [done.claim_number]
    content = await flow.send()
    assert len(accounts(content)) == 1
    assert b":7*" in content


async def test_it_is_kept_for_the_days_of_the_setting(flow):
    [old] = await flow.post(Svc_VendorClaimId="OLD", **WRONG)
    [accepted] = await flow.submit(Svc_VendorClaimId="GOOD")
    await claim_work.add_note(
        flow.context, flow.site, old.claim_number, "Asked the front desk.", actor=ACTOR
    )
    flow.clock.advance(timedelta(days=90, hours=1))
    [new] = await flow.post(Svc_VendorClaimId="NEW", F28_TotalCharge="3.00")

    async def forget():
        for one in schedule.SCHEDULES:
            if one.name.startswith("forget"):
                await one.verb(flow.context, None)

    await forget()
    assert await stored_numbers(flow) == {accepted, new.claim_number}
    async with flow.database.read(EVERYONE) as tx:
        assert await tx.rows(NOTES) == [(0,)]
        found = [ids for action, ids in await tx.rows(AUDITED) if action == "claims.forgotten"]
    assert len(found) == 1
    assert old.claim_number in str(found)
    limits = replace(flow.context.limits, not_accepted_days=5)
    flow.context = replace(flow.context, limits=limits)
    flow.clock.advance(timedelta(days=6))
    await forget()
    assert await stored_numbers(flow) == {accepted}


def test_the_days_are_a_setting():
    from clearlane.settings import load

    assert load(environ={}).not_accepted_days == 90
    assert load(environ={"CLEARLANE_NOT_ACCEPTED_DAYS": "30"}).not_accepted_days == 30
