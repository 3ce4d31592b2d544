"""When a call is sent again, and after which pause.

Pure: a fault, the call's rule and what has passed go in, a pause or nothing comes out.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from clearlane.client import limits
from clearlane.client.calls import Repeat
from clearlane.client.errors import ClearlaneError


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How patient a client is. ``Retry(attempts_max=1)`` never repeats."""

    attempts_max: int = limits.ATTEMPTS_MAX
    seconds_max: float = limits.REPEATING_SECONDS_MAX
    """From the first attempt to the beginning of the last."""
    first_pause_seconds: float = limits.FIRST_PAUSE_SECONDS
    pause_seconds_max: float = limits.PAUSE_SECONDS_MAX
    chance: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic

    def pause(
        self, fault: ClearlaneError, repeat: Repeat, *, attempt: int, elapsed: float
    ) -> float | None:
        """Seconds until the next attempt; None where the fault is the answer."""
        safe = fault.untaken or repeat is Repeat.ALWAYS
        if not (fault.repeatable and safe) or attempt >= self.attempts_max:
            return None
        grown = min(self.first_pause_seconds * 2 ** (attempt - 1), self.pause_seconds_max)
        # Half of the pause is by chance, so that many clients do not come back together. Where the
        # service says when to come back, that is the least.
        wait = max(grown * (1 + self.chance()) / 2, fault.retry_after or 0.0)
        return wait if elapsed + wait <= self.seconds_max else None
