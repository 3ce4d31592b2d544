"""List the status of a site's claims, page by page. Every listing is audited.

Knows how a claim status is sealed; knows no HTTP and holds one page at a time.
"""

from collections.abc import AsyncIterator
from datetime import date

from clearlane.claims.claim_status import ClaimStatus, decode_claim_status
from clearlane.kernel.ids import Scope
from clearlane.store.claims import statuses
from clearlane.store.claims.statuses import STATUS_COLUMN, StatusListRow
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.vault.vault import Vault

STATUSES_AT_ONCE = 500


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
    days = (first.isoformat(), last.isoformat())

    async def audit(tx: Tx) -> None:
        tx.audit("claims.status", detail="..".join(days))

    await database.write(scope, audit, actor=actor)
    after = ("", "")
    while True:
        page = await _page(database, vault, scope, days, after)
        yield [_open(vault, scope, each) for each in page]
        if len(page) < STATUSES_AT_ONCE:
            return
        after = (page[-1].day, page[-1].claim_number)


async def _page(
    database: Database, vault: Vault, scope: Scope, days: tuple[str, str], after: tuple[str, str]
) -> list[StatusListRow]:
    async with database.read(scope) as tx:
        page = await statuses.read_page(tx, *days, after, STATUSES_AT_ONCE)
        await vault.load_keys_of(tx, [each.status for each in page])
    return page


def _open(vault: Vault, scope: Scope, listed: StatusListRow) -> ClaimStatus:
    return decode_claim_status(vault.open(scope, STATUS_COLUMN, listed.claim_number, listed.status))
