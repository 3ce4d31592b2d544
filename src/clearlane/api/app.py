"""The front door as an ASGI application: find the row, run the checks, answer, tell the log.

Every answer carries ``X-Request-Id``. One line per request goes to the log, without path, query or
credentials, because all three can hold what must not be kept. Knows no call by name.
"""

import asyncio
import itertools
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from clearlane.api.endpoint import Desk, Limits, Row
from clearlane.api.errors import UNRESPONSIVE, ClientGone, Refusal
from clearlane.api.logs import fault_fields
from clearlane.api.metrics import Metrics
from clearlane.api.proxies import Proxies
from clearlane.api.request_checks import Checks, Routes, Visit
from clearlane.api.v3 import wire
from clearlane.kernel import limits

log = structlog.get_logger()

REQUEST_ID = re.compile(rf"[A-Za-z0-9._-]{{1,{limits.REQUEST_ID_CHARACTERS_MAX}}}", re.ASCII)
REQUEST_ID_HEADER = b"x-request-id"
UNREADABLE = "head"
"""Key in the connection's state under which the protocol leaves its refusal of a request's head."""
CLIENT_GONE_STATUS = 499
"""Written to the log where the caller left before an answer; never sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A document that anyone may read: no credentials, one verb."""

    name: str
    path: str
    summary: str
    media_type: str
    schema: Mapping[str, Any]
    content: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Mounted:
    """Another room's pages under a first path segment. It answers by itself, behind our https and log."""

    name: str
    segment: str
    answer: Callable[[Request, str, str], Awaitable[Response]]
    """Is told the request, the caller's address and the request id."""


class FrontDoor:
    """Answers every request that reaches the service."""

    def __init__(
        self,
        desk: Desk,
        rows: Sequence[Row],
        pages: Sequence[Page] = (),
        *,
        limits: Limits,
        metrics: Metrics,
        proxies: Proxies,
        sandbox: bool,
        base_url: str = "",
        mounted: Sequence[Mounted] = (),
    ) -> None:
        self.stopping = asyncio.Event()
        self._checks = Checks(
            desk, limits, metrics, self.stopping, sandbox=sandbox, base_url=base_url
        )
        self._mounted = {one.segment.encode(): one for one in mounted}
        served: tuple[Row | Page, ...] = (*rows, *pages)
        self._routes = Routes((one.path, one) for one in served)
        self._metrics = metrics
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = perf_counter()
        headers = read_headers(scope["headers"])
        visit = Visit(
            method=scope["method"],
            path=scope["raw_path"],
            query=scope["query_string"],
            headers=headers,
            address=self._proxies.client(scope, headers),
            request_id=request_id(headers.get("x-request-id")),
            receive=receive,
        )
        status = CLIENT_GONE_STATUS

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = (REQUEST_ID_HEADER, visit.request_id.encode())
                message["headers"] = [*message["headers"], own]
            await send(message)

        try:
            answer = await self._answer(scope, visit)
            if answer is not None:
                await answer(scope, receive, told)
        finally:
            self._tell(visit, status, perf_counter() - started)

    async def _answer(self, scope: Scope, visit: Visit) -> Response | None:
        try:
            return await self._route(scope, visit)
        except Refusal as refusal:
            return refusal.answer
        except ClientGone:
            return None
        except asyncio.CancelledError:
            if not self.stopping.is_set():
                raise
            return wire.unavailable("The service is stopping.")  # its time to finish is over
        except UNRESPONSIVE as fault:
            log.warning("part unresponsive", request_id=visit.request_id, **fault_fields(fault))
            return wire.unavailable()
        except Exception as fault:  # noqa: BLE001  (told by type and place; the door stays open)
            log.error("fault in a call", request_id=visit.request_id, **fault_fields(fault))  # noqa: TRY400
            return wire.fault()

    async def _route(self, scope: Scope, visit: Visit) -> Response:
        refused = scope.get("state", {}).get(UNREADABLE)
        if refused is not None:
            status, text = refused
            return wire.message(status, text, {"Connection": "close"})
        if not self._proxies.encrypted(scope, visit.headers):
            return wire.https_required()
        mounted = self._mounted.get(visit.path[1:].partition(b"/")[0])
        if mounted is not None:
            visit.route = mounted.name
            request = Request(scope, visit.receive)
            return await mounted.answer(request, visit.address, visit.request_id)
        row = self._routes.find(visit.path)
        if row is None:
            return wire.no_resource()
        visit.route = row.name
        if isinstance(row, Page):
            return page_answer(row, visit.method)
        if visit.method not in row.verbs:
            return wire.wrong_verb(visit.method, ", ".join(row.verbs))
        return await self._checks.answer(row, visit)

    def _tell(self, visit: Visit, status: int, seconds: float) -> None:
        self._metrics.answered(visit.route, status, seconds)
        log.info(
            "request",
            request_id=visit.request_id,
            method=visit.method,
            route=visit.route,
            status=status,
            ms=round(seconds * 1_000, 2),
            vendor=visit.vendor.id if visit.vendor else None,
            site=visit.site.id if visit.site else None,
        )


def page_answer(page: Page, method: str) -> Response:
    """A page to whoever asks for it with GET or HEAD."""
    if method not in {"GET", "HEAD"}:
        return wire.wrong_verb(method, "GET, HEAD")
    return Response(page.content, 200, {"Content-Type": page.media_type, **dict(page.headers)})


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; the values of one given twice stand side by side."""
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def request_id(offered: str | None) -> str:
    """The caller's own id where it is one we can pass on, else a new one."""
    if offered is not None and REQUEST_ID.fullmatch(offered):
        return offered
    return new_request_id()


def new_request_id() -> str:
    """An id that no other request on any node has, in a form that tells nothing."""
    return f"{_PROCESS}{next(_COUNT):016x}"


# Random bits cost a system call; a process needs them once, and then it counts.
_PROCESS = secrets.token_hex(8)
_COUNT = itertools.count(secrets.randbits(48))
