"""Events of Clearlane's own API: one page, or followed for as long as wanted.

::

    for event in client.events.follow(CursorFile("events.cursor"), types=["claim.*"]):
        book(event)

Following goes on through outages of the service. With a :class:`CursorFile` it goes on after a restart of the program
as well: an event counts as handled when the next one is asked for, so the last one may come again, and none is missed.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from clearlane.client import limits
from clearlane.client.calls import V1, Call
from clearlane.client.errors import RateLimited, Unavailable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. Ignore types and data that you do not know."""

    id: str
    type: str
    created: str
    mode: str
    site: str | None
    actor: str
    claim_number: str | None
    vendor_claim_id: str | None
    data: Mapping[str, Any]
    raw: Mapping[str, Any] = field(repr=False)
    """The event as it came."""

    @property
    def sequence(self) -> int | None:
        """Counts the events of one claim: drop one whose number is below one that you have handled."""
        found = self.data.get("sequence")
        return found if isinstance(found, int) else None


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of events."""

    events: list[Event]
    cursor: str
    """Where to go on."""
    is_end: bool
    """Whether there were no more events."""


class CursorFile:
    """A file that keeps the place in the feed."""

    def __init__(self, file: Path | str) -> None:
        self.file = Path(file)

    def load(self) -> str | None:
        """Return the cursor; None before there is one."""
        try:
            return self.file.read_text(encoding="ascii").strip() or None
        except FileNotFoundError:
            return None

    def save(self, cursor: str) -> None:
        """Keep a cursor: the file has the old one or the new one, whatever happens."""
        new = self.file.with_name(f"{self.file.name}.new")
        with new.open("w", encoding="ascii") as file:
            file.write(cursor)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.file)


Cursor = str | CursorFile | None


def read_event(raw: Any) -> Event:
    """Return an event from its JSON object."""
    if not isinstance(raw, dict):
        raise TypeError("an event is an object")
    names = ("id", "type", "created", "mode", "site", "actor", "claim_number", "vendor_claim_id")
    data = raw.get("data")
    return Event(
        **{name: raw.get(name) for name in names},  # type: ignore[arg-type]  # texts, as the interface has them
        data=data if isinstance(data, dict) else {},
        raw=raw,
    )


def read_page(raw: Any) -> EventPage:
    """Return a page of events from its JSON object."""
    if not isinstance(raw, dict) or not isinstance(raw.get("data"), list):
        raise TypeError("a page is an object with data")
    events = [read_event(one) for one in raw["data"]]
    return EventPage(events, str(raw.get("cursor") or raw.get("next") or ""), raw["next"] is None)


def events_call(
    *,
    after: str | None,
    types: Sequence[str],
    site: str | None,
    limit: int,
    wait_seconds: int,
) -> Call[EventPage]:
    """Return the call of one page."""
    query = {"limit": str(limit), "wait": str(wait_seconds)}
    if after:
        query["after"] = after
    if types:
        query["types"] = ",".join(types)
    if site:
        query["site"] = site
    return Call(
        name="GetEvents",
        path="events",
        query=query,
        read=read_page,
        verb="GET",
        version=V1,
        timeout_seconds=limits.ANSWER_SECONDS_MAX + wait_seconds,
    )


@dataclass(slots=True)
class Following:
    """The place of a follower, and what it waits for: shared by both clients."""

    cursor: Cursor
    types: Sequence[str]
    site: str | None
    after: str | None = None
    failures: int = 0

    def __post_init__(self) -> None:
        place = self.cursor
        self.after = place.load() if isinstance(place, CursorFile) else place

    def call(self) -> Call[EventPage]:
        """Return the call of the next page."""
        return events_call(
            after=self.after, types=self.types, site=self.site, limit=limits.EVENTS_PER_PAGE,
            wait_seconds=limits.EVENT_WAIT_SECONDS,
        )  # fmt: skip

    def handled(self, cursor: str) -> None:
        """Note that everything up to a cursor is handled."""
        self.failures = 0
        if cursor and cursor != self.after:
            self.after = cursor
            if isinstance(self.cursor, CursorFile):
                self.cursor.save(cursor)

    def pause(self, fault: Unavailable | RateLimited) -> float:
        """Return how long to wait for a service that is away; raise what a retry would not change."""
        if not fault.retryable:
            raise fault
        self.failures += 1
        grown = limits.FIRST_PAUSE_SECONDS * 2 ** min(self.failures, 10)
        return float(max(min(grown, limits.FOLLOW_PAUSE_SECONDS_MAX), fault.retry_after or 0))
