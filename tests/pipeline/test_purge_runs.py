"""What each purge did last is on record, and why it failed, so that operators see whether data go in time."""

from datetime import UTC, datetime, timedelta

import pytest

from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.faults import WorkFailed
from clearlane.pipeline.inquiry import inquiry_schedule
from clearlane.pipeline.intake import purge_not_accepted
from clearlane.pipeline.intake.files import purge_files
from clearlane.pipeline.notify import purge_events
from clearlane.pipeline.retention import purge_records
from clearlane.pipeline.retention.purge_runs import (
    LATE_AFTER,
    SCOPE,
    Purge,
    PurgeRun,
    PurgeState,
    load_purge_runs,
    record_purge,
)
from clearlane.pipeline.schedule import SCHEDULES
from tests.pipeline.flowing import Flow

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
TICKS = {
    Purge.RECORDS: purge_records.purge_tick,
    Purge.ELIGIBILITY: inquiry_schedule.purge_tick,
    Purge.NOT_ACCEPTED: purge_not_accepted.purge_tick,
    Purge.EVENTS: purge_events.purge_tick,
    Purge.FILES: purge_files.purge_tick,
}


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def runs(flow):
    async with flow.database.read(SCOPE) as tx:
        return await load_purge_runs(tx)


@pytest.mark.both_databases
async def test_every_purge_of_the_schedule_records_what_it_removed(flow):
    assert await runs(flow) == {}
    scheduled = {row.name: row.verb for row in SCHEDULES}
    for purge, tick in TICKS.items():
        assert scheduled[purge.value] is tick
        await tick(flow.context, None)
    found = await runs(flow)
    assert set(found) == set(Purge)
    for run in found.values():
        assert datetime.now(UTC) - from_micros(run.ended_at) < timedelta(minutes=5)
        assert set(run.removed.values()) == {0}
        assert run.failed_at is None
    assert "rows of the audit trail" in found[Purge.RECORDS].removed


@pytest.mark.one_database
async def test_a_failure_is_recorded_beside_the_last_run_that_ended_well_until_another_does(flow):
    async def work(count):
        if not count:
            raise WorkFailed("disk-full")
        return {"files": count}

    assert await record_purge(flow.context, Purge.FILES, work(3)) == {"files": 3}
    well = (await runs(flow))[Purge.FILES]
    with pytest.raises(WorkFailed):
        await record_purge(flow.context, Purge.FILES, work(0))
    failed = (await runs(flow))[Purge.FILES]
    assert (failed.ended_at, failed.removed) == (well.ended_at, {"files": 3})
    assert failed.failed_at >= well.ended_at
    assert failed.fault == "disk-full"
    await record_purge(flow.context, Purge.FILES, work(1))
    assert (await runs(flow))[Purge.FILES].failed_at is None


@pytest.mark.parametrize(
    ("run", "since", "state"),
    [
        (PurgeRun(), timedelta(0), PurgeState.EXPECTED),
        (PurgeRun(), LATE_AFTER, PurgeState.LATE),
        (PurgeRun(ended_at=to_micros(NOW)), LATE_AFTER, PurgeState.DONE),
        (PurgeRun(ended_at=to_micros(NOW - LATE_AFTER)), LATE_AFTER, PurgeState.LATE),
        (PurgeRun(ended_at=to_micros(NOW - LATE_AFTER)), None, PurgeState.DONE),
        (PurgeRun(), None, PurgeState.EXPECTED),
        (PurgeRun(failed_at=to_micros(NOW)), None, PurgeState.FAILED),
    ],
)
def test_a_purge_is_late_after_two_nights(run, since, state):
    assert run.state(since=None if since is None else NOW - since, now=NOW) is state
