"""Decide whether a failed call is retried, and after which pause.

Pure: takes the error, the call's rule and the elapsed time; returns a pause or None.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from clearlane.client import limits
from clearlane.client.calls import RetryRule
from clearlane.client.errors import ClearlaneError


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """The retry policy of a client. ``Retry(attempts_max=1)`` never retries."""

    attempts_max: int = limits.ATTEMPTS_MAX
    seconds_max: float = limits.RETRY_SECONDS_MAX
    """From the first attempt to the beginning of the last."""
    first_pause_seconds: float = limits.FIRST_PAUSE_SECONDS
    pause_seconds_max: float = limits.PAUSE_SECONDS_MAX
    random: Callable[[], float] = random.random
    clock: Callable[[], float] = time.monotonic

    def pause_before_retry(
        self, fault: ClearlaneError, rule: RetryRule, *, attempt: int, elapsed: float
    ) -> float | None:
        """Return the seconds until the next attempt; None if the error is final."""
        safe = fault.not_processed or rule is RetryRule.ALWAYS
        if not (fault.retryable and safe) or attempt >= self.attempts_max:
            return None
        grown = min(self.first_pause_seconds * 2 ** (attempt - 1), self.pause_seconds_max)
        # Half of the pause is random, so that many clients do not retry at the same time. A Retry-After of
        # the service is the minimum.
        wait = max(grown * (1 + self.random()) / 2, fault.retry_after or 0.0)
        return wait if elapsed + wait <= self.seconds_max else None
