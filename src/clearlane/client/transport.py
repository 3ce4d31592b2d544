"""The port to the network: a request goes out, a response comes back.

Anything with ``send`` and ``close`` can implement it: the two in ``https``, a recorder in a test, a company's
own gateway. A transport raises :class:`~clearlane.client.errors.NotReached` if the connection was never made
and :class:`~clearlane.client.errors.AnswerLost` if no answer came. It knows no call and no credentials.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """A request. URL, headers and body contain secrets and patient data, so only the name prints."""

    name: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout_seconds: float
    verb: str = "POST"

    def __repr__(self) -> str:
        return f"Request({self.name!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Response:
    """A response: header names in lower case, the body complete and decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"Response({self.status}, {len(self.body)} bytes)"


class Transport(Protocol):
    """Sends requests, one at a time or from several threads."""

    def send(self, request: Request) -> Response: ...
    def close(self) -> None: ...


class AsyncTransport(Protocol):
    """Sends requests without blocking the event loop."""

    async def send(self, request: Request) -> Response: ...
    async def close(self) -> None: ...
