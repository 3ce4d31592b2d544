"""The only module that reads the wall clock. Lower layers receive the time as an argument."""

import asyncio
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, available_timezones


class Clock(Protocol):
    """A source of UTC time that can also be awaited."""

    def now(self) -> datetime: ...

    async def wait_until(self, moment: datetime) -> None:
        """Return when the clock has reached a moment. Waiting blocks no thread."""


class SystemClock:
    """The wall clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def wait_until(self, moment: datetime) -> None:
        # Loop, because a sleep may end early when the wall clock is set.
        while (left := (moment - self.now()).total_seconds()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """Return a moment as the database stores it: whole microseconds since 1970, UTC."""
    return (moment - EPOCH) // MICROSECOND


def moment_text(at: datetime) -> str:
    """Return a moment in ISO 8601, UTC as ``Z``, always to the microsecond."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def micros_text(micros: int | None) -> str | None:
    """Return a stored number of microseconds as :func:`moment_text`; None if there is none."""
    return None if micros is None else moment_text(from_micros(micros))


def seconds_text(micros: int | None) -> str | None:
    """Return a stored number of microseconds in ISO 8601, UTC, to the second; None if there is none."""
    return None if micros is None else f"{from_micros(micros):%Y-%m-%dT%H:%M:%SZ}"


def from_micros(micros: int) -> datetime:
    """Return the UTC moment of a stored number of microseconds; the inverse of :func:`to_micros`."""
    return EPOCH + timedelta(microseconds=micros)


def to_local(moment: datetime, time_zone: str) -> datetime:
    """Convert a moment to the local time of a time zone, by which its calendar days are counted."""
    return moment.astimezone(_zone(time_zone))


def day_start(day: date, time_zone: str) -> datetime:
    """Return the UTC moment at which a day of a time zone begins."""
    return datetime.combine(day, time(), _zone(time_zone)).astimezone(UTC)


@cache
def time_zones() -> frozenset[str]:
    """Return the IANA names of time zones, searched once: a search opens hundreds of files.

    UTC needs no zone data; `localtime` is this machine's own choice, not a zone's name.
    """
    return frozenset((available_timezones() | {"UTC"}) - {"localtime"})


@lru_cache(maxsize=1_024)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)
