"""From a route to its open end: the table of kinds."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from clearlane.connect.address_guard import Lookup, ask_name_server
from clearlane.connect.caqh_core import CoreMailbox, CoreRealtime
from clearlane.connect.caqh_core_http import CoreLine
from clearlane.connect.connection_test import Check
from clearlane.connect.folder import FolderMailbox
from clearlane.connect.port import Mailbox, Realtime
from clearlane.connect.sftp import SftpMailbox
from clearlane.kernel.clock import Clock
from clearlane.payers.routes import Kind, Route, Secrets


class Testable(Protocol):
    """A connection that can be tried without sending anything."""

    async def check(self) -> list[Check]: ...

    async def close(self) -> None: ...


class OpenMailbox(Mailbox, Testable, Protocol):
    """A mailbox of a route."""


class OpenRealtime(Realtime, Testable, Protocol):
    """A real-time connection of a route."""


def open_mailbox(
    route: Route, secrets: Secrets, *, clock: Clock, lookup: Lookup = ask_name_server
) -> OpenMailbox:
    """The mailbox of a route. Nothing is connected before it is used."""
    return MAILBOXES[route.kind](route, secrets, clock, lookup)


def open_realtime(
    route: Route, secrets: Secrets, *, clock: Clock, lookup: Lookup = ask_name_server
) -> OpenRealtime:
    """The real-time connection of a route. Nothing is connected before it is used."""
    assert route.kind is Kind.CORE_REALTIME, "only real-time routes are asked"
    return CoreRealtime(CoreLine(route, secrets, clock, lookup))


async def try_route(
    route: Route, secrets: Secrets, *, clock: Clock, lookup: Lookup = ask_name_server
) -> list[Check]:
    """Connect, and tell what worked and what did not. Nothing is sent."""
    opening: Callable[..., Testable] = open_mailbox if route.carries_files else open_realtime
    opened = opening(route, secrets, clock=clock, lookup=lookup)
    try:
        return await opened.check()
    finally:
        await opened.close()


def _folder(route: Route, secrets: Secrets, clock: Clock, lookup: Lookup) -> OpenMailbox:
    return FolderMailbox(
        outbox=Path(route.text("outbox")),
        inbox=Path(route.text("inbox")),
        uploads_stay=route.switch("uploads_stay"),
        bytes_max=route.number("bytes_max"),
        seconds=route.number("seconds_max"),
    )


def _sftp(route: Route, secrets: Secrets, clock: Clock, lookup: Lookup) -> OpenMailbox:
    return SftpMailbox(route, secrets, lookup)


def _core(route: Route, secrets: Secrets, clock: Clock, lookup: Lookup) -> OpenMailbox:
    return CoreMailbox(CoreLine(route, secrets, clock, lookup))


MAILBOXES: Mapping[Kind, Callable[[Route, Secrets, Clock, Lookup], OpenMailbox]] = {
    Kind.FOLDER: _folder,
    Kind.SFTP: _sftp,
    Kind.CORE: _core,
}
