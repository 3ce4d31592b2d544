"""The storage of the engine: its database URL, its tables, and on SQLite its file and lock.

Knows files and URLs, and no work.
"""

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from clearlane.kernel import limits
from clearlane.store.database.database import OperationRefused

SCHEMA = "dbos"
FILE_NAME, LOCK_NAME = "engine.db", "engine.lock"
# On SQLite one process does all the work: every start has the same executor id, and the lock keeps it single.
EMBEDDED = "embedded"


class EngineRefused(OperationRefused):
    """The engine cannot run here. The text says why and what to do."""


def engine_database_url(data: Path, url: str) -> str:
    """Return the URL of the engine's tables: in our PostgreSQL, with another driver, or in a SQLite file."""
    if url.startswith("postgres"):
        return "postgresql+psycopg://" + url.split("://", 1)[1]
    return f"sqlite:///{(data / FILE_NAME).absolute()}"


def upgrade_engine_tables(url: str) -> None:
    """Create or upgrade the engine's tables. Blocks; call it outside an event loop."""
    from clearlane.engine.dbos_guard import (
        load_dbos,  # the library, for which commands that only look need not wait
    )

    load_dbos().DBOS.migrate(url, schema=SCHEMA)


def lock_data_directory(data: Path) -> int:
    """Lock the data directory for as long as the returned file descriptor is open."""
    descriptor = os.open(data / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise EngineRefused(
            f"Another process uses {data}. With SQLite one process does all the work: "
            "stop that one first, or set CLEARLANE_DATABASE_URL to a PostgreSQL to run several."
        ) from None
    return descriptor


def prepare_sqlite_file(data: Path) -> None:
    """Create the engine's file, if it is missing, readable by this user alone and in WAL mode.

    The library leaves the journal mode as it finds it. A file that is not a database is renamed: what is due follows from
    our own tables, and the engine's can be created again.
    """
    file = data / FILE_NAME
    if not file.exists():
        for suffix in ("-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(file, timeout=limits.SQLITE_BUSY_SECONDS_MAX)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.DatabaseError as fault:
        if fault.sqlite_errorcode not in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
            raise
        from clearlane.kernel.log import get_logger  # commands that look need no log

        file.replace(file.with_name(file.name + ".damaged"))
        get_logger().warning(
            "the engine's file is not a database; it was renamed and created again"
        )
        prepare_sqlite_file(data)
