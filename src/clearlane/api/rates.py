"""Limit the calls of each vendor on this node: two nodes let twice as many through. The caller passes the time in."""

from math import ceil
from typing import NamedTuple

from clearlane.accounts.model import Vendor
from clearlane.kernel.ids import VendorId

MINUTE_SECONDS = 60.0


class RateState(NamedTuple):
    """Where a vendor stands with its limit of calls."""

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

    def __init__(self) -> None:
        # When each vendor's calls so far would have ended at an even rate: the bucket is empty then.
        self._empty_at: dict[VendorId, float] = {}

    def take_call(self, vendor: Vendor, now: float) -> int:
        """Count one call; return 0 if it may pass, else the whole seconds to wait."""
        if vendor.rate_per_minute is None:
            return 0
        interval = MINUTE_SECONDS / vendor.rate_per_minute
        empty_at = max(now, self._empty_at.get(vendor.id, now)) + interval
        seconds = ceil(round(empty_at - now - MINUTE_SECONDS, 6))
        if seconds <= 0:
            self._empty_at[vendor.id] = empty_at
        return max(0, seconds)

    def state(self, vendor: Vendor, now: float) -> RateState | None:
        """Return where a vendor stands; None where it has no limit."""
        rate = vendor.rate_per_minute
        if rate is None:
            return None
        seconds = max(0.0, self._empty_at.get(vendor.id, now) - now)
        used = ceil(round(seconds * rate / MINUTE_SECONDS, 6))
        return RateState(rate, max(0, rate - used), ceil(round(seconds, 6)))
