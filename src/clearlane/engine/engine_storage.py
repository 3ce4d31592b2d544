"""Where the engine lives: its address, its tables, and on SQLite its file and the lock on it.

Knows files and addresses, and no work.
"""

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import structlog

from clearlane.engine.dbos_guard import library
from clearlane.kernel import limits
from clearlane.store.database import Refused

log = structlog.get_logger()

SCHEMA = "dbos"
FILE_NAME, LOCK_NAME = "engine.db", "engine.lock"
# On SQLite one process does all the work: every start is the same executor, and the lock keeps it one.
EMBEDDED = "embedded"


class EngineRefused(Refused):
    """The engine cannot run here. The text says why and what to do."""


def address(data: Path, url: str) -> str:
    """Where the engine's tables are: in our PostgreSQL, by another driver, or in a file of their own."""
    if url.startswith("postgres"):
        return "postgresql+psycopg://" + url.split("://", 1)[1]
    return f"sqlite:///{(data / FILE_NAME).absolute()}"


def upgrade(address: str) -> None:
    """Make the engine's tables, or move them forward. It blocks; call it outside an event loop."""
    library().DBOS.migrate(address, schema=SCHEMA)


def lock(data: Path) -> int:
    """Hold the lock of the data directory for as long as the returned file is open."""
    held = os.open(data / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        raise EngineRefused(
            f"Another process works on {data}. With SQLite one process does all the work: "
            "stop that one first, or set CLEARLANE_DATABASE_URL to a PostgreSQL to run several."
        ) from None
    return held


def prepare(data: Path) -> None:
    """Make the engine's file, if it is missing, so that only we can read it and readers do not block.

    The library leaves the journal as it finds it; the mode set here stays with the file. A file that
    is no database is set aside: our own rows are the truth, and the engine's can be made anew.
    """
    file = data / FILE_NAME
    if not file.exists():
        for rest in ("-wal", "-shm"):
            file.with_name(file.name + rest).unlink(missing_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(file, timeout=limits.SQLITE_BUSY_SECONDS_MAX)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.DatabaseError as fault:
        if fault.sqlite_errorcode not in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
            raise
        file.replace(file.with_name(file.name + ".damaged"))
        log.warning("the engine's file is no database; it was set aside and made anew")
        prepare(data)
