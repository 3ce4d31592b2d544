"""Upgrade the schema, and report its state.

Knows alembic, which is imported only when the schema is not current. Each upgrade is one
transaction on either database: it happens as a whole or not at all. ``schema_revision`` says what a revision's name means.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlalchemy import Connection, ForeignKeyConstraint
from sqlalchemy.schema import SchemaItem

from clearlane.kernel.clock import SystemClock
from clearlane.kernel.without_modules import without_modules
from clearlane.store.database import schema
from clearlane.store.database.group_commit import OperationRefused
from clearlane.store.database.pending_changes import (
    PendingChange,
    PlannedChange,
    changes_of,
    rows_of,
)
from clearlane.store.database.schema import APP_ROLE, DEFAULT_RIGHTS, HEAD, RIGHTS
from clearlane.store.database.schema_revision import is_supported, is_unreleased

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

T = TypeVar("T")

MIGRATIONS = Path(__file__).parent / "migrations"
# The key of PostgreSQL's advisory lock: any number, as long as every node takes the same one.
MIGRATION_LOCK = 0x636C6E6D


class SchemaState(StrEnum):
    """How the schema of a database compares to the one of this version."""

    EMPTY = "empty"
    CURRENT = "current"
    OLD = "old"
    SUPPORTED = "supported"
    NEWER = "newer"
    UNRELEASED = "unreleased"


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """The schema revision of a database, and how it compares to ours."""

    revision: str | None
    state: SchemaState

    @property
    def is_usable(self) -> bool:
        """Whether this version works with the database as it is."""
        return self.state in {SchemaState.CURRENT, SchemaState.SUPPORTED}

    @property
    def sentence(self) -> str:
        """The state in a sentence, with what to do."""
        return SENTENCES[self.state].format(revision=self.revision, head=HEAD)


SENTENCES = {
    SchemaState.EMPTY: "The database is empty; this version needs schema {head}. Run: clearlane db upgrade",
    SchemaState.CURRENT: "The schema is current ({head}).",
    SchemaState.OLD: "The schema is {revision}; this version needs {head}. Run: clearlane db upgrade",
    SchemaState.SUPPORTED: (
        "The schema is {revision}, one of a newer version that this one ({head}) still works with. "
        "Install the newer version here too."
    ),
    SchemaState.NEWER: (
        "The schema is {revision}, which this version does not know (it needs {head}): "
        "a newer version has been here. Install that version."
    ),
    SchemaState.UNRELEASED: (
        "This data directory or database was made by an earlier development version of Clearlane "
        "(schema {revision}), which cannot be upgraded. With the version that made it, `clearlane export-undelivered` "
        "writes the claims that have not gone out; then start with an empty one."
    ),
}


class SchemaHolder(Protocol):
    """An open database that can report its schema revision."""

    async def revision(self) -> str | None: ...


def compare_revision(revision: str | None) -> SchemaStatus:
    """Compare a revision with the one of this version."""
    if revision is None:
        return SchemaStatus(None, SchemaState.EMPTY)
    if revision == HEAD:
        return SchemaStatus(revision, SchemaState.CURRENT)
    if revision in {script.revision for script in _scripts().walk_revisions()}:
        return SchemaStatus(revision, SchemaState.OLD)
    if is_unreleased(revision):
        return SchemaStatus(revision, SchemaState.UNRELEASED)
    supported = is_supported(revision, head=HEAD)
    return SchemaStatus(revision, SchemaState.SUPPORTED if supported else SchemaState.NEWER)


def pending_changes(revision: str | None) -> list[PendingChange]:
    """Return what an upgrade from a revision would do, oldest first. Nothing is done to an empty database but to fill it."""
    if revision is None:
        return []
    scripts = [script.module for script in _scripts().iterate_revisions("head", revision)]
    return [change for module in reversed(scripts) for change in changes_of(module)]


async def require_current(database: SchemaHolder) -> None:
    """Refuse a database whose schema is not the one of this version."""
    state = compare_revision(await database.revision())
    if not state.is_usable:
        raise OperationRefused(state.sentence)


def require_existing(*, url: str, sqlite_file: Path) -> None:
    """Refuse a missing database, before opening it would create one."""
    if not url.startswith("postgres") and not sqlite_file.exists():
        raise OperationRefused(SchemaStatus(None, SchemaState.EMPTY).sentence)


async def schema_status(*, url: str, sqlite_file: Path) -> SchemaStatus:
    """Return the state of the schema. A missing SQLite file is an empty database, and is not created."""
    if not url.startswith("postgres") and not sqlite_file.exists():  # noqa: ASYNC240
        return SchemaStatus(None, SchemaState.EMPTY)
    revision, _ = await _read_revision(url, sqlite_file)
    return compare_revision(revision)


async def plan_upgrade(*, url: str, sqlite_file: Path) -> tuple[SchemaStatus, list[PlannedChange]]:
    """Return the state of the schema, and what an upgrade would do, with the rows it concerns. Changes nothing."""
    status = await schema_status(url=url, sqlite_file=sqlite_file)
    if status.state is not SchemaState.OLD:
        return status, []
    changes = pending_changes(status.revision)

    def planned(connection: Connection) -> list[PlannedChange]:
        return [PlannedChange(change, rows_of(connection, change.table)) for change in changes]

    return status, await _run_on_connection(url, sqlite_file, planned)


async def upgrade(*, url: str, sqlite_file: Path) -> SchemaStatus:
    """Upgrade the schema to ours, and return its state before.

    A newer schema and one of an unreleased version are refused; one that this version still works with stays as it is. On
    PostgreSQL, make missing partitions of a current one.
    """
    revision, complete = await _read_revision(url, sqlite_file)
    before = compare_revision(revision)
    if before.state in {SchemaState.NEWER, SchemaState.UNRELEASED}:
        raise OperationRefused(before.sentence)
    if not before.is_usable or (before.state is SchemaState.CURRENT and not complete):
        await _run_on_connection(url, sqlite_file, _upgrade_connection)
    elif url.startswith("postgres"):
        await _make_partitions(url)
    return before


async def _make_partitions(url: str) -> None:
    """Make the partitions that a long pause left missing, and move rows there that none took."""
    from clearlane.store.database.postgresql_connection import connect
    from clearlane.store.database.postgresql_partitions import make_partitions

    connection = await connect(url)
    try:
        await make_partitions(connection, SystemClock().now(), moves=True)
    finally:
        await connection.close()


def _upgrade_connection(connection: Connection) -> None:
    _run(connection)
    if connection.dialect.name == "postgresql":
        with connection.begin():
            _grant_role(connection)


async def _read_revision(url: str, sqlite_file: Path) -> tuple[str | None, bool]:
    """Return the revision, and whether the role has its rights, without SQLAlchemy and alembic.

    Nearly every start finds the schema current, and these two take a while to import.
    """
    if not url.startswith("postgres"):
        return await asyncio.to_thread(_sqlite_revision, sqlite_file), True
    from clearlane.store.database.postgresql_connection import connect

    connection = await connect(url)
    try:
        if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
            return None, False
        revision = await connection.fetchval("SELECT version_num FROM alembic_version")
        current = revision == HEAD
        return revision, current and bool(
            await connection.fetchval(HAS_RIGHTS, [*schema.metadata.tables])
        )
    finally:
        await connection.close()


def _sqlite_revision(file: Path) -> str | None:
    from clearlane.store.database.sqlite_connection import connect, create_private_file

    create_private_file(file)
    with contextlib.closing(connect(file)) as connection:
        try:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.OperationalError:  # there is no such table yet
            return None
    return str(found[0]) if found else None


def configuration() -> dict[str, Any]:  # Any: the options of alembic
    """Return the options with which alembic compares and changes the schema."""
    return {
        "target_metadata": schema.metadata,
        "render_as_batch": True,
        "transactional_ddl": True,
        "compare_type": True,
        "include_name": _is_clearlane_table,
        "include_object": _is_of_whole_table,
    }


def _is_clearlane_table(name: str | None, kind: str, parents: object) -> bool:
    """Exclude tables of others, such as those of the workflow engine."""
    return kind != "table" or name in schema.metadata.tables


def _is_of_whole_table(item: SchemaItem, name: str | None, kind: str, *_: object) -> bool:
    """Exclude what PostgreSQL adds to a reference to a partitioned table: one to each partition."""
    if not isinstance(item, ForeignKeyConstraint):
        return True
    return all(key.target_fullname.split(".")[0] in schema.metadata.tables for key in item.elements)


def _run(connection: Connection) -> None:
    config = _config()
    from alembic import command

    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> "Config":
    with without_modules("pygments"):  # for error pages of alembic's templates
        from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _scripts() -> "ScriptDirectory":
    config = _config()
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(config)


def _grant_role(connection: Connection) -> None:
    """Create the role that connections take, if the login may, and grant its rights.

    At every upgrade, not in a migration: a dump restored on another server has no roles.
    """
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
    connection.exec_driver_sql(CREATE_ROLE)
    for table in ("alembic_version", *schema.metadata.tables):
        rights = RIGHTS.get(table, DEFAULT_RIGHTS)
        connection.exec_driver_sql(GRANT.format(role=APP_ROLE, table=table, rights=rights))


# Also true if there is no role and the login may not create one.
HAS_RIGHTS = f"""SELECT CASE
    WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = '{APP_ROLE}') THEN
        (SELECT bool_and(has_table_privilege('{APP_ROLE}', name, 'SELECT'))
           FROM unnest($1::text[]) AS name)
    ELSE NOT (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user)
END"""
# A role belongs to the whole server: a node on another of its databases may be creating it now.
CREATE_ROLE = f"""DO $$ BEGIN
    IF (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user)
       AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{APP_ROLE}') THEN
        CREATE ROLE {APP_ROLE} NOLOGIN NOSUPERUSER NOBYPASSRLS;
        EXECUTE 'GRANT {APP_ROLE} TO ' || quote_ident(current_user);
    END IF;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{APP_ROLE}')
       AND NOT has_schema_privilege('{APP_ROLE}', current_schema(), 'USAGE') THEN
        EXECUTE 'GRANT USAGE ON SCHEMA ' || quote_ident(current_schema()) || ' TO {APP_ROLE}';
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$"""
GRANT = """DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}')
       AND NOT has_table_privilege('{role}', '{table}', 'SELECT') THEN
        GRANT {rights} ON "{table}" TO {role};
    END IF;
END $$"""


async def _run_on_connection(url: str, sqlite_file: Path, work: Callable[[Connection], T]) -> T:
    """Run synchronous work on a SQLAlchemy connection to either database, in a thread of its own."""

    def alone() -> T:
        with _ONE_AT_A_TIME:
            if url.startswith("postgres"):
                return asyncio.run(_on_postgresql(url, work))
            return _on_sqlite(sqlite_file, work)

    return await asyncio.to_thread(alone)


# alembic keeps its state in module globals.
_ONE_AT_A_TIME = threading.Lock()


async def _on_postgresql(url: str, work: Callable[[Connection], T]) -> T:
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    from clearlane.store.database.postgresql_connection import connect

    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: connect(url), poolclass=NullPool
    )
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


def _on_sqlite(file: Path, work: Callable[[Connection], T]) -> T:
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import NullPool

    from clearlane.store.database.sqlite_connection import connect, create_private_file

    def opened() -> sqlite3.Connection:
        create_private_file(file)
        connection = connect(file)
        # alembic rebuilds a table to change it; rows that refer to it must not be deleted. Checked at the end.
        connection.execute("PRAGMA foreign_keys = OFF")
        return connection

    engine = create_engine("sqlite://", creator=opened, poolclass=NullPool)
    event.listen(engine, "begin", _begin_immediate)
    event.listen(engine, "commit", _check_foreign_keys)
    with engine.connect() as connection:
        return work(connection)


def _begin_immediate(connection: Connection) -> None:
    # sqlite3 would begin too late for DDL; and the lock makes two nodes that start together migrate once.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _check_foreign_keys(connection: Connection) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if broken:
        tables = ", ".join(sorted({str(row[0]) for row in broken}))
        raise OperationRefused(f"The upgrade would leave rows without their owner in: {tables}.")
