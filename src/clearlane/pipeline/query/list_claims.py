"""List claims and open what lists show of them, for V3, v1 and the CLI. Every listing is audited.

``claim_list`` adds patient, reason and work for people. Knows how a claim and its status are sealed; knows no HTTP.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from clearlane.accounts.model import Site
from clearlane.claims.claim_status import ClaimStatus, decode_claim_status
from clearlane.kernel.clock import from_micros, moment_text
from clearlane.kernel.ids import Scope, SiteId, VendorId, VendorScope
from clearlane.kernel.safe_repr import shows
from clearlane.payments.as_json import money_text
from clearlane.pipeline.claim_label import label_key
from clearlane.pipeline.load_claim import open_header
from clearlane.store.claims.claim_query import (
    STATUS_COLUMN,
    ClaimListRow,
    ClaimOrder,
    ClaimQuery,
    ListPosition,
    StatusListRow,
    claims_by_number,
    list_claims,
)
from clearlane.store.claims.claims import StoredClaim
from clearlane.store.database.database import Actor, Database, Tx, write_audit
from clearlane.store.vault.vault import Vault

STATUSES_AT_ONCE = 500


@shows("claim_number", "state")
@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSummary:
    """A claim as v1 lists it. Amounts are cents."""

    claim_number: str
    vendor_claim_id: str
    site_id: SiteId
    kind: str
    state: str
    label: str
    outcome: str | None
    payer_id: str
    charge: int
    created_at: datetime
    changed_at: datetime
    position: ListPosition
    """Where a list continues after it."""
    predecessor: str | None
    successor: str | None
    prior_payer_claim: str | None
    """The claim to an earlier payer whose decision it carries."""
    status: ClaimStatus | None
    """None for a claim that was not accepted."""


async def find_claims(
    database: Database,
    vault: Vault,
    query: ClaimQuery,
    *,
    scope: Scope | VendorScope,
    actor: Actor,
) -> list[ClaimSummary]:
    """Return one page of claims."""
    await write_audit(
        database, scope, "claims.search", detail=" ".join(sorted(query.where)), actor=actor
    )
    async with database.read(scope) as tx:
        page = await list_claims(tx, query, ClaimListRow)
        return await _open(tx, vault, scope, page)


async def find_claims_of_vendors(
    database: Database,
    vault: Vault,
    query_of: Callable[[VendorId], ClaimQuery],
    scopes: Sequence[VendorScope],
    *,
    actor: Actor,
) -> list[ClaimSummary]:
    """Return one page of the claims of several vendors; audited for each whose claims are shown.

    Each vendor has a query, because what is found by keyed hash is hashed with its key; order and limit are the same.
    """
    found: list[tuple[ClaimListRow, VendorScope]] = []
    for scope in scopes:
        query = query_of(scope.vendor)
        async with database.read(scope) as tx:
            found += [(row, scope) for row in await list_claims(tx, query, ClaimListRow)]
        column, descends = query.order.value
        found.sort(key=lambda one: (getattr(one[0], column), one[0].claim_number), reverse=descends)
        del found[query.limit :]
    opened: dict[str, ClaimSummary] = {}
    for scope in dict.fromkeys(scope for _, scope in found):
        own = [row for row, of in found if of == scope]
        detail = " ".join(sorted(query_of(scope.vendor).where))
        await write_audit(database, scope, "claims.search", detail=detail, actor=actor)
        async with database.read(scope) as tx:
            opened |= {one.claim_number: one for one in await _open(tx, vault, scope, own)}
    return [opened[row.claim_number] for row, _ in found]


async def find_claim(
    database: Database, vault: Vault, claim_number: str, *, scope: Scope | VendorScope
) -> ClaimSummary | None:
    """Return one claim of the scope, for a caller that audits what it does with it."""
    async with database.read(scope) as tx:
        return await find_claim_within(tx, vault, claim_number, scope=scope)


async def find_claim_within(
    tx: Tx, vault: Vault, claim_number: str, *, scope: Scope | VendorScope
) -> ClaimSummary | None:
    """Return one claim of the scope of a transaction, as the transaction sees it."""
    found = await claims_by_number(tx, [claim_number])
    opened = await _open(tx, vault, scope, list(found.values()))
    return opened[0] if opened else None


async def list_statuses(
    database: Database,
    vault: Vault,
    first: date,
    last: date,
    *,
    scope: Scope,
    actor: Actor,
) -> AsyncIterator[list[ClaimStatus]]:
    """Yield pages of the statuses of claims created on these days, both included; the last may be empty."""
    days = {"created_day_from": first.isoformat(), "created_day_to": last.isoformat()}
    await write_audit(
        database, scope, "claims.status", detail="..".join(days.values()), actor=actor
    )
    query = ClaimQuery(where=days, order=ClaimOrder.OLDEST_FIRST, limit=STATUSES_AT_ONCE)
    while True:
        async with database.read(scope) as tx:
            page = await list_claims(tx, query, StatusListRow)
            await vault.load_keys_of(tx, [row.status for row in page])
        yield [open_status(vault, scope, row.claim_number, row.status) for row in page]
        if len(page) < STATUSES_AT_ONCE:
            return
        query = replace(query, after=page[-1].position)


def claim_object(claim: ClaimSummary, sites: Mapping[SiteId, Site]) -> dict[str, object]:
    """Return a claim as v1 and `claim list --json` show it."""
    status = claim.status
    return {
        "claim_number": claim.claim_number,
        "vendor_claim_id": claim.vendor_claim_id,
        "site": sites[claim.site_id].vendor_site_id,
        "kind": claim.kind,
        "state": claim.state,
        "label": label_key(claim.label),
        "outcome": claim.outcome,
        "payer_id": claim.payer_id,
        "payer_control_number": (status and status.payer_control_number) or None,
        "charge": money_text(claim.charge),
        "paid": money_text(status.payer_cents if status else 0),
        "patient": money_text(status.patient_cents if status else 0),
        "adjustments": money_text(status.adjustment_cents if status else 0),
        "document_id": (status and status.document_id) or None,
        "created_at": moment_text(claim.created_at),
        "changed_at": moment_text(claim.changed_at),
        "predecessor": claim.predecessor,
        "successor": claim.successor,
        "prior_payer_claim": claim.prior_payer_claim,
    }


def open_status(
    vault: Vault, scope: Scope | VendorScope, claim_number: str, sealed: bytes
) -> ClaimStatus:
    """Return the status of a claim."""
    return decode_claim_status(vault.open(scope, STATUS_COLUMN, claim_number, sealed))


def stored_claim(row: ClaimListRow) -> StoredClaim:
    """Return a listed claim as it is opened."""
    return StoredClaim(
        row.claim_number,
        row.kind,
        row.form,
        row.state,
        row.payer_id,
        bool(row.account_as_number),
        row.created_at,
        row.payload,
        row.header,
    )


async def _open(
    tx: Tx, vault: Vault, scope: Scope | VendorScope, page: Sequence[ClaimListRow]
) -> list[ClaimSummary]:
    await vault.load_keys_of(tx, [row.header if row.status is None else row.status for row in page])
    return [_summary(vault, scope, row) for row in page]


def _summary(vault: Vault, scope: Scope | VendorScope, row: ClaimListRow) -> ClaimSummary:
    if row.status is None:  # it was not accepted
        status, owner = None, Scope(scope.vendor, SiteId(row.site_id))
        vendor_claim_id = open_header(vault, owner, row.claim_number, row.header).vendor_claim_id
    else:
        status = open_status(vault, scope, row.claim_number, row.status)
        vendor_claim_id = status.vendor_claim_id
    return ClaimSummary(
        claim_number=row.claim_number,
        vendor_claim_id=vendor_claim_id,
        site_id=SiteId(row.site_id),
        kind=row.kind,
        state=row.state,
        label=row.label,
        outcome=row.outcome,
        payer_id=row.payer_id,
        charge=row.total_cents,
        created_at=from_micros(row.created_at),
        changed_at=from_micros(row.updated_at),
        position=row.position,
        predecessor=row.predecessor_id,
        successor=row.successor_id,
        prior_payer_claim=row.prior_payer_claim,
        status=status,
    )
