"""Content that is the same for every caller: compressed once for those that accept it, and not sent to those that have it.

Knows HTTP's content codings and entity tags; no endpoint, no version and no file.
"""

import asyncio
import gzip
import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from starlette.responses import Response

COMPRESSION_LEVEL = 6
COMPRESSED_BYTES_MIN = 1_024
"""Shorter content is not worth a second form."""
CONTENTS_KEPT_MAX = 64
COMPRESSIBLE_TYPES = ("text/", "application/json", "application/xml", "image/svg+xml")

KEPT_BY_304 = frozenset({"Cache-Control", "ETag", "Vary"})


class StaticContent:
    """Content that is made in a thread when it is asked for first, once: a node that no one asks does without it."""

    def __init__(self, make: Callable[[], bytes]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: bytes | None = None

    def made(self) -> bytes:
        """Return the content; the first caller makes it."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made

    async def read(self) -> bytes:
        """Return the content. The event loop goes on while it is made."""
        return self._made if self._made is not None else await asyncio.to_thread(self.made)


class ContentForms(NamedTuple):
    """One content: its tag, and its compressed bytes."""

    tag: str
    gzipped: bytes


def static_response(
    content: bytes, headers: Mapping[str, str], asked: Mapping[str, str]
) -> Response:
    """Return content in the form that the request's headers (by lower-case name) accept; 304 to a caller that has it.

    Each form has a tag of its own, and a browser asks with it each time unless ``headers`` say how long it may keep it.
    """
    own = {"Cache-Control": "no-cache", **headers}
    if _is_compressible(content, own):
        own["Vary"] = "Accept-Encoding"
        forms = _forms(content)
        own["ETag"] = f'"{forms.tag}"'
        if accepts_gzip(asked.get("accept-encoding", "")):
            content = forms.gzipped
            own |= {"Content-Encoding": "gzip", "ETag": f'"{forms.tag}-gzip"'}
    else:
        own["ETag"] = f'"{_tag(content)}"'
    if _names(asked.get("if-none-match", ""), own["ETag"]):
        kept = {name: value for name, value in own.items() if name in KEPT_BY_304}
        return Response(status_code=304, headers=kept)
    return Response(content, 200, own)


@lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether gzip is acceptable and not less preferred than identity (RFC 9110, 12.5.3)."""
    weights = coding_weights(accept_encoding)
    gzip = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def coding_weights(accept_encoding: str) -> dict[str, float]:
    """Return how much a caller likes each coding that its ``Accept-Encoding`` names; what cannot be read counts 0."""
    return dict(_weights(accept_encoding))


@lru_cache(maxsize=CONTENTS_KEPT_MAX)
def _forms(content: bytes) -> ContentForms:
    return ContentForms(_tag(content), gzip.compress(content, COMPRESSION_LEVEL, mtime=0))


def _tag(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _is_compressible(content: bytes, headers: Mapping[str, str]) -> bool:
    """Return whether a second form is worth it: not of what is short, or compressed already, as pictures are."""
    if len(content) < COMPRESSED_BYTES_MIN or "Content-Encoding" in headers:
        return False
    return headers.get("Content-Type", "").startswith(COMPRESSIBLE_TYPES)


def _names(if_none_match: str, tag: str) -> bool:
    """Return whether a list of tags holds one; a weak one counts (RFC 9110, 13.1.2)."""
    named = {each.strip().removeprefix("W/") for each in if_none_match.split(",")}
    return tag in named or "*" in named


def _weights(accept_encoding: str) -> Iterable[tuple[str, float]]:
    for element in accept_encoding.lower().split(","):
        coding, *parameters = (part.strip() for part in element.split(";"))
        weight = next((p[2:].strip() for p in parameters if p.startswith("q=")), "1")
        try:
            yield coding, float(weight)
        except ValueError:
            yield coding, 0.0
