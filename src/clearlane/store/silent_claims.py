"""Find claims that payers have not answered for too long, each once.

A vendor's claims are looked through in the order of their last change; how far is kept, and changes in the transaction
that tells of them. Payers with a number of days of their own are looked through in the same steps, as much later or
earlier as their number differs: what becomes silent between two looks is found once. Runs over all clients.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from clearlane.claims.lifecycle import ClaimState
from clearlane.store.database import SystemScope, Tx
from clearlane.store.payer_filter import CONDITIONS, PayerFilter
from clearlane.store.schema import claims, silence_scans, vendors
from clearlane.store.sql import Statement, insert_into

SCOPE = SystemScope("claims of all vendors are looked through for payers that do not answer")
SILENT_CLAIMS_AT_ONCE = 2_000
LOOK_MICROS_MAX = 24 * 3_600 * 1_000_000
"""How long a look that finds nothing is not recorded."""
AWAITED = (ClaimState.SENT.value, ClaimState.ACKNOWLEDGED.value, ClaimState.PENDING.value)


class SilenceLimit(NamedTuple):
    """The last change before which the claims of some payers are silent."""

    before: int
    payers: PayerFilter


class SilentClaims(NamedTuple):
    """The claims of one vendor that became silent since the last look."""

    request_ids: list[str]
    through: int
    """Up to which last change was looked, by the first of the limits."""


async def list_vendors(tx: Tx, limits: Sequence[SilenceLimit]) -> list[int]:
    """Return the vendors whose claims are to be looked through: one is silent, or the last look is a day ago.

    The first of the limits is that of most payers; what is kept of a look is kept by it.
    """
    found = []
    for vendor, through in await tx.rows(_VENDORS):
        last = int(through or 0)
        is_old = last < limits[0].before - LOOK_MICROS_MAX
        if is_old or any([await _next_claims(tx, vendor, last, limits, one, 1) for one in limits]):
            found.append(int(vendor))
    return found


async def find_silent(tx: Tx, vendor_id: int, limits: Sequence[SilenceLimit]) -> SilentClaims:
    """Return the next claims of a vendor whose last change was before its limit; locks how far was looked."""
    await tx.run(_BEGIN, vendor_id=vendor_id, through=0)
    [(last,)] = await tx.rows(_LOCK, vendor=vendor_id)
    through, pages = max(limits[0].before, int(last)), []
    for limit in limits:
        rows = await _next_claims(tx, vendor_id, int(last), limits, limit, SILENT_CLAIMS_AT_ONCE)
        shift = limits[0].before - limit.before
        is_full = len(rows) == SILENT_CLAIMS_AT_ONCE
        through = min(through, rows[-1][1] + shift) if is_full else through
        pages.append((limit, shift, rows))
    found: set[str] = set()
    for limit, shift, rows in pages:
        found |= {id for id, at in rows if at <= through - shift}
        if rows and rows[-1][1] == through - shift:
            # All that changed at the same moment as the last one belong together.
            keys = limit.payers.given()
            more = await tx.rows(_at(frozenset(keys)), vendor=vendor_id, at=rows[-1][1], **keys)
            found |= {str(id) for id, _ in more}
    return SilentClaims(sorted(found), through)


async def _next_claims(
    tx: Tx,
    vendor: int,
    last: int,
    limits: Sequence[SilenceLimit],
    limit: SilenceLimit,
    count: int,
) -> list[tuple[str, int]]:
    """Return the next silent claims of the payers of a limit with their last change; ``last`` is by the first limit."""
    keys, shift = limit.payers.given(), limits[0].before - limit.before
    rows = await tx.rows(
        _next(frozenset(keys)),
        vendor=vendor, last=last - shift, before=limit.before, limit=count, **keys,
    )  # fmt: skip
    return [(str(id), int(at)) for id, at in rows]


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


@cache
def _next(payers: frozenset[str]) -> Statement:
    return Statement(
        _OF_VENDOR.where(
            claims.c.updated_at > bindparam("last"),
            claims.c.updated_at <= bindparam("before"),
            *(CONDITIONS[name] for name in sorted(payers)),
        )
        .order_by(claims.c.updated_at, claims.c.request_id)
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
