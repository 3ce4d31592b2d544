"""How often a vendor may call, on this node. Is told the time."""

from math import ceil

from clearlane.accounts.model import Vendor
from clearlane.kernel.ids import VendorId

MINUTE_SECONDS = 60.0


class Rates:
    """Spreads a vendor's calls: a rested vendor may make a minute's calls at once, then one by one."""

    def __init__(self) -> None:
        # When each vendor's calls so far will have been paid for, one after the other.
        self._paid_at: dict[VendorId, float] = {}

    def wait(self, vendor: Vendor, now: float) -> int:
        """Take one call of the vendor's; 0, or the whole seconds until the next one may pass."""
        if vendor.rate_per_minute is None:
            return 0
        price = MINUTE_SECONDS / vendor.rate_per_minute
        paid_at = max(now, self._paid_at.get(vendor.id, now)) + price
        seconds = ceil(round(paid_at - now - MINUTE_SECONDS, 6))
        if seconds <= 0:
            self._paid_at[vendor.id] = paid_at
        return max(0, seconds)
