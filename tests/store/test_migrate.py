"""The schema is upgraded once, as a whole, and a database of another schema is refused.

Also tests `store/database/schema/console`, `store/database/schema/core`, `store/database/schema/delivery` and `store/database/schema/payment_tables`.
"""

import asyncio
import re
import sqlite3
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from clearlane.store.database import migrate
from clearlane.store.database.database import OperationRefused
from clearlane.store.database.migrate import SchemaState
from clearlane.store.database.schema import HEAD, metadata


async def sql(place, statement):
    """Run one statement with every right there is."""
    if place.kind == "postgresql":
        connection = await place.raw()
        await connection.execute(statement)
        await connection.close()
    else:
        with sqlite3.connect(place.sqlite_file) as connection:
            connection.execute(statement)
        connection.close()


def where(place):
    return {"url": place.url, "sqlite_file": place.sqlite_file}


async def test_models_and_migrations_agree(place):
    def difference(connection):
        options = migrate.configuration()
        del options["target_metadata"]
        context = MigrationContext.configure(connection, opts=options)
        return compare_metadata(context, metadata)

    assert await migrate._run_on_connection(place.url, place.sqlite_file, difference) == []


def test_the_code_names_the_newest_migration():
    assert migrate._scripts().get_current_head() == HEAD


async def test_an_empty_database_is_upgraded_and_a_current_one_left_alone(new_place, database_kind):
    place = await new_place(database_kind, upgraded=False)
    assert (await migrate.schema_status(**where(place))).state is SchemaState.EMPTY
    assert (await migrate.upgrade(**where(place))).state is SchemaState.EMPTY
    assert (await migrate.schema_status(**where(place))).state is SchemaState.CURRENT
    assert (await migrate.upgrade(**where(place))).state is SchemaState.CURRENT


async def test_reading_the_state_does_not_create_a_database(new_place):
    place = await new_place("sqlite", upgraded=False)
    await migrate.schema_status(**where(place))
    assert not place.sqlite_file.exists()


UPGRADE = """
import asyncio, sys
from pathlib import Path
from clearlane.store.database import migrate
print(asyncio.run(migrate.upgrade(url=sys.argv[1], sqlite_file=Path(sys.argv[2]))).state)
"""


async def test_nodes_that_start_together_migrate_once(new_place, database_kind):
    place = await new_place(database_kind, upgraded=False)
    arguments = (sys.executable, "-c", UPGRADE, place.url, str(place.sqlite_file))
    starting = [
        await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
        for _ in range(2)
    ]
    await asyncio.gather(*(migrate.upgrade(**where(place)) for _ in range(2)))
    for process in starting:
        output, _ = await process.communicate()
        assert process.returncode == 0
        assert output.decode().strip() in {"empty", "current"}
    database = await place.open()
    await database.close()


async def test_a_newer_schema_is_refused_with_what_to_do(place):
    await sql(place, "UPDATE alembic_version SET version_num = '9999'")
    assert (await migrate.schema_status(**where(place))).state is SchemaState.NEWER
    with pytest.raises(OperationRefused, match="a newer version has been here"):
        await place.open()


async def test_an_older_schema_is_refused_with_what_to_do(place, monkeypatch):
    monkeypatch.setattr(migrate, "HEAD", "v0002")
    assert (await migrate.schema_status(**where(place))).state is SchemaState.OLD
    with pytest.raises(OperationRefused, match="Run: clearlane db upgrade"):
        await place.open()


@pytest.mark.parametrize("revision", ["0001", "0007", "v0001", "v0001g", "v0002a", "v0003"])
async def test_a_database_of_an_unreleased_version_is_neither_opened_nor_upgraded(place, revision):
    await sql(place, f"UPDATE alembic_version SET version_num = '{revision}'")
    status = await migrate.schema_status(**where(place))
    assert status.state is SchemaState.UNRELEASED
    sentence = (
        "This data directory or database was made by an earlier development version of Clearlane "
        f"(schema {revision}), which cannot be upgraded. With the version that made it, "
        "`clearlane export-undelivered` writes the claims that have not gone out; then start with an empty one."
    )
    assert status.sentence == sentence
    for refused in (place.open(), migrate.upgrade(**where(place))):
        with pytest.raises(OperationRefused, match=re.escape(sentence)):
            await refused
    assert await migrate.schema_status(**where(place)) == status  # nothing was changed


async def test_an_empty_database_is_not_served(new_place, database_kind):
    place = await new_place(database_kind, upgraded=False)
    with pytest.raises(OperationRefused, match="The database is empty"):
        await place.open()


async def test_a_newer_schema_is_not_upgraded(place):
    await sql(place, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(OperationRefused, match="Install that version"):
        await migrate.upgrade(**where(place))


async def test_a_failing_upgrade_leaves_nothing_behind(new_place, database_kind):
    place = await new_place(database_kind, upgraded=False)
    await sql(place, "CREATE TABLE audit_head (x INTEGER)")  # collides with one of ours
    with pytest.raises(Exception):  # noqa: B017
        await migrate.upgrade(**where(place))
    assert (await migrate.schema_status(**where(place))).state is SchemaState.EMPTY
    await sql(place, "DROP TABLE audit_head")
    await migrate.upgrade(**where(place))
    await (await place.open()).close()


async def test_tables_of_others_are_ignored(place):
    await sql(place, "CREATE TABLE somebody_elses (x INTEGER)")
    await test_models_and_migrations_agree(place)
