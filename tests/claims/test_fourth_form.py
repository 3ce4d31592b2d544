"""A form that two tables name is read, judged, listed and shown like those that are built in, whatever its fields are called."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_fourth_form_needs_a_row_in_two_tables(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.claims.fourth_form", str(tmp_path / "data")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    good, bad = seen["judged"]
    assert (good["found"], seen["form"]) == ({}, "slip")
    assert bad["found"]["C701"].endswith("SlipF28_TotalCharge")
    assert good["number"] in json.dumps(seen["list"])
    assert "SLIP-1" in json.dumps(seen["show"])
