"""Until when claims are to be with their payers: by payer, contract and kind; unknown is unknown; alarms come once.

Also tests `payers/filing_limits`, `pipeline/filing_limit`, `pipeline/follow_up/watch_filing_limits` and
`store/filing_alarms`.
"""

from datetime import date, timedelta

import pytest

from clearlane.claims.header import ClaimHeader
from clearlane.claims.lifecycle import ClaimState, LifecycleStatus
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payers.filing_limits import FilingKind, FilingLimit, filing_limit, longest_days
from clearlane.payers.model import MEDICARE, Payer
from clearlane.pipeline.filing_limit import filing_of
from clearlane.pipeline.follow_up.watch_filing_limits import due_stages, watch_filing_limits
from clearlane.pipeline.query.claim_filters import ClaimListRequest
from clearlane.pipeline.query.claim_list import claim_object, find_claims, load_claim_rows
from clearlane.pipeline.query.history.load_history import load_claim_history
from clearlane.store import filing_alarms
from clearlane.store.claims.claim_query import ClaimListRow
from clearlane.store.events.events import list_all
from clearlane.store.filing_alarms import AgreedLimit
from tests.claims.answers import paid, patient, payment, status
from tests.databases import START
from tests.pipeline.flowing import ACTOR, EVERYONE, OTHER_PAYER, PAYER, Flow, accounts

SERVED, DECIDED = date(2026, 3, 2), date(2026, 4, 1)
DAY = timedelta(days=1)


def a_payer(**own):
    return Payer("Medical", "Meadow", "MM001", "MM001", **own)


@pytest.mark.parametrize(
    ("payer", "kind", "contract", "day"),
    [
        (a_payer(filing_days=90), FilingKind.ORIGINAL, {}, SERVED + 90 * DAY),
        (a_payer(filing_days=90), FilingKind.CORRECTED, {}, None),
        (a_payer(corrected_filing_days=180), FilingKind.CORRECTED, {}, SERVED + 180 * DAY),
        (a_payer(secondary_filing_days=60), FilingKind.SECONDARY, {}, DECIDED + 60 * DAY),
        (a_payer(appeal_filing_days=45), FilingKind.APPEAL, {}, DECIDED + 45 * DAY),
        (a_payer(), FilingKind.ORIGINAL, {}, None),
        (a_payer(), FilingKind.ORIGINAL, {("Medical", "mm001", "original"): 20}, SERVED + 20 * DAY),
        (a_payer(filing_days=90), FilingKind.ORIGINAL, {("Medical", "mm001", "original"): 20}, SERVED + 20 * DAY),
        (a_payer(program=MEDICARE), FilingKind.CORRECTED, {}, date(2027, 3, 2)),
        (a_payer(program=MEDICARE), FilingKind.APPEAL, {}, None),
    ],
)  # fmt: skip
def test_each_kind_has_its_limit_and_a_contract_comes_first(payer, kind, contract, day):
    found = filing_limit(payer, kind, contract, served=SERVED, decided=DECIDED)
    assert (found.kind, found.day, bool(found.words)) == (kind, day, day is not None)


def test_what_is_closed_has_no_limit_and_what_the_payer_has_is_filed():
    header = ClaimHeader(vendor_claim_id="A", days=((SERVED, SERVED + DAY),))
    payer = a_payer(filing_days=10, appeal_filing_days=30)
    assert filing_of(header, ClaimLabel.PAID, None, payer) is None
    sent = filing_of(header, ClaimLabel.SENT, None, payer)
    assert (sent.as_json(), sent.sentence()) == (
        {"kind": "original", "by": "2026-03-13", "met": False},
        "File by: 2026-03-13 (10 days after the last day of service)",
    )
    accepted = filing_of(header, ClaimLabel.ACCEPTED, None, payer)
    assert accepted.is_met
    # What a 277CA accepted is received for good, also if the payer answers no more.
    for state, is_met in ((ClaimState.SENT, False), (ClaimState.ACKNOWLEDGED, True)):
        silent = filing_of(header, ClaimLabel.NO_ANSWER, LifecycleStatus(state=state), payer)
        assert silent.is_met is is_met
    assert accepted.sentence().startswith("The payer has it; 2026-03-13")
    denied = filing_of(header, ClaimLabel.DENIED, LifecycleStatus(decided_day=DECIDED), payer)  # fmt: skip
    assert denied.limit == FilingLimit(FilingKind.APPEAL, DECIDED + 30 * DAY, denied.limit.words)
    notice = ClaimHeader(vendor_claim_id="A", days=header.days, bill_type="81", frequency="A")
    assert filing_of(notice, ClaimLabel.SENT, None, payer) is None
    # A reopening is sent after the limit: no other one is known.
    for frequency, by in (("1", "2026-03-13"), ("7", "2026-03-08"), ("Q", None)):
        again = ClaimHeader(vendor_claim_id="A", days=header.days, frequency=frequency)
        known = a_payer(filing_days=10, corrected_filing_days=5)
        assert filing_of(again, ClaimLabel.SENT, None, known).as_json()["by"] == by
    unknown = filing_of(header, ClaimLabel.REJECTED, None, None)
    assert (unknown.day, unknown.sentence()) == (None, "File by: unknown")
    assert [longest_days(one) for one in (a_payer(), payer, a_payer(program=MEDICARE))] == [0, 30, 366]  # fmt: skip


async def test_alarms_come_thirty_fourteen_and_three_days_before_each_once(place, database, clock):
    flow = await Flow.open(place, database, clock)
    # The claims' service is 30 days before START.
    flow.replace_payer(filing_days=62)
    numbers, content = await flow.sent(3)
    [_, denied, accepted] = accounts(content)

    async def near(stage="30"):
        request = ClaimListRequest(given={"filing_limit": stage}, limit=100)
        found = await find_claims(flow.context, [flow.site.scope], request, ClaimListRow)
        return sorted(key.claim_number for _, key in found)

    assert await watch_filing_limits(flow.context, clock.now()) == 0
    clock.advance(3 * DAY)
    assert await watch_filing_limits(flow.context, clock.now()) == 3
    assert await watch_filing_limits(flow.context, clock.now()) == 0
    assert (await near(), await near("14")) == (sorted(numbers), [])
    # The payer has one, denies one, whose appeals have no known limit, and is silent about the third.
    await flow.arrive(status(patient(accepted, "A2:20*20240307*WQ*100")))
    await flow.arrive(payment(paid(denied, "4", "100", "0", "CAS*CO*50*100"), amount="0"), name="d")
    clock.advance(16 * DAY)
    assert await watch_filing_limits(flow.context, clock.now()) == 1
    [left] = await near("14")
    assert await near() == [left]
    clock.advance(11 * DAY)
    assert await watch_filing_limits(flow.context, clock.now()) == 1
    clock.advance(4 * DAY)
    assert await watch_filing_limits(flow.context, clock.now()) == 0  # it is over
    async with database.read(EVERYONE) as tx:
        found = await list_all(tx, ("claim.filing_limit_near",), after=0, limit=10)
    announced = [one.data for one in found if one.claim_number == left]
    assert [(one["days_left"], one["file_by"]) for one in announced] == [
        (days, str(START.date() + 32 * DAY)) for days in (29, 13, 2)
    ]
    rows = await load_claim_rows(flow.context, flow.site, numbers, actor=ACTOR, action="console.claims")  # fmt: skip
    shown = [claim_object(row)["filing_limit"] for row in rows]
    assert sorted((one["kind"], one["by"], one["met"]) for one in shown if one["by"]) == [
        ("original", str(START.date() + 32 * DAY), met) for met in (False, True)
    ]
    assert {"kind": "appeal", "by": None, "met": False} in shown


@pytest.mark.parametrize(
    ("left", "began", "stages"),
    [
        (29, 60, [30]),
        (14, 60, [30, 14]),
        (0, 60, [30, 14, 3]),
        # Stages before the claim came, or before the decision that an appeal counts from, were never due.
        (2, 20, [14, 3]),
        (2, 2, [3]),
        (12, 12, [14]),
        (31, 60, []),
    ],
)
def test_stages_that_were_skipped_are_due_and_those_before_the_claim_are_not(left, began, stages):
    found = due_stages(SERVED, since=SERVED - began * DAY, today=SERVED - left * DAY)
    assert found == stages


async def test_after_a_long_pause_each_stage_is_announced_in_order_and_once(place, database, clock):
    flow = await Flow.open(place, database, clock)
    flow.replace_payer(filing_days=62)
    [number], _ = await flow.sent()
    clock.advance(30 * DAY)
    assert await watch_filing_limits(flow.context, clock.now()) == 3
    assert await watch_filing_limits(flow.context, clock.now()) == 0
    async with database.read(EVERYONE) as tx:
        found = await list_all(tx, ("claim.filing_limit_near",), after=0, limit=10)
    assert [(one.data["stage"], one.data["days_left"]) for one in found] == [(30, 2), (14, 2), (3, 2)]  # fmt: skip
    history = await load_claim_history(flow.database, flow.vault, number, actor=ACTOR)
    said = [one.headline for one in history.entries if "filing limit" in one.headline]
    assert [one.rpartition("(")[2] for one in said] == [f"alarm of {days} days before)" for days in (30, 14, 3)]  # fmt: skip


async def test_a_sites_contract_counts_for_its_claims_alone(place, database, clock):
    flow = await Flow.open(place, database, clock)
    other = await flow.new_site()
    [number] = await flow.submit()
    [second] = await flow.submit(site=other)
    [third] = await flow.submit(payer=OTHER_PAYER)

    async def agree(days):
        limit = AgreedLimit(flow.site.id, "Medical", PAYER.casefold(), "original", days)
        await database.write(
            flow.site.scope, lambda tx: filing_alarms.set_agreed(tx, limit), actor=ACTOR
        )
        rows = []
        for site, claim in ((flow.site, number), (other, second), (flow.site, third)):
            rows += await load_claim_rows(
                flow.context, site, [claim], actor=ACTOR, action="console.claims"
            )
        return [row.filing.day for row in rows]

    assert await agree(40) == [START.date() + 10 * DAY, None, None]
    assert await watch_filing_limits(flow.context, clock.now()) == 1
    assert await agree(0) == [None, None, None]
    assert await watch_filing_limits(flow.context, clock.now()) == 0
