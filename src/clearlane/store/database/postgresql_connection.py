"""Connections to a PostgreSQL server, and the errors of its driver."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import asyncpg

from clearlane.store.database.group_commit import OperationRefused
from clearlane.store.database.sql import Row

DATABASE_CONNECT_SECONDS_MAX = 10
BAD_ADDRESS = (
    "The address of the database cannot be read: give one such as "
    "postgresql://user@host:5432/name, with parameters that PostgreSQL knows."
)
POOLER = (
    "This address leads to a pooler such as pgbouncer, not to PostgreSQL itself. Set CLEARLANE_DATABASE_DIRECT_URL to the "
    "address of the server itself; CLEARLANE_DATABASE_URL may then be the pooler's."
)
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
OPTIONS = {
    "statement_cache_size": 512,
    "timeout": DATABASE_CONNECT_SECONDS_MAX,
    "server_settings": {"application_name": "clearlane"},
}


# A pooler gives each transaction another connection of the server, which does not know statements prepared before.
POOLED_OPTIONS = OPTIONS | {"statement_cache_size": 0}


class DriverConnection(Protocol):
    """What is used of a connection of asyncpg, which brings no types."""

    async def execute(self, query: str, *arguments: object) -> str:
        """Execute, and return the tag of the server's answer."""

    async def executemany(self, query: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute once for each row of values."""

    async def fetch(self, query: str, *arguments: object) -> list[Row]:
        """Execute, and return every row."""

    async def fetchrow(self, query: str, *arguments: object) -> Row | None:
        """Execute, and return the first row."""

    async def fetchval(self, query: str, *arguments: object) -> Any:  # Any: a column
        """Execute, and return the first column of the first row."""

    def transaction(self) -> AbstractAsyncContextManager[object]:
        """Begin a transaction, which the end of the block commits."""

    async def add_listener(self, channel: str, callback: Callable[..., object]) -> None:
        """Listen to a channel."""

    def add_termination_listener(self, callback: Callable[..., object]) -> None:
        """Call back when the connection ends."""

    def get_server_pid(self) -> int:
        """Return the number of the server's process."""

    def is_in_transaction(self) -> bool:
        """Return whether a transaction is open."""

    def is_closed(self) -> bool:
        """Return whether the connection has ended."""

    async def close(self, *, timeout: float | None = None) -> None:
        """End the connection."""


async def connect(url: str) -> DriverConnection:
    """Open a bare connection with the rights of the login, for migrations and notifications. A pooler is refused."""
    connection = await _connect(url, OPTIONS)
    try:
        await require_direct(connection)
    except BaseException:
        await connection.close()
        raise
    return connection


async def connect_pooled(url: str) -> DriverConnection:
    """Open a bare connection that may lead through a pooler: each of its statements belongs in a transaction."""
    return await _connect(url, POOLED_OPTIONS)


async def require_direct(connection: DriverConnection) -> None:
    """Refuse a connection through a pooler, which announces a process of its own and not the server's.

    Role, settings and LISTEN of a session would reach other clients of the pooler, or be lost.
    """
    # As a simple query, which needs no prepared statement; the tag of the answer counts the rows.
    found = await connection.execute(
        f"SELECT WHERE pg_backend_pid() = {connection.get_server_pid()}"
    )
    if found != "SELECT 1":
        raise OperationRefused(POOLER)


async def _connect(url: str, options: Mapping[str, object]) -> DriverConnection:
    try:
        connection: DriverConnection = await asyncpg.connect(url, **options)
    except ValueError:  # the driver's own complaint may quote the password
        raise OperationRefused(BAD_ADDRESS) from None
    except DRIVER_ERRORS as error:
        reason = connection_fault(error)
    else:
        return connection
    raise OperationRefused(f"PostgreSQL cannot be reached: {reason}.")


def connection_fault(error: BaseException) -> str:
    """Return what the driver says of a failed connection, without its texts."""
    if isinstance(error, asyncpg.PostgresError):
        return f"{type(error).__name__} ({error.sqlstate})"
    return str(getattr(error, "strerror", "") or type(error).__name__)
