"""Webhook endpoints of Clearlane's own API: the addresses that a vendor receives events at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

from clearlane.client import build
from clearlane.client.calls import V1, Call, RetryRule
from clearlane.client.events import AsyncRun, Run
from clearlane.client.protocol import CallProtocol

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


def replay_call(id: str, since: str | None, after: str | None) -> Call[None]:
    """Return the call that delivers events again."""
    body = {name: value for name, value in (("since", since), ("after", after)) if value}
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


@dataclass(frozen=True, slots=True)
class WebhookEndpoints:
    """The webhook endpoints of a vendor, for threads."""

    _protocol: CallProtocol
    _run: Run

    def add(
        self, url: str, types: Sequence[str] = (), sites: Sequence[str] = ()
    ) -> WebhookEndpoint:
        """Add an endpoint; its secret is in this answer only."""
        return self._run(self._protocol.perform(add_call(url, types, sites)))

    def list(self) -> "list[WebhookEndpoint]":
        """Return the endpoints."""
        return self._run(self._protocol.perform(list_call()))

    def get(self, id: str) -> WebhookEndpoint:
        """Return one endpoint."""
        return self._run(self._protocol.perform(get_call(id)))

    def change(
        self,
        id: str,
        *,
        url: str | None = None,
        types: Sequence[str] | None = None,
        sites: Sequence[str] | None = None,
    ) -> WebhookEndpoint:
        """Change the address, types or sites of an endpoint; what is left out stays."""
        return self._run(self._protocol.perform(change_call(id, url, types, sites)))

    def remove(self, id: str) -> None:
        """Remove an endpoint and its log."""
        self._run(self._protocol.perform(remove_call(id)))

    def rotate_secret(self, id: str) -> WebhookEndpoint:
        """Give an endpoint a new secret; the old one signs as well for a day."""
        return self._run(self._protocol.perform(rotate_call(id)))

    def enable(self, id: str, *, replay: bool = True) -> WebhookEndpoint:
        """Enable an endpoint, and have everything delivered since it failed."""
        return self._run(self._protocol.perform(enable_call(id, replay=replay)))

    def ping(self, id: str) -> None:
        """Send a ``ping`` to an endpoint."""
        self._run(self._protocol.perform(ping_call(id)))

    def replay(self, id: str, *, since: str | None = None, after: str | None = None) -> None:
        """Deliver events again, from a moment or an event on."""
        self._run(self._protocol.perform(replay_call(id, since, after)))

    def deliveries(self, id: str, *, limit: int = 100) -> "Sequence[WebhookDelivery]":
        """Return what was sent to an endpoint, the newest events first."""
        return self._run(self._protocol.perform(log_call(id, limit)))

    def resend(self, id: str, event_id: str) -> None:
        """Deliver one event again."""
        self._run(self._protocol.perform(resend_call(id, event_id)))


@dataclass(frozen=True, slots=True)
class AsyncWebhookEndpoints:
    """The webhook endpoints of a vendor, for an event loop."""

    _protocol: CallProtocol
    _run: AsyncRun

    async def add(
        self, url: str, types: Sequence[str] = (), sites: Sequence[str] = ()
    ) -> WebhookEndpoint:
        """Add an endpoint; its secret is in this answer only."""
        return await self._run(self._protocol.perform(add_call(url, types, sites)))

    async def list(self) -> "list[WebhookEndpoint]":
        """Return the endpoints."""
        return await self._run(self._protocol.perform(list_call()))

    async def get(self, id: str) -> WebhookEndpoint:
        """Return one endpoint."""
        return await self._run(self._protocol.perform(get_call(id)))

    async def change(
        self,
        id: str,
        *,
        url: str | None = None,
        types: Sequence[str] | None = None,
        sites: Sequence[str] | None = None,
    ) -> WebhookEndpoint:
        """Change the address, types or sites of an endpoint; what is left out stays."""
        return await self._run(self._protocol.perform(change_call(id, url, types, sites)))

    async def remove(self, id: str) -> None:
        """Remove an endpoint and its log."""
        await self._run(self._protocol.perform(remove_call(id)))

    async def rotate_secret(self, id: str) -> WebhookEndpoint:
        """Give an endpoint a new secret; the old one signs as well for a day."""
        return await self._run(self._protocol.perform(rotate_call(id)))

    async def enable(self, id: str, *, replay: bool = True) -> WebhookEndpoint:
        """Enable an endpoint, and have everything delivered since it failed."""
        return await self._run(self._protocol.perform(enable_call(id, replay=replay)))

    async def ping(self, id: str) -> None:
        """Send a ``ping`` to an endpoint."""
        await self._run(self._protocol.perform(ping_call(id)))

    async def replay(self, id: str, *, since: str | None = None, after: str | None = None) -> None:
        """Deliver events again, from a moment or an event on."""
        await self._run(self._protocol.perform(replay_call(id, since, after)))

    async def deliveries(self, id: str, *, limit: int = 100) -> "Sequence[WebhookDelivery]":
        """Return what was sent to an endpoint, the newest events first."""
        return await self._run(self._protocol.perform(log_call(id, limit)))

    async def resend(self, id: str, event_id: str) -> None:
        """Deliver one event again."""
        await self._run(self._protocol.perform(resend_call(id, event_id)))


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
