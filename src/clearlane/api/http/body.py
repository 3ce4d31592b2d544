"""Read and decode a request body within limits of size, time and memory.

The declared length can be false, so bytes are counted as they arrive. Nothing is parsed before
``json_guard`` has checked it. Knows no field, no claim and no version.
"""

import asyncio
import codecs
import re
from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from time import monotonic
from typing import TypeVar

import msgspec
from starlette.responses import Response
from starlette.types import Receive

from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.frame.errors import ClientGone, RequestRefusal
from clearlane.api.http.json_guard import JsonScanner, UnreadableJson, check_json
from clearlane.kernel import limits
from clearlane.kernel.formats import upper_first

BODIES_BYTES_MAX = 512 * 1024 * 1024


T = TypeVar("T")

UTF_8, UTF_16 = "utf-8", "utf-16"
CHARSETS: Mapping[str, str] = {
    "utf-8": UTF_8,
    "utf8": UTF_8,
    "utf-16": UTF_16,
    "us-ascii": "ascii",
    "iso-8859-1": "latin-1",
}
"""The charsets that are read, and their codecs."""
MARK_BYTES_MAX = len(codecs.BOM_UTF8)
NOT_IN_CHARSET = "The body is not text in the charset of its Content-Type."


class BodyBudget:
    """The bytes of request bodies that the process may hold at once, over all requests."""

    def __init__(self, bytes_max: int = BODIES_BYTES_MAX) -> None:
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
        self._document: bytes | None = None

    async def read_document(self) -> bytes:
        """Return the body as JSON text: right media type, complete, in UTF-8, not too deep, not empty."""
        if self._document is None:
            self._document = await self._read_document()
        return self._document

    async def _read_document(self) -> bytes:
        content = await self._read_json()
        if not content.strip():
            raise RequestRefusal(
                self._errors.invalid_document("The body is empty; a JSON document is expected.")
            )
        return content

    async def stream(self, bytes_max: int) -> AsyncIterator[bytes]:
        """Yield the body as it comes, whatever its type: none of it is kept here.

        It may take longer the more there is, but not stay away: a slow line sends some kilobytes a second.
        """
        if is_encoded(self._headers):
            raise RequestRefusal(self._errors.wrong_content_encoding())
        declared = self._headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > bytes_max:
            raise RequestRefusal(self._errors.too_large(bytes_max))
        began, count, more = monotonic(), 0, True
        while more:
            seconds = self._seconds_max + count / limits.TRANSFER_BYTES_PER_SECOND_MIN
            try:
                async with asyncio.timeout(began + seconds - monotonic()):
                    event = await self._receive()
            except TimeoutError:
                raise RequestRefusal(self._errors.too_slow()) from None
            if event["type"] != "http.request":
                raise ClientGone
            chunk, more = event.get("body", b""), event.get("more_body", False)
            count += len(chunk)
            if count > bytes_max:
                raise RequestRefusal(self._errors.too_large(bytes_max))
            if chunk:
                yield chunk

    async def read_bytes(self, bytes_max: int) -> bytes:
        """Return the body as it came, of any media type; refuse one that is empty or larger than a limit."""
        self._bytes_max = min(self._bytes_max, bytes_max)
        if is_encoded(self._headers):
            raise RequestRefusal(self._errors.wrong_content_encoding())
        pieces, more = [], True
        try:
            async with asyncio.timeout(self._seconds_max):
                while more:
                    chunk, more = await self._chunk()
                    pieces.append(chunk)
        except TimeoutError:
            raise RequestRefusal(self._errors.too_slow()) from None
        content = b"".join(pieces)
        if not content.strip():
            raise RequestRefusal(self._errors.invalid_document("The body is empty."))
        return content

    def release(self) -> int:
        """Give the reserved memory back when the request has ended; return how much it was."""
        self._document = None
        reserved, self._reserved_bytes = self._reserved_bytes, 0
        self._budget.release(reserved)
        return reserved

    async def _read_json(self) -> bytes:
        if is_encoded(self._headers):
            raise RequestRefusal(self._errors.wrong_content_encoding())
        charset = read_charset(self._headers)
        if charset is None:
            raise RequestRefusal(self._errors.wrong_media_type())
        declared = self._headers.get("content-length", "0")
        if declared == "0" and "transfer-encoding" not in self._headers:
            return b""
        if declared.isdecimal() and int(declared) > self._bytes_max:
            raise RequestRefusal(self._errors.too_large(self._bytes_max))
        try:
            async with asyncio.timeout(self._seconds_max):
                return await self._read(charset)
        except TimeoutError:
            raise RequestRefusal(self._errors.too_slow()) from None
        except UnreadableJson as why:
            raise RequestRefusal(self._errors.invalid_document(str(why))) from None

    async def _read(self, charset: str) -> bytes:
        first, more = await self._chunk()
        while more and len(first) < MARK_BYTES_MAX:
            chunk, more = await self._chunk()
            first += chunk
        codec = detect_codec(charset, first)
        if codec != UTF_8:
            return await self._read_transcoded(codec, first, more=more)
        if not more:
            check_json(first)
            return first.removeprefix(codecs.BOM_UTF8)
        scanner = JsonScanner()
        scanner.feed(first)
        pieces = [first]
        while more:
            chunk, more = await self._chunk()
            scanner.feed(chunk)
            pieces.append(chunk)
        scanner.finish()
        return b"".join(pieces).removeprefix(codecs.BOM_UTF8)

    async def _read_transcoded(self, codec: str, chunk: bytes, *, more: bool) -> bytes:
        """Return a text of another charset in UTF-8, chunk by chunk and within the same limits."""
        decoder = codecs.getincrementaldecoder(codec)()
        scanner = JsonScanner()
        pieces: list[bytes] = []
        while True:
            try:
                piece = decoder.decode(chunk, not more).encode()
            except UnicodeError:
                raise UnreadableJson(NOT_IN_CHARSET) from None
            self._reserve(max(0, len(piece) - len(chunk)))
            scanner.feed(piece)
            pieces.append(piece)
            if not more:
                scanner.finish()
                return b"".join(pieces)
            chunk, more = await self._chunk()

    async def _chunk(self) -> tuple[bytes, bool]:
        """Return the next chunk of the body, and whether there is more."""
        event = await self._receive()
        if event["type"] != "http.request":
            raise ClientGone
        chunk: bytes = event.get("body", b"")
        self._reserve(len(chunk))
        return chunk, event.get("more_body", False)

    def _reserve(self, count: int) -> None:
        """Reserve memory for bytes of the body; refuse the request if that is too much."""
        if self._reserved_bytes + count > self._bytes_max:
            raise RequestRefusal(self._errors.too_large(self._bytes_max))
        if not self._budget.reserve(count):
            text = "Too many large requests are being read at the moment."
            raise RequestRefusal(self._errors.unavailable(text))
        self._reserved_bytes += count


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


def is_encoded(headers: Mapping[str, str]) -> bool:
    """Return whether the body is declared as compressed, or encoded in another way."""
    return headers.get("content-encoding", "").strip().lower() not in {"", "identity"}


def read_charset(headers: Mapping[str, str]) -> str | None:
    """Return the codec of the charset that the headers declare for JSON; None if they declare something else.

    A request that declares nothing is JSON in UTF-8.
    """
    return _charset_of(headers.get("content-type", ""))


@lru_cache(maxsize=64)  # callers send a few
def _charset_of(content_type: str) -> str | None:
    media_type, *parameters = (part.strip() for part in content_type.split(";"))
    if not _JSON_TYPE.fullmatch(media_type):
        return None
    charsets = {
        value.strip().strip('"').lower()
        for name, _, value in (parameter.partition("=") for parameter in parameters)
        if name.strip().lower() == "charset"
    }
    codecs_named = {CHARSETS.get(charset) for charset in charsets} or {UTF_8}
    return codecs_named.pop() if len(codecs_named) == 1 else None


def detect_codec(charset: str, head: bytes) -> str:
    """Return the codec of a text by its mark, else by its charset; ``head`` is its first bytes.

    UTF-16 without a mark, which .NET sends, shows its byte order: JSON begins with an ASCII character.
    """
    if head.startswith(codecs.BOM_UTF8):
        return UTF_8
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return UTF_16
    if charset == UTF_16:
        return "utf-16-be" if head.startswith(b"\0") else "utf-16-le"
    return charset


_JSON_TYPE = re.compile(
    r"|(?:application|text)/json|[\w.-]+/[\w.-]+\+json", re.ASCII | re.IGNORECASE
)
_BYTE = re.compile(r"\(byte (\d+)\)")
_EXPECTED = re.compile(r"Expected `([^`]*)`(?:, got `([^`]*)`)?(?: - at `\$\.?([^`]*)`)?")


# What msgspec calls the types of values, and what JSON calls them.
_JSON_WORDS: Mapping[str, str] = {
    "int": "a whole number",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}


def _in_json(types: str) -> str:
    """Return types of values in the words of JSON: ``str | null`` is ``a string or null``."""
    return " or ".join(_JSON_WORDS.get(each, "another value") for each in types.split(" | "))


def _wrong_type(why: str, errors: ErrorShape) -> Response:
    found = _EXPECTED.match(why)
    if found is None:
        return errors.invalid_document("The body has a value that cannot be read.")
    expected, got, path = found.groups(default="")
    path = path.replace("[...]", "")  # how msgspec writes a key of a dictionary
    sentence = f"{_in_json(expected)} is expected" + (f", not {_in_json(got)}." if got else ".")
    sentence = upper_first(sentence)
    if not path:
        return errors.invalid_document(sentence)
    return errors.invalid_fields({path: [sentence]})
