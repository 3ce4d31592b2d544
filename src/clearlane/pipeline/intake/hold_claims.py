"""Hold, release or cancel a claim before a batch takes it: for vendors and for people of the console.

    result = await change_unsent_claim(context, site, "C193QYBNVAAW07E9HJR", HOLD, actor=actor, now=now)
    result.refusal          # why it cannot be done; empty if it was done or was so already

Each is one transaction with its event and audit row, to which ``extend`` adds what the caller stores with it. A batch
that takes the claim at the same time wins or loses as a whole. Knows no HTTP.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.awaiting import Awaited
from clearlane.claims.claim_status import ClaimStatus, encode_claim_status
from clearlane.claims.lifecycle import NEXT, ClaimEvent, ClaimState
from clearlane.events.event import NewEvent
from clearlane.kernel.clock import from_micros, to_local, to_micros
from clearlane.pipeline.claim_succession import open_status
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import account_numbers, unsent_claims
from clearlane.store.claims.claim_history import HELD_FOR_ENROLLMENT
from clearlane.store.claims.claim_query import STATUS_COLUMN
from clearlane.store.claims.claim_queue import QUEUED_IN_DOUBT
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.claims.claims import NEVER_SENT, NOT_ACCEPTED
from clearlane.store.claims.reinstatement import lock_before, reinstate_before
from clearlane.store.claims.unsent_claims import UnsentChange
from clearlane.store.database.database import Actor, JobExtension, Tx, unextended
from clearlane.store.vault.vault import Vault


class UnsentVerb(NamedTuple):
    """What one of the verbs does."""

    event: ClaimEvent
    """The event of the claim's lifecycle."""
    event_type: str
    """The type of the event that vendors get."""
    audited: str
    word: str
    """What a person calls it, at the beginning of a sentence."""


HOLD = UnsentVerb(ClaimEvent.HELD, "claim.held", "claim.hold", "Hold")
RELEASE = UnsentVerb(ClaimEvent.RELEASED, "claim.released", "claim.release", "Release")
CANCEL = UnsentVerb(ClaimEvent.CANCELED, "claim.canceled", "claim.cancel", "Cancel")

WAS_REJECTED = "The claim was rejected, so it does not wait to be sent. Correct it instead."
IN_BATCH = "A batch has taken the claim, so it is on its way to the payer. Correct it, or void it, once the payer has it."
MAY_BE_SENT = "The claim may have been sent before the database was restored; an operator decides on it first."
WAS_REFUSED = "The claim was not accepted, so there is nothing to send."
IS_SHADOW = "The claim came in a shadow file: it was judged, and it is never sent."
WAS_CANCELED = "The claim was canceled. Send it again to have it sent."


class UnsentResult(NamedTuple):
    """The result of a verb on one claim."""

    claim_number: str
    state: str
    """The state that the claim is in now; empty if the site has no claim of this number."""
    refusal: str = ""
    """Why it was not done, in a sentence for the caller."""


async def change_unsent_claim(
    context: WorkContext, site: Site, claim_number: str, verb: UnsentVerb, *, actor: Actor, now: datetime,
    extend: JobExtension[UnsentResult] = unextended,
) -> UnsentResult:  # fmt: skip
    """Hold, release or cancel a claim. A canceled one is never sent, and its vendor's claim id is free."""
    await context.vault.ensure_key(site.scope)

    async def job(tx: Tx) -> UnsentResult:
        if verb is CANCEL:
            await lock_before(tx, claim_number)
        claim = await unsent_claims.lock(tx, claim_number)
        if claim is None:
            return UnsentResult(claim_number, "", "There is no claim of this number.")
        if claim.successor_id and claim.is_superseded:
            # Also of a claim that is canceled: its correction is what will be sent.
            refusal = await succession_sentence(tx, claim.successor_id, verb.word)
            return UnsentResult(claim_number, claim.state, refusal)
        if claim.state == _wanted_state(verb):
            return UnsentResult(claim_number, claim.state)
        wanted = _next_state(claim, verb)
        refusal = _refusal(claim, wanted)
        if refusal or wanted is None:
            return UnsentResult(claim_number, claim.state, refusal)
        if not await _change(tx, context, site, claim, verb, now, events=1):
            return UnsentResult(claim_number, claim.state, IN_BATCH)
        if verb is CANCEL:
            await reinstate_before(tx, claim, to_micros(now))
        tx.audit(verb.audited, ids=[claim_number])
        tx.add_events(
            [
                NewEvent(
                    verb.event_type,
                    to_micros(now),
                    site.vendor_id,
                    site.id,
                    claim_number,
                    claim.event_sequence + 1,
                    {"state": wanted.value, "previous_state": claim.state},
                )
            ]
        )
        return UnsentResult(claim_number, wanted.value)

    return await context.database.write(site.scope, extend(job), actor=actor)


async def hold_for_enrollment(
    tx: Tx, context: WorkContext, site: Site, claim_numbers: Sequence[str], now: int
) -> None:
    """Hold claims that were just stored, inside that transaction, until their provider's enrollment counts."""
    for number in sorted(claim_numbers):
        claim = await unsent_claims.lock(tx, number)
        if claim is None or not await _change(
            tx, context, site, claim, HOLD, from_micros(now), events=1, for_enrollment=True
        ):
            continue
        awaits = Awaited.ENROLLMENT.value
        data = {
            "state": ClaimState.HELD.value,
            "previous_state": claim.state,
            "awaiting": awaits,
        }
        sequence = claim.event_sequence + 1
        tx.add_events(
            [NewEvent(HOLD.event_type, now, site.vendor_id, site.id, number, sequence, data)]
        )


async def cancel_within(
    tx: Tx, context: WorkContext, site: Site, claim: ClaimStateRow, now: datetime
) -> bool:
    """Cancel a claim inside the transaction that stores its correction, which tells of it; return False if it is taken."""
    return await _change(tx, context, site, claim, CANCEL, now, events=0)


async def succession_sentence(tx: Tx, successor: str, todo: str) -> str:
    """Return that another claim took over, with its number and state, and what to do with that one."""
    after = await unsent_claims.lock(tx, successor)
    state = f", and it is {after.state}" if after else ""
    return f"The claim {successor} has taken over{state}. {todo} that one."


async def load_status(tx: Tx, vault: Vault, claim: ClaimStateRow) -> ClaimStatus:
    """Return the status of an accepted claim."""
    await vault.load_keys_of(tx, [claim.status] if claim.status else [])
    return open_status(vault, claim)


def is_unsent(claim: ClaimStateRow) -> bool:
    """Return whether no batch has taken the claim, and no restore leaves that in doubt."""
    return claim.sendings == 0 and claim.queued not in (0, QUEUED_IN_DOUBT, -QUEUED_IN_DOUBT)


def _wanted_state(verb: UnsentVerb) -> str:
    """Return the state that a verb leads to: a claim that is in it needs no change."""
    return next(after for (_, event), after in NEXT.items() if event is verb.event).value


def _next_state(claim: ClaimStateRow, verb: UnsentVerb) -> ClaimState | None:
    if claim.state in NEVER_SENT:
        return None
    return NEXT.get((ClaimState(claim.state), verb.event))


def _refusal(claim: ClaimStateRow, wanted: ClaimState | None) -> str:
    if claim.state in NEVER_SENT:
        return WAS_REFUSED if claim.state == NOT_ACCEPTED else IS_SHADOW
    if claim.state == ClaimState.CANCELED:
        return WAS_CANCELED
    if claim.state == ClaimState.REJECTED:
        return WAS_REJECTED
    if abs(claim.queued) == QUEUED_IN_DOUBT:
        return MAY_BE_SENT
    return IN_BATCH if wanted is None or not is_unsent(claim) else ""


async def _change(
    tx: Tx,
    context: WorkContext,
    site: Site,
    claim: ClaimStateRow,
    verb: UnsentVerb,
    now: datetime,
    *,
    events: int,
    for_enrollment: bool = False,
) -> bool:
    wanted = _next_state(claim, verb)
    if wanted is None or claim.status is None or not is_unsent(claim):
        return False
    vault, today = context.vault, to_local(now, site.time_zone).date()
    before = await load_status(tx, vault, claim)
    status = msgspec.structs.replace(
        before, state=wanted, state_changed_day=today, updated_day=today
    )
    sealed = vault.seal(site.scope, STATUS_COLUMN, claim.claim_number, encode_claim_status(status))
    queued = 0 if wanted is ClaimState.CANCELED else -claim.queued
    name, awaited = verb.event.value, None
    if for_enrollment:
        name, awaited = HELD_FOR_ENROLLMENT, Awaited.ENROLLMENT
    change = UnsentChange(wanted.value, queued, sealed, name, to_micros(now), awaited)
    changed = await unsent_claims.update(tx, claim, change, events=events)
    if changed and wanted is ClaimState.CANCELED:
        await account_numbers.release(tx, {claim.claim_number})
    return changed
