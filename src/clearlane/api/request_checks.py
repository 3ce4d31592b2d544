"""The checks that every call shares, in the order that was decided:

https, route, verb, credentials, presence of ``vendorSiteId``, its validity and ownership, BAA where
the call touches PHI, other parameters, body. A caller without credentials learns nothing about
which sites or documents exist. Knows no call by name: what differs stands in the call's row.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, unquote

from starlette.responses import Response
from starlette.types import Receive

from clearlane.accounts.model import Site, SiteState, Vendor
from clearlane.api.auth import Slowdown
from clearlane.api.body import Body, Budget
from clearlane.api.endpoint import BAD_CREDENTIALS_STATUS, Call, Content, Desk, Limits, Row
from clearlane.api.errors import Refusal
from clearlane.api.metrics import Metrics
from clearlane.api.rates import Rates
from clearlane.api.v3 import wire

T = TypeVar("T")
SITE = "vendorsiteid"


@dataclass(slots=True, kw_only=True)
class Visit:
    """One request as the door sees it, and what is learnt of it on the way."""

    method: str
    path: bytes
    query: bytes
    headers: Mapping[str, str]
    address: str
    request_id: str
    receive: Receive
    route: str = "unknown"
    vendor: Vendor | None = None
    site: Site | None = None


class Checks:
    """Turns a visit to a row of the table into an answer."""

    def __init__(
        self,
        desk: Desk,
        limits: Limits,
        metrics: Metrics,
        stopping: asyncio.Event,
        *,
        sandbox: bool,
        base_url: str = "",
    ) -> None:
        self._desk = desk
        self._limits = limits
        self._metrics = metrics
        self._stopping = stopping
        self._sandbox = sandbox
        self._base_url = base_url
        self._slowdown = Slowdown()
        self._rates = Rates()
        self._budget = Budget()

    async def answer(self, row: Row, visit: Visit) -> Response:
        """Credentials, site, BAA, parameters, body, handler; the first that fails answers."""
        vendor = visit.vendor = await self._vendor(row, visit)
        self._check_rate(vendor)
        query = read_query(visit.query)
        site = visit.site = self._site(vendor, query.get(SITE, ""))
        if row.touches_phi and not site.baa_accepted:
            raise Refusal(wire.baa_missing())
        body = Body(
            visit.headers,
            visit.receive,
            self._budget,
            bytes_max=self._limits.body_bytes_max,
            seconds_max=self._limits.body_seconds_max,
        )
        call = Call(
            row=row,
            desk=self._desk,
            limits=self._limits,
            vendor=vendor,
            site=site,
            parameters={},
            headers=visit.headers,
            body=body,
            request_id=visit.request_id,
            now=self._desk.clock.now(),
            sandbox=self._sandbox,
            base_url=self._base_url,
            stopping=self._stopping,
            verb=visit.method,
        )
        try:
            return await _handle(call, query)
        finally:
            body.release()

    async def _vendor(self, row: Row, visit: Visit) -> Vendor:
        authorization = visit.headers.get("authorization")
        vendor = self._desk.accounts.authenticate(authorization, self._desk.wall.now())
        if vendor is None:
            self._metrics.login_failed()
            await self._slowdown.failed(visit.address, authorization)
            raise Refusal(wire.bad_credentials(BAD_CREDENTIALS_STATUS[row.family]))
        return vendor

    def _check_rate(self, vendor: Vendor) -> None:
        seconds = self._rates.wait(vendor, asyncio.get_running_loop().time())
        if seconds:
            raise Refusal(wire.too_many_calls(vendor.rate_per_minute or 0, seconds))

    def _site(self, vendor: Vendor, vendor_site_id: str) -> Site:
        if not vendor_site_id.strip():
            raise Refusal(wire.no_resource())
        site = self._desk.accounts.site(vendor, vendor_site_id)
        if site is None:
            raise Refusal(wire.bad_site())
        return site


async def _handle(call: Call, query: Mapping[str, str]) -> Response:
    row = call.row
    if call.site.state is SiteState.SUSPENDED and row.suspended is not None:
        return await row.suspended(call)
    call.parameters = {p.name: p.read(query.get(p.name.lower()), row) for p in row.parameters}
    if row.content is Content.NONE:
        call.ignored = await call.body.unwanted()
    answer = await row.handler(call)
    if call.ignored:
        answer.headers["X-Ignored-Fields"] = wire.ignored_fields(call.ignored)
    return answer


class Routes(Generic[T]):
    """Find what a path names, segment by segment and without regard to case."""

    def __init__(self, rows: Iterable[tuple[str, T]]) -> None:
        self._rows: dict[tuple[str, ...], T] = {}
        self._as_written: dict[bytes, T] = {}
        for path, row in rows:
            key = segments(path.encode())
            assert key not in self._rows, f"the path {path} is given twice"
            self._rows[key] = self._as_written[path.encode()] = row

    def find(self, path: bytes) -> T | None:
        """The row of a raw path, or None."""
        return self._as_written.get(path) or self._rows.get(segments(path))


def segments(path: bytes) -> tuple[str, ...]:
    """The segments of a raw path in one case. A slash at the end adds none.

    Each segment is decoded on its own, so that an encoded slash never makes two of it.
    """
    text = path.decode("latin-1").removesuffix("/")
    return tuple(folded(unquote(segment)) for segment in text.split("/"))


def read_query(query: bytes) -> dict[str, str]:
    """The parameters by folded name; of one given twice the first counts."""
    text = query.decode("latin-1")
    if "%" in text or "+" in text:
        pairs = parse_qsl(text, keep_blank_values=True)
    else:  # nothing is encoded, as in most calls
        pairs = [
            (name, value) for name, _, value in (part.partition("=") for part in text.split("&"))
        ]
    found: dict[str, str] = {}
    for name, value in pairs:
        found.setdefault(folded(name), value)
    return found


def folded(text: str) -> str:
    """The text in one case: of ASCII letters only, since other alphabets hold look-alikes of them."""
    return text.lower() if text.isascii() else text
