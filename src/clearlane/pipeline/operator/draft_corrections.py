"""Keep what a person writes until it is sent: sealed, for 30 days, and one person at a time.

A correction is kept under the number of its claim; a new claim under an id of its own, which becomes its claim id: however
often it is sent, it is one claim.

Knows values by the paths of fields; knows no page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from clearlane.accounts.model import Site
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_drafts
from clearlane.store.claims.claim_drafts import ClaimDraft
from clearlane.store.database.database import Actor, Tx, write_audit

DRAFT_DAYS_MAX = 30
WRITING_MINUTES_MAX = 15
"""Minutes for which a draft belongs to the person who saved it last; then another person may continue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDraft:
    """A draft that was opened; without a repr of its values."""

    draft_id: str
    form: str
    """The form that a new claim is written on; empty for a correction."""
    author: str
    begun_at: datetime
    saved_at: datetime
    values: Mapping[str, str] = field(repr=False)

    def belongs_to_another(self, name: str, now: datetime) -> bool:
        """Return whether someone else is writing it now."""
        is_fresh = now - self.saved_at < timedelta(minutes=WRITING_MINUTES_MAX)
        return self.author != name and is_fresh


async def load_draft(context: WorkContext, site: Site, draft_id: str) -> OpenDraft | None:
    """Return the draft of a claim's correction. The caller has audited the look at the claim."""
    async with context.database.read(site.scope) as tx:
        found = await claim_drafts.find_draft(tx, draft_id)
        if found is None:
            return None
        await context.vault.load_keys_of(tx, [found.payload])
    return open_draft(context, site, found)


def open_draft(context: WorkContext, site: Site, found: ClaimDraft) -> OpenDraft:
    """Open a stored draft. The caller has loaded its data key and audited the look."""
    content = context.vault.open(site.scope, claim_drafts.TABLE, found.draft_id, found.payload)
    return OpenDraft(
        draft_id=found.draft_id,
        form=found.form,
        author=found.author,
        begun_at=from_micros(found.begun_at),
        saved_at=from_micros(found.saved_at),
        values=msgspec.json.decode(content, type=dict[str, str]),
    )


async def keep_draft(
    context: WorkContext,
    site: Site,
    draft_id: str,
    values: Mapping[str, str],
    *,
    actor: Actor,
    now: datetime,
    form: str = "",
    begins: bool = True,
) -> None:
    """Keep a draft; ``now`` is the real time, since people write in it.

    ``form`` is that of a new claim. Without ``begins`` a draft that is gone, because it was sent, stays gone.
    """
    await context.vault.ensure_key(site.scope)
    payload = context.vault.seal(
        site.scope, claim_drafts.TABLE, draft_id, msgspec.json.encode(dict(values))
    )
    at = to_micros(now)

    async def job(tx: Tx) -> None:
        before = await claim_drafts.find_draft(tx, draft_id)
        if before is None and not begins:
            return
        same = before is not None and before.author == actor.name
        draft = ClaimDraft(
            draft_id, form, actor.name, before.begun_at if before and same else at, at, payload
        )
        await claim_drafts.put_draft(tx, draft, forget_before=oldest_kept(now))
        tx.audit("claim.draft", ids=[draft_id])

    await context.database.write(site.scope, job, actor=actor)


def oldest_kept(now: datetime) -> int:
    """Return the moment before which drafts are forgotten, in microseconds."""
    return to_micros(now - timedelta(days=DRAFT_DAYS_MAX))


async def drop_draft(context: WorkContext, site: Site, draft_id: str, *, actor: Actor) -> None:
    """Forget a draft."""

    async def job(tx: Tx) -> None:
        await claim_drafts.drop_draft(tx, draft_id)
        tx.audit("claim.draft_dropped", ids=[draft_id])

    await context.database.write(site.scope, job, actor=actor)


async def record_chosen_way(
    context: WorkContext, site: Site, claim_number: str, way: str, *, actor: Actor
) -> None:
    """Audit how a person decided that a claim goes out."""

    await write_audit(
        context.database,
        site.scope,
        "claim.way_chosen",
        ids=[claim_number],
        detail=way,
        actor=actor,
    )
