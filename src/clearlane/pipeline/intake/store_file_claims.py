"""Store judged claims of a sender's file, with their events and the audit row, in the transaction of the caller.

Several claims of a file may have one vendor's claim id, so none takes it over from another. A replacement or void is
linked to the claim that it is about, if just one fits.
"""

from collections.abc import Sequence

from clearlane.accounts.model import Site
from clearlane.events.event import NewEvent
from clearlane.pipeline.claim_events import submission_events
from clearlane.pipeline.intake.hold_claims import hold_for_enrollment
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.claims import RECEIVED
from clearlane.store.claims.earlier_claims import find_superseded
from clearlane.store.claims.new_claims import NewClaim
from clearlane.store.claims.save_claims import save_file_claims, save_shadow_claims
from clearlane.store.database.database import Tx
from clearlane.store.files import shadow_claims
from clearlane.store.files.shadow_claims import ShadowX12


async def store_file_claims(
    tx: Tx, context: WorkContext, site: Site, rows: Sequence[NewClaim]
) -> None:
    """Store claims of a file; a replacement or void supersedes the claim that it is about.

    A branch for each fate of a claim, since each has its events: accepted or not, about an earlier one, awaiting an enrollment.
    """
    if not rows:
        return
    if rows[0].is_shadow:
        await _store_shadow_claims(tx, rows)
        return
    at = max(row.created_at for row in rows)
    received = [row.claim_number for row in rows if row.state == RECEIVED]
    refused = [row.claim_number for row in rows if row.state != RECEIVED]
    links = await save_file_claims(tx, rows)
    secondary = {row.claim_number: row.prior_payer_claim for row in rows if row.prior_payer_claim}
    tx.add_events(
        submission_events(
            site.vendor_id, site.id, at, received=received, refused=refused, secondary=secondary
        )
    )
    if links:
        successors = {earlier: number for number, earlier in links.items()}
        corrected = await find_superseded(tx, list(successors))
        tx.add_events(
            [
                NewEvent(
                    "claim.corrected",
                    at,
                    site.vendor_id,
                    site.id,
                    one.claim_number,
                    one.event_sequence,
                    {
                        "state": one.state,
                        "successor": successors[one.claim_number],
                        "changed_fields": [],
                    },
                )
                for one in corrected
            ]
        )
    waiting = [one.claim_number for one in rows if one.awaits_enrollment and one.state == RECEIVED]
    await hold_for_enrollment(tx, context, site, waiting, at)
    detail = f"{len(received)} Accepted, {len(refused)} NotAccepted"
    tx.audit("claims.submit", ids=[row.claim_number for row in rows], detail=detail)


async def _store_shadow_claims(tx: Tx, rows: Sequence[NewClaim]) -> None:
    """Store claims of a shadow file, with what would have been sent. Programs get no events about them: nothing happens to them."""
    await save_shadow_claims(tx, rows)
    written = [ShadowX12(row.claim_number, row.shadow_x12) for row in rows if row.shadow_x12]
    await shadow_claims.add_x12(tx, written)
    detail = f"shadow; {len(written)} of {len(rows)} would be sent"
    tx.audit("claims.submit", ids=[row.claim_number for row in rows], detail=detail)
