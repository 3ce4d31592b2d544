"""What came this month in the whole installation: counted by schedule with the summaries of sites, and kept as one row.

    total = await load_payment_month(context)       # PaymentMonthTotal(payments, cents, counted_at)

The month is that of UTC, in which pages about all sites write times; the months of sites are in their summaries
(``claim_summary``). Knows no page.
"""

import time
from datetime import UTC, date, datetime
from typing import NamedTuple

import msgspec

from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.ids import first_number
from clearlane.pipeline.query.stored_counts import keep_counts
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.installation import stored_counts
from clearlane.store.payments import payment_query, payments

KEPT_AS = "payments of the month"


class PaymentMonthTotal(NamedTuple):
    """The payments of a month, and when they were counted."""

    payments: int
    cents: int
    counted_at: datetime


class PaymentMonth(msgspec.Struct, frozen=True):
    """The payments of a calendar month. Amounts are cents."""

    first_day: date | None = None
    payments: int = 0
    cents: int = 0


async def load_payment_month(context: WorkContext) -> PaymentMonthTotal:
    """Return what the schedule counted last; count it now if it never was, nothing if that was another month."""
    async with context.database.read(payments.SCOPE) as tx:
        kept = await stored_counts.find_counts(tx, KEPT_AS)
    if kept is None:
        return await refresh_payment_month(context)
    month, counted_at = _DECODER.decode(kept.content), from_micros(kept.counted_at)
    if month.first_day != _first_day(context.clock.now()):
        return PaymentMonthTotal(0, 0, counted_at)
    return PaymentMonthTotal(month.payments, month.cents, counted_at)


async def refresh_payment_month(context: WorkContext) -> PaymentMonthTotal:
    """Count the payments of the month and keep the sum."""
    now, began = context.clock.now(), time.monotonic()
    first_day = _first_day(now)
    start = datetime(first_day.year, first_day.month, 1, tzinfo=UTC)
    first = first_number(start, letter=payments.PAYMENT_LETTER)
    async with context.database.read(payments.SCOPE) as tx:
        found = await payment_query.sum_since(tx, first, own=False)
    month = PaymentMonth(first_day, found.payments, found.cents)
    await keep_counts(context, month, KEPT_AS, now=to_micros(now), began=began)
    return PaymentMonthTotal(month.payments, month.cents, now)


def _first_day(now: datetime) -> date:
    return now.astimezone(UTC).date().replace(day=1)


_DECODER = msgspec.json.Decoder(PaymentMonth)
