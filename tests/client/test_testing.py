"""The sandbox for tests: it is started, its clock advances, and programs find it by the environment.

Also tests `client/testing/sandbox_control`, `cli/installation/sandbox_seed` and `cli/events/trigger`.
"""

import json
import sys
from collections import Counter

import pytest
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from clearlane.cli.installation.sandbox_seed import STOPPED, WEEKS, plan_claims
from clearlane.client import NotReached
from clearlane.client.account import Account
from clearlane.client.testing import NotStarted, clearlane_sandbox, running_sandbox
from clearlane.client.testing.sandbox_control import SandboxControl
from clearlane.wiring.sandbox_runtime import claim_scenarios

__all__ = ["clearlane_sandbox"]
# The product itself starts the service here, which the search for starters does not follow.
pytestmark = pytest.mark.server


def run(sandbox, *words: str, **options):
    return CliRunner().invoke(app, [*words, "--data", str(sandbox.data)], **options)


def test_a_claim_is_paid_when_the_clock_says_so_and_a_seed_has_every_scenario(clearlane_sandbox):
    sandbox = clearlane_sandbox
    sample = CliRunner().invoke(app, ["claim", "sample", "--id", "TESTING-1"]).stdout
    [sent] = sandbox.client.claims.submit(json.loads(sample)).claims
    sandbox.advance("15d")
    assert sandbox.client.claims.get(sent.claim_number).state == "complete"
    sandbox.set_payer("TST02", "down")
    assert {row["Mode"] for row in SandboxControl(sandbox.account).payers()} == {"up", "down"}
    sandbox.set_payer("TST02", "up")
    assert sandbox.environment["CLEARLANE_CLIENT_SITE"] == "SANDBOX-1"

    scenarios = claim_scenarios()
    count = len(scenarios) + STOPPED
    triggered = run(sandbox, "events", "trigger", "claim.rejected", "--json")
    assert '"claim.rejected"' in triggered.stdout
    assert (triggered.exit_code, run(sandbox, "events", "trigger", "x").exit_code) == (0, 2)
    few = run(sandbox, "sandbox", "seed", "--claims", "3")
    assert f"At least {count} claims are needed" in few.stderr
    seeded = run(sandbox, "sandbox", "seed", "--claims", str(count), "--json")
    assert seeded.exit_code == 0, seeded.stderr
    seen = json.loads(seeded.stdout)
    assert seen["Submitted"] == seen["Accepted"] == count
    # The corrected claim and the one sent in its place have one id of the vendor's.
    assert sum(seen["Labels"].values()) == count + 1
    assert {"paid", "denied", "rejected", "held", "canceled", "accepted"} <= seen["Labels"].keys()
    assert seen["Frozen"]  # as before


def test_a_command_runs_beside_a_sandbox_and_finds_it_by_its_environment(tmp_path):
    asks = "import os, sys; from clearlane.client import Client, from_environment; "
    asks += "client = Client(from_environment()); sys.exit(3 if list(client.claims.find()) == [] else 4)"
    words = ["sandbox", "run", "--data", str(tmp_path / "data"), sys.executable, "-c", asks]
    assert CliRunner().invoke(app, words).exit_code == 3
    nothing = CliRunner().invoke(
        app, ["sandbox", "run", "--data", str(tmp_path / "data"), "no-such"]
    )
    assert (nothing.exit_code, "no command 'no-such'" in nothing.stderr) == (2, True)


def test_every_scenario_is_once_in_two_months():
    planned = plan_claims(80, list(claim_scenarios()), "RUN")
    chosen = Counter(each.scenario for each in planned)
    del chosen[""]
    assert chosen == Counter(claim_scenarios().keys())
    assert len({each.id for each in planned}) == 80
    assert {each.week for each in planned} == set(range(WEEKS + 1))
    assert len({each.kind for each in planned}) == 3


def test_a_sandbox_that_cannot_start_says_why(tmp_path):
    (tmp_path / "data").write_text("no directory")
    with pytest.raises(NotStarted, match="data"), running_sandbox(tmp_path / "data"):
        pass


def test_a_service_that_is_not_there_is_named():
    account = Account.of("https://127.0.0.1:9", "KEY", "PASSWORD", "SITE")
    with pytest.raises(NotReached, match=r"127\.0\.0\.1:9"):
        SandboxControl(account).advance("1d")
