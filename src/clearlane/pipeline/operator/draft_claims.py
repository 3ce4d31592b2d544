"""Write a new claim by hand: begin a draft, list and load drafts, and send one through the intake that all claims take.

    draft_id = await begin_claim(context, site, V3_MEDICAL, actor=actor, now=now)
    result = await send_claim(context, site, draft, document, actor=actor, now=now)

The draft's id is the claim's vendor claim id. A claim that is sent twice, as by a double click, is a repeated request: nothing
is sent twice. Every look is audited.

Knows values by the paths of fields; knows no page.
"""

import secrets
from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.claims.forms import AnyForm
from clearlane.kernel.finding import Severity
from clearlane.pipeline.intake.store import ClaimResult
from clearlane.pipeline.intake.submission_result import SubmissionResult
from clearlane.pipeline.intake.submit import submit
from clearlane.pipeline.operator.draft_corrections import (
    OpenDraft,
    keep_draft,
    oldest_kept,
    open_draft,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_drafts, claim_search
from clearlane.store.claims.claim_query import ClaimListKey, ClaimQuery, Listed, list_claims
from clearlane.store.database.database import Actor, Job, Tx

NEW_DRAFTS_MAX = 100
"""How many drafts of a site are listed."""
ID_BYTES = 5


async def begin_claim(
    context: WorkContext, site: Site, form: AnyForm, *, actor: Actor, now: datetime
) -> str:
    """Begin the draft of a new claim; return its id. ``now`` is the real time."""
    draft_id = f"HAND-{secrets.token_hex(ID_BYTES).upper()}"
    await keep_draft(context, site, draft_id, {}, actor=actor, now=now, form=form.name)
    return draft_id


async def load_new_claim(
    context: WorkContext, site: Site, draft_id: str, *, actor: Actor
) -> OpenDraft | None:
    """Return the draft of a new claim; None if there is none, because it was sent, discarded or is too old."""

    async def find(tx: Tx) -> claim_drafts.ClaimDraft | None:
        found = await claim_drafts.find_draft(tx, draft_id)
        if found is None or not found.form:
            return None
        await context.vault.load_keys_of(tx, [found.payload])
        tx.audit("claim.draft_read", ids=[draft_id])
        return found

    found = await context.database.write(site.scope, find, actor=actor)
    return None if found is None else open_draft(context, site, found)


async def list_new_claims(
    context: WorkContext, site: Site, *, actor: Actor, now: datetime
) -> list[OpenDraft]:
    """Return the drafts of new claims of a site, the latest first. ``now`` is the real time."""

    async def find(tx: Tx) -> list[claim_drafts.ClaimDraft]:
        found = await claim_drafts.list_new(tx, since=oldest_kept(now), limit=NEW_DRAFTS_MAX)
        if found:
            await context.vault.load_keys_of(tx, [one.payload for one in found])
            tx.audit("claim.draft_read", ids=[one.draft_id for one in found])
        return found

    found = await context.database.write(site.scope, find, actor=actor)
    return [open_draft(context, site, one) for one in found]


async def send_claim(
    context: WorkContext,
    site: Site,
    draft_id: str,
    form: AnyForm,
    document: bytes,
    *,
    actor: Actor,
    now: datetime,
) -> SubmissionResult:
    """Submit a new claim, and forget its draft in the transaction that stores the claim."""

    def extend(job: Job[list[ClaimResult]]) -> Job[list[ClaimResult]]:
        async def run(tx: Tx) -> list[ClaimResult]:
            results = await job(tx)
            await claim_drafts.drop_draft(tx, draft_id)
            return results

        return run

    return await submit(
        context,
        document,
        form,
        site=site,
        actor=actor,
        now=now,
        listed=(Severity.ERROR, Severity.WARNING),
        extend=extend,
    )


async def find_sent_claim(context: WorkContext, site: Site, draft_id: str) -> str:
    """Return the number of the claim that a draft became; empty if it became none."""
    hashes = claim_search.vendor_claim_hashes(context.vault, site.vendor_id, draft_id)
    query = ClaimQuery(where={"vendor_claim_hashes": hashes}, listed=Listed.LATEST, limit=1)
    async with context.database.read(site.scope) as tx:
        found = await list_claims(tx, query, ClaimListKey)
    return found[0].claim_number if found else ""
