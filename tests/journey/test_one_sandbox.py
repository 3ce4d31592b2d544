"""A stranger types README, tutorial, examples and how-tos into one sandbox, in the order in which they lead on.

Nothing is prepared between two pages and nothing may fail. Payers' days last a third of a second, so that the pages
that wait for a payer take seconds; nothing else differs from what a reader does. With CLEARLANE_TEST_CLONE=1 the same
is done in a fresh clone, with everything installed by `make run` and with the days as they are.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from docs.library import SAMPLE
from tests.api.service_process import READY
from tests.journey.follower import ROOT, Follower, steps
from tests.journey.newcomer import checkout, sandbox_at

pytestmark = pytest.mark.xdist_group("one-sandbox")

TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
HOW_TO = ROOT / "docs" / "how-to"
IN_A_SANDBOX = (
    "monitoring", "corrections", "events", "webhooks", "enrollment", "undelivered", "inbox", "payments",
    "moving", "console", "keys", "backup",
)  # fmt: skip
"""How-tos that speak of any installation; a sandbox is one."""
MINUTES_MAX = 15
FAST, AS_THEY_ARE = (f"clearlane sandbox clock --pace {seconds}" for seconds in ("0.3", "2"))
WALKS = {
    "curl.sh": ["sh"],
    "python_sync.py": ["python"],
    "node.mjs": ["node"],
    "python_async.py": ["python"],
}


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def follow_first_hour(reader: Follower, *, hurried: bool) -> None:
    """README and tutorial: a paid claim, a denial explained, a rejection corrected and paid, an eligibility answer."""
    if hurried:
        reader.type('export PATH="$PWD/.venv/bin:$PATH"')
        reader.type(FAST)
    said = reader.follow(text(ROOT / "README.md"))
    assert "ResultsComplete" in said
    assert states(reader)["FIRST-1"] == "Complete"
    said = {}
    for page in TUTORIAL:
        reader.names.clear()  # each page's ids are its own
        said[page.stem[0]] = reader.follow(text(page))
        if hurried:
            reader.type(
                AS_THEY_ARE
            )  # the pages after the first let time pass themselves, and show the pace
    assert "835 CO-50" in said["2"]
    assert "What to do: Appeal" in said["2"]
    assert "takes over from" in said["3"]
    found = states(reader)
    assert {name: found[name] for name in ("DENIED-1", "REFUSED-1", "CORRECTED-1")} == {
        "DENIED-1": "Complete",
        "REFUSED-1": "Rejected",
        "CORRECTED-1": "Complete",
    }
    assert "ResultsComplete" in said["4"]


def states(reader: Follower) -> dict[str, str]:
    """The state of each claim, asked for the days since the sandbox began, by its own clock."""
    listed = reader.type("clearlane claim status --from 2020-01-01 --json")
    return {row["VendorClaimId"]: row["CurrentState"] for row in json.loads(listed)}


def test_every_page_is_typed_into_one_sandbox(tmp_path):
    directory = checkout(tmp_path)
    (directory / "backups").mkdir()
    names = {"/backups": str(directory / "backups")}
    with sandbox_at(directory), Follower(directory, **names) as reader:
        follow_first_hour(reader, hurried=True)
        reader.type(FAST)
        run_examples(reader)
        # A provider that waits, and a vendor with a password, are what their pages begin with.
        reader.type(
            "sed 's/FERNHILL/MEADOW/; s/1234567893/1245319599/' scratch/provider.json > scratch/second.json"
        )
        reader.type("clearlane enrollment submit scratch/second.json")
        reader.type("clearlane vendor add ACME")
        for name in IN_A_SANDBOX:
            reader.names = dict(names)
            reader.follow(text(HOW_TO / f"{name}.md"))
        reader.names = dict(names)
        reader.follow(text(ROOT / "docs" / "reference" / "sandbox.md"))
        said = reader.type(f"python3 <<'END'\n{SAMPLE}\nEND")
        assert "TST01" in said
        assert "required" in said
        said = reader.type("clearlane sandbox reset --yes")
        assert "The sandbox is empty" in said
        assert states(reader) == {}
        assert "ahead of real time" not in reader.type("clearlane doctor")
        reader.type("clearlane claim submit scratch/paid.json")
    assert {one.name for one in directory.iterdir()} <= {
        ".venv", ".data", "examples", "scratch", "backups"
    }  # fmt: skip


def run_examples(reader: Follower) -> None:
    """The examples as their page shows them: the clock is ahead by now, and each gets what it waits for."""
    commands = [
        command
        for step in steps(text(ROOT / "examples" / "README.md"))
        for command in step.commands
    ]
    assert {re.search(r"examples/(\S+)", command)[1] for command in commands} == set(WALKS)
    for command in commands:
        program = WALKS[re.search(r"examples/(\S+)", command)[1]][0]
        if shutil.which(program) is None or ("curl" in command and shutil.which("curl") is None):
            continue
        printed = by_first_word(reader.type(command))
        if "python_async" in command:
            assert (printed["accepted"], printed["by state"][0][:3]) == (["20"], "20 ")
            continue
        assert "TST01" in printed["payers"][0]
        assert "NotAccepted" not in printed["submitted"][0]
        number = re.search(r"C[0-9A-Z]{18}", printed["submitted"][0])[0]
        assert number in printed["again"][0]
        assert "make them equal" in printed["refused"][0]
        assert "Complete" in printed["state"][-1]
        assert "ResultsComplete" in printed["benefits"][0]
        # Without the time to wait it has not got what it wanted, and says so.
        impatient = command.replace(".data", ".data 0", 1).partition("#")[0]
        reader.type(f"{impatient} # exit status 1")


def by_first_word(said: str) -> dict[str, list[str]]:
    printed: dict[str, list[str]] = {}
    for line in said.splitlines():
        word, _, rest = line.partition(":")
        printed.setdefault(word, []).append(rest.strip())
    return printed


@pytest.mark.skipif(
    not os.environ.get("CLEARLANE_TEST_CLONE"),
    reason="installs everything anew: CLEARLANE_TEST_CLONE=1 runs it",
)
def test_a_stranger_gets_from_a_clone_to_all_of_it_in_a_quarter_of_an_hour(tmp_path):
    began = time.monotonic()
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
        with Follower(clone) as stranger:
            follow_first_hour(stranger, hurried=False)
        assert time.monotonic() - began < MINUTES_MAX * 60
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(60)
        running.stdout.close()
    left = subprocess.run(
        ["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True
    )
    assert left.stdout == ""


def test_make_run_starts_what_the_tests_start():
    shown = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "--assume-old=.venv/.runtime", "run"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    made, started = shown.stdout.splitlines()[-2:]
    assert made == "mkdir -p scratch"
    assert started == ".venv/bin/clearlane serve --data .data --port 8443"


def test_the_tutorial_has_its_five_pages_and_each_shows_what_its_commands_say():
    assert [page.name[:2] for page in TUTORIAL] == ["1-", "2-", "3-", "4-", "5-"]
    assert all(any(step.shown for step in steps(text(page))) for page in TUTORIAL)


def test_every_example_is_in_the_list():
    files = {
        file.name for file in (ROOT / "examples").iterdir() if file.suffix in {".sh", ".py", ".mjs"}
    }
    assert files == set(WALKS)


def test_the_node_example_needs_nothing_but_node():
    code = text(ROOT / "examples" / "node.mjs")
    assert all(name.startswith("node:") for name in re.findall(r'from "([^"]+)"', code))
