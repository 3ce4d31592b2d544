"""Run the measurements: ``python -m bench [--against DIR] [name ...]``.

A name is that of a measurement, or a part of several names; without one all are run. Each family of measurements is a
module beside this one; each measurement runs in a fresh process. ``--against DIR`` measures two checkouts in turns:
see ``bench.against``.
"""

import gc
import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import bench
from bench.against import run_against
from bench.harness import BENCHES, SECONDS_MAX, Measure

NOT_FAMILIES = {"__main__", "against", "growth", "harness", "soak"}


def load() -> None:
    """Import every family, which fills the table."""
    for module in pkgutil.iter_modules(bench.__path__):
        if module.name not in NOT_FAMILIES:
            importlib.import_module(f"bench.{module.name}")


def run_one(name: str) -> None:
    """Run one measurement here and print its lines."""
    # What all families together have imported is not part of what one of them does.
    gc.freeze()
    outcome = BENCHES[name]()
    for measure in [outcome] if isinstance(outcome, Measure) else outcome:
        print(measure, flush=True)


def choose(names: list[str], known: Iterable[str]) -> list[str]:
    """Return the measurements that are named, in the order of the table; all of them without a name."""
    table = [*known]
    chosen = {one for name in names for one in ([name] if name in table else table) if name in one}
    return [one for one in table if one in chosen or not names]


def main(arguments: list[str]) -> int:
    load()
    match arguments:
        case ["--one", name]:
            run_one(name)
            return 0
        case ["--against", folder, *names]:
            other: Path | None = Path(folder)
        case names:
            other = None
    chosen = choose(names, BENCHES)
    if not chosen:
        print(f"no measurement is named {' or '.join(names)}", file=sys.stderr)
        return 2
    return 1 if (run_against(other, chosen) if other else run_all(chosen)) else 0


def run_all(chosen: list[str]) -> int:
    """Run these measurements, each in a process of its own; return how many failed."""
    failed = 0
    for at, name in enumerate(chosen, 1):
        print(f"[{at}/{len(chosen)}] {name}", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "bench", "--one", name]
        try:
            failed += subprocess.run(command, check=False, timeout=SECONDS_MAX).returncode != 0
        except subprocess.TimeoutExpired:
            print(f"{name} took longer than {SECONDS_MAX} s and was stopped", file=sys.stderr)
            failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
