"""Commands that list or look import no library that only a server or a connection needs: each costs an operator time."""

import subprocess
import sys

import pytest

# The modules of command groups, and what must not come with them.
LIGHT_GROUPS = (
    "audit",
    "batch",
    "claim",
    "console_user",
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


@pytest.fixture(scope="module")
def imported():
    """What is imported with each group, on top of those before it."""
    program = [
        "import importlib, sys",
        f"for group in {LIGHT_GROUPS!r}:",
        "    importlib.import_module('clearlane.cli.' + group)",
        f"    print(group, *[name for name in {HEAVY!r} if name in sys.modules])",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(program)], check=True, capture_output=True, text=True
    )
    return {words[0]: words[1:] for words in map(str.split, done.stdout.splitlines())}


@pytest.mark.parametrize("group", LIGHT_GROUPS)
def test_a_command_group_imports_nothing_heavy(imported, group):
    assert imported[group] == []
