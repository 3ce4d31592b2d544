"""The sandbox clock: two scales that one word, ``advance``, moves together.

``now`` is the wall clock plus what was explicitly advanced; every date that is written comes from it. The
``calendar`` is what payers wait by: one of its days lasts ``day_seconds`` of the wall clock, it can be frozen,
and it too moves by what is advanced. So a payer's fourteen days pass in half a minute while delays in seconds stay
what they are.

``wait_until`` waits for a moment of ``now``: real seconds, unless what is advanced brings it sooner.

The state is a value that can be kept and shared between nodes; the clock itself only reads the wall.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from clearlane.kernel.clock import EPOCH, Clock
from clearlane.kernel.limits import (
    SANDBOX_DAY_SECONDS,
    SANDBOX_DAY_SECONDS_MAX,
    SANDBOX_DAY_SECONDS_MIN,
)

DAY = timedelta(days=1)
COUNTED_DAY = timedelta(seconds=1)
"""A day of the calendar is counted as a second. At two seconds of the wall a day, it would otherwise be in the year
10000 after two months."""
NOTHING = timedelta(0)


class ClockState(msgspec.Struct, frozen=True, kw_only=True):
    """How the sandbox's time runs since its last change."""

    since: datetime
    """The wall clock at the last change."""
    calendar: datetime
    """The payers' calendar then."""
    advanced: timedelta = NOTHING
    """All that was explicitly advanced."""
    day_seconds: float = SANDBOX_DAY_SECONDS
    frozen: bool = False

    def now(self, wall: datetime) -> datetime:
        """The time that dates are written from."""
        return wall + self.advanced

    def calendar_at(self, wall: datetime) -> datetime:
        """The time that payers wait by."""
        passed = max(wall - self.since, NOTHING)
        return self.calendar if self.frozen else self.calendar + passed * (COUNTED_DAY / self.day)

    @property
    def day(self) -> timedelta:
        """How long a day of the calendar lasts on the wall."""
        return timedelta(seconds=self.day_seconds)

    def encoded(self) -> bytes:
        """The state as it can be kept."""
        return msgspec.json.encode(self)


def counted(time: timedelta) -> timedelta:
    """A length of time as the calendar counts it."""
    return time / (DAY // COUNTED_DAY)


def counted_as(length: timedelta) -> timedelta:
    """The inverse: how much time a length of the calendar stands for."""
    return length * (DAY // COUNTED_DAY)


def day_by_day(now: datetime) -> datetime:
    """The calendar of payers whose days last a day."""
    return EPOCH + counted(now - EPOCH)


def first_state(wall: datetime) -> ClockState:
    """The state of a new sandbox."""
    return ClockState(since=wall, calendar=wall)


def decoded(kept: bytes) -> ClockState:
    """The inverse of ``ClockState.encoded``."""
    return msgspec.json.decode(kept, type=ClockState)


class SandboxClock:
    """A clock that can be advanced, frozen and paced."""

    def __init__(self, wall: Clock, state: ClockState | None = None) -> None:
        self._wall = wall
        self._state = state or first_state(wall.now())
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def state(self) -> ClockState:
        """Keep it after each change; set it when another node changed it."""
        return self._state

    @state.setter
    def state(self, state: ClockState) -> None:
        changed, self._state = state != self._state, state
        for one in self._waiting if changed else ():
            if not one.done():
                one.set_result(None)

    def now(self) -> datetime:
        """The wall clock plus what was advanced."""
        return self.state.now(self._wall.now())

    def calendar(self, now: datetime | None = None) -> datetime:
        """The payers' calendar, now or at another moment of ``now``."""
        wall = self._wall.now() if now is None else now - self.state.advanced
        return self.state.calendar_at(wall)

    async def wait_until(self, moment: datetime) -> None:
        """Wait for a moment of ``now``. A waiter costs a timer and no thread; a change of the clock wakes it."""
        while (left := (moment - self.now()).total_seconds()) > 0:
            changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(changed)
            try:
                await asyncio.wait((changed,), timeout=left)
            finally:
                self._waiting.discard(changed)

    def advance(self, by: timedelta) -> ClockState:
        """Let time pass at once, for dates and for payers. ValueError where it cannot."""
        self.require(by)
        return self._change(by)

    def require(self, by: timedelta) -> None:
        """ValueError where time cannot be advanced so far."""
        if by < NOTHING:
            raise ValueError("time can only be advanced: give a positive length, such as 14d")
        if self.now() - EPOCH + by > _FAR:
            raise ValueError("time can be advanced up to the year 2200")

    def freeze(self) -> ClockState:
        """Stop the payers' calendar; it moves by ``advance`` only."""
        return self._change(frozen=True)

    def thaw(self) -> ClockState:
        """Let the payers' calendar run again."""
        return self._change(frozen=False)

    def set_pace(self, day_seconds: float) -> ClockState:
        """Say how many seconds a day of the payers' calendar lasts."""
        if not SANDBOX_DAY_SECONDS_MIN <= day_seconds <= SANDBOX_DAY_SECONDS_MAX:
            raise ValueError(
                f"a sandbox day must last from {SANDBOX_DAY_SECONDS_MIN} to {SANDBOX_DAY_SECONDS_MAX} seconds"
            )
        return self._change(day_seconds=day_seconds)

    def _change(
        self,
        by: timedelta = NOTHING,
        *,
        frozen: bool | None = None,
        day_seconds: float | None = None,
    ) -> ClockState:
        wall, old = self._wall.now(), self.state
        self.state = ClockState(
            since=wall,
            calendar=old.calendar_at(wall) + counted(by),
            advanced=old.advanced + by,
            day_seconds=old.day_seconds if day_seconds is None else day_seconds,
            frozen=old.frozen if frozen is None else frozen,
        )
        return self.state


class Sleepers:
    """A clock that knows who waits for it, so that one can tell sleep from work."""

    def __init__(self, clock: SandboxClock) -> None:
        self._clock = clock
        self._moments: dict[object, datetime] = {}

    async def wait_until(self, moment: datetime) -> None:
        """Wait, and be counted."""
        mark = object()
        self._moments[mark] = moment
        try:
            await self._clock.wait_until(moment)
        finally:
            del self._moments[mark]

    def asleep(self, now: datetime) -> int:
        """How many wait for a moment that has not come."""
        return sum(moment > now for moment in self._moments.values())


Calendar = Callable[[datetime], datetime]
"""From ``now`` to the calendar that payers wait by."""

_FAR = datetime(2200, 1, 1, tzinfo=EPOCH.tzinfo) - EPOCH
