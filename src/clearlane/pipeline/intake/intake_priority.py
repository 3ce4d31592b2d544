"""Give callers who submit claims priority over the writing of batches, for a short while.

Writing batches needs as much of the interpreter as accepting claims. While many claims arrive, batching waits; when
they do not stop arriving, it runs all the same.
"""

import time
from collections.abc import Callable

# Above this rate intake has priority: files for payers wait until it drops, and at most this long.
INTAKE_PRIORITY_CLAIMS_PER_SECOND = 100
INTAKE_PRIORITY_SECONDS_MAX = 15


class IntakePriority:
    """Measures how many claims a node receives."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._claims = 0
        self._asked_at = self._calm_at = seconds()

    def record_claims(self, claims: int) -> None:
        """Count claims that were submitted."""
        self._claims += claims

    @property
    def is_calm(self) -> bool:
        """Whether few claims arrive now: work that may wait for as long as they do asks this."""
        seconds = max(self._seconds() - self._asked_at, 1.0)
        return self._claims / seconds <= INTAKE_PRIORITY_CLAIMS_PER_SECOND

    def allows_batching(self, *, beside_large_file: bool = False) -> bool:
        """Return whether batching may run: few claims arrived since the last call, or it waited long enough.

        Claims of a large file are released by a process of its own: while it runs, many claims arrive.
        """
        now = self._seconds()
        rate = self._claims / max(now - self._asked_at, 1.0)
        self._claims, self._asked_at = 0, now
        if (
            beside_large_file or rate > INTAKE_PRIORITY_CLAIMS_PER_SECOND
        ) and now - self._calm_at < INTAKE_PRIORITY_SECONDS_MAX:
            return False
        self._calm_at = now
        return True
