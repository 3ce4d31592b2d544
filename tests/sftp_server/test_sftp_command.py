"""`clearlane sftp` as an operator types it, `clearlane serve --sftp`, and what doctor and status say of it.

Also tests `cli/doctor/sftp_summary`.
"""

import json
import re
import subprocess

import pytest
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from tests.api.service_process import ServiceProcess
from tests.api.test_v1_files import an_837
from tests.patience import wait_until
from tests.sftp_server.openssh import CLIENT_KEY, HOST, OTHER_KEY, needs_openssh, write_key

ENDINGS = r"\.(999|277ca)\s"


# One service for all of them.
pytestmark = pytest.mark.group("sftp commands")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("keys")
    write_key(made / "one", CLIENT_KEY)
    write_key(made / "two", OTHER_KEY)
    return made


@pytest.fixture(scope="module")
def service(folder):
    running = ServiceProcess(folder / "data", CLEARLANE_SFTP_PORT="0").start("--sftp", "0")
    running.add_site(running.add_vendor("ACME"), "LARK-1", "--baa-accepted")
    yield running
    assert running.stop() == 0


def sftp_port(service):
    [line] = [each for each in service.output_lines if each.strip().startswith("sftp ")]
    return line.split()[-1]


def shown(service, *arguments):
    return json.loads(service.command("sftp", *arguments, "--json"))


@needs_openssh
def test_openssh_puts_an_837_and_gets_its_999_and_277ca(service, folder):
    added = shown(service, "user", "add", "LARK-1", "--name", "Lark", "--key", f"{folder}/one.pub")
    assert (added["name"], added["keys"]) == ("lark", [CLIENT_KEY.get_fingerprint()])
    keys = shown(service, "hostkey", "show")
    assert [key["state"] for key in keys] == ["current", "current"]
    known = folder / "known_hosts"
    known.write_text("".join(f"[{HOST}]:{sftp_port(service)} {k['public_key']}\n" for k in keys))
    (folder / "claims.837").write_bytes(an_837(2))
    received = folder / "received"
    received.mkdir()

    def sftp(*lines):
        done = subprocess.run(
            ["sftp", "-F", "none", "-b", "-", "-o", f"UserKnownHostsFile={known}", "-o", "IdentityAgent=none",
             "-o", "StrictHostKeyChecking=yes", "-i", f"{folder}/one", "-P", sftp_port(service), f"lark@{HOST}"],
            input="\n".join(lines) + "\n", capture_output=True, text=True, check=False, cwd=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    sftp("put claims.837 in/claims.837.part", "rename in/claims.837.part in/claims.837")
    wait_until(lambda: set(re.findall(ENDINGS, sftp("ls -1 out"))) == {"999", "277ca"})
    sftp("get out/* received/", *(f"rm out/claims.837.*.{ending}" for ending in ("999", "277ca")))
    contents = {file.name: file.read_text() for file in received.iterdir()}
    assert any("AK9*A*1*1*1" in content for content in contents.values())
    assert any(content.count("STC*A1:19") >= 2 for content in contents.values())
    assert "out/claims.837." not in sftp("ls -1 out")  # later steps of the claims may be there
    [listed] = shown(service, "user", "list", "--site", "LARK-1")
    assert (listed["keys"], listed["folders"], bool(listed["signed_in_at"])) == (
        1, "in/ out/", True,
    )  # fmt: skip
    assert "1 active account, last sign-in" in service.command("status")
    assert '"sftp"' in service.command("status", "--json")


def test_keys_states_and_host_keys_change(service, folder):
    account = ("user", "add", "LARK-1", "--name", "other", "--key", f"{folder}/one.pub")
    shown(service, *account)
    assert shown(service, "key", "add", "other", "--key", f"{folder}/two.pub")["changed"]
    first, second = shown(service, "key", "list", "other")
    assert first["algorithm"] == second["algorithm"] == "ssh-ed25519"
    changed = ("user", "change", "other", "--network", "203.0.113.7", "--files-per-day", "3")
    assert [shown(service, *changed)["changed"] for _ in range(2)] == [True, False]
    assert shown(service, "user", "change", "other", "--older-algorithms", "--in-folder", "new")
    [listed] = [one for one in shown(service, "user", "list") if one["name"] == "other"]
    known = ("networks", "files_per_day", "files_today", "older_algorithms", "folders")
    assert [listed[each] for each in known] == [["203.0.113.7"], 3, 0, True, "new/ out/"]
    assert shown(service, "user", "change", "other", "--network", "any", "--no-password")["changed"]
    shown(service, "key", "remove", "other", first["fingerprint"], "--yes")
    assert len(shown(service, "key", "list", "other")) == 1
    assert shown(service, "user", "disable", "other", "--yes")["state"] == "disabled"
    assert shown(service, "user", "enable", "other")["changed"]
    shown(service, "user", "remove", "other", "--yes")
    keys = shown(service, "hostkey", "rotate", "--overlap", "7", "--yes")
    assert sorted(key["state"] for key in keys) == ["current", "current", "next", "next"]


REFUSED = {
    "no such site": (["user", "add", "NONE", "--name", "a", "--key", "{}/one.pub"], "no site NONE"),
    "no key": (["user", "add", "LARK-1", "--name", "a"], "needs a public key"),
    "no file": (["user", "add", "LARK-1", "--name", "a", "--key", "{}/gone"], "No such file"),
    "a private key": (["user", "add", "LARK-1", "--name", "a", "--key", "{}/one"], "public key"),
    "bad name": (["user", "add", "LARK-1", "--name", "a b", "--key", "{}/one.pub"], "letter first"),
    "password": (["user", "add", "LARK-1", "--name", "a", "--password-stdin"], "not allowed"),
    "unknown": (["key", "list", "nothing"], "no SFTP account"),
    "changed unknown": (["user", "change", "nothing", "--profile", "root"], "no SFTP account"),
    "no change": (["user", "change", "nothing"], "Say what to change"),
    "two passwords": (["user", "change", "a", "--password-stdin", "--no-password"], "not both"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_in_words(service, folder, case):
    arguments, words = REFUSED[case]
    with pytest.raises(AssertionError, match=words):
        service.command("sftp", *(each.format(folder) for each in arguments))


def test_status_knows_a_server_by_its_accounts_and_says_nothing_without(service, folder, tmp_path):
    shown(service, "user", "add", "LARK-1", "--name", "status", "--key", f"{folder}/two.pub")
    service.environment.pop("CLEARLANE_SFTP_PORT")
    assert re.search(r"SFTP: \d active account", service.command("status"))
    done = CliRunner().invoke(app, ["status", "--data", str(tmp_path)])
    assert "SFTP" not in done.stdout


def test_the_doctor_mentions_a_server_that_is_on(service):
    assert "sftp" in service.command("doctor", "--json")
