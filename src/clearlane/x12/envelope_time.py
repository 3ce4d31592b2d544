"""When a file was written, and which one of its sender's it is: what an envelope says of itself.

A sender's clock has no zone, and some write no time; a sender counts its interchanges upwards. Knows envelopes;
knows no set.
"""

from datetime import datetime

from clearlane.kernel import formats
from clearlane.x12.tree import Group, Interchange, element

NEVER = datetime(1, 1, 1)  # noqa: DTZ001 - a sender's clock has no zone
NUMBER_DIGITS_MAX = 10


def time_of(group: Group) -> datetime:
    """When a group was written (GS04 and GS05), else its interchange; seconds where there are any."""
    own = moment(element(group.header, 4), element(group.header, 5))
    return own or time_of_interchange(group.interchange)


def time_of_interchange(interchange: Interchange) -> datetime:
    """When an interchange was written (ISA09 and ISA10)."""
    header = interchange.header
    return moment("20" + element(header, 9), element(header, 10)) or NEVER


def serial_of(interchange: Interchange) -> int:
    """ISA13 as a number."""
    return whole_number(interchange.control)


def moment(day: str, time: str) -> datetime | None:
    """A day and a time as X12 writes them; None where there is no day."""
    found = formats.x12_date(day)
    if found is None:
        return None
    digits = time[:6] if time.isascii() and time.isdigit() else ""
    hour, minute, second = (int(digits[at : at + 2] or 0) for at in (0, 2, 4))
    if hour > 23 or minute > 59 or second > 59:
        hour = minute = second = 0
    return datetime(found.year, found.month, found.day, hour, minute, second)  # noqa: DTZ001


def whole_number(text: str) -> int:
    """A plain count; 0 where the text is none."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS_MAX else 0
