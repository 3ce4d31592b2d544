"""Commands that list or look import no library that only a server or a connection needs: each costs an operator time.

Also tests `pipeline/installation_context`.
"""

import subprocess
import sys

import pytest

from clearlane.cli.command.root import COMMANDS

# Commands whose modules are light, and what must not come with them.
LIGHT_GROUPS = (
    "audit",
    "batch",
    "claim",
    "user",
    "db",
    "inbox",
    "keys",
    "payer",
    "payment",
    "route",
    "site",
    "vendor",
)
HEAVY = (
    "asyncssh",
    "clearlane.claims.forms",
    "clearlane.claims.rules",
    "clearlane.x12.guides.g837p",
    "dbos",
    "httpx",
    "starlette",
    "structlog",
    "uvicorn",
)  # fmt: skip
# What `claim show` must not bring with it either: a claim that no payer has answered needs no 837, no reader and no fields.
OF_THE_837 = (
    "clearlane.claims.fields",
    "clearlane.claims.forms",
    "clearlane.claims.read.decode",
    "clearlane.claims.view",
    "clearlane.claims.write.placements_837",
    "clearlane.claims.write.placements_837d",
    "clearlane.claims.write.placements_837p",
    "clearlane.claims.rules",
    "clearlane.claims.write.write_837",
    "clearlane.x12.guides.g837p",
    "clearlane.x12.reader.reader",
    "clearlane.x12.views",
    "dbos",
    "structlog",
)
# Runs a command to its end.
RUN = """
import sys
from clearlane.cli.command.root import main
sys.argv = {arguments!r}
try:
    main()
except SystemExit:
    pass
"""
# A command's last act is to leave nothing to the garbage collector, which looks through all modules when it ends.
REPORT = """
import gc, sys
print("\\n", *sys.modules, *["everything-frozen"] * (gc.get_freeze_count() > len(gc.get_objects())))
"""


@pytest.fixture(scope="module")
def imported():
    """What is imported with each group, on top of those before it."""
    program = [
        "import importlib, sys",
        f"for group, module in {[(name, COMMANDS[name].module) for name in LIGHT_GROUPS]!r}:",
        "    importlib.import_module('clearlane.cli.' + module)",
        f"    print(group, *[name for name in {HEAVY!r} if name in sys.modules])",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(program)], check=True, capture_output=True, text=True
    )
    return {words[0]: words[1:] for words in map(str.split, done.stdout.splitlines())}


@pytest.mark.parametrize("group", LIGHT_GROUPS)
def test_a_command_group_imports_nothing_heavy(imported, group):
    assert imported[group] == []


def test_claim_show_imports_nothing_of_the_837():
    modules = _modules_after("import clearlane.cli.claim.claim_show")
    assert [name for name in OF_THE_837 if name in modules] == []


def test_status_runs_without_the_engine_library_and_leaves_nothing_to_the_collector(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("CLEARLANE_DATA", str(tmp_path))
    program = RUN.format(arguments=["clearlane", "status"])
    modules = _modules_after(program)
    assert [name for name in HEAVY if name in modules] == []
    assert "everything-frozen" in modules


def _modules_after(program):
    """What a new interpreter has imported after a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{REPORT}"], check=True, capture_output=True, text=True
    )
    return set(done.stdout.splitlines()[-1].split())
