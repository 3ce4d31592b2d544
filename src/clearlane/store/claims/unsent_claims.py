"""Claims that are in no batch yet: lock one, and change its state only while no batch took it.

Knows no verb: what a change means is decided above.
"""

from typing import NamedTuple

from sqlalchemy import bindparam

from clearlane.claims.awaiting import Awaited, AwaitedState, first_awaited
from clearlane.store.claims.claim_updates import LOCK, ClaimStateRow
from clearlane.store.claims.claims import add_event
from clearlane.store.database.database import Tx, find_row
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import scoped_select, scoped_update


class UnsentChange(NamedTuple):
    """The new state of a claim's row. ``status`` is sealed."""

    state: str
    queued: int
    status: bytes
    event: str
    at: int
    awaited: Awaited | None = None
    """What it awaits; None if its new state says so."""


async def lock(tx: Tx, claim_number: str) -> ClaimStateRow | None:
    """Return a claim of the scope, sent or not, locked until the transaction ends.

    If several verbs meet, each decides on what the one before it left.
    """
    return await find_row(tx, ClaimStateRow, _LOCK, claim_number=claim_number)


async def update(tx: Tx, seen: ClaimStateRow, change: UnsentChange, *, events: int) -> bool:
    """Change a claim that is still as it was seen; return whether it was. ``events`` is how many events report the change."""
    # The labels of unsent claims are their states.
    label = change.state.lower()
    awaited = first_awaited(label, change.at)
    if change.awaited is not None:
        awaited = AwaitedState(change.awaited.value, change.at)._asdict()
    changed = await tx.run(
        _UPDATE,
        of=seen.claim_number,
        seen_state=seen.state,
        seen_queued=seen.queued,
        new_state=change.state,
        new_label=label,
        **awaited,
        new_queued=change.queued,
        new_status=change.status,
        new_sequence=seen.event_sequence + events,
        changed_at=change.at,
    )
    if changed:
        await add_event(tx, seen.claim_number, change.at, change.event)
    return bool(changed)


_LOCK = scoped_select(LOCK.where(claims.c.claim_number == bindparam("claim_number")), claims)
# A batch sets queued to 0 and counts a sending, so whichever comes first makes the other find nothing.
_UPDATE = scoped_update(
    claims,
    claims.c.claim_number == bindparam("of"),
    claims.c.state == bindparam("seen_state"),
    claims.c.queued == bindparam("seen_queued"),
    claims.c.sendings == 0,
    state=bindparam("new_state"),
    label=bindparam("new_label"),
    queued=bindparam("new_queued"),
    status=bindparam("new_status"),
    event_sequence=bindparam("new_sequence"),
    updated_at=bindparam("changed_at"),
    **{name: bindparam(name) for name in AwaitedState._fields},
)
