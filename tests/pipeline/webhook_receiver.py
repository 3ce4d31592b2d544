"""A receiver of webhooks: a small HTTP server that answers as a test says."""

import asyncio
import contextlib
from dataclasses import dataclass


@dataclass(frozen=True)
class ReceivedWebhook:
    """A message as it came."""

    headers: dict
    body: bytes


class WebhookReceiver:
    """Collects webhooks, and answers 200 unless a test sets another status."""

    def __init__(self):
        self.messages = []
        self.url = ""
        self._answer: tuple[int, bytes, dict[str, str]] = (200, b"ok", {})
        self._free = asyncio.Event()
        self._free.set()
        self._hangs = lambda message: True
        self.refuse = None
        """Which messages are answered 503, whatever is answered else."""
        self._server: asyncio.Server | None = None
        self._calls = set()

    def answer(self, status, body=b"", headers=None):
        """Answer so from now on."""
        self._answer = (status, body, headers or {})

    def hang(self, which=lambda message: True):
        """Answer nothing, or nothing of some messages, until :meth:`resume` or :meth:`close`."""
        self._hangs = which
        self._free.clear()

    def resume(self):
        """Answer again."""
        self._free.set()

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/hook"
        return self

    async def __aexit__(self, *_):
        await self.close()

    async def close(self):
        assert self._server is not None
        self._free.set()
        self._server.close()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _serve(self, reader, writer):
        self._calls.add(asyncio.current_task())
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
            headers = {
                name.lower(): value.strip()
                for name, _, value in (row.partition(":") for row in head)
            }
            body = await reader.readexactly(int(headers["content-length"]))
            message = ReceivedWebhook(headers, body)
            self.messages.append(message)
            if self._hangs(message):
                await self._free.wait()
            status, content, extra = self._answer
            if self.refuse is not None and self.refuse(message):
                status = 503
            rows = [f"HTTP/1.1 {status} x", f"Content-Length: {len(content)}", "Connection: close"]
            rows += [f"{name}: {value}" for name, value in extra.items()]
            writer.write("\r\n".join([*rows, "", ""]).encode() + content)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
