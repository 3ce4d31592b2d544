"""A payer's own delays decide by when its answers are due, once enough claims are known.

Also tests `store/claims/answer_delays` and `store/database/schema/follow_up`.
"""

from datetime import date, timedelta

import pytest

from clearlane.claims.answer_times import STRETCH
from clearlane.kernel.business_days import business_days_between
from clearlane.kernel.clock import EPOCH
from clearlane.pipeline.follow_up import measure_answers as measuring
from clearlane.pipeline.follow_up.measure_answers import measure_answers
from clearlane.pipeline.query.claim_list import load_claim_rows
from clearlane.store.claims import answer_delays
from clearlane.store.claims.answer_delays import DelayCount, WaitingCount
from tests.claims.answers import nine, paid, payment
from tests.pipeline.flowing import ACTOR, OTHER_PAYER, PAYER, Flow, accounts, controls

ACCEPTED = ("AK2*837*0001*005010X222A1", "IK5*A")
KNOWN = 50


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def awaited(flow, number):
    [row] = await load_claim_rows(
        flow.context, flow.site, [number], actor=ACTOR, action="console.claim"
    )
    return row.awaiting


async def figures(flow, payer=PAYER):
    async with flow.database.read(answer_delays.SCOPE) as tx:
        return await answer_delays.load_figures(tx, [payer])


async def test_a_quick_payer_is_overdue_soon_and_a_changed_figure_moves_no_claim(
    flow, clock, monkeypatch
):
    monkeypatch.setattr(measuring, "FACTS_AT_ONCE", 20)
    _, content = await flow.sent(KNOWN)
    clock.advance(timedelta(days=1))
    await flow.arrive(nine(controls(content), ACCEPTED))
    [before], _ = await flow.sent()
    by_directory = await awaited(flow, before)
    assert await measure_answers(flow.context, clock.now()) == 1
    # What was counted once is not counted again.
    assert await measure_answers(flow.context, clock.now()) == 1
    assert list((await figures(flow)).keys()) == [("medical", PAYER, "999")]
    [after], _ = await flow.sent()
    [other], _ = await flow.sent(payer=OTHER_PAYER)
    found = await awaited(flow, after)
    assert business_days_between(found.since.date(), found.by.date()) == 1
    assert await awaited(flow, before) == by_directory
    assert (await awaited(flow, other)).by == by_directory.by
    assert found.by < by_directory.by


@pytest.mark.one_database
def test_waits_count_by_when_they_began():
    counts = [DelayCount("medical", PAYER, "decision", "2026-06", 5, KNOWN, 0)]
    today = date(2026, 8, 31)

    def figure(day):
        waiting = [WaitingCount("medical", PAYER, "decision", (day - EPOCH.date()).days, 2 * KNOWN)]
        return [one.days for one in measuring.estimate_figures(counts, waiting, today)]

    # Of those that still wait, only what began as late as what is counted: nothing is known of the answers before.
    assert figure(date(2026, 5, 29)) == [round(STRETCH * 5)]
    assert figure(date(2026, 6, 1)) == [None]


async def test_an_answer_that_a_payer_never_gives_is_not_awaited(flow, clock):
    _, content = await flow.sent(KNOWN)
    clock.advance(timedelta(days=28))
    some = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in accounts(content)]
    await flow.arrive(payment(*some, amount=str(80 * KNOWN)))
    await measure_answers(flow.context, clock.now())
    assert {key[2]: days is None for key, days in (await figures(flow)).items()} == {
        "999": True, "277CA": True, "decision": False,
    }  # fmt: skip
    [number], _ = await flow.sent()
    found = await awaited(flow, number)
    assert (found.what, business_days_between(found.since.date(), found.by.date())) == (
        "decision",
        (await figures(flow))["medical", PAYER, "decision"],
    )
