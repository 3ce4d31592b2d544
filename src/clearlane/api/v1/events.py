"""Events of ``/clearlane/v1``: one ordered feed with a cursor, and long poll."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call, Endpoint, Parameter
from clearlane.api.frame.errors import ParameterFault, RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.resource import Page, Resource, ResourceRows
from clearlane.events.event import format_event_id, parse_event_id
from clearlane.events.types import TYPES, is_for_vendors, matching_types, unknown_patterns
from clearlane.kernel.clock import to_micros
from clearlane.kernel.limits import CLOCK_DIFFERENCE_SECONDS_MAX
from clearlane.pipeline.notify.feed import FeedReader, record_reading, wait_for_feed

endpoints = ResourceRows(Resource.EVENTS)

EVENT_WAIT_SECONDS_MAX = 30
WAIT_DIGITS_MAX = 9
BEGINNING = ("", "0")
"""What programs send that have no cursor yet."""
EVENT_PATTERNS_MAX = 50
AHEAD = "It is ahead of the feed: no event has this id yet. Pass the `cursor` of an answer, or leave it out."
TYPES_HELP = "Types or families, with commas between them, such as `claim.*,payment.received` (default: all)."


class EventJson(JsonModel):
    """Something that happened. Ignore types and fields that you do not know."""

    id: Annotated[
        str, Field(description="Its id, which is also a cursor: ids sort as events happened.")
    ]
    type: Annotated[str, Field(description="What happened, such as `claim.paid`.")]
    created: Annotated[datetime, Field(description="When it happened.")]
    mode: Literal["sandbox", "production"]
    site: Annotated[str | None, Field(description="The vendor site id; null for no site.")]
    actor: Literal["payer", "vendor", "person", "system"]
    claim_number: str | None
    vendor_claim_id: Annotated[
        str | None,
        Field(description="Null if the event is about no claim, or the operator leaves it out."),
    ]
    data: Annotated[
        dict[str, object],
        Field(description="Ids and states: `sequence` counts the events of one claim, so drop an older one that comes late."),
    ]  # fmt: skip


class EventPage(Page[EventJson]):
    """One page of the feed."""

    cursor: Annotated[
        str,
        Field(description="Where to go on: pass it as `after`, also when `next` is null and to wait for more."),
    ]  # fmt: skip


def _read_after(text: str | None, endpoint: Endpoint) -> int:
    if text is None or text.strip() in BEGINNING:
        return 0
    found = parse_event_id(text.strip())
    if found is None:
        raise ParameterFault("The id of an event is expected, or the `next` or `cursor` of a page.")
    return found


def _read_wait(text: str | None, endpoint: Endpoint) -> int:
    if text is None:
        return 0
    is_number = text.isascii() and text.isdecimal() and len(text) <= WAIT_DIGITS_MAX
    if not is_number or int(text) > EVENT_WAIT_SECONDS_MAX:
        raise ParameterFault(f"A whole number from 0 to {EVENT_WAIT_SECONDS_MAX} is expected.")
    return int(text)


def _read_types(text: str | None, endpoint: Endpoint) -> frozenset[str]:
    patterns = [] if text is None else [word.strip() for word in text.split(",")]
    if len(patterns) > EVENT_PATTERNS_MAX:
        raise ParameterFault(f"{EVENT_PATTERNS_MAX} types at most are expected.")
    if unknown := unknown_patterns(patterns):
        raise ParameterFault(unknown_types(unknown))
    return frozenset(filter(is_for_vendors, matching_types(patterns)))


def unknown_types(patterns: list[str]) -> str:
    """Return what is wrong with patterns that match no type, and what would pass."""
    shown = ", ".join(repr(one[:40]) for one in patterns[:5])
    wrong = "is not a type" if len(patterns) == 1 else "are not types"
    return f"{shown} {wrong}: give a type such as claim.paid, a family such as claim.*, or *."


def require_given_out(call: Call, after: int) -> None:
    """Refuse a cursor that is ahead of the feed: numbers of events are the microseconds of the clock."""
    latest = call.context.wall.now() + timedelta(seconds=CLOCK_DIFFERENCE_SECONDS_MAX)
    if after > to_micros(latest):
        raise RequestRefusal(call.errors.invalid_fields({"after": [AHEAD]}))


AFTER = Parameter(
    name="after",
    help="The `next` or `cursor` of the page before, or the id of an event; leave it out to begin with the oldest.",
    read=_read_after,
    schema={"type": "string", "pattern": "^E[0-9A-HJ-NP-TV-Z]{11}$"},
    required=False,
)
WAIT = Parameter(
    name="wait",
    help=f"Seconds to wait for an event if there is none, up to {EVENT_WAIT_SECONDS_MAX} (long poll).",
    read=_read_wait,
    schema={"type": "integer", "minimum": 0, "maximum": EVENT_WAIT_SECONDS_MAX, "default": 0},
    required=False,
)
TYPES_WANTED = Parameter(name="types", help=TYPES_HELP, read=_read_types, required=False)

DESCRIPTION = (
    "Everything that happened, in the order in which it was stored, kept for 90 days. Begin without `after`, then pass the "
    "`cursor` of each answer; with `wait` an answer comes as soon as something happens. Nothing is left out and "
    "nothing comes twice.\n\n| Type | What happened |\n|---|---|\n"
    + "\n".join(f"| `{row.name}` | {row.meaning} |" for row in TYPES.values() if is_for_vendors(row.name))
)  # fmt: skip


@endpoints.read(
    "GetEvents",
    "events",
    "What happened, in order, from a cursor on.",
    EventPage,
    parameters=(TYPES_WANTED, WAIT, parameters.LIMIT, AFTER),
    description=DESCRIPTION,
)
async def list_events(call: Call) -> Response:
    """Return the next events; wait for them if the caller says how long."""
    given = call.parameters
    require_given_out(call, given["after"])
    reader = FeedReader(
        call.vendor.id,
        {site.id: site.vendor_site_id for site in call.sites},
        of_vendor=call.is_of_vendor,
    )
    page = await wait_for_feed(
        call.context.work_context,
        reader,
        types=given["types"],
        after=given["after"],
        limit=given["limit"],
        seconds=given["wait"],
        stopping=call.stopping,
    )
    if page.events:
        await record_reading(call.context.work_context, reader, page, actor=call.actor)
    cursor = format_event_id(page.cursor)
    next = None if page.is_end else cursor
    return json_response(200, {"data": page.events, "next": next, "cursor": cursor})
