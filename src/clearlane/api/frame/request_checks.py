"""The checks that all endpoints share, in their documented order:

https, path, verb, credentials, scope of an API key, presence of ``vendorSiteId``, its validity and ownership, BAA if
the endpoint touches PHI, other parameters, body. A caller without credentials learns nothing about
which sites or documents exist. Knows no endpoint by name and no version: what differs is in the row.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from starlette.responses import Response
from starlette.types import Receive

from clearlane.accounts.api_keys import ApiKey
from clearlane.accounts.model import Site, SiteState, Vendor
from clearlane.api.frame.auth import LoginThrottle, has_credentials, tried_key
from clearlane.api.frame.endpoint import SEVERAL, ApiLimits, Call, Endpoint
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.frame.errors import ParameterFault, RequestRefusal
from clearlane.api.frame.idempotency import IDEMPOTENCY_KEY, answer_once
from clearlane.api.frame.path_table import fold_case
from clearlane.api.http.body import Body, BodyBudget
from clearlane.api.http.http_responses import ignored_fields_header, notes_header
from clearlane.api.http.memory_release import FreedMemory
from clearlane.api.http.rates import RateLimiter
from clearlane.api.operations.metrics import Metrics
from clearlane.pipeline.access.api_key_uses import ApiKeyUses
from clearlane.pipeline.access.failed_sign_ins import FailedSignIns
from clearlane.pipeline.installation_context import InstallationContext


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
    path_values: Mapping[str, str] = field(default_factory=dict)
    vendor: Vendor | None = None
    api_key: ApiKey | None = None
    site: Site | None = None
    headers_out: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Header fields of the response, whatever it is."""


class RequestChecks:
    """Runs the shared checks of an endpoint and its handler."""

    def __init__(
        self,
        context: InstallationContext,
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
        self._failed_sign_ins = FailedSignIns(context.database, context.vault, "vendor")
        self._key_uses = ApiKeyUses(context.database)
        self._rate_limiter = RateLimiter(limits.calls_per_minute_max)
        self._budget = BodyBudget()
        self._freed = freed

    async def respond(self, endpoint: Endpoint, request: RequestState) -> Response:
        """Return the handler's response, or raise the refusal of the first check that fails."""
        vendor = request.vendor = await self._vendor(endpoint, request)
        self._check_rate(vendor, endpoint, request)
        key = request.api_key
        _check_scope(endpoint, key)
        query, repeated = read_query(request.query)
        site_parameter = endpoint.conventions.site_parameter
        if site_parameter.lower() in repeated:
            raise RequestRefusal(endpoint.errors.repeated_parameter(site_parameter))
        site = request.site = self._site(vendor, key, endpoint, query)
        if site is not None and endpoint.touches_phi and not site.baa_accepted:
            raise RequestRefusal(endpoint.errors.baa_missing())
        _check_query(endpoint, query, repeated)
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
            api_key=key,
            named_site=site,
            sites=self._sites(vendor, key, endpoint) if site is None else (site,),
            parameters={},
            path=request.path_values,
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
        accounts, now = self._context.accounts, self._context.wall.now()
        vendor = accounts.authenticate(authorization, now)
        if vendor is None and endpoint.scope is not None:
            found = accounts.authenticate_key(authorization, now)
            if found is not None:
                vendor, request.api_key = found
                self._key_uses.record(request.api_key.id, now)
        if vendor is None:
            if has_credentials(authorization):
                await self._slow_failure(endpoint, request, authorization)
            raise RequestRefusal(endpoint.errors.bad_credentials(endpoint.bad_credentials_status))
        return vendor

    async def _slow_failure(
        self, endpoint: Endpoint, request: RequestState, authorization: str | None
    ) -> None:
        """Count and record wrong credentials, and delay their answer; refuse them beyond the limit."""
        self._metrics.count_failed_login()
        self._failed_sign_ins.record(tried_key(authorization), request.address, request.request_id)
        seconds = await self._login_throttle.delay_vendor_failure(request.address, authorization)
        if seconds:
            raise RequestRefusal(endpoint.errors.too_many_failures(seconds))

    def _check_rate(self, vendor: Vendor, endpoint: Endpoint, request: RequestState) -> None:
        now = asyncio.get_running_loop().time()
        seconds = self._rate_limiter.take_call(vendor, now)
        state = self._rate_limiter.state(vendor, now)
        if state is not None and endpoint.conventions.rate_headers:
            request.headers_out += [
                (name.encode(), value.encode()) for name, value in state.headers()
            ]
        if seconds:
            rate = self._rate_limiter.rate_of(vendor) or 0
            raise RequestRefusal(request.errors.too_many_calls(rate, seconds))

    def _site(
        self, vendor: Vendor, key: ApiKey | None, endpoint: Endpoint, query: Mapping[str, str]
    ) -> Site | None:
        """Return the site that the caller names; None if it may leave it out and does."""
        conventions = endpoint.conventions
        named = query.get(conventions.site_parameter.lower())
        if named is None and not conventions.site_required:
            return None
        if not (named or "").strip() and conventions.site_required:
            raise RequestRefusal(endpoint.errors.no_resource())
        site = self._context.accounts.site(vendor, named or "")
        if site is None or (key is not None and not key.may_use(site)):
            usable = self._usable_sites(vendor, key)
            sites = [one.vendor_site_id for one in usable]
            if site is not None:
                raise RequestRefusal(endpoint.errors.site_not_allowed(sites))
            raise RequestRefusal(endpoint.errors.bad_site(sites))
        return site

    def _sites(self, vendor: Vendor, key: ApiKey | None, endpoint: Endpoint) -> tuple[Site, ...]:
        """Return the sites of a call that names none: those with a BAA, if it touches PHI."""
        return tuple(
            site
            for site in self._usable_sites(vendor, key)
            if site.baa_accepted or not endpoint.touches_phi
        )

    def _usable_sites(self, vendor: Vendor, key: ApiKey | None) -> tuple[Site, ...]:
        """Return the sites of a vendor, or those of them that a key is for."""
        sites = self._context.accounts.sites_of(vendor)
        return sites if key is None else tuple(filter(key.may_use, sites))


def _check_scope(endpoint: Endpoint, key: ApiKey | None) -> None:
    """Refuse a key that is not for what the endpoint does."""
    if key is None or endpoint.scope is None:
        return
    if endpoint.scope not in key.scopes:
        raise RequestRefusal(endpoint.errors.scope_missing(endpoint.scope, sorted(key.scopes)))
    if endpoint.of_vendor and key.sites is not None:
        raise RequestRefusal(endpoint.errors.site_not_allowed(()))


def _check_query(endpoint: Endpoint, query: Mapping[str, str], repeated: Iterable[str]) -> None:
    """Refuse parameters that a strict call does not have, or has twice: a typing mistake must not widen a search."""
    conventions = endpoint.conventions
    if not conventions.strict_query:
        return
    known = [conventions.site_parameter, *(one.name for one in endpoint.parameters)]
    faults = {
        name: [f"This call has no such parameter. It has {', '.join(known)}."]
        for name in query
        if name and name not in known
    }
    several = {one.name.lower() for one in endpoint.parameters if one.takes_several}
    faults |= {
        name: ["It is given more than once; give it once."]
        for name in sorted(set(repeated) - several)
    }
    if faults:
        others = _parameters(endpoint, query)[1]
        raise RequestRefusal(endpoint.errors.invalid_fields(others | faults))


def _read_parameters(endpoint: Endpoint, query: Mapping[str, str]) -> dict[str, object]:
    """Return the values of the parameters; refuse the call with all faults of them at once."""
    values, faults = _parameters(endpoint, query)
    if faults:
        raise RequestRefusal(endpoint.errors.invalid_fields(faults))
    return values


def _parameters(
    endpoint: Endpoint, query: Mapping[str, str]
) -> tuple[dict[str, object], dict[str, list[str]]]:
    """Return the values of the parameters, and what is wrong with those that cannot be read."""
    values: dict[str, object] = {}
    faults: dict[str, list[str]] = {}
    for each in endpoint.parameters:
        try:
            text = query.get(each.name.lower())
            if text is not None and not each.takes_several:
                text = text.partition(SEVERAL)[0]  # of one that is repeated the first counts
            values[each.name] = each.read(text, endpoint)
        except ParameterFault as fault:
            faults[each.name] = [str(fault)]
    return values, faults


async def _handle(call: Call, query: Mapping[str, str]) -> Response:
    endpoint = call.endpoint
    site = call.named_site
    if site and site.state is SiteState.SUSPENDED and endpoint.suspended_handler is not None:
        return await endpoint.suspended_handler(call)
    call.parameters = _read_parameters(endpoint, query)
    if endpoint.takes_idempotency_key and IDEMPOTENCY_KEY in call.headers:
        response = await answer_once(call)
    else:
        response = await endpoint.handler(call)
    if call.ignored_fields:
        response.headers["X-Ignored-Fields"] = ignored_fields_header(call.ignored_fields)
    if call.notes:
        response.headers["X-Notes"] = notes_header(call.notes)
    return response


def read_query(query: bytes) -> tuple[dict[str, str], set[str]]:
    """Return query parameters by lower-case name, and the names that are repeated, whose values have a sign between them."""
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
            found[folded] += SEVERAL + value
        else:
            found[folded] = value
    return found, repeated
