"""`clearlane vendor`, `clearlane site` and `clearlane api-key`, as an operator types them.

Also tests `accounts/site_json`, `cli/account/api_key`, `cli/account/site`, `cli/account/vendor` and `cli/command/operator_command`.
"""

import asyncio
import base64
import json
import os
import re
from datetime import UTC, datetime, timedelta

import pytest
import typer
from typer.testing import CliRunner

from clearlane.api.v1.account.sites import SiteJson
from clearlane.cli.account import api_key, site, vendor
from clearlane.cli.command.operator_command import confirm_loaded
from clearlane.cli.command.storage_command import exit_on_refusal
from clearlane.kernel.clock import SystemClock
from clearlane.store.accounts.accounts import load_accounts
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.installation.nodes import NodeRegistration, bump_revision
from clearlane.store.vault.vault import Vault
from tests.cases import every_case
from tests.patience import PATIENCE_SECONDS
from tests.prepared_process import PreparedProcess

pytestmark = pytest.mark.one_database

APPS = {"vendor": vendor.app, "site": site.app, "api-key": api_key.app}


@pytest.fixture
def clearlane(place, monkeypatch):
    """Run a command in this installation: ``clearlane("vendor list", code=0)``."""
    monkeypatch.setenv("CLEARLANE_DATA", str(place.data))
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", place.url)
    monkeypatch.chdir(place.data)

    def run(line, *, code=0):
        name, *words = line.split()
        result = CliRunner().invoke(APPS[name], words)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


def shown(result):
    return json.loads(result.stdout)


def header(key, password):
    return "Basic " + base64.b64encode(f"{key}:{password}".encode()).decode()


async def accounts_of(place):
    database = await place.open(SystemClock())
    try:
        vault = Vault(database, place.keys(), SystemClock())
        await vault.load()
        return await load_accounts(database, vault.pepper)
    finally:
        await database.close()


def opens(place, key, password, now=None):
    now = now or SystemClock().now()
    return asyncio.run(accounts_of(place)).authenticate(header(key, password), now) is not None


def test_a_vendor_is_added_listed_shown_and_gets_in(clearlane, place):
    added = shown(clearlane("vendor add ACME --name Acme --limit 60 --json"))
    assert set(added) == {"vendor_key", "password"}
    assert len(added["password"]) >= 24
    assert opens(place, "ACME", added["password"])
    (listed,) = shown(clearlane("vendor list --json"))
    assert listed == shown(clearlane("vendor show ACME --json"))
    assert listed == {
        "vendor_key": "ACME",
        "name": "Acme",
        "state": "active",
        "proxy_login": True,
        "rate_per_minute": 60,
        "sites": [],
        "passwords_end": ["never"],
    }
    for line in ("vendor list", "vendor show ACME"):
        output = clearlane(line)
        assert "Acme" in output.stdout
        assert added["password"] not in output.output


def test_people_see_the_password_once_with_a_sentence_about_it(clearlane, place):
    output = clearlane("vendor add ACME").stdout
    password = next(line.split()[-1] for line in output.splitlines() if "Password " in line)
    assert opens(place, "ACME", password)
    assert "only its hash is stored" in output


def test_a_rotation_shows_a_new_password_and_ends_the_old_one(clearlane, place):
    old = shown(clearlane("vendor add ACME --json"))["password"]
    new = shown(clearlane("vendor rotate ACME --overlap 2h --json"))["password"]
    soon = datetime.now(UTC) + timedelta(hours=2, minutes=1)
    assert opens(place, "ACME", old)
    assert opens(place, "ACME", new)
    assert not opens(place, "ACME", old, soon)
    assert opens(place, "ACME", new, soon)
    ends = shown(clearlane("vendor show ACME --json"))["passwords_end"]
    assert ends[1:] == ["never"]
    clearlane("vendor rotate ACME --overlap 0 --yes")
    assert not opens(place, "ACME", old)
    assert not opens(place, "ACME", new)


def test_a_vendor_is_disabled_enabled_limited_and_switched(clearlane):
    clearlane("vendor add ACME")
    assert "disabled" in clearlane("vendor disable ACME --yes").stdout
    assert "No change was needed" in clearlane("vendor disable ACME --yes").stdout
    clearlane("vendor limit ACME 600")
    clearlane("vendor proxy-login off ACME")
    (found,) = shown(clearlane("vendor list --json"))
    assert (found["state"], found["rate_per_minute"], found["proxy_login"]) == (
        "disabled",
        600,
        False,
    )
    clearlane("vendor enable ACME")
    clearlane("vendor limit ACME off")
    clearlane("vendor proxy-login on ACME")
    (found,) = shown(clearlane("vendor list --json"))
    assert (found["state"], found["rate_per_minute"], found["proxy_login"]) == (
        "active",
        None,
        True,
    )


def test_a_site_is_added_listed_and_changed(clearlane):
    clearlane("vendor add ACME")
    clearlane("vendor add BOLT")
    line = "site add ACME --id S-1 --client-id 100 --name Larkspur --time-zone America/Chicago"
    added = shown(clearlane(f"{line} --json"))
    assert added == {
        "id": "S-1",
        "site": "S-1",
        "vendor_key": "ACME",
        "client_id": "100",
        "name": "Larkspur",
        "time_zone": "America/Chicago",
        "state": "active",
        "baa_accepted": False,
        "console_corrections": True,
        "shadow": False,
        "daily_summary_since_at": None,
        "bills_next_payer": False,
    }
    assert added.keys() == {*SiteJson.model_fields, "vendor_key"}
    made = shown(clearlane("site add BOLT --baa-accepted --json"))
    assert made["baa_accepted"]
    assert shown(clearlane("site list --vendor ACME --json")) == [added]
    assert len(shown(clearlane("site list --json"))) == 2
    clearlane("site suspend S-1 --yes")
    clearlane("site baa-accept S-1")
    (found,) = shown(clearlane("site list --vendor ACME --json"))
    assert (found["state"], found["baa_accepted"]) == ("suspended", True)
    clearlane("site activate S-1")
    clearlane("site baa-revoke S-1 --yes")
    assert shown(clearlane("site list --vendor ACME --json")) == [added]
    assert "S-1 are on" in clearlane("site daily-summary on S-1").stdout
    clearlane("site daily-summary off S-1")
    assert "is on for site S-1" in clearlane("site bill-next-payer on S-1").stdout
    (found,) = shown(clearlane("site list --vendor ACME --json"))
    assert found["bills_next_payer"] is True
    figures = shown(clearlane("site summary S-1 --day 2026-01-15 --json"))
    assert (figures["day"], figures["received"], figures["paid_amount"]) == (
        "2026-01-15", 0, "0.00",
    )  # fmt: skip
    assert "There is no site" in clearlane("site summary NONE", code=1).stderr
    assert "judged, and not sent" in clearlane("site shadow on S-1").stdout
    assert "S-1 sends are sent" in clearlane("site shadow off S-1").stdout
    assert "are off" in clearlane("site corrections off S-1").stdout
    (found,) = shown(clearlane("site list --vendor ACME --json"))
    assert not found["console_corrections"]
    clearlane("site corrections on S-1")
    assert "Larkspur" in clearlane("site list").stdout
    assert re.search(r"Time zone +UTC", clearlane("site add ACME --id S-2").stdout)


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@every_case(
    ("line", "code", "said"),
    [
        ("vendor add a:b", 1, "letters, digits"),
        ("vendor add ACME --limit ten", 2, "number of calls"),
        ("vendor add ACME --limit 0", 1, "from 1 to"),
        ("vendor rotate NOBODY", 1, "There is no vendor NOBODY"),
        ("vendor rotate NOBODY --overlap tomorrow", 2, "such as 24h"),
        ("vendor rotate NOBODY --overlap 1000d", 2, "at most"),
        ("vendor rotate NOBODY --overlap 5", 2, "such as 24h"),
        ("vendor show NOBODY", 1, "There is no vendor NOBODY"),
        ("vendor disable NOBODY --yes", 1, "There is no vendor NOBODY"),
        ("vendor limit NOBODY -- -1", 2, "number of calls"),
        ("site add NOBODY", 1, "There is no vendor NOBODY"),
        ("site add NOBODY --time-zone Mars/Base", 1, "IANA"),
        ("site list --vendor NOBODY", 1, "There is no vendor NOBODY"),
        ("site suspend nowhere --yes", 1, "There is no site nowhere"),
        ("site baa-accept nowhere", 1, "There is no site nowhere"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_on_the_error_stream(clearlane, line, code, said):
    result = clearlane(line, code=code)
    assert said in result.stderr
    assert result.stdout == ""


def test_a_bad_setting_is_named(clearlane, monkeypatch):
    monkeypatch.setenv("CLEARLANE_PORT", "door")
    assert "CLEARLANE_PORT" in clearlane("vendor list", code=2).stderr


async def test_a_command_returns_when_a_running_node_has_the_change(place):
    """A node beside the command, with the pace of a real one."""
    database = await place.open(SystemClock())
    vault = Vault(database, place.keys(), SystemClock())
    await vault.load()
    seen = []

    async def load():
        accounts = await load_accounts(database, vault.pepper)
        seen.append([each.key for each in accounts.vendors])

    nodes = NodeRegistration(
        database, id="n1", role="serve", heartbeat_seconds=5, keys=place.keys()
    )
    await nodes.watch("accounts", load)
    await nodes.heartbeat()

    async def follow():
        while True:
            await asyncio.sleep(0.05)
            await nodes.reload_changed()

    following = asyncio.create_task(follow())
    try:
        given = {"CLEARLANE_DATA": str(place.data), "CLEARLANE_DATABASE_URL": place.url}
        command = await asyncio.to_thread(
            PreparedProcess, "clearlane", "vendor", "add", "ACME", "--json",
            env=os.environ | given, cwd=place.data,
        )  # fmt: skip
        output, _ = await asyncio.to_thread(command.communicate)
        at_return = seen[-1]
    finally:
        following.cancel()
        await asyncio.wait([following])
        await database.close()
    assert command.returncode == 0
    assert json.loads(output)["vendor_key"] == "ACME"
    assert at_return == ["ACME"]


async def test_a_node_that_does_not_load_a_change_is_named(database, place, capsys):
    async def load():
        pass

    nodes = NodeRegistration(
        database, id="sleepy", role="serve", heartbeat_seconds=60, keys=place.keys()
    )
    await nodes.watch("accounts", load)
    await nodes.heartbeat()
    revision = await database.write(
        SystemScope("a test"),
        lambda tx: bump_revision(tx, "accounts"),
        actor=Actor("operator", "nora"),
    )
    with pytest.raises(typer.Exit) as stopped:
        await confirm_loaded(database, "accounts", revision, seconds=0.2)
    assert stopped.value.exit_code == 1
    assert "sleepy" in capsys.readouterr().err
    await nodes.reload_changed()
    await confirm_loaded(database, "accounts", revision, seconds=PATIENCE_SECONDS)


@pytest.mark.safe_default(17)
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("vendor disable ACME", "Every call of vendor ACME is refused from now on"),
        ("vendor rotate ACME --overlap 0", "The old passwords of vendor ACME end at once"),
        ("site suspend S-1", "of site S-1 are refused from now on"),
        ("site baa-revoke S-1", "the console shows its claims and payments to no one"),
    ],
)
def test_what_others_feel_is_asked_first(clearlane, line, says):
    clearlane("vendor add ACME")
    clearlane("site add ACME --id S-1 --baa-accepted")
    before = clearlane("vendor show ACME --json")
    asked = clearlane(line, code=2)
    assert says in " ".join(asked.stderr.split())
    assert "Nothing was done. Give --yes to confirm:" in " ".join(asked.stderr.split())
    assert shown(clearlane("vendor show ACME --json")) == shown(before)
    [site] = shown(clearlane("site list --json"))
    assert (site["state"], site["baa_accepted"]) == ("active", True)
    done = clearlane(f"{line} --yes")
    assert "rotate" in line or "To undo it: clearlane" in " ".join(done.stdout.split())


def opens_with_key(place, key):
    accounts = asyncio.run(accounts_of(place))
    return accounts.authenticate_key(f"Bearer {key}", SystemClock().now()) is not None


def test_an_api_key_is_added_listed_shown_rotated_disabled_and_removed(clearlane, place):
    clearlane("vendor add ACME")
    clearlane("site add ACME --id LARK-1")
    line = "api-key add ACME --name Export --scope read --scope files --site LARK-1 --expires 365d"
    made = shown(clearlane(f"{line} --json"))
    assert made.keys() == {"id", "api_key"}
    assert made["api_key"].startswith(f"clearlane_{made['id']}_")
    assert opens_with_key(place, made["api_key"])
    (listed,) = shown(clearlane("api-key list --json"))
    assert listed == shown(clearlane(f"api-key show {made['id']} --json"))
    assert listed | {"created_at": "", "expires_at": ""} == {
        "id": made["id"], "vendor_key": "ACME", "name": "Export", "state": "active",
        "scopes": ["files", "read"], "sites": ["LARK-1"], "created_at": "", "expires_at": "",
        "used_at": None, "secrets_end": ["never"],
    }  # fmt: skip
    for word in ("list", "list --vendor ACME", f"show {made['id']}"):
        output = clearlane(f"api-key {word}").output
        assert "Export" in output
        assert made["api_key"] not in output
    output = clearlane(f"api-key rotate {made['id']}").stdout
    assert "only its hash is stored" in output
    assert "ends in 24h" in output
    assert opens_with_key(place, made["api_key"])
    assert "To undo it" in clearlane(f"api-key disable {made['id']} --yes").stdout
    assert not opens_with_key(place, made["api_key"])
    clearlane(f"api-key enable {made['id']}")
    assert opens_with_key(place, made["api_key"])
    clearlane(f"api-key rotate {made['id']} --overlap 0 --yes")
    assert not opens_with_key(place, made["api_key"])
    clearlane(f"api-key remove {made['id']} --yes")
    assert shown(clearlane("api-key list --json")) == []


def test_what_is_wrong_with_an_api_key_is_said(clearlane):
    clearlane("vendor add ACME")
    for line, code, sentence in [
        ("api-key add NOBODY --name x --scope read", 1, "There is no vendor NOBODY"),
        ("api-key add ACME --name x --scope all", 1, "Give one or more of read, submit"),
        ("api-key add ACME --name x --scope read --site B", 1, "is not a site of this vendor"),
        ("api-key add ACME --name x --scope read --expires soon", 2, "is not an expiry"),
        ("api-key add ACME --name x --scope read --expires 2020-01-01", 1, "expired already"),
        ("api-key add ACME --name x --scope read --expires 9999-12-31", 2, "is not an expiry"),
        ("api-key add ACME --name x", 2, "--scope"),
        ("api-key list --vendor NOBODY", 1, "There is no vendor NOBODY"),
        ("api-key show none", 1, "There is no API key none"),
        ("api-key rotate none --overlap 0", 2, "Nothing was done"),
        ("api-key disable none --yes", 1, "There is no API key none"),
        ("api-key remove none --yes", 1, "There is no API key none"),
    ]:
        output = " ".join(clearlane(line, code=code).output.split())
        assert sentence in output, line


def test_a_mistyped_data_directory_is_refused_and_not_made(tmp_path, monkeypatch):
    monkeypatch.delenv("CLEARLANE_DATABASE_URL", raising=False)
    wrong = tmp_path / "wrong"
    for words in (["list"], ["show", "ACME"]):
        done = CliRunner().invoke(vendor.app, [*words, "--data", str(wrong)])
        assert (done.exit_code, "There is no installation in" in done.stderr) == (1, True)
        assert not wrong.exists()
    done = CliRunner().invoke(vendor.app, ["add", "ACME", "--data", str(wrong)])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(vendor.app, ["show", "ACME", "--data", str(wrong)]).exit_code == 0


def test_a_reader_that_ends_before_our_output_is_no_refusal():
    with pytest.raises(BrokenPipeError), exit_on_refusal():
        raise BrokenPipeError
