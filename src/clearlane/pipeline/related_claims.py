"""Keep the claims before and after others right: lock them in one order, and recompute their status.

For ``record_facts``, in its transaction. A claim that has neither predecessor nor successor costs nothing beyond the one
look that finds this out.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from clearlane.claims.lifecycle import REFUSED_OR_CANCELED, WITH_THE_PAYER
from clearlane.pipeline.answer_days import AnswerDays
from clearlane.pipeline.claim_status import update_statuses
from clearlane.pipeline.stored_facts import load_known_facts
from clearlane.store.claims import claim_updates
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.database.database import Tx
from clearlane.store.vault.vault import Vault

LINKS_AT_ONCE = 1_000
ROUNDS_MAX = 100
"""Claims in a row, each in the place of the one before, through which a decision is passed on."""


async def list_links(tx: Tx, claim_numbers: Sequence[str]) -> dict[str, ClaimStateRow]:
    """Return those of these claims that have a predecessor or successor, by their numbers.

    With the canceled and rejected ones beside them, whose other relatives may be concerned as well.
    """
    found: dict[str, ClaimStateRow] = {}
    for start in range(0, len(claim_numbers), LINKS_AT_ONCE):
        page = claim_numbers[start : start + LINKS_AT_ONCE]
        found |= await claim_updates.list_links(tx, page)
    # A decision passes through claims that never took effect.
    looked_at = set(found)
    while beyond := sorted(_relatives(found.values()) - looked_at):
        looked_at.update(beyond)
        links = await claim_updates.list_links(tx, beyond)
        found |= {id: one for id, one in links.items() if one.state in REFUSED_OR_CANCELED}
    return found


async def lock_relatives(
    tx: Tx, claim_numbers: Sequence[str], links: Iterable[ClaimStateRow]
) -> None:
    """Lock claims together with those before and after them, if there are such, in the order of their numbers."""
    related = _relatives(links)
    if not related:
        return
    ordered = sorted(related.union(claim_numbers))
    for start in range(0, len(ordered), LINKS_AT_ONCE):
        await claim_updates.lock_claims(tx, ordered[start : start + LINKS_AT_ONCE])


async def update_relatives(
    tx: Tx, vault: Vault, claim_numbers: Sequence[str], now: datetime, answer_days: AnswerDays
) -> None:
    """Recompute the claims before and after these, and on from each that changes."""
    for _ in range(ROUNDS_MAX):
        links = await list_links(tx, claim_numbers) if claim_numbers else {}
        related = _relatives(links.values())
        if not related:
            return
        locked = await claim_updates.lock_claims(tx, sorted(related))
        delivered = [one for one in locked.values() if one.state in WITH_THE_PAYER]
        known = await load_known_facts(tx, vault, [one.claim_number for one in delivered])
        claim_numbers = await update_statuses(
            tx, vault, dict.fromkeys(delivered, ()), known, now, answer_days, only_news=True
        )


def _relatives(links: Iterable[ClaimStateRow]) -> set[str]:
    return {id for one in links for id in (one.predecessor_id, one.successor_id) if id}
