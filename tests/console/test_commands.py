"""`clearlane user` and `clearlane instance`, as an operator types them.

Also tests `cli/account/instance`, `cli/account/console_user` and `cli/account/console_open`.
"""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from clearlane.cli.account import console_open, console_user, instance, site, vendor
from clearlane.cli.command.root import COMMANDS
from tests.cases import every_case
from tests.console.console_user import secret_of

pytestmark = pytest.mark.one_database

APPS = {
    "console": console_open.app,
    "user": console_user.app,
    "instance": instance.app,
    "vendor": vendor.app,
    "site": site.app,
}
GUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.fixture
def clearlane(place, monkeypatch):
    """Run a command in this installation: ``clearlane("user list", code=0)``."""
    monkeypatch.setenv("CLEARLANE_DATA", str(place.data))
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", place.url)
    monkeypatch.chdir(place.data)

    def run(line, *, code=0, typed=None):
        name, *words = line.split()
        result = CliRunner().invoke(APPS[name], words, input=typed)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


@pytest.fixture
def two_sites(clearlane):
    clearlane("vendor add ACME")
    clearlane("site add ACME --id A-1")
    clearlane("site add ACME --id A-2")
    clearlane("vendor add OTHER")
    clearlane("site add OTHER --id B-1")


def listed(clearlane, name="user"):
    return json.loads(clearlane(f"{name} list --json").stdout)


def test_both_commands_are_in_the_table():
    assert (COMMANDS["user"].module, COMMANDS["instance"].module) == (
        "account.console_user",
        "account.instance",
    )


def test_a_user_is_added_listed_disabled_and_enabled(clearlane, two_sites):
    made = clearlane("user add Nora --vendor ACME --site A-1 --site A-2")
    assert "otpauth://totp/Clearlane%3Anora?secret=" in made.stdout
    assert "it is not shown again" in made.stdout
    clearlane("user add ivo --vendor ACME --all-sites")
    ivo, nora = listed(clearlane)
    assert nora == {
        "name": "nora", "role": "biller", "vendor_key": "ACME", "sites": ["A-1", "A-2"], "state": "active",
    }  # fmt: skip
    assert ivo["sites"] == ["all"]
    for line in ("disable", "totp", "reset-password"):
        asked = " ".join(clearlane(f"user {line} nora", code=2).stderr.split())
        assert asked.startswith("Nothing was done. Give --yes to confirm: ")
        assert asked.endswith("all open sessions end now.")
    assert clearlane("user disable NORA --yes").stdout == "User nora is disabled.\n"
    assert "No change was needed" in clearlane("user disable nora --yes").stdout
    assert listed(clearlane)[1]["state"] == "disabled"
    clearlane("user enable nora")
    assert listed(clearlane)[1]["state"] == "active"
    assert "ACME" in clearlane("user list").stdout


def test_the_sites_of_a_user_can_be_changed_within_the_vendor(clearlane, two_sites):
    clearlane("user add nora --vendor ACME --site A-1")
    assert clearlane("user sites nora --site A-2").stdout == "User nora sees A-2.\n"
    assert listed(clearlane)[0]["sites"] == ["A-2"]
    clearlane("user sites NORA --all-sites")
    assert listed(clearlane)[0]["sites"] == ["all"]
    clearlane("user sites nora --site A-1 --site A-2")
    assert listed(clearlane)[0]["sites"] == ["A-1", "A-2"]
    assert "has no site B-1" in clearlane("user sites nora --site B-1", code=1).stderr
    assert "There is no user" in clearlane("user sites nobody --all-sites", code=1).stderr
    clearlane("user sites nora", code=2)


def test_secrets_are_shown_once_and_only_where_they_were_made(clearlane, two_sites):
    made = json.loads(clearlane("user add nora --vendor ACME --all-sites --json").stdout)
    assert made.keys() == {"name", "totp", "password"}
    assert len(secret_of(made["totp"])) == 20
    shown = clearlane(
        "user reset-password nora --password-stdin --yes", typed="a long and quiet evening\n"
    ).stdout
    assert "evening" not in shown
    again = json.loads(clearlane("user reset-password nora --json --yes").stdout)
    assert again["password"] != made["password"]
    other = json.loads(clearlane("user totp nora --json --yes").stdout)
    assert other["totp"] != made["totp"]
    asked = clearlane(
        "user add ivo --vendor ACME --all-sites --ask", typed="a quiet, long evening\n" * 2
    )
    assert "quiet" not in asked.stdout


@every_case(
    ("line", "code", "reported"),
    [
        ("user add nora --vendor ACME", 2, "--all-sites"),
        ("user add nora --vendor ACME --site A-1 --all-sites", 2, "--all-sites"),
        ("user add nora --vendor NONE --all-sites", 1, "There is no vendor NONE"),
        ("user add nora --vendor ACME --site B-1", 1, "has no site B-1"),
        ("user add no/ra --vendor ACME --all-sites", 1, "User name must be"),
        ("user disable nobody --yes", 1, "There is no user nobody"),
        ("user reset-password nobody --yes", 1, "There is no user nobody"),
        ("user totp nobody --yes", 1, "There is no user nobody"),
        ("instance disable front-context", 2, "is not a GUID"),
        (f"instance disable {GUID}", 1, "There is no instance"),
    ],
)
def test_what_cannot_be_done_is_reported_in_a_sentence(clearlane, two_sites, line, code, reported):
    result = clearlane(line, code=code)
    assert reported in result.stderr
    assert "otpauth" not in result.stdout


def test_a_weak_password_is_refused(clearlane, two_sites):
    line = "user add nora --vendor ACME --all-sites --password-stdin"
    for weak in ("", "short", "nora", "aaaaaaaaaaaaaaaaaaaa", "x" * 300):
        assert "PASSWORD: The password must" in clearlane(line, code=1, typed=weak + "\n").stderr
    assert listed(clearlane) == []


def test_instances_are_listed_and_disabled_one_client_at_a_time(clearlane, two_sites, place):
    asyncio.run(_two_instances(place))
    found = listed(clearlane, "instance")
    assert {(one["vendor_site_id"], one["state"]) for one in found} == {
        ("A-1", "active"),
        ("B-1", "active"),
    }
    assert {one["instance_id"] for one in found} == {GUID}
    assert "name one with --site" in clearlane(f"instance disable {GUID}", code=1).stderr
    clearlane(f"instance disable {{{GUID.upper()}}} --site B-1")
    assert "No change was needed" in clearlane(f"instance disable {GUID} --site B-1").stdout
    states = {one["vendor_site_id"]: one["state"] for one in listed(clearlane, "instance")}
    assert states == {"A-1": "active", "B-1": "disabled"}
    clearlane(f"instance enable {GUID} --site B-1")
    assert "Reception" in clearlane("instance list").stdout


async def _two_instances(place):
    from clearlane.kernel.clock import SystemClock
    from clearlane.pipeline.access.proxy_login import ProxyLoginCaller, create_token
    from clearlane.store.accounts.accounts import load_accounts
    from clearlane.store.database.database import Actor
    from clearlane.store.vault.vault import Vault

    database = await place.open(SystemClock())
    vault = Vault(database, place.keys(), SystemClock())
    await vault.load()
    accounts = await load_accounts(database, vault.pepper)
    vendors = {vendor.id: vendor for vendor in accounts.vendors}
    for one in accounts.sites:
        if one.vendor_site_id != "A-2":
            asking = ProxyLoginCaller(
                database=database,
                vault=vault,
                vendor=vendors[one.vendor_id],
                site=one,
                now=SystemClock().now(),
                actor=Actor("vendor", "a test"),
            )
            await create_token(asking, GUID, "Reception")
    await database.close()


# ---- roles, and opening the console -------------------------------------------------------------


def test_roles_decide_which_options_are_needed(clearlane, two_sites):
    clearlane("user add viola --role viewer --vendor ACME --site A-1")
    clearlane("user add hugo --role support --vendor ACME")
    clearlane("user add ada --role operator")
    roles = {user["name"]: (user["role"], user["sites"]) for user in listed(clearlane)}
    assert roles == {
        "ada": ("operator", ["all"]),
        "hugo": ("support", ["all"]),
        "viola": ("viewer", ["A-1"]),
    }
    for line, sentence in (
        ("user add x --role operator --vendor ACME", "give neither --vendor nor --site"),
        ("user add x --role support --vendor ACME --site A-1", "Support sees all sites"),
        ("user add x --role viewer --site A-1", "--vendor KEY"),
        ("user sites ada --all-sites", "An operator sees every site."),
    ):
        assert sentence in clearlane(line, code=2).output


def test_console_open_prints_a_one_time_address_in_a_sandbox_only(clearlane, place, monkeypatch):
    assert "sandbox.json cannot be read" in clearlane("console open", code=1).output
    facts = {
        "base_url": "https://127.0.0.1:1", "vendor_key": "K", "vendor_password": "P",
        "vendor_site_id": "S",
    }  # fmt: skip
    (place.data / "sandbox.json").write_text(json.dumps(facts))
    first, second = (json.loads(clearlane("console open --json").stdout)["url"] for _ in range(2))
    assert first.startswith("https://127.0.0.1:1/console/open/")
    assert first != second
    assert "Valid once" in clearlane("console open").stdout
    monkeypatch.setenv("CLEARLANE_MODE", "production")
    assert "are for sandboxes" in clearlane("console open", code=1).output
