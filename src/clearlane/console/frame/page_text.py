"""Dates, times, money and ages as pages write them.

Money is ``1,234.50``, a day ``Dec 2, 2026``, a time ``Dec 2, 14:05 CST``. Knows no page.
"""

from datetime import date, datetime
from zoneinfo import ZoneInfo

CENTS = 100
SECONDS_NAMED = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def money(cents: int | None) -> str:
    """Return an amount; a dash if there is none."""
    if cents is None:
        return "-"
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), CENTS)
    return f"{sign}{whole:,}.{rest:02}"


def day(value: date | str | None) -> str:
    """Return a day, also from ISO text; a dash if there is none."""
    found = date.fromisoformat(value[:10]) if isinstance(value, str) and value else value
    return f"{found:%b} {found.day}, {found.year}" if found else "-"


def short_day(value: date | None) -> str:
    """Return a day without its year; a dash if there is none."""
    return f"{value:%b} {value.day}" if value else "-"


def moment(value: datetime, zone: str) -> str:
    """Return a time in a zone, with the zone's name."""
    local = value.astimezone(ZoneInfo(zone))
    return f"{local:%b} {local.day}, {local.year}, {local:%H:%M} {local.tzname()}"


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 claim``, ``12 claims``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def age(seconds: float) -> str:
    """Return how long ago something was, in its largest unit."""
    for unit_seconds, name in SECONDS_NAMED:
        if seconds >= unit_seconds:
            return count(int(seconds // unit_seconds), name)
    return "a moment"


def days_old(days: int) -> str:
    """Return an age in days as a list of work shows it: ``today``, ``12 days``."""
    return count(days, "day") if days > 0 else "today"


TAKING_AWAY = (
    "Cancel", "Delete", "Disable", "Discard", "End ", "Put it aside", "Remove", "Reset", "Revoke", "Suspend", "Void",
)  # fmt: skip
"""How buttons begin that take something away."""


def takes_away(button: str) -> bool:
    """Return whether a button takes something away, so that it is red."""
    return button.startswith(TAKING_AWAY)
