"""From the first release on, each revision upgrades from each earlier one, and says before what it will do.

Also tests `store/database/pending_changes`, `cli/installation/db`, and tools/freeze_schema. The releases are made up: one
with the schema of this tree, and one after it that adds a column and an index.
"""

import asyncio
import hashlib
import json
import shutil

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from clearlane.store.database import migrate
from clearlane.store.database.database import OperationRefused
from clearlane.store.database.migrate import SchemaState
from clearlane.store.database.pending_changes import Lock, PendingChange, PlannedChange, Work
from tests.store.made_up_releases import (
    FIRST,
    SECOND,
    SECOND_ALONE,
    SECOND_FILE,
    SECOND_MIGRATION,
    release_first,
    release_second,
)
from tools import freeze_schema


def where(place):
    return {"url": place.url, "sqlite_file": place.sqlite_file}


@pytest.fixture(scope="module")
def made(tmp_path_factory, new_place):
    """Make the migrations as of a release, and a database of its schema with a row: once for each kind of database."""
    done = {}

    async def make(kind):
        if kind not in done:
            folder = tmp_path_factory.mktemp("released") / "migrations"
            kept = shutil.ignore_patterns("v0*", "__pycache__")
            shutil.copytree(migrate.MIGRATIONS, folder, ignore=kept)
            await release_first(folder / "versions", await new_place(kind, upgraded=False))
            place = await new_place(kind, upgraded=False)
            with pytest.MonkeyPatch.context() as patch:
                at_first_release(patch, folder)
                await migrate.upgrade(**where(place))
            await migrate._run_on_connection(place.url, place.sqlite_file, add_vendor)
            done[kind] = folder, place
        return done[kind]

    return make


def at_first_release(patch, folder):
    patch.setattr(migrate, "MIGRATIONS", folder)
    patch.setattr(migrate, "HEAD", FIRST)


def add_vendor(connection):
    with connection.begin():
        connection.exec_driver_sql(
            "INSERT INTO vendors (vendor_key, name, state, proxy_login, created_at) "
            "VALUES ('ACME', 'Fernhill', 'active', 0, 0)"
        )


@pytest.fixture
async def released(made, tmp_path, monkeypatch, database_kind):
    """The migrations as of a release, in a folder of their own; each test is at its first revision."""
    folder, _ = await made(database_kind)
    shutil.copytree(folder, tmp_path / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    at_first_release(monkeypatch, tmp_path / "migrations")
    return tmp_path / "migrations" / "versions"


@pytest.fixture
async def first(made, released, new_place, database_kind):
    """A database of the first release, with a row."""
    _, place = await made(database_kind)
    return await new_place(database_kind, like=place)


async def command(*arguments):
    """Run a command in a thread, since it has a loop of its own."""
    return await asyncio.to_thread(CliRunner().invoke, app, [*arguments])


def upgrade_to_second(versions, monkeypatch):
    release_second(versions)
    monkeypatch.setattr(migrate, "HEAD", SECOND)


async def test_the_frozen_statements_make_the_declared_schema(first):
    def difference(connection):
        options = migrate.configuration()
        metadata = options.pop("target_metadata")
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    assert await migrate._run_on_connection(first.url, first.sqlite_file, difference) == []
    assert (await migrate.schema_status(**where(first))).state is SchemaState.CURRENT


async def test_a_plan_says_what_waits_for_each_change_and_changes_nothing(
    released, first, monkeypatch
):
    upgrade_to_second(released, monkeypatch)
    status, planned = await migrate.plan_upgrade(**where(first))
    assert status.state is SchemaState.OLD
    shown = [(one.change.what, one.change.lock, one.rows, one.seconds) for one in planned]
    assert shown == [
        ("adds the column nickname", Lock.ALL, 1, 1),
        ("adds an index by nickname", Lock.WRITES, 1, 1),
    ]
    assert (await migrate.schema_status(**where(first))).state is SchemaState.OLD


async def test_an_upgrade_keeps_the_rows(released, first, monkeypatch):
    upgrade_to_second(released, monkeypatch)
    assert (await migrate.upgrade(**where(first))).state is SchemaState.OLD

    def read(connection):
        return connection.exec_driver_sql("SELECT name, nickname FROM vendors").fetchall()

    assert [*await migrate._run_on_connection(first.url, first.sqlite_file, read)] == [
        ("Fernhill", "")
    ]
    status, planned = await migrate.plan_upgrade(**where(first))
    assert (status.state, planned) == (SchemaState.CURRENT, [])


async def test_a_program_of_the_first_release_goes_on_with_the_schema_of_the_second(
    released, first, monkeypatch
):
    upgrade_to_second(released, monkeypatch)
    await migrate.upgrade(**where(first))
    (released / SECOND_FILE).unlink()  # the first release does not know it
    monkeypatch.setattr(migrate, "HEAD", FIRST)
    status = await migrate.schema_status(**where(first))
    assert (status.state, status.is_usable) == (SchemaState.SUPPORTED, True)
    assert "still works with" in status.sentence
    assert await migrate.upgrade(**where(first)) == status
    await (await first.open()).close()


async def test_a_schema_that_names_no_earlier_program_is_refused(released, first, monkeypatch):
    upgrade_to_second(released, monkeypatch)
    file = released / SECOND_FILE
    file.write_text(SECOND_MIGRATION.replace(SECOND, SECOND_ALONE))
    monkeypatch.setattr(migrate, "HEAD", SECOND_ALONE)
    await migrate.upgrade(**where(first))
    file.unlink()
    monkeypatch.setattr(migrate, "HEAD", FIRST)
    assert (await migrate.schema_status(**where(first))).state is SchemaState.NEWER
    with pytest.raises(OperationRefused, match="Install that version"):
        await first.open()


def test_the_time_of_a_change_grows_with_its_rows():
    def seconds(work, rows):
        return PlannedChange(PendingChange("", "claims", Lock.ALL, work), rows).seconds

    assert seconds(Work.NONE, 10_000_000) == 1
    assert seconds(Work.INDEX, 10_000_000) == 50
    assert seconds(Work.REWRITE, 10_000_000) == 500


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_the_command_shows_the_plan(released, first, monkeypatch):
    upgrade_to_second(released, monkeypatch)
    monkeypatch.setattr("clearlane.store.database.schema.HEAD", SECOND)
    arguments = ["db", "upgrade", "--check", "--data", str(first.data)]
    shown = await command(*arguments)
    assert shown.exit_code == 0
    for words in ("adds an index by nickname", "vendors", "writes", "2 changes.", "may run on"):
        assert words in shown.output
    facts = json.loads((await command(*arguments, "--json")).stdout)
    assert [change["waits"] for change in facts["changes"]] == ["reads and writes", "writes"]
    assert (facts["schema"], facts["to"], facts["old_nodes_may_run"]) == (
        FIRST,
        SECOND,
        True,
    )


@pytest.mark.parametrize("database_kind", ["sqlite"])
async def test_the_command_refuses_to_plan_what_cannot_be(released, first, monkeypatch):
    monkeypatch.setattr(migrate, "HEAD", "r0000")
    for migration in released.glob("r*.py"):
        migration.unlink()
    shown = await command("db", "upgrade", "--check", "--data", str(first.data))
    assert shown.exit_code == 1
    assert "a newer version has been here" in shown.output


def test_every_migration_says_what_it_does_to_a_database_in_use():
    scripts = [script.module for script in migrate._scripts().walk_revisions()]
    assert [module.__doc__ for module in scripts]
    for module in scripts:
        assert module.down_revision is None or module.CHANGES


def test_a_released_migration_never_changes():
    sums = freeze_schema.SUMS.read_text(encoding="utf-8") if freeze_schema.SUMS.exists() else ""
    for line in sums.splitlines():
        expected, name = line.split()
        file = freeze_schema.VERSIONS / name
        assert hashlib.sha256(file.read_bytes()).hexdigest() == expected, name
