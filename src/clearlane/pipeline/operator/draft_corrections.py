"""Keep a person's correction until it is sent: sealed, for 30 days, and one person at a time.

Knows values by the paths of fields; knows no page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from clearlane.accounts.model import Site
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import correction_drafts
from clearlane.store.claims.correction_drafts import CorrectionDraft
from clearlane.store.database.database import Actor, Tx, write_audit

DRAFT_DAYS_MAX = 30
WRITING_MINUTES_MAX = 15
"""Minutes for which a draft belongs to the person who saved it last; then another person may continue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDraft:
    """A draft that was opened; without a repr of its values."""

    author: str
    begun_at: datetime
    saved_at: datetime
    values: Mapping[str, str] = field(repr=False)

    def belongs_to_another(self, name: str, now: datetime) -> bool:
        """Return whether someone else is writing it now."""
        is_fresh = now - self.saved_at < timedelta(minutes=WRITING_MINUTES_MAX)
        return self.author != name and is_fresh


async def load_draft(context: WorkContext, site: Site, claim_number: str) -> OpenDraft | None:
    """Return the draft of a claim's correction. The caller has audited the look at the claim."""
    async with context.database.read(site.scope) as tx:
        found = await correction_drafts.find_draft(tx, claim_number)
        if found is None:
            return None
        await context.vault.load_keys_of(tx, [found.payload])
    content = context.vault.open(site.scope, correction_drafts.TABLE, claim_number, found.payload)
    return OpenDraft(
        author=found.author,
        begun_at=from_micros(found.begun_at),
        saved_at=from_micros(found.saved_at),
        values=msgspec.json.decode(content, type=dict[str, str]),
    )


async def keep_draft(
    context: WorkContext,
    site: Site,
    claim_number: str,
    values: Mapping[str, str],
    *,
    actor: Actor,
    now: datetime,
) -> None:
    """Keep a draft; ``now`` is the real time, since people write in it."""
    await context.vault.ensure_key(site.scope)
    payload = context.vault.seal(
        site.scope, correction_drafts.TABLE, claim_number, msgspec.json.encode(dict(values))
    )
    at = to_micros(now)

    async def job(tx: Tx) -> None:
        before = await correction_drafts.find_draft(tx, claim_number)
        same = before is not None and before.author == actor.name
        draft = CorrectionDraft(
            claim_number, actor.name, before.begun_at if before and same else at, at, payload
        )
        forget = to_micros(now - timedelta(days=DRAFT_DAYS_MAX))
        await correction_drafts.put_draft(tx, draft, forget_before=forget)
        tx.audit("claim.draft", ids=[claim_number])

    await context.database.write(site.scope, job, actor=actor)


async def drop_draft(context: WorkContext, site: Site, claim_number: str, *, actor: Actor) -> None:
    """Forget a draft."""

    async def job(tx: Tx) -> None:
        await correction_drafts.drop_draft(tx, claim_number)
        tx.audit("claim.draft_dropped", ids=[claim_number])

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
