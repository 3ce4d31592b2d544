"""Judged claims that no list, queue or search shows yet: their set is not accepted, or its release has not come to them.

Rows are sealed. Those of an attempt that ended too early are removed by their file.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import staged_claims
from clearlane.store.database.sql import (
    scoped_delete,
    scoped_insert,
    scoped_select,
    select_as,
)

TABLE = "staged_claims"


@shows("set_id", "position", "claim_number")
class StagedClaim(NamedTuple):
    """A claim that waits to be released. ``payload`` is sealed for its claim number."""

    set_id: str
    position: int
    claim_number: str
    file_id: str
    payload: bytes


async def add(tx: Tx, new: Sequence[StagedClaim]) -> None:
    """Stage a page of claims."""
    await tx.many(_ADD, [one._asdict() for one in new])


async def list_page(tx: Tx, set_id: str, limit: int, *, after: int = 0) -> list[StagedClaim]:
    """Return the first claims of a set after a position, in its order."""
    return await list_rows(tx, StagedClaim, _PAGE, set=set_id, limit=limit, after=after)


async def remove(tx: Tx, set_id: str, *, through: int) -> int:
    """Remove the claims of a set up to a position."""
    return await tx.run(_REMOVE, set=set_id, through=through)


async def remove_first(tx: Tx, set_id: str, limit: int) -> int:
    """Remove some claims of a set, the first ones; return how many there were."""
    row = await tx.row(_FIRST, set=set_id)
    if row is None or row[0] is None:
        return 0
    return await remove(tx, set_id, through=int(row[0]) + limit - 1)


async def list_set_ids(tx: Tx, file_id: str) -> list[str]:
    """Return the sets for which claims of a file are staged."""
    return [str(set_id) for (set_id,) in await tx.rows(_SET_IDS, file=file_id)]


async def count(tx: Tx, set_id: str) -> int:
    """Return how many claims of a set are staged."""
    row = await tx.row(_COUNT, set=set_id)
    return int(row[0]) if row else 0


async def count_of_file(tx: Tx, file_id: str) -> int:
    """Return how many claims of a file are staged."""
    row = await tx.row(_COUNT_OF_FILE, file=file_id)
    return int(row[0]) if row else 0


_S = staged_claims.c
_OF_SET = _S.set_id == bindparam("set")
_ADD = scoped_insert(staged_claims, *StagedClaim._fields)
_PAGE = scoped_select(
    select_as(staged_claims, StagedClaim)
    .where(_OF_SET, _S.position > bindparam("after"))
    .order_by(_S.position)
    .limit(bindparam("limit")),
    staged_claims,
)
_REMOVE = scoped_delete(staged_claims, _OF_SET, _S.position <= bindparam("through"))
_FIRST = scoped_select(select(func.min(_S.position)).where(_OF_SET), staged_claims)
_SET_IDS = scoped_select(
    select(_S.set_id).where(_S.file_id == bindparam("file")).distinct(), staged_claims
)
_COUNT = scoped_select(
    select(func.count()).select_from(staged_claims).where(_OF_SET), staged_claims
)
_COUNT_OF_FILE = scoped_select(
    select(func.count()).select_from(staged_claims).where(_S.file_id == bindparam("file")),
    staged_claims,
)
