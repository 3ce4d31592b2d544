"""SQLite: one writer thread that groups commits, and a few short-lived readers.

Knows sqlite3 and its pragmas. The settings that make a commit durable are checked on every
connection; a database that has others is refused, never used in hope.
"""

import asyncio
import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.kernel.ids import Scope
from clearlane.store import audit_chain
from clearlane.store.group_commit import (
    Actor,
    Conflict,
    Entry,
    ForeignAwait,
    Group,
    Job,
    Lines,
    Outcome,
    Refused,
    Row,
    StatementFailed,
    StoreFault,
    Tx,
    Unavailable,
    Waiting,
    failed,
    submit,
)
from clearlane.store.sql import Statement, System

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
# Pragma, the value that passes, and what it is for.
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
        self._writer = Writer(file, clock)
        self._closed = False

    async def open(self) -> None:
        """Create the file where there is none, open every connection and check it."""
        if sqlite3.sqlite_version_info < VERSION_MIN:
            raise Refused(f"SQLite {sqlite3.sqlite_version} is too old: 3.35 or newer is needed.")
        create_private(self._file)
        await asyncio.to_thread(self._writer.start)
        try:
            for _ in range(limits.SQLITE_READERS):
                await self._open_reader()
        except BaseException:
            await self.close()
            raise

    def chained(self, key: bytes, anchor: audit_chain.Anchor) -> None:
        """From here on audit lines can be chained."""
        self._writer.group.audit_key = key
        self._writer.anchor = anchor

    @property
    def anchor_fault(self) -> str:
        """Why the audit chain could not be anchored the last time; empty when it could."""
        return self._writer.anchor_fault

    async def revision(self) -> str | None:
        """The schema revision the file holds, None for an empty one."""
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
    async def read(self, scope: Scope | System) -> AsyncIterator[Tx]:
        """A snapshot of the database, kept for as short a time as possible."""
        if self._closed:
            raise Unavailable("the database is closed")
        connection = await self._readers.get()
        try:
            await _told(connection.execute("BEGIN"))
            yield Reading(connection, scope)
        finally:
            # The rollback is queued behind whatever runs, so the connection goes back clean, also
            # when the reader is told to give up while it waits for it.
            try:
                with contextlib.suppress(sqlite3.Error, ValueError):  # ValueError: closed meanwhile
                    await connection.rollback()
            finally:
                self._readers.put_nowait(connection)

    async def write(self, scope: Scope | System, job: Job[T], *, actor: Actor) -> T:
        """Run the job in the next group; return after the durable commit."""
        loop = asyncio.get_running_loop()
        entry = Entry(scope, actor, job, loop, loop.create_future())
        result: T = await submit(self._writer.waiting, entry)
        return result

    async def close(self) -> None:
        """Finish what waits, then close every connection."""
        await asyncio.to_thread(self._writer.stop)
        self._closed = True
        for reader in self._all_readers:
            await reader.close()
        self._all_readers.clear()

    async def _open_reader(self) -> None:
        # Our own way to connect, so that readers are checked as the writer is.
        connection = await aiosqlite.Connection(lambda: connect(self._file), iter_chunk_size=64)
        self._all_readers.append(connection)
        await connection.execute("PRAGMA query_only = ON")
        self._readers.put_nowait(connection)


def create_private(file: Path) -> None:
    """Make an empty database file that only its owner may read; SQLite's side files copy the mode."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


class ClosingCursor(sqlite3.Cursor):
    """A cursor that is done when its rows are fetched, however that ends.

    One that failed half way would keep its connection at an old state of the database.
    """

    def fetchall(self) -> list[Any]:
        try:
            return super().fetchall()
        finally:
            self.close()


class TidyConnection(sqlite3.Connection):
    """A connection of such cursors."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return self.cursor(ClosingCursor).execute(sql, parameters)


def connect(file: Path) -> sqlite3.Connection:
    """A checked connection that commits only when it is told to."""
    connection = sqlite3.connect(
        file,
        isolation_level=None,
        timeout=limits.SQLITE_BUSY_SECONDS_MAX,
        cached_statements=512,
        factory=TidyConnection,
    )
    try:
        for pragma in SET_UP:
            connection.execute(pragma)
        check({name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name, _, _ in REQUIRED})
    except sqlite3.Error as error:
        connection.close()
        raise Refused(f"{file} cannot be used as a database: {error}.") from None
    except Refused:
        connection.close()
        raise
    return connection


def check(found: Mapping[str, Any]) -> None:
    """Refuse a connection whose settings are not the durable ones."""
    wrong = [
        f"{name} is {found[name]}, it must be {wanted}: {reason}"
        for name, wanted, reason in REQUIRED
        if found[name] != wanted
    ]
    if wrong:
        raise Refused(f"This SQLite database cannot be used: {'; '.join(wrong)}.")


def translated(error: sqlite3.Error) -> StoreFault:
    """The same fault in our words, without a value in them."""
    if isinstance(error, sqlite3.IntegrityError):
        return Conflict(str(error).removeprefix("UNIQUE constraint failed: "))
    if isinstance(error, sqlite3.OperationalError) and "decode" not in str(error):
        return Unavailable(f"SQLite: {error}")
    return StatementFailed(f"SQLite: {type(error).__name__}")


async def _told(call: Awaitable[T]) -> T:
    """Await the driver; its faults become ours, with nothing of the original attached."""
    try:
        return await call
    except sqlite3.Error as error:
        fault = translated(error)
    raise fault


class Reading:
    """A read transaction on one aiosqlite connection."""

    def __init__(self, connection: aiosqlite.Connection, scope: Scope | System) -> None:
        self._connection = connection
        self._scope = scope

    async def rows(self, statement: Statement, /, **values: object) -> list[Row]:
        compiled = statement.on(DIALECT)
        arguments = compiled.arguments(statement.owned(self._scope, values))
        call = self._connection.execute_fetchall(compiled.text, arguments)
        return list(await _told(call))  # type: ignore[arg-type]

    async def row(self, statement: Statement, /, **values: object) -> Row | None:
        found = await self.rows(statement, **values)
        return found[0] if found else None

    async def run(self, statement: Statement, /, **values: object) -> int:
        raise StatementFailed("a read changes nothing; use write")

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        raise StatementFailed("a read changes nothing; use write")

    def audit(
        self, action: str, /, *, ids: Sequence[str] = (), count: int | None = None, detail: str = ""
    ) -> None:
        raise StatementFailed("a read that is audited runs inside write")


class Writing:
    """A job's transaction. Its methods finish at once: the writer thread owns the connection."""

    def __init__(
        self, connection: sqlite3.Connection, scope: Scope | System, lines: Lines | None
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._lines = lines

    async def run(self, statement: Statement, /, **values: object) -> int:
        if statement.returns:
            return len(await self.rows(statement, **values))
        return self._execute(statement, values).rowcount

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        compiled = statement.on(DIALECT)
        owned, scope = statement.owned, self._scope
        arguments = [compiled.arguments(owned(scope, values)) for values in rows]
        try:
            at = 0
            for size, text in compiled.blocks.items():
                while len(arguments) - at >= size:
                    block = arguments[at : at + size]
                    self._connection.execute(text, [value for row in block for value in row])
                    at += size
        except sqlite3.Error as error:
            fault = translated(error)
        else:
            return
        raise fault

    async def rows(self, statement: Statement, /, **values: object) -> list[Row]:
        cursor = self._execute(statement, values)
        try:
            return cursor.fetchall()
        except sqlite3.Error as error:
            fault = translated(error)
        raise fault

    async def row(self, statement: Statement, /, **values: object) -> Row | None:
        found = await self.rows(statement, **values)
        return found[0] if found else None

    def audit(
        self, action: str, /, *, ids: Sequence[str] = (), count: int | None = None, detail: str = ""
    ) -> None:
        if self._lines is not None:
            self._lines.add(action, ids, count, detail)

    def _execute(self, statement: Statement, values: Mapping[str, object]) -> sqlite3.Cursor:
        compiled = statement.on(DIALECT)
        arguments = compiled.arguments(statement.owned(self._scope, values))
        try:
            return self._connection.execute(compiled.text, arguments)
        except sqlite3.Error as error:
            fault = translated(error)
        raise fault


class SqliteSession:
    """The writer's connection, as a group sees it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._marked = False

    async def begin(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self._marked = False

    async def enter(self, scope: Scope | System) -> None:
        if self._marked:
            self.connection.execute("RELEASE job")
        self.connection.execute("SAVEPOINT job")
        self._marked = True

    async def undo(self) -> None:
        self.connection.execute("ROLLBACK TO job")

    async def commit(self) -> None:
        self.connection.execute("COMMIT")

    async def rollback(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def broken(self) -> bool:
        return not self.connection.in_transaction

    def tx(self, scope: Scope | System, lines: Lines | None) -> Tx:
        return Writing(self.connection, scope, lines)


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never has to wait; one that does is told so where it waits."""
    step = work.send
    while True:
        try:
            step(None)
        except StopIteration as done:
            result: T = done.value
            return result
        foreign = ForeignAwait("a job awaits nothing but its transaction")
        step = lambda _: work.throw(foreign)  # noqa: E731, B023


class Writer:
    """The one thread that writes. It takes what waits, commits it together, and pauses."""

    def __init__(self, file: Path, clock: Clock) -> None:
        self.waiting = Waiting()
        self.group = Group(clock)
        self.anchor: audit_chain.Anchor | None = None
        self.anchor_fault = ""
        self._file = file
        self._thread = threading.Thread(target=self._serve, name="sqlite-writer", daemon=True)
        self._opened = threading.Event()
        self._fault: Exception | None = None
        self._unanchored: audit_chain.Head | None = None
        self._anchored_at = 0.0

    def start(self) -> None:
        """Open the connection in its own thread; a refusal is raised here."""
        self._thread.start()
        self._opened.wait()
        if self._fault is not None:
            raise self._fault

    def stop(self) -> None:
        """Finish the waiting writes and end the thread."""
        self.waiting.close()
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
        session = SqliteSession(connection)
        while self._wait():
            self._group(session)
            self._anchor(connection)
            # SQLite's lock is not fair: without a pause, commands beside the server would starve.
            time.sleep(limits.SQLITE_PAUSE_SECONDS)
        self._anchor(connection, now=True)
        connection.close()

    def _wait(self) -> bool:
        """Wait for work; False when there is none left and none will come."""
        waiting = self.waiting
        with waiting.changed:
            while not len(waiting):
                if waiting.closed:
                    return False
                seconds = limits.ANCHOR_SECONDS_MAX if self._unanchored else None
                if not waiting.changed.wait(seconds) and self._unanchored:
                    return True
        return True

    def _group(self, session: SqliteSession) -> None:
        if not len(self.waiting):
            return
        entries: list[Entry] = []
        try:
            # The lock comes first: a write that waits for it can still be withdrawn.
            drive(session.begin())
            entries = self.waiting.take()
            outcomes, head = drive(self.group.write(session, entries))
            self._unanchored = head or self._unanchored
        except Exception as fault:  # noqa: BLE001  (every caller is told)
            with contextlib.suppress(sqlite3.Error):
                drive(session.rollback())
            known = translated(fault) if isinstance(fault, sqlite3.Error) else fault
            outcomes = failed(entries or self.waiting.take(), known)
        tell(outcomes)

    def _anchor(self, connection: sqlite3.Connection, *, now: bool = False) -> None:
        """Remember the head outside the database, at most once a second."""
        head, anchor = self._unanchored, self.anchor
        due = now or time.monotonic() - self._anchored_at >= limits.ANCHOR_SECONDS_MAX
        if head is None or anchor is None or not due:
            return
        self._unanchored, self._anchored_at = None, time.monotonic()
        tx = Writing(connection, System("anchor"), None)
        try:
            with anchor.locked():
                drive(audit_chain.require_anchored(tx, anchor, head))
                anchor.advance(head)
        except audit_chain.AnchorBroken as fault:
            self.anchor_fault = str(fault)
        except (StoreFault, OSError) as fault:
            self.anchor_fault = str(fault)
            self._unanchored = head  # a full disk or a closed directory may pass: tried again
        else:
            self.anchor_fault = ""


def tell(outcomes: Sequence[Outcome]) -> None:
    """Hand the outcomes to their callers, with one wake-up for each loop."""
    loops: dict[asyncio.AbstractEventLoop, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        loops[outcome.entry.loop].append(outcome)
    for loop, some in loops.items():
        with contextlib.suppress(RuntimeError):  # that loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_tell_all, some)


def _tell_all(outcomes: Sequence[Outcome]) -> None:
    for outcome in outcomes:
        outcome.tell()
