"""What the service asks the process that reads files of payers, and how that process answers.

    OpenFile, FilePiece ..., NextPage, NextPage ..., CloseFile

The content of a file comes in pieces, then each order for a page is answered with one; an empty page is the end. An
empty answer to it says that the file cannot be read there, whatever the reason: the service reads it itself, and meets
the reason. Content and pages are in memory and in the pipes alone.

Knows no file, payer or claim, and imports no database.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeAlias

import msgspec

from clearlane.pipeline.inbound.file_items import ITEMS_AT_ONCE, READINGS, ItemReading

CANNOT = b""
"""The answer to an order for a page of a file that cannot be read there."""
DONE = b"\1"
"""The answer to any other order."""


class OpenFile(msgspec.Struct, frozen=True, tag="open", array_like=True):
    """A file is to be read. The service has its first items already."""

    file: int
    reading: str
    items_known: int


class FilePiece(msgspec.Struct, frozen=True, tag="piece", array_like=True):
    """A piece of the content of a file, in order."""

    file: int
    content: bytes

    def __repr__(self) -> str:
        return f"FilePiece({len(self.content)} bytes)"


class NextPage(msgspec.Struct, frozen=True, tag="page", array_like=True):
    """The next page of a file, after all pieces of it."""

    file: int


class CloseFile(msgspec.Struct, frozen=True, tag="close", array_like=True):
    """Nothing more is wanted of a file."""

    file: int


ReadingOrder: TypeAlias = OpenFile | FilePiece | NextPage | CloseFile


def encode_order(order: ReadingOrder) -> bytes:
    """Encode an order for the process."""
    return _PACK.encode(order)


class FileReader:
    """Does what the orders say, in the process that reads."""

    def __init__(self) -> None:
        self._files: dict[int, _OpenedFile] = {}

    def answer(self, content: bytes) -> bytes:
        """Do what an order says, and return the answer."""
        order = _ORDER.decode(content)
        match order:
            case OpenFile():
                self._files[order.file] = _OpenedFile(READINGS[order.reading], order.items_known)
            case FilePiece():
                self._files[order.file].add(order.content)
            case NextPage():
                return self._files[order.file].next_page()
            case CloseFile():
                self._files.pop(order.file, None)
        return DONE


class _OpenedFile:
    """A file that is being read."""

    def __init__(self, reading: ItemReading[Any], items_known: int) -> None:
        self._reading = reading
        self._items_known = items_known
        self._pieces: list[bytes] = []
        self._items: Iterator[Any] | None = None

    def add(self, piece: bytes) -> None:
        """Add a piece of its content."""
        self._pieces.append(piece)

    def next_page(self) -> bytes:
        """Return the next page, encoded."""
        try:
            if self._items is None:
                content, self._pieces = b"".join(self._pieces), []
                self._items = islice(self._reading.read(content), self._items_known, None)
            page = list(islice(self._items, ITEMS_AT_ONCE))
            encoded = self._reading.encode(page)
        except Exception:  # noqa: BLE001  (its text may hold a value; where the file is posted it is raised again)
            return CANNOT
        return CANNOT if encoded is None else encoded


_PACK = msgspec.msgpack.Encoder()
_ORDER: msgspec.msgpack.Decoder[ReadingOrder] = msgspec.msgpack.Decoder(
    OpenFile | FilePiece | NextPage | CloseFile
)
