"""Store judged claims of a sender's file, with their events and the audit row, in the transaction of the caller.

Several claims of a file may have one vendor's claim id, so none takes it over from another. A replacement or void is
linked to the claim that it is about, if just one fits.
"""

from collections.abc import Sequence

from clearlane.accounts.model import Site
from clearlane.events.event import NewEvent
from clearlane.pipeline.claim_events import submission_events
from clearlane.store.claims.claims import RECEIVED
from clearlane.store.claims.earlier_claims import find_superseded
from clearlane.store.claims.new_claims import NewClaim
from clearlane.store.claims.save_claims import save_file_claims
from clearlane.store.database.database import Tx


async def store_file_claims(tx: Tx, site: Site, rows: Sequence[NewClaim]) -> None:
    """Store claims of a file; a replacement or void supersedes the claim that it is about."""
    if not rows:
        return
    at = max(row.created_at for row in rows)
    received = [row.claim_number for row in rows if row.state == RECEIVED]
    refused = [row.claim_number for row in rows if row.state != RECEIVED]
    links = await save_file_claims(tx, rows)
    tx.add_events(
        submission_events(site.vendor_id, site.id, at, received=received, refused=refused)
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
    detail = f"{len(received)} Accepted, {len(refused)} NotAccepted"
    tx.audit("claims.submit", ids=[row.claim_number for row in rows], detail=detail)
