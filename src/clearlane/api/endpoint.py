"""What an endpoint is: its row in the table, what its handler receives, and the context of all handlers.

Adding an endpoint is one row and one handler of a few lines: decode, one verb, encode. The checks that
all endpoints share are in ``request_checks`` and run before the handler. Knows no version.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from starlette.responses import Response

from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import Site, Vendor
from clearlane.api.body import Body
from clearlane.api.error_shape import ErrorShape
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.operator.sandbox_control import SandboxControl
from clearlane.pipeline.query.measures import MeasureSource
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database import Database
from clearlane.store.group_commit import Actor
from clearlane.store.set_back import SetBack
from clearlane.store.vault import Vault


class ApiContext(Protocol):
    """What an installation provides to handlers. Directories are snapshots: read them on each call.

    Claims use ``clock``, which a sandbox can advance; certificates and credentials use ``wall``.
    """

    @property
    def accounts(self) -> AccountDirectory: ...
    @property
    def payers(self) -> PayerDirectory: ...
    @property
    def database(self) -> Database: ...
    @property
    def vault(self) -> Vault: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def wall(self) -> Clock: ...
    @property
    def sandbox_control(self) -> SandboxControl | None: ...
    @property
    def work_context(self) -> WorkContext: ...
    @property
    def set_back(self) -> SetBack | None: ...
    @property
    def measures(self) -> MeasureSource: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiLimits:
    """The limits that an operator may set."""

    body_bytes_max: int = limits.BODY_BYTES_MAX
    body_seconds_max: int = limits.BODY_SECONDS_MAX
    documents_per_call_max: int = limits.DOCUMENTS_PER_CALL_MAX
    header_bytes_max: int = limits.HEADER_BYTES_MAX
    header_seconds_max: int = limits.HEADER_SECONDS_MAX
    stop_seconds_max: int = limits.STOP_SECONDS_MAX


class EndpointFamily(StrEnum):
    """A resource of the API, by the controller name that V3's error texts use."""

    PAYERS = "Payers"
    CLAIMS = "Claims"
    ELIGIBILITY = "Eligibility"
    ENROLLMENT = "Enrollment"
    SANDBOX = "Sandbox"
    PROXY_LOGIN = "ProxyLogin"


class BodyUse(StrEnum):
    """What an endpoint does with the request body."""

    NONE = "none"
    """None is defined: whatever comes, of whatever type, is not read."""
    JSON = "json"
    """The handler reads a JSON document."""


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


@dataclass(slots=True, kw_only=True)
class Call:
    """A request that has passed the shared checks, as its handler receives it."""

    endpoint: "Endpoint"
    context: ApiContext
    limits: ApiLimits
    vendor: Vendor
    site: Site
    parameters: Mapping[str, Any]
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
    address: str = ""
    """Where the caller comes from, for the audit chain."""
    ignored_fields: list[str] = field(default_factory=list)
    """Paths of unknown fields, added by the handler and sent as ``X-Ignored-Fields``."""
    notes: list[str] = field(default_factory=list)
    """What was done that the answer's form has no place for, added by the handler and sent as ``X-Notes``."""

    @property
    def errors(self) -> ErrorShape:
        """How this endpoint's errors are written."""
        return self.endpoint.errors

    @property
    def actor(self) -> Actor:
        """Who is recorded in the audit chain."""
        return Actor("vendor", self.vendor.key, self.request_id, self.address)


Handler = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One row of an API's table: path, handler, types and the checks that apply."""

    name: str
    path: str
    family: EndpointFamily
    summary: str
    handler: Handler
    response_type: Any
    """Type of the 200 response, from which its schema is made."""
    errors: ErrorShape
    touches_phi: bool
    suspended_handler: Handler | None
    """Responds instead of the handler while the site is suspended; None changes nothing."""
    verbs: tuple[str, ...] = ("POST",)
    parameters: tuple[Parameter, ...] = ()
    body_use: BodyUse = BodyUse.NONE
    request_type: Any = None
    """Type of the request body, from which its schema is made."""
    error_types: Mapping[int, Any] = field(default_factory=dict)
    """Further statuses of this endpoint and the types of their bodies."""
    bad_credentials_status: int = 401
    deprecated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersion:
    """A version of the API: its endpoints, the shape of its errors, and how it is documented."""

    title: str
    description: str
    endpoints: tuple[Endpoint, ...]
    errors: ErrorShape
