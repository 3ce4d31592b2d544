# Written by tools/sync_client.py from async_transport.py: change that, and run `make format`.
"""The port to the network for threads, and its default: HTTPS over keep-alive connections.

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


class Transport(Protocol):
    """Sends requests for threads; several may be under way."""

    def send(self, request: Request) -> Response: ...
    def close(self) -> None: ...


class HttpTransport:
    """HTTPS over keep-alive connections, for threads."""

    def __init__(self, ca_file: Path | str | None = None) -> None:
        self._context = tls_context(ca_file)
        self._by_proxy: dict[str, httpx.HTTPTransport] = {}

    def send(self, request: Request) -> Response:
        proxy = proxy_for(request.url)
        if proxy not in self._by_proxy:
            self._by_proxy[proxy] = httpx.HTTPTransport(verify=self._context, proxy=proxy or None)
        try:
            answer = self._by_proxy[proxy].handle_request(outgoing(request))
            try:
                body = AnswerBody(request)
                for chunk in answer.iter_bytes():
                    body.take(chunk)
                return incoming(answer, bytes(body.content))
            finally:
                answer.close()
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise convert_error(request, fault) from None

    def close(self) -> None:
        for transport in self._by_proxy.values():
            transport.close()
