"""The one place that knows what time it is. Everything below the verbs is told."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo


class Clock(Protocol):
    """Tells the time in UTC, and can be waited for."""

    def now(self) -> datetime: ...

    async def wait_until(self, moment: datetime) -> None:
        """Return when the clock has reached a moment. A waiter costs no thread."""


class SystemClock:
    """The wall clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def wait_until(self, moment: datetime) -> None:
        # Again where a sleep ended early: the wall clock may have been set.
        while (left := (moment - self.now()).total_seconds()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)


class ManualClock:
    """A clock that moves when it is told to."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._waiting: set[asyncio.Future[None]] = set()

    def now(self) -> datetime:
        return self._now

    async def wait_until(self, moment: datetime) -> None:
        while moment > self._now:
            moved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(moved)
            try:
                await moved
            finally:
                self._waiting.discard(moved)

    def advance(self, by: timedelta) -> None:
        self._now += by
        for one in self._waiting:
            if not one.done():
                one.set_result(None)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """A moment as the database keeps it: whole microseconds since 1970, UTC."""
    return (moment - EPOCH) // MICROSECOND


def moment(micros: int) -> datetime:
    """The inverse of :func:`micros`."""
    return EPOCH + timedelta(microseconds=micros)


def local(moment: datetime, time_zone: str) -> datetime:
    """A moment by the clocks of a time zone, as its days are counted."""
    return moment.astimezone(_zone(time_zone))


@lru_cache(maxsize=1_024)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)
