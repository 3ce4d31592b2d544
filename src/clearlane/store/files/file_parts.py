"""The bytes of files, in sealed parts. A part is bound to its file and its place, so that none can be moved.

Parts follow each other without a gap; each is durable by itself, so that an upload can go on at any node.
"""

from collections.abc import AsyncIterator
from typing import NamedTuple

from sqlalchemy import BigInteger, bindparam, select

from clearlane.kernel.client_file import FileState
from clearlane.kernel.ids import Scope
from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Database, Tx
from clearlane.store.database.schema import client_file_parts, client_files
from clearlane.store.database.sql import inlined, scoped_insert, scoped_select, scoped_update
from clearlane.store.vault.vault import Vault

TABLE = "client_file_parts"
PART_BYTES_MAX = 1024 * 1024


class PartOutOfPlace(Exception):
    """A part does not begin where the file ends: another upload wrote to it, or it is finished."""


@shows("file_id", "start", "bytes")
class FilePart(NamedTuple):
    """A part of a file. ``content`` is sealed."""

    file_id: str
    start: int
    content: bytes
    bytes: int


def seal_part(vault: Vault, scope: Scope, file_id: str, start: int, data: bytes) -> FilePart:
    """Return a part of a file that begins at an offset, sealed. Call ``vault.ensure_key`` before."""
    sealed = vault.seal(scope, TABLE, _row_key(file_id, start), data)
    return FilePart(file_id, start, sealed, len(data))


async def append(tx: Tx, part: FilePart) -> None:
    """Append a part to a file that is not finished; raise :class:`PartOutOfPlace` if it does not begin at the end."""
    if not await tx.run(_GROW, file=part.file_id, expected=part.start, more=part.bytes):
        raise PartOutOfPlace
    await tx.run(_ADD, **part._asdict())


async def read_part(
    tx: Tx, vault: Vault, scope: Scope, file_id: str, at: int
) -> tuple[int, bytes] | None:
    """Return the part that has the byte at an offset, with the offset of its first byte; None at the end."""
    row = await tx.row(_AT, file=file_id, at=at)
    if row is None or at >= row[0] + row[1]:
        return None
    start, _, sealed = row
    await vault.load_keys_of(tx, [sealed])
    return start, vault.open(scope, TABLE, _row_key(file_id, start), sealed)


async def read_chunks(
    database: Database, vault: Vault, scope: Scope, file_id: str, *, start: int = 0
) -> AsyncIterator[bytes]:
    """Yield the bytes of a file from an offset on, a part at a time; each is read in a transaction of its own."""
    while True:
        async with database.read(scope) as tx:
            found = await read_part(tx, vault, scope, file_id, start)
        if found is None:
            return
        begin, data = found
        yield data[start - begin :]
        start = begin + len(data)


async def read_content(database: Database, vault: Vault, scope: Scope, file_id: str) -> bytes:
    """Return all bytes of a file; for files that are small."""
    return b"".join([chunk async for chunk in read_chunks(database, vault, scope, file_id)])


def _row_key(file_id: str, start: int) -> str:
    """Return the row key that a part is sealed for."""
    return f"{file_id}:{start}"


_P, _F = client_file_parts.c, client_files.c
_GROW = scoped_update(
    client_files,
    _F.file_id == bindparam("file"),
    _F.state == inlined(FileState.UPLOADING.value),
    _F.bytes == bindparam("expected", type_=BigInteger),
    bytes=_F.bytes + bindparam("more", type_=BigInteger),
)
_ADD = scoped_insert(client_file_parts, *FilePart._fields)
_AT = scoped_select(
    select(_P.start, _P.bytes, _P.content)
    .where(_P.file_id == bindparam("file"), _P.start <= bindparam("at", type_=BigInteger))
    .order_by(_P.start.desc())
    .limit(1),
    client_file_parts,
)
