"""A V3 service for tests: real TLS, scripted responses, recorded calls."""

import json
import ssl
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import trustme

KEY, PASSWORD, SITE = "ACME", "pass:word-never-shown", "SITE-1"


@dataclass(frozen=True)
class Reply:
    """One answer. ``DROPPED`` closes the connection instead."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    def bytes(self) -> bytes:
        if self.body is None:
            return b""
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


DROPPED = Reply(status=0)


@dataclass(frozen=True)
class Received:
    """One call as it came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class SilentServer(ThreadingHTTPServer):
    """Ends with its process, and says nothing of a caller who does not trust it and hangs up."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class Service:
    """Answers the script in order, the last one for ever."""

    def __init__(self, directory: Path) -> None:
        authority = trustme.CA()
        self.ca_file = directory / "ca.pem"
        authority.cert_pem.write_to_path(self.ca_file)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        self.script: deque[Reply] = deque()
        self.received: list[Received] = []
        self._server = SilentServer(("127.0.0.1", 0), self._handler())
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def base_url(self) -> str:
        return f"https://127.0.0.1:{self._server.server_port}"

    def answer(self, *replies: Reply) -> "Service":
        """Begin anew with a script."""
        self.received.clear()
        self.script = deque(replies)
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                service.received.append(
                    Received(
                        self.command,
                        parts.path,
                        dict(parse_qsl(parts.query, keep_blank_values=True)),
                        {name.lower(): text for name, text in self.headers.items()},
                        body,
                    )
                )
                reply = service.script[0]
                if len(service.script) > 1:
                    service.script.popleft()
                if reply is DROPPED:
                    self.close_connection = True
                    return
                content = reply.bytes()
                self.send_response(reply.status)
                for name, text in reply.headers.items():
                    self.send_header(name, text)
                if reply.status != 204:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if reply.status != 204:
                    self.wfile.write(content)

            do_GET = do_DELETE = do_POST

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler
