"""Connections to a PostgreSQL server, and the errors of its driver."""

from collections.abc import Mapping
from typing import Any

import asyncpg

from clearlane.store.database.group_commit import OperationRefused

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


async def connect(url: str) -> Any:
    """Open a bare connection with the rights of the login, for migrations and notifications. A pooler is refused."""
    connection = await _connect(url, OPTIONS)
    try:
        await require_direct(connection)
    except BaseException:
        await connection.close()
        raise
    return connection


async def connect_pooled(url: str) -> Any:
    """Open a bare connection that may lead through a pooler: each of its statements belongs in a transaction."""
    return await _connect(url, POOLED_OPTIONS)


async def require_direct(connection: Any) -> None:
    """Refuse a connection through a pooler, which announces a process of its own and not the server's.

    Role, settings and LISTEN of a session would reach other clients of the pooler, or be lost.
    """
    # As a simple query, which needs no prepared statement; the tag of the answer counts the rows.
    found = await connection.execute(
        f"SELECT WHERE pg_backend_pid() = {connection.get_server_pid()}"
    )
    if found != "SELECT 1":
        raise OperationRefused(POOLER)


async def _connect(url: str, options: Mapping[str, Any]) -> Any:
    try:
        return await asyncpg.connect(url, **options)
    except ValueError:  # the driver's own complaint may quote the password
        raise OperationRefused(BAD_ADDRESS) from None
    except DRIVER_ERRORS as error:
        reason = connection_fault(error)
    raise OperationRefused(f"PostgreSQL cannot be reached: {reason}.")


def connection_fault(error: BaseException) -> str:
    """Return what the driver says of a failed connection, without its texts."""
    if isinstance(error, asyncpg.PostgresError):
        return f"{type(error).__name__} ({error.sqlstate})"
    return str(getattr(error, "strerror", "") or type(error).__name__)
