"""Webhook endpoints of ``/clearlane/v1``: the addresses that a vendor receives events at, and what was sent there."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Annotated, Literal, TypeVar

from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import ParameterFault, RequestRefusal
from clearlane.api.frame.idempotency import RecordedResponse
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.cursors import CURSOR_EXPECTED
from clearlane.api.v1.events import EVENT_PATTERNS_MAX, require_given_out, unknown_types
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import (
    PREFIX,
    Page,
    Resource,
    ResourceRows,
    page_response,
    read_body,
)
from clearlane.connect.webhook_http import address_fault
from clearlane.events.event import format_event_id, parse_event_id
from clearlane.events.types import EVERYTHING, unknown_patterns
from clearlane.kernel.clock import micros_text, to_micros
from clearlane.kernel.list_filter import FilterFault, FilterType, read_filter
from clearlane.pipeline.notify import webhook_endpoints
from clearlane.pipeline.notify.webhook_endpoints import (
    NoSuchEndpoint,
    TooManyEndpoints,
    WebhookEndpoint,
)
from clearlane.store.database.database import Tx
from clearlane.store.events.webhooks import DeliveryRow

endpoints = ResourceRows(
    Resource.WEBHOOKS,
    touches_phi=False,
    reads=KeyScope.WEBHOOKS,
    changes=KeyScope.WEBHOOKS,
    of_vendor=True,
)

ONE = "webhook_endpoints/{endpoint_id}"
ENDPOINTS_LIST, DELIVERIES_LIST = "webhook_endpoints", "webhook_deliveries"
NEITHER_OR_BOTH = "Give either the moment (`since_at`) or the event (`after`) from which on events are sent again."
AT_LEAST_ONCE = (
    "Events come at least once, those of one claim in order: drop what has the `webhook-id` of an earlier one. A delivery "
    "that fails is tried again after 5 s, 5 m, 30 m, 2 h, 8 h, 24 h and 48 h; then the endpoint is disabled."
)
T = TypeVar("T")


# ---- documents ---------------------------------------------------------------------------------


URL = Annotated[str, Field(description="https only; in a sandbox also http://127.0.0.1.")]
TYPES = Annotated[
    list[str],
    Field(description="Types or families such as `claim.*`; `*` or none for everything."),
]
SITES = Annotated[list[str], Field(description="Vendor site ids; none for all sites.")]


@dataclass(frozen=True, slots=True)
class NewEndpoint:
    """A new webhook endpoint."""

    url: URL
    types: TYPES = field(default_factory=list)
    sites: SITES = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EndpointChange:
    """A change of an endpoint; what is left out stays."""

    url: URL | None = None
    types: TYPES | None = None
    sites: SITES | None = None


@dataclass(frozen=True, slots=True)
class EnableRequest:
    """How a disabled endpoint is enabled."""

    replay: Annotated[
        bool, Field(description="Whether everything since it failed is delivered now.")
    ] = True


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """From when on events are delivered again; one of the two."""

    since_at: Annotated[str | None, Field(description="A moment.")] = None
    after: Annotated[str | None, Field(description="The id of an event.")] = None


class WebhookEndpointJson(JsonModel):
    """A webhook endpoint."""

    id: str
    url: URL
    types: TYPES
    sites: SITES
    state: Literal["active", "disabled"]
    created_at: datetime
    first_failed_at: Annotated[
        datetime | None, Field(description="Since when deliveries fail; null while they succeed.")
    ]
    disabled_at: datetime | None
    failed_event: Annotated[
        str | None, Field(description="The first event that it did not get; enabling replays from it.")
    ]  # fmt: skip
    fault: Annotated[str | None, Field(description="Why the last delivery failed.")]


class SecretJson(WebhookEndpointJson):
    """A webhook endpoint with its secret, which is shown once."""

    secret: Annotated[
        str, Field(description="Verify signatures with it (Standard Webhooks); `whsec_...`.")
    ]


class FollowedJson(JsonModel):
    """What was begun, and where to see what becomes of it."""

    id: Annotated[str, Field(description="The endpoint.")]
    after: Annotated[
        str,
        Field(
            description="The event after which it begins: `after` of the feed, if that is wanted."
        ),
    ]
    events_url: Annotated[str, Field(description="The events that are sent, in the feed.")]
    deliveries_url: Annotated[
        str, Field(description="What was sent to the endpoint, the newest first.")
    ]


class DeliveryJson(JsonModel):
    """One event for one endpoint."""

    id: Annotated[str, Field(description="Its `event_id`: an endpoint gets an event once.")]
    event_id: str
    type: str
    state: Literal["waiting", "delivered", "failed"]
    attempts: int
    next_attempt_at: datetime | None
    attempted_at: datetime | None
    status: Annotated[int | None, Field(description="The HTTP status of the last answer.")]
    fault: str | None
    answer: Annotated[str | None, Field(description="The first kilobyte of the last answer.")]


class DoneJson(JsonModel):
    """What was asked for will be done."""

    id: str


# ---- handlers ----------------------------------------------------------------------------------


@endpoints.read(
    "GetWebhookEndpoints",
    "webhook_endpoints",
    "The vendor's webhook endpoints.",
    Page[WebhookEndpointJson],
    parameters=parameters.page(ENDPOINTS_LIST),
)
async def list_endpoints(call: Call) -> Response:
    """Return the vendor's endpoints."""
    found = await webhook_endpoints.list_endpoints(call.context.work_context, call.vendor.id)
    after = call.parameters["after"] or ""
    rows = [one for one in found if one.row.endpoint_id > after]
    return page_response(
        sorted(rows, key=lambda one: one.row.endpoint_id),
        limit=call.parameters["limit"],
        of_list=ENDPOINTS_LIST,
        position=lambda one: (one.row.endpoint_id,),
        as_json=lambda one: _object(call, one),
    )


@endpoints.change(
    "AddWebhookEndpoint",
    "webhook_endpoints",
    "Receive events by webhook.",
    SecretJson,
    request_type=NewEndpoint,
    success_status=201,
    description=AT_LEAST_ONCE,
)
async def add_endpoint(call: Call) -> Response:
    """Add an endpoint; its secret is in this answer only."""
    given = await read_body(call, NewEndpoint)
    sites = _checked(call, given.url, given.types, given.sites)
    recorded = _recorded(call, 201, partial(_with_secret, call))
    try:
        await webhook_endpoints.add_endpoint(
            call.context.work_context, call.vendor.id, url=given.url.strip(),
            types=given.types or [EVERYTHING], sites=sites, actor=call.actor,
            now=call.context.wall.now(), extend=recorded.extend,
        )  # fmt: skip
    except TooManyEndpoints as fault:
        raise refuse(409, str(fault)) from None
    call.context.work_context.wake_webhooks()
    return recorded.response


@endpoints.read("GetWebhookEndpoint", ONE, "One webhook endpoint.", WebhookEndpointJson)
async def get_endpoint(call: Call) -> Response:
    """Return one endpoint."""
    endpoint = await _found(
        webhook_endpoints.load_endpoint(call.context.work_context, call.vendor.id, _id(call))
    )
    return json_response(200, _object(call, endpoint))


@endpoints.change(
    "ChangeWebhookEndpoint",
    ONE,
    "Change the address, types or sites.",
    WebhookEndpointJson,
    request_type=EndpointChange,
    verb="PATCH",
)
async def change_endpoint(call: Call) -> Response:
    """Change an endpoint."""
    given = await read_body(call, EndpointChange)
    sites = _checked(call, given.url, given.types, given.sites)
    changed = await _found(
        webhook_endpoints.change_endpoint(
            call.context.work_context, call.vendor.id, _id(call), url=given.url, types=given.types,
            sites=None if given.sites is None else sites, actor=call.actor,
        )
    )  # fmt: skip
    call.context.work_context.wake_webhooks()
    return json_response(200, _object(call, changed))


@endpoints.change(
    "RemoveWebhookEndpoint", ONE, "Remove a webhook endpoint and its log.", DoneJson, verb="DELETE"
)
async def remove_endpoint(call: Call) -> Response:
    """Remove an endpoint."""
    context = call.context.work_context
    await _found(
        webhook_endpoints.remove_endpoint(context, call.vendor.id, _id(call), actor=call.actor)
    )
    return json_response(200, {"id": _id(call)})


@endpoints.change(
    "RotateWebhookSecret",
    f"{ONE}/rotate_secret",
    "A new secret; the old one signs as well for 24 hours.",
    SecretJson,
)
async def rotate_secret(call: Call) -> Response:
    """Give an endpoint a new secret; the old one is valid for a day more."""
    rotate = partial(webhook_endpoints.rotate_secret, now=call.context.wall.now())
    return await _change(call, rotate, 200, _with_secret)


@endpoints.change(
    "EnableWebhookEndpoint",
    f"{ONE}/enable",
    "Enable a disabled endpoint, and replay what it missed.",
    WebhookEndpointJson,
    request_type=EnableRequest,
)
async def enable_endpoint(call: Call) -> Response:
    """Enable a disabled endpoint."""
    given = await read_body(call, EnableRequest)
    enable = partial(webhook_endpoints.enable_endpoint, replay=given.replay)
    return await _change(call, enable, 200, _object)


@endpoints.change(
    "PingWebhookEndpoint",
    f"{ONE}/ping",
    "Send a `ping` to the endpoint.",
    FollowedJson,
    success_status=202,
)
async def ping_endpoint(call: Call) -> Response:
    """Send a `ping` to an endpoint."""
    return await _change(
        call, webhook_endpoints.ping_endpoint, 202, partial(_followed, types="ping")
    )


@endpoints.change(
    "ReplayWebhookEndpoint",
    f"{ONE}/replay",
    "Deliver everything again from a moment or an event on.",
    FollowedJson,
    request_type=ReplayRequest,
    success_status=202,
)
async def replay_endpoint(call: Call) -> Response:
    """Deliver events again from a moment or an event on."""
    after = _replay_after(call, await read_body(call, ReplayRequest))
    replay = partial(webhook_endpoints.replay_endpoint, after=after)
    return await _change(call, replay, 202, _followed)


def _event_number(event_id: str) -> int:
    """Return the number of the event that a cursor names."""
    found = parse_event_id(event_id)
    if found is None:
        raise ParameterFault(CURSOR_EXPECTED)
    return found


@endpoints.read(
    "GetWebhookDeliveries",
    f"{ONE}/deliveries",
    "What was sent to the endpoint, the newest events first.",
    Page[DeliveryJson],
    parameters=parameters.page(DELIVERIES_LIST, position=_event_number),
)
async def list_deliveries(call: Call) -> Response:
    """Return the log of an endpoint, the newest events first."""
    before, limit = call.parameters["after"], call.parameters["limit"]
    rows = await _found(
        webhook_endpoints.list_deliveries(
            call.context.work_context, call.vendor.id, _id(call), before=before, limit=limit + 1
        )
    )
    return page_response(
        rows,
        limit=limit,
        of_list=DELIVERIES_LIST,
        position=lambda one: (format_event_id(one[0].event_id),),
        as_json=lambda one: _delivery_object(*one),
    )


@endpoints.change(
    "ResendWebhook",
    f"{ONE}/deliveries/{{event_id}}/resend",
    "Deliver one event again.",
    DoneJson,
    success_status=202,
)
async def resend(call: Call) -> Response:
    """Deliver one event to an endpoint again."""
    event_id = parse_event_id(call.path["event_id"])
    if event_id is None:
        raise _no_endpoint()
    resend = partial(webhook_endpoints.resend, event_id=event_id, now=call.context.wall.now())
    return await _change(call, resend, 202, _done)


# ---- what they share ---------------------------------------------------------------------------


def _recorded(
    call: Call, status: int, content: Callable[[T], dict[str, object]]
) -> RecordedResponse[T]:
    """Return the response that is stored with a change."""

    async def respond(_: Tx, result: T) -> Response:
        return json_response(status, content(result))

    return RecordedResponse(call, respond)


async def _change(
    call: Call,
    change: Callable[..., Awaitable[object]],
    status: int,
    content: Callable[[Call, T], dict[str, object]],
) -> Response:
    """Make a change of the endpoint that the path names; return the response that was stored with it."""
    context, recorded = call.context.work_context, _recorded(call, status, partial(content, call))
    await _found(
        change(context, call.vendor.id, _id(call), actor=call.actor, extend=recorded.extend)
    )
    context.wake_webhooks()
    return recorded.response


def _done(call: Call, _: None) -> dict[str, object]:
    return {"id": _id(call)}


def _followed(call: Call, after: int, *, types: str = "") -> dict[str, object]:
    cursor = format_event_id(after)
    query = f"types={types}&after={cursor}" if types else f"after={cursor}"
    return {
        "id": _id(call),
        "after": cursor,
        "events_url": f"{PREFIX}/events?{query}",
        "deliveries_url": f"{PREFIX}/webhook_endpoints/{_id(call)}/deliveries",
    }


def _id(call: Call) -> str:
    return call.path["endpoint_id"]


async def _found(work: Awaitable[T]) -> T:
    try:
        return await work
    except NoSuchEndpoint:
        raise _no_endpoint() from None


def _no_endpoint() -> RequestRefusal:
    return refuse(404, "The vendor has no webhook endpoint, or no delivery, of this id.")


def _checked(
    call: Call, url: str | None, types: list[str] | None, sites: list[str] | None
) -> list[int]:
    """Return the ids of the sites; refuse the call with every fault at once."""
    faults: dict[str, list[str]] = {}
    if url is not None and (fault := address_fault(url.strip(), sandbox=call.sandbox)):
        faults["url"] = [fault]
    if types and len(types) > EVENT_PATTERNS_MAX:
        faults["types"] = [f"{EVENT_PATTERNS_MAX} types at most are expected."]
    elif types and (unknown := unknown_patterns(types)):
        faults["types"] = [unknown_types(unknown)]
    accounts, found = call.context.accounts, []
    for name in sites or ():
        site = accounts.site(call.vendor, name)
        if site is None:
            faults["sites"] = ["One of them is not a site of this vendor."]
        else:
            found.append(int(site.id))
    if faults:
        raise RequestRefusal(call.errors.invalid_fields(faults))
    return found


def _replay_after(call: Call, given: ReplayRequest) -> int:
    if (given.since_at is None) == (given.after is None):
        raise RequestRefusal(call.errors.invalid_fields({"since_at": [NEITHER_OR_BOTH]}))
    if given.after is not None:
        after = parse_event_id(given.after)
        if after is None:
            text = "The id of an event is expected."
            raise RequestRefusal(call.errors.invalid_fields({"after": [text]}))
        require_given_out(call, after)
        return after
    try:
        since = read_filter(FilterType.MOMENT, given.since_at or "")
    except FilterFault as fault:
        raise RequestRefusal(call.errors.invalid_fields({"since_at": [str(fault)]})) from None
    # Numbers of events are the microseconds of the wall clock.
    return max(to_micros(since) - 1, 0)


def _object(call: Call, endpoint: WebhookEndpoint) -> dict[str, object]:
    row = endpoint.row
    names = {
        int(site.id): site.vendor_site_id for site in call.context.accounts.sites_of(call.vendor)
    }
    return {
        "id": row.endpoint_id,
        "url": endpoint.content.url,
        "types": endpoint.types,
        "sites": [names[site] for site in endpoint.sites if site in names],
        "state": row.state,
        "created_at": micros_text(row.created_at),
        "first_failed_at": micros_text(row.failing_since),
        "disabled_at": micros_text(row.disabled_at),
        "failed_event": None if row.failed_event is None else format_event_id(row.failed_event),
        "fault": row.fault or None,
    }


def _with_secret(call: Call, endpoint: WebhookEndpoint) -> dict[str, object]:
    return {**_object(call, endpoint), "secret": endpoint.content.secrets[0].secret}


def _delivery_object(row: DeliveryRow, answer: str) -> dict[str, object]:
    return {
        "id": format_event_id(row.event_id),
        "event_id": format_event_id(row.event_id),
        "type": row.type,
        "state": row.state,
        "attempts": row.attempts,
        "next_attempt_at": micros_text(row.due_at),
        "attempted_at": micros_text(row.attempted_at),
        "status": row.status,
        "fault": row.fault or None,
        "answer": answer or None,
    }
