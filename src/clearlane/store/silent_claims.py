"""Find claims that payers have not answered for too long, each once.

A vendor's claims are looked through in the order of their last change; how far is kept, and changes in the transaction
that tells of them. Runs over all clients.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from clearlane.claims.lifecycle import ClaimState
from clearlane.store.database import SystemScope, Tx
from clearlane.store.schema import claims, silence_scans, vendors
from clearlane.store.sql import Statement, insert_into

SCOPE = SystemScope("claims of all vendors are looked through for payers that do not answer")
SILENT_CLAIMS_AT_ONCE = 2_000
LOOK_MICROS_MAX = 24 * 3_600 * 1_000_000
"""How long a look that finds nothing is not recorded."""
AWAITED = (ClaimState.SENT.value, ClaimState.ACKNOWLEDGED.value, ClaimState.PENDING.value)


class SilentClaims(NamedTuple):
    """The claims of one vendor that became silent since the last look."""

    request_ids: list[str]
    through: int
    """Up to which last change was looked."""


async def list_vendors(tx: Tx, *, before: int) -> list[int]:
    """Return the vendors whose claims are to be looked through: one is silent, or the last look is a day ago."""
    found = []
    for vendor, through in await tx.rows(_VENDORS):
        last = int(through or 0)
        is_old = last < before - LOOK_MICROS_MAX
        if is_old or await tx.rows(_NEXT, vendor=vendor, last=last, before=before, limit=1):
            found.append(int(vendor))
    return found


async def find_silent(tx: Tx, vendor_id: int, *, before: int) -> SilentClaims:
    """Return the next claims of a vendor whose last change was before a moment; locks how far was looked."""
    await tx.run(_BEGIN, vendor_id=vendor_id, through=0)
    [(last,)] = await tx.rows(_LOCK, vendor=vendor_id)
    rows = await tx.rows(
        _NEXT, vendor=vendor_id, last=last, before=before, limit=SILENT_CLAIMS_AT_ONCE
    )
    if len(rows) < SILENT_CLAIMS_AT_ONCE:
        return SilentClaims([str(id) for id, _ in rows], max(before, int(last)))
    # All that changed at the same moment as the last one belong together.
    through = int(rows[-1][1])
    more = await tx.rows(_AT, vendor=vendor_id, at=through)
    return SilentClaims(sorted({str(id) for id, _ in (*rows, *more)}), through)


async def save_progress(tx: Tx, vendor_id: int, through: int) -> None:
    """Keep how far a vendor's claims were looked through."""
    await tx.run(_SET, vendor=vendor_id, to=through)


_VENDORS = Statement(
    select(vendors.c.id, silence_scans.c.through)
    .outerjoin_from(vendors, silence_scans, silence_scans.c.vendor_id == vendors.c.id)
    .order_by(vendors.c.id)
)
_BEGIN = Statement(insert_into(silence_scans, "vendor_id", "through").on_conflict_do_nothing())
_LOCK = Statement(
    select(silence_scans.c.through)
    .where(silence_scans.c.vendor_id == bindparam("vendor"))
    .with_for_update()
)
_SET = Statement(
    update(silence_scans)
    .where(silence_scans.c.vendor_id == bindparam("vendor"))
    .values(through=bindparam("to"))
)
_OF_VENDOR = select(claims.c.request_id, claims.c.updated_at).where(
    claims.c.vendor_id == bindparam("vendor"), claims.c.state.in_(AWAITED)
)
_NEXT = Statement(
    _OF_VENDOR.where(
        claims.c.updated_at > bindparam("last"), claims.c.updated_at <= bindparam("before")
    )
    .order_by(claims.c.updated_at, claims.c.request_id)
    .limit(bindparam("limit")),
    system=True,
)
_AT = Statement(_OF_VENDOR.where(claims.c.updated_at == bindparam("at")), system=True)
