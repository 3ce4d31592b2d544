"""Listing: where a site's claims stand, page by page, as ready rows of JSON. The look is audited.

Knows how a status row is sealed; knows no HTTP and holds one page at a time.
"""

from collections.abc import AsyncIterator
from datetime import date, datetime
from functools import partial

from clearlane.kernel import limits
from clearlane.kernel.ids import Scope
from clearlane.pipeline.claim_status import restand
from clearlane.store import statuses
from clearlane.store.database import Actor, Database, System, Tx
from clearlane.store.statuses import PLACE, Listed
from clearlane.store.vault import Vault

OLDER = System("rows of the status list that were never written")


async def list_statuses(
    database: Database,
    vault: Vault,
    first: date,
    last: date,
    *,
    scope: Scope,
    actor: Actor,
    now: datetime,
) -> AsyncIterator[list[bytes]]:
    """The rows of claims created on these days, both included; the last page may be empty."""
    days = (first.isoformat(), last.isoformat())

    async def look(tx: Tx) -> None:
        tx.audit("claims.status", detail="..".join(days))

    await database.write(scope, look, actor=actor)
    after = ("", "")
    while True:
        page = await _page(database, vault, scope, days, after)
        older = [each.request_id for each in page if each.status is None]
        if older:
            await vault.ready(scope)
            fill = partial(restand, vault=vault, request_ids=older, now=now)
            await database.write(OLDER, fill, actor=actor)
            page = await _page(database, vault, scope, days, after)
        yield [_opened(vault, scope, each) for each in page]
        if len(page) < limits.STATUSES_AT_ONCE:
            return
        after = (page[-1].day, page[-1].request_id)


async def _page(
    database: Database, vault: Vault, scope: Scope, days: tuple[str, str], after: tuple[str, str]
) -> list[Listed]:
    async with database.read(scope) as tx:
        page = await statuses.page(tx, *days, after, limits.STATUSES_AT_ONCE)
        await vault.fetch(tx, filter(None, (each.status for each in page)))
    return page


def _opened(vault: Vault, scope: Scope, listed: Listed) -> bytes:
    assert listed.status is not None, "older rows were written before"
    return vault.open(scope, PLACE, listed.request_id, listed.status)
