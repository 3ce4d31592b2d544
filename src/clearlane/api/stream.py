"""An answer that is sent while it is made: pieces of a text, or a JSON array in pages, one in memory at a time.

When a piece cannot be made, the answer is left without its end, so that nobody takes a part for the whole.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from clearlane.api.logs import fault_fields
from clearlane.kernel import limits

log = structlog.get_logger()


async def array(pages: AsyncIterator[Sequence[bytes]], media_type: str) -> "Streamed":
    """A JSON array, once its first page is there: until then a fault is an answer of its own."""
    first = await anext(pages, ())
    return Streamed(b"[" + b",".join(first), _further(pages, full=bool(first)), media_type)


async def text(pieces: AsyncIterator[bytes], media_type: str) -> Response:
    """A text, once its first pieces are there; a short one is answered whole."""
    first = bytearray()
    async for piece in pieces:
        first += piece
        if len(first) >= limits.ANSWER_WHOLE_BYTES_MAX:
            return Streamed(bytes(first), pieces, media_type)
    return Response(bytes(first), headers={"Content-Type": media_type})


class Streamed(Response):
    """An answer of which the first piece is there."""

    def __init__(self, first: bytes, rest: AsyncIterator[bytes], media_type: str) -> None:
        super().__init__(headers={"Content-Type": media_type})
        del self.headers["content-length"]
        self._first = first
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        gone = asyncio.create_task(_gone(receive))
        try:
            await send(start)
            await _send(send, self._first)
            async for piece in self._rest:
                if gone.done():
                    return
                await _send(send, piece)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except Exception as fault:  # noqa: BLE001  (the status is sent: all that is left is not to end)
            log.error("answer broken off", **fault_fields(fault))  # noqa: TRY400
        finally:
            gone.cancel()


async def _further(pages: AsyncIterator[Sequence[bytes]], *, full: bool) -> AsyncIterator[bytes]:
    async for page in pages:
        if page:
            yield (b"," if full else b"") + b",".join(page)
            full = True
    yield b"]"


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
