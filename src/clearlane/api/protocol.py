"""HTTP/1.1 on one connection, with limits that the server underneath does not have.

uvicorn's protocol reads as many header bytes as are sent, for as long as they are sent. Here a
request's head has a size and a time, an idle connection has a time, what follows an early answer
is drained for a moment and then cut off, and every refusal has the shape of all others. Knows
connections, no calls.
"""

import asyncio
import http
from dataclasses import dataclass
from typing import Any

import structlog
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from clearlane.api.app import UNREADABLE, new_request_id
from clearlane.api.metrics import Metrics
from clearlane.api.v3 import wire
from clearlane.kernel import limits

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What a connection may cost."""

    header_bytes_max: int
    header_seconds_max: float
    connections_max: int
    metrics: Metrics
    linger_seconds_max: float = limits.LINGER_SECONDS_MAX


HEAD_TOO_LARGE = (431, "The request line and headers are larger than the limit.")
HEAD_TOO_SLOW = (408, "The request line and headers were not received in time.")
NOT_HTTP = (400, "The request is not HTTP/1.1.")
TOO_BUSY = (503, "Too many connections are open at the moment.")
CONTINUE = b"HTTP/1.1 100 "


class GuardedProtocol(HttpToolsProtocol):
    """One connection under guard."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        guard: Guard,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._guard = guard
        self._timer: asyncio.TimerHandle | None = None
        self._heading = True
        """Whether the next byte belongs to a request's head, or to nothing yet."""
        self._head_bytes = 0
        self._began = False
        self._stray_bytes = 0
        self._moved = False
        self._leaving = False
        """Whether the last answer is given: what still comes in is drained, not read."""
        self._deaf = False
        """Whether the parser has given up."""

    # The connection.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._guard.metrics.connected(len(self.connections))
        if len(self.connections) > self._guard.connections_max + limits.CONNECTIONS_SPARE:
            self._guard.metrics.broken("too many connections")
            transport.abort()
            return
        self._start_timer(self._guard.header_seconds_max, self._on_slow_head)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._guard.metrics.connected(len(self.connections))

    def data_received(self, data: bytes) -> None:
        if self._deaf or self.transport.is_closing():
            return
        was_heading, self._began, self._moved = self._heading, False, False
        if was_heading and self._timer is None:
            self._start_timer(self._guard.header_seconds_max, self._on_slow_head)
        super().data_received(data)
        if self._leaving or self.transport.is_closing():
            return
        if self._heading and was_heading and not self._began:
            self._head_bytes += len(data)
            if self._head_bytes > self._guard.header_bytes_max:
                self._refuse(*HEAD_TOO_LARGE)
        elif not self._heading and not self._moved:
            self._count_stray(len(data))

    def _count_stray(self, count: int) -> None:
        # Chunk extensions and trailers carry nothing, so nothing else would limit them.
        self._stray_bytes += count
        if self._stray_bytes > self._guard.header_bytes_max:
            self._refuse(*NOT_HTTP)

    # The parser's events.

    def on_message_begin(self) -> None:
        self._began = True
        self._head_bytes = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._heading:  # what comes after the head is a trailer, which no call reads
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._heading = False
        self._moved = True
        self._stray_bytes = 0
        self._stop_timer()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self._guard.header_bytes_max:
            self.scope["state"][UNREADABLE] = HEAD_TOO_LARGE
        elif len(self.connections) > self._guard.connections_max:
            self.scope["state"][UNREADABLE] = TOO_BUSY
        super().on_headers_complete()
        # uvicorn closes when an answer is the last one. A caller that is still sending would then
        # get a reset instead of its answer, so the closing is ours.
        self.cycle.transport = Leave(self)  # type: ignore[assignment]  # the three methods it uses

    def on_body(self, body: bytes) -> None:
        self._moved = True
        self._stray_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._heading = True
        self._moved = True
        self._head_bytes = 0
        self._stop_timer()
        super().on_message_complete()
        if self._leaving:
            self.transport.close()
        elif self.cycle is not None and self.cycle.response_complete:
            self._rest()

    def on_response_complete(self) -> None:
        if isinstance(self.cycle.transport, Leave):
            self.cycle.transport.flush()
        if self._leaving:
            self.server_state.total_requests += 1
            return
        super().on_response_complete()
        if not self._heading and self.cycle.response_complete:
            self._unset_keepalive_if_required()
            self._start_timer(self._guard.linger_seconds_max, self.transport.close)

    def leave(self) -> None:
        """Close once the caller has sent what it was sending, or a moment later."""
        self._leaving = True
        if self._heading and not self._deaf:
            self.transport.close()
            return
        self.flow.resume_reading()
        self._start_timer(self._guard.linger_seconds_max, self.transport.close)

    def _rest(self) -> None:
        """Wait for the next request as long as an idle connection may."""
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
            # The slow head stands behind a call that is still running; the answer comes first.
            self._start_timer(self._guard.header_seconds_max, self._on_slow_head)
        else:
            self._refuse(*HEAD_TOO_SLOW)

    # Refusals below the calls.

    def send_400_response(self, msg: str) -> None:
        self._refuse(*NOT_HTTP)

    def _unsupported_upgrade_warning(self) -> None:
        """An upgrade that is not offered is simply not made (RFC 9110, 7.8)."""

    def _refuse(self, status: int, text: str) -> None:
        self._guard.metrics.broken(http.HTTPStatus(status).phrase)
        if self.cycle is not None and not self.cycle.response_complete:
            if self._heading:
                # Rubbish behind a good call: that call is answered, and then nothing more is read.
                self.cycle.keep_alive = False
                self._deaf = True
                return
            # The running call's own body is broken: it is never going to be complete.
            started = self.cycle.response_started
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if started:
                self.transport.close()
                return
        self._deaf = True
        self.transport.write(self._refusal(status, text))
        self.leave()

    def _refusal(self, status: int, text: str) -> bytes:
        answer = wire.message(status, text, {"Connection": "close"})
        id = new_request_id()
        log.info("request", request_id=id, method=None, route="unreadable", status=status)
        identity = (b"x-request-id", id.encode())
        lines = [*self.server_state.default_headers, *answer.raw_headers, identity]
        head = b"".join(name + b": " + value + b"\r\n" for name, value in lines)
        return STATUS_LINE[status] + head + b"\r\n" + bytes(answer.body)


class Leave:
    """A connection as a call's answer sees it: its head goes out with its body, and it closes in our way."""

    def __init__(self, protocol: GuardedProtocol) -> None:
        self._write = protocol.transport.write
        self.is_closing = protocol.transport.is_closing
        self._leave = protocol.leave
        self._head = b""
        self._begun = False

    def write(self, content: bytes) -> None:
        """Keep the head until there is a body: one record and one packet instead of two."""
        if self._begun:
            self._write(self._head + content if self._head else content)
            self._head = b""
        elif content.startswith(CONTINUE):
            self._write(content)
        else:
            self._begun, self._head = True, content

    def flush(self) -> None:
        """Send a head without a body."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        self.flush()
        self._leave()
