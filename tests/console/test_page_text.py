"""Dates, times, money and ages as pages write them."""

from datetime import UTC, date, datetime

import pytest

from clearlane.console.frame import page_text
from clearlane.payments import wording


@pytest.mark.parametrize(
    ("cents", "text"),
    [(0, "0.00"), (123_450, "1,234.50"), (-5, "-0.05"), (None, "-"), (100_000_000, "1,000,000.00")],
)
def test_money(cents, text):
    assert page_text.money(cents) == text


def test_days_and_times():
    assert page_text.day(date(2026, 12, 2)) == page_text.day("2026-12-02") == "Dec 2, 2026"
    assert page_text.day(None) == page_text.short_day(None) == "-"
    assert page_text.short_day(date(2026, 12, 2)) == "Dec 2"
    noon = datetime(2026, 12, 2, 18, 5, tzinfo=UTC)
    assert page_text.moment(noon, "America/Chicago") == "Dec 2, 2026, 12:05 CST"


def test_days_of_a_sentence_are_written_as_pages_write_days():
    sentence = "Paid by check number 7-2026-12-03-1 effective 2026-12-03."
    spelled = "Paid by check number 7-2026-12-03-1 effective Dec 3, 2026."
    assert wording.spell_days(sentence) == spelled
    for other in ("number 2026-13-03", "12026-12-03", "2026-12-031", ""):
        assert wording.spell_days(other) == other


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "a moment"),
        (1, "1 second"),
        (59.9, "59 seconds"),
        (60, "1 minute"),
        (200_000, "2 days"),
    ],
)
def test_ages(seconds, text):
    assert page_text.age(seconds) == text


@pytest.mark.parametrize(
    ("days", "text"), [(-1, "today"), (0, "today"), (1, "1 day"), (12, "12 days")]
)
def test_ages_of_work(days, text):
    assert page_text.days_old(days) == text
