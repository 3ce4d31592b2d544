"""Measure this checkout against another one: ``python -m bench --against DIR [name-part ...]``.

Each measurement runs in both checkouts in turns, several rounds, so that a noisy machine hits both alike. The order
changes from round to round. A checkout runs its own measurements, with its own ``.venv`` if it has one and with ours
otherwise. Each line is printed twice: as `BENCH`, with the value of this checkout, and as::

    AGAINST <name> <here> <there> <unit> quotient=<q> spread=<s>

Both values are medians. The quotient is the median of the rounds' quotients. Over 1 this checkout is better, under 1 it is
worse: in a rate (``claims/s``) more is better, in everything else (``ms``, ``MB``, ``% of a core``) less. The spread is
the difference between the highest and the lowest quotient: a quotient nearer to 1 than that is noise.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from bench.harness import SECONDS_MAX, Measure, parse_measure

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
NAMES = (
    "from bench.__main__ import load; from bench.harness import BENCHES; load(); print(*BENCHES)"
)
Runner = Callable[[str], list[Measure]]
Lines = dict[tuple[str, str, int], Measure]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line of two checkouts, as it was measured in each round."""

    here: tuple[Measure, ...]
    there: tuple[Measure, ...]

    @property
    def quotients(self) -> list[float]:
        """How many times better this checkout was in each round."""
        unit = self.here[0].unit
        pairs = [(one.value, other.value) for one, other in zip(self.here, self.there, strict=True)]
        if not unit.endswith("/s"):
            pairs = [(other, one) for one, other in pairs]
        return [_divide(one, other) for one, other in pairs]

    def __str__(self) -> str:
        here, there = _median(self.here), _median(self.there)
        found = self.quotients
        return (
            f"{here}\nAGAINST {here.name} {here.value:.4g} {there.value:.4g} {here.unit}"
            f" quotient={median(found):.3f} spread={max(found) - min(found):.3f}"
        )


def _median(measures: Iterable[Measure]) -> Measure:
    rounds = [*measures]
    return replace(
        rounds[0],
        value=median(one.value for one in rounds),
        ratio=median(one.ratio for one in rounds),
    )


def _divide(one: float, other: float) -> float:
    if one == other:
        return 1.0
    return one / other if other else float("inf")


class Checkout:
    """Runs measurements in a checkout, with that checkout's code whatever else is installed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        own = folder / ".venv/bin/python"
        self._python = str(own) if own.exists() else sys.executable
        paths = [str(folder / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}

    def names(self) -> list[str]:
        """Return the names of its measurements."""
        return self._run("-c", NAMES).split()

    def measure(self, name: str) -> list[Measure]:
        """Run one measurement and return its lines; none if it failed."""
        try:
            lines = self._run("-m", "bench", "--one", name).splitlines()
        except subprocess.SubprocessError as fault:
            print(f"{self._folder}: {name}: {fault}", file=sys.stderr)
            return []
        return [*filter(None, map(parse_measure, lines))]

    def _run(self, *arguments: str) -> str:
        return subprocess.run(
            [self._python, *arguments],
            check=True,
            timeout=SECONDS_MAX,
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout


def compare(name: str, here: Runner, there: Runner, rounds: int = ROUNDS) -> Iterator[Comparison]:
    """Run one measurement in both checkouts in turns; yield the lines that both have in every round."""
    found: tuple[list[Lines], list[Lines]] = ([], [])
    for number in range(rounds):
        print(f"{name}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        turns = [(here, found[0]), (there, found[1])]
        for run, kept in turns if number % 2 == 0 else turns[::-1]:
            lines = _by_key(run(name))
            if not lines:
                return
            kept.append(lines)
    for key in found[0][0]:
        if all(key in lines for side in found for lines in side):
            yield Comparison(*(tuple(lines[key] for lines in side) for side in found))


def _by_key(measures: Iterable[Measure]) -> Lines:
    """Return lines by name, unit and occurrence: a measurement may print a name for each of two peers."""
    seen: Counter[tuple[str, str]] = Counter()
    found: Lines = {}
    for one in measures:
        key = one.name, one.unit
        found[*key, seen[key]] = one
        seen[key] += 1
    return found


def run_against(other: Path, names: Iterable[str], rounds: int = ROUNDS) -> int:
    """Compare these measurements and print them; return how many could not be compared."""
    here, there = Checkout(ROOT), Checkout(other.resolve())
    known = there.names()
    failed = 0
    for name in names:
        if name not in known:
            print(f"{name} is not measured in {other}", file=sys.stderr)
            continue
        compared = 0
        for comparison in compare(name, here.measure, there.measure, rounds):
            print(comparison, flush=True)
            compared += 1
        failed += not compared
    return failed
