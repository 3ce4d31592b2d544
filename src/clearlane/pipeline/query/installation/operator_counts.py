"""What needs an operator in the whole installation: counted by schedule with the summaries of sites, kept as one row.

    counts = await load_operator_counts(context)        # OperatorCounts(payments, routes_down)

Knows no page.
"""

import time
from typing import NamedTuple

import msgspec

from clearlane.kernel.clock import to_micros
from clearlane.pipeline.query.installation.route_states import BROKEN, load_route_states
from clearlane.pipeline.query.stored_counts import keep_counts
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.installation import stored_counts
from clearlane.store.payments import payment_query, payments
from clearlane.store.payments.payment_query import UNBALANCED, UNMATCHED

KEPT_AS = "what needs operators"
PAYMENT_NEEDS = (UNMATCHED, UNBALANCED)


class OperatorCounts(NamedTuple):
    """How many payments of all clients need attention, counted up to a limit, and how many routes are down."""

    payments: int
    routes_down: int


async def load_operator_counts(context: WorkContext) -> OperatorCounts:
    """Return what the schedule counted last; count it now if it never was."""
    async with context.database.read(payments.SCOPE) as tx:
        kept = await stored_counts.find_counts(tx, KEPT_AS)
    return _DECODER.decode(kept.content) if kept else await refresh_operator_counts(context)


async def refresh_operator_counts(context: WorkContext) -> OperatorCounts:
    """Count what needs an operator, and keep the counts."""
    now, began = to_micros(context.clock.now()), time.monotonic()
    async with context.database.read(payments.SCOPE) as tx:
        needs = await payment_query.list_needs(tx, own=False)
    access = context.payer_access
    states = await load_route_states(context.database, access.connections(), access.payers())
    counts = OperatorCounts(
        len({id for need in PAYMENT_NEEDS for id in needs[need]}),
        sum(state.condition in BROKEN for state in states),
    )
    await keep_counts(context, counts, KEPT_AS, now=now, began=began)
    return counts


_DECODER = msgspec.json.Decoder(OperatorCounts)
