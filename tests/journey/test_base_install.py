"""The base install is the X12 engine, the client and the commands on files, without the server.

The wheel is built and installed into an empty environment that holds the base dependencies alone.
"""

import json
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

import clearlane
from clearlane.kernel.build_commit import SHORT_CHARS, read_commit
from tools.release.programs import UV

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
from clearlane.cli.command.root import main
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


def base_distributions() -> Iterator[str]:
    """Return the names of the base dependencies and of everything they need."""
    from packaging.requirements import Requirement

    waiting, seen = list(PROJECT["dependencies"]), set()
    while waiting:
        requirement = Requirement(waiting.pop())
        needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if needed and requirement.name.lower() not in seen:
            seen.add(requirement.name.lower())
            waiting += distribution(requirement.name).requires or []
            yield requirement.name


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Build the wheel and install it into an empty environment, without a network."""
    directory = tmp_path_factory.mktemp("installed")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    (wheel,) = directory.glob("*.whl")
    venv.create(directory / "venv", with_pip=not UV.exists())
    (packages,) = (directory / "venv").glob("lib/python*/site-packages")
    for name in base_distributions():
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
            if top != "__pycache__" and not (packages / top).exists():
                (packages / top).symlink_to(Path(str(found.locate_file(top))))
    binaries = directory / "venv" / "bin"
    pip = [binaries / "python", "-m", "pip", "install", "--no-compile"]
    if UV.exists():  # which needs no pip of its own in the environment
        pip = [UV, "pip", "install", "--python", binaries / "python"]
    done = subprocess.run(
        [*pip, "--quiet", "--no-index", "--no-deps", wheel],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return binaries


def test_the_wheel_works_in_an_empty_environment(installed, tmp_path):
    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [installed / "clearlane", *arguments],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    commit = read_commit(ROOT / "src" / "clearlane")
    shown = command("--version").stdout.strip()
    assert shown == f"clearlane {clearlane.__version__} ({commit[:SHORT_CHARS]})"
    sample = command("claim", "sample")
    assert sample.returncode == 0, sample.stderr
    (tmp_path / "claim.json").write_text(sample.stdout, encoding="utf-8")
    checked = command("claim", "check", "claim.json")
    assert (checked.returncode, "Accepted" in checked.stdout) == (0, True), checked.stderr
    refused = command("serve")
    assert refused.returncode == 1
    assert "pip install 'clearlane[server]'" in refused.stderr


def test_the_wheel_holds_every_file_of_the_package(installed):
    (packages,) = installed.parent.glob("lib/python*/site-packages")
    source = ROOT / "src" / "clearlane"
    files = {
        file.relative_to(source)
        for file in source.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert not [
        str(file) for file in sorted(files) if not (packages / "clearlane" / file).is_file()
    ]
