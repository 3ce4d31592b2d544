"""The service's time, read from the headers of its answers.

A sandbox may be days ahead of this machine, so "today" of a status query is the service's. Clearlane says its time in
``X-Service-Time``; other services of this kind have the ``Date`` of HTTP.
"""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

from clearlane.client.transport import Response

HEADER = "x-service-time"


class ServiceTime:
    """The time of the last answer, and what has passed since."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: tuple[datetime, float] | None = None

    def note(self, response: Response) -> None:
        """Take the time from an answer's headers; one without a time changes nothing."""
        given = _read(response.headers.get(HEADER, "")) or _read_date(
            response.headers.get("date", "")
        )
        if given is not None:
            self._known = (given, self._clock())

    def now(self) -> datetime | None:
        """Return the service's time in UTC; None before the first answer with a time."""
        if self._known is None:
            return None
        given, at = self._known
        return given + timedelta(seconds=self._clock() - at)

    def today(self) -> date | None:
        """Return the service's day; None before the first answer with a time."""
        now = self.now()
        return None if now is None else now.date()


def _read(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else None


def _read_date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, TypeError):
        return None
