"""HTTP/1.1 on one connection, with limits that uvicorn does not have.

uvicorn reads as many header bytes as are sent, for as long as they are sent. Here the size and time of a
request's head and the time of an idle connection are limited, the rest of a request that was answered early
is drained briefly and then cut off, and refusals have the shape of all other errors. Knows no endpoint.
"""

import asyncio
import http
from dataclasses import dataclass, field
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

from clearlane.api.frame.app import UNREADABLE_HEAD, new_request_id
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.http_responses import with_security_headers
from clearlane.api.http.memory_release import CONNECTION_BYTES, FreedMemory
from clearlane.api.operations.metrics import Metrics
from clearlane.kernel import limits
from clearlane.kernel.log import get_logger

log = get_logger()

LINGER_SECONDS_MAX = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionPolicy:
    """The limits of a connection, where it is counted, and the shape of its errors."""

    header_bytes_max: int
    header_seconds_max: float
    connections_max: int
    metrics: Metrics
    errors: ErrorShape
    freed: FreedMemory = field(default_factory=FreedMemory)
    linger_seconds_max: float = LINGER_SECONDS_MAX


HEAD_TOO_LARGE = (431, "The request line and headers are larger than the limit.")
HEAD_TOO_SLOW = (408, "The request line and headers were not received in time.")
NOT_HTTP = (400, "The request is not HTTP/1.1.")
WRONG_VERSION = (505, "The service speaks HTTP/1.1 and HTTP/1.0.")
VERSIONS_SPOKEN = frozenset({"1.0", "1.1"})
NO_VERSION = "0.0"
"""What the parser knows before it has read a version."""
WRONG_HOST = (400, "An HTTP/1.1 request has exactly one Host header.")
TOO_BUSY = (503, "Too many connections are open at the moment.")
CONTINUE = b"HTTP/1.1 100 "


class LimitedHttpProtocol(HttpToolsProtocol):
    """One HTTP/1.1 connection under a policy."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        policy: ConnectionPolicy,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._policy = policy
        self._timer: asyncio.TimerHandle | None = None
        self._in_head = True
        """Whether the next byte belongs to a request's head."""
        self._head_bytes = 0
        self._head_began = False
        self._stray_bytes = 0
        self._progressed = False
        self._draining = False
        """Whether the last response was sent: further input is discarded, then the connection closes."""
        self._parser_stopped = False
        """Whether a fault ended parsing: further input is discarded."""

    # The connection.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._policy.metrics.set_open_connections(len(self.connections))
        if len(self.connections) > self._policy.connections_max + limits.CONNECTIONS_SPARE:
            self._policy.metrics.count_broken_connection("too many connections")
            transport.abort()
            return
        self._start_timer(self._policy.header_seconds_max, self._on_slow_head)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._policy.metrics.set_open_connections(len(self.connections))
        self._policy.freed.add(CONNECTION_BYTES)

    def data_received(self, data: bytes) -> None:
        if self._parser_stopped or self.transport.is_closing():
            return
        was_in_head, self._head_began, self._progressed = self._in_head, False, False
        if was_in_head and self._timer is None:
            self._start_timer(self._policy.header_seconds_max, self._on_slow_head)
        super().data_received(data)
        if self._draining or self.transport.is_closing():
            return
        if self._in_head and was_in_head and not self._head_began:
            self._head_bytes += len(data)
            if self._head_bytes > self._policy.header_bytes_max:
                self._refuse(*HEAD_TOO_LARGE)
        elif not self._in_head and not self._progressed:
            self._count_stray(len(data))

    def _count_stray(self, count: int) -> None:
        # Chunk extensions and trailers carry nothing, so nothing else would limit them.
        self._stray_bytes += count
        if self._stray_bytes > self._policy.header_bytes_max:
            self._refuse(*NOT_HTTP)

    # The parser's events.

    def on_message_begin(self) -> None:
        self._head_began = True
        self._head_bytes = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # what comes after the head is a trailer, which no call reads
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._progressed = True
        self._stray_bytes = 0
        self._stop_timer()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self._policy.header_bytes_max:
            self.scope["state"][UNREADABLE_HEAD] = HEAD_TOO_LARGE
        elif self.parser.get_http_version() not in VERSIONS_SPOKEN:
            self.scope["state"][UNREADABLE_HEAD] = WRONG_VERSION
        elif not self._has_right_host():
            self.scope["state"][UNREADABLE_HEAD] = WRONG_HOST
        elif len(self.connections) > self._policy.connections_max:
            self.scope["state"][UNREADABLE_HEAD] = TOO_BUSY
        super().on_headers_complete()
        # uvicorn closes the socket after the last response. A caller that is still sending would then
        # get a TCP reset instead of the response, so the transport below closes more slowly.
        if self.scope["http_version"] == "1.0":
            self.cycle.__class__ = UnchunkedCycle
        self.cycle.transport = ResponseTransport(self)  # type: ignore[assignment]  # the three methods it uses

    def _has_right_host(self) -> bool:
        """Return whether there is one Host header, or none in HTTP/1.0 (RFC 9112, 3.2)."""
        count = sum(name == b"host" for name, _ in self.headers)
        return count == 1 or (count == 0 and self.parser.get_http_version() == "1.0")

    def on_body(self, body: bytes) -> None:
        self._progressed = True
        self._stray_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_head = True
        self._progressed = True
        self._head_bytes = 0
        self._stop_timer()
        super().on_message_complete()
        if self._draining:
            self.transport.close()
        elif self.cycle is not None and self.cycle.response_complete:
            self._wait_for_next_request()

    def on_response_complete(self) -> None:
        if isinstance(self.cycle.transport, ResponseTransport):
            self.cycle.transport.flush()
        if self._draining:
            self.server_state.total_requests += 1
            return
        super().on_response_complete()
        if not self._in_head and self.cycle.response_complete:
            self._unset_keepalive_if_required()
            self._start_timer(self._policy.linger_seconds_max, self.transport.close)

    def drain_and_close(self) -> None:
        """Close when the caller has finished sending, or after a short time."""
        self._draining = True
        if self._in_head and not self._parser_stopped:
            self.transport.close()
            return
        self.flow.resume_reading()
        self._start_timer(self._policy.linger_seconds_max, self.transport.close)

    def _wait_for_next_request(self) -> None:
        """Start the keep-alive timer of an idle connection."""
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    # Time.

    def _start_timer(self, seconds: float, then: Any) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_slow_head(self) -> None:
        self._timer = None
        if self.cycle is not None and not self.cycle.response_complete:
            # The slow head follows a request that is still being handled: that response goes first.
            self._start_timer(self._policy.header_seconds_max, self._on_slow_head)
        else:
            self._refuse(*HEAD_TOO_SLOW)

    # Refusals below the application.

    def send_400_response(self, msg: str) -> None:
        version = self.parser.get_http_version()
        self._refuse(*(NOT_HTTP if version in {*VERSIONS_SPOKEN, NO_VERSION} else WRONG_VERSION))

    def _unsupported_upgrade_warning(self) -> None:
        """Ignore upgrade requests silently, as RFC 9110, 7.8 allows."""

    def _refuse(self, status: int, text: str) -> None:
        self._policy.metrics.count_broken_connection(http.HTTPStatus(status).phrase)
        if self.cycle is not None and not self.cycle.response_complete:
            if self._in_head:
                # Invalid bytes after a valid request: finish that response, then read nothing more.
                self.cycle.keep_alive = False
                self._parser_stopped = True
                return
            # The body of the running request is broken and will never be complete.
            started = self.cycle.response_started
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if started:
                self.transport.close()
                return
        self._parser_stopped = True
        self.transport.write(self._refusal_bytes(status, text))
        self.drain_and_close()

    def _refusal_bytes(self, status: int, text: str) -> bytes:
        response = self._policy.errors.message(status, text, {"Connection": "close"})
        id = new_request_id()
        log.info("request", request_id=id, method=None, endpoint="unreadable", status=status)
        identity = (b"x-request-id", id.encode())
        own = with_security_headers(response.raw_headers)
        lines = [*self.server_state.default_headers, *own, identity]
        head = b"".join(name + b": " + value + b"\r\n" for name, value in lines)
        return STATUS_LINE[status] + head + b"\r\n" + bytes(response.body)


class UnchunkedCycle(RequestResponseCycle):
    """A request of HTTP/1.0, which knows no chunks: a streamed body ends with the connection."""

    _is_streamed = False

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            names = {name.lower() for name, _ in message["headers"]}
            self._is_streamed = b"content-length" not in names
        if self._is_streamed:
            # uvicorn compares the body with a declared length; here every piece is exactly as long as expected.
            self.chunked_encoding = False
            self.expected_content_length = len(message.get("body", b""))
        await super().send(message)


class ResponseTransport:
    """The transport that uvicorn writes a response to: sends head and body together, and drains before closing."""

    def __init__(self, protocol: LimitedHttpProtocol) -> None:
        self._write = protocol.transport.write
        self.is_closing = protocol.transport.is_closing
        self._drain_and_close = protocol.drain_and_close
        self._head = b""
        self._head_written = False

    def write(self, content: bytes) -> None:
        """Hold the head back until there is a body: one TLS record and one packet instead of two."""
        if self._head_written:
            self._write(self._head + content if self._head else content)
            self._head = b""
        elif content.startswith(CONTINUE):
            self._write(content)
        else:
            self._head_written, self._head = True, content

    def flush(self) -> None:
        """Send a head without a body."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        """Send what is held back, then drain and close."""
        self.flush()
        self._drain_and_close()
