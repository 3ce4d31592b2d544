"""Release the claims of accepted sets: move them, page by page, from where they are staged into the table of claims.

Until then no list, queue or search shows them. A page is one transaction, so that each claim is released exactly once,
whatever node dies. A tick looks for what a node that died has left.
"""

import msgspec

from clearlane.accounts.model import Site
from clearlane.engine import fault_injection
from clearlane.engine.workflows import WorkSteps
from clearlane.pipeline.intake.store_file_claims import store_file_claims
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.new_claims import NewClaim
from clearlane.store.database.database import Tx
from clearlane.store.files import file_sets, staged_claims
from clearlane.store.files.file_sets import SetClaim
from clearlane.store.files.staged_claims import StagedClaim

NAME, EVERY_SECONDS = "release-files", 5
CLAIMS_RELEASED_AT_ONCE = 250
SETS_RELEASED_AT_ONCE = 100


async def release_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Release the claims of sets that were accepted and not released, whoever accepted them."""
    await release_accepted(context)


async def release_accepted(context: WorkContext) -> int:
    """Release the claims of all accepted sets; return how many sets there were."""
    async with context.database.read(file_sets.SCOPE) as tx:
        waiting = await file_sets.list_unreleased(tx, SETS_RELEASED_AT_ONCE)
    sites: dict[int, Site] = {site.id: site for site in context.accounts().sites}
    for one in waiting:
        if site := sites.get(one.site_id):
            await release_set(context, site, one.set_id)
    return len(waiting)


async def release_site(context: WorkContext, site: Site) -> None:
    """Release the claims of a site, so that the next file is compared with them."""
    async with context.database.read(site.scope) as tx:
        waiting = await file_sets.list_unreleased_of_site(tx)
    for set_id in waiting:
        await release_set(context, site, set_id)


async def release_set(context: WorkContext, site: Site, set_id: str) -> None:
    """Release the claims of a set, page by page."""
    await context.vault.ensure_key(site.scope)

    async def job(tx: Tx) -> bool:
        return await _release_page(tx, context, site, set_id)

    while await context.database.write(site.scope, job, actor=context.actor):
        fault_injection.crash_point("file released")


async def _release_page(tx: Tx, context: WorkContext, site: Site, set_id: str) -> bool:
    """Release the next claims of a set; return whether there may be more."""
    if await file_sets.lock_unreleased(tx, set_id) is None:
        return False
    page = await staged_claims.list_page(tx, set_id, CLAIMS_RELEASED_AT_ONCE)
    if page:
        await context.vault.load_keys_of(tx, [one.payload for one in page])
        rows = [open_staged(context, site, one) for one in page]
        await store_file_claims(tx, site, rows)
        await file_sets.add_claims(
            tx, [SetClaim(one.claim_number, set_id, one.position) for one in page]
        )
        await staged_claims.remove(tx, set_id, through=page[-1].position)
    if len(page) < CLAIMS_RELEASED_AT_ONCE:
        await file_sets.mark_released(tx, set_id)
        return False
    return True


def seal_staged(
    context: WorkContext, site: Site, *, set_id: str, file_id: str, position: int, row: NewClaim
) -> StagedClaim:
    """Return the row of a claim as it is staged."""
    payload = context.vault.seal(
        site.scope, staged_claims.TABLE, row.claim_number, _ENCODER.encode(row)
    )
    return StagedClaim(set_id, position, row.claim_number, file_id, payload)


def open_staged(context: WorkContext, site: Site, staged: StagedClaim) -> NewClaim:
    """Return the row that a staged claim becomes."""
    opened = context.vault.open(
        site.scope, staged_claims.TABLE, staged.claim_number, staged.payload
    )
    return _DECODER.decode(opened)


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(NewClaim)
