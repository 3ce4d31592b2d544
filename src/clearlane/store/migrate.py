"""Move the schema forward, and say where it stands.

Knows alembic, which is imported only when the schema is not current. Each upgrade is one
transaction on either database: it happens as a whole or not at all.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, TypeVar

from clearlane.store.group_commit import Refused
from clearlane.store.schema import APP_ROLE, HEAD, RIGHTS, RIGHTS_ELSE, metadata

T = TypeVar("T")

MIGRATIONS = Path(__file__).parent / "migrations"
# Any number will do as long as every node takes the same one.
LOCK = 0x636C6E6D


class Standing(StrEnum):
    """How the schema of a database compares to the one this code works with."""

    EMPTY = "empty"
    CURRENT = "current"
    OLD = "old"
    NEWER = "newer"


@dataclass(frozen=True, slots=True)
class State:
    """Where a database stands."""

    revision: str | None
    standing: Standing

    @property
    def sentence(self) -> str:
        """The state in words, with what to do."""
        return SENTENCES[self.standing].format(revision=self.revision, head=HEAD)


SENTENCES = {
    Standing.EMPTY: "The database is empty; this version needs schema {head}. Run: clearlane db upgrade",
    Standing.CURRENT: "The schema is current ({head}).",
    Standing.OLD: "The schema is {revision}; this version needs {head}. Run: clearlane db upgrade",
    Standing.NEWER: (
        "The schema is {revision}, which this version does not know (it needs {head}): "
        "a newer version has been here. Install that version."
    ),
}


class Revised(Protocol):
    """Anything that knows the schema revision it holds."""

    async def revision(self) -> str | None: ...


def judge(revision: str | None) -> State:
    """Compare a revision with ours."""
    if revision is None:
        return State(None, Standing.EMPTY)
    if revision == HEAD:
        return State(revision, Standing.CURRENT)
    known = {script.revision for script in _scripts().walk_revisions()}
    return State(revision, Standing.OLD if revision in known else Standing.NEWER)


async def require_current(database: Revised) -> None:
    """Refuse a database whose schema is not the one this code works with."""
    state = judge(await database.revision())
    if state.standing is not Standing.CURRENT:
        raise Refused(state.sentence)


def require_existing(*, url: str, sqlite_file: Path) -> None:
    """Refuse where there is no database yet, before opening one would create it."""
    if not url.startswith("postgres") and not sqlite_file.exists():
        raise Refused(State(None, Standing.EMPTY).sentence)


async def state(*, url: str, sqlite_file: Path) -> State:
    """Where the schema stands. A missing SQLite file is an empty database, and is not created."""
    if not url.startswith("postgres") and not sqlite_file.exists():  # noqa: ASYNC240
        return State(None, Standing.EMPTY)
    revision, _ = await _found(url, sqlite_file)
    return judge(revision)


async def upgrade(*, url: str, sqlite_file: Path) -> State:
    """Move the schema forward to ours; a newer one is refused. Says where it stood before."""
    revision, complete = await _found(url, sqlite_file)
    before = judge(revision)
    if before.standing is Standing.NEWER:
        raise Refused(before.sentence)
    if before.standing is not Standing.CURRENT or not complete:
        await _connected(url, sqlite_file, _forward)
    return before


def _forward(connection: Any) -> None:
    _run(connection)
    if connection.dialect.name == "postgresql":
        with connection.begin():
            _let_role_in(connection)


async def _found(url: str, sqlite_file: Path) -> tuple[str | None, bool]:
    """The revision, and whether our role has its rights, read without SQLAlchemy and alembic.

    Nearly every start finds all as it should be, and these two take a while to import.
    """
    if not url.startswith("postgres"):
        return await asyncio.to_thread(_sqlite_revision, sqlite_file), True
    from clearlane.store.postgresql import connect

    connection = await connect(url)
    try:
        if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
            return None, False
        revision = await connection.fetchval("SELECT version_num FROM alembic_version")
        current = revision == HEAD
        return revision, current and bool(await connection.fetchval(HAS_RIGHTS, [*metadata.tables]))
    finally:
        await connection.close()


def _sqlite_revision(file: Path) -> str | None:
    from clearlane.store.sqlite import connect, create_private

    create_private(file)
    with contextlib.closing(connect(file)) as connection:
        try:
            found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.OperationalError:  # there is no such table yet
            return None
    return str(found[0]) if found else None


def configuration() -> dict[str, Any]:
    """How alembic compares and changes the schema."""
    return {
        "target_metadata": metadata,
        "render_as_batch": True,
        "transactional_ddl": True,
        "compare_type": True,
        "include_name": _ours,
    }


def _ours(name: str | None, kind: str, parents: Any) -> bool:
    """Leave tables alone that are not ours, such as those of the durable engine."""
    return kind != "table" or name in metadata.tables


def _run(connection: Any) -> None:
    from alembic import command

    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _scripts() -> Any:
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(_config())


def _let_role_in(connection: Any) -> None:
    """Make the role our connections take, where the login may, and give it its rights.

    At every upgrade, not in a step: a dump restored on another server brings no roles with it.
    """
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
    connection.exec_driver_sql(MAKE_ROLE)
    for table in ("alembic_version", *metadata.tables):
        rights = RIGHTS.get(table, RIGHTS_ELSE)
        connection.exec_driver_sql(GRANT.format(role=APP_ROLE, table=table, rights=rights))


# True as well where there is no role and the login may not make one.
HAS_RIGHTS = f"""SELECT CASE
    WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = '{APP_ROLE}') THEN
        (SELECT bool_and(has_table_privilege('{APP_ROLE}', name, 'SELECT'))
           FROM unnest($1::text[]) AS name)
    ELSE NOT (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user)
END"""
# A role belongs to the whole server: a node on another of its databases may be making it now.
MAKE_ROLE = f"""DO $$ BEGIN
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


async def _connected(url: str, sqlite_file: Path, work: Callable[[Any], T]) -> T:
    """Run synchronous work on a SQLAlchemy connection of either database, in a thread of its own."""

    def alone() -> T:
        with _ONE_AT_A_TIME:
            if url.startswith("postgres"):
                return asyncio.run(_on_postgresql(url, work))
            return _on_sqlite(sqlite_file, work)

    return await asyncio.to_thread(alone)


# alembic keeps what it works on in module globals.
_ONE_AT_A_TIME = threading.Lock()


async def _on_postgresql(url: str, work: Callable[[Any], T]) -> T:
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    from clearlane.store.postgresql import connect

    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: connect(url), poolclass=NullPool
    )
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


def _on_sqlite(file: Path, work: Callable[[Any], T]) -> T:
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import NullPool

    from clearlane.store.sqlite import connect, create_private

    def opened() -> sqlite3.Connection:
        create_private(file)
        connection = connect(file)
        # A batch step rebuilds a table; its rows must not be deleted with it. Checked at the end.
        connection.execute("PRAGMA foreign_keys = OFF")
        return connection

    engine = create_engine("sqlite://", creator=opened, poolclass=NullPool)
    event.listen(engine, "begin", _begin_immediate)
    event.listen(engine, "commit", _check_foreign_keys)
    with engine.connect() as connection:
        return work(connection)


def _begin_immediate(connection: Any) -> None:
    # sqlite3 would begin too late for DDL; and the lock lets two nodes that start together migrate once.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _check_foreign_keys(connection: Any) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if broken:
        tables = ", ".join(sorted({str(row[0]) for row in broken}))
        raise Refused(f"The upgrade would leave rows without their owner in: {tables}.")
