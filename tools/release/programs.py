"""Run the programs that a release needs, without what this user's environment sets for Clearlane."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UV = ROOT / ".tools" / "bin" / "uv"
# Programs that only a release uses, in an environment of their own: `tools/install release`.
RELEASE_BIN = ROOT / ".tools" / "release" / "bin"
RUN_SECONDS_MAX = 900


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a program to its end and return what it printed; its failure ends the release."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, env=bare_environment(**(env or {})), capture_output=True, text=True,
        timeout=RUN_SECONDS_MAX, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(
            f"release: {' '.join(words)} failed ({done.returncode}):\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def bare_environment(**more: str) -> dict[str, str]:
    """Return the environment without settings of Clearlane and of Python."""
    foreign = ("CLEARLANE_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return kept | {"NO_COLOR": "1", **more}
