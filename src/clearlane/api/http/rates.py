"""Limit the calls of each vendor on this node: two nodes let twice as many through. The caller passes the time in.

A vendor without a limit of its own has that of the installation, which protects the node from a program that runs wild.
"""

from math import ceil
from typing import NamedTuple

from clearlane.accounts.model import Vendor
from clearlane.kernel.ids import VendorId

MINUTE_SECONDS = 60.0


class RateState(NamedTuple):
    """How much of its limit of calls a vendor has left."""

    rate_per_minute: int
    remaining: int
    reset_seconds: int
    """Until the whole limit is there again."""

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return the header fields of draft-ietf-httpapi-ratelimit-headers."""
        return (
            ("RateLimit-Policy", f'"vendor";q={self.rate_per_minute};w={int(MINUTE_SECONDS)}'),
            ("RateLimit", f'"vendor";r={self.remaining};t={self.reset_seconds}'),
        )


class RateLimiter:
    """A leaky bucket per vendor (GCRA): a minute's calls may come in a burst, then at an even rate."""

    def __init__(self, default_per_minute: int = 0) -> None:
        """Limit vendors without a limit of their own to ``default_per_minute``; 0 is no limit."""
        self._default = default_per_minute or None
        # When each vendor's calls so far would have ended at an even rate: the bucket is empty then.
        self._empty_at: dict[VendorId, float] = {}

    def rate_of(self, vendor: Vendor) -> int | None:
        """Return how many calls a minute a vendor may make; None if there is no limit."""
        return vendor.rate_per_minute or self._default

    def take_call(self, vendor: Vendor, now: float) -> int:
        """Count one call; return 0 if it may pass, else the whole seconds to wait."""
        rate = self.rate_of(vendor)
        if rate is None:
            return 0
        interval = MINUTE_SECONDS / rate
        empty_at = max(now, self._empty_at.get(vendor.id, now)) + interval
        seconds = ceil(round(empty_at - now - MINUTE_SECONDS, 6))
        if seconds <= 0:
            self._empty_at[vendor.id] = empty_at
        return max(0, seconds)

    def state(self, vendor: Vendor, now: float) -> RateState | None:
        """Return what a vendor has left of its limit; None if it has no limit."""
        rate = self.rate_of(vendor)
        if rate is None:
            return None
        seconds = max(0.0, self._empty_at.get(vendor.id, now) - now)
        used = ceil(round(seconds * rate / MINUTE_SECONDS, 6))
        return RateState(rate, max(0, rate - used), ceil(round(seconds, 6)))
