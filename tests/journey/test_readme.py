"""A newcomer clones, runs and follows the README to the letter; `test_tutorial` does so without the clone."""

import json
import os
import signal
import subprocess

import pytest

from tests.api.service_process import READY
from tests.journey.follower import ROOT, Follower

pytestmark = pytest.mark.xdist_group("readme")


def follow_to_a_paid_claim(directory, page):
    with Follower(directory) as newcomer:
        newcomer.follow(page.read_text(encoding="utf-8"))
        listed = json.loads(newcomer.type("clearlane claim status --json"))
    assert {row["VendorClaimId"]: row["CurrentState"] for row in listed} == {"FIRST-1": "Complete"}


@pytest.mark.skipif(
    not os.environ.get("CLEARLANE_TEST_CLONE"),
    reason="installs everything anew: CLEARLANE_TEST_CLONE=1 runs it",
)
def test_a_fresh_clone_leads_to_a_paid_claim(tmp_path):
    clone = tmp_path / "clearlane"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    running = subprocess.Popen(
        ["make", "run", "PORT=0"],
        cwd=clone,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert any(line.startswith(READY) for line in running.stdout)
        follow_to_a_paid_claim(clone, clone / "README.md")
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(60)
        running.stdout.close()


def test_make_run_starts_what_the_tests_start():
    shown = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "--assume-old=.venv/.installed", "run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.splitlines()[-1] == ".venv/bin/clearlane serve --data .data --port 8443"
