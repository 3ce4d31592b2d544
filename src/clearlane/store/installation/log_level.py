"""The log level that an operator set for all nodes while they run, and until when.

A change is one transaction: the row, the audit entry and the revision that running nodes watch. Times are the database's.
Knows no log.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BigInteger, Text, bindparam, case, delete, null, select

from clearlane.kernel.clock import from_micros
from clearlane.store.database.database import Actor, Database, SystemScope, Tx
from clearlane.store.database.schema import log_level
from clearlane.store.database.sql import Statement, database_now, insert_into
from clearlane.store.installation.nodes import bump_revision

REVISION = "log_level"
SCOPE = SystemScope("the log level of nodes belongs to the installation")
ONLY_ROW = 1
MICROS_PER_MINUTE = 60 * 1_000_000


@dataclass(frozen=True, slots=True)
class SetLogLevel:
    """The level that all nodes write, in place of their settings."""

    level: str
    until: datetime | None
    """When each node goes back to its own setting; None if it does so on request alone."""
    seconds_left: float | None
    """The same by the database's clock."""


async def load_log_level(database: Database) -> SetLogLevel | None:
    """Return the level in force; None if every node writes what its own setting says."""
    async with database.read(SCOPE) as tx:
        row = await tx.row(_GET)
    if row is None:
        return None
    level, until, micros_left = row
    if until is None:
        return SetLogLevel(level, None, None)
    return SetLogLevel(level, from_micros(until), micros_left / 1_000_000)


async def set_log_level(database: Database, level: str, *, minutes: int, actor: Actor) -> int:
    """Set the level for all nodes, for some minutes or, with 0, until it is changed; return the revision to be loaded."""

    async def job(tx: Tx) -> int:
        await tx.run(_REMOVE)
        await tx.run(_ADD, id=ONLY_ROW, level=level, minutes=minutes)
        detail = f"{level} for {minutes} minutes" if minutes else f"{level} until it is changed"
        tx.audit("log_level.set", detail=detail)
        return await bump_revision(tx, REVISION)

    return await database.write(SCOPE, job, actor=actor)


async def clear_log_level(database: Database, *, actor: Actor) -> int | None:
    """Let every node go back to its own setting; return the revision to be loaded, None if nothing was set."""

    async def job(tx: Tx) -> int | None:
        if await tx.row(_REMOVE) is None:
            return None
        tx.audit("log_level.set", detail="the setting of each node")
        return await bump_revision(tx, REVISION)

    return await database.write(SCOPE, job, actor=actor)


_GET = Statement(
    select(log_level.c.level, log_level.c.until, log_level.c.until - database_now()).where(
        (log_level.c.until.is_(None)) | (log_level.c.until > database_now())
    )
)
_REMOVE = Statement(delete(log_level).returning(log_level.c.level))
_MINUTES = bindparam("minutes", type_=BigInteger)
_ADD = Statement(
    insert_into(log_level, "id").values(
        level=bindparam("level", type_=Text),
        until=case((_MINUTES == 0, null()), else_=database_now() + _MINUTES * MICROS_PER_MINUTE),
    )
)
