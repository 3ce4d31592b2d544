"""Read and decode a request body within limits of size, time and memory.

The declared length can be false, so bytes are counted as they arrive. Nothing is parsed before
``json_guard`` has checked it. Knows no field, no claim and no version.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec
from starlette.responses import Response
from starlette.types import Receive

from clearlane.api.error_shape import ErrorShape
from clearlane.api.errors import ClientGone, RequestRefusal
from clearlane.api.http_responses import JSON
from clearlane.api.json_guard import JsonScanner, UnreadableJson, check_json
from clearlane.kernel import limits

T = TypeVar("T")

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NULL = b"null"


class BodyBudget:
    """The bytes of request bodies that the process may hold at once, over all requests."""

    def __init__(self, bytes_max: int = limits.BODIES_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self.used_bytes = 0

    def reserve(self, count: int) -> bool:
        """Reserve bytes; return False, and reserve none, if there are not as many left."""
        if self.used_bytes + count > self.bytes_max:
            return False
        self.used_bytes += count
        return True

    def release(self, count: int) -> None:
        """Return reserved bytes."""
        self.used_bytes -= count


class Body:
    """The body of one request, read when a method asks for it."""

    def __init__(
        self,
        headers: Mapping[str, str],
        receive: Receive,
        budget: BodyBudget,
        errors: ErrorShape,
        *,
        bytes_max: int,
        seconds_max: float,
    ) -> None:
        self._headers = headers
        self._receive = receive
        self._budget = budget
        self._errors = errors
        self._bytes_max = bytes_max
        self._seconds_max = seconds_max
        self._reserved_bytes = 0

    async def read_document(self) -> bytes:
        """Return the body as JSON text: right media type, complete, UTF-8, not too deep, not empty."""
        content = await self._read_json()
        if not content.strip():
            raise RequestRefusal(
                self._errors.invalid_document("The body is empty; a JSON document is expected.")
            )
        return content

    async def read_unexpected_fields(self) -> list[str]:
        """Return the names of fields sent to an endpoint that takes no body."""
        content = await self._read_json()
        if content.strip() in {b"", NULL}:
            return []
        decode(content, UnusedObject, self._errors)
        return list(_first_fields(content, limits.IGNORED_FIELDS_SHOWN_MAX))

    def release(self) -> None:
        """Give the reserved memory back when the request has ended."""
        self._budget.release(self._reserved_bytes)
        self._reserved_bytes = 0

    async def _read_json(self) -> bytes:
        if not is_json(self._headers):
            raise RequestRefusal(self._errors.wrong_media_type())
        declared = self._headers.get("content-length", "0")
        if declared == "0" and "transfer-encoding" not in self._headers:
            return b""
        if declared.isdecimal() and int(declared) > self._bytes_max:
            raise RequestRefusal(self._errors.too_large(self._bytes_max))
        try:
            async with asyncio.timeout(self._seconds_max):
                return await self._read()
        except TimeoutError:
            raise RequestRefusal(self._errors.too_slow()) from None
        except UnreadableJson as why:
            raise RequestRefusal(self._errors.invalid_document(str(why))) from None

    async def _read(self) -> bytes:
        first, more = await self._chunk()
        if not more:
            check_json(first)
            return first.removeprefix(BYTE_ORDER_MARK)
        scanner = JsonScanner()
        scanner.feed(first)
        pieces = [first]
        while more:
            chunk, more = await self._chunk()
            scanner.feed(chunk)
            pieces.append(chunk)
        scanner.finish()
        return b"".join(pieces).removeprefix(BYTE_ORDER_MARK)

    async def _chunk(self) -> tuple[bytes, bool]:
        """Return the next chunk of the body, and whether there is more."""
        event = await self._receive()
        if event["type"] != "http.request":
            raise ClientGone
        chunk: bytes = event.get("body", b"")
        if self._reserved_bytes + len(chunk) > self._bytes_max:
            raise RequestRefusal(self._errors.too_large(self._bytes_max))
        if not self._budget.reserve(len(chunk)):
            text = "Too many large requests are being read at the moment."
            raise RequestRefusal(self._errors.unavailable(text))
        self._reserved_bytes += len(chunk)
        return chunk, event.get("more_body", False)


class UnusedObject(msgspec.Struct):
    """An object without known fields: msgspec checks and skips everything and builds nothing."""


def decode(content: bytes | msgspec.Raw, type: type[T], errors: ErrorShape) -> T:
    """Decode a document as a msgspec type; raise a refusal with status 400 if that fails.

    ``msgspec.Raw`` fields and items stay undecoded text: a document of a million items costs one scan.
    """
    try:
        return msgspec.json.decode(content, type=type)
    except msgspec.ValidationError as why:
        raise RequestRefusal(_wrong_type(str(why), errors)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as why:
        at = _BYTE.search(str(why))
        where = f" (at byte {at[1]})" if at else ""
        raise RequestRefusal(errors.invalid_document(f"The body is not JSON{where}.")) from None


def is_json(headers: Mapping[str, str]) -> bool:
    """Return whether the headers declare JSON in UTF-8, or declare nothing."""
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        return False
    media_type, *parameters = (part.strip() for part in headers.get("content-type", "").split(";"))
    charsets = {
        value.strip().strip('"').lower()
        for name, _, value in (parameter.partition("=") for parameter in parameters)
        if name.strip().lower() == "charset"
    }
    return media_type.lower() in {"", JSON} and charsets <= {"utf-8", "utf8"}


_BYTE = re.compile(r"\(byte (\d+)\)")
_EXPECTED = re.compile(r"Expected `([^`]*)`(?:, got `([^`]*)`)?(?: - at `\$\.?([^`]*)`)?")
_TOKEN = re.compile(rb'("(?:[^"\\]|\\.)*+")(\s*:)?|[\[\]{}]', re.DOTALL)


def _wrong_type(why: str, errors: ErrorShape) -> Response:
    found = _EXPECTED.match(why)
    if found is None:
        return errors.invalid_document("The body has a value that cannot be read.")
    expected, got, path = found.groups(default="")
    path = path.replace("[...]", "")  # how msgspec writes a key of a dictionary
    sentence = f"A JSON {expected} is expected" + (f", not {got}." if got else ".")
    if not path:
        return errors.invalid_document(sentence)
    return errors.invalid_fields({path: [sentence]})


def _first_fields(content: bytes, most: int) -> Iterator[str]:
    """Yield the names of the first top-level fields of a well-formed object."""
    depth = 0
    for token in _TOKEN.finditer(content[: limits.CHUNK_BYTES]):
        if token[1] is None:
            depth += 1 if token[0] in {b"[", b"{"} else -1
        elif depth == 1 and token[2] is not None:
            yield msgspec.json.decode(token[1], type=str)
            most -= 1
            if not most:
                return
