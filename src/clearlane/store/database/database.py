"""The database of an installation: what a caller may do with it, and how it is opened.

Knows which database an address means; ``sqlite`` and ``postgresql`` implement it.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from clearlane.kernel.clock import Clock, to_micros
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.store.audit.anchor import Anchor
from clearlane.store.database import migrate
from clearlane.store.database.change_signal import ChangeSignal
from clearlane.store.database.group_commit import (
    Actor,
    CombinedJob,
    CommitOutcomeUnknown,
    ConstraintViolation,
    DatabaseUnavailable,
    ForeignAwait,
    Job,
    JobExtension,
    MissingRow,
    OperationRefused,
    StoreFault,
    StoreWaits,
    Tx,
    find_row,
    list_rows,
    require_row,
    unextended,
)
from clearlane.store.database.schema.partitions import PartitionState
from clearlane.store.database.sql import (
    AnyScope,
    Row,
    Statement,
    SystemScope,
    UnscopedStatement,
    WrongScope,
)
from clearlane.store.vault import keys as master
from clearlane.store.vault.keys import InstallationKeys, MasterKeys

__all__ = [
    "Actor",
    "AnyScope",
    "CombinedJob",
    "CommitOutcomeUnknown",
    "ConstraintViolation",
    "Database",
    "DatabaseUnavailable",
    "ForeignAwait",
    "Job",
    "JobExtension",
    "MissingRow",
    "OperationRefused",
    "Row",
    "Scope",
    "Statement",
    "StoreFault",
    "StoreWaits",
    "SystemScope",
    "Tx",
    "UnscopedStatement",
    "VendorScope",
    "WrongScope",
    "find_row",
    "list_rows",
    "open_database",
    "require_row",
    "unextended",
    "write_audit",
]  # fmt: skip

T = TypeVar("T")


class Database(Protocol):
    """The database of one installation."""

    dialect: str
    """``sqlite`` or ``postgresql``."""

    @property
    def anchor(self) -> Anchor | None:
        """The anchor of this data directory; None only before :func:`open_database` returns."""

    @property
    def anchor_fault(self) -> str:
        """Why the audit chain could not be anchored the last time; empty when it could."""

    def clear_anchor_fault(self) -> None:
        """Forget a fault of the anchor, which was saved by other means since."""

    @property
    def write_fault(self) -> str:
        """Why the last commit failed; empty again once one succeeds, and while there is space for all writes."""

    @property
    def reserve_warning(self) -> str:
        """Why there is no reserve of disk space, if this node should have one."""

    @property
    def waits(self) -> StoreWaits:
        """How long this process waits for connections and commits."""

    def keep_reserve(self) -> None:
        """Keep a reserve of disk space for audit rows, if the database is a file of this node."""

    def require_space(self) -> None:
        """Raise :class:`DiskFull` while only the reserve is left: what adds claims or files is refused then."""

    async def revision(self) -> str | None:
        """Return the schema revision of the database, None for an empty one."""

    def read(self, scope: AnyScope) -> AbstractAsyncContextManager[Tx]:
        """Open a short, consistent snapshot."""

    async def write(self, scope: AnyScope, job: Job[T], *, actor: Actor) -> T:
        """Run a job in the next group and return after the durable commit.

        An exception of the job undoes that job alone and is raised here. A job awaits nothing but
        its transaction, and may be run again after a deadlock.
        """

    def change_signal(self) -> ChangeSignal:
        """Return a signal of changed snapshots, for one task that waits for it and closes it."""

    def watch_events(self, changed: Callable[[], None]) -> None:
        """Call a function in the running loop after each commit of this process that added events."""

    def enable_audit(self, key: bytes, anchor: Anchor) -> None:
        """Give the writers the key and anchor of the audit chain. :func:`open_database` does."""

    async def make_partitions(self, now: datetime) -> list[str]:
        """Make the partitions that are missing for the next months, if there are any; return their names."""

    async def partition_state(self) -> PartitionState | None:
        """Return until when there are partitions, and which tables hold rows that none takes; None on SQLite."""

    async def close(self) -> None:
        """Finish the waiting writes and close every connection."""


async def write_audit(
    database: Database, scope: AnyScope, action: str, /, *, actor: Actor,
    ids: Sequence[str] = (), count: int | None = None, detail: str = "",
) -> None:  # fmt: skip
    """Add one entry to the audit trail, for what changes nothing else."""

    async def job(tx: Tx) -> None:
        tx.audit(action, ids=ids, count=count, detail=detail)

    await database.write(scope, job, actor=actor)


async def open_database(
    *,
    url: str,
    sqlite_file: Path,
    connections: int,
    keys: MasterKeys,
    anchor: Path,
    clock: Clock,
    anchor_copy: str = "",
    is_helper: bool = False,
    direct_url: str = "",
) -> Database:
    """Open the database, and check that it is durable, has our schema and fits the master key.

    With a direct address, the first one may lead through a pooler.
    Otherwise it is refused with a sentence (:class:`OperationRefused`). A helper writes much beside a service that answers.
    """
    database = await _connect(
        url, sqlite_file, connections, clock, is_helper=is_helper, direct_url=direct_url
    )
    try:
        await migrate.require_current(database)
        found = await _installation_keys(database, keys, clock)
        database.enable_audit(found.audit, Anchor(anchor, found.audit, anchor_copy))
    except BaseException:
        await database.close()
        raise
    return database


async def _connect(
    url: str,
    sqlite_file: Path,
    connections: int,
    clock: Clock,
    *,
    is_helper: bool,
    direct_url: str,
) -> Database:
    if url.startswith("postgres"):
        from clearlane.store.database.postgresql import PostgresqlDatabase

        postgresql = PostgresqlDatabase(url, connections, clock, direct_url)
        await postgresql.open()
        return postgresql
    from clearlane.store.database.sqlite import SqliteDatabase

    sqlite = SqliteDatabase(sqlite_file, clock, is_helper=is_helper)
    await sqlite.open()
    return sqlite


async def _installation_keys(
    database: Database, keys: MasterKeys, clock: Clock
) -> InstallationKeys:
    scope = SystemScope("the keys of the installation")
    async with database.read(scope) as tx:
        present = await master.load_installation_keys(tx, keys)
    if present is not None:
        return present
    now = to_micros(clock.now())
    return await database.write(
        scope,
        lambda tx: master.ensure_installation_keys(tx, keys, now),
        actor=Actor("node", "first start"),
    )
