"""The sandbox clock: two time scales, both moved by ``advance``.

``now`` is the wall clock plus what was explicitly advanced; every date in a file comes from it. Payers wait by the
``calendar``: one of its days lasts ``day_seconds`` of the wall clock, it can be frozen, and ``advance`` moves it too.
So a payer's fourteen days pass in half a minute, while delays in seconds stay as they are.

``wait_until`` waits for a moment of ``now``: real seconds, less what is advanced in that time.

The state is a value that can be stored and shared between nodes; the clock itself only reads the wall clock.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from clearlane.kernel.clock import EPOCH, Clock

SANDBOX_DAY_SECONDS = 2.0
SANDBOX_DAY_SECONDS_MIN = 0.001
SANDBOX_DAY_SECONDS_MAX = 86_400

DAY = timedelta(days=1)
CALENDAR_DAY = timedelta(seconds=1)
"""A day of the calendar is represented as a second. At two real seconds a day, the calendar would otherwise reach the
year 10000 in two months."""
ZERO_TIME = timedelta(0)


class ClockState(msgspec.Struct, frozen=True, kw_only=True):
    """State of the clock since its last change."""

    since: datetime
    """The wall clock at the last change."""
    calendar: datetime
    """The payers' calendar then."""
    advanced: timedelta = ZERO_TIME
    """All that was explicitly advanced."""
    day_seconds: float = SANDBOX_DAY_SECONDS
    frozen: bool = False

    def now(self, wall: datetime) -> datetime:
        """Return the time that dates are written from."""
        return wall + self.advanced

    def calendar_at(self, wall: datetime) -> datetime:
        """Return the time that payers wait by."""
        passed = max(wall - self.since, ZERO_TIME)
        return self.calendar if self.frozen else self.calendar + passed * (CALENDAR_DAY / self.day)

    @property
    def day(self) -> timedelta:
        """Length of a calendar day in real time."""
        return timedelta(seconds=self.day_seconds)

    def encode(self) -> bytes:
        """Return the state as bytes to store."""
        return msgspec.json.encode(self)


def to_calendar(time: timedelta) -> timedelta:
    """Convert a length of time to calendar length."""
    return time / (DAY // CALENDAR_DAY)


def from_calendar(length: timedelta) -> timedelta:
    """Convert a calendar length to a length of time."""
    return length * (DAY // CALENDAR_DAY)


def real_time_calendar(now: datetime) -> datetime:
    """Return the calendar of payers whose days last a real day."""
    return EPOCH + to_calendar(now - EPOCH)


def initial_state(wall: datetime) -> ClockState:
    """Return the state of a new sandbox."""
    return ClockState(since=wall, calendar=wall)


def decode_state(stored: bytes) -> ClockState:
    """Read a state that ``ClockState.encode`` wrote."""
    return msgspec.json.decode(stored, type=ClockState)


class SandboxClock:
    """A clock that can be advanced, frozen and paced."""

    def __init__(self, wall: Clock, state: ClockState | None = None) -> None:
        self._wall = wall
        self._state = state or initial_state(wall.now())
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def state(self) -> ClockState:
        """State to store after each change; set it when another node changed it."""
        return self._state

    @state.setter
    def state(self, state: ClockState) -> None:
        changed, self._state = state != self._state, state
        for one in self._waiting if changed else ():
            if not one.done():
                one.set_result(None)

    def now(self) -> datetime:
        """Return the wall clock plus what was advanced."""
        return self.state.now(self._wall.now())

    def calendar(self, now: datetime | None = None) -> datetime:
        """Return the payers' calendar, now or at another moment of ``now``.

        For a moment before the last change only what was advanced counts, as the pace is not known any more. So work that
        took its moment before an advance, and goes on after it, does not find due what is due only then.
        """
        state = self._state
        wall = self._wall.now() if now is None else now - state.advanced
        if now is not None and wall < state.since:
            return state.calendar - to_calendar(state.since - wall)
        return state.calendar_at(wall)

    def time_ago(self, now: datetime, length: timedelta) -> datetime:
        """Return the moment of ``now`` that lies a length of the payers' calendar before another.

        Before the last change of the clock its pace is not known any more: there only what was advanced counts.
        """
        state = self._state
        start = state.since + state.advanced
        passed = ZERO_TIME if state.frozen else max(now - start, ZERO_TIME)
        calendar = passed * (DAY / state.day)
        if calendar >= length:
            return now - length * (state.day / DAY)
        return start - (length - calendar)

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
        """Advance dates and payers. Raise ValueError if time cannot be advanced so far."""
        self.check_advance(by)
        return self._change(by)

    def check_advance(self, by: timedelta) -> None:
        """Raise ValueError if time cannot be advanced so far."""
        if by < ZERO_TIME:
            raise ValueError("time can only be advanced: give a positive length, such as 14d")
        if self.now() - EPOCH + by > _FAR:
            raise ValueError("time can be advanced up to the year 2200")

    def freeze(self) -> ClockState:
        """Stop the payers' calendar; only ``advance`` moves it then."""
        return self._change(frozen=True)

    def unfreeze(self) -> ClockState:
        """Restart the payers' calendar."""
        return self._change(frozen=False)

    def set_pace(self, day_seconds: float) -> ClockState:
        """Set how many seconds a day of the payers' calendar lasts."""
        if not SANDBOX_DAY_SECONDS_MIN <= day_seconds <= SANDBOX_DAY_SECONDS_MAX:
            raise ValueError(
                f"a sandbox day must last from {SANDBOX_DAY_SECONDS_MIN} to {SANDBOX_DAY_SECONDS_MAX} seconds"
            )
        return self._change(day_seconds=day_seconds)

    def _change(
        self,
        by: timedelta = ZERO_TIME,
        *,
        frozen: bool | None = None,
        day_seconds: float | None = None,
    ) -> ClockState:
        wall, old = self._wall.now(), self.state
        self.state = ClockState(
            since=wall,
            calendar=old.calendar_at(wall) + to_calendar(by),
            advanced=old.advanced + by,
            day_seconds=old.day_seconds if day_seconds is None else day_seconds,
            frozen=old.frozen if frozen is None else frozen,
        )
        return self.state


class CountedClock:
    """A clock that counts its waiters, to distinguish payers that wait from payers that work."""

    def __init__(self, clock: SandboxClock) -> None:
        self._clock = clock
        self._moments: dict[object, datetime] = {}

    async def wait_until(self, moment: datetime) -> None:
        """Wait for a moment, counted as a waiter."""
        mark = object()
        self._moments[mark] = moment
        try:
            await self._clock.wait_until(moment)
        finally:
            del self._moments[mark]

    def waiting_count(self, now: datetime) -> int:
        """Return how many wait for a moment later than ``now``."""
        return sum(moment > now for moment in self._moments.values())


Calendar = Callable[[datetime], datetime]
"""Converts ``now`` to the calendar that payers wait by."""

_FAR = datetime(2200, 1, 1, tzinfo=EPOCH.tzinfo) - EPOCH
