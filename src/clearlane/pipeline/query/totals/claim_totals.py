"""Add up the claims of tabs under any filters: the counts of tabs, the totals below lists, and Home's to-do list.

    tabs = await total_tabs(context, scopes, ClaimListRequest(given={"payer": "TST01"}, limit=1))
    tabs["needs_you"]["denied"].charge      # of the claims of that tab with that label

The conditions are those of the list itself (``claim_filters``), so that a count is the length of its list. Knows no page.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import Any

import msgspec

from clearlane.claims.claim_filters import CLAIM_TABS
from clearlane.kernel.clock import from_micros
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.pipeline.query.claim_filters import ClaimListRequest, list_queries, split_by_day
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_query
from clearlane.store.claims.claim_query import ClaimQuery, LabelSum
from clearlane.store.database.database import Tx

LABELS = "labels"


class LabelTotals(msgspec.Struct, frozen=True):
    """The claims of one label, or the enrollments of one state. Amounts are cents."""

    count: int = 0
    charge: int = 0
    paid: int = 0
    oldest_at: datetime | None = None

    def plus(self, other: "LabelTotals") -> "LabelTotals":
        """Return the totals of both."""
        oldest = min(filter(None, (self.oldest_at, other.oldest_at)), default=None)
        return LabelTotals(
            self.count + other.count, self.charge + other.charge, self.paid + other.paid, oldest
        )


TabTotals = Mapping[str, Mapping[str, LabelTotals]]
"""The totals of the claims of each tab, by their labels."""


def add_totals(totals: Iterable[LabelTotals | None]) -> LabelTotals:
    """Return the totals of all together."""
    return reduce(LabelTotals.plus, filter(None, totals), LabelTotals())


def add_tabs(several: Iterable[TabTotals]) -> dict[str, dict[str, LabelTotals]]:
    """Return the totals of several scopes together."""
    found: dict[str, dict[str, LabelTotals]] = {tab: {} for tab in CLAIM_TABS}
    for one in several:
        for tab, labels in one.items():
            for label, totals in labels.items():
                known = found[tab].get(label, LabelTotals())
                found[tab][label] = known.plus(totals)
    return found


async def total_tabs(
    context: WorkContext, scopes: Iterable[Scope | VendorScope], request: ClaimListRequest
) -> dict[str, dict[str, LabelTotals]]:
    """Return the totals of the tabs of several scopes under the filters of a request, whichever tab that names."""
    found = []
    for scope in split_by_day(context, scopes):
        async with context.database.read(scope) as tx:
            found.append(await total_scope(tx, context, scope, request))
    return add_tabs(found)


async def total_scope(
    tx: Tx, context: WorkContext, scope: Scope | VendorScope, request: ClaimListRequest
) -> dict[str, dict[str, LabelTotals]]:
    """Return the totals of the tabs of one scope, in its transaction. Tabs that differ in their labels alone are one query."""
    wanted: dict[tuple[Any, ...], tuple[ClaimQuery, dict[str, set[str]]]] = {}
    for tab in CLAIM_TABS:
        for_tab = replace(request, given={**request.given, "tab": tab})
        for query in list_queries(context, scope, for_tab):
            where = {name: value for name, value in query.where.items() if name != LABELS}
            key = (query.listed, *sorted((name, repr(value)) for name, value in where.items()))
            of_tab = query.where.get(LABELS, CLAIM_TABS[tab])
            _, tabs = wanted.setdefault(key, (replace(query, where=where), {}))
            tabs[tab] = set(map(str, of_tab))  # type: ignore[call-overload]  # a filter by labels holds several
    found: dict[str, dict[str, LabelTotals]] = {tab: {} for tab in CLAIM_TABS}
    for query, tabs in wanted.values():
        labels = {label for of_tab in tabs.values() for label in of_tab}
        if "replaced" not in query.where:
            query = replace(query, where={**query.where, LABELS: sorted(labels)})
        sums = await claim_query.sum_claims(tx, query)
        for tab, of_tab in tabs.items():
            for one in sums:
                if one.label in of_tab or "replaced" in query.where:
                    found[tab][one.label] = _totals(one).plus(
                        found[tab].get(one.label, LabelTotals())
                    )
    return found


def _totals(one: LabelSum) -> LabelTotals:
    return LabelTotals(one.claims, one.total_cents, one.paid_cents, from_micros(one.oldest_at))
