"""Business days leave out weekends and the days on which US banks are closed."""

from datetime import date, timedelta

from clearlane.kernel.business_days import (
    add_business_days,
    business_days_between,
    first_business_day,
    is_business_day,
)

# The Federal Reserve's list of 2026, and a year whose New Year's Day is observed in the year before.
CLOSED = [
    "2026-01-01", "2026-01-19", "2026-02-16", "2026-05-25", "2026-06-19", "2026-07-03", "2026-09-07", "2026-10-12",
    "2026-11-11", "2026-11-26", "2026-12-25", "2021-12-31", "2022-06-20",
]  # fmt: skip


def test_payers_are_closed_on_holidays_and_weekends_alone():
    assert not any(is_business_day(date.fromisoformat(day)) for day in CLOSED)
    year = [date(2026, 1, 1) + timedelta(days=n) for n in range(365)]
    assert sum(map(is_business_day, year)) == 261 - 11


def test_days_are_added_and_counted_alike():
    thursday = date(2026, 7, 2)
    assert (
        add_business_days(thursday, 1) == first_business_day(date(2026, 7, 3)) == date(2026, 7, 6)
    )
    for start in (thursday, date(2026, 7, 4), date(2026, 12, 24)):
        for count in range(12):
            assert business_days_between(start, add_business_days(start, count)) == count
    assert business_days_between(thursday, thursday - timedelta(days=3)) == 0
