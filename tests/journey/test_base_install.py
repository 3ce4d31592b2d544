"""The base install is the engine and the commands on files: nothing of the server is needed."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = {"argon2-cffi": "argon2", "prometheus-client": "prometheus_client"}
SERVER = [re.split(r"[\[<>=]", line)[0] for line in PROJECT["optional-dependencies"]["server"]]

# A module set to None cannot be imported, as if its package were not installed.
RUN = """
import sys
for name in {blocked!r}:
    sys.modules[name] = None
sys.argv = ["clearlane", *{arguments!r}]
from clearlane.cli.root import main
main()
"""


def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    blocked = [MODULES.get(name, name) for name in SERVER]
    code = RUN.format(blocked=blocked, arguments=list(arguments))
    return subprocess.run(
        [sys.executable, "-c", code], input=given, capture_output=True, text=True, check=False
    )


def test_a_claim_is_made_and_checked_without_the_server():
    made = run("claim", "sample", "--kind", "dental", "--full")
    assert json.loads(made.stdout)["DocumentType"] == "DentalClaim"
    checked = run("claim", "check", "-", given=made.stdout)
    assert checked.returncode == 0, checked.stderr
    assert "Accepted" in checked.stdout


def test_a_file_is_checked_without_the_server():
    checked = run("x12", "check", "-", given="this is no interchange")
    assert checked.returncode == 2
    assert "Traceback" not in checked.stderr


@pytest.mark.parametrize("command", [["serve"], ["vendor", "list"], ["worker"], ["db", "status"]])
def test_a_command_of_the_server_says_what_to_install(command):
    refused = run(*command)
    assert refused.returncode == 1
    assert "pip install 'clearlane[server]'" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_settings_and_help_need_nothing():
    assert run("settings", "--json").returncode == 0
    assert "serve" in run("--help").stdout
