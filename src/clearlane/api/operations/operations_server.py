"""The HTTP server of the operations address, which every node has: `serve` beside its API, `worker` alone."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.protocol import ConnectionPolicy
from clearlane.api.http.server import HttpServer
from clearlane.api.operations.metrics import Metrics
from clearlane.api.operations.operations import Operations, Readiness
from clearlane.api.versions import DEFAULT_VERSION
from clearlane.kernel import limits
from clearlane.pipeline.installation_context import InstallationContext

OPERATIONS_STOP_SECONDS_MAX = 1


def make_operations_server(
    listener: socket.socket,
    metrics: Metrics,
    readiness: Readiness,
    errors: ErrorShape,
    *,
    header_bytes_max: int = limits.HEADER_BYTES_MAX,
    header_seconds_max: int = limits.HEADER_SECONDS_MAX,
) -> HttpServer:
    """Return the server of an operations address."""
    policy = ConnectionPolicy(
        header_bytes_max=header_bytes_max,
        header_seconds_max=header_seconds_max,
        connections_max=limits.CONNECTIONS_SPARE,
        metrics=Metrics(),  # the operators' connections are not counted with the callers'
        errors=errors,
    )
    return HttpServer(
        Operations(metrics, readiness, errors),
        listener,
        policy,
        stop_seconds_max=OPERATIONS_STOP_SECONDS_MAX,
    )


@asynccontextmanager
async def serve_operations(
    context: InstallationContext, listener: socket.socket
) -> AsyncIterator[Readiness]:
    """Serve the operations address of a node that has no API."""
    readiness = Readiness(context)
    server = make_operations_server(listener, Metrics(), readiness, DEFAULT_VERSION.errors)
    running = asyncio.create_task(server.serve())
    try:
        await server.ready.wait()
        yield readiness
    finally:
        readiness.stopping = True
        server.stop()
        await asyncio.gather(running, return_exceptions=True)
