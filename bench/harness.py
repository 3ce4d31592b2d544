"""The table of measurements and the way one is run and printed.

A measurement is a function that makes its own inputs and returns one or more :class:`Measure`.
Each runs in a process of its own, so that none warms or burdens the next.
"""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

SECONDS_MAX = int(os.environ.get("BENCH_SECONDS", "600"))
"""How long one measurement may take."""

LINE = re.compile(r"BENCH (\S+) (\S+) (.+) ratio=(\S+) vs=(.*)")


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the report. If a line has no natural ratio: ``ratio=1 vs=none``."""

    name: str
    value: float
    unit: str
    ratio: float = 1.0
    versus: str = "none"

    def __str__(self) -> str:
        return f"BENCH {self.name} {self.value:.4g} {self.unit} ratio={self.ratio:.3g} vs={self.versus}"


def parse_measure(line: str) -> Measure | None:
    """Return the measure that a line reports; None if it is another kind of line."""
    found = LINE.fullmatch(line)
    if found is None:
        return None
    name, value, unit, ratio, versus = found.groups()
    return Measure(name, float(value), unit, float(ratio), versus)


Outcome = Measure | Iterable[Measure]
BENCHES: dict[str, Callable[[], Outcome]] = {}


def bench(name: str) -> Callable[[Callable[[], Outcome]], Callable[[], Outcome]]:
    """Enter a function into the table."""

    def register(function: Callable[[], Outcome]) -> Callable[[], Outcome]:
        assert name not in BENCHES, f"measurement {name} is defined twice"
        BENCHES[name] = function
        return function

    return register


def seconds(work: Callable[[], object], *, runs: int = 5) -> float:
    """The best wall time of a few runs: noise only ever adds."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def side_by_side(
    ours: Callable[[], object], peer: Callable[[], object], *, runs: int = 5
) -> tuple[float, float]:
    """Times of two pieces of work, taken in turns so that a noisy neighbor hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for work, kept in zip((ours, peer), times, strict=True):
            start = perf_counter()
            work()
            kept.append(perf_counter() - start)
    return median(times[0]), median(times[1])
