"""What a call is: its row in the table, what its handler is handed, and the desk it works at.

Adding a call to the interface is one row and one handler of a few lines: decode, one verb, encode.
The checks that every call shares stand in ``checks.py`` and run before the handler sees anything.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from starlette.responses import Response

from clearlane.accounts.directory import Accounts
from clearlane.accounts.model import Site, Vendor
from clearlane.api.body import Body
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import Payers
from clearlane.pipeline.eligibility.inquiry_runner import Asking
from clearlane.pipeline.intake.submit import Counter
from clearlane.pipeline.operator.sandbox_control import Steering
from clearlane.store.database import Database
from clearlane.store.group_commit import Actor
from clearlane.store.vault import Vault


class Desk(Protocol):
    """What the house gives the front door. The directories are snapshots: ask for them each time.

    Claims live by ``clock``, which a sandbox can advance; certificates and credentials by ``wall``.
    """

    @property
    def accounts(self) -> Accounts: ...
    @property
    def payers(self) -> Payers: ...
    @property
    def database(self) -> Database: ...
    @property
    def vault(self) -> Vault: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def wall(self) -> Clock: ...
    @property
    def asking(self) -> Asking: ...
    @property
    def steering(self) -> Steering | None: ...
    @property
    def counter(self) -> Counter: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an operator may move, as values."""

    body_bytes_max: int = limits.BODY_BYTES_MAX
    body_seconds_max: int = limits.BODY_SECONDS_MAX
    header_bytes_max: int = limits.HEADER_BYTES_MAX
    header_seconds_max: int = limits.HEADER_SECONDS_MAX
    stop_seconds_max: int = limits.STOP_SECONDS_MAX
    claims_per_document_max: int = limits.CLAIMS_PER_DOCUMENT_MAX
    write_seconds_max: int = limits.WRITE_SECONDS_MAX
    eligibility_x12: bool = False


class Family(StrEnum):
    """A resource of the interface, by the name its error texts give the controller."""

    PAYERS = "Payers"
    CLAIMS = "Claims"
    ELIGIBILITY = "Eligibility"
    ENROLLMENT = "Enrollment"
    SANDBOX = "Sandbox"
    PROXY_LOGIN = "ProxyLogin"


# The status of a call without right credentials. The interface gives proxy login its own.
BAD_CREDENTIALS_STATUS = dict.fromkeys(Family, 401) | {Family.PROXY_LOGIN: 404}


class Content(StrEnum):
    """What a call does with a request body."""

    NONE = "none"
    """The interface defines none: an empty one is expected, the fields of an object are unknown."""
    JSON = "json"
    """The handler reads it."""
    IGNORED = "ignored"
    """Whatever is sent is not looked at."""


Read = Callable[[str | None, "Row"], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A query parameter beside ``vendorSiteId``: how its text is read, and what is said of it."""

    name: str
    help: str
    read: Read
    """Text (None where absent) to value; raises a Refusal for a text that cannot be used."""
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    required: bool = True


@dataclass(slots=True, kw_only=True)
class Call:
    """A call that has passed every check that calls share."""

    row: "Row"
    desk: Desk
    limits: Limits
    vendor: Vendor
    site: Site
    parameters: Mapping[str, Any]
    headers: Mapping[str, str]
    body: Body
    request_id: str
    now: datetime
    sandbox: bool
    base_url: str
    """Where callers reach the service: from the settings, since anyone can send a Host header."""
    stopping: asyncio.Event
    """Set when the node stops: a call that waits for something answers with what it has."""
    verb: str = "POST"
    ignored: list[str] = field(default_factory=list)
    """Paths of unknown fields; the handler adds them, the answer's header tells them."""

    @property
    def actor(self) -> Actor:
        """Who is written into the audit chain."""
        return Actor(kind="vendor", name=self.vendor.key, request_id=self.request_id)


Handler = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One call of the interface."""

    name: str
    path: str
    family: Family
    summary: str
    handler: Handler
    answer: Any
    """Type of the 200 answer, from which its schema is made."""
    touches_phi: bool
    suspended: Handler | None
    """Answers instead of the handler where the site is suspended; None answers as usual."""
    verbs: tuple[str, ...] = ("POST",)
    parameters: tuple[Parameter, ...] = ()
    content: Content = Content.NONE
    request: Any = None
    """Type of the request body, from which its schema is made."""
    refusals: Mapping[int, Any] = field(default_factory=dict)
    """Further statuses of this call and the types of their bodies."""
    deprecated: bool = False
