"""A raw TLS connection: bytes out and back exactly as given."""

import contextlib
import select
import socket
import ssl
import time
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.patience import PATIENCE_SECONDS

LISTS = "/api/v3/payers/get_list"


def basic(key: str, password: str) -> str:
    return "Basic " + b64encode(f"{key}:{password}".encode()).decode()


@dataclass
class RawResponse:
    """One response as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float = field(compare=False, default=0.0)
    """How long it took to send everything and to receive this."""


class RawConnection:
    """A connection that sends exactly the given bytes."""

    def __init__(self, port: int, ca_file: Path | None, timeout: float = PATIENCE_SECONDS) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        if ca_file:
            context = ssl.create_default_context(cafile=ca_file)
            self.socket = context.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send; a server that has hung up already is no fault of the sender."""
        with contextlib.suppress(OSError):
            self.socket.sendall(data)

    def exchange(self, data: bytes, seconds: float = PATIENCE_SECONDS) -> RawResponse | None:
        """Send and receive at the same time; return the first response.

        One thread does both, because a TLS connection must not be used by two at once.
        """
        began = time.perf_counter()
        self.socket.setblocking(False)
        waiting = memoryview(data)
        while waiting and time.perf_counter() - began < seconds:
            waiting = waiting[self._try_to_send(waiting[:65_536]) :]
            if self._try_to_receive():
                break
        self.socket.settimeout(seconds)
        answer = self.receive()
        if answer is not None:
            answer.seconds = time.perf_counter() - began
        return answer

    def _try_to_send(self, data: memoryview) -> int:
        try:
            return self.socket.send(data)
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError, BlockingIOError):
            select.select([self.socket], [self.socket], [], 0.05)
            return 0
        except OSError:
            return len(data)

    def _try_to_receive(self) -> bool:
        """Return whether to stop sending: a whole head has come, or the end."""
        try:
            chunk = self.socket.recv(65_536)
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError, BlockingIOError):
            return False
        except OSError:
            return True
        self.rest += chunk
        return not chunk or b"\r\n\r\n" in self.rest

    def receive(self) -> RawResponse | None:
        """The next response, or None where the server closed instead."""
        while b"\r\n\r\n" not in self.rest:
            if not self._more():
                return None
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        length = int(headers.get("content-length", "0"))
        while len(self.rest) < length and self._more():
            pass
        body, self.rest = self.rest[:length], self.rest[length:]
        return RawResponse(int(first.split()[1]), headers, body)

    def closed(self) -> bool:
        """Return whether the server closes without sending more."""
        while self._more():
            pass
        return not self.rest

    def _more(self) -> bool:
        try:
            chunk = self.socket.recv(65_536)
        except TimeoutError:
            raise
        except OSError:
            return False
        self.rest += chunk
        return bool(chunk)


def request(
    path: str = LISTS,
    *lines: str,
    method: str = "POST",
    query: str = "",
    auth: str | None = None,
    body: bytes = b"",
    length: int | str | None = None,
) -> bytes:
    """Return a request as bytes; its declared length is right unless given."""
    target = f"{path}?{query}" if query else path
    head = [f"{method} {target} HTTP/1.1", "Host: localhost"]
    head += [f"Authorization: {auth}"] if auth else []
    declared = len(body) if length is None else length
    head += [f"Content-Length: {declared}"] if declared != "none" else []
    head += lines
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body
