"""Open the connection of a route, by its kind.

A kind's module, with the library of its protocol, is imported when a route of that kind is opened: commands that only
list things do not wait for it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from clearlane.connect.address_guard import Lookup, query_name_server
from clearlane.connect.connection_check import ConnectionCheck
from clearlane.connect.folder import FolderMailbox
from clearlane.connect.port import Mailbox, Realtime
from clearlane.kernel.clock import Clock
from clearlane.payers.routes import Route, RouteKind, RouteSecrets


class CheckableConnection(Protocol):
    """A connection that can be tested without sending anything."""

    async def check(self) -> list[ConnectionCheck]: ...

    async def close(self) -> None: ...


class RouteMailbox(Mailbox, CheckableConnection, Protocol):
    """The mailbox of a route."""


class RouteRealtime(Realtime, CheckableConnection, Protocol):
    """The real-time connection of a route."""


def open_mailbox(
    route: Route, secrets: RouteSecrets, *, clock: Clock, lookup: Lookup = query_name_server
) -> RouteMailbox:
    """Return the mailbox of a route. It connects when first used."""
    return MAILBOX_BY_KIND[route.kind](route, secrets, clock, lookup)


def open_realtime(
    route: Route, secrets: RouteSecrets, *, clock: Clock, lookup: Lookup = query_name_server
) -> RouteRealtime:
    """Return the real-time connection of a route. It connects when first used."""
    return REALTIME_BY_KIND[route.kind](route, secrets, clock, lookup)


async def check_route(
    route: Route, secrets: RouteSecrets, *, clock: Clock, lookup: Lookup = query_name_server
) -> list[ConnectionCheck]:
    """Test the connection of a route and report each step. Nothing is sent."""
    open_connection: Callable[..., CheckableConnection] = (
        open_mailbox if route.carries_files else open_realtime
    )
    connection = open_connection(route, secrets, clock=clock, lookup=lookup)
    try:
        return await connection.check()
    finally:
        await connection.close()


def _folder(route: Route, secrets: RouteSecrets, clock: Clock, lookup: Lookup) -> RouteMailbox:
    return FolderMailbox(
        outbox=Path(route.text("outbox")),
        inbox=Path(route.text("inbox")),
        uploads_stay=route.flag("uploads_stay"),
        inbox_names=route.text("inbox_names"),
        bytes_max=route.number("bytes_max"),
        seconds=route.number("seconds_max"),
    )


def _sftp(route: Route, secrets: RouteSecrets, clock: Clock, lookup: Lookup) -> RouteMailbox:
    from clearlane.connect.sftp import SftpMailbox

    return SftpMailbox(route, secrets, lookup)


def _core(route: Route, secrets: RouteSecrets, clock: Clock, lookup: Lookup) -> RouteMailbox:
    from clearlane.connect.caqh_core import CoreMailbox
    from clearlane.connect.caqh_core_http import CoreConnection

    return CoreMailbox(CoreConnection(route, secrets, clock, lookup))


def _core_realtime(
    route: Route, secrets: RouteSecrets, clock: Clock, lookup: Lookup
) -> RouteRealtime:
    from clearlane.connect.caqh_core import CoreRealtime
    from clearlane.connect.caqh_core_http import CoreConnection

    return CoreRealtime(CoreConnection(route, secrets, clock, lookup))


MAILBOX_BY_KIND: Mapping[
    RouteKind, Callable[[Route, RouteSecrets, Clock, Lookup], RouteMailbox]
] = {
    RouteKind.FOLDER: _folder,
    RouteKind.SFTP: _sftp,
    RouteKind.CORE: _core,
}

REALTIME_BY_KIND: Mapping[
    RouteKind, Callable[[Route, RouteSecrets, Clock, Lookup], RouteRealtime]
] = {
    RouteKind.CORE_REALTIME: _core_realtime,
}
