"""A node's doors together: the https door, the one behind a proxy, and the operators' own.

Opens them, watches the certificate, and stops them in the right order: calls first, operators last.
Knows values, no settings and no signals.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog

from clearlane.api.app import FrontDoor, Mounted
from clearlane.api.certificates import BadCertificate, Seal
from clearlane.api.endpoint import Desk, Limits
from clearlane.api.logs import fault_fields
from clearlane.api.metrics import Metrics
from clearlane.api.operations import Operations, Readiness
from clearlane.api.protocol import Guard
from clearlane.api.proxies import Proxies
from clearlane.api.public_pages import pages
from clearlane.api.sandbox import TABLE as SANDBOX_TABLE
from clearlane.api.server import Door, connections_max, listen
from clearlane.api.v3.routes import TABLE
from clearlane.kernel import limits as house_limits

log = structlog.get_logger()

OPERATIONS_STOP_SECONDS_MAX = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Where a node listens. Port 0 takes a free one; a plain port of 0 opens no plain door."""

    host: str
    port: int
    operations_host: str
    operations_port: int
    plain_port: int = 0


class Listeners:
    """The bound sockets of a node, so that a port in use is told before anything else starts."""

    def __init__(self, addresses: Addresses) -> None:
        self.front = listen(addresses.host, addresses.port, "The front door")
        self.operations = listen(
            addresses.operations_host, addresses.operations_port, "The operations address"
        )
        plain = addresses.plain_port
        self.plain = listen(addresses.host, plain, "The plain listener") if plain else None


class Service:
    """The open doors of a running node."""

    def __init__(
        self,
        desk: Desk,
        listeners: Listeners,
        seal: Seal,
        *,
        limits: Limits,
        trusted_proxies: tuple[str, ...],
        sandbox: bool,
        base_url: str = "",
        mounted: Sequence[Mounted] = (),
    ) -> None:
        self._desk = desk
        self._seal = seal
        self.metrics = Metrics()
        self.readiness = Readiness(desk)
        self._app = FrontDoor(
            desk,
            (*TABLE, *SANDBOX_TABLE) if sandbox else TABLE,
            pages(),
            limits=limits,
            metrics=self.metrics,
            proxies=Proxies(trusted_proxies),
            sandbox=sandbox,
            base_url=base_url,
            mounted=mounted,
        )
        self._guard = Guard(
            header_bytes_max=limits.header_bytes_max,
            header_seconds_max=limits.header_seconds_max,
            connections_max=connections_max(),
            metrics=self.metrics,
        )
        stop = limits.stop_seconds_max
        self.front = Door(
            self._app, listeners.front, self._guard, tls=seal.context, stop_seconds_max=stop
        )
        self._calls = [self.front]
        if listeners.plain is not None:
            plain = Door(self._app, listeners.plain, self._guard, stop_seconds_max=stop)
            self._calls.append(plain)
        self.operations = self._operations_door(listeners)

    def _operations_door(self, listeners: Listeners) -> Door:
        guard = Guard(
            header_bytes_max=self._guard.header_bytes_max,
            header_seconds_max=self._guard.header_seconds_max,
            connections_max=house_limits.CONNECTIONS_SPARE,
            metrics=Metrics(),  # the operators' own connections are not counted with the callers'
        )
        return Door(
            Operations(self.metrics, self.readiness),
            listeners.operations,
            guard,
            stop_seconds_max=OPERATIONS_STOP_SECONDS_MAX,
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Service"]:
        """Open every door; leaving closes them, after the running calls have ended."""
        doors = [*self._calls, self.operations]
        running = {door: asyncio.create_task(door.serve()) for door in doors}
        watch = asyncio.create_task(self._watch_certificate())
        try:
            await _opened(running)
            yield self
        finally:
            watch.cancel()
            await self._close(running)

    def stop_now(self) -> None:
        """Do not wait for the calls that are still running."""
        for door in (*self._calls, self.operations):
            door.stop(at_once=True)

    def reload_certificate(self) -> None:
        """Show what the certificate files hold now; a bad pair is told and the old one kept."""
        try:
            self._seal.reload(self._desk.wall.now())
        except BadCertificate as why:
            log.error("certificate not reloaded", why=str(why))  # noqa: TRY400
        else:
            log.info("certificate reloaded")

    async def _watch_certificate(self) -> None:
        while True:
            await asyncio.sleep(house_limits.CERTIFICATE_LOOK_SECONDS)
            if self._seal.stale:
                self.reload_certificate()

    async def _close(self, running: Mapping[Door, "asyncio.Task[None]"]) -> None:
        self.readiness.stopping = True
        self._app.stopping.set()
        for doors in (self._calls, [self.operations]):
            for door in doors:
                door.stop(at_once=door.force_exit)
            ends = await asyncio.gather(*(running[door] for door in doors), return_exceptions=True)
            for end in ends:
                if isinstance(end, Exception):
                    log.error("door closed badly", **fault_fields(end))


async def _opened(running: Mapping[Door, "asyncio.Task[None]"]) -> None:
    """Return when every door is open; a door that cannot open says why."""
    for door, task in running.items():
        opened = asyncio.create_task(door.opened.wait())
        await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
        opened.cancel()
        if task.done():
            task.result()
