"""The port to the network for an event loop, and its default: HTTPS over keep-alive connections.

Anything with ``send`` and ``close`` can implement the port: a recorder in a test, a company's own gateway. A transport
raises :class:`~clearlane.client.errors.NotReached` if the connection was never made and
:class:`~clearlane.client.errors.AnswerLost` if no answer came. It knows no call and no credentials.
"""

from pathlib import Path
from typing import Protocol

import httpx

from clearlane.client.https import (
    AnswerBody,
    convert_error,
    incoming,
    outgoing,
    proxy_for,
    tls_context,
)
from clearlane.client.transport import Request, Response

# The transports of httpx without its client: that would follow redirects with our credentials, keep
# cookies, and log every URL, which can contain a login token.


class AsyncTransport(Protocol):
    """Sends requests for an event loop; several may be under way."""

    async def send(self, request: Request) -> Response: ...
    async def close(self) -> None: ...


class AsyncHttpTransport:
    """HTTPS over keep-alive connections, for an event loop."""

    def __init__(self, ca_file: Path | str | None = None) -> None:
        self._context = tls_context(ca_file)
        self._by_proxy: dict[str, httpx.AsyncHTTPTransport] = {}

    async def send(self, request: Request) -> Response:
        proxy = proxy_for(request.url)
        if proxy not in self._by_proxy:
            self._by_proxy[proxy] = httpx.AsyncHTTPTransport(
                verify=self._context, proxy=proxy or None
            )
        try:
            answer = await self._by_proxy[proxy].handle_async_request(outgoing(request))
            try:
                body = AnswerBody(request)
                async for chunk in answer.aiter_bytes():
                    body.take(chunk)
                return incoming(answer, bytes(body.content))
            finally:
                await answer.aclose()
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise convert_error(request, fault) from None

    async def close(self) -> None:
        for transport in self._by_proxy.values():
            await transport.aclose()
