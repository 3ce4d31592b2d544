"""An event before it is stored, and as it is read again; its id is also the cursor of the feed.

format_event_id(1_700_000_000_000_000)     # "E13LQTH9RNTH"
envelope(event, mode="sandbox", site="V1-S1", vendor_claim_id="A-17")
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from clearlane.kernel.clock import from_micros, moment_text
from clearlane.kernel.ids import NUMBER_DIGITS, format_digits, parse_digits

EVENT_LETTER = "E"
EVENT_ID_DIGITS = 11
EVENT_NUMBER_MAX = len(NUMBER_DIGITS) ** EVENT_ID_DIGITS - 1

EventValue: TypeAlias = str | int | bool | list[str] | None
EventData: TypeAlias = Mapping[str, EventValue]


class EventActor(StrEnum):
    """Who caused an event."""

    PAYER = "payer"
    VENDOR = "vendor"
    PERSON = "person"
    SYSTEM = "system"


NO_DATA: EventData = MappingProxyType({})


class NewEvent(NamedTuple):
    """An event that a transaction is about to store. Its id is given when the transaction commits."""

    type: str
    at: int = 0
    """Microseconds, of the clock of claims, which a sandbox may advance; 0 for the time of the write."""
    vendor_id: int | None = None
    """None for every vendor, or for operators."""
    site_id: int | None = None
    claim_number: str = ""
    sequence: int = 0
    """Counts the events of one claim, from 1; 0 if there is no claim."""
    data: EventData = NO_DATA
    actor: EventActor | None = None
    """None for the one who acts in the transaction."""


class Event(NamedTuple):
    """A stored event."""

    id: int
    type: str
    at: int
    vendor_id: int | None
    site_id: int | None
    actor: str
    claim_number: str
    sequence: int
    data: EventData


def format_event_id(number: int) -> str:
    """Return the id of an event as callers see it. Ids sort as the events were committed."""
    return EVENT_LETTER + format_digits(number, EVENT_ID_DIGITS)


def parse_event_id(text: str) -> int | None:
    """Return the number of an event id; None if the text is none."""
    digits = text.removeprefix(EVENT_LETTER)
    if len(digits) != EVENT_ID_DIGITS or digits == text:
        return None
    try:
        return parse_digits(digits)
    except ValueError:
        return None


def envelope(
    event: Event, *, mode: str, site: str | None, vendor_claim_id: str | None
) -> dict[str, object]:
    """Return an event as vendors get it, in the feed and by webhook."""
    data = dict(event.data)
    if event.claim_number:
        data = {"sequence": event.sequence, **data}
        data["url"] = f"/clearlane/v1/claims/{event.claim_number}"
    elif payment_id := data.get("payment_id"):
        data["url"] = f"/clearlane/v1/payments/{payment_id}"
    elif file_id := data.get("file_id"):
        data["url"] = f"/clearlane/v1/files/{file_id}"
    elif enrollment_id := data.get("enrollment_id"):
        data["url"] = f"/clearlane/v1/enrollments/{enrollment_id}"
    return {
        "id": format_event_id(event.id),
        "type": event.type,
        "created": moment_text(from_micros(event.at)),
        "mode": mode,
        "site": site,
        "actor": event.actor,
        "claim_number": event.claim_number or None,
        "vendor_claim_id": vendor_claim_id,
        "data": data,
    }
