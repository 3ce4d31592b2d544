"""Remove files of all sites by age: uploads that were not finished, and files that are kept no longer.

Sets stay, because answers of payers go back in the numbers of their senders.
"""

from sqlalchemy import BigInteger, and_, bindparam, delete, func, select

from clearlane.kernel.client_file import FileState
from clearlane.store.database.database import SystemScope, Tx
from clearlane.store.database.schema import client_file_parts, client_files
from clearlane.store.database.sql import Statement, among, inlined
from clearlane.store.retention.legal_holds import site_not_held

SCOPE = SystemScope("files are removed by age, whoever sent them")


async def purge(
    tx: Tx, vendor_id: int, *, unfinished_before: int, before: int, limit: int
) -> list[str]:
    """Remove a vendor's files that were created before a time, and unfinished ones before a later one; return their ids.

    A file that still waits to be processed stays.
    """
    rows = await tx.rows(_UNFINISHED, vendor=vendor_id, before=unfinished_before, limit=limit)
    rows += await tx.rows(_OLD, vendor=vendor_id, before=before, limit=limit)
    ids = sorted({str(id) for (id,) in rows})
    if ids:
        for statement in _REMOVE:
            await tx.run(statement, files=ids)
    return ids


async def count_old(tx: Tx, vendor_id: int, before: int) -> int:
    """Return how many of a vendor's files would be removed."""
    row = await tx.row(_COUNT_OLD, vendor=vendor_id, before=before)
    return int(row[0]) if row else 0


_F = client_files.c
_TOO_OLD = and_(
    _F.created_at < bindparam("before", type_=BigInteger),
    _F.vendor_id == bindparam("vendor", type_=BigInteger),
    site_not_held(client_files),
)
_UNFINISHED = Statement(
    select(_F.file_id)
    .where(_TOO_OLD, _F.state == inlined(FileState.UPLOADING.value))
    .limit(bindparam("limit")),
    system=True,
)
_OLD = Statement(
    select(_F.file_id)
    .where(_TOO_OLD, _F.state != inlined(FileState.RECEIVED.value))
    .limit(bindparam("limit")),
    system=True,
)
_COUNT_OLD = Statement(
    select(func.count())
    .select_from(client_files)
    .where(_TOO_OLD, _F.state != inlined(FileState.RECEIVED.value)),
    system=True,
)
_REMOVE = (
    Statement(
        delete(client_file_parts).where(among(client_file_parts.c.file_id, "files")), system=True
    ),
    Statement(delete(client_files).where(among(client_files.c.file_id, "files")), system=True),
)
