"""The HTTP servers of a node: the https API, the plain one for a proxy, and the operations address.

Starts them, watches the certificate, and stops them in order: the API first, operations last. Takes
values; knows no settings and no signals.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from clearlane.api.frame.app import (
    Answer,
    ApiApplication,
    MountedApp,
    PublicPage,
    answer_when_asked,
)
from clearlane.api.frame.endpoint import ApiLimits
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.certificates import BadCertificate, TlsCertificate
from clearlane.api.http.memory_release import FreedMemory
from clearlane.api.http.protocol import ConnectionPolicy
from clearlane.api.http.proxies import TrustedProxies
from clearlane.api.http.server import HttpServer, connections_max, listen
from clearlane.api.operations.logs import fault_fields
from clearlane.api.operations.metrics import Metrics
from clearlane.api.operations.operations import Readiness
from clearlane.api.operations.operations_server import make_operations_server
from clearlane.api.pages import SEGMENTS
from clearlane.api.pages.page_list import documents_root
from clearlane.api.pages.public_pages import REFERENCE, build_pages
from clearlane.api.sandbox_endpoints import sandbox_endpoints
from clearlane.api.versions import DEFAULT_VERSION, VERSIONS
from clearlane.kernel.log import get_logger
from clearlane.pipeline.installation_context import InstallationContext

if TYPE_CHECKING:
    from clearlane.api.pages.reference import Reference

log = get_logger()

CERTIFICATE_POLL_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAddresses:
    """Where a node listens. Port 0 takes a free one; a plain port of 0 means no plain listener."""

    host: str
    port: int
    operations_host: str
    operations_port: int
    plain_port: int = 0


class ListenSockets:
    """The listening sockets of a node, bound first so that a port in use is reported before anything starts."""

    def __init__(self, addresses: ListenAddresses) -> None:
        self.api = listen(
            addresses.host, addresses.port, "The API address", "--port or CLEARLANE_PORT"
        )
        self.operations = listen(
            addresses.operations_host,
            addresses.operations_port,
            "The operations address",
            "--ops-port or CLEARLANE_OPERATIONS_PORT",
        )
        plain = addresses.plain_port
        self.plain = (
            listen(addresses.host, plain, "The plain listener", "CLEARLANE_PLAIN_PORT")
            if plain
            else None
        )


def own_pages(
    context: InstallationContext,
    errors: ErrorShape,
    public: Sequence[PublicPage],
    *,
    sandbox: bool,
    base_url: str,
) -> tuple[MountedApp, ...]:
    """Return the page at ``/``, the documentation, and the reference unless its viewer is a public page: for anyone.

    Each is loaded when it is asked for.
    """
    viewer = any(page.path == REFERENCE.path for page in public)

    def load_root() -> Answer:
        from clearlane.api.pages.root_page import RootPage

        return RootPage(context, errors, sandbox=sandbox, base_url=base_url).answer

    @cache
    def reference() -> "Reference":
        from clearlane.api.pages.reference import Reference

        return Reference(public[0].content, errors, sandbox=sandbox, base_url=base_url)

    def load_documentation() -> Answer:
        from clearlane.api.pages.documentation import Documentation

        searched = None if viewer else reference()
        return Documentation(errors, searched, root=documents_root()).answer

    loads: dict[str, Callable[[], Answer]] = {
        "RootPage": load_root,
        "Documentation": load_documentation,
        "Reference": lambda: reference().answer,
    }
    if viewer:
        del loads["Reference"]
    return tuple(
        MountedApp(name, SEGMENTS[name], answer_when_asked(load)) for name, load in loads.items()
    )


class Service:
    """The servers of a running node."""

    def __init__(
        self,
        context: InstallationContext,
        listeners: ListenSockets,
        certificate: TlsCertificate,
        *,
        limits: ApiLimits,
        trusted_proxies: tuple[str, ...],
        sandbox: bool,
        base_url: str = "",
        mounted: Sequence[MountedApp] = (),
    ) -> None:
        self._context = context
        self._certificate = certificate
        context.measures.certificate_ends = certificate.ends_at
        self.metrics = Metrics()
        self.readiness = Readiness(context)
        self._freed = FreedMemory()
        errors = DEFAULT_VERSION.errors
        endpoints = [each for version in VERSIONS for each in version.endpoints]
        if sandbox:
            endpoints += sandbox_endpoints(errors)
        public = build_pages(*VERSIONS)
        self._app = ApiApplication(
            context,
            endpoints,
            public,
            errors=errors,
            limits=limits,
            metrics=self.metrics,
            proxies=TrustedProxies(trusted_proxies),
            sandbox=sandbox,
            base_url=base_url,
            mounted=(
                *mounted,
                *own_pages(context, errors, public, sandbox=sandbox, base_url=base_url),
            ),
            freed=self._freed,
            shapes={version.prefix: version.errors for version in VERSIONS},
        )
        self._policy = ConnectionPolicy(
            header_bytes_max=limits.header_bytes_max,
            header_seconds_max=limits.header_seconds_max,
            connections_max=connections_max(),
            metrics=self.metrics,
            errors=errors,
            freed=self._freed,
        )
        stop = limits.stop_seconds_max
        self.api_server = HttpServer(
            self._app, listeners.api, self._policy, tls=certificate.context, stop_seconds_max=stop
        )
        self._api_servers = [self.api_server]
        if listeners.plain is not None:
            plain = HttpServer(self._app, listeners.plain, self._policy, stop_seconds_max=stop)
            self._api_servers.append(plain)
        self.operations_server = make_operations_server(
            listeners.operations,
            self.metrics,
            self.readiness,
            errors,
            header_bytes_max=limits.header_bytes_max,
            header_seconds_max=limits.header_seconds_max,
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Service"]:
        """Run every server; on exit finish the running requests and stop."""
        servers = [*self._api_servers, self.operations_server]
        running = {server: asyncio.create_task(server.serve()) for server in servers}
        watch = asyncio.create_task(self._watch_certificate())
        giving_back = asyncio.create_task(self._freed.give_back_regularly())
        try:
            await _wait_until_ready(running)
            yield self
        finally:
            watch.cancel()
            giving_back.cancel()
            await self._close(running)

    def stop_now(self) -> None:
        """Stop without waiting for the requests that are still running."""
        for server in (*self._api_servers, self.operations_server):
            server.stop(at_once=True)

    def reload_certificate(self) -> None:
        """Load the certificate files again; a bad pair is logged and the old one kept."""
        try:
            self._certificate.reload(self._context.wall.now())
        except BadCertificate as why:
            log.error("certificate not reloaded", why=str(why))  # noqa: TRY400
        else:
            log.info("certificate reloaded")

    async def _watch_certificate(self) -> None:
        while True:
            await asyncio.sleep(CERTIFICATE_POLL_SECONDS)
            if self._certificate.files_changed:
                self.reload_certificate()

    async def _close(self, running: Mapping[HttpServer, "asyncio.Task[None]"]) -> None:
        self.readiness.stopping = True
        self._app.stopping.set()
        for servers in (self._api_servers, [self.operations_server]):
            for server in servers:
                server.stop(at_once=server.force_exit)
            ends = await asyncio.gather(
                *(running[server] for server in servers), return_exceptions=True
            )
            for end in ends:
                if isinstance(end, Exception):
                    log.error("server stopped with a fault", **fault_fields(end))


async def _wait_until_ready(running: Mapping[HttpServer, "asyncio.Task[None]"]) -> None:
    """Return when every server accepts connections; raise the fault of one that cannot."""
    for server, task in running.items():
        ready = asyncio.create_task(server.ready.wait())
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if task.done():
            task.result()
