"""Send windows: the hours of the week in which files are sent over a route.

    windows = read_send_windows("mon-fri 06:00-20:00, sat 08:00-12:00")
    is_open(windows, now, "America/Chicago")
    next_opening(windows, now, "America/Chicago")

No window at all means that files are sent at any time. Hours are counted as the wall clock of the time zone shows
them. Pure: knows no route, and takes the moment.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from clearlane.kernel.clock import to_local

SEND_WINDOWS_MAX = 28
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAILY = "daily"
SEPARATOR = ","
MINUTES_PER_DAY = 24 * 60
WANTED = (
    "windows such as mon-fri 06:00-20:00 or daily 22:00-04:00, separated by commas, "
    f"at most {SEND_WINDOWS_MAX}"
)

_WINDOW = re.compile(
    r"(?P<first>[a-z]+)(?:-(?P<last>[a-z]+))?\s+"
    r"(?P<start>\d\d?:\d\d)\s*-\s*(?P<end>\d\d?:\d\d)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class SendWindow:
    """One window: the days it opens on, and its hours. One that ends before it starts ends on the next day."""

    days: frozenset[int]
    start_minute: int
    end_minute: int

    def holds(self, day: int, minute: int) -> bool:
        """Return whether the window is open at a minute of a day of the week."""
        if self.start_minute < self.end_minute:
            return day in self.days and self.start_minute <= minute < self.end_minute
        before = (day - 1) % len(DAYS)
        return (day in self.days and minute >= self.start_minute) or (
            before in self.days and minute < self.end_minute
        )


@lru_cache(maxsize=1_024)
def read_send_windows(text: str) -> tuple[SendWindow, ...]:
    """Read windows from an operator's text; raise ValueError with what would pass."""
    parts = [part.strip().lower() for part in text.split(SEPARATOR) if part.strip()]
    if (text.strip() and not parts) or len(parts) > SEND_WINDOWS_MAX:
        raise ValueError(WANTED)
    return tuple(map(_window, parts))


def is_open(windows: tuple[SendWindow, ...], moment: datetime, time_zone: str) -> bool:
    """Return whether files may be sent at a moment."""
    if not windows:
        return True
    local = to_local(moment, time_zone)
    minute = 60 * local.hour + local.minute
    return any(window.holds(local.weekday(), minute) for window in windows)


def next_opening(windows: tuple[SendWindow, ...], moment: datetime, time_zone: str) -> datetime:
    """Return when files may be sent next: the moment itself if a window is open."""
    if is_open(windows, moment, time_zone):
        return moment
    local = to_local(moment, time_zone)
    midnight = datetime(local.year, local.month, local.day, tzinfo=ZoneInfo(time_zone))
    # A week and a day, for a window that has closed today.
    openings = (
        (midnight + timedelta(days=ahead, minutes=window.start_minute)).astimezone(UTC)
        for ahead in range(len(DAYS) + 1)
        for window in windows
        if (local.weekday() + ahead) % len(DAYS) in window.days
    )
    return min(opening for opening in openings if opening > moment)


def _window(text: str) -> SendWindow:
    match = _WINDOW.fullmatch(text)
    if match is None:
        raise ValueError(WANTED)
    start, end = _minute(match["start"]), _minute(match["end"])
    if start in {end, MINUTES_PER_DAY}:
        raise ValueError("a window that starts before 24:00 and ends at another time")
    return SendWindow(_days(match["first"], match["last"]), start, end)


def _days(first: str, last: str | None) -> frozenset[int]:
    if first == DAILY and last is None:
        return frozenset(range(len(DAYS)))
    if first not in DAYS or (last or first) not in DAYS:
        raise ValueError(f"days from {', '.join(DAYS)}, or daily")
    begin = DAYS.index(first)
    length = (DAYS.index(last or first) - begin) % len(DAYS) + 1
    return frozenset((begin + ahead) % len(DAYS) for ahead in range(length))


def _minute(text: str) -> int:
    hours, minutes = map(int, text.split(":"))
    found = 60 * hours + minutes
    if minutes > 59 or found > MINUTES_PER_DAY:
        raise ValueError("hours from 00:00 to 24:00")
    return found
