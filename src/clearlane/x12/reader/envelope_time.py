"""Read from an envelope when it was written, and its control number.

A sender's clock has no time zone, and some senders write no time. Knows envelopes; knows no set.
"""

from datetime import datetime

from clearlane.kernel import formats
from clearlane.x12.tree import FunctionalGroup, Interchange, get_element

NEVER = datetime(1, 1, 1)  # noqa: DTZ001 - a sender's clock has no zone
NUMBER_DIGITS_MAX = 10


def read_group_time(group: FunctionalGroup) -> datetime:
    """Return when a group was written (GS04 and GS05), else its interchange; with seconds if given."""
    own = parse_time(get_element(group.header, 4), get_element(group.header, 5))
    return own or read_interchange_time(group.interchange)


def read_interchange_time(interchange: Interchange) -> datetime:
    """Return when an interchange was written (ISA09 and ISA10)."""
    header = interchange.header
    return parse_time("20" + get_element(header, 9), get_element(header, 10)) or NEVER


def read_control_number(interchange: Interchange) -> int:
    """Return ISA13 as a number."""
    return parse_count(interchange.control)


def parse_time(day: str, time: str) -> datetime | None:
    """Return the moment of an X12 date and time; None if there is no date."""
    date = formats.parse_x12_date(day)
    if date is None:
        return None
    digits = time[:6] if time.isascii() and time.isdigit() else ""
    hour, minute, second = (int(digits[at : at + 2] or 0) for at in (0, 2, 4))
    if hour > 23 or minute > 59 or second > 59:
        hour = minute = second = 0
    return datetime(date.year, date.month, date.day, hour, minute, second)  # noqa: DTZ001


def parse_count(text: str) -> int:
    """Return a non-negative integer; 0 if the text is none."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS_MAX else 0
