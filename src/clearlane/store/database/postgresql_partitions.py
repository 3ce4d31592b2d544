"""Make the partitions of PostgreSQL ahead of time, and report whether there are enough of them."""

from collections.abc import Iterable
from datetime import datetime

import asyncpg

from clearlane.store.database.group_commit import OperationRefused
from clearlane.store.database.postgresql_connection import DriverConnection
from clearlane.store.database.schema.core import EVERYTHING, SITES_SETTING, VENDORS_SETTING
from clearlane.store.database.schema.partitions import (
    MONTHS_AHEAD,
    PARTITION_KEYS,
    PartitionState,
    TablePartition,
    default_partition,
    first_of,
    list_quarters,
    next_quarter,
    quarter_of,
    quarter_partition,
)

PARTITION_LOCK = 0x636C7074
"""The key of PostgreSQL's advisory lock: one node makes partitions at a time."""
# Less than a second, after which the server looks for deadlocks and may end the work of others.
WAIT_MILLISECONDS_MAX = 500
NOT_OWNER = (
    "The login of this node may not make partitions: it does not own the tables. "
    "Run `clearlane db upgrade` with the login that does."
)
_EXISTING = """
SELECT parent.relname, part.relname
  FROM pg_inherits
  JOIN pg_class AS parent ON parent.oid = inhparent
  JOIN pg_class AS part ON part.oid = inhrelid
 WHERE parent.relname = ANY ($1::text[]) AND parent.relnamespace = current_schema()::regnamespace
"""
_EXCUSES = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError)


async def make_partitions(
    connection: DriverConnection, now: datetime, *, moves: bool = False
) -> list[str]:
    """Make what is missing for the next months, each partition in a transaction of its own; return their names.

    A partition that would have to wait for other work is left to the next call. So is one whose rows are in the default
    partition already, unless it may move them: that needs a superuser, and holds the table for as long as it takes.
    """
    made: list[str] = []
    missing = _missing(await connection.fetch(_EXISTING, [*PARTITION_KEYS]), now)
    for partition, quarter in missing:
        try:
            async with connection.transaction():
                if await _make(connection, partition, quarter, moves=moves):
                    made.append(partition.name)
        except _EXCUSES:
            continue
        except asyncpg.InsufficientPrivilegeError:
            break
    else:
        # The server keeps statistics of each partition by itself, but none of the whole.
        for table in sorted({partition.table for partition, _ in missing if made}):
            await connection.execute(f"ANALYZE {table}")
        return made
    raise OperationRefused(NOT_OWNER)


async def partition_state(connection: DriverConnection) -> PartitionState | None:
    """Return until when there are partitions, read in a transaction that sees every row. None without partitions."""
    known = _quarters(await connection.fetch(_EXISTING, [*PARTITION_KEYS]))
    ends = {table: next_quarter(max(quarters)) for table, quarters in known.items()}
    if not ends:
        return None
    stray = [
        table
        for table, end in ends.items()
        if await connection.fetchval(
            f"SELECT EXISTS (SELECT FROM {table} WHERE {PARTITION_KEYS[table][0]} >= $1)",
            first_of(table, end),
        )
    ]
    return PartitionState(min(ends.values()), tuple(sorted(stray)))


def _quarters(rows: Iterable[tuple[str, str]]) -> dict[str, set[datetime]]:
    found: dict[str, set[datetime]] = {}
    for table, name in rows:
        if (quarter := quarter_of(name)) is not None:
            found.setdefault(table, set()).add(quarter)
    return found


def _missing(
    rows: Iterable[tuple[str, str]], now: datetime
) -> list[tuple[TablePartition, datetime]]:
    """Return the partitions to make. There is a first one for all that is older than the oldest quarter."""
    known = _quarters(rows)
    return [
        (quarter_partition(table, quarter), quarter)
        for table in PARTITION_KEYS
        for quarter in list_quarters(now, MONTHS_AHEAD)
        if known.get(table) and quarter > min(known[table]) and quarter not in known[table]
    ]


async def _make(
    connection: DriverConnection, partition: TablePartition, quarter: datetime, *, moves: bool
) -> bool:
    """Make one partition; return False if another node does it, or rows are in the way."""
    await connection.execute(
        f"SET LOCAL lock_timeout = '{WAIT_MILLISECONDS_MAX}ms'; "
        f"SELECT set_config('{VENDORS_SETTING}', '{EVERYTHING}', true), "
        f"set_config('{SITES_SETTING}', '{EVERYTHING}', true)"
    )
    if not await connection.fetchval("SELECT pg_try_advisory_xact_lock($1)", PARTITION_LOCK):
        return False
    if await connection.fetchval(f"SELECT to_regclass('{partition.name}') IS NOT NULL"):
        return False
    column, _ = PARTITION_KEYS[partition.table]
    default = default_partition(partition.table).name
    begins, ends = (first_of(partition.table, at) for at in (quarter, next_quarter(quarter)))
    rows = f"FROM {default} WHERE {column} >= '{begins}' AND {column} < '{ends}'"
    has_rows = await connection.fetchval(f"SELECT EXISTS (SELECT {rows})")
    if has_rows and not moves:
        return False
    if has_rows:
        # Other tables refer to these rows, which are back before the transaction ends.
        await connection.execute(
            "SET LOCAL session_replication_role = replica; "
            f"CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT * {rows}; DELETE {rows}"
        )
    for statement in partition.statements:
        await connection.execute(statement)
    if has_rows:
        await connection.execute(f"INSERT INTO {partition.table} SELECT * FROM moved")
    return True
