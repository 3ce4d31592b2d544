"""An answer that is sent while it is made: a JSON array in pages, one page in memory at a time.

When a page cannot be made, the answer is left without its end, so that nobody takes a part for the whole.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from clearlane.api.logs import fault_fields

log = structlog.get_logger()


async def array(pages: AsyncIterator[Sequence[bytes]], media_type: str) -> "Array":
    """The answer, once its first page is there: until then a fault is an answer of its own."""
    first = await anext(pages, ())
    return Array(first, pages, media_type)


class Array(Response):
    """A JSON array of ready elements."""

    def __init__(
        self, first: Sequence[bytes], rest: AsyncIterator[Sequence[bytes]], media_type: str
    ) -> None:
        super().__init__(headers={"Content-Type": media_type})
        del self.headers["content-length"]
        self._first = first
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        gone = asyncio.create_task(_gone(receive))
        try:
            await send(start)
            await _send(send, b"[" + b",".join(self._first))
            full = bool(self._first)
            async for page in self._rest:
                if gone.done():
                    return
                if page:
                    await _send(send, (b"," if full else b"") + b",".join(page))
                    full = True
            await send({"type": "http.response.body", "body": b"]", "more_body": False})
        except Exception as fault:  # noqa: BLE001  (the status is sent: all that is left is not to end)
            log.error("answer broken off", **fault_fields(fault))  # noqa: TRY400
        finally:
            gone.cancel()


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
