"""People's work on claims: notes, assignments, putting aside, and being done with one. All of it is audited.

Reasons and notes are sealed: people write about patients in them. Knows no page.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import new_number
from clearlane.kernel.limits import REASON_CHARACTERS_MAX
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import work_items
from clearlane.store.claims.claim_query import ClaimListRow, claims_by_number
from clearlane.store.claims.work_items import ClaimNote, ClaimWorkItem
from clearlane.store.database.database import Actor, Tx

NOTE_CHARACTERS_MAX = 4_000
CLAIMS_AT_ONCE_MAX = 500


@dataclass(frozen=True, slots=True)
class OpenNote:
    """A note that was opened; without a repr of its text."""

    author: str
    at: int
    text: str = field(repr=False)


async def add_note(
    context: WorkContext, site: Site, claim_number: str, text: str, *, actor: Actor
) -> None:
    """Add a note to a claim. It is never sent to a payer."""
    now = context.clock.now()
    await context.vault.ensure_key(site.scope)
    id = new_number(now, letter="N")
    payload = context.vault.seal(
        site.scope, work_items.NOTES, id, text[:NOTE_CHARACTERS_MAX].encode()
    )
    note = ClaimNote(id, claim_number, actor.name, to_micros(now), payload)
    await context.database.write(site.scope, lambda tx: work_items.add_note(tx, note), actor=actor)


async def list_notes(context: WorkContext, site: Site, claim_number: str) -> list[OpenNote]:
    """Return the notes of a claim, the latest first. The caller has audited the look at the claim."""
    async with context.database.read(site.scope) as tx:
        notes = await work_items.list_notes(tx, claim_number)
        await context.vault.load_keys_of(tx, [note.payload for note in notes])
    return [
        OpenNote(
            note.author,
            note.at,
            context.vault.open(site.scope, work_items.NOTES, note.note_id, note.payload).decode(),
        )
        for note in notes
    ]


async def assign_claims(
    context: WorkContext,
    site: Site,
    claim_numbers: Sequence[str],
    user: str | None,
    *,
    actor: Actor,
) -> int:
    """Assign claims to a user, or to no one; return how many there were."""
    return await _change(
        context,
        site,
        claim_numbers,
        "claim.assign",
        lambda item, row: item._replace(assigned_to=user),
        actor=actor,
    )


async def snooze_claims(
    context: WorkContext,
    site: Site,
    claim_numbers: Sequence[str],
    until: str,
    *,
    actor: Actor,
    at: datetime | None = None,
) -> int:
    """Put claims aside until a day; return how many there were. ``at`` is the moment to take it back by; now without it."""
    return await _change(
        context,
        site,
        claim_numbers,
        "claim.snooze",
        lambda item, row: item._replace(snoozed_until=until),
        actor=actor,
        at=at,
    )


async def finish_claims(
    context: WorkContext,
    site: Site,
    claim_numbers: Sequence[str],
    reason: str,
    *,
    actor: Actor,
    at: datetime | None = None,
) -> int:
    """Take claims off the worklist, with the reason; another label brings them back. ``at`` as for ``snooze_claims``."""
    await context.vault.ensure_key(site.scope)
    text = reason[:REASON_CHARACTERS_MAX].encode()

    def done(item: ClaimWorkItem, row: ClaimListRow) -> ClaimWorkItem:
        payload = context.vault.seal(site.scope, work_items.TABLE, row.claim_number, text)
        return item._replace(done_label=row.label, payload=payload)

    return await _change(context, site, claim_numbers, "claim.done", done, actor=actor, at=at)


async def take_up_claims(context: WorkContext, site: Site, at: datetime, *, actor: Actor) -> int:
    """Take back what was put aside or done at a moment: those claims are on the worklist again; return how many.

    Claims on which someone worked since then stay as they are.
    """
    now = to_micros(context.clock.now())

    async def job(tx: Tx) -> int:
        found = await work_items.list_put_aside(tx, to_micros(at))
        back = [
            one._replace(snoozed_until=None, done_label=None, payload=None, changed_at=now)
            for one in found
        ]
        if back:
            await work_items.put_items(tx, back)
            tx.audit("claim.taken_up", ids=[one.claim_number for one in back])
        return len(back)

    return await context.database.write(site.scope, job, actor=actor)


async def _change(
    context: WorkContext,
    site: Site,
    claim_numbers: Sequence[str],
    action: str,
    change: Callable[[ClaimWorkItem, ClaimListRow], ClaimWorkItem],
    *,
    actor: Actor,
    at: datetime | None = None,
) -> int:
    now = to_micros(at or context.clock.now())

    async def job(tx: Tx) -> int:
        rows = await claims_by_number(tx, claim_numbers[:CLAIMS_AT_ONCE_MAX])
        known = await work_items.list_items(tx, list(rows))
        items = [
            change(known.get(id) or ClaimWorkItem(id), row)._replace(changed_at=now)
            for id, row in rows.items()
        ]
        await work_items.put_items(tx, items)
        tx.audit(action, ids=list(rows))
        return len(items)

    return await context.database.write(site.scope, job, actor=actor)
