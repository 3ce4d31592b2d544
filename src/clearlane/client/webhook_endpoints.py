"""Webhook endpoints of Clearlane's own API: the addresses that a vendor receives events at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

from clearlane.client import build
from clearlane.client.calls import V1, Call, RetryRule

T = TypeVar("T")
PATH = "webhook_endpoints"
RETRY_RULES = {
    "GET": RetryRule.ALWAYS,
    "POST": RetryRule.ALWAYS,
    "PATCH": RetryRule.ALWAYS,
    "DELETE": RetryRule.IF_NOT_PROCESSED,  # the second one finds nothing
}


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """A webhook endpoint."""

    id: str
    url: str
    types: list[str]
    sites: list[str]
    state: str
    fault: str | None
    failed_event: str | None
    secret: str | None = field(repr=False)
    """In the answer to :meth:`add` and :meth:`rotate_secret` only."""
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """One event for one endpoint."""

    event_id: str
    type: str
    state: str
    attempts: int
    status: int | None
    fault: str | None
    next_attempt_at: str | None
    attempted_at: str | None
    answer: str | None = field(repr=False)
    raw: Mapping[str, Any] = field(repr=False)


def add_call(url: str, types: Sequence[str], sites: Sequence[str]) -> Call[WebhookEndpoint]:
    """Return the call that adds an endpoint."""
    return _call(
        "AddWebhookEndpoint", "POST", PATH, _endpoint,
        body={"url": url, "types": list(types), "sites": list(sites)},
    )  # fmt: skip


def list_call() -> Call[list[WebhookEndpoint]]:
    """Return the call that lists the endpoints."""
    return _call("GetWebhookEndpoints", "GET", PATH, _page(_endpoint))


def get_call(id: str) -> Call[WebhookEndpoint]:
    """Return the call for one endpoint."""
    return _call("GetWebhookEndpoint", "GET", _path(id), _endpoint)


def change_call(
    id: str, url: str | None, types: Sequence[str] | None, sites: Sequence[str] | None
) -> Call[WebhookEndpoint]:
    """Return the call that changes an endpoint; what is None stays."""
    given = {
        "url": url,
        "types": None if types is None else [*types],
        "sites": None if sites is None else [*sites],
    }
    body = {name: value for name, value in given.items() if value is not None}
    return _call("ChangeWebhookEndpoint", "PATCH", _path(id), _endpoint, body=body)


def remove_call(id: str) -> Call[None]:
    """Return the call that removes an endpoint."""
    return _call("RemoveWebhookEndpoint", "DELETE", _path(id), _nothing)


def rotate_call(id: str) -> Call[WebhookEndpoint]:
    """Return the call that gives an endpoint a new secret."""
    return _call("RotateWebhookSecret", "POST", _path(id, "rotate_secret"), _endpoint)


def enable_call(id: str, *, replay: bool) -> Call[WebhookEndpoint]:
    """Return the call that enables an endpoint."""
    return _call(
        "EnableWebhookEndpoint", "POST", _path(id, "enable"), _endpoint, body={"replay": replay}
    )


def ping_call(id: str) -> Call[None]:
    """Return the call that tests an endpoint."""
    return _call("PingWebhookEndpoint", "POST", _path(id, "ping"), _nothing)


def replay_call(id: str, since_at: str | None, after: str | None) -> Call[None]:
    """Return the call that delivers events again."""
    body = {name: value for name, value in (("since_at", since_at), ("after", after)) if value}
    return _call("ReplayWebhookEndpoint", "POST", _path(id, "replay"), _nothing, body=body)


def log_call(id: str, limit: int) -> Call[list[WebhookDelivery]]:
    """Return the call that lists deliveries, the newest first."""
    return _call(
        "GetWebhookDeliveries", "GET", _path(id, "deliveries"), _page(_delivery),
        query={"limit": str(limit)},
    )  # fmt: skip


def resend_call(id: str, event_id: str) -> Call[None]:
    """Return the call that delivers one event again."""
    return _call("ResendWebhook", "POST", _path(id, "deliveries", event_id, "resend"), _nothing)


def _path(id: str, *rest: str) -> str:
    return "/".join([PATH, *(quote(part, safe="") for part in (id, *rest))])


def _call(
    name: str,
    verb: str,
    path: str,
    read: Callable[[Any], T],
    *,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
) -> Call[T]:
    return Call(
        name=name,
        path=path,
        query=query or {},
        body=b"" if body is None else build.encode_json(body),
        read=_checked(read),
        verb=verb,
        version=V1,
        # Done once, however often it is sent: so the answer with a secret is not lost.
        idempotency_key=str(uuid4()) if verb == "POST" else "",
        retry_rule=RETRY_RULES[verb],
    )


def _checked(read: Callable[[Any], T]) -> Callable[[Any], T]:
    """Return a reader that raises TypeError for an answer without what it must have."""

    def checked(raw: Any) -> T:
        try:
            return read(raw)
        except KeyError as missing:
            raise TypeError(f"{missing} is missing") from None

    return checked


def _endpoint(raw: Any) -> WebhookEndpoint:
    return WebhookEndpoint(
        id=raw["id"], url=raw["url"], types=raw["types"], sites=raw["sites"], state=raw["state"],
        fault=raw.get("fault"), failed_event=raw.get("failed_event"), secret=raw.get("secret"),
        raw=raw,
    )  # fmt: skip


def _delivery(raw: Any) -> WebhookDelivery:
    return WebhookDelivery(
        event_id=raw["event_id"], type=raw["type"], state=raw["state"], attempts=raw["attempts"],
        status=raw.get("status"), fault=raw.get("fault"),
        next_attempt_at=raw.get("next_attempt_at"), attempted_at=raw.get("attempted_at"),
        answer=raw.get("answer"), raw=raw,
    )  # fmt: skip


def _page(read: Callable[[Any], T]) -> Callable[[Any], list[T]]:
    return lambda raw: [read(one) for one in raw["data"]]


def _nothing(raw: Any) -> None:
    return None
