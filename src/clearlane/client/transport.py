"""A request and a response, as a transport sends and returns them.

The port is in ``async_transport`` and ``sync_transport``.
"""

from collections.abc import Mapping
from dataclasses import dataclass


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
