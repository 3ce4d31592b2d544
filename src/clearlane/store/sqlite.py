"""SQLite: one writer thread that groups commits, and a few short-lived readers.

Knows sqlite3 and its pragmas. The settings that make a commit durable are checked on every
connection, and a database with other settings is refused.
"""

import asyncio
import contextlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from clearlane.events.event import NewEvent
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, to_micros
from clearlane.store import audit_chain
from clearlane.store.anchor import Anchor, AnchorFault, note_for
from clearlane.store.change_signal import ChangeSignal, FileSignal
from clearlane.store.disk_reserve import DiskReserve
from clearlane.store.group_commit import (
    Actor,
    AuditBuffer,
    CombinedJob,
    ConstraintViolation,
    DatabaseUnavailable,
    DiskFull,
    ForeignAwait,
    GroupCommitter,
    Job,
    OperationRefused,
    PendingWrite,
    Row,
    StatementFault,
    StoreFault,
    StoreWaits,
    Tx,
    WriteOutcome,
    WriteQueue,
    failed_outcomes,
    in_loop,
    submit,
    write_fault,
)
from clearlane.store.sql import AnyScope, Statement, SystemScope

SQLITE_PAUSE_SECONDS = 0.0005
SQLITE_READERS = 4
STANDARD_ERROR = 2
FSYNC_ERRORS = {sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC}
FULL_DISK = "the disk is full: reads are answered, claims and files are refused"

T = TypeVar("T")

# aiosqlite writes every statement with its values to the debug log.
logging.getLogger("aiosqlite").setLevel(logging.WARNING)

DIALECT = "sqlite"
VERSION_MIN = (3, 35, 0)  # RETURNING
SET_UP = (
    f"PRAGMA busy_timeout = {limits.SQLITE_BUSY_SECONDS_MAX * 1000}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)
# Pragma, the value it must have, and what it is for.
REQUIRED = (
    ("journal_mode", "wal", "readers beside the writer"),
    ("synchronous", 2, "a commit that survives a power cut (FULL)"),
    ("foreign_keys", 1, "rows that always have their owner"),
)


class SqliteDatabase:
    """The store on one SQLite file."""

    dialect = DIALECT

    def __init__(self, file: Path, clock: Clock) -> None:
        self._file = file
        self._readers: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue()
        self._all_readers: list[aiosqlite.Connection] = []
        self._writer = WriterThread(file, clock)
        self._closed = False

    async def open(self) -> None:
        """Create the file where there is none, open every connection and check it."""
        if sqlite3.sqlite_version_info < VERSION_MIN:
            raise OperationRefused(
                f"SQLite {sqlite3.sqlite_version} is too old: 3.35 or newer is needed."
            )
        create_private_file(self._file)
        await asyncio.to_thread(self._writer.start)
        try:
            for _ in range(SQLITE_READERS):
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
        """Why there is no reserve of disk space, where this node should have one."""
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
        connection = await self._readers.get()
        self._writer.queue.read_seconds.count(time.monotonic() - began)
        try:
            await _await_driver(connection.execute("BEGIN"))
            yield SqliteReadTx(connection, scope)
        finally:
            # The rollback is queued behind whatever runs, so the connection is returned clean, also
            # when the reader is cancelled while it waits for it.
            try:
                with contextlib.suppress(sqlite3.Error, ValueError):  # ValueError: closed meanwhile
                    await connection.rollback()
            finally:
                self._readers.put_nowait(connection)

    async def write(self, scope: AnyScope, job: Job[T], *, actor: Actor) -> T:
        """Run the job in the next group; return after the durable commit."""
        loop = asyncio.get_running_loop()
        pending = PendingWrite(scope, actor, job, loop, loop.create_future())
        result: T = await submit(self._writer.queue, pending)
        return result

    async def close(self) -> None:
        """Finish the waiting writes, then close every connection."""
        await asyncio.to_thread(self._writer.stop)
        self._closed = True
        for reader in self._all_readers:
            await reader.close()
        self._all_readers.clear()

    async def _open_reader(self) -> None:
        # With our own connect, so that readers are checked like the writer.
        connection = await aiosqlite.Connection(lambda: connect(self._file), iter_chunk_size=64)
        self._all_readers.append(connection)
        await connection.execute("PRAGMA query_only = ON")
        self._readers.put_nowait(connection)


def create_private_file(file: Path) -> None:
    """Create an empty database file that only its owner may read; SQLite's side files copy its mode."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


class ClosingCursor(sqlite3.Cursor):
    """A cursor that is closed once its rows are fetched, also when that fails.

    One that failed half way would keep its connection at an old state of the database.
    """

    def fetchall(self) -> list[Any]:
        try:
            return super().fetchall()
        finally:
            self.close()


class CursorClosingConnection(sqlite3.Connection):
    """A connection whose cursors are :class:`ClosingCursor`."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return self.cursor(ClosingCursor).execute(sql, parameters)


def connect(file: Path) -> sqlite3.Connection:
    """Open a checked connection without implicit transactions."""
    connection = sqlite3.connect(
        file,
        isolation_level=None,
        timeout=limits.SQLITE_BUSY_SECONDS_MAX,
        cached_statements=512,
        factory=CursorClosingConnection,
    )
    try:
        for pragma in SET_UP:
            connection.execute(pragma)
        require_durable(
            {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name, _, _ in REQUIRED}
        )
    except sqlite3.Error as error:
        connection.close()
        raise OperationRefused(f"{file} cannot be used as a database: {error}.") from None
    except OperationRefused:
        connection.close()
        raise
    return connection


def require_durable(found: Mapping[str, Any]) -> None:
    """Refuse a connection whose settings are not the durable ones."""
    wrong = [
        f"{name} is {found[name]}, it must be {wanted}: {reason}"
        for name, wanted, reason in REQUIRED
        if found[name] != wanted
    ]
    if wrong:
        raise OperationRefused(f"This SQLite database cannot be used: {'; '.join(wrong)}.")


def translate_error(error: sqlite3.Error) -> StoreFault:
    """Return the driver's error as one of ours, without any value in its text."""
    if isinstance(error, sqlite3.IntegrityError):
        return ConstraintViolation(str(error).removeprefix("UNIQUE constraint failed: "))
    if error_code(error) == sqlite3.SQLITE_FULL:
        return DiskFull("SQLite: the disk is full")
    if isinstance(error, sqlite3.OperationalError) and "decode" not in str(error):
        return DatabaseUnavailable(f"SQLite: {error}")
    return StatementFault(f"SQLite: {type(error).__name__}")


def error_code(error: sqlite3.Error) -> int:
    """Return SQLite's extended code of an error; 0 where the driver raised it itself."""
    return getattr(error, "sqlite_errorcode", 0)


def writer_fault(error: sqlite3.Error) -> StoreFault:
    """Return the error of a write as one of ours; one of fsync ends the process."""
    if error_code(error) in FSYNC_ERRORS:
        end_process("a commit could not be made durable: fsync failed")
    return translate_error(error)


def end_process(reason: str) -> None:
    """End the process at once, with one line on standard error.

    After a failed fsync the kernel may count lost pages as written (fsyncgate): a later commit would succeed on top of
    rows that are gone. A new process reads what is on the disk.
    """
    line = {"event": "process ended", "level": "critical", "reason": reason}
    with contextlib.suppress(OSError):
        os.write(STANDARD_ERROR, json.dumps(line).encode() + b"\n")
    os._exit(os.EX_IOERR)


async def _await_driver(call: Awaitable[T]) -> T:
    """Await the driver and translate its errors, with nothing of the original attached."""
    try:
        return await call
    except sqlite3.Error as error:
        fault = translate_error(error)
    raise fault


class SqliteReadTx:
    """A read transaction on one aiosqlite connection."""

    def __init__(self, connection: aiosqlite.Connection, scope: AnyScope) -> None:
        self._connection = connection
        self._scope = scope

    async def rows(self, statement: Statement, /, **values: object) -> list[Row]:
        statement = statement.for_scope(self._scope)
        compiled = statement.compiled_for(DIALECT)
        arguments = compiled.arguments(statement.with_owner(self._scope, values))
        call = self._connection.execute_fetchall(compiled.text, arguments)
        return list(await _await_driver(call))  # type: ignore[arg-type]

    async def row(self, statement: Statement, /, **values: object) -> Row | None:
        found = await self.rows(statement, **values)
        return found[0] if found else None

    async def run(self, statement: Statement, /, **values: object) -> int:
        raise StatementFault("a read changes nothing; use write")

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        raise StatementFault("a read changes nothing; use write")

    def audit(
        self, action: str, /, *, ids: Sequence[str] = (), count: int | None = None, detail: str = ""
    ) -> None:
        raise StatementFault("a read that is audited runs inside write")

    def add_events(self, events: Sequence[NewEvent], /) -> None:
        raise StatementFault("a read has no events; use write")


class SqliteWriteTx:
    """A job's transaction. Its methods never wait: the writer thread owns the connection."""

    def __init__(
        self, connection: sqlite3.Connection, scope: AnyScope, audit: AuditBuffer | None
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._audit = audit

    async def run(self, statement: Statement, /, **values: object) -> int:
        if statement.returns_rows:
            return len(await self.rows(statement, **values))
        return self._execute(statement, values).rowcount

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        statement = statement.for_scope(self._scope)
        compiled = statement.compiled_for(DIALECT)
        arguments = list(map(compiled.arguments, statement.with_owners(self._scope, rows)))
        try:
            if len(compiled.multi_row_texts) == 1:
                self._connection.executemany(compiled.text, arguments)
                return
            at = 0
            for size, text in compiled.multi_row_texts.items():
                while len(arguments) - at >= size:
                    block = arguments[at : at + size]
                    self._connection.execute(text, list(chain.from_iterable(block)))
                    at += size
        except sqlite3.Error as error:
            fault = writer_fault(error)
        else:
            return
        raise fault

    async def rows(self, statement: Statement, /, **values: object) -> list[Row]:
        cursor = self._execute(statement, values)
        try:
            return cursor.fetchall()
        except sqlite3.Error as error:
            fault = writer_fault(error)
        raise fault

    async def row(self, statement: Statement, /, **values: object) -> Row | None:
        found = await self.rows(statement, **values)
        return found[0] if found else None

    def audit(
        self, action: str, /, *, ids: Sequence[str] = (), count: int | None = None, detail: str = ""
    ) -> None:
        if self._audit is not None:
            self._audit.add(action, ids, count, detail)

    def add_events(self, events: Sequence[NewEvent], /) -> None:
        if self._audit is not None:
            self._audit.add_events(events)

    def _execute(self, statement: Statement, values: Mapping[str, object]) -> sqlite3.Cursor:
        statement = statement.for_scope(self._scope)
        compiled = statement.compiled_for(DIALECT)
        arguments = compiled.arguments(statement.with_owner(self._scope, values))
        try:
            return self._connection.execute(compiled.text, arguments)
        except sqlite3.Error as error:
            fault = writer_fault(error)
        raise fault


class SqliteWriteConnection:
    """The connection of the writer thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._has_savepoint = False

    async def begin(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self._has_savepoint = False

    async def begin_job(self, scope: AnyScope) -> None:
        if self._has_savepoint:
            self.connection.execute("RELEASE job")
        self.connection.execute("SAVEPOINT job")
        self._has_savepoint = True

    async def undo_job(self) -> None:
        self.connection.execute("ROLLBACK TO job")

    async def commit(self) -> None:
        self.connection.execute("COMMIT")

    async def rollback(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def is_broken(self) -> bool:
        return not self.connection.in_transaction

    def transaction(self, scope: AnyScope, audit: AuditBuffer | None) -> Tx:
        return SqliteWriteTx(self.connection, scope, audit)


def run_synchronously(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never has to wait; where it does, raise :class:`ForeignAwait` in it."""
    step = work.send
    while True:
        try:
            step(None)
        except StopIteration as done:
            result: T = done.value
            return result
        foreign = ForeignAwait("a job awaits nothing but its transaction")
        step = lambda _: work.throw(foreign)  # noqa: E731, B023


class WriterThread:
    """The one thread that writes: takes the waiting writes, commits them together, pauses."""

    def __init__(self, file: Path, clock: Clock) -> None:
        self.queue = WriteQueue()
        self.committer = GroupCommitter(clock)
        self.anchor: Anchor | None = None
        self.anchor_fault = ""
        self.write_fault = ""
        self.reserve = DiskReserve(file.parent)
        self._file = file
        self._thread = threading.Thread(target=self._serve, name="sqlite-writer", daemon=True)
        self._opened = threading.Event()
        self._fault: Exception | None = None
        self._unanchored: audit_chain.ChainHead | None = None
        self._anchored_at = 0.0

    def start(self) -> None:
        """Open the connection in its own thread; a refusal is raised here."""
        self._thread.start()
        self._opened.wait()
        if self._fault is not None:
            raise self._fault

    def stop(self) -> None:
        """Finish the waiting writes and end the thread."""
        self.queue.close()
        if self._thread.is_alive():
            self._thread.join()

    def _serve(self) -> None:
        try:
            connection = connect(self._file)
        except Exception as fault:  # noqa: BLE001  (raised again by start, in the caller's thread)
            self._fault = fault
            self._opened.set()
            return
        self._opened.set()
        writer = SqliteWriteConnection(connection)
        while self._wait():
            self._write_group(writer)
            self._anchor(connection)
            # SQLite's lock is not fair: without a pause, commands beside the server would starve.
            time.sleep(SQLITE_PAUSE_SECONDS)
        self._anchor(connection, now=True)
        connection.close()

    def _wait(self) -> bool:
        """Wait for writes; return False when there are none left and none will come."""
        queue = self.queue
        with queue.changed:
            while not len(queue):
                if queue.closed:
                    return False
                seconds = limits.ANCHOR_SECONDS_MAX if self._unanchored else None
                if not queue.changed.wait(seconds) and self._unanchored:
                    return True
        return True

    def _write_group(self, connection: SqliteWriteConnection) -> None:
        if not len(self.queue):
            return
        self.reserve.regain()
        outcomes = self._commit(connection, [])
        if _lacks_space(outcomes) and self.reserve.use():
            # Small writes are tried again in the space of the reserve; claims are refused.
            again = [each.write for each in outcomes if _is_small_and_lacks_space(each)]
            kept = [each for each in outcomes if not _is_small_and_lacks_space(each)]
            outcomes = kept + (self._commit(connection, again) if again else [])
        self.write_fault = write_fault(outcomes, self.write_fault)
        resolve_outcomes(outcomes)

    def _commit(
        self, connection: SqliteWriteConnection, writes: list[PendingWrite]
    ) -> list[WriteOutcome]:
        """Commit these writes, or those that wait."""
        try:
            # The lock comes first: a write that waits for it can still be withdrawn.
            run_synchronously(connection.begin())
            writes = writes or self.queue.take()
            outcomes, head = run_synchronously(self.committer.write(connection, writes))
            self._unanchored = head or self._unanchored
        except Exception as fault:  # noqa: BLE001  (every caller gets it)
            known = writer_fault(fault) if isinstance(fault, sqlite3.Error) else fault
            with contextlib.suppress(sqlite3.Error):
                run_synchronously(connection.rollback())
            outcomes = failed_outcomes(writes or self.queue.take(), known)
        return outcomes

    def _anchor(self, connection: sqlite3.Connection, *, now: bool = False) -> None:
        """Save the head of the audit chain outside the database, at most once a second."""
        head, anchor = self._unanchored, self.anchor
        due = now or time.monotonic() - self._anchored_at >= limits.ANCHOR_SECONDS_MAX
        if head is None or anchor is None or not due:
            return
        self._unanchored, self._anchored_at = None, time.monotonic()
        tx = SqliteWriteTx(connection, SystemScope("anchor"), None)
        try:
            with anchor.locked():
                at = to_micros(self.committer.clock.now())
                note = run_synchronously(note_for(tx, anchor, head, at=at, shared=False))
                anchor.advance(note)
        except AnchorFault as fault:
            self.anchor_fault = str(fault)
        except (StoreFault, OSError) as fault:
            self.anchor_fault = str(fault)
            self._unanchored = head  # a full disk or a forbidden directory may be temporary
        else:
            self.anchor_fault = ""


def _lacks_space(outcomes: Sequence[WriteOutcome]) -> bool:
    return any(isinstance(each.fault, DiskFull) for each in outcomes)


def _is_small_and_lacks_space(outcome: WriteOutcome) -> bool:
    return isinstance(outcome.fault, DiskFull) and not isinstance(outcome.write.job, CombinedJob)


def resolve_outcomes(outcomes: Sequence[WriteOutcome]) -> None:
    """Hand the outcomes to their callers, with one wake-up for each loop."""
    loops: dict[asyncio.AbstractEventLoop, list[WriteOutcome]] = defaultdict(list)
    for outcome in outcomes:
        loops[outcome.write.loop].append(outcome)
    for loop, of_loop in loops.items():
        with contextlib.suppress(RuntimeError):  # that loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_resolve_all, of_loop)


def _resolve_all(outcomes: Sequence[WriteOutcome]) -> None:
    for outcome in outcomes:
        outcome.resolve()
