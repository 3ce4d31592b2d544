"""How much durable work waits for its turn, by queue, and for how long. For operators; knows no domain.

Reads the library's table, which it documents, without the library: importing that costs a command a third of a second.
"""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from clearlane.engine.engine_storage import FILE_NAME, SCHEMA
from clearlane.kernel import limits
from clearlane.store.database.database import DatabaseUnavailable

BACKLOG_ROWS_MAX = 500
_QUEUED = """
SELECT queue_name, COUNT(*), MIN(created_at) FROM (
    SELECT queue_name, created_at FROM {table}
    WHERE status IN ('ENQUEUED', 'DELAYED') ORDER BY created_at LIMIT {rows}
) AS waiting GROUP BY queue_name
"""


@dataclass(frozen=True, slots=True)
class EngineBacklog:
    """The work that no node has begun, up to BACKLOG_ROWS_MAX pieces."""

    waiting: Mapping[str, int] = field(default_factory=dict)
    """Pieces of work by queue."""
    oldest_at_millis: int | None = None
    """When the oldest was put on its queue, by the engine's clock."""

    @property
    def total(self) -> int:
        """How many pieces wait; BACKLOG_ROWS_MAX means that number or more."""
        return sum(self.waiting.values())


async def read_backlog(data: Path, url: str) -> EngineBacklog | None:
    """Return the work that waits on the queues, counted up to a page of the oldest; None before a node has started."""
    rows = await (
        _postgresql_rows(url)
        if url.startswith("postgres")
        else asyncio.to_thread(_sqlite_rows, data / FILE_NAME)
    )
    if rows is None:
        return None
    oldest = min((int(at) for _, _, at in rows), default=None)
    return EngineBacklog({str(queue or ""): int(count) for queue, count, _ in rows}, oldest)


def _sqlite_rows(file: Path) -> Sequence[tuple[str, int, int]] | None:
    try:
        with closing(
            sqlite3.connect(
                f"{file.absolute().as_uri()}?mode=ro",
                uri=True,
                timeout=limits.SQLITE_BUSY_SECONDS_MAX,
            )
        ) as connection:
            return connection.execute(_queued("workflow_status")).fetchall()
    except sqlite3.OperationalError:  # no file, or no tables in it
        return None


async def _postgresql_rows(url: str) -> Sequence[tuple[str, int, int]] | None:
    from asyncpg import UndefinedTableError

    from clearlane.store.database.postgresql_connection import (
        DRIVER_ERRORS,
        connect,
        connection_fault,
    )

    # With the rights of the login, as the library has them: the role of our own tables may not read the engine's.
    connection = await connect(url)
    try:
        rows: Sequence[tuple[str, int, int]] = await connection.fetch(
            _queued(f"{SCHEMA}.workflow_status")
        )
    except UndefinedTableError:
        return None
    except DRIVER_ERRORS as error:
        raise DatabaseUnavailable(f"PostgreSQL: {connection_fault(error)}") from None
    else:
        return rows
    finally:
        await connection.close()


def _queued(table: str) -> str:
    return _QUEUED.format(table=table, rows=BACKLOG_ROWS_MAX)
