"""Send a claim in spite of our own rules: by a person, with a reason, seen in its history; its fate is counted by rule.

Also tests `pipeline/intake/send_anyway`, `store/claims/rule_overrides` and `pipeline/query/installation/rule_activity`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from clearlane.claims.rule_settings import RuleSetting, RuleSettings
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.send_anyway import ACCEPTED_NOW, NOT_STOPPED, send_anyway
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.pipeline.query.history.load_history import load_claim_history
from clearlane.pipeline.query.installation.rule_activity import RuleActivity, load_rule_activity
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import audit, claims
from clearlane.store.database.sql import Statement
from tests.databases import START
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow

pytestmark = pytest.mark.one_database

# An accident after the last day of service is an error of ours (C855), not of the guide.
OURS = {
    "F10C_PatientCondOtherAccident": True,
    "F15_AccidentDate": str(START.date() - timedelta(days=1)),
}
GUIDES = {"F28_TotalCharge": "1.00"}
NORA = Actor("console_user", "nora")
AUDITED = Statement(select(audit.c.action, audit.c.detail))


def labeled(number, label):
    return Statement(
        update(claims).where(claims.c.claim_number == number).values(label=label), system=True
    )


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def anyway(flow, number, **more):
    return await send_anyway(
        flow.context,
        flow.site,
        number,
        reason="the payer wants it so",
        actor=NORA,
        now=START,
        **more,
    )


async def refused(flow, **own):
    [result] = await flow.post(**own)
    assert not result.accepted
    return result.claim_number


@pytest.mark.both_databases
async def test_it_takes_the_place_of_the_claim_with_its_reason_and_rules_on_record(flow):
    number = await refused(flow, **OURS)
    shown = await anyway(flow, number, dry_run=True)
    assert (shown.accepted, shown.claim_number, bool(shown.x12)) == (True, "", True)
    sent = await anyway(flow, number)
    assert sent.accepted
    assert {(one.rule, one.severity.value) for one in sent.findings} >= {("C855", "warning")}
    history = await load_claim_history(flow.database, flow.vault, sent.claim_number, actor=ACTOR)
    [entry] = [one for one in history.entries if one.headline.startswith("Sent anyway")]
    assert "nora" in entry.headline
    assert entry.sentences == ("C855: An accident is not after the last day of service.",)
    async with flow.database.read(EVERYONE) as tx:
        details = dict(await tx.rows(AUDITED))
    assert details["claim.send_anyway"].startswith("C855 by nora; the reason is note ")
    assert "payer wants" not in details["claim.send_anyway"]
    assert sent.claim_number in await flow.statuses()


async def test_a_rule_of_the_guide_and_a_claim_that_no_rule_stops_are_not_overruled(flow):
    for own, rule in ((GUIDES, "C701"), (GUIDES | OURS, "C701")):
        with pytest.raises(CorrectionConflict, match=f"{rule} stops it: The X12 guide"):
            await anyway(flow, await refused(flow, **own))
    number = await refused(flow, **OURS)
    setting = RuleSetting(rule="C855", severity="off")
    settings = RuleSettings([setting])
    flow.context = replace(flow.context, rule_settings=lambda: settings)
    with pytest.raises(CorrectionConflict, match=ACCEPTED_NOW):
        await anyway(flow, number)
    assert await anyway(flow, "C0000000000000") is None
    [accepted] = await flow.post(Svc_VendorClaimId="FINE")
    with pytest.raises(CorrectionConflict, match=NOT_STOPPED):
        await anyway(flow, accepted.claim_number)


async def test_another_site_has_no_such_claim(flow):
    number = await refused(flow, **OURS)
    other = await flow.new_site()
    found = await send_anyway(
        flow.context, other, number, reason="mine", actor=NORA, now=START, dry_run=True
    )
    assert found is None


async def test_a_setting_counts_for_claims_and_for_corrections_alike(flow):
    number = await refused(flow, **OURS)
    settings = RuleSettings(
        [RuleSetting(rule="C855", site=flow.site.vendor_site_id, severity="warning")]
    )
    flow.context = replace(flow.context, rule_settings=lambda: settings)
    [again] = await flow.post(**OURS, Svc_VendorClaimId="OTHER")
    assert again.accepted
    done = await submit_correction(
        flow.context, flow.site, number, {}, actor=ACTOR, now=START, unchanged=True, dry_run=True
    )
    assert done.accepted


@pytest.mark.both_databases
async def test_the_fate_of_such_claims_is_counted_by_rule(flow):
    sent = [
        (await anyway(flow, await refused(flow, Svc_VendorClaimId=f"A{at}", **OURS))).claim_number
        for at in range(4)
    ]
    await refused(flow, Svc_VendorClaimId="STOPPED", **OURS)

    async def answer(tx):
        for number, label in zip(sent, ("paid", "rejected", "denied"), strict=False):
            await tx.run(labeled(number, label))

    await flow.database.write(EVERYONE, answer, actor=ACTOR)
    await refresh_summary(flow.context, flow.site, with_causes=True)
    found = await load_rule_activity(flow.context, now=START)
    # Those that were sent anyway were stopped, too, in the last seven days.
    expected = RuleActivity(stopped=5, sent=4, paid=1, rejected=1, denied=1)
    assert found.of("C855") == expected
    assert found.of("C855").open == 1
    assert found.of("C701") == RuleActivity()
    assert found.counted_at is not None
    later = await load_rule_activity(flow.context, now=START + timedelta(days=8))
    assert later.of("C855") == replace(expected, stopped=1), (
        "what the lists of the site still count"
    )
