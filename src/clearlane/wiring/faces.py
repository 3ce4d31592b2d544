"""Faces of an installation that a node serves beside the API: the console, and SFTP."""

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from clearlane.wiring.installation import Installation

if TYPE_CHECKING:
    from clearlane.api.frame.app import Answer, MountedApp
    from clearlane.sftp_server.listener import SftpServer


def mount_console(installation: Installation, base_url: str) -> "MountedApp":
    """Return the web console, to be mounted in the API server. It is loaded when it is asked for a page first."""
    from clearlane.api.frame.app import MountedApp, answer_when_asked
    from clearlane.api.frame.auth import SignInThrottle
    from clearlane.console import SEGMENT

    throttle = SignInThrottle()

    def load() -> "Answer":
        from clearlane.console.app import Console

        return Console(installation, base_url, throttle).answer

    return MountedApp("Console", SEGMENT, answer_when_asked(load))


@asynccontextmanager
async def open_sftp_server(
    installation: Installation, listeners: Sequence[socket.socket]
) -> AsyncIterator["SftpServer | None"]:
    """Serve SFTP on a socket, and older algorithms on a second one; without sockets there is no server."""
    if not listeners:
        yield None
        return
    from clearlane.api.frame.auth import SignInThrottle
    from clearlane.sftp_server.listener import SftpLimits, SftpServer

    settings = installation.settings
    server = SftpServer(
        installation,
        SignInThrottle(failures_max=settings.sftp_failures_per_address_max),
        allows_passwords=settings.sftp_passwords == "on",
        limits=SftpLimits(
            connections_max=settings.sftp_connections_max,
            waiting_per_address_max=settings.sftp_waiting_per_address_max,
            stop_seconds_max=settings.stop_seconds_max,
        ),
    )
    async with server.open(*listeners):
        yield server
