"""What the default transports share: TLS, proxies, the limits of an answer, and the exceptions of httpx converted.

Knows no call.
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


def outgoing(request: Request) -> httpx.Request:
    """Return a request as httpx sends it."""
    seconds = request.timeout_seconds
    timeout = httpx.Timeout(seconds, connect=min(seconds, limits.CONNECT_SECONDS_MAX))
    return httpx.Request(
        request.verb,
        request.url,
        headers=dict(request.headers),
        content=request.body,
        extensions={"timeout": timeout.as_dict()},
    )


def incoming(answer: httpx.Response, body: bytes) -> Response:
    """Return what came of a response that httpx received."""
    return Response(answer.status_code, dict(answer.headers.items()), body)


class AnswerBody:
    """The body of a response as it arrives, limited in size and time."""

    def __init__(self, request: Request) -> None:
        self.content = bytearray()
        self._request = request
        self._began = time.monotonic()

    def take(self, chunk: bytes) -> None:
        """Add what arrived; raise when it is too much or took too long."""
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


def convert_error(request: Request, fault: HttpxError) -> Exception:
    """Return our exception for one of httpx. Its text is used only if it contains no URL."""
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
