"""The storage commands: their output and exit codes.

Also tests `cli/installation/restore`, `cli/installation/db` and `cli/command/storage_command`.
"""

import contextlib
import csv
import io
import json
import sqlite3
import stat

import pytest
from typer.testing import CliRunner

from clearlane.cli.command.root import app as root_app
from clearlane.cli.installation import audit, backup, db, keys, restore
from clearlane.store.vault.keys import new_master_key, read_key_file

APPS = {"audit": audit, "backup": backup, "db": db, "keys": keys, "restore": restore}


@pytest.fixture(params=("sqlite", "postgresql"))
async def place(request, new_place):
    return await new_place(request.param, upgraded=False)


@pytest.fixture
async def sqlite_place(new_place):
    return await new_place("sqlite", upgraded=False)


def run(place, command, *words, monkeypatch):
    monkeypatch.delenv("CLEARLANE_MASTER_KEY", raising=False)
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", place.url)
    return again(place, command, *words)


def again(place, command, *words):
    return CliRunner().invoke(APPS[command].app, [*words, "--data", str(place.data)])


def test_from_an_empty_directory_to_a_verified_chain(place, monkeypatch):
    def output_of(code, *words):
        result = run(place, *words, monkeypatch=monkeypatch)
        assert result.exit_code == code, result.output
        return result.output

    assert "is empty" in output_of(1, "db", "status")
    assert "is empty" in output_of(1, "audit", "verify")
    assert "There is no master key" in output_of(1, "keys", "show")
    assert "was moved from an empty database" in output_of(0, "db", "upgrade")
    assert "is current" in output_of(0, "db", "status")
    assert "clearlane keys create" in output_of(1, "audit", "verify")
    assert "safe place" in output_of(0, "keys", "create")
    assert "exists already" in output_of(1, "keys", "create")
    (key,) = read_key_file(place.data / "master.key")
    assert key.id in output_of(0, "keys", "show")
    assert "is current" in output_of(0, "db", "upgrade")
    assert "is whole: 0 rows" in output_of(0, "audit", "verify")
    assert "4 keys were re-wrapped" in output_of(0, "keys", "rotate", "--yes")
    shown = output_of(0, "keys", "show")
    assert key.id not in shown
    assert key.text not in shown
    assert "wraps 4 keys" in shown
    said = output_of(0, "audit", "verify")
    assert "is whole: 3 rows" in said
    assert "vouches for rows 1 to 3; 0 rows are younger" in said
    assert "in the last second before a crash may be missing" in said
    assert json.loads(output_of(0, "audit", "verify", "--json"))["rows"] == 3
    assert json.loads(output_of(0, "db", "status", "--json"))["state"] == "current"
    assert [
        each["wraps"] for each in json.loads(output_of(0, "keys", "show", "--json"))["keys"]
    ] == [4]


def test_a_data_directory_of_an_unreleased_version_is_refused(sqlite_place, monkeypatch):
    for words in (("keys", "create"), ("db", "upgrade")):
        assert run(sqlite_place, *words, monkeypatch=monkeypatch).exit_code == 0
    with contextlib.closing(sqlite3.connect(sqlite_place.sqlite_file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0007'")
        connection.commit()
    for words in (("db", "status"), ("db", "upgrade"), ("audit", "verify")):
        result = again(sqlite_place, *words)
        assert result.exit_code == 1
        assert "an earlier development version of Clearlane" in " ".join(result.output.split())


def test_a_broken_chain_ends_with_one_and_names_the_row(sqlite_place, monkeypatch):
    for words in (("keys", "create"), ("db", "upgrade"), ("keys", "rotate", "--yes")):
        assert run(sqlite_place, *words, monkeypatch=monkeypatch).exit_code == 0
    with contextlib.closing(sqlite3.connect(sqlite_place.sqlite_file)) as connection:
        connection.execute("DROP TRIGGER audit_no_update")
        connection.execute("UPDATE audit SET actor = 'operator:other' WHERE seq = 2")
        connection.commit()
    result = again(sqlite_place, "audit", "verify")
    assert result.exit_code == 1
    assert "Row 2 was changed" in result.output
    result = again(sqlite_place, "audit", "verify", "--json")
    assert (result.exit_code, json.loads(result.output)["seq"]) == (1, 2)


def test_an_export_is_complete_readable_and_audited(place, monkeypatch, tmp_path):
    for words in (("keys", "create"), ("db", "upgrade"), ("keys", "rotate", "--yes")):
        assert run(place, *words, monkeypatch=monkeypatch).exit_code == 0
    lines = again(place, "audit", "export").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[-1]["action"] == "audit.exported"
    assert rows[-1]["actor"].startswith("operator:")
    assert rows[0]["at"].endswith("Z")
    file = tmp_path / "out.csv"
    done = again(place, "audit", "export", "--format", "csv", "--output", str(file))
    assert done.exit_code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    table = list(csv.DictReader(io.StringIO(file.read_text())))
    assert [row["hash"] for row in table][: len(rows)] == [row["hash"] for row in rows]
    assert again(place, "audit", "export", "--output", str(file)).exit_code == 1
    early = again(place, "audit", "export", "--from", "1999-01-01", "--to", "1999-12-31")
    assert (early.exit_code, early.stdout) == (0, "")
    wrong = again(place, "audit", "export", "--from", "2024-02-02", "--to", "2024-02-01")
    assert wrong.exit_code == 2
    assert again(place, "audit", "export", "--from", "yesterday").exit_code == 2
    assert again(place, "audit", "export", "--format", "xml").exit_code == 2


def test_backup_and_restore_by_command(sqlite_place, monkeypatch, tmp_path):
    for words in (("keys", "create"), ("db", "upgrade")):
        assert run(sqlite_place, *words, monkeypatch=monkeypatch).exit_code == 0
    file = tmp_path / "a.backup"
    made = again(sqlite_place, "backup", "write", str(file))
    assert made.exit_code == 0, made.output
    assert "The master key is not in it" in made.output
    done = again(sqlite_place, "restore", str(file), "--yes")
    assert done.exit_code == 0, done.output
    assert "before-restore" in done.output
    checked = json.loads(again(sqlite_place, "restore", str(file), "--dry-run", "--json").output)
    assert (checked["dry_run"], checked["previous"]) == (True, None)
    assert "Give --yes" in again(sqlite_place, "restore", str(file)).output
    twice = json.loads(again(sqlite_place, "restore", str(file), "--yes", "--json").output)
    kept = sorted(each.name for each in sqlite_place.data.glob("*.before-restore-*"))
    assert (
        len(kept) == 2
    )  # the second restore kept what the first one brought, and the first its own
    assert twice["previous"].endswith(tuple(kept))
    assert again(sqlite_place, "audit", "verify").exit_code == 0
    tried = again(sqlite_place, "backup", "verify", str(file))
    assert (tried.exit_code, "The audit chain is whole" in tried.output) == (0, True), tried.output
    facts = json.loads(again(sqlite_place, "backup", "verify", "--restored", "--json").output)
    assert (facts["good"], facts["faults"], facts["rows"]["claims"]) == (True, [], 0)
    for words in ((), (str(file), "--restored")):
        assert again(sqlite_place, "backup", "verify", *words).exit_code == 2
    root = [str(file.with_name("b.backup")), "--data", str(sqlite_place.data)]
    assert CliRunner().invoke(root_app, ["backup", *root]).exit_code == 0
    assert CliRunner().invoke(root_app, ["backup", "verify", *root]).exit_code == 0
    refused = again(sqlite_place, "backup", "verify", str(tmp_path / "no"))
    assert (refused.exit_code, "cannot be read" in refused.output) == (1, True)
    refused = again(sqlite_place, "restore", str(tmp_path / "no"), "--yes")
    assert (refused.exit_code, "cannot be read" in refused.output) == (1, True)


def test_on_postgresql_backup_and_restore_point_to_its_own_tools(monkeypatch, tmp_path):
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", "postgresql://nowhere/none")
    for command in (("backup", "write"), ("restore",)):
        words = [*command[1:], str(tmp_path / "x"), "--data", str(tmp_path)]
        result = CliRunner().invoke(APPS[command[0]].app, words)
        assert result.exit_code == 1
        assert "pg_dump" in result.output


def test_a_key_of_the_environment_is_used_and_never_written(sqlite_place, monkeypatch):
    new, old = new_master_key(), new_master_key()
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", "")
    monkeypatch.setenv("CLEARLANE_MASTER_KEY", old.text)
    assert again(sqlite_place, "db", "upgrade").exit_code == 0
    assert "CLEARLANE_MASTER_KEY" in again(sqlite_place, "keys", "show").output
    assert again(sqlite_place, "keys", "create").exit_code == 1
    alone = again(sqlite_place, "keys", "rotate", "--yes")
    assert (alone.exit_code, "NEW,OLD" in alone.output) == (1, True)
    monkeypatch.setenv("CLEARLANE_MASTER_KEY", f"{new.text},{old.text}")
    done = again(sqlite_place, "keys", "rotate", "--yes")
    assert done.exit_code == 0, done.output
    assert old.id in done.output
    monkeypatch.setenv("CLEARLANE_MASTER_KEY", new.text)
    assert again(sqlite_place, "audit", "verify").exit_code == 0
    monkeypatch.setenv("CLEARLANE_MASTER_KEY", old.text)
    assert again(sqlite_place, "audit", "verify").exit_code == 1
    assert not (sqlite_place.data / "master.key").exists()


def test_a_bad_setting_ends_with_two_and_its_name(sqlite_place, monkeypatch):
    monkeypatch.setenv("CLEARLANE_PORT", "high")
    result = again(sqlite_place, "db", "status")
    assert result.exit_code == 2
    assert "CLEARLANE_PORT" in result.output
