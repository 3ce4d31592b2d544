"""Durations of one kind of wait, counted in buckets: what a histogram of metrics needs, without a metrics library."""

from bisect import bisect_left
from collections.abc import Iterator

BOUNDS_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0)


class Durations:
    """Counts durations by their upper bound. Counted in one thread, read in any."""

    __slots__ = ("_counts", "total_seconds")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS_SECONDS) + 1)
        self.total_seconds = 0.0

    def count(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self.total_seconds += seconds

    def buckets(self) -> Iterator[tuple[str, int]]:
        """Yield each bound and how many durations were not longer; the last bound is infinite."""
        at_most = 0
        for bound, count in zip((*map(str, BOUNDS_SECONDS), "+Inf"), self._counts, strict=True):
            at_most += count
            yield bound, at_most

    @property
    def counted(self) -> int:
        """How many durations were counted."""
        return sum(self._counts)
