"""What came this month in the whole installation, counted every fifteen seconds at most by each process.

    total = await month.load(database, first, clock)        # PaymentMonthTotal(payments, cents, counted_at)

The months of sites are in their summaries (``claim_summary``). Knows no page.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from clearlane.kernel.clock import Clock
from clearlane.store import payment_lists
from clearlane.store import payments as store
from clearlane.store.database import Database

COUNTED_SECONDS_MAX = 15


class PaymentMonthTotal(NamedTuple):
    """The payments of a month, and when they were counted."""

    payments: int
    cents: int
    counted_at: datetime


@dataclass(slots=True)
class InstallationMonth:
    """The month of the whole installation, as this process counted it last."""

    first: str = ""
    total: PaymentMonthTotal | None = None

    async def load(self, database: Database, first: str, clock: Clock) -> PaymentMonthTotal:
        """Return the payments whose ids are not before ``first``; counted anew where the count is old."""
        now, kept = clock.now(), self.total
        is_fresh = kept is not None and now - kept.counted_at < timedelta(
            seconds=COUNTED_SECONDS_MAX
        )
        if kept is None or not is_fresh or first != self.first:
            async with database.read(store.SCOPE) as tx:
                found = await payment_lists.sum_since(tx, first)
            kept = PaymentMonthTotal(found.payments, found.cents, now)
            self.first, self.total = first, kept
        return kept
