"""The types of values that filters of lists take: the same for claims, payments and whatever else is listed."""

from enum import StrEnum


class FilterType(StrEnum):
    """How the value of a filter is read, and what it is then."""

    TEXT = "text"
    CHOICE = "choice"
    AMOUNT = "amount"
    """Cents."""
    DAY = "day"
    """A date."""
    MOMENT = "moment"
    """A date and a time with its offset."""
    FLAG = "flag"
    BANK = "bank"
    """A text of a bank statement."""
