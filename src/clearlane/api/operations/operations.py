"""The operations endpoints of a node: health, readiness and metrics.

Served on their own address over plain http, on loopback unless the operator sets another host. Knows no
endpoint of the API and exposes nothing about its callers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from clearlane.accounts.directory import AccountDirectory
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.http_responses import JSON, json_response
from clearlane.api.operations.logs import fault_fields
from clearlane.api.operations.metrics import MEDIA_TYPE, Metrics
from clearlane.kernel.log import get_logger
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.installation_context import InstallationContext
from clearlane.pipeline.query.installation.conditions import raised_conditions
from clearlane.pipeline.query.installation.measures import Measures
from clearlane.store.audit.set_back import describe_set_back
from clearlane.store.database.schema import HEAD
from clearlane.store.database.schema_revision import is_supported
from clearlane.store.database.sql import PING, SystemScope

READY_SECONDS_MAX = 2
MEASURE_SECONDS_MAX = 10

RESTART_ADVICE = "Nothing is sent. Stop every node and start one: what waited is then in doubt until a person decides."

NOT_MEASURED = "The installation could not be measured; the log says why."

log = get_logger()

READY_CHECK = SystemScope("readiness")


class Readiness:
    """The readiness of the parts of this node."""

    def __init__(self, context: InstallationContext) -> None:
        self.context = context
        self.stopping = False

    async def faults(self) -> dict[str, str]:
        """Return each part that is not ready, and why."""
        found = {}
        for part, check in PARTS.items():
            try:
                async with asyncio.timeout(READY_SECONDS_MAX):
                    found[part] = await check(self)
            except Exception as fault:  # noqa: BLE001  (whatever it is, the part is not ready)
                found[part] = f"does not answer ({type(fault).__name__})"
        return {part: why for part, why in found.items() if why}

    async def measures(self) -> Measures | None:
        """Return what is measured of the installation; None if that fails or takes too long."""
        try:
            async with asyncio.timeout(MEASURE_SECONDS_MAX):
                return await self.context.measures.current()
        except Exception as fault:  # noqa: BLE001  (whatever it is, health and readiness are answered all the same)
            log.warning("installation not measured", **fault_fields(fault))
            return None

    async def warnings(self) -> dict[str, str]:
        """Return what an operator must see to while the node goes on serving calls, by condition."""
        measures = await self.measures()
        if measures is None:
            return {"measures": NOT_MEASURED}
        return {each.condition.name: each.sentence for each in raised_conditions(measures)}


async def _service(readiness: Readiness) -> str:
    return "stopping" if readiness.stopping else ""


async def _database(readiness: Readiness) -> str:
    database = readiness.context.database
    async with database.read(READY_CHECK) as tx:
        await tx.row(PING)
    # Heartbeats are written all the time, so this changes within seconds, even if no call comes.
    if database.write_fault:
        return f"cannot be written: {database.write_fault}"
    older = await describe_set_back(database)
    return older and f"{older} {RESTART_ADVICE}"


async def _schema(readiness: Readiness) -> str:
    found = await readiness.context.database.revision()
    if found == HEAD or (found is not None and is_supported(found, head=HEAD)):
        return ""
    return f"at revision {found}, needed {HEAD}"


async def _accounts(readiness: Readiness) -> str:
    return "" if isinstance(readiness.context.accounts, AccountDirectory) else "not loaded"


async def _payers(readiness: Readiness) -> str:
    return "" if isinstance(readiness.context.payers, PayerDirectory) else "not loaded"


# One row per part that readiness depends on.
PARTS: dict[str, Callable[[Readiness], Awaitable[str]]] = {
    "service": _service,
    "database": _database,
    "schema": _schema,
    "accounts": _accounts,
    "payers": _payers,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One operations endpoint."""

    name: str
    path: str
    summary: str
    respond: Callable[["Operations"], Awaitable[Response]]
    statuses: Mapping[int, str]
    media_type: str = JSON
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    examples: Mapping[int, Any] = field(default_factory=dict)
    """A body as an example, by status."""


class Operations:
    """The ASGI application of the operations address."""

    def __init__(self, metrics: Metrics, readiness: Readiness, errors: ErrorShape) -> None:
        self.metrics = metrics
        self.readiness = readiness
        self._errors = errors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            response = await self._respond(Request(scope))
            await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        probe = PROBES_BY_PATH.get(request.url.path)
        if probe is None:
            return self._errors.message(
                404, f"There is {', '.join(PROBES_BY_PATH)} here, and nothing else."
            )
        if request.method not in {"GET", "HEAD"}:
            return self._errors.wrong_verb(request.method, "GET, HEAD")
        return await probe.respond(self)


async def _alive(_: Operations) -> Response:
    return json_response(200, {"status": "alive"})


async def _ready(operations: Operations) -> Response:
    faults = await operations.readiness.faults()
    if faults:
        return json_response(503, {"status": "not ready", "parts": faults})
    warnings = await operations.readiness.warnings()
    return json_response(200, {"status": "ready"} | ({"warnings": warnings} if warnings else {}))


async def _metrics(operations: Operations) -> Response:
    measures = await operations.readiness.measures()
    return Response(operations.metrics.text(measures), 200, {"Content-Type": MEDIA_TYPE})


PROBES: tuple[Probe, ...] = (
    Probe(
        name="Health",
        path="/healthz",
        summary="Whether the process is alive.",
        respond=_alive,
        statuses={200: "It is."},
        examples={200: {"status": "alive"}},
    ),
    Probe(
        name="Ready",
        path="/readyz",
        summary="Whether the node can answer calls: database, accounts and payers.",
        respond=_ready,
        statuses={
            200: "It can; `warnings` name what an operator must see to.",
            503: "It cannot; the body names each part that is not ready.",
        },
        examples={
            200: {"status": "ready"},
            503: {"status": "not ready", "parts": {"database": "does not answer (TimeoutError)"}},
        },
    ),
    Probe(
        name="Metrics",
        path="/metrics",
        summary="Metrics of the node and of the installation, in the Prometheus exposition format.",
        respond=_metrics,
        statuses={200: "All metrics."},
        examples={200: 'clearlane_requests_total{endpoint="SubmitClaims",status="200"} 12.0\n'},
        media_type=MEDIA_TYPE,
        schema={"type": "string"},
    ),
)
PROBES_BY_PATH = {probe.path: probe for probe in PROBES}
