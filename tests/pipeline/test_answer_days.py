"""A payer's own number of days counts for lists, counts, events and sending again; all others have the installation's.

Also tests `store/claims/payer_filter`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from clearlane.claims.claim_filters import OPEN_LABELS
from clearlane.payers.routes import Route, RouteKind, RouteSecrets
from clearlane.pipeline.notify.silent_claims import tell_of_silent_claims
from clearlane.pipeline.query.claim_filters import usual_days_of
from clearlane.pipeline.query.claim_list import load_claim_rows
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.pipeline.route_connections import payer_route
from clearlane.store.claims import silent_claims
from clearlane.store.claims.claim_query import ClaimListKey, by_label, list_claims
from clearlane.store.delivery.routes import RouteWithSecrets
from tests.pipeline.flowing import ACTOR, OTHER_PAYER, PAYER, Flow

QUICK_DAYS, SLOW_DAYS = 10, 45


@pytest.fixture
async def flow(place, database, clock):
    flow = await Flow.open(place, database, clock)
    flow.connections.answer_days = {OTHER_PAYER: QUICK_DAYS}
    return flow


async def sent(flow, count=1):
    """Claims of both payers that went out, by payer."""
    found = {payer: await flow.submit(count, payer=payer) for payer in (PAYER, OTHER_PAYER)}
    await flow.send()
    return found


async def seen(flow):
    """Return the payers whose claims are unanswered: by the rows, the counts and the lists."""
    site, context = flow.site, flow.context
    ids = list(await flow.statuses())
    rows = await load_claim_rows(context, site, ids, actor=ACTOR, action="console.claims")
    late = sorted(row.number for row in rows if row.no_answer)
    summary = await refresh_summary(context, site)
    assert summary.no_answer.count == len(late)
    keys = []
    async with flow.database.read(site.scope) as tx:
        for group in usual_days_of(context).groups:
            before = int(group.cutoff(flow.clock.now()).timestamp() * 1_000_000)
            late_ones = {"updated_at_before": before, **group.payers.given()}
            keys += await list_claims(
                tx, by_label(OPEN_LABELS, limit=100, **late_ones), ClaimListKey
            )
    assert sorted(key.claim_number for key in keys) == late
    return {row.payer_id for row in rows if row.no_answer}


async def test_each_payer_is_late_by_its_own_number_of_days(flow, clock):
    await sent(flow)
    added = []
    for days, late in ((QUICK_DAYS - 1, set()), (2, {OTHER_PAYER}), (20, {PAYER, OTHER_PAYER})):
        clock.advance(timedelta(days=days))
        assert await seen(flow) == late
        added.append(await tell_of_silent_claims(flow.context, clock.now()))
        assert await tell_of_silent_claims(flow.context, clock.now()) == 0
    assert added == [0, 1, 1]


async def test_a_slow_payer_is_waited_for(flow, clock):
    flow.connections.answer_days = {OTHER_PAYER: SLOW_DAYS}
    await sent(flow)
    for days, late, added in ((31, {PAYER}, 1), (15, {PAYER, OTHER_PAYER}, 1)):
        clock.advance(timedelta(days=days))
        assert await seen(flow) == late
        assert await tell_of_silent_claims(flow.context, clock.now()) == added


async def test_more_claims_than_a_page_of_payers_with_different_days_each_have_one_event(
    flow, clock, monkeypatch
):
    monkeypatch.setattr(silent_claims, "SILENT_CLAIMS_AT_ONCE", 2)
    for _ in range(3):
        await sent(flow, 3)
        clock.advance(timedelta(hours=1))
    clock.advance(timedelta(days=QUICK_DAYS))
    assert await tell_of_silent_claims(flow.context, clock.now()) == 9
    clock.advance(timedelta(days=30))
    assert await tell_of_silent_claims(flow.context, clock.now()) == 9
    assert await tell_of_silent_claims(flow.context, clock.now()) == 0


CHANGES = {
    "a payer gets a smaller number": [(None, 20, 0), (QUICK_DAYS, 0, 1), (QUICK_DAYS, 30, 1)],
    "a payer gets a greater number": [(None, 31, 2), (SLOW_DAYS, 0, 0), (SLOW_DAYS, 30, 0)],
    "a greater number before the others' is over": [(SLOW_DAYS, 20, 0), (SLOW_DAYS, 15, 1), (SLOW_DAYS, 15, 1)],
    "a number is taken away": [(QUICK_DAYS, 11, 1), (None, 0, 0), (None, 20, 1)],
}  # fmt: skip


@pytest.mark.parametrize("steps", CHANGES.values(), ids=CHANGES)
async def test_a_claim_has_one_event_when_a_payers_number_changes(flow, clock, steps):
    clock.advance(timedelta(days=60))
    await sent(flow)
    for own, days, added in steps:
        flow.connections.answer_days = {} if own is None else {OTHER_PAYER: own}
        clock.advance(timedelta(days=days))
        assert await tell_of_silent_claims(flow.context, clock.now()) == added
        assert await tell_of_silent_claims(flow.context, clock.now()) == 0


async def test_a_claim_may_be_sent_again_when_its_payer_is_late(flow, clock):
    ids = {payer: f"AGAIN-{payer}" for payer in (PAYER, OTHER_PAYER)}
    first = {p: await flow.submit(payer=p, Svc_VendorClaimId=id) for p, id in ids.items()}
    await flow.send()
    clock.advance(timedelta(days=QUICK_DAYS + 1))
    again = {p: await flow.submit(payer=p, Svc_VendorClaimId=id) for p, id in ids.items()}
    # The claim of the payer that is not late yet is the same; that of the other is a new one.
    assert {payer: first[payer] == again[payer] for payer in ids} == {
        PAYER: True,
        OTHER_PAYER: False,
    }


@pytest.mark.parametrize(("options", "days"), [({}, 0), ({"answer_days": 14}, 14)])
def test_a_route_has_the_days_that_the_operator_gave(options, days):
    route = Route(
        payer_id=PAYER, type="Medical", kind=RouteKind.FOLDER,
        options={"sender_id": "US", "receiver_id": "MEADOW", "outbox": "/o", "inbox": "/i", **options},
    )  # fmt: skip
    assert payer_route(RouteWithSecrets(route, RouteSecrets())).answer_days == days


def test_a_payer_is_found_by_its_route_whatever_the_case(flow):
    flow.connections.mailboxes["Medical", OTHER_PAYER.lower()] = None
    flow.connections.answer_days = {OTHER_PAYER.lower(): QUICK_DAYS}
    usual = usual_days_of(flow.context)
    assert usual.of("medical", OTHER_PAYER) == QUICK_DAYS
    assert usual.of("medical", PAYER) == flow.context.limits.claim_silence_days
    assert (usual.has_own("medical", OTHER_PAYER), usual.has_own("dental", OTHER_PAYER)) == (
        True,
        False,
    )
    limits = replace(flow.context.limits, claim_silence_days=5)
    assert usual_days_of(replace(flow.context, limits=limits)).default == 5
