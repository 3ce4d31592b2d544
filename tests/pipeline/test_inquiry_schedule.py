"""The scheduled work of inquiries: what is due is sent, and old requests are purged a few at a time."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from clearlane.kernel.clock import to_micros
from clearlane.pipeline.inquiry import inquiry_schedule
from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner
from clearlane.store import inquiries
from clearlane.store.audit import audit
from clearlane.store.database.database import Actor
from clearlane.store.database.schema import inquiries as inquiry_rows
from clearlane.store.database.schema import inquiry_requests
from clearlane.store.database.sql import Statement
from clearlane.store.inquiries import BY_FILE, NewInquiry, StoredRequest
from clearlane.store.vault.vault import Vault
from tests.contexts import NoConnections, work_context
from tests.databases import make_site

VENDOR = Actor("vendor", "LARK")
REQUESTS = Statement(select(inquiry_requests.c.id).order_by(inquiry_requests.c.id), system=True)
INQUIRIES = Statement(select(inquiry_rows.c.inquiry_request_id).distinct(), system=True)
KEPT_DAYS = 30


@pytest.fixture
async def context(new_place, clock):
    place = await new_place("sqlite")
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    yield work_context(database, vault, clock, eligibility_days=KEPT_DAYS)
    await database.close()


async def add_requests(context, *ages_days):
    """Requests of this age, with ids from 1; each has one inquiry."""
    scope = await make_site(context.database)
    now = context.clock.now()

    async def job(tx):
        for id, age in enumerate(ages_days, 1):
            made = to_micros(now - timedelta(days=age))
            inquiry = NewInquiry(1, "MDW10", "Medical", BY_FILE, made, None, b"sealed")
            await inquiries.add(tx, StoredRequest(id, "270", id, made, 1, None), [inquiry])

    await context.database.write(scope, job, actor=VENDOR)


async def left(context):
    async with context.database.read(inquiries.SCOPE) as tx:
        requests = [id for (id,) in await tx.rows(REQUESTS)]
        assert {id for (id,) in await tx.rows(INQUIRIES)} == set(requests)
    return requests


async def counts(context):
    """How many requests each audited purge deleted."""
    rows = [row async for row in audit.read_between(context.database, 0, 1 << 62)]
    return [row["count"] for row in rows if row["action"] == "eligibility.forgotten"]


@pytest.mark.parametrize(
    ("ages", "kept", "audited"),
    [
        ([], [], []),
        ([0, 1, 29, 30], [1, 2, 3, 4], []),  # thirty days old is not older than thirty days
        ([31, 0], [2], [1]),
        ([31, 40], [], [2]),
        ([31, 0, 400, 35, 33, 34], [2], [2, 2, 1]),  # two at a time, the last time fewer
    ],
)
async def test_old_requests_are_purged_a_few_at_a_time(context, monkeypatch, ages, kept, audited):
    monkeypatch.setattr(inquiry_schedule, "INQUIRY_PURGED_AT_ONCE", 2)
    await add_requests(context, *ages)
    assert await inquiry_schedule.purge_old_requests(context, context.clock.now()) == sum(audited)
    assert await left(context) == kept
    assert await counts(context) == audited
    assert await inquiry_schedule.purge_old_requests(context, context.clock.now()) == 0


async def test_the_purge_runs_on_the_clock_of_claims(context):
    await add_requests(context, 0)
    await inquiry_schedule.purge_tick(context, None)
    assert await left(context) == [1]
    context.clock.advance(timedelta(days=KEPT_DAYS, seconds=1))
    await inquiry_schedule.purge_tick(context, None)
    assert await left(context) == []


async def test_a_process_without_a_runner_sends_nothing_and_waits_for_nothing(context):
    await add_requests(context, 1)
    await inquiry_schedule.inquiry_tick(context, None)
    assert not await inquiry_schedule.has_due_inquiries(context, context.clock.now())


async def test_inquiries_to_a_payer_that_cannot_be_reached_wait_and_are_not_due(context):
    runner = InquiryRunner(
        context.database, context.vault, context.clock, NoConnections, node="test"
    )
    node = work_context(
        context.database, context.vault, context.clock,
        inquiry_runner=runner,
    )  # fmt: skip
    assert not await inquiry_schedule.has_due_inquiries(node, node.clock.now())
    await add_requests(context, 1)
    # Nobody can be asked: nothing that waiting or advancing a clock would bring about.
    assert not await inquiry_schedule.has_due_inquiries(node, node.clock.now())
    await inquiry_schedule.inquiry_tick(node, None)
    await runner.stop()
    assert await left(node) == [1]
