"""The default transports: HTTPS over keep-alive connections, for threads and for an event loop.

Wraps httpx and converts its exceptions. Knows no call.
"""

import ssl
import time
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from clearlane.client import errors, limits
from clearlane.client.transport import Request, Response

# The transports of httpx without its client: that would follow redirects with our credentials, keep
# cookies, and log every URL, which can contain a login token.


class HttpTransport:
    """HTTPS over keep-alive connections."""

    def __init__(self, ca_file: Path | str | None = None) -> None:
        self._context = tls_context(ca_file)
        self._by_proxy: dict[str, httpx.HTTPTransport] = {}

    def send(self, request: Request) -> Response:
        proxy = proxy_for(request.url)
        if proxy not in self._by_proxy:
            self._by_proxy[proxy] = httpx.HTTPTransport(verify=self._context, proxy=proxy or None)
        try:
            answer = self._by_proxy[proxy].handle_request(_outgoing(request))
            try:
                body = _Body(request)
                for chunk in answer.iter_bytes():
                    body.take(chunk)
                return _incoming(answer, bytes(body.content))
            finally:
                answer.close()
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise _convert_error(request, fault) from None

    def close(self) -> None:
        for transport in self._by_proxy.values():
            transport.close()


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
            answer = await self._by_proxy[proxy].handle_async_request(_outgoing(request))
            try:
                body = _Body(request)
                async for chunk in answer.aiter_bytes():
                    body.take(chunk)
                return _incoming(answer, bytes(body.content))
            finally:
                await answer.aclose()
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            raise _convert_error(request, fault) from None

    async def close(self) -> None:
        for transport in self._by_proxy.values():
            await transport.aclose()


# A sandbox on the same machine is never behind a proxy, whatever the environment says.
THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


def tls_context(ca_file: Path | str | None) -> ssl.SSLContext:
    """Return a TLS context that trusts the system's authorities, or only those of a file."""
    return ssl.create_default_context(cafile=str(ca_file) if ca_file else None)


def proxy_for(url: str) -> str:
    """Return the proxy for a URL from the environment (``HTTPS_PROXY``, ``NO_PROXY``); empty if none."""
    host = urlsplit(url).hostname or ""
    if host in THIS_MACHINE or proxy_bypass(host):
        return ""
    return getproxies().get("https", "")


def _outgoing(request: Request) -> httpx.Request:
    seconds = request.timeout_seconds
    timeout = httpx.Timeout(seconds, connect=min(seconds, limits.CONNECT_SECONDS_MAX))
    return httpx.Request(
        request.verb,
        request.url,
        headers=dict(request.headers),
        content=request.body,
        extensions={"timeout": timeout.as_dict()},
    )


def _incoming(answer: httpx.Response, body: bytes) -> Response:
    return Response(answer.status_code, dict(answer.headers.items()), body)


class _Body:
    """The body of a response as it arrives, limited in size and time."""

    def __init__(self, request: Request) -> None:
        self.content = bytearray()
        self._request = request
        self._began = time.monotonic()

    def take(self, chunk: bytes) -> None:
        self.content += chunk
        origin, call = _origin(self._request.url), self._request.name
        if len(self.content) > limits.ANSWER_BYTES_MAX:
            raise errors.UnexpectedAnswer(f"The answer of {origin} is too large.", call=call)
        if time.monotonic() - self._began > limits.BODY_SECONDS_MAX:
            raise errors.AnswerLost(f"The answer of {origin} comes too slowly.", call=call)


NEVER_CONNECTED: tuple[type[Exception], ...] = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
HttpxError: TypeAlias = httpx.HTTPError | httpx.InvalidURL


def _convert_error(request: Request, fault: HttpxError) -> Exception:
    """Return our exception for one of httpx. Its text is used only where it contains no URL."""
    kind = type(fault).__name__
    if "CERTIFICATE_VERIFY_FAILED" in str(fault):
        _, _, reason = str(fault).partition("certificate verify failed: ")
        return errors.CertificateRefused(
            f"The service's certificate is not trusted: {reason.partition(' (_ssl')[0] or kind}. "
            "Give the file of its authority as ca_file.",
            call=request.name,
        )
    if isinstance(fault, NEVER_CONNECTED):
        return errors.NotReached(
            f"The service cannot be reached at {_origin(request.url)} ({kind}: {fault}).",
            call=request.name,
        )
    return errors.AnswerLost(
        f"The answer of {_origin(request.url)} did not arrive ({kind}).", call=request.name
    )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
