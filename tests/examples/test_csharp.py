"""The C# example is compiled and run as its page says, where mono, its compiler and Json.NET are installed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.api.service_process import ServiceProcess
from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "examples" / "README.md"
JSON_NET = Path("/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll")
PROGRAMS = ("mcs", "mono", "cert-sync")

pytestmark = pytest.mark.xdist_group("examples")


def commands(data: Path) -> list[list[str]]:
    """The lines that the page shows, for a sandbox elsewhere."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if line.startswith(PROGRAMS)]
    return [line.replace(".data", str(data)).split() for line in shown]


def test_the_page_compiles_trusts_and_runs():
    assert [command[0] for command in commands(Path(".data"))] == ["mcs", "cert-sync", "mono"]


def test_the_example_walks_from_payers_to_benefits(tmp_path):
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or not JSON_NET.is_file():
        pytest.skip(f"needs {', '.join(missing) or JSON_NET.name}: mono and Json.NET from Debian")
    serving = ServiceProcess(tmp_path / "data").start()
    # The list of authorities that mono trusts is in the user's home.
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    printed = ""
    for command in commands(serving.data):
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            env={**os.environ, **home},
        )
        printed = done.stdout
        assert done.returncode == 0, done.stderr + printed
        assert serving.sandbox["vendor_password"] not in done.stderr + printed
    assert serving.stop() == 0
    said = dict(line.split(": ", 1) for line in printed.splitlines())
    request_id = re.search(r"C[0-9A-Z]{18}", said["submitted"])[0]
    assert said["submitted"] == said["again"] == f"Accepted {request_id}"
    assert "TST01" in said["payers"]
    assert "make them equal" in said["refused"]
    assert said["malformed"].startswith("400")
    assert said["state"].startswith("Complete ProcessedAsPrimary")
    assert said["benefits"].startswith("ResultsComplete")
