"""The databases that released versions left are upgraded and read by this one, for ever.

Tests tools/release/frozen_databases. `make release` makes an archive with a small database of each kind; the release unpacks it into
``tests/released``. Until there is one, the same is tried with a database of this version.
"""

import asyncio
import gzip
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from clearlane.store.database import migrate
from tests.databases import Place
from tools.release import frozen_databases
from tools.release.frozen_databases import ANCHOR, CLAIMS, KEY, POSTGRESQL, SQLITE

ROOT = Path(__file__).resolve().parents[2]
RELEASED = ROOT / "tests" / "released"
VERSIONS = sorted(
    (folder.name for folder in RELEASED.glob("[0-9]*")),
    key=lambda name: [int(part) for part in name.split(".")],
)


async def command(*arguments, **environment):
    def invoke():
        return CliRunner(env=environment).invoke(app, [*arguments])

    done = await asyncio.to_thread(invoke)
    assert done.exit_code == 0, done.output
    return done.stdout


async def read_again(kept: Path, place: Place) -> None:
    """Upgrade what a version left, and compare its claims with what that version said of them."""
    for name in (KEY, ANCHOR):
        shutil.copyfile(kept / name, place.data / name)
        (place.data / name).chmod(0o600)
    given = {"CLEARLANE_DATABASE_URL": place.url}
    at = {"url": place.url, "sqlite_file": place.sqlite_file}
    before = await migrate.schema_status(**at)
    checked = json.loads(
        await command("db", "upgrade", "--check", "--json", "--data", str(place.data), **given)
    )
    assert (checked["schema"], checked["to"]) == (before.revision, migrate.HEAD)
    # What is to be done is said before, and nothing is said if nothing is to be done.
    assert bool(checked["changes"]) == (before.revision != migrate.HEAD)
    await command("db", "upgrade", "--data", str(place.data), **given)
    assert (await migrate.schema_status(**at)).state is migrate.SchemaState.CURRENT
    await command("audit", "verify", "--data", str(place.data), **given)
    expected = {row["claim_number"]: row for row in json.loads((kept / CLAIMS).read_text())}
    listed = await command(
        "claim", "list", "--data", str(place.data), "--json", "--limit", str(10 * len(expected)), **given
    )  # fmt: skip
    found = {row["claim_number"]: row for row in json.loads(listed)}
    assert found.keys() == expected.keys()
    for number, row in expected.items():
        # A later version may say more of a claim; it says nothing else.
        assert {name: found[number][name] for name in row if name in found[number]} == row
    number = next(iter(expected))
    shown = await command("claim", "show", number, "--data", str(place.data), **given)
    assert number in shown  # its sealed content was opened


async def restore(kept: Path, place: Place) -> None:
    if place.kind == "sqlite":
        place.sqlite_file.write_bytes(gzip.decompress((kept / SQLITE).read_bytes()))
        return
    connection = await place.raw()
    await connection.execute("DROP SCHEMA public")  # the dump has its own
    await connection.execute(gzip.decompress((kept / POSTGRESQL).read_bytes()).decode())
    await connection.close()


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_released_database_is_upgraded_and_read(version, new_place, database_kind):
    place = await new_place(database_kind, upgraded=False)
    kept = RELEASED / version / database_kind
    await restore(kept, place)
    await read_again(kept, place)


async def test_what_a_release_keeps_can_be_read_again(new_place, tmp_path):
    made, kept = tmp_path / "made", tmp_path / "kept"
    made.mkdir()
    binaries = Path(sys.executable).parent
    await asyncio.to_thread(frozen_databases.make_sqlite, binaries, made, kept)
    place = await new_place("sqlite", upgraded=False)
    await restore(kept / "sqlite", place)
    await read_again(kept / "sqlite", place)


def test_every_dated_version_of_the_changelog_has_its_databases():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\d+\.\d+\.\d+) \(", changes, re.MULTILINE)[::-1] == VERSIONS
