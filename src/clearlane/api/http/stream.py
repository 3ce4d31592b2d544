"""Stream responses: a text in pieces or a JSON array in pages, with one of them in memory at a time.

If a piece cannot be produced, the response is left without its end, so that no caller takes a part for the
whole. Knows bytes only.
"""

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from clearlane.api.operations.logs import fault_fields
from clearlane.kernel.log import get_logger

log = get_logger()

ANSWER_WHOLE_BYTES_MAX = 256 * 1024


async def stream_array(pages: AsyncIterator[bytes], media_type: str) -> "StreamedResponse":
    """Return a JSON array response after its first page is ready: an earlier fault still gets its own status.

    A page is elements with commas between them, or empty.
    """
    first = await anext(pages, b"")
    return StreamedResponse(b"[" + first, _further(pages, full=bool(first)), media_type)


async def stream_text(pieces: AsyncIterator[bytes], media_type: str) -> Response:
    """Return a text response; a short text is sent whole, with its length."""
    first = bytearray()
    async for piece in pieces:
        first += piece
        if len(first) >= ANSWER_WHOLE_BYTES_MAX:
            return StreamedResponse(bytes(first), pieces, media_type)
    return Response(bytes(first), headers={"Content-Type": media_type})


class StreamedResponse(Response):
    """A response that sends its first piece and then an iterator of pieces."""

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
        except Exception as fault:  # noqa: BLE001  (the status is sent already: leave the body without its end)
            log.error("response broken off", **fault_fields(fault))  # noqa: TRY400
        finally:
            gone.cancel()


async def _further(pages: AsyncIterator[bytes], *, full: bool) -> AsyncIterator[bytes]:
    async for page in pages:
        if page:
            yield b"," + page if full else page
            full = True
    yield b"]"


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
