"""The door to the database: what a caller may do, and how it is opened.

Knows which database an address means; the two ends live in ``sqlite`` and ``postgresql``.
"""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from clearlane.kernel.clock import Clock, micros
from clearlane.kernel.ids import Scope
from clearlane.store import keys as master
from clearlane.store import migrate
from clearlane.store.audit_chain import Anchor
from clearlane.store.group_commit import (
    Actor,
    Conflict,
    ForeignAwait,
    Job,
    OutcomeUnknown,
    Refused,
    Row,
    StoreFault,
    Together,
    Tx,
    Unavailable,
)
from clearlane.store.keys import InstallationKeys, MasterKeys
from clearlane.store.sql import Statement, System, UnscopedStatement, WrongScope

__all__ = [
    "Actor", "Conflict", "Database", "ForeignAwait", "Job", "OutcomeUnknown", "Refused", "Row",
    "Scope", "Statement", "StoreFault", "System", "Together", "Tx", "Unavailable",
    "UnscopedStatement", "WrongScope", "open_database",
]  # fmt: skip

T = TypeVar("T")


class Database(Protocol):
    """The store of one installation."""

    dialect: str
    """``sqlite`` or ``postgresql``."""

    @property
    def anchor_fault(self) -> str:
        """Why the audit chain could not be anchored the last time; empty when it could."""

    async def revision(self) -> str | None:
        """The schema revision the database holds, None for an empty one."""

    def read(self, scope: Scope | System) -> AbstractAsyncContextManager[Tx]:
        """A short, consistent look at the database."""

    async def write(self, scope: Scope | System, job: Job[T], *, actor: Actor) -> T:
        """Run a job in the next group and return after the durable commit.

        An exception of the job undoes that job alone and is raised here. A job awaits nothing but
        its transaction, and may be run again when two groups wait for each other.
        """

    def chained(self, key: bytes, anchor: Anchor) -> None:
        """Give the writers what they need to chain audit lines. :func:`open_database` does."""

    async def close(self) -> None:
        """Finish what waits and let go of every connection."""


async def open_database(
    *, url: str, sqlite_file: Path, connections: int, keys: MasterKeys, anchor: Path, clock: Clock
) -> Database:
    """Open the database, check that it is durable, of our schema, and that the master key fits.

    What is not so is refused with a sentence (:class:`Refused`).
    """
    database = await _connect(url, sqlite_file, connections, clock)
    try:
        await migrate.require_current(database)
        found = await _installation_keys(database, keys, clock)
        database.chained(found.audit, Anchor(anchor, found.audit))
    except BaseException:
        await database.close()
        raise
    return database


async def _connect(url: str, sqlite_file: Path, connections: int, clock: Clock) -> Database:
    if url.startswith("postgres"):
        from clearlane.store.postgresql import PostgresqlDatabase

        postgresql = PostgresqlDatabase(url, connections, clock)
        await postgresql.open()
        return postgresql
    from clearlane.store.sqlite import SqliteDatabase

    sqlite = SqliteDatabase(sqlite_file, clock)
    await sqlite.open()
    return sqlite


async def _installation_keys(
    database: Database, keys: MasterKeys, clock: Clock
) -> InstallationKeys:
    scope = System("the keys of the installation")
    async with database.read(scope) as tx:
        present = await master.installation(tx, keys)
    if present is not None:
        return present
    now = micros(clock.now())
    return await database.write(
        scope,
        lambda tx: master.ensure_installation(tx, keys, now),
        actor=Actor("node", "first start"),
    )
