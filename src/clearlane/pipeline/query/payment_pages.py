"""Load one payment as its page shows it, with its claims in groups. Reading is audited.

    viewer = PaymentViewer((site.scope, other.scope))       # these sites' part, and nothing else
    sheet = await load_payment_sheet(database, vault, viewer, payment_id, GroupPage(), actor=actor, at=now)

What matches no claim is no part of it (``operator.payment_admin``). A payment with thousands of claims is shown a page
of each group at a time. Knows no HTTP and no text for people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clearlane.kernel.ids import Scope
from clearlane.payments.claim_payment_groups import ClaimPaymentGroup
from clearlane.payments.payment import ClaimPayment, Payment, ProviderAdjustment
from clearlane.pipeline.query.payment_list import PaymentViewer
from clearlane.pipeline.query.payments import (
    adjustment_value,
    matched_claim_payments,
    own_adjustments,
    payment_value,
)
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.payments import claim_payment_groups, payment_query, payments
from clearlane.store.payments.claim_payment_groups import GroupTotal
from clearlane.store.payments.claim_payments import ClaimPaymentDocument
from clearlane.store.payments.payments import AdjustmentRow, PaymentRow, PaymentShare
from clearlane.store.vault.vault import Vault

CLAIMS_SHOWN_PER_GROUP = 100


@dataclass(frozen=True, slots=True)
class GroupPage:
    """Which part of which group is wanted; the first part of every group without one."""

    group: ClaimPaymentGroup | None = None
    after: str = ""
    """The last claim number that was shown before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGroup:
    """The claim payments of one group that a page shows, and the totals of the whole group."""

    total: GroupTotal
    claim_payments: list[ClaimPayment] = field(repr=False)
    more_after: str = ""
    """The claim number after which the rest begins; empty if all are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentSheet:
    """One payment as a page shows it."""

    payment: Payment
    adjustments: tuple[ProviderAdjustment, ...]
    groups: Mapping[ClaimPaymentGroup, ShownGroup]
    is_whole: bool
    """Whether every claim and adjustment of the payment is the viewer's to see."""
    shown_claims: int
    """How many claims of the payment the viewer may see."""


async def load_payment_sheet(
    database: Database,
    vault: Vault,
    viewer: PaymentViewer,
    payment_id: str,
    wanted: GroupPage,
    *,
    actor: Actor,
    at: int,
) -> PaymentSheet | None:
    """Load one payment; None if there is none that the viewer has a part of. Audited, with the claims shown.

    A person's reading is marked as seen at this time, unless it is an operator's.
    """
    if viewer.scopes is None:
        return await _load_whole(database, vault, payment_id, wanted, actor)
    return await _load_parts(database, vault, viewer.scopes, payment_id, wanted, actor, at)


# ---- for operators -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _WholeRows:
    """The rows of a payment of any client."""

    row: PaymentRow
    shares: list[PaymentShare]
    adjustments: list[AdjustmentRow]
    totals: dict[ClaimPaymentGroup, GroupTotal]
    groups: dict[ClaimPaymentGroup, list[ClaimPaymentDocument]]


async def _load_whole(
    database: Database, vault: Vault, payment_id: str, wanted: GroupPage, actor: Actor
) -> PaymentSheet | None:

    async def job(tx: Tx) -> _WholeRows | None:
        row = await payments.find(tx, payment_id)
        if row is None:
            return None
        shown = row.duplicate_of or row.payment_id
        groups = {
            group: await claim_payment_groups.list_group(
                tx,
                shown,
                group,
                own=False,
                after=_after(wanted, group),
                limit=CLAIMS_SHOWN_PER_GROUP + 1,
            )
            for group in ClaimPaymentGroup
        }
        found = _WholeRows(
            row,
            await payments.list_shares(tx, [shown]),
            await payments.list_adjustments(tx, shown),
            await claim_payment_groups.group_totals(tx, shown, own=False),
            groups,
        )
        await vault.load_keys_of(tx, _sealed(found))
        tx.audit("payment.read", ids=[payment_id, *_claim_numbers(groups)])
        return found

    found = await database.write(payments.SCOPE, job, actor=actor)
    if found is None:
        return None
    return PaymentSheet(
        payment=payment_value(vault, found.row, found.shares),
        adjustments=tuple(adjustment_value(vault, one) for one in found.adjustments),
        groups=await _shown_groups(database, vault, found.groups, found.totals),
        is_whole=True,
        shown_claims=found.row.claims,
    )


def _sealed(found: _WholeRows) -> list[bytes]:
    return [
        found.row.payload,
        *(one.payload for one in found.adjustments),
        *(one.payload for several in found.groups.values() for one in several),
    ]


# ---- for sites ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _SiteRows:
    """The rows of a payment that one site may see."""

    row: PaymentRow
    share: PaymentShare
    totals: dict[ClaimPaymentGroup, GroupTotal]
    groups: dict[ClaimPaymentGroup, list[ClaimPaymentDocument]]


async def _load_parts(
    database: Database,
    vault: Vault,
    scopes: Sequence[Scope],
    payment_id: str,
    wanted: GroupPage,
    actor: Actor,
    at: int,
) -> PaymentSheet | None:
    parts = [
        await _load_part(database, vault, scope, payment_id, wanted, actor, at) for scope in scopes
    ]
    found = [one for one in parts if one is not None]
    if not found:
        return None
    adjustments = [
        adjustment_value(vault, row)
        for scope, part in zip(scopes, parts, strict=True)
        if part is not None
        for row in await own_adjustments(database, vault, scope, payment_id)
    ]
    groups: dict[ClaimPaymentGroup, list[ClaimPaymentDocument]] = {}
    totals: dict[ClaimPaymentGroup, GroupTotal] = {}
    for part in found:
        for group, several in part.groups.items():
            groups[group] = sorted([*groups.get(group, ()), *several], key=_claim_order)
        for group, total in part.totals.items():
            before = totals.get(group, GroupTotal())
            totals[group] = GroupTotal(*(a + b for a, b in zip(before, total, strict=True)))
    payment = payment_value(vault, found[0].row, [one.share for one in found])
    claims = sum(one.share.claims for one in found)
    attributed = sum(one.amount for one in adjustments)
    return PaymentSheet(
        payment=payment,
        adjustments=tuple(sorted(adjustments, key=lambda one: one.number)),
        groups=await _shown_groups(database, vault, groups, totals),
        is_whole=claims == payment.claims and attributed == payment.adjustments_total,
        shown_claims=claims,
    )


async def _load_part(
    database: Database,
    vault: Vault,
    scope: Scope,
    payment_id: str,
    wanted: GroupPage,
    actor: Actor,
    at: int,
) -> _SiteRows | None:
    async def job(tx: Tx) -> _SiteRows | None:
        own = await payment_query.find_some(tx, [payment_id])
        if not own:
            return None
        [(row, (share,))] = own
        groups = {
            group: await claim_payment_groups.list_group(
                tx,
                payment_id,
                group,
                own=True,
                after=_after(wanted, group),
                limit=CLAIMS_SHOWN_PER_GROUP + 1,
            )
            for group in ClaimPaymentGroup
        }
        sealed = [one.payload for several in groups.values() for one in several]
        await vault.load_keys_of(tx, [row.payload, *sealed])
        await payments.mark_read(tx, [payment_id], at, by_software=False)
        tx.audit("payment.read", ids=[payment_id, *_claim_numbers(groups)])
        totals = await claim_payment_groups.group_totals(tx, payment_id, own=True)
        return _SiteRows(row, share, totals, groups)

    return await database.write(scope, job, actor=actor)


# ---- groups ------------------------------------------------------------------------------------


def _after(wanted: GroupPage, group: ClaimPaymentGroup) -> str:
    return wanted.after if wanted.group is group else ""


def _claim_order(one: ClaimPaymentDocument) -> tuple[str, int]:
    return one.claim_payment.claim_number, one.claim_payment.number


def _claim_numbers(groups: Mapping[ClaimPaymentGroup, Sequence[ClaimPaymentDocument]]) -> list[str]:
    """Return the claims that a page shows, each once."""
    shown = (
        one.claim_payment.claim_number for several in groups.values() for one in _cut(several)[0]
    )
    return list(dict.fromkeys(shown))


def _cut(several: Sequence[ClaimPaymentDocument]) -> tuple[Sequence[ClaimPaymentDocument], str]:
    """Return what fits a page, and the claim after which the rest begins.

    The claim payments on one claim stay together, unless one claim alone has more than a page holds.
    """
    if len(several) <= CLAIMS_SHOWN_PER_GROUP:
        return several, ""
    beyond = several[CLAIMS_SHOWN_PER_GROUP].claim_payment.claim_number
    shown = [
        one for one in several[:CLAIMS_SHOWN_PER_GROUP] if one.claim_payment.claim_number < beyond
    ]
    shown = shown or list(several[:CLAIMS_SHOWN_PER_GROUP])
    return shown, shown[-1].claim_payment.claim_number


async def _shown_groups(
    database: Database,
    vault: Vault,
    groups: Mapping[ClaimPaymentGroup, Sequence[ClaimPaymentDocument]],
    totals: Mapping[ClaimPaymentGroup, GroupTotal],
) -> dict[ClaimPaymentGroup, ShownGroup]:
    shown: dict[ClaimPaymentGroup, ShownGroup] = {}
    for group, total in totals.items():
        rows, more = _cut(groups.get(group, ()))
        shown[group] = ShownGroup(
            total=total,
            claim_payments=await matched_claim_payments(database, vault, rows),
            more_after=more,
        )
    return shown
