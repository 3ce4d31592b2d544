"""Connections to a PostgreSQL server, and the errors of its driver."""

from typing import Any

import asyncpg

from clearlane.store.database.group_commit import OperationRefused

DATABASE_CONNECT_SECONDS_MAX = 10
BAD_ADDRESS = (
    "The address of the database cannot be read: give one such as "
    "postgresql://user@host:5432/name, with parameters that PostgreSQL knows."
)
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
OPTIONS = {
    "statement_cache_size": 512,
    "timeout": DATABASE_CONNECT_SECONDS_MAX,
    "server_settings": {"application_name": "clearlane"},
}


async def connect(url: str) -> Any:
    """Open a bare connection with the rights of the login, for migrations."""
    try:
        return await asyncpg.connect(url, **OPTIONS)
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
