"""Count on how many claims of a site the same cause was seen lately, for "Seen on 8 other claims this week".

For the site's summary, which is refreshed by schedule: causes are sealed with their claims, so counting opens them. Up
to a limit, the latest first. Knows what claims have in common; nothing that it returns names a patient.
"""

from collections import Counter
from datetime import datetime, timedelta
from functools import partial

from clearlane.accounts.model import Site
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.load_claim import open_claim
from clearlane.pipeline.query.claim_list import load_answers, stored_claim
from clearlane.pipeline.query.claim_reason import explain_label
from clearlane.pipeline.stored_facts import open_fact
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.claim_query import (
    ClaimListKey,
    ClaimListRow,
    by_label,
    claims_by_number,
    list_claims,
)
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.claims.facts import FactRow

CAUSE_DAYS = 7
CAUSE_CLAIMS_MAX = 200
CAUSE_MINUTES_MAX = 15
"""How long a count is valid before it is refreshed."""
LABELS = (
    ClaimLabel.NOT_ACCEPTED,
    ClaimLabel.REJECTED,
    ClaimLabel.WANTS_RECORDS,
    ClaimLabel.DENIED,
    ClaimLabel.PARTLY_DENIED,
)
"""Labels of claims that have a cause to fix."""


def cause_key(label: str, payer_id: str, cause: str) -> str:
    """Return what claims of one cause have in common: the payer, and its source, code and field.

    Our own rules are the same for all payers.
    """
    return f"{'' if label == ClaimLabel.NOT_ACCEPTED else payer_id} {cause}"


async def count_causes(context: WorkContext, site: Site, now: datetime) -> dict[str, int]:
    """Return how many claims had each cause in the last days, by its key."""
    vault = context.vault
    since = to_micros(now - timedelta(days=CAUSE_DAYS))
    query = by_label(LABELS, updated_at_from=since, limit=CAUSE_CLAIMS_MAX)
    async with context.database.read(site.scope) as tx:
        keys = await list_claims(tx, query, ClaimListKey)
        if not keys:
            return {}
        rows = await claims_by_number(tx, [key.claim_number for key in keys])
        known, kept = await load_answers(tx, list(rows))
        sealed = [row.payload for row in rows.values()]
        sealed += [fact.payload for own in known.values() for fact in own]
        await vault.load_keys_of(tx, [*sealed, *(one.payload for one in kept.values())])
    found = (_cause(context, site, row, known[number], kept) for number, row in rows.items())
    return dict(Counter(filter(None, found)))


def _cause(
    context: WorkContext,
    site: Site,
    row: ClaimListRow,
    own: list[FactRow],
    kept: dict[str, StoredDocument],
) -> str:
    opened = [open_fact(context.vault, fact) for fact in own]
    load = partial(open_claim, context.vault, site.scope, stored_claim(row))
    reason = explain_label(context.vault, ClaimLabel(row.label), load, None, opened, kept)
    return cause_key(row.label, row.payer_id, reason.cause) if reason.cause else ""
