"""Answers compressed for callers that accept it: by zstd or gzip, whichever they prefer.

Of calls whose callers authenticate by a header that no other page can send: what is compressed tells its length alone.
Knows HTTP's content codings; no endpoint and no version.
"""

import asyncio
import gzip
from collections.abc import Callable, Mapping
from functools import lru_cache

import zstandard
from starlette.responses import Response

from clearlane.api.http.static_content import (
    COMPRESSED_BYTES_MIN,
    COMPRESSIBLE_TYPES,
    coding_weights,
)

GZIP_LEVEL, ZSTD_LEVEL = 5, 3
IN_LINE_BYTES_MAX = 65_536
"""Longer answers are compressed in a thread, so that other calls have their turn."""
TYPES = (*COMPRESSIBLE_TYPES, "application/edi-x12")


def _zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(content)


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, GZIP_LEVEL, mtime=0)


CODINGS: Mapping[str, Callable[[bytes], bytes]] = {"zstd": _zstd, "gzip": _gzip}
"""By preference among those that a caller likes equally."""


@lru_cache(maxsize=256)
def choose_coding(accept_encoding: str) -> str:
    """Return the coding that a caller likes best; empty if that is none (RFC 9110, 12.5.3)."""
    weights = coding_weights(accept_encoding)
    others = weights.get("*", 0.0)
    liked = {name: weights.get(name, others if name == "gzip" else 0.0) for name in CODINGS}
    best = max(CODINGS, key=lambda name: liked[name])
    return best if liked[best] > 0 and liked[best] >= weights.get("identity", 0.0) else ""


async def compress_answer(answer: Response, accept_encoding: str) -> Response:
    """Compress an answer in place, unless it is short, streamed or compressed already, or its caller accepts no coding."""
    content = getattr(answer, "body", b"")
    is_text = answer.headers.get("content-type", "").startswith(TYPES)
    if len(content) < COMPRESSED_BYTES_MIN or not is_text or "content-encoding" in answer.headers:
        return answer
    answer.headers.add_vary_header("Accept-Encoding")
    if coding := choose_coding(accept_encoding):
        compress = CODINGS[coding]
        if len(content) > IN_LINE_BYTES_MAX:
            answer.body = await asyncio.to_thread(compress, bytes(content))
        else:
            answer.body = compress(bytes(content))
        answer.headers["content-encoding"] = coding
        answer.headers["content-length"] = str(len(answer.body))
    return answer
