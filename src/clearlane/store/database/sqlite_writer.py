"""The one writer of an SQLite file: a thread that runs the writes of many tasks and commits them together."""

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

from clearlane.events.event import NewEvent
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, to_micros
from clearlane.store.audit import audit_chain
from clearlane.store.audit.anchor import Anchor, AnchorFault, note_for
from clearlane.store.database.disk_reserve import DiskReserve
from clearlane.store.database.group_commit import (
    AuditBuffer,
    CombinedJob,
    DiskFull,
    ForeignAwait,
    GroupCommitter,
    PendingWrite,
    StoreFault,
    Tx,
    WriteQueue,
    WriteResult,
    failed_outcomes,
    write_fault,
)
from clearlane.store.database.sql import (
    AnyScope,
    Row,
    Statement,
    SystemScope,
)
from clearlane.store.database.sqlite_connection import (
    DIALECT,
    connect,
    error_code,
    writer_fault,
)

SQLITE_PAUSE_SECONDS = 0.0005
SQLITE_LOOK_SECONDS, SQLITE_LOOKS_MAX = 0.0002, 100
"""How often a writer looks whether the lock is free: in every pause of another, as long as one usually writes."""
SQLITE_LATE_LOOK_SECONDS = 0.001
"""How often it looks after that: each look takes the interpreter from other threads."""
CHECKPOINT_PAGES, HELPER_CHECKPOINT_PAGES = 2_000, 1_500
"""A commit that finds more pages in the log copies them into the file. That takes long: a helper does it before a service has to."""
PRIMARY_CODE = 0xFF
FULL_DISK = "the disk is full: reads are answered, claims and files are refused"

T = TypeVar("T")


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
        connection.execute("PRAGMA busy_timeout = 0")  # ``begin`` waits
        self.connection = connection
        self._has_savepoint = False
        self._data_version = 0
        """SQLite changes it when another connection commits."""

    async def begin(self) -> bool:
        """Begin a transaction as soon as no other process writes; return whether one wrote since the last transaction.

        SQLite itself would look again after 1, 2, 5, 10 and more milliseconds, and miss the pauses of a process that writes
        page after page.
        """
        until, looks = time.monotonic() + limits.SQLITE_BUSY_SECONDS_MAX, 0
        while not self._takes_lock():
            if time.monotonic() > until:
                self.connection.execute("BEGIN IMMEDIATE")  # once more, for its error
                break
            looks += 1
            pause = SQLITE_LOOK_SECONDS if looks < SQLITE_LOOKS_MAX else SQLITE_LATE_LOOK_SECONDS
            time.sleep(pause)  # noqa: ASYNC251  (only the writer thread steps this)
        self._has_savepoint = False
        before = self._data_version
        (self._data_version,) = self.connection.execute("PRAGMA data_version").fetchone()
        return before not in (0, self._data_version)

    def _takes_lock(self) -> bool:
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error_code(error) & PRIMARY_CODE != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

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


def run_synchronously(work: Coroutine[object, None, T]) -> T:
    """Run a coroutine that never has to wait; if it does, raise :class:`ForeignAwait` in it."""
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

    def __init__(self, file: Path, clock: Clock, *, is_helper: bool = False) -> None:
        self.queue = WriteQueue()
        self.committer = GroupCommitter(clock)
        self.anchor: Anchor | None = None
        self.anchor_fault = ""
        self.write_fault = ""
        self.reserve = DiskReserve(file.parent)
        self._file = file
        self._is_helper = is_helper
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
            pages = HELPER_CHECKPOINT_PAGES if self._is_helper else CHECKPOINT_PAGES
            connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
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
    ) -> list[WriteResult]:
        """Commit these writes, or those that wait."""
        try:
            # The lock comes first: a write that waits for it can still be withdrawn.
            if run_synchronously(connection.begin()):
                with self.queue.changed:
                    self.queue.others_wrote_at.append(time.monotonic())
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


def _lacks_space(outcomes: Sequence[WriteResult]) -> bool:
    return any(isinstance(each.fault, DiskFull) for each in outcomes)


def _is_small_and_lacks_space(outcome: WriteResult) -> bool:
    return isinstance(outcome.fault, DiskFull) and not isinstance(outcome.write.job, CombinedJob)


def resolve_outcomes(outcomes: Sequence[WriteResult]) -> None:
    """Hand the outcomes to their callers, with one wake-up for each loop."""
    loops: dict[asyncio.AbstractEventLoop, list[WriteResult]] = defaultdict(list)
    for outcome in outcomes:
        loops[outcome.write.loop].append(outcome)
    for loop, of_loop in loops.items():
        with contextlib.suppress(RuntimeError):  # that loop is closed: no one waits any more
            loop.call_soon_threadsafe(_resolve_all, of_loop)


def _resolve_all(outcomes: Sequence[WriteResult]) -> None:
    for outcome in outcomes:
        outcome.resolve()
