"""The checks that all endpoints share, in their documented order:

https, path, verb, credentials, presence of ``vendorSiteId``, its validity and ownership, BAA where
the endpoint touches PHI, other parameters, body. A caller without credentials learns nothing about
which sites or documents exist. Knows no endpoint by name and no version: what differs is in the row.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, unquote

from starlette.responses import Response
from starlette.types import Receive

from clearlane.accounts.model import Site, SiteState, Vendor
from clearlane.api.auth import LoginThrottle, tried_key
from clearlane.api.body import Body, BodyBudget
from clearlane.api.endpoint import ApiContext, ApiLimits, Call, Endpoint
from clearlane.api.error_shape import ErrorShape
from clearlane.api.errors import RequestRefusal
from clearlane.api.http_responses import ignored_fields_header, notes_header
from clearlane.api.memory_release import FreedMemory
from clearlane.api.metrics import Metrics
from clearlane.api.rates import RateLimiter
from clearlane.pipeline.access.failed_sign_ins import FailedSignIns

T = TypeVar("T")
SITE_PARAMETER = "vendorsiteid"


@dataclass(slots=True, kw_only=True)
class RequestState:
    """One request and what the checks have established about it."""

    method: str
    path: bytes
    query: bytes
    headers: Mapping[str, str]
    address: str
    request_id: str
    receive: Receive
    errors: ErrorShape
    target: str = "unknown"
    """Name of the endpoint or page, for the log and the metrics."""
    vendor: Vendor | None = None
    site: Site | None = None


class RequestChecks:
    """Runs the shared checks of an endpoint and its handler."""

    def __init__(
        self,
        context: ApiContext,
        limits: ApiLimits,
        metrics: Metrics,
        stopping: asyncio.Event,
        *,
        sandbox: bool,
        base_url: str = "",
        freed: FreedMemory,
    ) -> None:
        self._context = context
        self._limits = limits
        self._metrics = metrics
        self._stopping = stopping
        self._sandbox = sandbox
        self._base_url = base_url
        self._login_throttle = LoginThrottle()
        self._failed_sign_ins = FailedSignIns(context, "vendor")
        self._rate_limiter = RateLimiter()
        self._budget = BodyBudget()
        self._freed = freed

    async def respond(self, endpoint: Endpoint, request: RequestState) -> Response:
        """Return the handler's response, or raise the refusal of the first check that fails."""
        vendor = request.vendor = await self._vendor(endpoint, request)
        self._check_rate(vendor, request.errors)
        query, repeated = read_query(request.query)
        if SITE_PARAMETER in repeated:
            raise RequestRefusal(endpoint.errors.repeated_parameter("vendorSiteId"))
        site = request.site = self._site(vendor, query.get(SITE_PARAMETER, ""), request.errors)
        if endpoint.touches_phi and not site.baa_accepted:
            raise RequestRefusal(endpoint.errors.baa_missing())
        body = Body(
            request.headers,
            request.receive,
            self._budget,
            endpoint.errors,
            bytes_max=self._limits.body_bytes_max,
            seconds_max=self._limits.body_seconds_max,
        )
        call = Call(
            endpoint=endpoint,
            context=self._context,
            limits=self._limits,
            vendor=vendor,
            site=site,
            parameters={},
            headers=request.headers,
            body=body,
            request_id=request.request_id,
            now=self._context.clock.now(),
            sandbox=self._sandbox,
            base_url=self._base_url,
            stopping=self._stopping,
            verb=request.method,
            address=request.address,
        )
        try:
            return await _handle(call, query)
        finally:
            self._freed.add(body.release())

    async def _vendor(self, endpoint: Endpoint, request: RequestState) -> Vendor:
        authorization = request.headers.get("authorization")
        vendor = self._context.accounts.authenticate(authorization, self._context.wall.now())
        if vendor is None:
            self._metrics.count_failed_login()
            self._failed_sign_ins.record(
                tried_key(authorization), request.address, request.request_id
            )
            seconds = await self._login_throttle.delay_basic_failure(request.address, authorization)
            if seconds:
                raise RequestRefusal(endpoint.errors.too_many_failures(seconds))
            raise RequestRefusal(endpoint.errors.bad_credentials(endpoint.bad_credentials_status))
        return vendor

    def _check_rate(self, vendor: Vendor, errors: ErrorShape) -> None:
        seconds = self._rate_limiter.take_call(vendor, asyncio.get_running_loop().time())
        if seconds:
            raise RequestRefusal(errors.too_many_calls(vendor.rate_per_minute or 0, seconds))

    def _site(self, vendor: Vendor, vendor_site_id: str, errors: ErrorShape) -> Site:
        if not vendor_site_id.strip():
            raise RequestRefusal(errors.no_resource())
        site = self._context.accounts.site(vendor, vendor_site_id)
        if site is None:
            raise RequestRefusal(errors.bad_site())
        return site


async def _handle(call: Call, query: Mapping[str, str]) -> Response:
    endpoint = call.endpoint
    if call.site.state is SiteState.SUSPENDED and endpoint.suspended_handler is not None:
        return await endpoint.suspended_handler(call)
    call.parameters = {
        each.name: each.read(query.get(each.name.lower()), endpoint) for each in endpoint.parameters
    }
    response = await endpoint.handler(call)
    if call.ignored_fields:
        response.headers["X-Ignored-Fields"] = ignored_fields_header(call.ignored_fields)
    if call.notes:
        response.headers["X-Notes"] = notes_header(call.notes)
    return response


class PathTable(Generic[T]):
    """What paths lead to, found segment by segment and without regard to case."""

    def __init__(self, targets: Iterable[tuple[str, T]]) -> None:
        self._by_segments: dict[tuple[str, ...], T] = {}
        self._as_written: dict[bytes, T] = {}
        for path, target in targets:
            key = path_segments(path.encode())
            if key in self._by_segments:  # one would hide the other, and its checks
                raise ValueError(f"the path {path} is given twice")
            self._by_segments[key] = self._as_written[path.encode()] = target

    def find(self, path: bytes) -> T | None:
        """Return the target of a raw path, or None."""
        return self._as_written.get(path) or self._by_segments.get(path_segments(path))


def path_segments(path: bytes) -> tuple[str, ...]:
    """Return the segments of a raw path in lower case. Slashes at the end and repeated ones make no segments.

    Each segment is decoded on its own, so that an encoded slash never splits it.
    """
    text = path.decode("latin-1")
    return tuple(fold_case(unquote(segment)) for segment in text.split("/") if segment)


def read_query(query: bytes) -> tuple[dict[str, str], set[str]]:
    """Return query parameters by lower-case name, of a repeated one the first, and the names that are repeated."""
    text = query.decode("latin-1")
    if "%" in text or "+" in text:
        pairs = parse_qsl(text, keep_blank_values=True)
    else:  # nothing is encoded, as in most requests
        pairs = [
            (name, value) for name, _, value in (part.partition("=") for part in text.split("&"))
        ]
    found: dict[str, str] = {}
    repeated: set[str] = set()
    for name, value in pairs:
        folded = fold_case(name)
        if folded in found:
            repeated.add(folded)
        else:
            found[folded] = value
    return found, repeated


def fold_case(text: str) -> str:
    """Return the text in lower case if it is ASCII: other alphabets have letters that fold into ASCII."""
    return text.lower() if text.isascii() else text
