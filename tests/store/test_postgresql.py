"""PostgreSQL only: row-level security, the server's settings, lost connections.

Also tests `store/database/postgresql_connection`.
"""

import asyncio
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs, urlsplit, urlunsplit

import asyncpg
import pytest
from sqlalchemy import Column, Text, bindparam, select, update

from clearlane.store.database import migrate, schema
from clearlane.store.database.database import (
    Actor,
    CommitOutcomeUnknown,
    DatabaseUnavailable,
    OperationRefused,
    SystemScope,
    VendorScope,
)
from clearlane.store.database.postgresql_connection import connect
from clearlane.store.database.postgresql_session import require_durable
from clearlane.store.database.schema import (
    APP_ROLE,
    client_table,
    enable_row_security,
    id_column,
    metadata,
)
from clearlane.store.database.schema.partitions import PARTITION_KEYS, WHOLE_ROW_BYTES
from clearlane.store.database.sql import CLIENT_TABLES, Statement, scoped_insert, scoped_select
from tests.databases import ADD_VENDOR, make_site
from tests.store.test_database import CLAIM, a_claim

ALL = SystemScope("a test")
OPERATOR = Actor("operator", "nora")
KEYS = Statement(select(schema.vendors.c.vendor_key))


@pytest.fixture
async def place(new_place):
    return await new_place("postgresql")


@pytest.fixture
async def database(place, clock):
    opened = await place.open(clock)
    yield opened
    await opened.close()


@pytest.fixture
async def notes(place):
    """A client table made as a later migration makes one."""
    table = client_table("notes", id_column(), Column("words", Text, nullable=False))
    connection = await place.raw()

    class Op:
        def __init__(self, bind):
            self._bind = bind

        def get_bind(self):
            return self._bind

        def execute(self, statement):
            self._bind.execute(statement)

    def create(bind):
        table.create(bind)
        enable_row_security(Op(bind), "notes")
        bind.commit()

    await migrate._run_on_connection(place.url, place.sqlite_file, create)
    await connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON notes TO {APP_ROLE}")
    yield table
    await connection.close()
    metadata.remove(table)
    del CLIENT_TABLES["notes"]


async def test_a_client_table_has_its_owner_columns_and_refuses_foreign_pairs(notes):
    assert {"vendor_id", "site_id"} <= set(notes.columns.keys())
    assert CLIENT_TABLES["notes"] is notes
    (key,) = [key for key in notes.foreign_key_constraints if len(key.columns) == 2]
    assert [element.target_fullname for element in key.elements] == ["sites.vendor_id", "sites.id"]


async def test_row_level_security_holds_for_raw_sql_of_the_role(place, database, notes):
    add = scoped_insert(notes, "words")
    scopes = [await make_site(database) for _ in range(2)]
    for scope in scopes:
        await database.write(scope, lambda tx: tx.run(add, words="hers"), actor=OPERATOR)
    connection = await place.raw()
    await connection.execute(f"SET ROLE {APP_ROLE}")
    count = "SELECT count(*) FROM notes"
    assert await connection.fetchval(count) == 0  # nothing is set: no row is seen

    allow = (
        "SELECT set_config('clearlane.vendors', $1, true), set_config('clearlane.sites', $2, true)"
    )

    async def seen(vendors, sites="*"):
        async with connection.transaction():
            await connection.execute(allow, vendors, sites)
            return await connection.fetchval(count)

    own, foreign = (scope.vendor for scope in scopes)
    at_own, at_foreign = (str(scope.site) for scope in scopes)
    assert await seen(str(own)) == await seen(str(own), at_own) == 1
    assert await seen(str(own), f"{at_foreign},{at_own}") == 1
    assert await seen(str(own), at_foreign) == await seen(str(own), "") == 0
    assert await seen(f"{own},{foreign}") == 2
    assert await seen(f"{own},{foreign}", at_own) == 1
    assert await seen("*") == 2
    assert await seen("") == 0
    assert await seen(str(own + 1000)) == 0
    assert await connection.fetchval(count) == 0  # and the setting ended with its transaction
    await connection.execute("BEGIN")
    await connection.execute(allow, str(own), at_own)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute(
            "INSERT INTO notes (words, vendor_id, site_id) VALUES ('x', $1, $2)",
            foreign,
            scopes[1].site,
        )
    await connection.execute("ROLLBACK")
    await connection.execute("RESET ROLE")
    await connection.close()


async def test_every_client_table_has_row_level_security(place):
    connection = await place.raw()
    walled = {
        name
        for (name,) in await connection.fetch(
            "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity"
        )
    }
    policies = {name for (name,) in await connection.fetch("SELECT tablename FROM pg_policies")}
    parts = {
        name
        for (name,) in await connection.fetch("SELECT relname FROM pg_class WHERE relispartition")
    }
    parts &= walled  # without their indexes
    assert len(parts) >= 4 * len(PARTITION_KEYS)
    assert walled == policies == set(CLIENT_TABLES) | parts
    await connection.close()


async def test_the_server_stores_sealed_values_as_they_are_and_a_usual_claim_in_one_piece(place):
    server = await place.raw()
    compressed = await server.fetch(
        "SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid "
        "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace "
        "AND atttypid = 'bytea'::regtype AND attstorage <> 'e'"
    )
    options = await server.fetch(
        "SELECT DISTINCT reloptions FROM pg_class JOIN pg_inherits ON oid = inhrelid "
        "WHERE inhparent = 'claims'::regclass"
    )
    await server.close()
    assert compressed == []
    assert options == [([f"toast_tuple_target={WHOLE_ROW_BYTES}"],)]


async def test_row_level_security_stops_a_statement_that_the_check_let_through(database, notes):
    add = scoped_insert(notes, "words")
    everything = Statement(select(notes.c.words), system=True)
    everything.system = False  # as if the check had a hole
    own, foreign = await make_site(database), await make_site(database)
    await database.write(own, lambda tx: tx.run(add, words="own"), actor=OPERATOR)
    await database.write(foreign, lambda tx: tx.run(add, words="foreign"), actor=OPERATOR)
    async with database.read(own) as tx:
        assert await tx.rows(everything) == [("own",)]
    # In one group the jobs of two vendors do not see each other's rows either.
    results = await asyncio.gather(
        *(
            database.write(scope, lambda tx: tx.rows(everything), actor=OPERATOR)
            for scope in (own, foreign, own, foreign)
        )
    )
    assert results == [[("own",)], [("foreign",)], [("own",)], [("foreign",)]]
    async with database.read(ALL) as tx:
        assert len(await tx.rows(everything)) == 2
    # A site does not see another one of the same vendor; a vendor-wide scope sees the sites that it names.
    second = await make_site(database, vendor=own.vendor)
    await database.write(second, lambda tx: tx.run(add, words="second"), actor=OPERATOR)
    for scope, words in (
        (own, ["own"]),
        (second, ["second"]),
        (VendorScope(own.vendor, (own.site, second.site)), ["own", "second"]),
        (VendorScope(own.vendor, (second.site, foreign.site)), ["second"]),
        (VendorScope(own.vendor, ()), []),
    ):
        async with database.read(scope) as tx:
            assert sorted(word for (word,) in await tx.rows(everything)) == words


async def test_row_level_security_holds_for_the_owner_of_the_tables_too(place):
    connection = await place.raw()
    await connection.execute("CREATE ROLE plain_owner LOGIN NOSUPERUSER NOBYPASSRLS")
    try:
        await connection.execute("ALTER TABLE claims OWNER TO plain_owner")
        await connection.execute("SET ROLE plain_owner")
        assert await connection.fetchval("SELECT count(*) FROM claims") == 0
        await connection.execute("RESET ROLE")
    finally:
        await connection.execute("ALTER TABLE claims OWNER TO CURRENT_USER")
        await connection.execute("DROP OWNED BY plain_owner")
        await connection.execute("DROP ROLE plain_owner")
        await connection.close()


async def test_connections_cannot_change_or_remove_an_audit_row(place, database):
    async def job(tx):
        tx.audit("something")

    await database.write(ALL, job, actor=OPERATOR)
    connection = await place.raw()
    for role in (APP_ROLE, None):  # by rights for our role, by trigger for everybody
        if role:
            await connection.execute(f"SET ROLE {role}")
        for statement in ("UPDATE audit SET actor = 'x'", "DELETE FROM audit", "TRUNCATE audit"):
            with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.RaiseError)):
                await connection.execute(statement)
        await connection.execute("RESET ROLE")
    assert await connection.fetchval("SELECT count(*) FROM audit") == 1
    await connection.close()


async def test_a_missing_role_is_created_again_by_an_upgrade(new_place):
    # A dump restored on another server brings tables and no roles; here the rights are taken away.
    place = await new_place("postgresql")
    connection = await place.raw()
    await connection.execute(f"DROP OWNED BY {APP_ROLE}")
    with pytest.raises(Exception):  # noqa: B017
        await place.open()
    await migrate.upgrade(url=place.url, sqlite_file=place.sqlite_file)
    await (await place.open()).close()
    await connection.close()


@pytest.mark.parametrize("name", ["fsync", "synchronous_commit"])
def test_a_server_whose_commits_are_not_durable_is_refused(name):
    sound = {"fsync": "on", "synchronous_commit": "on"}
    require_durable(sound)
    require_durable(sound | {"synchronous_commit": "remote_apply"})
    with pytest.raises(OperationRefused, match=f"{name} is off"):
        require_durable(sound | {name: "off"})


async def test_a_database_set_to_asynchronous_commits_is_refused_at_start(place):
    connection = await place.raw()
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with pytest.raises(OperationRefused, match="synchronous_commit is off"):
        await place.open()
    await connection.close()


async def test_a_server_that_cannot_be_reached_is_refused_without_its_password(place):
    away = replace(place, url="postgresql://user:pass-word@127.0.0.1:1/none")
    with pytest.raises(OperationRefused) as caught:
        await away.open()
    assert "cannot be reached" in str(caught.value)
    assert "pass-word" not in str(caught.value)


@pytest.mark.parametrize(
    "end", ["@127.0.0.1:port/none", "@[::1/none", "@127.0.0.1:1/none?sslmode=bogus"]
)
async def test_an_address_that_cannot_be_read_is_refused_without_its_password(place, end):
    bad = "postgresql://user:pass-word" + end
    for opened in (replace(place, url=bad).open(), connect(bad)):
        with pytest.raises(OperationRefused) as caught:
            await opened
        assert "cannot be read: give one such as postgresql://" in str(caught.value)
        assert "pass-word" not in str(caught.value)


def vendor(key):
    async def job(tx):
        await tx.run(
            ADD_VENDOR, vendor_key=key, name="x", state="active", proxy_login=0,
            rate_per_minute=None, created_at=1,
        )  # fmt: skip

    return job


async def test_a_lost_connection_fails_its_group_and_the_next_write_connects_again(place, database):
    await database.write(ALL, vendor("before"), actor=OPERATOR)

    async def cut_off(tx):
        await vendor("lost")(tx)
        connection = await place.raw()
        mine = await tx._connection.fetchval("SELECT pg_backend_pid()")
        await connection.fetchval("SELECT pg_terminate_backend($1, 5000)", mine)
        await connection.close()
        await vendor("never")(tx)

    with pytest.raises(DatabaseUnavailable):
        await database.write(ALL, cut_off, actor=OPERATOR)
    assert database.write_fault.startswith("PostgreSQL: ")
    await database.write(ALL, vendor("after"), actor=OPERATOR)
    assert database.write_fault == ""
    async with database.read(ALL) as tx:
        assert await tx.rows(KEYS) == [("before",), ("after",)]


async def test_a_connection_lost_during_the_commit_leaves_the_outcome_open(place, tmp_path):
    """Only then the caller cannot know; the write is stored as a whole, or not at all."""
    (directory,) = parse_qs(urlsplit(place.url).query).get("host", [""])
    if not directory:
        pytest.skip("the server is reached over TCP")
    cutting = False

    async def relay(reader, writer, *, watch):
        while data := await reader.read(65536):
            writer.write(data)
            if watch and cutting and b"COMMIT" in data:
                break
        writer.close()

    async def serve(reader, writer):
        there, out = await asyncio.open_unix_connection(f"{directory}/.s.PGSQL.5432")
        forward = asyncio.create_task(relay(reader, out, watch=True))
        backward = asyncio.create_task(relay(there, writer, watch=False))
        await forward
        if cutting:
            backward.cancel()
        writer.close()

    proxy = await asyncio.start_unix_server(serve, tmp_path / ".s.PGSQL.5432")
    cut = replace(place, url=place.url.replace(directory, str(tmp_path)))
    database = await cut.open()
    await database.write(ALL, vendor("before"), actor=OPERATOR)
    cutting = True
    with pytest.raises(CommitOutcomeUnknown):
        await database.write(ALL, vendor("perhaps"), actor=OPERATOR)
    cutting = False
    await database.write(ALL, vendor("after"), actor=OPERATOR)
    async with database.read(ALL) as tx:
        keys = {key for (key,) in await tx.rows(KEYS)}
    assert {"before", "after"} <= keys
    await database.close()
    proxy.close()


async def test_a_login_without_special_rights_can_install_and_bypasses_nothing(place):
    parts = urlsplit(place.url)
    if not parts.netloc.startswith("postgres:@"):
        pytest.skip("the server asks for passwords")
    admin = await place.raw()
    await admin.execute("CREATE ROLE plain_login LOGIN NOSUPERUSER NOCREATEROLE NOBYPASSRLS")
    await admin.execute("CREATE DATABASE plain_database OWNER plain_login")
    url = urlunsplit(parts._replace(netloc="plain_login:@", path="/plain_database"))
    plain = replace(place, url=url)
    try:
        await migrate.upgrade(url=url, sqlite_file=plain.sqlite_file)
        database = await plain.open()
        own, foreign = await make_site(database), await make_site(database)
        for scope, id in ((own, "r1"), (foreign, "r2")):
            row = a_claim(id)
            await database.write(scope, partial(store, row), actor=OPERATOR)
        connection = await plain.raw()
        assert await connection.fetchval("SELECT count(*) FROM claims") == 0
        await connection.close()
        async with database.read(own) as tx:
            assert await tx.rows(
                scoped_select(select(schema.claims.c.claim_number), schema.claims)
            ) == [("r1",)]
        await database.close()
    finally:
        await admin.execute("DROP DATABASE plain_database WITH (FORCE)")
        await admin.execute("DROP ROLE plain_login")
        await admin.close()


async def store(row, tx):
    await tx.run(CLAIM, **row)


async def test_two_deadlocked_writes_are_both_done(database):
    rename = Statement(
        update(schema.vendors)
        .where(schema.vendors.c.vendor_key == bindparam("key"))
        .values(name=schema.vendors.c.name + bindparam("mark"))
    )
    for key in ("a", "b"):
        await database.write(ALL, vendor(key), actor=OPERATOR)
    met, begun = asyncio.Barrier(2), asyncio.Event()

    def crossing(first, second, mark):
        once = []

        async def job(tx):
            await tx.run(rename, key=first, mark=mark)
            if not once:
                once.append(1)
                begun.set()
                await met.wait()
            await tx.run(rename, key=second, mark=mark)

        return job

    one = asyncio.create_task(database.write(ALL, crossing("a", "b", "1"), actor=OPERATOR))
    await begun.wait()  # the first writer is busy, so the second write gets the other one
    await database.write(ALL, crossing("b", "a", "2"), actor=OPERATOR)
    await one
    async with database.read(ALL) as tx:
        names = {name for (name,) in await tx.rows(Statement(select(schema.vendors.c.name)))}
    assert names in ({"x12"}, {"x21"})


async def test_a_statement_on_client_rows_binds_the_scopes_site_as_well(database, notes):
    add = scoped_insert(notes, "words")
    seen = scoped_select(select(notes.c.words), notes)
    scope = await make_site(database)
    await database.write(scope, lambda tx: tx.run(add, words="one"), actor=OPERATOR)
    async with database.read(scope) as tx:
        assert await tx.rows(seen) == [("one",)]
