"""Time stamps of checkpoints, as their authority gave them: one each, never changed."""

from typing import NamedTuple

from sqlalchemy import Integer, bindparam, select

from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import proof_checkpoints, proof_stamps
from clearlane.store.database.sql import Statement, among, insert_into, select_as
from clearlane.store.delivery.proof_log import StoredCheckpoint


class StoredStamp(NamedTuple):
    """A stamp of a checkpoint."""

    number: int
    """The checkpoint's."""
    at: int
    """When the authority says that it made it."""
    content: bytes
    """The authority's whole response (RFC 3161)."""


async def list_unstamped(tx: Tx, limit: int) -> list[StoredCheckpoint]:
    """Return the oldest checkpoints without a stamp."""
    return await list_rows(tx, StoredCheckpoint, _UNSTAMPED, limit=limit)


async def add_stamp(tx: Tx, stamp: StoredStamp) -> None:
    """Store a stamp; another node's that came first stays."""
    await tx.run(_ADD, **stamp._asdict())


async def find_stamps(tx: Tx, numbers: list[int]) -> list[StoredStamp]:
    """Return the stamps of checkpoints, in the order of their numbers."""
    return await list_rows(tx, StoredStamp, _SOME, numbers=numbers)


_UNSTAMPED = Statement(
    select_as(proof_checkpoints, StoredCheckpoint)
    .where(
        ~select(proof_stamps.c.number)
        .where(proof_stamps.c.number == proof_checkpoints.c.number)
        .exists()
    )
    .order_by(proof_checkpoints.c.number)
    .limit(bindparam("limit", type_=Integer))
)
_ADD = Statement(insert_into(proof_stamps, *StoredStamp._fields).on_conflict_do_nothing())
_SOME = Statement(
    select_as(proof_stamps, StoredStamp)
    .where(among(proof_stamps.c.number, "numbers"))
    .order_by(proof_stamps.c.number)
)
