"""The anchor: the head of the audit chain, saved outside the database, and what it proves.

A database whose chain does not hold the anchored row was set back: an older copy was put in its place, or the end was cut.
A restore that was recorded in the chain explains that; nothing else does. Knows files and the chain, no job and no batch.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import syslog
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from sqlalchemy import Integer, bindparam, select

from clearlane.store.audit.audit_chain import COLUMNS, GENESIS, ChainHead, digest
from clearlane.store.database.schema import (
    ANCHORED_ACTION,
    RESTORE_ACTIONS,
    audit,
    audit_cut,
    audit_head,
)
from clearlane.store.database.sql import Statement, StatementTx, SystemScope, inlined
from clearlane.store.vault.private_files import write_private

ANCHOR_NAME = "audit.anchor"
LOCK_SUFFIX = ".lock"
SYSLOG = "syslog"
SYSLOG_SECONDS_MIN = 60
RESTORES_REMEMBERED_MAX = 100
RESTORE_ID_CHARACTERS = 16
ANCHOR_BYTES_MAX = 64 * 1024

SCOPE = SystemScope("the audit chain belongs to the installation")


class AnchoredDatabase(Protocol):
    """What is used of the database whose chain is anchored."""

    def read(self, scope: SystemScope, /) -> AbstractAsyncContextManager[StatementTx]:
        """Read in one transaction."""

    def clear_anchor_fault(self) -> None:
        """Forget what was wrong with the anchor."""


class AnchorFault(Exception):
    """An anchor that cannot be trusted or moved. The text says why."""


class DatabaseSetBack(AnchorFault):
    """A database whose chain lost the anchored row."""


class AnchorVerdict(StrEnum):
    """What an anchor proves about a database."""

    HELD = "held"
    """The chain holds the anchored row: the database is not older than the anchor."""
    NEW = "new"
    """Nothing was ever anchored here."""
    MISSING = "missing"
    """The chain records that this data directory anchors, and the anchor is gone."""
    RESTORED = "restored"
    """The chain lost the anchored row, and records a restore that this anchor has not seen."""
    SET_BACK = "set back"
    """The chain lost the anchored row, and nothing in it explains that."""


@dataclass(frozen=True, slots=True)
class AnchorNote:
    """What an anchor holds: the head of the chain, when it was saved, and the restores in the chain by then."""

    head: ChainHead
    at: int = 0
    restores: tuple[str, ...] = ()


class Anchor:
    """The head of the chain as this node last saved it outside the database.

    It lags behind the head and never leads, so a chain that ends before it was cut. Several processes on one data
    directory share the file; it only ever moves forward. ``copy`` is a second place: a path, or ``syslog``.
    """

    def __init__(self, file: Path, key: bytes, copy: str = "") -> None:
        self.file = file
        self.key = key
        self.copy = Path(copy).expanduser() if copy not in {"", SYSLOG} else None
        self.last: AnchorNote | None = None
        """What this process saved last; it outlives a deleted file."""
        self._to_syslog = copy == SYSLOG
        self._logged_at = float("-inf")

    def read(self) -> AnchorNote | None:
        """Return the newest note of both places, or None if none was ever saved."""
        found = [note for place in self._places() if (note := self._read(place))]
        return max(found, key=lambda note: note.head.seq, default=None)

    def advance(self, note: AnchorNote) -> None:
        """Save a newer head; ignore an older one. The caller holds the lock."""
        for place in self._places():
            noted = self._read(place)
            if noted is None or noted.head.seq < note.head.seq:
                write_private(place, self._sealed(note))
        self._remember(note)

    def reset(self, note: AnchorNote) -> None:
        """Save this head whatever was there, for a restore only. The caller holds the lock."""
        for place in self._places():
            write_private(place, self._sealed(note))
        self._logged_at = float("-inf")
        self._remember(note)

    @property
    def id(self) -> str:
        """The id of this data directory as the chain records it; empty before the anchor is first locked."""
        with contextlib.suppress(FileNotFoundError):
            return self._lock_file.read_text(encoding="ascii", errors="replace").strip()
        return ""

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes of this data directory from moving the anchor."""
        self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(self._lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.fstat(lock).st_size:
                os.write(lock, secrets.token_hex(8).encode())
                os.fsync(lock)
            yield
        finally:
            os.close(lock)

    @property
    def _lock_file(self) -> Path:
        return self.file.with_name(self.file.name + LOCK_SUFFIX)

    def _places(self) -> list[Path]:
        return [self.file, *([self.copy] if self.copy else [])]

    def _read(self, place: Path) -> AnchorNote | None:
        try:
            with place.open("rb") as file:
                content = file.read(ANCHOR_BYTES_MAX)
        except FileNotFoundError:
            return None
        return self.parse(content, str(place))

    def parse(self, content: bytes, place: str) -> AnchorNote:
        """Return the note of an anchor's content; ``place`` names it in a fault."""
        try:
            noted = json.loads(
                content[max(0, content.find(b"{")) :]
            )  # after what a log puts before
            note = AnchorNote(
                ChainHead(int(noted["seq"]), bytes.fromhex(noted["hash"])),
                int(noted["at"]),
                tuple(map(str, noted["restores"])),
            )
            seal = bytes.fromhex(noted["mac"])
        except (ValueError, KeyError, TypeError):
            raise AnchorFault(f"The anchor {place} cannot be read.") from None
        if not hmac.compare_digest(seal, self._mac(note)):
            raise AnchorFault(f"The anchor {place} was changed or belongs to another installation.")
        return note

    def _remember(self, note: AnchorNote) -> None:
        self.last = note
        now = time.monotonic()
        if self._to_syslog and now - self._logged_at >= SYSLOG_SECONDS_MIN:
            self._logged_at = now
            syslog.syslog(
                syslog.LOG_NOTICE | syslog.LOG_DAEMON,
                f"clearlane anchor {self._sealed(note).decode().strip()}",
            )

    def note_in_syslog(self, lines: Sequence[str]) -> None:
        """Write checkpoints to the system log, if that is the second place."""
        if self._to_syslog:
            for line in lines:
                syslog.syslog(syslog.LOG_NOTICE | syslog.LOG_DAEMON, f"clearlane checkpoint {line}")

    def _sealed(self, note: AnchorNote) -> bytes:
        return json.dumps(_facts(note) | {"mac": self._mac(note).hex()}).encode() + b"\n"

    def _mac(self, note: AnchorNote) -> bytes:
        words = b"anchor" + json.dumps(_facts(note), sort_keys=True).encode()
        return hmac.digest(self.key, words, hashlib.sha256)


def _facts(note: AnchorNote) -> dict[str, object]:
    return {
        "seq": note.head.seq,
        "hash": note.head.hash.hex(),
        "at": note.at,
        "restores": list(note.restores),
    }


async def note_for(
    tx: StatementTx, anchor: Anchor, head: ChainHead, *, at: int, shared: bool
) -> AnchorNote:
    """Return what the anchor is to hold next.

    Raises :class:`AnchorFault` if the anchor would move away from a row that the chain lost (the old anchor is the
    proof), would move to a row it does not hold (committed before a restore), or was deleted.
    """
    known = anchor.read() or anchor.last
    if known is None and await _is_recorded(tx, anchor, shared=shared):
        raise AnchorFault(missing_sentence(anchor))
    for wanted in (known.head if known else None, head):
        if wanted is not None and not await holds(tx, wanted):
            raise DatabaseSetBack(
                f"The audit chain no longer holds row {wanted.seq} as it was written."
            )
    return AnchorNote(head, at, await _restore_ids(tx))


async def holds(tx: StatementTx, head: ChainHead) -> bool:
    """Return whether the chain holds this row as it was written, or held it before it was cut behind this row."""
    if not head.seq:
        return True
    found = await tx.row(_HASH_AT, seq=head.seq)
    if found is None:
        return await tx.row(_IS_CUT, seq=head.seq) is not None
    return bool(found[0] == head.hash)


async def compare(
    tx: StatementTx, anchor: Anchor, *, shared: bool
) -> tuple[AnchorVerdict, AnchorNote | None]:
    """Return what the anchor proves about the database, and what it holds.

    ``shared`` says that several data directories may use the database. Raises :class:`AnchorFault` if the anchor
    cannot be read.
    """
    note = anchor.read()
    if note is None:
        recorded = await _is_recorded(tx, anchor, shared=shared)
        return (AnchorVerdict.MISSING if recorded else AnchorVerdict.NEW), None
    if await holds(tx, note.head):
        return AnchorVerdict.HELD, note
    rows = await tx.rows(_RESTORES, limit=RESTORES_REMEMBERED_MAX)
    explained = any(
        _restore_id(row[-1]) not in note.restores and digest(anchor.key, row) == row[-1]
        for row in rows
    )
    return (AnchorVerdict.RESTORED if explained else AnchorVerdict.SET_BACK), note


async def is_recorded(tx: StatementTx, anchor: Anchor) -> bool:
    """Return whether the chain records that exactly this data directory anchors."""
    return await _is_recorded(tx, anchor, shared=True)


async def present_note(database: AnchoredDatabase, at: int) -> AnchorNote:
    """Return what an anchor of this database would hold now."""
    async with database.read(SCOPE) as tx:
        found = await tx.row(READ_HEAD_ONLY)
        head = ChainHead(*found) if found else ChainHead(0, GENESIS)
        return AnchorNote(head, at, await _restore_ids(tx))


async def save_head(database: AnchoredDatabase, anchor: Anchor, at: int, *, over: bool) -> None:
    """Save the present head; with ``over`` even if the anchor holds a row that the chain lost."""
    note = await present_note(database, at)
    await asyncio.to_thread(save_note, anchor, note, over=over)
    database.clear_anchor_fault()


def missing_sentence(anchor: Anchor) -> str:
    """Return what is wrong if an anchor was deleted."""
    return (
        f"The anchor {anchor.file} is missing, and the audit chain records that there was one: "
        "it cannot be known whether the database is older than it was."
    )


def set_back_sentence(note: AnchorNote, head: ChainHead) -> str:
    """Return what is wrong with a database that was set back."""
    return (
        f"The database is older than it was: the anchor remembers row {note.head.seq} of the audit chain, and the chain, "
        f"which ends at row {head.seq}, does not hold it."
    )


def save_note(anchor: Anchor, note: AnchorNote, *, over: bool = False) -> None:
    """Save a newer head, or with ``over`` any. Blocks; call it outside an event loop."""
    with anchor.locked():
        (anchor.reset if over else anchor.advance)(note)


async def _is_recorded(tx: StatementTx, anchor: Anchor, *, shared: bool) -> bool:
    if not shared:
        return await tx.row(_ANY_ANCHOR) is not None
    id = anchor.id
    return bool(id) and await tx.row(_THIS_ANCHOR, ids=json.dumps([id])) is not None


async def _restore_ids(tx: StatementTx) -> tuple[str, ...]:
    return tuple(
        _restore_id(row[-1]) for row in await tx.rows(_RESTORES, limit=RESTORES_REMEMBERED_MAX)
    )


def _restore_id(hash: bytes) -> str:
    return hash.hex()[:RESTORE_ID_CHARACTERS]


READ_HEAD_ONLY = Statement(select(audit_head.c.seq, audit_head.c.hash).where(audit_head.c.id == 1))
_HASH_AT = Statement(select(audit.c.hash).where(audit.c.seq == bindparam("seq")))
_IS_CUT = Statement(select(audit_cut.c.seq).where(audit_cut.c.seq >= bindparam("seq")))
# Each repeats the condition of the partial index of these few rows.
_MARKED = audit.c.action.in_([inlined(action) for action in (ANCHORED_ACTION, *RESTORE_ACTIONS)])
_RESTORES = Statement(
    select(*(audit.c[name] for name in COLUMNS))
    .where(_MARKED, audit.c.action != inlined(ANCHORED_ACTION))
    .order_by(audit.c.seq.desc())
    .limit(bindparam("limit", type_=Integer))
)
_ANY_ANCHOR = Statement(
    select(audit.c.seq).where(_MARKED, audit.c.action == inlined(ANCHORED_ACTION)).limit(1)
)
_THIS_ANCHOR = Statement(
    select(audit.c.seq)
    .where(_MARKED, audit.c.action == inlined(ANCHORED_ACTION), audit.c.ids == bindparam("ids"))
    .limit(1)
)
