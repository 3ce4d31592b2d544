"""The summary of a site's day, on both databases: its figures are those of the lists, and each file is written once.

Also tests `pipeline/intake/files/site_day`.
"""

import asyncio
from dataclasses import replace
from datetime import datetime, time, timedelta
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from clearlane.kernel.clock import to_local
from clearlane.pipeline.intake.files import daily_summary, process_file, release_claims
from clearlane.pipeline.intake.files.daily_summary import write_due_summaries
from clearlane.pipeline.intake.files.site_day import count_site_day
from clearlane.store.claims.claim_query import ClaimListRow, ClaimQuery, list_claims
from clearlane.store.database.group_commit import DatabaseUnavailable
from clearlane.store.files import file_parts
from tests.claims.answers import paid, payment
from tests.pipeline.flowing import Flow
from tests.pipeline.test_process_file import Channel, a_claim, a_file, a_set
from tests.waiting_files import process_waiting

ZONE = "America/Chicago"


@pytest.fixture
async def channel(place, database, clock):
    """A site in Chicago at one in the morning of UTC: there it is the evening of the day before."""
    flow = await Flow.open(place, database, clock)
    late = flow.clock.now().replace(hour=1, minute=0)
    flow.clock.advance(late + timedelta(days=1) - flow.clock.now())
    flow.site = replace(await flow.new_site(ZONE), daily_summary_since=flow.clock.now())
    return Channel(flow)


async def summaries(channel):
    flow = channel.flow
    found = {}
    for one in await channel.listed(direction="out"):
        if one.name.startswith("summary-"):
            content = await file_parts.read_content(
                flow.database, flow.vault, flow.site.scope, one.file_id
            )
            found[one.type] = content.decode()
    return found


async def test_a_day_is_summed_up_as_the_lists_have_it_and_each_file_is_written_once(
    channel, monkeypatch
):
    flow = channel.flow
    day = to_local(flow.clock.now(), ZONE).date()
    assert day < flow.clock.now().date()
    bad = a_claim(3, diagnosis="ABK:NOSUCH1")
    await channel.process(a_file(a_set(a_claim(1), a_claim(2), bad)))
    shadow = a_file(a_set(a_claim(4)), isa="000000102")
    await channel.process(shadow, shadow=True)
    await flow.send()
    remit = payment(
        paid("A-1", "1", "150", "80.50", "CAS*CO*45*69.5", "DTM*232*20240211"), amount="80.50"
    )
    assert await flow.arrive(remit) == ["applied"]
    # What came before midnight in Chicago belongs to that day, and nothing after it.
    async with flow.database.read(flow.site.scope) as tx:
        figures = await count_site_day(tx, flow.site, day)
        empty = await count_site_day(tx, flow.site, day + timedelta(days=1))
    assert (figures.received, figures.accepted, figures.not_accepted) == (3, 2, 1)
    assert (figures.sent, figures.paid, figures.paid_cents) == (2, 1, 8050)
    where = {"created_day_from": day.isoformat(), "created_day_to": day.isoformat()}
    async with flow.database.read(flow.site.scope) as tx:
        accepted = await list_claims(tx, ClaimQuery(where=where, limit=9), ClaimListRow)
        where["state"] = "not_accepted"
        refused = await list_claims(tx, ClaimQuery(where=where, limit=9), ClaimListRow)
    assert (len(accepted), len(refused)) == (figures.accepted, figures.not_accepted)
    assert (empty.received, empty.sent, empty.paid, empty.paid_cents) == (0, 0, 0, 0)

    other = replace(flow.site, daily_summary_since=None)
    flow.clock.advance(timedelta(hours=12))
    off = replace(flow.context, accounts=lambda: type("Accounts", (), {"sites": [other]}))
    assert await write_due_summaries(off) == 0
    # A node that dies between the two files, and then two nodes at once.
    write = daily_summary.write_response

    async def dies(context, site, response, content):
        if response.type == daily_summary.CSV:
            raise DatabaseUnavailable("down")
        return await write(context, site, response, content)

    monkeypatch.setattr(daily_summary, "write_response", dies)
    with pytest.raises(DatabaseUnavailable):
        await write_due_summaries(flow.context)
    monkeypatch.undo()
    written = await asyncio.gather(*(write_due_summaries(flow.context) for _ in range(3)))
    assert sum(written) == 1
    assert await write_due_summaries(flow.context) == 0
    found = await summaries(channel)
    assert found.keys() == {"text", "csv"}
    assert found["csv"] == (
        "site,day,received,accepted,not_accepted,sent,paid,paid_amount\r\n"
        f"{flow.site.vendor_site_id},{day},3,2,1,2,1,80.50\r\n"
    )
    assert f"Summary of {day}" in found["text"]
    assert [line.split()[-1] for line in found["text"].splitlines()[2:]] == [
        "3", "2", "1", "2", "1", "80.50",
    ]  # fmt: skip
    # Three days without a service are made good.
    flow.clock.advance(timedelta(days=3))
    assert await write_due_summaries(flow.context) == 6


async def test_a_site_that_raises_keeps_no_other_back(channel, monkeypatch):
    flow = channel.flow
    broken = replace(await flow.new_site(ZONE), daily_summary_since=flow.clock.now())
    flow.clock.advance(timedelta(hours=12))
    sites = SimpleNamespace(sites=[broken, flow.site])
    context = replace(flow.context, accounts=lambda: sites)

    async def count(tx, site, day):
        if site == broken:
            raise ValueError("ARDEN")
        return await count_site_day(tx, site, day)

    with monkeypatch.context() as patched:
        patched.setattr(daily_summary, "count_site_day", count)
        assert await write_due_summaries(context) == 2
    assert (await summaries(channel)).keys() == {"text", "csv"}
    assert await write_due_summaries(context) == 2


async def test_a_summary_waits_for_the_files_of_its_day_for_some_hours(channel, monkeypatch):
    flow = channel.flow
    day = to_local(flow.clock.now(), ZONE).date()
    midnight = datetime.combine(day + timedelta(days=1), time(), ZoneInfo(ZONE))
    assert await write_due_summaries(flow.context) == 0, "yesterday it was not switched on"
    flow.clock.advance(midnight - timedelta(minutes=1) - flow.clock.now())
    await channel.send(a_file(a_set(a_claim(1))))
    # Not within an hour, not while the file is processed, and not before its claims are released.
    flow.clock.advance(timedelta(minutes=60))
    assert await write_due_summaries(flow.context) == 0
    flow.clock.advance(timedelta(minutes=2))
    assert await write_due_summaries(flow.context) == 0

    async def release_none(*arguments):
        pass

    with monkeypatch.context() as patched:
        patched.setattr(process_file, "release_set", release_none)
        await process_waiting(flow.context)
    assert await write_due_summaries(flow.context) == 0
    # A file of today keeps nothing back.
    await release_claims.release_accepted(flow.context)
    await channel.send(a_file(a_set(a_claim(2)), isa="000000102"))
    assert await write_due_summaries(flow.context) == 2
    # One that is stuck, for twelve hours.
    flow.clock.advance(timedelta(days=1))
    assert await write_due_summaries(flow.context) == 0
    flow.clock.advance(timedelta(hours=12))
    assert await write_due_summaries(flow.context) == 2
