"""Find claims that payers have not answered for too long, each once.

The search reads a vendor's claims in the order of their last change. How far it came is stored, and changes in the
transaction that reports them. A payer with a number of days of its own is searched by itself and begins where the others
are: whenever its number changes, no claim is passed over and none is found twice. Runs over all clients.
"""

from functools import cache
from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from clearlane.claims.lifecycle import ClaimState
from clearlane.store.claims.payer_filter import CONDITIONS, EVERY_PAYER, PayerFilter
from clearlane.store.database.database import SystemScope, Tx
from clearlane.store.database.schema import claims, silence_scans, vendors
from clearlane.store.database.sql import Statement, insert_into

SCOPE = SystemScope("claims of all vendors are looked through for payers that do not answer")
SILENT_CLAIMS_AT_ONCE = 2_000
LOOK_MICROS_MAX = 24 * 3_600 * 1_000_000
"""How long a look that finds nothing is not recorded."""
AWAITED = (ClaimState.SENT.value, ClaimState.ACKNOWLEDGED.value, ClaimState.PENDING.value)


OTHER_PAYERS = ""
"""What is kept for payers without a number of their own is kept under this."""


class SilenceLimit(NamedTuple):
    """The last change before which the claims of some payers are silent."""

    before: int
    payers: PayerFilter = EVERY_PAYER
    kept_as: str = OTHER_PAYERS
    """The key of the one payer that it is for."""


class SilentClaims(NamedTuple):
    """The claims of one vendor that became silent since the last look."""

    claim_numbers: list[str]
    through: int
    """Up to which last change was looked."""


async def list_payers(tx: Tx) -> list[str]:
    """Return the keys of the payers that are looked through by themselves."""
    return [str(key) for (key,) in await tx.rows(_PAYERS)]


async def list_vendors(tx: Tx, limit: SilenceLimit) -> list[int]:
    """Return the vendors whose claims are to be looked through: one is silent, or the last look is a day ago."""
    found = []
    for vendor, through in await tx.rows(_VENDORS, payer=limit.kept_as):
        is_old = through is None or int(through) < limit.before - LOOK_MICROS_MAX
        if is_old or await _next_claims(tx, vendor, through, limit, 1):
            found.append(int(vendor))
    return found


async def find_silent(tx: Tx, vendor_id: int, limit: SilenceLimit) -> SilentClaims:
    """Return the next claims of a vendor whose last change was before a moment; locks how far was looked."""
    others = await tx.row(_THROUGH, vendor=vendor_id, payer=OTHER_PAYERS)
    await tx.run(
        _BEGIN, vendor_id=vendor_id, payer=limit.kept_as, through=others[0] if others else 0
    )
    [(last,)] = await tx.rows(_LOCK, vendor=vendor_id, payer=limit.kept_as)
    rows = await _next_claims(tx, vendor_id, last, limit, SILENT_CLAIMS_AT_ONCE)
    if len(rows) < SILENT_CLAIMS_AT_ONCE:
        return SilentClaims([id for id, _ in rows], max(limit.before, int(last)))
    # All that changed at the same moment as the last one belong together.
    through, keys = rows[-1][1], limit.payers.given()
    more = await tx.rows(_at(frozenset(keys)), vendor=vendor_id, at=through, **keys)
    return SilentClaims(sorted({str(id) for id, _ in (*rows, *more)}), through)


async def save_progress(tx: Tx, vendor_id: int, limit: SilenceLimit, through: int) -> None:
    """Keep how far a vendor's claims were looked through."""
    await tx.run(_SET, vendor=vendor_id, payer=limit.kept_as, to=through)


async def _next_claims(
    tx: Tx, vendor: int, last: int, limit: SilenceLimit, count: int
) -> list[tuple[str, int]]:
    """Return the next silent claims of the payers of a limit with their last change."""
    keys = limit.payers.given()
    rows = await tx.rows(
        _next(frozenset(keys)), vendor=vendor, last=last, before=limit.before, limit=count, **keys
    )
    return [(str(id), int(at)) for id, at in rows]


_OF_PAYER = silence_scans.c.payer == bindparam("payer")
_PAYERS = Statement(
    select(silence_scans.c.payer).where(silence_scans.c.payer != OTHER_PAYERS).distinct()
)
_VENDORS = Statement(
    select(vendors.c.id, silence_scans.c.through)
    .outerjoin_from(vendors, silence_scans, (silence_scans.c.vendor_id == vendors.c.id) & _OF_PAYER)
    .order_by(vendors.c.id)
)
_BEGIN = Statement(
    insert_into(silence_scans, "vendor_id", "payer", "through").on_conflict_do_nothing()
)
_OF_SCAN = select(silence_scans.c.through).where(
    silence_scans.c.vendor_id == bindparam("vendor"), _OF_PAYER
)
_THROUGH = Statement(_OF_SCAN)
_LOCK = Statement(_OF_SCAN.with_for_update())
_SET = Statement(
    update(silence_scans)
    .where(silence_scans.c.vendor_id == bindparam("vendor"), _OF_PAYER)
    .values(through=bindparam("to"))
)
_OF_VENDOR = select(claims.c.claim_number, claims.c.updated_at).where(
    claims.c.vendor_id == bindparam("vendor"), claims.c.state.in_(AWAITED)
)


@cache
def _next(payers: frozenset[str]) -> Statement:
    return Statement(
        _OF_VENDOR.where(
            claims.c.updated_at > bindparam("last"),
            claims.c.updated_at <= bindparam("before"),
            *(CONDITIONS[name] for name in sorted(payers)),
        )
        .order_by(claims.c.updated_at, claims.c.claim_number)
        .limit(bindparam("limit")),
        system=True,
    )


@cache
def _at(payers: frozenset[str]) -> Statement:
    return Statement(
        _OF_VENDOR.where(
            claims.c.updated_at == bindparam("at"),
            *(CONDITIONS[name] for name in sorted(payers)),
        ),
        system=True,
    )
