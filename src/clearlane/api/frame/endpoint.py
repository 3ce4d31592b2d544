"""What an endpoint is: its row in the table, what its handler receives, and the context of all handlers.

Adding an endpoint is one handler of a few lines, decode, one verb, encode, with its row above it. The checks that
all endpoints share are in ``request_checks`` and run before the handler. Knows no version.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from starlette.responses import Response

from clearlane.accounts.api_keys import ApiKey, KeyScope
from clearlane.accounts.model import Site, Vendor
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.body import Body
from clearlane.api.http.http_responses import JSON
from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.pipeline.installation_context import InstallationContext
from clearlane.store.database.group_commit import Actor
from clearlane.store.installation.idempotent_answers import AnswerKey


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiLimits:
    """The limits that an operator may set."""

    body_bytes_max: int = limits.BODY_BYTES_MAX
    body_seconds_max: int = limits.BODY_SECONDS_MAX
    documents_per_call_max: int = limits.DOCUMENTS_PER_CALL_MAX
    header_bytes_max: int = limits.HEADER_BYTES_MAX
    header_seconds_max: int = limits.HEADER_SECONDS_MAX
    stop_seconds_max: int = limits.STOP_SECONDS_MAX
    calls_per_minute_max: int = 0
    """The limit of a vendor without one of its own; 0 is no limit."""


class EndpointFamily(StrEnum):
    """A resource of the API, by the controller name that V3's error texts use."""

    PAYERS = "Payers"
    CLAIMS = "Claims"
    ELIGIBILITY = "Eligibility"
    ENROLLMENT = "Enrollment"
    SANDBOX = "Sandbox"
    PROXY_LOGIN = "ProxyLogin"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallConventions:
    """What the versions of the API do differently with every call."""

    site_parameter: str
    """The query parameter that names the site."""
    site_help: str
    site_required: bool = True
    """False: without it the call is for all sites of the vendor; if it touches PHI, only for those with a BAA."""
    strict_query: bool = False
    """Whether a query parameter that the call does not have, or has twice, is refused."""
    answers_head: bool = False
    """Whether HEAD is answered as GET is, without the body."""
    rate_headers: bool = False
    """Whether answers carry the state of the vendor's limit of calls."""
    compresses: bool = False
    """Whether answers are compressed for callers that accept it."""


VENDOR_SITE_ID_REQUIRED = CallConventions(
    site_parameter="vendorSiteId", site_help="The assigned Vendor Site ID."
)


class BodyUse(StrEnum):
    """What an endpoint does with the request body."""

    NONE = "none"
    """None is defined: whatever comes, of whatever type, is not read."""
    JSON = "json"
    """The handler reads a JSON document."""
    STREAM = "stream"
    """The handler takes bytes of any type as they come: ``call.body.stream``."""
    X12 = "x12"
    """The handler reads X12, of whatever Content-Type."""


SEVERAL = "\x1f"
"""Between the values of a parameter that was given more than once: no value has this character."""
ParameterReader = Callable[[str | None, "Endpoint"], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A query parameter besides ``vendorSiteId``: how its text is read and documented."""

    name: str
    help: str
    read: ParameterReader
    """Converts the text (None if absent) to a value; raises a RequestRefusal if that fails."""
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    required: bool = True
    takes_several: bool = False
    """Whether it may be given again: ``read`` gets the texts with :data:`SEVERAL` between them."""


@dataclass(slots=True, kw_only=True)
class Call:
    """A request that has passed the shared checks, as its handler receives it."""

    endpoint: "Endpoint"
    context: InstallationContext
    limits: ApiLimits
    vendor: Vendor
    api_key: ApiKey | None = None
    """The key that the call came with; None for the vendor's password, which may do everything."""
    named_site: Site | None
    """The site that the caller named; None if the call is for several."""
    sites: tuple[Site, ...]
    """The sites that the call is for."""
    parameters: Mapping[str, Any]
    path: Mapping[str, str]
    """The values of the variable segments of the path."""
    headers: Mapping[str, str]
    body: Body
    request_id: str
    now: datetime
    sandbox: bool
    base_url: str
    """Where callers reach the service. From the settings, because a Host header can be forged."""
    stopping: asyncio.Event
    """Set when the node stops: a waiting handler then responds with what it has."""
    verb: str = "POST"
    answer_key: AnswerKey | None = None
    """The ``Idempotency-Key`` under which the answer is stored; None if the caller sent none."""
    is_answer_stored: bool = False
    """Whether the handler's transaction has stored the answer under that key."""
    address: str = ""
    """Where the caller comes from, for the audit chain."""
    ignored_fields: list[str] = field(default_factory=list)
    """Paths of unknown fields, added by the handler and sent as ``X-Ignored-Fields``."""
    notes: list[str] = field(default_factory=list)
    """What was done that the answer's form has no place for, added by the handler and sent as ``X-Notes``."""

    @property
    def site(self) -> Site:
        """The site that the call is for, if it is for one."""
        if self.named_site is None:
            raise LookupError("this call is for all sites of its vendor")
        return self.named_site

    @property
    def scope(self) -> Scope | VendorScope:
        """The rows that the call may read."""
        if self.named_site is not None:
            return self.named_site.scope
        return VendorScope(self.vendor.id, tuple(site.id for site in self.sites))

    @property
    def is_of_vendor(self) -> bool:
        """Whether the call is for all that the vendor has, also what belongs to no site."""
        return self.named_site is None and (self.api_key is None or self.api_key.sites is None)

    @property
    def errors(self) -> ErrorShape:
        """How this endpoint's errors are written."""
        return self.endpoint.errors

    @property
    def actor(self) -> Actor:
        """Who is recorded in the audit chain."""
        key = self.api_key.id if self.api_key else ""
        return Actor("vendor", self.vendor.key, self.request_id, self.address, key)


Handler = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One row of an API's table: path, handler, types and the checks that apply."""

    name: str
    path: str
    family: StrEnum
    """The resource: its tag in the documentation."""
    summary: str
    handler: Handler
    response_type: Any
    """Type of the 200 response, from which its schema is made."""
    errors: ErrorShape
    touches_phi: bool
    suspended_handler: Handler | None
    """Responds instead of the handler while the site is suspended; None changes nothing."""
    scope: KeyScope | None = None
    """What an API key must be for; None if the endpoint takes no keys."""
    of_vendor: bool = False
    """Whether it is about what belongs to the vendor and to no site: a key for some sites only is refused."""
    verbs: tuple[str, ...] = ("POST",)
    parameters: tuple[Parameter, ...] = ()
    body_use: BodyUse = BodyUse.NONE
    request_type: Any = None
    """Type of the request body, from which its schema is made."""
    error_types: Mapping[int, Any] = field(default_factory=dict)
    """Further statuses of this endpoint and the types of their bodies."""
    bad_credentials_status: int = 401
    deprecated: bool = False
    conventions: CallConventions = VENDOR_SITE_ID_REQUIRED
    media_type: str = JSON
    """The media type of the response, whose type is None if it is not JSON."""
    success_status: int = 200
    takes_idempotency_key: bool = False
    """Whether the answer to a call with an ``Idempotency-Key`` is stored and given again."""
    description: str = ""


class EndpointRows:
    """The endpoints of a module, each declared at its handler. Columns that are given here are those of every row."""

    def __init__(self, **shared: Any) -> None:
        self.rows: list[Endpoint] = []
        self._shared = shared

    def endpoint(
        self,
        name: str,
        path: str,
        summary: str,
        response_type: Any,
        *,
        request_type: Any = None,
        **columns: Any,
    ) -> Callable[[Handler], Handler]:
        """Declare an endpoint at its handler. One with a ``request_type`` reads a JSON document."""

        def declare(handler: Handler) -> Handler:
            body_use = BodyUse.NONE if request_type is None else BodyUse.JSON
            row = Endpoint(
                name=name, path=path, summary=summary, response_type=response_type,
                request_type=request_type, handler=handler,
                **{"body_use": body_use} | self._shared | columns,
            )  # fmt: skip
            self.rows.append(row)
            return handler

        return declare


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersion:
    """A version of the API: its endpoints, the shape of its errors, and how it is documented."""

    title: str
    description: str
    endpoints: tuple[Endpoint, ...]
    errors: ErrorShape
    prefix: str
    """Where its paths begin: what is not found below it is answered in its shape."""
    examples: Mapping[str, Any] = field(default_factory=dict)
    """Calls recorded from a sandbox, by endpoint name; shown in the OpenAPI document."""
