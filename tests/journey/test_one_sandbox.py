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

from tests.api.service_process import READY
from tests.api.test_serve import free_port
from tests.authorities import environment_with_authorities
from tests.journey.follower import INSTALLED, ROOT, Follower, steps
from tests.journey.newcomer import checkout, sandbox_at
from tests.journey.prepared_command import prepared_command
from tools.docs.library import SAMPLE

pytestmark = pytest.mark.group("one-sandbox")

TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
HOW_TO = ROOT / "docs" / "how-to"
IN_A_SANDBOX = (
    "monitoring", "corrections", "events", "webhooks", "enrollment", "undelivered", "inbox", "payments", "proof-of-filing",
    "print-a-claim",
    "rules", "code-lists", "before-october", "moving", "console", "files", "move-by-shadow", "sftp-site",
    "upstream-hop", "keys", "backup", "ask-the-payer",
)  # fmt: skip
"""How-tos that speak of any installation; a sandbox is one."""
MINUTES_MAX = 15
FAST, AS_THEY_ARE = (f"clearlane sandbox clock --pace {seconds}" for seconds in ("0.3", "2"))
WALKS = {
    "curl.sh": ("curl",),
    "python_sync.py": ("sh",),
    "node.mjs": ("node",),
    "python_async.py": ("sh",),
    "csharp.cs": ("mcs", "mono", "cert-sync"),
}
"""The examples, and the programs that each needs."""
JSON_NET = Path("/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll")


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A stranger in a checkout beside its sandbox, which all pages of this module are typed into."""
    directory = checkout(tmp_path_factory.mktemp("checkout"))
    (directory / "backups").mkdir()
    with sandbox_at(directory), Follower(directory) as stranger:
        stranger.type(f'export PATH="{INSTALLED}"')
        yield stranger
    assert {one.name for one in directory.iterdir()} <= {
        ".venv", ".data", "examples", "scratch", "backups"
    }  # fmt: skip


@pytest.fixture(scope="module")
def quick_reader(reader, tmp_path_factory):
    """The same stranger after the README: the command starts at once, also where a page says where it is."""
    reader.programs = f"{prepared_command(tmp_path_factory.mktemp('prepared'))}:{INSTALLED}"
    reader.type(f'export PATH="{reader.programs}"')
    return reader


def follow(reader: Follower, page: Path) -> str:
    """Type a page; its ids are its own, though other pages show equal ones."""
    reader.names = {"/backups": f"{reader.directory}/backups", "3000": str(free_port())}
    reader.names[INSTALLED] = reader.programs
    return reader.follow(text(page))


def states(reader: Follower) -> dict[str, str]:
    """The state of each claim."""
    listed = reader.type("clearlane claim status --json")
    return {row["VendorClaimId"]: row["CurrentState"] for row in json.loads(listed)}


# What must have happened when a page of the first hour was typed: words of its output, and states of claims.
FIRST_HOUR = {
    "README.md": ("ResultsComplete", {"FIRST-1": "Complete"}),
    "1-a-paid-claim.md": ("PayerAmount: 65.0", {"PAID-1": "Complete"}),
    "2-a-denial.md": ("What to do: Appeal", {"DENIED-1": "Complete", "HEALED-1": "Complete"}),
    "3-a-refusal.md": ("takes over from", {"REFUSED-1": "Rejected", "CORRECTED-1": "Complete"}),
    "4-a-late-answer.md": (
        "corrected, sent as new",
        {"TUTORIAL-4": "Complete", "HOOK-1": "Complete"},
    ),
    "5-an-enrollment.md": ("enrollment.approved", {}),
}


def follow_first_hour_page(reader: Follower, page: Path) -> None:
    words, expected = FIRST_HOUR[page.name]
    assert words in follow(reader, page)
    found = states(reader) if expected else {}
    assert {name: found[name] for name in expected} == expected


# These tests run in this order, in one process: each page begins where the one before it ended.


@pytest.mark.parametrize("page", [ROOT / "README.md", *TUTORIAL], ids=lambda page: page.stem)
def test_the_first_hour_leads_from_a_paid_claim_to_an_enrollment(request, page):
    is_first = page.name == "README.md"
    reader = request.getfixturevalue("reader" if is_first else "quick_reader")
    waits = page.name in {"README.md", "1-a-paid-claim.md"}  # the others let time pass themselves
    reader.type(FAST if waits else AS_THEY_ARE)
    follow_first_hour_page(reader, page)


def example_of(command: str) -> str:
    return re.search(r"examples/(\S+)", command)[1]


# Each command of the first block is an example; the second block compiles one and runs it.
ONE_COMMAND, COMPILED = steps(text(ROOT / "examples" / "README.md"))
EXAMPLES = {example_of(command): (command,) for command in ONE_COMMAND.commands} | {
    example_of(COMPILED.commands[0]): COMPILED.commands
}


def missing_programs(name: str) -> list[str]:
    missing = [program for program in WALKS[name] if shutil.which(program) is None]
    return missing or ([JSON_NET.name] if name == "csharp.cs" and not JSON_NET.is_file() else [])


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_gets_what_it_waits_for_though_the_clock_is_ahead(quick_reader, name):
    reader = quick_reader
    if missing := missing_programs(name):
        pytest.skip(f"{name} needs {', '.join(missing)}")
    reader.type(FAST)
    # mono keeps the authorities that it trusts in the user's home.
    home = 'HOME="$PWD/scratch" XDG_CONFIG_HOME="$PWD/scratch" ' if name == "csharp.cs" else ""
    *before, command = (f"{home}{each}" for each in EXAMPLES[name])
    for each in before:
        reader.type(each)
    said = reader.type(command)
    assert (
        json.loads(text(reader.directory / ".data" / "sandbox.json"))["vendor_password"] not in said
    )
    printed = by_first_word(said)
    if name == "python_async.py":
        assert (printed["accepted"], printed["by state"][0][:3]) == (["20"], "20 ")
        return
    assert "TST01" in printed["payers"][0]
    assert "NotAccepted" not in printed["submitted"][0]
    number = re.search(r"C[0-9A-Z]{18}", printed["submitted"][0])[0]
    assert number in printed["again"][0]
    assert "make them equal" in printed["refused"][0]
    assert "Complete" in printed["state"][-1]
    assert "ResultsComplete" in printed["benefits"][0]
    # Without the time to wait it has not got what it wanted, and says so.
    impatient = re.sub(r"(?<= )\.data(?=\s|$)", ".data 0", command.partition("#")[0], count=1)
    reader.type(f"{impatient} # exit status 1")


# What a page begins with that no page before it leaves.
BEFORE = {
    "enrollment": (
        # With this tax id the sandbox's payers never answer: the page does.
        "sed 's/FERNHILL/MEADOW/; s/1234567893/1245319599/; s/123456789/123453009/' scratch/provider.json > scratch/second.json",
        "clearlane enrollment submit scratch/second.json",
    ),
    # The page shows the one answer of its own claim: what earlier claims wait for comes before it.
    "inbox": ("clearlane sandbox advance 30d",),
    "keys": ("clearlane vendor add ACME",),
}


@pytest.mark.parametrize("name", IN_A_SANDBOX)
def test_a_how_to_works_in_the_sandbox_of_the_first_hour(quick_reader, name):
    for command in BEFORE.get(name, ()):
        quick_reader.type(command)
    follow(quick_reader, HOW_TO / f"{name}.md")


def test_the_sandbox_page_and_the_sample_of_the_client_work(quick_reader):
    reader = quick_reader
    follow(reader, ROOT / "docs" / "reference" / "sandbox.md")
    said = reader.type(f"python3 <<'END'\n{SAMPLE}\nEND")
    assert "TST01" in said
    assert "required" in said


def test_a_reset_sandbox_begins_anew_with_the_same_credentials(quick_reader):
    reader = quick_reader
    assert "ahead of real time" in " ".join(reader.type("clearlane doctor").split())
    assert "The sandbox is empty" in reader.type("clearlane sandbox reset --yes")
    assert states(reader) == {}
    assert "ahead of real time" not in reader.type("clearlane doctor")
    assert "Accepted" in reader.type("clearlane claim submit scratch/paid.json")


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
        env=environment_with_authorities(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert any(line.startswith(READY) for line in running.stdout)
        with Follower(clone) as stranger:
            for page in (ROOT / "README.md", *TUTORIAL):
                follow_first_hour_page(stranger, page)
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
        file.name
        for file in (ROOT / "examples").iterdir()
        if file.suffix in {".sh", ".py", ".mjs", ".cs"}
    }
    assert files == set(WALKS) == set(EXAMPLES)


def test_the_node_example_needs_nothing_but_node():
    code = text(ROOT / "examples" / "node.mjs")
    assert all(name.startswith("node:") for name in re.findall(r'from "([^"]+)"', code))
