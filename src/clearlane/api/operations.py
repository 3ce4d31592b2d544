"""What operators and their machines ask a node: is it alive, is it ready, what has it counted.

On an address of its own, plain http, loopback unless the operator says otherwise. Knows no call of
the interface, and tells nothing of its callers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import literal, select
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from clearlane.accounts.directory import Accounts
from clearlane.api.endpoint import Desk
from clearlane.api.metrics import MEDIA_TYPE, Metrics
from clearlane.api.v3 import wire
from clearlane.kernel import limits
from clearlane.payers.directory import Payers
from clearlane.store.schema import HEAD
from clearlane.store.sql import Statement, System

PING = Statement(select(literal(1)))
READY_CHECK = System("readiness")


class Readiness:
    """Which parts of this node can do their work."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.stopping = False

    async def faults(self) -> dict[str, str]:
        """Each part that is not ready, and why."""
        found = {}
        for part, check in PARTS.items():
            try:
                async with asyncio.timeout(limits.READY_SECONDS_MAX):
                    found[part] = await check(self)
            except Exception as fault:  # noqa: BLE001  (whatever it is, the part is not ready)
                found[part] = f"does not answer ({type(fault).__name__})"
        return {part: why for part, why in found.items() if why}

    def warnings(self) -> dict[str, str]:
        """What an operator must see to while the node goes on answering calls."""
        fault = self.desk.database.anchor_fault
        return {"audit": f"The chain is not anchored: {fault}"} if fault else {}


async def _service(readiness: Readiness) -> str:
    return "stopping" if readiness.stopping else ""


async def _database(readiness: Readiness) -> str:
    async with readiness.desk.database.read(READY_CHECK) as tx:
        await tx.row(PING)
    return ""


async def _schema(readiness: Readiness) -> str:
    found = await readiness.desk.database.revision()
    return "" if found == HEAD else f"at revision {found}, needed {HEAD}"


async def _accounts(readiness: Readiness) -> str:
    return "" if isinstance(readiness.desk.accounts, Accounts) else "not loaded"


async def _payers(readiness: Readiness) -> str:
    return "" if isinstance(readiness.desk.payers, Payers) else "not loaded"


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
    """One question a node answers."""

    name: str
    path: str
    summary: str
    answer: Callable[["Operations"], Awaitable[Response]]
    statuses: Mapping[int, str]
    media_type: str = wire.JSON
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})


class Operations:
    """The application behind the operations address."""

    def __init__(self, metrics: Metrics, readiness: Readiness) -> None:
        self.metrics = metrics
        self.readiness = readiness

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = await self._answer(Request(scope))
            await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        probe = BY_PATH.get(request.url.path)
        if probe is None:
            return wire.message(404, f"There is {', '.join(BY_PATH)} here, and nothing else.")
        if request.method not in {"GET", "HEAD"}:
            return wire.wrong_verb(request.method, "GET, HEAD")
        return await probe.answer(self)


async def _alive(_: Operations) -> Response:
    return wire.answer(200, {"status": "alive"})


async def _ready(operations: Operations) -> Response:
    faults = await operations.readiness.faults()
    if faults:
        return wire.answer(503, {"status": "not ready", "parts": faults})
    warnings = operations.readiness.warnings()
    return wire.answer(200, {"status": "ready"} | ({"warnings": warnings} if warnings else {}))


async def _metrics(operations: Operations) -> Response:
    return Response(operations.metrics.text(), 200, {"Content-Type": MEDIA_TYPE})


PROBES: tuple[Probe, ...] = (
    Probe(
        name="Health",
        path="/healthz",
        summary="Whether the process is alive.",
        answer=_alive,
        statuses={200: "It is."},
    ),
    Probe(
        name="Ready",
        path="/readyz",
        summary="Whether the node can answer calls: database, accounts and payers.",
        answer=_ready,
        statuses={
            200: "It can; `warnings` name what an operator must see to.",
            503: "It cannot; the body names each part that is not ready.",
        },
    ),
    Probe(
        name="Metrics",
        path="/metrics",
        summary="Counters in the Prometheus exposition format.",
        answer=_metrics,
        statuses={200: "All counters."},
        media_type=MEDIA_TYPE,
        schema={"type": "string"},
    ),
)
BY_PATH = {probe.path: probe for probe in PROBES}
