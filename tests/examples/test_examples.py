"""Every example is run as written, against a freshly started sandbox."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.service_process import ServiceProcess
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.xdist_group("examples")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
FOLLOW_SECONDS = "2"

WALKS = {
    "curl.sh": ["sh"],
    "python_sync.py": [sys.executable],
    "node.mjs": ["node"],
}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    """A fresh sandbox, started as its operator starts it."""
    serving = ServiceProcess(tmp_path_factory.mktemp("examples") / "data").start()
    yield serving
    assert serving.stop() == 0


def run(sandbox, program: list[str], name: str, *arguments: str) -> dict[str, list[str]]:
    """Run an example; what it printed, by the word each line begins with."""
    if shutil.which(program[0]) is None or (name == "curl.sh" and shutil.which("curl") is None):
        pytest.skip(f"{name} needs {program[0]} (and curl.sh needs curl)")
    done = subprocess.run(
        [*program, str(EXAMPLES / name), str(sandbox.data), *arguments],
        cwd=sandbox.data.parent,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        env={n: text for n, text in os.environ.items() if not n.startswith("CLEARLANE_")},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert sandbox.sandbox["vendor_password"] not in done.stdout + done.stderr
    printed: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(":")
        printed.setdefault(word, []).append(rest.strip())
    return printed


@pytest.mark.parametrize("name", WALKS)
def test_an_example_walks_from_payers_to_benefits(sandbox, name):
    printed = run(sandbox, WALKS[name], name, FOLLOW_SECONDS)
    assert "TST01" in printed["payers"][0]
    assert "Accepted" in printed["submitted"][0]
    assert "NotAccepted" not in printed["submitted"][0]
    request_id = re.search(r"C[0-9A-Z]{18}", printed["submitted"][0])[0]
    assert request_id in printed["again"][0]
    assert "NotAccepted" in printed["refused"][0]
    assert "make them equal" in printed["refused"][0]
    assert printed["state"][0]
    assert "ResultsComplete" in printed["benefits"][0]
    if name == "node.mjs":
        assert "400" in printed["malformed"][0]


def test_the_async_example_sends_many_claims_at_once(sandbox):
    printed = run(sandbox, [sys.executable], "python_async.py", "12")
    assert printed["accepted"] == ["12"]
    assert printed["by state"][0].startswith("12 ")


def test_every_example_is_in_the_list_and_in_a_test():
    files = {file.name for file in EXAMPLES.iterdir() if file.suffix in {".sh", ".py", ".mjs"}}
    assert files == {*WALKS, "python_async.py"}
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert not [name for name in files if f"examples/{name}" not in page]


def test_the_node_example_needs_nothing_but_node():
    text = (EXAMPLES / "node.mjs").read_text(encoding="utf-8")
    assert all(name.startswith("node:") for name in re.findall(r'from "([^"]+)"', text))
