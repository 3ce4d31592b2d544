"""Send windows: the hours of the week in which files are sent."""

from datetime import UTC, datetime

import pytest

from clearlane.payers.send_windows import (
    SEND_WINDOWS_MAX,
    is_open,
    next_opening,
    read_send_windows,
)

CHICAGO = "America/Chicago"
# A Monday. In March Chicago is six hours behind UTC until the 10th, five from then on.
MONDAY = datetime(2024, 3, 4, tzinfo=UTC)


def at(day, hour, minute=0):
    return datetime(2024, 3, day, hour, minute, tzinfo=UTC)


# Windows, time zone, moment (UTC) and the next moment at which files may be sent.
CASES = [
    ("", "", at(4, 3), at(4, 3)),
    ("mon-fri 06:00-20:00", "UTC", at(4, 6), at(4, 6)),
    ("mon-fri 06:00-20:00", "UTC", at(4, 19, 59), at(4, 19, 59)),
    ("mon-fri 06:00-20:00", "UTC", at(4, 20), at(5, 6)),
    ("mon-fri 06:00-20:00", "UTC", at(8, 20), at(11, 6)),
    ("mon-fri 06:00-20:00, sat 8:00-12:00", "UTC", at(8, 20), at(9, 8)),
    ("MON 06:00-07:00", "UTC", at(4, 7), at(11, 6)),
    ("daily 22:00-04:00", "UTC", at(5, 3, 59), at(5, 3, 59)),
    ("daily 22:00-04:00", "UTC", at(5, 4), at(5, 22)),
    ("sun 22:00-04:00", "UTC", at(4, 3), at(4, 3)),
    ("mon 22:00-04:00", "UTC", at(4, 3), at(4, 22)),
    ("sat-mon 00:00-24:00", "UTC", at(4, 23, 59), at(4, 23, 59)),
    ("sat-mon 00:00-24:00", "UTC", at(5, 0), at(9, 0)),
    ("mon-fri 06:00-20:00", CHICAGO, at(4, 11, 59), at(4, 12)),
    ("mon-fri 06:00-20:00", CHICAGO, at(5, 1, 59), at(5, 1, 59)),
    # The clock goes forward on Sunday the 10th: on Monday 06:00 is an hour earlier.
    ("mon-fri 06:00-20:00", CHICAGO, at(9, 2), at(11, 11)),
    ("sun 02:30-05:00", CHICAGO, at(10, 7), at(10, 8, 30)),
]


@pytest.mark.parametrize(("text", "zone", "moment", "expected"), CASES)
def test_when_files_may_be_sent(text, zone, moment, expected):
    windows = read_send_windows(text)
    assert is_open(windows, moment, zone) == (moment == expected)
    assert next_opening(windows, moment, zone) == expected


@pytest.mark.parametrize(
    "text",
    [
        ",", "mon", "06:00-20:00", "mon 6-20", "mon 06:00", "mon 06:00-06:00", "mon 24:00-06:00", "mon 06:00-24:01",
        "mon 06:60-20:00", "month 06:00-20:00", "daily-fri 06:00-20:00", "mon-daily 06:00-20:00", "mon 06:00-20:00;",
        ",".join(["mon 06:00-20:00"] * (SEND_WINDOWS_MAX + 1)),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_what_would_pass(text):
    with pytest.raises(ValueError, match=r"window|days|hours"):
        read_send_windows(text)
