"""The two scales of the sandbox clock."""

from datetime import timedelta

import pytest

from clearlane.sandbox.clock import CALENDAR_DAY, SandboxClock, decode_state
from clearlane.sandbox.payer import SandboxPayer
from tests.connect.memory import MemoryLedger
from tests.manual_clock import ManualClock
from tests.sandbox.invented import MEDICAL, NOW, file, medical

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


@pytest.fixture
def wall() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def clock(wall) -> SandboxClock:
    return SandboxClock(wall)


def test_a_day_of_the_payers_lasts_two_seconds_and_dates_follow_the_wall(wall, clock):
    wall.advance(28 * SECOND)
    assert clock.calendar() - NOW == 14 * CALENDAR_DAY
    assert clock.now() == NOW + 28 * SECOND


def test_advancing_moves_dates_and_payers_by_the_same(wall, clock):
    wall.advance(2 * SECOND)
    clock.advance(14 * DAY)
    assert clock.now() == NOW + 14 * DAY + 2 * SECOND
    assert clock.calendar() - NOW == 15 * CALENDAR_DAY
    wall.advance(2 * SECOND)
    assert clock.calendar() - NOW == 16 * CALENDAR_DAY
    assert clock.calendar(clock.now()) == clock.calendar()


def test_freezing_stops_the_payers_only(wall, clock):
    clock.freeze()
    wall.advance(60 * SECOND)
    assert clock.calendar() == NOW
    assert clock.now() == NOW + 60 * SECOND
    clock.advance(DAY)
    assert clock.calendar() == NOW + CALENDAR_DAY
    clock.unfreeze()
    wall.advance(2 * SECOND)
    assert clock.calendar() == NOW + 2 * CALENDAR_DAY


def test_how_long_ago_something_was_follows_the_payers_calendar(wall, clock):
    wall.advance(60 * SECOND)
    now = clock.now()
    assert clock.time_ago(now, 30 * DAY) == now - 60 * SECOND
    assert clock.time_ago(now, 31 * DAY) == now - 60 * SECOND - DAY
    clock.advance(10 * DAY)
    assert clock.time_ago(clock.now(), 3 * DAY) == clock.now() - 3 * DAY
    clock.freeze()
    wall.advance(60 * SECOND)
    assert clock.time_ago(clock.now(), DAY) == clock.now() - 60 * SECOND - DAY


def test_the_pace_can_be_set(wall, clock):
    clock.set_pace(86_400)
    wall.advance(DAY)
    assert clock.calendar() == NOW + CALENDAR_DAY
    clock.set_pace(0.5)
    wall.advance(SECOND)
    assert clock.calendar() == NOW + 3 * CALENDAR_DAY


@pytest.mark.parametrize("seconds", [0, -1, 0.0009, 86_401, float("nan")])
def test_a_pace_that_makes_no_sense_is_refused(clock, seconds):
    with pytest.raises(ValueError, match="a sandbox day must last"):
        clock.set_pace(seconds)


def test_time_never_runs_backwards_nor_out_of_the_calendar(wall, clock):
    with pytest.raises(ValueError, match="only be advanced"):
        clock.advance(-SECOND)
    with pytest.raises(ValueError, match="year 2200"):
        clock.advance(200 * 365 * DAY)
    wall.advance(-5 * SECOND)
    assert clock.calendar() == NOW


def test_a_sandbox_outlives_the_pace_of_its_days(wall, clock):
    wall.advance(100 * 365 * DAY)
    assert clock.calendar() - NOW == 100 * 365 * 43_200 * CALENDAR_DAY


def test_the_state_can_be_kept_and_shared(wall, clock):
    clock.freeze()
    state = clock.advance(3 * DAY)
    other = SandboxClock(wall, decode_state(state.encode()))
    assert other.now() == clock.now()
    assert other.calendar() == clock.calendar()


async def test_a_payer_waits_by_the_calendar_and_writes_dates_by_the_wall(wall, clock):
    payer = SandboxPayer(MEDICAL, MemoryLedger(), calendar=clock.calendar)

    async def kinds() -> list[str]:
        return [name.split(".")[-1] for name, _ in await payer.work(clock.now())]

    await payer.receive("a.837", file(medical("3001")), clock.now())
    assert await kinds() == ["999"]
    wall.advance(2 * SECOND)
    assert await kinds() == ["277CA"]
    wall.advance(25 * SECOND)
    assert await kinds() == []
    wall.advance(SECOND)
    ((_, content),) = await payer.work(clock.now())
    assert b"DTM*405*20260302~" in content  # half a minute later is the same day


@pytest.mark.parametrize("frozen", [True, False])
async def test_work_of_before_an_advance_writes_no_response_that_is_due_after_it(
    wall, clock, frozen
):
    if frozen:
        clock.freeze()
    payer = SandboxPayer(MEDICAL, MemoryLedger(), calendar=clock.calendar)
    await payer.receive("claims", file(medical("3001")), clock.now())
    assert await payer.work(clock.now())
    clock.advance(13 * DAY)
    await payer.work(before := clock.now())
    clock.advance(DAY)
    wall.advance(SECOND / 10)
    assert await payer.work(before) == []
    [(_, remit)] = await payer.work(clock.now())
    assert f"*{NOW + 14 * DAY:%Y%m%d}~".encode() in remit


async def test_advancing_a_day_brings_the_277ca_and_not_the_835(wall, clock):
    payer = SandboxPayer(MEDICAL, MemoryLedger(), calendar=clock.calendar)
    clock.freeze()
    await payer.receive("a.837", file(medical("3001")), clock.now())
    clock.advance(DAY)
    left = await payer.work(clock.now())
    assert [name.split(".")[-1] for name, _ in left] == ["999", "277CA"]
    clock.advance(12 * DAY)
    assert await payer.work(clock.now()) == []
    clock.advance(27 * DAY)
    ((name, content),) = await payer.work(clock.now())
    assert name.endswith(".835")
    assert b"DTM*405*20260316~" in content  # the day it was due, which the advance passed
