"""How many processors this process may use: those of the machine that it is bound to, or its share of them."""

import math
import os
from pathlib import Path

_GROUPS = Path("/proc/self/cgroup")
_TREE = Path("/sys/fs/cgroup")


def count_processors(groups: Path = _GROUPS, tree: Path = _TREE) -> int:
    """Return the number of processors, rounded up; limits of control groups (versions 1 and 2) count."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    share = _share(groups, tree)
    return min(bound or 1, math.ceil(share)) if share else bound or 1


def _share(groups: Path, tree: Path) -> float:
    """Return how many processors the control group of this process gives it; 0 if it has no limit."""
    try:
        rows = [line.split(":", 2) for line in groups.read_text().splitlines()]
    except OSError:
        return 0.0
    for _, controllers, path in (row for row in rows if len(row) == 3):
        if not controllers:
            quota, period = _numbers(tree / path.lstrip("/") / "cpu.max")
        elif "cpu" in controllers.split(","):
            own = tree / controllers / path.lstrip("/")
            (quota,), (period,) = (
                _numbers(own / name)[:1] for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            )
        else:
            continue
        if quota > 0 and period > 0:
            return quota / period
    return 0.0


def _numbers(file: Path) -> tuple[float, float]:
    """Return the first two numbers of a file; 0 for what is not there or says that there is no limit."""
    try:
        words = file.read_text().split()
    except OSError:
        words = []
    found = [float(word) if word.lstrip("-").isdigit() else 0.0 for word in words[:2]]
    first, second, *_ = (*found, 0.0, 0.0)
    return first, second
