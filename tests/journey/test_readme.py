"""A newcomer follows the README to the letter, on a fresh sandbox, until a claim is Complete."""

import json
import subprocess

import pytest

from tests.journey.follower import ROOT, Follower
from tests.journey.newcomer import checkout, sandbox_at

pytestmark = pytest.mark.xdist_group("readme")


def test_the_readme_leads_to_a_paid_claim(tmp_path):
    directory = checkout(tmp_path)
    with sandbox_at(directory), Follower(directory) as newcomer:
        newcomer.follow((ROOT / "README.md").read_text(encoding="utf-8"))
        listed = json.loads(newcomer.type("clearlane claim status --json"))
    assert {row["VendorClaimId"]: row["CurrentState"] for row in listed} == {"FIRST-1": "Complete"}


def test_make_run_starts_what_the_tests_start():
    told = subprocess.run(
        ["make", "--dry-run", "--assume-old=.venv/.installed", "run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.splitlines()[-1] == ".venv/bin/clearlane serve --data .data --port 8443"
