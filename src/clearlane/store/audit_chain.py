"""The audit chain: each row carries a keyed hash of itself and of the row before it.

Knows how a row is linked and how the head is saved outside the database (the anchor). Knows
no job and no group; ``audit`` verifies and exports.
"""

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import select, update
from sqlalchemy.sql.expression import bindparam

from clearlane.store.private_files import write_private
from clearlane.store.schema import audit, audit_head
from clearlane.store.sql import Statement, insert_into

AUDIT_IDS_MAX = 5_000

GENESIS = bytes(32)
ANCHOR_NAME = "audit.anchor"


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
HASH_AT = Statement(select(audit.c.hash).where(audit.c.seq == bindparam("seq")))


def encode_ids(ids: Sequence[str]) -> str:
    """Return the ids of an entry as its column holds them, cut at a limit and marked where they were cut."""
    shown = list(ids[:AUDIT_IDS_MAX])
    return json.dumps(shown + ["..."] * (len(ids) > len(shown)), ensure_ascii=False)


def digest(key: bytes, row: Sequence[Any]) -> bytes:
    """Return the keyed hash over every column before ``hash``, in the order of :data:`COLUMNS`."""
    *words, prev = row[:11]
    return hmac.digest(key, prev + msgspec.json.encode(words), hashlib.sha256)


def chain_row(key: bytes, head: ChainHead, entry: AuditEntry) -> dict[str, Any]:
    """Return the row that follows this head."""
    words = (
        head.seq + 1, entry.at, entry.vendor_id, entry.site_id, entry.actor, entry.action,
        entry.request_id, entry.ids, entry.count, entry.detail, head.hash,
    )  # fmt: skip
    return dict(zip(COLUMNS, (*words, digest(key, words)), strict=True))


async def append_entries(tx: Any, key: bytes, entries: Sequence[AuditEntry]) -> ChainHead:
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


class AnchorFault(Exception):
    """An anchor file that cannot be trusted. The text says why."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The head of the chain as this node last saved it outside the database.

    It lags behind the head and never leads, so a chain that ends before it was cut. Several
    processes on one data directory share the file; it only ever moves forward.
    """

    file: Path
    key: bytes

    def read(self) -> ChainHead | None:
        """Return the saved head, or None where none was ever saved."""
        try:
            content = self.file.read_bytes()
        except FileNotFoundError:
            return None
        try:
            noted = json.loads(content)
            head = ChainHead(int(noted["seq"]), bytes.fromhex(noted["hash"]))
            sealed = bytes.fromhex(noted["mac"])
        except (ValueError, KeyError, TypeError):
            raise AnchorFault(f"The anchor {self.file} cannot be read.") from None
        if not hmac.compare_digest(sealed, self._mac(head)):
            raise AnchorFault(
                f"The anchor {self.file} was changed or belongs to another installation."
            )
        return head

    def advance(self, head: ChainHead) -> None:
        """Save a newer head; ignore an older one. The caller holds the lock."""
        noted = self.read()
        if noted is None or noted.seq < head.seq:
            self.reset(head)

    def reset(self, head: ChainHead) -> None:
        """Save this head whatever was there, for a restore only. The caller holds the lock."""
        noted = {"seq": head.seq, "hash": head.hash.hex(), "mac": self._mac(head).hex()}
        write_private(self.file, json.dumps(noted).encode() + b"\n")

    def _mac(self, head: ChainHead) -> bytes:
        words = b"anchor" + head.seq.to_bytes(8, "big") + head.hash
        return hmac.digest(self.key, words, hashlib.sha256)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes of this data directory from moving the anchor."""
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(self.file.with_name(self.file.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


async def require_anchored(tx: Any, anchor: Anchor, head: ChainHead) -> None:
    """Refuse to move the anchor away from a row that the chain lost, or to a row it does not hold.

    A chain without the anchored row was cut and rewritten, and the old anchor is the proof. A
    head that is missing was committed before a restore.
    """
    for known in (anchor.read(), head):
        if known is None or not known.seq:
            continue
        found = await tx.row(HASH_AT, seq=known.seq)
        if found is None or found[0] != known.hash:
            raise AnchorFault(f"The audit chain no longer holds row {known.seq} as it was written.")
