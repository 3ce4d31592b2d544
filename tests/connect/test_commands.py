"""`clearlane route`, as an operator types it, and what the audit trail says of it.

Also tests `cli/installation/audit`, `cli/payer/hop`, `cli/payer/route`, `cli/payer/route_edit`, `cli/payer/route_input` and `connect/connection_check`.
"""

import json

import pytest
from typer.testing import CliRunner

from clearlane.cli.installation import audit
from clearlane.cli.payer import hop, payer, route, route_edit
from tests.connect import sftp_server
from tests.connect.invented import interchange

pytestmark = pytest.mark.one_database

SFTP = (
    "route add MDW10 --type medical --kind sftp --option sender_id=CLEARLANE --option receiver_id=MEADOW "
    "--option host=127.0.0.1 --option username=clearlane --option inbox=/out --option outbox=/in "
    f"--option host_key={sftp_server.HOST_KEY.get_fingerprint()} --option seconds_max=5"
)


@pytest.fixture
def folder(place):
    return place.data


@pytest.fixture
def clearlane(place, monkeypatch):
    """Run a command in this installation, in a folder of its own: ``clearlane("route list")``."""
    monkeypatch.setenv("CLEARLANE_DATA", str(place.data))
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", place.url)
    monkeypatch.chdir(place.data)

    def run(line, *, code=0, stdin=None, app=route.app, files=None):
        for name, text in (files or {}).items():
            (place.data / name).write_text(text)
        result = CliRunner().invoke(app, line.split()[1:], input=stdin)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


def add_folder(clearlane, folder, **more):
    for name in ("in", "out"):
        (folder / name).mkdir(exist_ok=True)
    return clearlane(
        "route add MDW10 --type medical --kind folder --option sender_id=CLEARLANE --option receiver_id=MEADOW "
        f"--option inbox={folder}/in --option outbox={folder}/out --json",
        **more,
    )


def shown(result):
    return json.loads(result.stdout)


def test_the_audit_trail_is_searched_by_day_action_and_id(clearlane, folder):
    add_folder(clearlane, folder)
    add_folder(clearlane, folder, code=1)  # its position is taken
    found = shown(clearlane("audit search --changes --action route --json", app=audit.app))
    assert [(one["action"], one["what"], one["ids"]) for one in found] == [
        ("route.add", "A route was added", ["1"])
    ]
    assert found[0]["actor"].startswith("operator:")
    # The search is in the trail too, and no change.
    [search] = shown(clearlane("audit search --action audit.search --json", app=audit.app))
    assert search["detail"] == "changes True, action route"
    assert "A route was added" in clearlane("audit search --id 1 --limit 1", app=audit.app).output
    assert "--before" in clearlane("audit search --limit 1", app=audit.app).output
    assert not shown(clearlane("audit search --to 1999-12-31 --json", app=audit.app))
    refused = clearlane("audit search --from soon --to later", app=audit.app, code=2).output
    assert "--from: A day such as 2026-01-31 is expected." in refused
    assert "--to: A day" in refused


def test_a_route_is_added_listed_tried_disabled_and_enabled(clearlane, folder):
    added = shown(add_folder(clearlane, folder))
    id = added["id"]
    assert (added["payer_id"], added["kind"], added["active"]) == ("MDW10", "folder", True)
    (folder / "in" / "one.835").write_bytes(interchange())
    assert "1 files to collect" in clearlane(f"route test {id}").stdout
    assert not list((folder / "out").iterdir())
    assert "Route" in clearlane(f"route disable {id}").stdout
    assert [row["active"] for row in shown(clearlane("route list --json"))] == [False]
    assert "No change was needed." in clearlane(f"route disable {id}").stdout
    clearlane(f"route enable {id}")
    assert "MDW10" in clearlane("route list").stdout


def test_a_failed_connection_test_names_the_step_and_exits_with_1(clearlane, folder):
    id = shown(add_folder(clearlane, folder))["id"]
    (folder / "out").rmdir()
    output = clearlane(f"route test {id}", code=1).stdout
    assert "FAILED  outbox" in output
    (check,) = shown(clearlane(f"route test {id} --json", code=1))
    assert (check["what"], check["passed"]) == ("outbox", False)


def test_every_fault_is_reported_at_once(clearlane):
    output = clearlane(
        "route add MDW10 --type medical --kind sftp --option port=x --option password=hush-hush",
        code=2,
    ).stderr
    for name in (
        "port:",
        "password:",
        "sender_id:",
        "host:",
        "host_key:",
        "password or private_key:",
    ):
        assert name in output
    assert "hush-hush" not in output


def test_what_is_not_there_is_named(clearlane):
    assert (
        "There is no dental payer MDW10"
        in clearlane("route add MDW10 --type dental --kind folder", code=1).stderr
    )
    assert "There is no route 7" in clearlane("route test 7", code=1).stderr
    assert "There is no route 7" in clearlane("route disable 7", code=1).stderr
    clearlane("route add MDW10 --type medical --kind pigeon", code=2)
    assert (
        "give NAME=VALUE"
        in clearlane("route add MDW10 --type medical --kind folder --option x", code=2).stderr
    )
    assert (
        "cannot be read"
        in clearlane(
            "route add MDW10 --type medical --kind sftp --secret-file password=nowhere", code=2
        ).stderr
    )
    assert (
        "There is no secret pin"
        in clearlane("route add MDW10 --type medical --kind sftp --secret pin", code=2).stderr
    )


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_secret_comes_from_a_prompt_a_file_or_standard_input_and_is_never_shown(
    clearlane, folder
):
    (folder / "secret").write_text("hush-hush\n")
    ways = [
        (f"{SFTP} --untested --secret password --position 1", "hush-hush\n"),
        (f"{SFTP} --untested --secret-file password=secret --position 2", None),
        (f"{SFTP} --untested --secret-file password=- --position 3", "hush-hush\n"),
    ]
    for line, stdin in ways:
        result = clearlane(line, stdin=stdin)
        assert "hush" not in result.output
    listed = clearlane("route list --json")
    assert "hush" not in listed.output
    assert [row["secrets"] for row in shown(listed)] == ["sealed"] * 3
    output = clearlane(f"{SFTP} --secret password=hush-hush --position 4", code=2)
    assert "hush" not in output.output


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_what_a_connection_test_would_refuse_is_not_added(clearlane, folder):
    (folder / "secret").write_text("harbor")
    for more, reason in (("", "internal network"), ("--allow-internal --option port=1", "refused")):
        line = f"{SFTP} --secret-file password=secret {more}"
        refused = clearlane(line, code=1).stderr
        assert reason in refused
        assert "--untested" in refused
        assert shown(clearlane("route list --json")) == []
    id = shown(clearlane(f"{SFTP} --untested --secret-file password=secret --json"))["id"]
    assert "internal network" in clearlane(f"route test {id}", code=1).stdout
    assert "internal network" in clearlane(f"route change {id} --option port=2", code=1).stderr
    changed = clearlane(f"route change {id} --option port=2 --untested --allow-internal --yes")
    assert "allow_internal" in changed.stdout
    assert shown(clearlane(f"route show {id} --json"))["options"]["port"] == 2


def test_a_sandbox_says_that_it_uses_no_routes(clearlane, folder):
    assert route_edit.SANDBOX_NOTE in add_folder(clearlane, folder).stderr
    assert route_edit.SANDBOX_NOTE in clearlane("route list").stderr
    assert route_edit.SANDBOX_NOTE in clearlane("route change 1 --position 2 --yes").stderr


def test_a_route_is_changed_and_its_history_kept(clearlane, folder):
    id = shown(add_folder(clearlane, folder))["id"]
    edit = f"route change {id} --option window_seconds=300 --option file_name=A{{control}} --position 2"
    planned = shown(clearlane(f"{edit} --dry-run --json"))
    assert [change["name"] for change in planned["changes"]] == [
        "file_name",
        "window_seconds",
        "position",
    ]
    assert planned["dry_run"]
    assert "window_seconds" not in shown(clearlane(f"route show {id} --json"))["options"]
    assert "Give --yes" in clearlane(edit, code=2).stderr
    assert "is changed." in clearlane(f"{edit} --yes").stdout
    stored = shown(clearlane(f"route show {id} --json"))
    assert (stored["options"]["window_seconds"], stored["position"]) == (300, 2)
    assert "No change was needed." in clearlane(f"{edit} --yes").stdout
    clearlane(f"route change {id} --unset window_seconds --yes")
    output = clearlane(f"route show {id}").stdout
    assert "window_seconds from default to 300" in output
    assert "window_seconds from 300 to default" in output
    assert "route.add" in output


def test_every_fault_of_a_change_is_named(clearlane, folder):
    id = shown(add_folder(clearlane, folder))["id"]
    output = clearlane(
        f"route change {id} --option window_seconds=x --option send_windows=mon --option inbox_names=a/b "
        "--option file_name=x --option pin=1 --unset port --unset window_seconds --position 0",
        code=2,
    ).stderr
    for name in (
        "window_seconds", "send_windows", "inbox_names", "file_name", "pin", "port", "position",
    ):  # fmt: skip
        assert f"{name}:" in output
    assert (
        "time_zone: It is required"
        in clearlane(
            f"route change {id} --option-file send_windows=windows", code=2, files={"windows": "mon 1:00-2:00"}
        ).stderr
    )  # fmt: skip


def test_a_removed_route_is_kept_for_what_names_it(clearlane, folder):
    id = shown(add_folder(clearlane, folder))["id"]
    assert shown(clearlane(f"route remove {id} --dry-run --json"))["files_waiting"] == 0
    assert "Give --yes" in clearlane(f"route remove {id}", code=2).stderr
    assert f"Route {id} to MDW10 is removed" in clearlane(f"route remove {id} --yes").stdout
    assert shown(clearlane("route list --json")) == []
    [kept] = shown(clearlane("route list --removed --json"))
    assert (kept["id"], kept["active"], bool(kept["removed_at"])) == (id, False, True)
    history = shown(clearlane(f"route show {id} --json"))["history"]
    assert [entry["action"] for entry in history] == ["route.add", "route.remove"]
    for command in ("enable", "test", "remove --yes", "change --position 2 --yes"):
        verb, _, more = command.partition(" ")
        assert "was removed on" in clearlane(f"route {verb} {id} {more}", code=1).stderr
    add_folder(clearlane, folder)  # its position is free


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_in_production_a_payer_has_a_route_when_there_is_one(clearlane, folder, monkeypatch):
    clearlane("payer list", app=payer.app)  # a sandbox made the keys and the payers
    monkeypatch.setenv("CLEARLANE_MODE", "production")

    def routed(id):
        (found,) = shown(clearlane(f"payer show {id} --type medical --json", app=payer.app))
        return found["accepts_claims"]

    assert not routed("MDW10")
    id = shown(add_folder(clearlane, folder))["id"]
    assert routed("MDW10")
    assert not routed("HHP20")
    clearlane(f"route disable {id}")
    assert not routed("MDW10")


@pytest.mark.parametrize("kind", ["folder", "sftp", "core", "core-realtime"])
def test_the_options_of_a_kind_are_shown(kind):
    result = CliRunner().invoke(route.app, ["options", kind], env={"COLUMNS": "80"})
    assert result.output.startswith("OPTION  ")  # a table, though defaults are long
    assert result.exit_code == 0
    assert "sender_id" in result.stdout
    assert ("password" in result.stdout) == (kind != "folder")
    assert CliRunner().invoke(route.app, ["options", kind, "--json"]).exit_code == 0


def test_a_hop_is_added_and_given_its_payers(clearlane, folder):
    for name in ("in", "out"):
        (folder / name).mkdir()
    options = f"--option sender_id=US --option receiver_id=NG --option inbox={folder}/in --option outbox={folder}/out"
    line = f"route add NORTHGATE --type hop --kind folder {options}"
    assert "clearlane hop import NORTHGATE FILE" in clearlane(line).stdout
    for wrong in (
        line,
        line.replace("NORTHGATE", "a~b"),
        line.replace("NORTHGATE", "SOUTHGATE").replace("--kind folder", "--kind core-realtime"),
    ):
        clearlane(wrong, code=1)
    # In real time it is the same hop, with the payers of its route for files.
    url = "--option url=https://127.0.0.1:1/core --option username=us --secret-file password=pw"
    realtime = f"route add NORTHGATE --type hop --kind core-realtime --option sender_id=US --option receiver_id=NG {url}"
    said = clearlane(f"{realtime} --untested", files={"pw": "there"}).stdout
    assert "hop import" not in said
    clearlane(f"{realtime} --untested", code=1)

    def typed(line, **more):
        return clearlane(line, app=hop.app, **more)

    files = {"good.csv": "PayerId,Type,HopPayerId\nMDW10,medical,60054\nSMD05,Dental,60222\n"}
    files["bad.csv"] = "PayerId,Type,HopPayerId\nMDW10,vision,60054\nNONE,medical,6 0\n"
    bad = typed("hop import NORTHGATE bad.csv", files=files, code=1)
    assert [part in bad.output for part in ("line 2: Type", "line 3: PayerId", "line 3: HopP")] == [
        True
    ] * 3
    assert shown(typed("hop import NORTHGATE good.csv --dry-run --json"))["payers"] == 0
    assert shown(typed("hop import NORTHGATE good.csv --json"))["payers"] == 2
    assert "no node" not in typed("hop set NORTHGATE HHP20 60331 --type medical").stdout
    typed("hop set NORTHGATE NONE 60331 --type medical", code=1)
    typed("hop remove NORTHGATE SMD05 --type dental")
    typed("hop remove NORTHGATE SMD05 --type dental", code=1)
    typed("hop set SOUTHGATE HHP20 1 --type medical", code=1)
    assert typed("hop show NORTHGATE --csv").stdout == (
        "Type,PayerId,HopPayerId\nMedical,HHP20,60331\nMedical,MDW10,60054\n"
    )
    assert [one["active"] for one in shown(typed("hop show NORTHGATE --json"))] == [
        False,
        True,
        True,
    ]
    listed = shown(typed("hop list --json"))
    assert [one["id"] for one in listed].count("NORTHGATE") == 1
    assert {one["id"]: one["payers"] for one in listed}["NORTHGATE"] == 2
