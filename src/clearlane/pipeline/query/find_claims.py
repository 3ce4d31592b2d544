"""Find the claims of a site, or of all sites of a vendor, with what a list shows of them. Every search is audited.

Knows how a claim status is sealed; knows no HTTP.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from clearlane.claims.claim_status import ClaimStatus, decode_claim_status
from clearlane.kernel.clock import from_micros
from clearlane.kernel.ids import Scope, SiteId, VendorScope
from clearlane.pipeline.load_claim import open_claim
from clearlane.store.claims import claim_search, claims
from clearlane.store.claims.claim_search import ClaimFilters, FoundClaim, ListPosition
from clearlane.store.claims.claims import StoredClaim
from clearlane.store.claims.statuses import STATUS_COLUMN
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSummary:
    """A claim as lists show it. Amounts are cents."""

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
    """Where a list goes on after it."""
    predecessor: str | None
    successor: str | None
    prior_payer_claim: str | None
    """The claim to an earlier payer whose decision it carries."""
    status: ClaimStatus | None
    """None for a claim that was not accepted."""

    def __repr__(self) -> str:
        return f"ClaimSummary({self.claim_number} {self.state})"


async def find_claims(
    database: Database,
    vault: Vault,
    filters: ClaimFilters,
    *,
    scope: Scope | VendorScope,
    after: ListPosition | None,
    limit: int,
    actor: Actor,
) -> list[ClaimSummary]:
    """Return the next claims that the filters leave, one page at a time."""

    async def audit(tx: Tx) -> None:
        tx.audit("claims.search", detail=" ".join(sorted(filters.given())))

    await database.write(scope, audit, actor=actor)
    async with database.read(scope) as tx:
        page = await claim_search.find_page(tx, filters, after=after, limit=limit)
        return await _open(tx, vault, scope, page)


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
    found = await claim_search.find_one(tx, claim_number)
    opened = await _open(tx, vault, scope, [found] if found else [])
    return opened[0] if opened else None


async def _open(
    tx: Tx, vault: Vault, scope: Scope | VendorScope, page: Sequence[FoundClaim]
) -> list[ClaimSummary]:
    refused = [one.claim_number for one in page if one.status is None]
    contents = (
        {one.claim_number: one for one in await claims.find_many(tx, refused)} if refused else {}
    )
    sealed = [one.status for one in page if one.status is not None]
    await vault.load_keys_of(tx, [*sealed, *(one.payload for one in contents.values())])
    return [_summary(vault, scope, one, contents.get(one.claim_number)) for one in page]


def _summary(
    vault: Vault, scope: Scope | VendorScope, one: FoundClaim, content: StoredClaim | None
) -> ClaimSummary:
    status, vendor_claim_id = None, ""
    if one.status is not None:
        status = decode_claim_status(vault.open(scope, STATUS_COLUMN, one.claim_number, one.status))
        vendor_claim_id = status.vendor_claim_id
    elif content is not None:
        owner = Scope(scope.vendor, SiteId(one.site_id))
        vendor_claim_id = open_claim(vault, owner, content).claim.Svc_VendorClaimId
    return ClaimSummary(
        claim_number=one.claim_number,
        vendor_claim_id=vendor_claim_id,
        site_id=SiteId(one.site_id),
        kind=one.kind,
        state=one.state,
        label=one.label,
        outcome=one.outcome,
        payer_id=one.payer_id,
        charge=one.total_cents,
        created_at=from_micros(one.created_at),
        changed_at=from_micros(one.updated_at),
        position=ListPosition(one.updated_at, one.created_day, one.claim_number),
        predecessor=one.predecessor_id,
        successor=one.successor_id,
        prior_payer_claim=one.prior_payer_claim,
        status=status,
    )
