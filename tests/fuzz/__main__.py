"""Fuzz the engine and the decoders: ``python -m tests.fuzz [--seconds 60] [--target NAME] [--seed N]``.

With atheris installed (``pip install atheris``; it has no build for every system) the inputs follow the coverage of the
code; without it Hypothesis makes them. A failure ends the run with status 1 and shows the smallest input found; it belongs into
``tests/fuzz/test_fuzz.py`` together with its repair.
"""

import argparse
import os
import subprocess
import sys
import time
from importlib.util import find_spec

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.mutations import inputs
from tests.fuzz.targets import TARGETS, FuzzTarget

SECONDS = 60
EXAMPLES_PER_ROUND = 50


def run_hypothesis(target: FuzzTarget, seconds: float, first_seed: int) -> int:
    """Run rounds of examples until the time is over; return how many inputs were tried."""
    tried = 0

    def one(data: bytes) -> None:
        nonlocal tried
        tried += 1
        target.run(data)

    # Times differ, examples are no test of speed, and a report of values is what is wanted here.
    rules = settings(
        max_examples=EXAMPLES_PER_ROUND,
        deadline=None,
        database=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    target.seeds()  # Some are made at random, which is not for Hypothesis to repeat.
    end, number = time.monotonic() + seconds, first_seed
    while time.monotonic() < end:
        seed(number)(rules(given(inputs(target))(one)))()
        number += 1
    return tried


def run_atheris(target: FuzzTarget, seconds: float) -> None:
    """Run atheris on one target; it never returns, so each target has a process of its own."""
    import atheris

    atheris.instrument_all()
    dictionary = [f"-max_total_time={max(1, int(seconds))}", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *dictionary], target.run)
    atheris.Fuzz()


def main(arguments: list[str] | None = None) -> int:
    """Fuzz every target, or one, for some seconds in all."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--target", choices=sorted(TARGETS))
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--engine", choices=["atheris", "hypothesis"], default=None)
    chosen = parser.parse_args(arguments)
    engine = chosen.engine or ("atheris" if find_spec("atheris") else "hypothesis")
    if engine == "atheris" and chosen.target:
        run_atheris(TARGETS[chosen.target], chosen.seconds)
    targets = [TARGETS[chosen.target]] if chosen.target else list(TARGETS.values())
    share = chosen.seconds / len(targets)
    first_seed = chosen.seed if chosen.seed is not None else int.from_bytes(os.urandom(4))
    for target in targets:
        if engine == "atheris":
            command = ["-m", "tests.fuzz", "--target", target.name, "--seconds", str(share)]
            if subprocess.run([sys.executable, *command], check=False).returncode:
                return 1
            continue
        tried = run_hypothesis(target, share, first_seed)
        print(f"{target.name}: {tried:,} inputs, seed {first_seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
