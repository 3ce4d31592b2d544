"""A newcomer follows the README to the letter: every command of it is run against a fresh sandbox."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.serving import Serving

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def newcomer(tmp_path):
    """A working directory like the checkout's, with a sandbox running on its `.data`."""
    (tmp_path / ".venv").symlink_to(Path(sys.prefix), target_is_directory=True)
    serving = Serving(tmp_path / ".data").start()
    yield tmp_path
    assert serving.stop() == 0


def run(script: str, directory: Path) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_first_call_and_the_first_claim_work_as_written(newcomer):
    blocks = [block for block in BLOCK.findall(README) if "make " not in block]
    call, claim, look, _ = blocks
    answer = run(call + "\necho\n" + claim, newcomer)
    listing, submitted = (json.loads(line) for line in answer.splitlines() if line.strip())
    assert "TST01" in {payer["PayerId"] for payer in listing}
    (result,) = submitted["ClaimResults"]
    assert result["Status"] == "Accepted"
    shown = run(re.sub(r"C[0-9A-Z]{18}", result["RequestId"], look), newcomer)
    assert "F28_TotalCharge" in shown
    assert "CLM*" in shown


def test_the_x12_commands_work_as_written(tmp_path):
    *_, files = BLOCK.findall(README)
    (tmp_path / ".venv").symlink_to(Path(sys.prefix), target_is_directory=True)
    from random import Random

    from tests.x12 import samples837, samples_other

    (tmp_path / "claims.837").write_text(samples837.interchange("837P", [samples837.plain("837P")]))
    sets = [samples_other.made(Random(1), "835")]
    (tmp_path / "remit.835").write_text(samples_other.interchange("835", sets))
    shown = run(files, tmp_path)
    assert "0 errors" in shown
