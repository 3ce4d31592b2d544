"""Business days: Monday to Friday without the holidays on which US banks and payers are closed.

    add_business_days(date(2026, 7, 2), 1)                          # July 6: the 3rd is the holiday
    business_days_between(date(2026, 7, 2), date(2026, 7, 8))       # 3

Knows the calendar alone; no clock, no time zone.
"""

from datetime import date, timedelta
from functools import cache

DAY = timedelta(days=1)
SATURDAY, SUNDAY = 5, 6
_FIXED = ((1, 1), (6, 19), (7, 4), (11, 11), (12, 25))
"""Month and day of the holidays that have one."""
_ON_A_MONDAY = ((1, 3), (2, 3), (9, 1), (10, 2))
"""Month and number of the Monday: Martin Luther King's and Washington's birthday, Labor Day, Columbus Day."""
THURSDAY = 3


def is_business_day(day: date) -> bool:
    """Return whether payers work on a day."""
    return day.weekday() < SATURDAY and day not in _holidays(day.year)


def first_business_day(day: date) -> date:
    """Return a day, or the first business day after it."""
    while not is_business_day(day):
        day += DAY
    return day


def add_business_days(day: date, count: int) -> date:
    """Return the day that is a number of business days after another."""
    for _ in range(count):
        day = first_business_day(day + DAY)
    return day


def business_days_between(first: date, last: date) -> int:
    """Return how many business days come after the first day, up to the last; 0 if it is not later."""
    found = 0
    while first < last:
        first += DAY
        found += is_business_day(first)
    return found


@cache
def _holidays(year: int) -> frozenset[date]:
    """Return the federal holidays that are observed in a year; one on a weekend moves to Friday or Monday."""
    fixed = [_observed(date(year, month, day)) for month, day in _FIXED]
    # New Year's Day of the next year may be observed in this one.
    fixed.append(_observed(date(year + 1, 1, 1)))
    mondays = [_nth(year, month, 0, number) for month, number in _ON_A_MONDAY]
    memorial = date(year, 5, 31) - DAY * date(year, 5, 31).weekday()
    return frozenset([*fixed, *mondays, memorial, _nth(year, 11, THURSDAY, 4)])


def _observed(day: date) -> date:
    return day + DAY * {SATURDAY: -1, SUNDAY: 1}.get(day.weekday(), 0)


def _nth(year: int, month: int, weekday: int, number: int) -> date:
    first = date(year, month, 1)
    return first + DAY * ((weekday - first.weekday()) % 7 + 7 * (number - 1))
