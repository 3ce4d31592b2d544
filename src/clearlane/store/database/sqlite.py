"""SQLite: one writer thread that groups commits, and a few short-lived readers."""

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import aiosqlite

from clearlane.kernel.clock import Clock
from clearlane.store.audit.anchor import Anchor
from clearlane.store.database.change_signal import ChangeSignal, FileSignal
from clearlane.store.database.group_commit import (
    Actor,
    DatabaseUnavailable,
    DiskFull,
    Job,
    OperationRefused,
    PendingWrite,
    ReadOnlyTx,
    StoreWaits,
    Tx,
    in_loop,
    submit,
)
from clearlane.store.database.schema.partitions import PartitionState
from clearlane.store.database.sql import (
    AnyScope,
    Row,
    Statement,
)
from clearlane.store.database.sqlite_connection import (
    DIALECT,
    VERSION_MIN,
    connect,
    create_private_file,
    translate_error,
)
from clearlane.store.database.sqlite_writer import FULL_DISK, WriterThread

SQLITE_READERS = 4

T = TypeVar("T")

# aiosqlite writes every statement with its values to the debug log.
logging.getLogger("aiosqlite").setLevel(logging.WARNING)


class SqliteDatabase:
    """The store on one SQLite file."""

    dialect = DIALECT

    def __init__(self, file: Path, clock: Clock, *, is_helper: bool = False) -> None:
        self._file = file
        self._readers: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue()
        self._all_readers: list[aiosqlite.Connection] = []
        self._opening: set[asyncio.Task[None]] = set()
        self._writer = WriterThread(file, clock, is_helper=is_helper)
        self._closed = False

    async def open(self) -> None:
        """Create the file if there is none, open a connection that writes and one that reads, and check both."""
        if sqlite3.sqlite_version_info < VERSION_MIN:
            raise OperationRefused(
                f"SQLite {sqlite3.sqlite_version} is too old: 3.35 or newer is needed."
            )
        create_private_file(self._file)
        await asyncio.to_thread(self._writer.start)
        try:
            await self._open_reader()
        except BaseException:
            await self.close()
            raise

    def change_signal(self) -> ChangeSignal:
        """Return a signal of changes of the file."""
        return FileSignal(self._file)

    def watch_events(self, changed: Callable[[], None]) -> None:
        """Call a function in the running loop after each commit of this process that added events."""
        self._writer.committer.events_committed = in_loop(asyncio.get_running_loop(), changed)

    def enable_audit(self, key: bytes, anchor: Anchor) -> None:
        """Give the writer the key and anchor of the audit chain."""
        self._writer.committer.audit_key = key
        self._writer.anchor = anchor

    @property
    def anchor(self) -> Anchor | None:
        """The anchor of this data directory, once the audit is enabled."""
        return self._writer.anchor

    @property
    def anchor_fault(self) -> str:
        """Why the audit chain could not be anchored the last time; empty when it could."""
        return self._writer.anchor_fault

    def clear_anchor_fault(self) -> None:
        """Forget a fault of the anchor, which was saved by other means since."""
        self._writer.anchor_fault = ""

    @property
    def write_fault(self) -> str:
        """Why the last commit failed, or why claims and files are refused; empty when all is well."""
        return self._writer.write_fault or (FULL_DISK if self._writer.reserve.is_used else "")

    @property
    def reserve_warning(self) -> str:
        """Why there is no reserve of disk space, if this node should have one."""
        return self._writer.reserve.warning

    @property
    def waits(self) -> StoreWaits:
        """How long this process waits for connections and commits."""
        return self._writer.queue.waits

    def keep_reserve(self) -> None:
        """Keep a reserve of disk space for audit rows."""
        self._writer.reserve.keep()

    def require_space(self) -> None:
        """Raise :class:`DiskFull` while only the reserve is left."""
        if self._writer.reserve.is_used:
            raise DiskFull(FULL_DISK)

    async def revision(self) -> str | None:
        """Return the schema revision of the file, None for an empty one."""
        connection = await self._readers.get()
        try:
            present = await connection.execute_fetchall(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
            )
            found = present and await connection.execute_fetchall("SELECT * FROM alembic_version")
            return str(next(iter(found))[0]) if found else None
        finally:
            self._readers.put_nowait(connection)

    @contextlib.asynccontextmanager
    async def read(self, scope: AnyScope) -> AsyncIterator[Tx]:
        """Open a snapshot of the database; keep it for as short a time as possible."""
        if self._closed:
            raise DatabaseUnavailable("the database is closed")
        began = time.monotonic()
        if self._readers.empty():
            self._add_reader()
        connection = await self._readers.get()
        self._writer.queue.read_seconds.count(time.monotonic() - began)
        try:
            await _await_driver(connection.execute("BEGIN"))
            yield SqliteReadTx(connection, scope)
        finally:
            # The rollback is queued behind whatever runs, so the connection is returned clean, also
            # when the reader is canceled while it waits for it.
            try:
                with contextlib.suppress(
                    sqlite3.Error, ValueError
                ):  # ValueError: closed in between
                    await connection.rollback()
            finally:
                self._readers.put_nowait(connection)

    async def write(self, scope: AnyScope, job: Job[T], *, actor: Actor) -> T:
        """Run the job in the next group; return after the durable commit."""
        loop = asyncio.get_running_loop()
        pending = PendingWrite(scope, actor, job, loop, loop.create_future())
        result: T = await submit(self._writer.queue, pending)
        return result

    async def make_partitions(self, now: datetime) -> list[str]:
        """Make none: a file has no partitions."""
        return []

    async def partition_state(self) -> PartitionState | None:
        """Return None: a file has no partitions."""
        return None

    async def close(self) -> None:
        """Finish the waiting writes, then close every connection."""
        await asyncio.to_thread(self._writer.stop)
        self._closed = True
        await asyncio.gather(*self._opening, return_exceptions=True)
        for reader in self._all_readers:
            await reader.close()
        self._all_readers.clear()

    def _add_reader(self) -> None:
        """Open one more connection, up to the limit; who waits takes it or one that is returned before."""
        if len(self._all_readers) + len(self._opening) < SQLITE_READERS:
            opening = asyncio.create_task(self._open_reader(), name="sqlite-reader")
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)

    async def _open_reader(self) -> None:
        # With our own connect, so that readers are checked like the writer.
        connection = await aiosqlite.Connection(lambda: connect(self._file), iter_chunk_size=64)
        self._all_readers.append(connection)
        await connection.execute("PRAGMA query_only = ON")
        self._readers.put_nowait(connection)


async def _await_driver(call: Awaitable[T]) -> T:
    """Await the driver and translate its errors, without the original attached."""
    try:
        return await call
    except sqlite3.Error as error:
        fault = translate_error(error)
    raise fault


class SqliteReadTx(ReadOnlyTx):
    """A read transaction on one aiosqlite connection."""

    def __init__(self, connection: aiosqlite.Connection, scope: AnyScope) -> None:
        self._connection = connection
        self._scope = scope

    async def rows(self, statement: Statement, /, **values: object) -> list[Row]:
        statement = statement.for_scope(self._scope)
        compiled = statement.compiled_for(DIALECT)
        arguments = compiled.arguments(statement.with_owner(self._scope, values))
        call = self._connection.execute_fetchall(compiled.text, arguments)
        return list(await _await_driver(call))  # type: ignore[arg-type]  # the driver's result is awaitable, and typed as its base

    async def row(self, statement: Statement, /, **values: object) -> Row | None:
        found = await self.rows(statement, **values)
        return found[0] if found else None
