"""When delayed responses are due: the inquiries of one request are answered one after the other.

Knows moments and keys of inquiries; knows no file, and does not wait itself.
"""

from datetime import datetime, timedelta
from typing import TypeVar

from clearlane.kernel.limits import SANDBOX_DELAY_REMEMBERED_SECONDS

REMEMBERED = timedelta(seconds=SANDBOX_DELAY_REMEMBERED_SECONDS)

T = TypeVar("T")
InquiryKey = tuple[str, str]
"""The request, and the inquiry in it."""


class ResponseDelays:
    """Due times of one payer's delayed responses, in memory: a restart forgets them."""

    def __init__(self) -> None:
        self._free: dict[str, datetime] = {}
        """When the last inquiry of a request is answered."""
        self._due: dict[InquiryKey, datetime] = {}

    def reserve(self, question: InquiryKey, length: timedelta, now: datetime) -> datetime:
        """Return when an inquiry is answered. Asked again before that, the time stays the same."""
        self._drop_expired(now)
        known = self._due.get(question)
        if known is not None:
            return known
        request, _ = question
        due = max(now, self._free.pop(request, now)) + length
        self._free[request] = self._due[question] = due
        return due

    def release(self, question: InquiryKey) -> None:
        """Forget an inquiry that was answered: the next time it is delayed again."""
        self._due.pop(question, None)

    def __len__(self) -> int:
        return len(self._due) + len(self._free)

    def _drop_expired(self, now: datetime) -> None:
        """Drop expired entries, two of each table at a time, which is faster than entries come in."""
        for _ in range(2):
            _check_oldest(self._free, now)
            _check_oldest(self._due, now - REMEMBERED)


def _check_oldest(table: dict[T, datetime], now: datetime) -> None:
    """Drop the oldest entry if it is over, else move it to the end."""
    for key in table:
        due = table.pop(key)
        if due > now:
            table[key] = due
        return
