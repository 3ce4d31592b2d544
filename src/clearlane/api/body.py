"""Read a request body without being hurt by it, and cut it into raw pieces.

Knows bytes, limits and JSON; no field, no claim. The declared length is a promise that may be a
lie, so bytes are counted as they come. Nothing is parsed before :mod:`scan` has judged it.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec
from starlette.responses import Response
from starlette.types import Receive

from clearlane.api.errors import ClientGone, Refusal
from clearlane.api.json_guard import Scan, Unreadable, judge
from clearlane.api.v3 import wire
from clearlane.kernel import limits

T = TypeVar("T")

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NULL = b"null"


class Budget:
    """How many bytes of bodies the process holds at once, over all calls."""

    def __init__(self, bytes_max: int = limits.BODIES_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self.held = 0

    def take(self, count: int) -> None:
        """Hold more bytes, or refuse the call that wants them."""
        if self.held + count > self.bytes_max:
            raise Refusal(wire.unavailable("Too many large requests are being read at the moment."))
        self.held += count

    def give_back(self, count: int) -> None:
        self.held -= count


class Body:
    """The body of one call. Nothing is read until a method asks for it."""

    def __init__(
        self,
        headers: Mapping[str, str],
        receive: Receive,
        budget: Budget,
        *,
        bytes_max: int,
        seconds_max: float,
    ) -> None:
        self._headers = headers
        self._receive = receive
        self._budget = budget
        self._bytes_max = bytes_max
        self._seconds_max = seconds_max
        self._held = 0

    async def document(self) -> bytes:
        """The body as JSON text: right media type, whole, UTF-8, not too deep, not empty."""
        content = await self._read_json()
        if not content.strip():
            raise Refusal(wire.bad_document("The body is empty; a JSON document is expected."))
        return content

    async def unwanted(self) -> list[str]:
        """The names of the fields sent to a call that takes none. No body is the usual case."""
        content = await self._read_json()
        if content.strip() in {b"", NULL}:
            return []
        decode(content, Nothing)
        return list(_first_fields(content, limits.IGNORED_FIELDS_SHOWN_MAX))

    def release(self) -> None:
        """The call has ended and no longer holds its body."""
        self._budget.give_back(self._held)
        self._held = 0

    async def _read_json(self) -> bytes:
        if not is_json(self._headers):
            raise Refusal(wire.wrong_media_type())
        declared = self._headers.get("content-length", "0")
        if declared == "0" and "transfer-encoding" not in self._headers:
            return b""
        if declared.isdecimal() and int(declared) > self._bytes_max:
            raise Refusal(wire.too_large(self._bytes_max))
        try:
            async with asyncio.timeout(self._seconds_max):
                return await self._read()
        except TimeoutError:
            raise Refusal(wire.too_slow()) from None
        except Unreadable as why:
            raise Refusal(wire.bad_document(str(why))) from None

    async def _read(self) -> bytes:
        first, more = await self._chunk()
        if not more:
            judge(first)
            return first.removeprefix(BYTE_ORDER_MARK)
        scan = Scan()
        scan.feed(first)
        pieces = [first]
        while more:
            chunk, more = await self._chunk()
            scan.feed(chunk)
            pieces.append(chunk)
        scan.finish()
        return b"".join(pieces).removeprefix(BYTE_ORDER_MARK)

    async def _chunk(self) -> tuple[bytes, bool]:
        """The next piece of the body, counted, and whether there is more."""
        event = await self._receive()
        if event["type"] != "http.request":
            raise ClientGone
        chunk: bytes = event.get("body", b"")
        if self._held + len(chunk) > self._bytes_max:
            raise Refusal(wire.too_large(self._bytes_max))
        self._budget.take(len(chunk))
        self._held += len(chunk)
        return chunk, event.get("more_body", False)


class Nothing(msgspec.Struct):
    """An object of which no field is wanted: everything is checked and skipped, nothing is built."""


def decode(content: bytes | msgspec.Raw, type: type[T]) -> T:
    """The document as this msgspec type; every way it can fail is a 400.

    ``msgspec.Raw`` fields and items stay uncut text: a document of a million items costs a scan.
    """
    try:
        return msgspec.json.decode(content, type=type)
    except msgspec.ValidationError as why:
        raise Refusal(_wrong_type(str(why))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as why:
        at = _BYTE.search(str(why))
        where = f" (at byte {at[1]})" if at else ""
        raise Refusal(wire.bad_document(f"The body is not JSON{where}.")) from None


def slices(document: bytes, field: str) -> list[msgspec.Raw] | None:
    """The items of one top-level array as raw text, uncopied; None where the field is absent.

    Count them before anything is made of them.
    """
    shape = msgspec.defstruct("Slices", [(field, list[msgspec.Raw] | None, None)])
    items: list[msgspec.Raw] | None = getattr(decode(document, shape), field)
    return items


async def in_batches(items: Sequence[T], size: int) -> AsyncIterator[Sequence[T]]:
    """A few items at a time, with room for other calls in between."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
        await asyncio.sleep(0)


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether the body is said to be JSON in UTF-8, or nothing is said of it."""
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        return False
    media_type, *parameters = (part.strip() for part in headers.get("content-type", "").split(";"))
    charsets = {
        value.strip().strip('"').lower()
        for name, _, value in (parameter.partition("=") for parameter in parameters)
        if name.strip().lower() == "charset"
    }
    return media_type.lower() in {"", wire.JSON} and charsets <= {"utf-8", "utf8"}


_BYTE = re.compile(r"\(byte (\d+)\)")
_EXPECTED = re.compile(r"Expected `([^`]*)`(?:, got `([^`]*)`)?(?: - at `\$\.?([^`]*)`)?")
_TOKEN = re.compile(rb'("(?:[^"\\]|\\.)*+")(\s*:)?|[\[\]{}]', re.DOTALL)


def _wrong_type(why: str) -> Response:
    found = _EXPECTED.match(why)
    if found is None:
        return wire.bad_document("The body has a value that cannot be read.")
    expected, got, path = found.groups(default="")
    path = path.replace("[...]", "")  # how the parser writes a key that it does not tell
    sentence = f"A JSON {expected} is expected" + (f", not {got}." if got else ".")
    return wire.model_state({path or wire.DOCUMENT: [sentence]})


def _first_fields(content: bytes, most: int) -> Iterator[str]:
    """Names of the first top-level fields of an object that is known to be well formed."""
    depth = 0
    for token in _TOKEN.finditer(content[: limits.CHUNK_BYTES]):
        if token[1] is None:
            depth += 1 if token[0] in {b"[", b"{"} else -1
        elif depth == 1 and token[2] is not None:
            yield msgspec.json.decode(token[1], type=str)
            most -= 1
            if not most:
                return
