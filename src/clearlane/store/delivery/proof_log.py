"""The log of filings: entries with the leaves of what was delivered and acknowledged, and the checkpoints over them.

An entry is added in the transaction that records the delivery or the acknowledgements. Its place in the log is decided by
the checkpoint that it comes under: entries of transactions that commit later come under a later one. Knows no statement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import BigInteger, Integer, bindparam, select, update

from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import control_numbers, proof_checkpoints, proof_entries
from clearlane.store.database.sql import Statement, among, inlined, insert_into, select_as

SCOPE = SystemScope("the log of filings belongs to the installation")
COUNTER = "checkpoints"
"""A counter among the control numbers. Counting it up locks it, so that one node at a time makes a checkpoint."""


@dataclass(frozen=True, slots=True)
class ProofEntry:
    """Leaves that one transaction added."""

    id: int
    at: int
    leaves: int
    content: bytes = field(repr=False)
    checkpoint: int | None
    """The number of the checkpoint over it; None until there is one."""


class WaitingEntry(NamedTuple):
    """An entry without a checkpoint, without its leaves."""

    id: int
    leaves: int


class StoredCheckpoint(NamedTuple):
    """A checkpoint as it was signed."""

    number: int
    at: int
    content: str


async def add_delivery(tx: Tx, batch_id: int, leaves: Sequence[bytes], at: int) -> None:
    """Add the leaves of a delivered batch. A batch is delivered once: the database holds that."""
    await _add(tx, leaves, at, batch_id=batch_id)


async def add_acknowledgements(tx: Tx, inbox_id: int, leaves: Sequence[bytes], at: int) -> None:
    """Add the leaves of acknowledgements of one file."""
    await _add(tx, leaves, at, inbox_id=inbox_id)


async def add_answer(tx: Tx, document_id: str, leaf: bytes, at: int) -> None:
    """Add the leaf of a payer's answer in real time, of which the document is all that came."""
    await _add(tx, [leaf], at, document_id=document_id)


async def find_of_batches(tx: Tx, batch_ids: Sequence[int]) -> dict[int, ProofEntry]:
    """Return the entries of batches, by batch."""
    rows = await tx.rows(_OF_BATCHES, batch_ids=list(batch_ids))
    return {row[0]: ProofEntry(*row[1:]) for row in rows}


async def list_of_file(tx: Tx, inbox_id: int) -> list[ProofEntry]:
    """Return the entries of a payer's file."""
    return await list_rows(tx, ProofEntry, _OF_FILE, inbox_id=inbox_id)


async def find_of_documents(tx: Tx, document_ids: Sequence[str]) -> dict[str, ProofEntry]:
    """Return the entries of answers in real time, by document."""
    rows = await tx.rows(_OF_DOCUMENTS, document_ids=list(document_ids))
    return {row[0]: ProofEntry(*row[1:]) for row in rows}


async def oldest_waiting(tx: Tx) -> int | None:
    """Return when the oldest entry without a checkpoint was added; None if every entry has one."""
    return await find_row(tx, int, _OLDEST)


async def list_waiting(tx: Tx, limit: int) -> list[WaitingEntry]:
    """Return the oldest entries without a checkpoint, in the order of the log, without their leaves."""
    return await list_rows(tx, WaitingEntry, _WAITING, limit=limit)


async def list_entries(tx: Tx, ids: Sequence[int]) -> list[ProofEntry]:
    """Return entries with their leaves, in the order of the log."""
    return await list_rows(tx, ProofEntry, _ENTRIES, ids=list(ids))


async def list_under(tx: Tx, number: int) -> list[ProofEntry]:
    """Return the entries under a checkpoint, in the order of its leaves."""
    return await list_rows(tx, ProofEntry, _UNDER, checkpoint=number)


async def lock(tx: Tx) -> None:
    """Let other nodes that make a checkpoint wait until the transaction ends."""
    await tx.run(_LOCK, name=COUNTER, number=1)


async def add_checkpoint(
    tx: Tx, checkpoint: StoredCheckpoint, entries: Sequence[ProofEntry]
) -> None:
    """Store a checkpoint and put entries under it."""
    await tx.run(_ADD_CHECKPOINT, **checkpoint._asdict())
    await tx.run(_PUT_UNDER, ids=[one.id for one in entries], to_number=checkpoint.number)


async def last_checkpoint(tx: Tx) -> StoredCheckpoint | None:
    """Return the last checkpoint."""
    return await find_row(tx, StoredCheckpoint, _LAST)


async def find_checkpoints(tx: Tx, numbers: Sequence[int]) -> list[StoredCheckpoint]:
    """Return checkpoints, in the order of their numbers."""
    return await list_rows(tx, StoredCheckpoint, _SOME, numbers=list(numbers))


async def list_checkpoints(tx: Tx, *, after: int, limit: int) -> list[StoredCheckpoint]:
    """Return the checkpoints after a number, oldest first."""
    return await list_rows(tx, StoredCheckpoint, _AFTER, after=after, limit=limit)


async def list_signed_after(tx: Tx, at: int, limit: int) -> list[StoredCheckpoint]:
    """Return the checkpoints that were signed after a moment, oldest first."""
    return await list_rows(tx, StoredCheckpoint, _SIGNED_AFTER, after=at, limit=limit)


async def _add(tx: Tx, leaves: Sequence[bytes], at: int, **source: int | str) -> None:
    if leaves:
        content = b"".join(leaves)
        await tx.run(_ADD, at=at, leaves=len(leaves), content=content, **_NO_SOURCE | source)


_NO_SOURCE = dict.fromkeys(("batch_id", "inbox_id", "document_id"))
_ADD = Statement(insert_into(proof_entries, *_NO_SOURCE, "at", "leaves", "content"))
_ENTRY = tuple(proof_entries.c[name] for name in ("id", "at", "leaves", "content", "checkpoint"))
_OF_BATCHES = Statement(
    select(proof_entries.c.batch_id, *_ENTRY).where(among(proof_entries.c.batch_id, "batch_ids"))
)
_OF_FILE = Statement(
    select(*_ENTRY)
    .where(proof_entries.c.inbox_id == bindparam("inbox_id", type_=BigInteger))
    .order_by(proof_entries.c.id)
)
_OF_DOCUMENTS = Statement(
    select(proof_entries.c.document_id, *_ENTRY).where(
        among(proof_entries.c.document_id, "document_ids")
    )
)
_NONE = proof_entries.c.checkpoint.is_(None)
_ENTRIES = Statement(
    select(*_ENTRY).where(among(proof_entries.c.id, "ids")).order_by(proof_entries.c.id)
)
_WAITING = Statement(
    select_as(proof_entries, WaitingEntry)
    .where(_NONE)
    .order_by(proof_entries.c.id)
    .limit(bindparam("limit", type_=Integer))
)
_OLDEST = Statement(
    select(proof_entries.c.at).where(_NONE).order_by(proof_entries.c.id).limit(inlined(1))
)
_UNDER = Statement(
    select(*_ENTRY)
    .where(proof_entries.c.checkpoint == bindparam("checkpoint", type_=BigInteger))
    .order_by(proof_entries.c.id)
)
_LOCK = Statement(
    insert_into(control_numbers, "name", "number").on_conflict_do_update(
        index_elements=["name"], set_={"number": control_numbers.c.number + inlined(1)}
    )
)
_ADD_CHECKPOINT = Statement(insert_into(proof_checkpoints, *StoredCheckpoint._fields))
_PUT_UNDER = Statement(
    update(proof_entries)
    .where(among(proof_entries.c.id, "ids"))
    .values(checkpoint=bindparam("to_number", type_=BigInteger))
)
_CHECKPOINTS = select_as(proof_checkpoints, StoredCheckpoint)
_LAST = Statement(_CHECKPOINTS.order_by(proof_checkpoints.c.number.desc()).limit(1))
_SOME = Statement(
    _CHECKPOINTS.where(among(proof_checkpoints.c.number, "numbers")).order_by(
        proof_checkpoints.c.number
    )
)
_AFTER = Statement(
    _CHECKPOINTS.where(proof_checkpoints.c.number > bindparam("after", type_=BigInteger))
    .order_by(proof_checkpoints.c.number)
    .limit(bindparam("limit", type_=Integer))
)
_SIGNED_AFTER = Statement(
    _CHECKPOINTS.where(proof_checkpoints.c.at > bindparam("after", type_=BigInteger))
    .order_by(proof_checkpoints.c.at)
    .limit(bindparam("limit", type_=Integer))
)
