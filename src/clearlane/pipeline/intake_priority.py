"""Who goes first on a busy node: callers who hand in claims, and for a short while only.

Writing files for payers takes as much of the interpreter as accepting claims does. While many come in, gathering
lets them pass; when they do not stop coming, it goes ahead all the same.
"""

import time
from collections.abc import Callable

from clearlane.kernel import limits


class Rush:
    """How many claims a node is handed."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._claims = 0
        self._looked_at = self._calm_at = seconds()

    def handed(self, claims: int) -> None:
        """So many claims have come in."""
        self._claims += claims

    def over(self) -> bool:
        """Whether other work may go ahead: few claims came since the last look, or it has waited enough."""
        now = self._seconds()
        rate = self._claims / max(now - self._looked_at, 1.0)
        self._claims, self._looked_at = 0, now
        if rate > limits.RUSH_CLAIMS_PER_SECOND and now - self._calm_at < limits.RUSH_SECONDS_MAX:
            return False
        self._calm_at = now
        return True
