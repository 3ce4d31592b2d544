"""The one place that knows what time it is. Everything below the verbs is told."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time in UTC."""

    def now(self) -> datetime: ...


class SystemClock:
    """The wall clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class ManualClock:
    """A clock that moves when it is told to."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        self._now += by


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """A moment as the database keeps it: whole microseconds since 1970, UTC."""
    return (moment - EPOCH) // MICROSECOND


def moment(micros: int) -> datetime:
    """The inverse of :func:`micros`."""
    return EPOCH + timedelta(microseconds=micros)
