"""What claims await, and by when: written with their status, listed, and acted on when it is due.

A payer's own number of days counts for that and for sending again; all others have the installation's.

Also tests `store/claims/due_claims`, `pipeline/awaited_thing` and `pipeline/follow_up/overdue_claims`.
"""

from datetime import timedelta

import pytest

from clearlane.claims.awaiting import Awaited
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.payers.routes import Route, RouteKind, RouteSecrets
from clearlane.pipeline.follow_up import overdue_claims
from clearlane.pipeline.follow_up.overdue_claims import act_on_overdue
from clearlane.pipeline.intake.hold_claims import CANCEL, change_unsent_claim
from clearlane.pipeline.query.claim_filters import ClaimListRequest
from clearlane.pipeline.query.claim_list import find_claims, load_claim_rows
from clearlane.pipeline.query.claim_summary import refresh_summary
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.pipeline.query.totals.claim_totals import LabelTotals
from clearlane.pipeline.route_connections import payer_route
from clearlane.store.claims import due_claims
from clearlane.store.claims.claim_query import ClaimListRow
from clearlane.store.delivery.routes import RouteWithSecrets
from tests.claims.answers import nine, paid, payment
from tests.pipeline.flowing import ACTOR, OTHER_PAYER, PAYER, Flow, accounts, controls

pytestmark = pytest.mark.one_database

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


async def listed(flow, **given):
    request = ClaimListRequest(given=given, limit=100)
    found = await find_claims(flow.context, [flow.site.scope], request, ClaimListRow)
    return await rows_of(flow, [key.claim_number for _, key in found])


async def rows_of(flow, numbers):
    return await load_claim_rows(
        flow.context, flow.site, numbers, actor=ACTOR, action="console.claims"
    )


async def late(flow):
    """Return the payers whose claims nobody answered: by the labels of rows, the counts and the lists."""
    rows = await rows_of(flow, list(await flow.statuses()))
    found = {row.payer_id for row in rows if row.no_answer}
    numbers = sorted(row.number for row in rows if row.no_answer)
    assert sorted(row.number for row in await listed(flow, label="no_answer")) == numbers
    summary = await refresh_summary(flow.context, flow.site)
    assert summary.tabs["needs_you"].get("no_answer", LabelTotals()).count == len(numbers)
    return found


@pytest.mark.both_databases
async def test_each_payer_is_late_by_its_own_number_of_days_and_then_a_persons_matter(flow, clock):
    numbers = await sent(flow)
    [waiting] = {row.awaiting for row in await listed(flow, payer=OTHER_PAYER)}
    assert (waiting.what, waiting.since) == (Awaited.ACK_999, clock.now())
    days = waiting.by - waiting.since
    assert timedelta(days=QUICK_DAYS) <= days <= timedelta(days=QUICK_DAYS + 3)
    both = {PAYER, OTHER_PAYER}
    taken = []
    # Days that pass, whose answer is overdue then, and whose claim a person has.
    for passed, payers, given in (
        (QUICK_DAYS - 1, set(), set()),
        (4, {OTHER_PAYER}, set()),
        (5, {OTHER_PAYER}, {OTHER_PAYER}),
        (20, both, {OTHER_PAYER}),
        (5, both, both),
    ):
        clock.advance(timedelta(days=passed))
        assert {row.payer_id for row in await listed(flow, overdue=True)} == payers
        assert {row.payer_id for row in await listed(flow, overdue=False)} == both - payers
        taken.append(await act_on_overdue(flow.context, clock.now()))
        assert await act_on_overdue(flow.context, clock.now()) == 0
        assert await late(flow) == given
    assert taken == [0, 1, 1, 1, 1]
    assert await listed(flow, awaiting="decision", overdue=True) == []
    assert len(await listed(flow, awaiting="999", overdue=True)) == 2
    history = await load_history_in_scope(
        flow.database, flow.vault, flow.site.scope, numbers[PAYER][0], actor=ACTOR
    )
    assert [entry.headline for entry in history.entries][-2:] == [
        "No 999 in time: the payer's mailbox is looked through again",
        "Still no 999: a person looks at it",
    ]


async def test_an_answer_ends_the_steps(flow, clock):
    _, content = await flow.sent()
    clock.advance(timedelta(days=34))
    assert await act_on_overdue(flow.context, clock.now()) == 1
    await flow.arrive(nine(controls(content), ("AK2*837*0001*005010X222A1", "IK5*A")))
    clock.advance(timedelta(days=10))
    assert await act_on_overdue(flow.context, clock.now()) == 0
    assert {row.awaiting.what for row in await listed(flow)} == {Awaited.ACK_277CA}
    assert await late(flow) == set()


@pytest.mark.both_databases
async def test_no_step_is_taken_about_a_claim_that_is_answered_while_it_is_looked_for(
    flow, clock, monkeypatch
):
    """On PostgreSQL an answer is posted beside the search: it must not be overwritten."""
    [number], content = await flow.sent()
    clock.advance(timedelta(days=34))
    now = to_micros(clock.now())
    found = await flow.database.write(
        due_claims.SCOPE, lambda tx: due_claims.find_due(tx, flow.site.vendor_id, now), actor=ACTOR
    )
    assert len(found.claims) == 1
    await flow.arrive(nine(controls(content), ("AK2*837*0001*005010X222A1", "IK5*A")))

    async def find_due(tx, vendor_id, now):
        return found

    monkeypatch.setattr(due_claims, "find_due", find_due)
    await act_on_overdue(flow.context, clock.now())
    history = await load_history_in_scope(
        flow.database, flow.vault, flow.site.scope, number, actor=ACTOR
    )
    assert not any("in time" in entry.headline for entry in history.entries)
    assert await late(flow) == set()


@pytest.mark.both_databases
async def test_more_claims_than_a_page_each_take_each_step_once(flow, clock, monkeypatch):
    monkeypatch.setattr(due_claims, "DUE_CLAIMS_AT_ONCE", 2)
    monkeypatch.setattr(overdue_claims, "STEPS_AT_ONCE", 2)
    for _ in range(3):
        await sent(flow, 3)
        clock.advance(timedelta(hours=1))
    clock.advance(timedelta(days=QUICK_DAYS + 3))
    assert await act_on_overdue(flow.context, clock.now()) == 9
    clock.advance(timedelta(days=5))
    assert await act_on_overdue(flow.context, clock.now()) == 9
    clock.advance(timedelta(days=25))
    assert await act_on_overdue(flow.context, clock.now()) == 9
    assert await act_on_overdue(flow.context, clock.now()) == 0


async def test_a_changed_number_moves_no_claim_before_its_next_fact(flow, clock):
    await sent(flow)
    before = {row.number: row.awaiting.by for row in await listed(flow)}
    flow.connections.answer_days = {OTHER_PAYER: SLOW_DAYS, PAYER: 1}
    clock.advance(timedelta(days=QUICK_DAYS + 4))
    assert await act_on_overdue(flow.context, clock.now()) == 1
    assert {row.number: row.awaiting.by for row in await listed(flow)} == before


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


async def test_a_claim_that_is_reinstated_or_taken_back_is_not_passed_over(flow, clock):
    [first] = await flow.submit(payer=OTHER_PAYER, Svc_VendorClaimId="BACK")
    await flow.send(OTHER_PAYER)
    [other], content = await flow.sent()
    [account] = accounts(content)
    for control, claim in enumerate(
        (
            paid(account, "1", "100", "80", "CAS*CO*45*20"),
            paid(account, "22", "-100", "-80", "CAS*CO*45*-20"),
        )
    ):
        remit = payment(claim, amount="80" if control == 0 else "-80", control=control + 1)
        assert await flow.arrive(remit, name=f"r{control}") == ["applied"]
    clock.advance(timedelta(days=QUICK_DAYS + 1))
    [second] = await flow.submit(payer=OTHER_PAYER, Svc_VendorClaimId="BACK")
    assert second != first
    clock.advance(timedelta(days=4))
    assert await act_on_overdue(flow.context, clock.now()) == 0
    await change_unsent_claim(flow.context, flow.site, second, CANCEL, actor=ACTOR, now=clock.now())
    clock.advance(timedelta(hours=2))
    assert await act_on_overdue(flow.context, clock.now()) == 1
    clock.advance(timedelta(days=60))
    # Its next step, and the first about the claim whose payment was taken back.
    assert await act_on_overdue(flow.context, clock.now()) == 2
    clock.advance(timedelta(days=7))
    assert await act_on_overdue(flow.context, clock.now()) == 1
    assert {row.number for row in await listed(flow, label="no_answer")} == {first, other}


@pytest.mark.parametrize(("options", "days"), [({}, 0), ({"answer_days": 14}, 14)])
def test_a_route_has_the_days_that_the_operator_gave(options, days):
    route = Route(
        payer_id=PAYER, type="Medical", kind=RouteKind.FOLDER,
        options={"sender_id": "US", "receiver_id": "MEADOW", "outbox": "/o", "inbox": "/i", **options},
    )  # fmt: skip
    assert payer_route(RouteWithSecrets(route, RouteSecrets())).answer_days == days


def test_only_what_payers_and_we_owe_has_a_day(flow, clock):
    due = flow.context.answer_days.due
    now = clock.now()
    found = {one for one in Awaited if due(one, "medical", PAYER, now) is None}
    # The days of secondary claims and crossovers are set with their drafts.
    drafted = {Awaited.SECONDARY, Awaited.CROSSOVER}
    asked = {Awaited.RELEASE, Awaited.ENROLLMENT, Awaited.RECORDS, Awaited.CORRECTION}
    assert found == asked | drafted
    assert due(None, "medical", PAYER, now) is None
    assert from_micros(due(Awaited.DECISION, "medical", PAYER, now)).weekday() < 5
    assert due(Awaited.SENDING, "medical", PAYER, now) > to_micros(now)
    # A notice is to be accepted by its own day; if that is over, it is overdue at once.
    for days, by in ((3, 4), (-9, 0)):
        day = now.date() + timedelta(days=days)
        found = from_micros(due(Awaited.ACK_277CA, "institutional", PAYER, now, notice_due=day))
        assert (found.date() - now.date()).days == by
