"""Whose turn it is where answers take long: the questions of one request wait for each other.

Knows moments and names of questions; knows no file, and does not wait itself.
"""

from datetime import datetime, timedelta
from typing import TypeVar

from clearlane.kernel.limits import SANDBOX_DELAY_REMEMBERED_SECONDS

REMEMBERED = timedelta(seconds=SANDBOX_DELAY_REMEMBERED_SECONDS)

T = TypeVar("T")
Question = tuple[str, str]
"""The request and the question in it."""


class Turns:
    """The turns of one payer, in memory: after a restart they begin anew."""

    def __init__(self) -> None:
        self._free: dict[str, datetime] = {}
        """When the last question of a request is answered."""
        self._due: dict[Question, datetime] = {}

    def take(self, question: Question, length: timedelta, now: datetime) -> datetime:
        """When a question is answered. Asked again before that, its turn stays the same."""
        self._forget(now)
        known = self._due.get(question)
        if known is not None:
            return known
        request, _ = question
        due = max(now, self._free.pop(request, now)) + length
        self._free[request] = self._due[question] = due
        return due

    def done(self, question: Question) -> None:
        """It was answered: the next time it takes a turn of its own."""
        self._due.pop(question, None)

    def __len__(self) -> int:
        return len(self._due) + len(self._free)

    def _forget(self, now: datetime) -> None:
        """Let go of what nobody came back for: two entries of each table at a time, which outruns what comes in."""
        for _ in range(2):
            _look(self._free, now)
            _look(self._due, now - REMEMBERED)


def _look(table: dict[T, datetime], now: datetime) -> None:
    """Forget the entry that was looked at longest ago, or look at it again after all others."""
    for key in table:
        due = table.pop(key)
        if due > now:
            table[key] = due
        return
