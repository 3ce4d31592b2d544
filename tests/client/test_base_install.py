"""The client and the commands of a vendor need nothing of the server.

Also tests `client/https`.
"""

import subprocess
import sys

import pytest

from clearlane.client import Client
from clearlane.client.https import proxy_for
from tests.client.scripted_service import KEY, PASSWORD, SITE, Reply
from tests.journey.test_base_install import MODULES, SERVER, run

BLOCKED = [MODULES.get(name, name) for name in SERVER]


def test_the_client_imports_without_the_server():
    code = f"import sys\nfor n in {BLOCKED!r}: sys.modules[n] = None\nimport clearlane.client"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_client_imports_no_other_package_of_clearlane():
    code = (
        "import sys, clearlane.client; print([n for n in sys.modules if n.startswith('clearlane')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {name.split(".")[1] for name in eval(shown.stdout) if "." in name}
    assert packages == {"client"}


@pytest.fixture
def vendor(service, monkeypatch):
    """The environment of a vendor's machine."""
    for name, text in {
        "URL": service.base_url, "KEY": KEY, "PASSWORD": PASSWORD, "SITE": SITE,
        "CA_FILE": str(service.ca_file),
    }.items():  # fmt: skip
        monkeypatch.setenv(f"CLEARLANE_CLIENT_{name}", text)
    return service


COMMANDS = [
    (["payer", "available"], "", []),
    (["enrollment", "submit", "-"], "{}", {"EnrollmentResults": [{"RequestId": "1"}]}),
    (["eligibility", "submit", "-"], "{}", {"Status": "ResultsComplete"}),
    (["doctor"], "", []),
]


@pytest.mark.parametrize(("command", "given", "answer"), COMMANDS)
def test_a_vendors_command_works_on_the_base_install(vendor, command, given, answer):
    vendor.answer(Reply(body=answer))
    done = run(*command, given=given)
    assert done.returncode == 0, done.stderr + done.stdout
    assert vendor.received


def test_an_operators_command_beside_them_names_what_to_install():
    done = run("enrollment", "list")
    assert done.returncode == 1
    assert "pip install 'clearlane[server]'" in done.stderr


def test_the_environment_is_read_by_the_client_too(vendor):
    vendor.answer(Reply(body=[]))
    with Client.from_environment() as client:
        assert client.payers() == []


def test_a_shell_completes_names_of_commands_on_the_base_install(monkeypatch):
    for words, place, expected in (
        ("clearlane pay", "1", {"payer", "payment"}),
        ("clearlane enrollment s", "2", {"submit"}),
        ("clearlane --show", "1", {"--show-completion"}),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", place)
        monkeypatch.setenv("_CLEARLANE_COMPLETE", "complete_bash")
        assert set(run().stdout.split()) == expected


def test_the_environments_proxy_is_used_except_for_this_machine(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert proxy_for("https://claims.example.org/x") == "http://proxy.example:3128"
    assert proxy_for("https://inside.example/x") == ""
    assert proxy_for("https://127.0.0.1:8443/x") == ""
