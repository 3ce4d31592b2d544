"""A connection to SQLite: its settings, and its errors as ours.

The settings that make a commit durable are checked on every connection, and a database with other settings is
refused. A failed fsync ends the process.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import (
    Mapping,
)
from pathlib import Path
from typing import Any

from clearlane.kernel import limits
from clearlane.store.database.group_commit import (
    ConstraintViolation,
    DatabaseUnavailable,
    DiskFull,
    OperationRefused,
    StatementFault,
    StoreFault,
)
from clearlane.store.database.sql import Row

STANDARD_ERROR = 2
FSYNC_ERRORS = {sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC}

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


def create_private_file(file: Path) -> None:
    """Create an empty database file that only its owner may read; SQLite's side files copy its mode."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


class ClosingCursor(sqlite3.Cursor):
    """A cursor that is closed once its rows are fetched, also when that fails.

    One that failed half way would keep its connection at an old state of the database.
    """

    def fetchall(self) -> list[Row]:
        try:
            return super().fetchall()
        finally:
            self.close()


class CursorClosingConnection(sqlite3.Connection):
    """A connection whose cursors are :class:`ClosingCursor`."""

    def execute(
        self,
        sql: str,
        parameters: Any = (),  # Any: as the driver takes them
        /,
    ) -> sqlite3.Cursor:
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


def require_durable(found: Mapping[str, object]) -> None:
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
    """Return SQLite's extended code of an error; 0 if the driver raised it itself."""
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
