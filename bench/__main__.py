"""Run the measurements: ``python -m bench [name-part ...]``.

Each family of measurements is a module beside this one; each measurement runs in a fresh process.
"""

import importlib
import pkgutil
import subprocess
import sys

import bench
from bench.harness import BENCHES, Measure

SECONDS_MAX = 600
NOT_FAMILIES = {"__main__", "growth", "harness", "soak"}


def load() -> None:
    """Import every family, which fills the table."""
    for module in pkgutil.iter_modules(bench.__path__):
        if module.name not in NOT_FAMILIES:
            importlib.import_module(f"bench.{module.name}")


def run_one(name: str) -> None:
    """Run one measurement here and print its lines."""
    outcome = BENCHES[name]()
    for measure in [outcome] if isinstance(outcome, Measure) else outcome:
        print(measure, flush=True)


def main(arguments: list[str]) -> int:
    load()
    if arguments[:1] == ["--one"]:
        run_one(arguments[1])
        return 0
    chosen = [name for name in BENCHES if not arguments or any(part in name for part in arguments)]
    failed = 0
    for at, name in enumerate(chosen, 1):
        print(f"[{at}/{len(chosen)}] {name}", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "bench", "--one", name]
        try:
            failed += subprocess.run(command, check=False, timeout=SECONDS_MAX).returncode != 0
        except subprocess.TimeoutExpired:
            print(f"{name} took longer than {SECONDS_MAX} s and was stopped", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
