"""List payments, opened, for every face: the API, the console, commands and exports show the same rows.

    rows = await list_payments(database, vault, PaymentQuery(where={"unmatched": True}))
    page = await list_payment_page(database, vault, viewer, where, since=month, before=None, actor=actor)

``PaymentQuery`` has the filters and the scope. A page of the console also has the counts of its tabs, and is audited.
Knows no HTTP and no text for people.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from clearlane.kernel.ids import Scope, first_number
from clearlane.kernel.list_filter import combinations
from clearlane.payments.payment import Payment
from clearlane.pipeline.query.payments import payment_value
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.payments import payment_query, payments
from clearlane.store.payments.payment_query import PaymentQuery, PaymentSum, SharedPayment
from clearlane.store.vault.vault import Vault

PAYMENTS_SHOWN = 50
Needs = dict[str, dict[str, int]]
"""The cents of payments that need attention, by need and id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPayment:
    """A payment of a list, with the figures of the part of it that the list is about."""

    payment: Payment
    claims: int
    claims_paid: int
    adjustments: int

    @property
    def is_whole(self) -> bool:
        """Whether the part is the whole payment."""
        return (self.claims, self.adjustments) == (
            self.payment.claims,
            self.payment.adjustments_total,
        )

    @property
    def amount(self) -> int | None:
        """The amount of the part."""
        return self.payment.amount if self.is_whole else self.claims_paid + self.adjustments


@dataclass(frozen=True, slots=True)
class PaymentViewer:
    """Whose payments are shown: None for every client's, else the parts of these sites."""

    scopes: tuple[Scope, ...] | None

    @property
    def sees_all(self) -> bool:
        """Whether whole payments are shown."""
        return self.scopes is None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentListPage:
    """A page of payments, the newest first."""

    payments: list[ListedPayment]
    has_older: bool
    needs: Mapping[str, Mapping[str, int]]
    """The cents of payments that need attention, by need and id; up to ``payment_query.COUNTED_MAX`` each."""
    listed_needs: Mapping[str, Mapping[str, int]]
    """The same of the payments that fit the filters of the list."""
    total: PaymentSum
    """The sum of the whole list, of which this is a page; of each part that is shown."""
    since: PaymentSum
    """What came since the asked day; nothing if none was asked."""


async def list_payments(
    database: Database, vault: Vault, query: PaymentQuery
) -> list[ListedPayment]:
    """Return a page of payments, the newest first; filters with several values have those of each."""
    found: dict[str, SharedPayment] = {}
    async with database.read(query.scope or payments.SCOPE) as tx:
        for where in combinations(query.where):
            rows = await _find(tx, vault, replace(query, where=where))
            found |= {one.row.payment_id: one for one in rows}
    newest = sorted(found, reverse=True)[: query.limit]
    return [_listed(vault, found[id], whole=query.scope is None) for id in newest]


async def list_payment_page(
    database: Database,
    vault: Vault,
    viewer: PaymentViewer,
    where: Mapping[str, object],
    *,
    since: datetime | None = None,
    before: str | None,
    actor: Actor,
) -> PaymentListPage:
    """Return a page of payments with the counts of the tabs, and with ``since`` their sum. Audited, with the ids.

    Each site is read in its own scope, so that its audit trail has what was shown of it.
    """
    first = first_number(since, letter=payments.PAYMENT_LETTER) if since else ""
    merged: dict[str, SharedPayment] = {}
    needs: dict[str, dict[str, int]] = {need: {} for need in payment_query.NEEDS}
    listed_needs = needs
    total = whole = PaymentSum(0, 0)
    for scope in viewer.scopes if viewer.scopes is not None else (None,):
        query = PaymentQuery(where=where, before=before, limit=PAYMENTS_SHOWN + 1, scope=scope)
        job = partial(_read_page, vault=vault, query=query, first=first)
        found, own_needs, fitting, sums = await database.write(
            scope or payments.SCOPE, job, actor=actor
        )
        for row, shares in found:
            known = merged.get(row.payment_id)
            merged[row.payment_id] = SharedPayment(row, (known.shares if known else ()) + shares)
        needs = {need: ids | own_needs[need] for need, ids in needs.items()}
        listed_needs = {need: ids | fitting[need] for need, ids in listed_needs.items()}
        whole, total = whole.plus(sums[0]), total.plus(sums[1])
    newest = sorted(merged.values(), key=lambda one: one.row.payment_id, reverse=True)
    return PaymentListPage(
        payments=[_listed(vault, one, whole=viewer.sees_all) for one in newest[:PAYMENTS_SHOWN]],
        has_older=len(newest) > PAYMENTS_SHOWN,
        needs=needs,
        listed_needs=listed_needs,
        total=whole,
        since=total,
    )


async def _read_page(
    tx: Tx, *, vault: Vault, query: PaymentQuery, first: str
) -> tuple[list[SharedPayment], Needs, Needs, tuple[PaymentSum, PaymentSum]]:
    own = query.scope is not None
    found = await _find(tx, vault, query)
    tx.audit("payment.list", ids=[one.row.payment_id for one in found[:PAYMENTS_SHOWN]])
    needs = await payment_query.list_needs(tx, own=own)
    is_filtered = any(
        value for name, value in query.where.items() if name not in payment_query.NEEDS
    )
    fitting = await payment_query.list_needs_of(tx, vault, query) if is_filtered else needs
    whole = await payment_query.sum_list(tx, vault, query)
    since = await payment_query.sum_since(tx, first, own=own) if first else PaymentSum(0, 0)
    return found, needs, fitting, (whole, since)


async def _find(tx: Tx, vault: Vault, query: PaymentQuery) -> list[SharedPayment]:
    found = await payment_query.find_page(tx, vault, query)
    await vault.load_keys_of(tx, [one.row.payload for one in found])
    return found


def _listed(vault: Vault, one: SharedPayment, *, whole: bool) -> ListedPayment:
    payment = payment_value(vault, one.row, one.shares)
    if whole:
        return ListedPayment(
            payment=payment,
            claims=payment.claims,
            claims_paid=payment.claims_paid,
            adjustments=payment.adjustments_total,
        )
    return ListedPayment(
        payment=payment,
        claims=sum(share.claims for share in one.shares),
        claims_paid=sum(share.paid_cents for share in one.shares),
        adjustments=sum(share.adjustment_cents for share in one.shares),
    )
