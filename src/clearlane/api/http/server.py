"""Run an ASGI application on one listening socket, and stop it gracefully.

Several uvicorn servers share one event loop; the process, not uvicorn, handles signals. Knows sockets
and TLS contexts; no endpoints and no settings.
"""

import asyncio
import contextlib
import errno
import resource
import socket
import ssl
from collections.abc import Generator
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from clearlane.api.http.protocol import ConnectionPolicy, LimitedHttpProtocol
from clearlane.kernel import limits

CONNECTIONS_MAX = 4_000
HANDSHAKE_SECONDS_MAX = 10
KEEP_ALIVE_SECONDS_MAX = 65
TLS_CLOSE_SECONDS_MAX = 2


class ListenError(Exception):
    """An address that cannot be listened on. The message says which, and what to do."""


class HttpServer(uvicorn.Server):
    """The server of one listening socket."""

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        policy: ConnectionPolicy,
        *,
        tls: ssl.SSLContext | None = None,
        stop_seconds_max: int = limits.STOP_SECONDS_MAX,
    ) -> None:
        config = uvicorn.Config(
            app,
            http=LimitedHttpProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS_MAX,
            timeout_graceful_shutdown=stop_seconds_max,
        )
        super().__init__(config)
        self.listener = listener
        self._policy = policy
        self._tls = tls
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections, with our own protocol and TLS timeouts."""
        loop = asyncio.get_running_loop()
        timeouts: dict[str, Any] = {}
        if self._tls is not None:
            timeouts = {
                "ssl_handshake_timeout": HANDSHAKE_SECONDS_MAX,
                "ssl_shutdown_timeout": TLS_CLOSE_SECONDS_MAX,
            }
        server = await loop.create_server(
            self._connection, sock=self.listener, ssl=self._tls, backlog=2_048, **timeouts
        )
        self.servers = [server]
        await self.on_tick(0)  # sets the Date header of the first response
        self.started = True
        self.ready.set()

    def _connection(self) -> asyncio.Protocol:
        return LimitedHttpProtocol(self.config, self.server_state, {}, policy=self._policy)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the process, which stops all its servers itself."""
        yield

    def stop(self, *, at_once: bool = False) -> None:
        """Refuse new connections and let running requests finish, or abort them at once."""
        self.should_exit = True
        self.force_exit = at_once
        if at_once:
            for connection in list(self.server_state.connections):
                connection.transport.abort()

    @property
    def port(self) -> int:
        """The port of the listening socket."""
        return int(self.listener.getsockname()[1])


def listen(host: str, port: int, purpose: str, setting: str = "") -> socket.socket:
    """Return a socket listening on the address; port 0 takes a free one.

    ``purpose`` names the socket in error messages, and ``setting`` what changes its port.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        raise ListenError(
            f"{purpose}: the address {host!r} cannot be found on this machine."
        ) from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(2_048)
    except OSError as fault:
        listener.close()
        raise ListenError(_listen_error(fault, host, port, purpose, setting)) from None
    listener.setblocking(False)
    return listener


def connections_max() -> int:
    """Raise the limit of open files as far as allowed and return how many connections fit in it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS_MAX + 2 * limits.CONNECTIONS_SPARE
    if soft < wanted:
        soft = min(wanted, hard) if hard != resource.RLIM_INFINITY else wanted
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(1, min(CONNECTIONS_MAX, soft - 2 * limits.CONNECTIONS_SPARE))


def _listen_error(fault: OSError, host: str, port: int, what: str, setting: str) -> str:
    by = f" by {setting}" if setting else ""
    reasons = {
        errno.EADDRINUSE: f"is in use by another program. Stop that, or choose another port{by}",
        errno.EACCES: f"may not be opened by this user. Choose a port above 1023{by}",
        errno.EADDRNOTAVAIL: "is not an address of this machine. Choose another host",
    }
    reason = reasons.get(fault.errno or 0, "cannot be opened. Choose another")
    return f"{what}: {host}:{port} {reason} (0 picks a free port)."
