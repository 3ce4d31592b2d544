"""The audit chain: each row carries a keyed hash of itself and of the row before it.

Knows how a row is linked. Knows no job and no group; ``anchor`` saves the head outside the database, ``audit``
verifies and exports.
"""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import select, update
from sqlalchemy.sql.expression import bindparam

from clearlane.store.database.schema import audit, audit_head
from clearlane.store.database.sql import Row, Statement, StatementTx, insert_into

AUDIT_IDS_MAX = 5_000

GENESIS = bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """The content of one audit row, before it is chained."""

    at: int
    vendor_id: int | None
    site_id: int | None
    actor: str
    action: str
    request_id: str
    ids: str
    """A JSON array of the ids touched."""
    count: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The last row of the chain: its number and its hash."""

    seq: int
    hash: bytes


COLUMNS = (
    "seq", "at", "vendor_id", "site_id", "actor", "action", "request_id", "ids", "count", "detail",
    "prev", "hash",
)  # fmt: skip

# The head is locked last in a grouped write and never cached: another node may have moved it.
READ_HEAD = Statement(
    select(audit_head.c.seq, audit_head.c.hash).where(audit_head.c.id == 1).with_for_update()
)
MOVE_HEAD = Statement(
    update(audit_head)
    .where(audit_head.c.id == 1)
    .values(seq=bindparam("seq"), hash=bindparam("hash"))
)
APPEND = Statement(insert_into(audit, *COLUMNS))


def encode_ids(ids: Sequence[str]) -> str:
    """Return the ids of an entry as its column holds them, cut at a limit and marked if they were cut."""
    shown = list(ids[:AUDIT_IDS_MAX])
    return json.dumps(shown + ["..."] * (len(ids) > len(shown)), ensure_ascii=False)


def digest(key: bytes, row: Row) -> bytes:
    """Return the keyed hash over every column before ``hash``, in the order of :data:`COLUMNS`."""
    *words, prev = row[:11]
    return hmac.digest(key, prev + msgspec.json.encode(words), hashlib.sha256)


def chain_row(
    key: bytes, head: ChainHead, entry: AuditEntry
) -> dict[str, Any]:  # Any: the columns of the trail
    """Return the row that follows this head."""
    words = (
        head.seq + 1, entry.at, entry.vendor_id, entry.site_id, entry.actor, entry.action,
        entry.request_id, entry.ids, entry.count, entry.detail, head.hash,
    )  # fmt: skip
    return dict(zip(COLUMNS, (*words, digest(key, words)), strict=True))


async def append_entries(tx: StatementTx, key: bytes, entries: Sequence[AuditEntry]) -> ChainHead:
    """Chain these entries behind the head, as the last step of a transaction."""
    found = await tx.row(READ_HEAD)
    if found is None:
        raise RuntimeError("the audit head row is missing; `clearlane audit verify` says more")
    head, rows = ChainHead(*found), []
    for entry in entries:
        row = chain_row(key, head, entry)
        head = ChainHead(row["seq"], row["hash"])
        rows.append(row)
    await tx.many(APPEND, rows)
    await tx.run(MOVE_HEAD, seq=head.seq, hash=head.hash)
    return head
