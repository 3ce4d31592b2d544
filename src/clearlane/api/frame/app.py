"""The API as an ASGI application: find the endpoint, run the checks, respond, write the log line.

Every response carries ``X-Request-Id`` and ``X-Service-Time``. One line per request goes to the log, without path, query or
credentials, because all three can hold patient data or secrets. Knows no endpoint by name and no version.
"""

import asyncio
import itertools
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from clearlane.api.frame.endpoint import ApiLimits, Endpoint
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.frame.errors import TEMPORARY_FAULTS, ClientGone, RequestRefusal
from clearlane.api.frame.path_table import PathTable
from clearlane.api.frame.request_checks import RequestChecks, RequestState
from clearlane.api.http.compressed_answers import compress_answer
from clearlane.api.http.http_responses import with_security_headers
from clearlane.api.http.memory_release import FreedMemory
from clearlane.api.http.proxies import TrustedProxies
from clearlane.api.http.static_content import StaticContent, static_response
from clearlane.api.operations.logs import fault_fields
from clearlane.api.operations.metrics import Metrics
from clearlane.kernel.log import get_logger
from clearlane.pipeline.installation_context import InstallationContext

log = get_logger()

REQUEST_ID_CHARACTERS_MAX = 64
SECONDS_CHARACTERS = len("2026-07-01T12:00:00")

REQUEST_ID = re.compile(rf"[A-Za-z0-9._-]{{1,{REQUEST_ID_CHARACTERS_MAX}}}", re.ASCII)
REQUEST_ID_HEADER = b"x-request-id"
SERVICE_TIME_HEADER = b"x-service-time"
UNREADABLE_HEAD = "head"
"""Key in the connection's state under which the protocol leaves the status and text for a bad head."""
CLIENT_GONE_STATUS = 499
"""Logged when the caller disconnected before a response; never sent."""


Answer = Callable[[Request, str, str], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicPage:
    """A document that anyone may read without credentials."""

    name: str
    path: str
    summary: str
    media_type: str
    schema: Mapping[str, Any]
    content: StaticContent = field(default_factory=lambda: StaticContent(bytes))
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MountedApp:
    """Another package's pages below a first path segment, behind this application's https check and log."""

    name: str
    segment: str
    answer: Answer
    """Takes the request, the caller's address and the request id."""


def answer_when_asked(load: Callable[[], Answer]) -> Answer:
    """Return what answers requests with what ``load`` returns, which a thread calls for the first of them."""
    loading, loaded = asyncio.Lock(), list[Answer]()

    async def answer(request: Request, address: str, request_id: str) -> Response:
        async with loading:
            if not loaded:
                loaded.append(await asyncio.to_thread(load))
        return await loaded[0](request, address, request_id)

    return answer


class ApiApplication:
    """The ASGI application that answers every request to the service."""

    def __init__(
        self,
        context: InstallationContext,
        endpoints: Sequence[Endpoint],
        pages: Sequence[PublicPage] = (),
        *,
        errors: ErrorShape,
        limits: ApiLimits,
        metrics: Metrics,
        proxies: TrustedProxies,
        sandbox: bool,
        base_url: str = "",
        mounted: Sequence[MountedApp] = (),
        freed: FreedMemory | None = None,
        shapes: Mapping[str, ErrorShape] | None = None,
    ) -> None:
        """``errors`` is the shape of errors on paths that belong to no API version, ``shapes`` that of others by prefix."""
        self.stopping = asyncio.Event()
        self._errors = errors
        self._shapes = {each.encode() + b"/": shape for each, shape in (shapes or {}).items()}
        self._context = context
        self._checks = RequestChecks(
            context,
            limits,
            metrics,
            self.stopping,
            sandbox=sandbox,
            base_url=base_url,
            freed=freed or FreedMemory(),
        )
        self._mounted = {each.segment.encode(): each for each in mounted}
        served: tuple[Endpoint | PublicPage, ...] = (*endpoints, *pages)
        _require_one_target_each(endpoints)
        self._paths = PathTable((each.path, each) for each in served)
        self._metrics = metrics
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = perf_counter()
        headers = read_headers(scope["headers"])
        state = RequestState(
            method=scope["method"],
            path=scope["raw_path"],
            query=scope["query_string"],
            headers=headers,
            address=self._proxies.client_address(scope, headers),
            request_id=request_id(headers.get("x-request-id")),
            receive=receive,
            errors=self._errors,
        )
        status = CLIENT_GONE_STATUS

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = [
                    (REQUEST_ID_HEADER, state.request_id.encode()),
                    (SERVICE_TIME_HEADER, service_time(self._context.clock.now())),
                ]
                headers = with_security_headers([*message["headers"], *state.headers_out])
                message["headers"] = [*headers, *own]
            await send(message)

        try:
            response = await self._respond(scope, state)
            if response is not None:
                await response(scope, receive, send_with_id)
        finally:
            self._log_request(state, status, perf_counter() - started)

    async def _respond(self, scope: Scope, state: RequestState) -> Response | None:
        try:
            return await self._dispatch(scope, state)
        except RequestRefusal as refusal:
            return refusal.response
        except ClientGone:
            return None
        except asyncio.CancelledError:
            if not self.stopping.is_set():
                raise
            return state.errors.unavailable(
                "The service is stopping."
            )  # its time to finish is over
        except TEMPORARY_FAULTS as fault:
            log.warning("part unresponsive", **_call_facts(state), **fault_fields(fault))
            return state.errors.unavailable()
        except Exception as fault:  # noqa: BLE001  (logged by type and place; the server goes on)
            log.error("fault in a call", **_call_facts(state), **fault_fields(fault))  # noqa: TRY400
            return state.errors.internal_error()

    async def _dispatch(self, scope: Scope, state: RequestState) -> Response:
        state.errors = self._shape_of(state.path)
        refused = scope.get("state", {}).get(UNREADABLE_HEAD)
        if refused is not None:
            status, text = refused
            return state.errors.message(status, text, {"Connection": "close"})
        if not self._proxies.is_encrypted(scope, state.headers):
            return state.errors.https_required()
        mounted = self._mounted.get(state.path.lstrip(b"/").partition(b"/")[0])
        if mounted is not None:
            state.target = mounted.name
            request = Request(scope, state.receive)
            return await mounted.answer(request, state.address, state.request_id)
        match = self._paths.find(state.path)
        if match is None:
            return state.errors.no_resource()
        state.path_values = match.values
        allowed: list[str] = []
        for target in match.targets:
            state.target = target.name
            if isinstance(target, PublicPage):
                return await page_response(target, state.method, state.headers, self._errors)
            state.errors = target.errors
            verbs = target.verbs
            if target.conventions.answers_head and "GET" in verbs:
                verbs = (*verbs, "HEAD")
            if state.method in verbs:
                # The server leaves out the body of a HEAD.
                answer = await self._checks.respond(target, state)
                if not target.conventions.compresses:
                    return answer
                return await compress_answer(answer, state.headers.get("accept-encoding", ""))
            allowed += verbs
        return state.errors.wrong_verb(state.method, ", ".join(allowed))

    def _shape_of(self, path: bytes) -> ErrorShape:
        """Return the shape of errors of the version whose prefix a path has."""
        lower = path.lower() + b"/"
        shapes = self._shapes.items()
        return next((shape for prefix, shape in shapes if lower.startswith(prefix)), self._errors)

    def _log_request(self, state: RequestState, status: int, seconds: float) -> None:
        self._metrics.count_response(state.target, status, seconds)
        log.info(
            "request",
            **_call_facts(state),
            method=state.method,
            status=status,
            ms=round(seconds * 1_000, 2),
        )


def _call_facts(state: RequestState) -> dict[str, str | int | None]:
    """Return what every log line about a call says: which call, whose, and from where."""
    return {
        "request_id": state.request_id,
        "endpoint": state.target,
        "address": state.address,
        "vendor": state.vendor.key if state.vendor else None,
        "api_key": state.api_key.id if state.api_key else None,
        "site": state.site.id if state.site else None,
    }


def _require_one_target_each(endpoints: Iterable[Endpoint]) -> None:
    """Refuse a path with two endpoints for one verb: one would hide the other, and its checks."""
    seen: set[tuple[str, str]] = set()
    for endpoint in endpoints:
        for verb in endpoint.verbs:
            if (endpoint.path, verb) in seen:
                raise ValueError(f"{verb} {endpoint.path} is given twice")
            seen.add((endpoint.path, verb))


async def page_response(
    page: PublicPage, method: str, asked: Mapping[str, str], errors: ErrorShape
) -> Response:
    """Return a public page for GET or HEAD, else 405."""
    if method not in {"GET", "HEAD"}:
        return errors.wrong_verb(method, "GET, HEAD")
    headers = {"Content-Type": page.media_type, **dict(page.headers)}
    return static_response(await page.content.read(), headers, asked)


def service_time(now: datetime) -> bytes:
    """Return the value of ``X-Service-Time``: the time of claims, which a sandbox can advance."""
    # A third of what strftime takes, for each response.
    return f"{now.isoformat('T', 'seconds')[:SECONDS_CHARACTERS]}Z".encode()


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by lower-case name; the values of a repeated one are joined with commas."""
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def request_id(offered: str | None) -> str:
    """Return the caller's own request id if it is safe to log and return, else a new one."""
    if offered is not None and REQUEST_ID.fullmatch(offered):
        return offered
    return new_request_id()


def new_request_id() -> str:
    """Return an id that no other request on any node has."""
    return f"{_PROCESS}{next(_COUNT):016x}"


# Random bits cost a system call; a process needs them once, and then it counts.
_PROCESS = secrets.token_hex(8)
_COUNT = itertools.count(secrets.randbits(48))
