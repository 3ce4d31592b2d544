"""Counts over all clients, each kept as one document that a node renews, so that a caller reads one row; also what purges did.

Knows no document's content.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, select

from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claim_counts
from clearlane.store.database.sql import Statement, among, insert_into

NAME = "open claims"


class StoredCounts(NamedTuple):
    """Kept counts."""

    counted_at: int
    took: int
    """How long the counting took, in microseconds."""
    content: bytes


async def find_counts(tx: Tx, name: str = NAME) -> StoredCounts | None:
    """Return the counts that were kept last under a name."""
    row = await tx.row(_FIND, name=name)
    return None if row is None else StoredCounts(int(row[0]), int(row[1]), bytes(row[2]))


async def find_counts_of(tx: Tx, names: Sequence[str]) -> dict[str, StoredCounts]:
    """Return the counts that were kept last under each of some names; a name without any is missing."""
    rows = await tx.rows(_FIND_SEVERAL, names=list(names))
    return {
        name: StoredCounts(int(at), int(took), bytes(content)) for name, at, took, content in rows
    }


async def put_counts(tx: Tx, counts: StoredCounts, name: str = NAME) -> None:
    """Replace the counts of a name."""
    await tx.run(_PUT, name=name, **counts._asdict())


_FIND = Statement(
    select(claim_counts.c.counted_at, claim_counts.c.took, claim_counts.c.content).where(
        claim_counts.c.name == bindparam("name")
    )
)
_FIND_SEVERAL = Statement(
    select(
        claim_counts.c.name,
        claim_counts.c.counted_at,
        claim_counts.c.took,
        claim_counts.c.content,
    ).where(among(claim_counts.c.name, "names"))
)
_NEW = insert_into(claim_counts, "name", "counted_at", "took", "content")
_PUT = Statement(
    _NEW.on_conflict_do_update(
        index_elements=["name"],
        set_={name: _NEW.excluded[name] for name in ("counted_at", "took", "content")},
    )
)
