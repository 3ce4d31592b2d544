"""Make the drafts of secondary claims that are due, after their claims' payments were posted.

    await make_due_drafts(context)          # run by the tick of ``draft_work``

A posting only notes what is due, in its own transaction, so that a payment with thousands of claims costs no more. A draft
that was made while its claim payment changed is made again. The draft of a claim that replaces another one takes over what was sent
to the next payer after that one: it is corrected, and not sent a second time. One that cannot be made keeps no other back: it is tried again
ever later, and after the third time a person sees it.
"""

from collections.abc import Mapping
from datetime import timedelta

from clearlane.accounts.model import Site
from clearlane.claims.awaiting import NOTHING_AWAITED, Awaited, AwaitedState
from clearlane.events.event import EventData, NewEvent
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.pipeline.secondary.next_claim import (
    DraftContent,
    SecondaryDraft,
    encode_draft,
    load_next_claim,
)
from clearlane.pipeline.secondary.send_by_itself import why_not_by_itself
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Tx, require_row
from clearlane.store.database.group_commit import TEMPORARY_FAULTS
from clearlane.store.payments import secondary_drafts
from clearlane.store.payments.secondary_drafts import (
    TO_DO,
    CrossoverStep,
    DraftRow,
    DraftState,
    DueDraft,
)

log = get_logger()

DRAFTS_AT_ONCE = 100
BILLABLE = frozenset({DraftState.OPEN, DraftState.READY})
FAILURES_HIDDEN = 2
"""How often a draft may fail before a person sees it."""
FIRST_PAUSE, LAST_PAUSE = timedelta(minutes=1), timedelta(days=1)
ASKED_PAUSE = timedelta(days=7)
"""How long a next payer that was asked about a crossover may take to answer."""
READY, WITHDRAWN, CHANGED = "claim.secondary_ready", "claim.secondary_withdrawn", "claim.secondary_to_correct"  # fmt: skip


async def make_due_drafts(context: WorkContext) -> int:
    """Make every draft that is due, each tried once; return how many were made."""
    done, last = 0, ""
    at = to_micros(context.clock.now())
    while True:
        async with context.database.read(secondary_drafts.SCOPE) as tx:
            due = await secondary_drafts.list_due(tx, at, DRAFTS_AT_ONCE, after=last)
        done += sum([await _try(context, one) for one in due])
        if len(due) < DRAFTS_AT_ONCE:
            return done
        last = due[-1].claim_number


async def _try(context: WorkContext, due: DueDraft) -> bool:
    """Make a draft; return whether that succeeded. One that raises is tried again later."""
    site = site_of(context, due)
    if site is None:
        return False
    try:
        return await _make_draft(context, site, due)
    except TEMPORARY_FAULTS:
        raise
    except Exception as fault:  # noqa: BLE001  (a draft that was not made is still due)
        details = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("secondary draft not made", claim=due.claim_number, **details)  # noqa: TRY400  (a traceback may hold values)
        await put_off(context, site, due)
        return False


def site_of(context: WorkContext, due: DueDraft) -> Site | None:
    """Return the site of a draft; None if it is gone."""
    sites = context.accounts().sites
    return next((one for one in sites if (one.vendor_id, one.id) == due[:2]), None)


async def _make_draft(context: WorkContext, site: Site, due: DueDraft) -> bool:
    now = context.clock.now()
    found = await load_next_claim(context, site, due.claim_number, actor=context.actor, now=now)
    return found is not None and await save_draft(context, site, found, actor=context.actor)


async def put_off(context: WorkContext, site: Site, due: DueDraft) -> None:
    """Note that a draft could not be made: it is tried again later, and shown to a person after a while."""
    now = context.clock.now()
    next_at = to_micros(now + min(FIRST_PAUSE * 4**due.failures, LAST_PAUSE))
    is_shown = due.failures >= FAILURES_HIDDEN

    async def job(tx: Tx) -> None:
        state = DraftState.FAILED if is_shown else None
        if await secondary_drafts.note_failure(tx, due, next_at, state) and is_shown:
            await _set_awaited(tx, due.claim_number, Awaited.SECONDARY, to_micros(now))

    await context.database.write(site.scope, job, actor=context.actor)


async def save_draft(
    context: WorkContext, site: Site, found: SecondaryDraft, *, actor: Actor
) -> bool:
    """Store a draft as it was decided, with its event; False if it, or its claim payment, changed since it was loaded."""
    await context.vault.ensure_key(site.scope)
    at = to_micros(context.clock.now())

    async def job(tx: Tx) -> bool:
        return await write_draft(tx, context, site, found, at) is not None

    return await context.database.write(site.scope, job, actor=actor)


async def write_draft(
    tx: Tx, context: WorkContext, site: Site, found: SecondaryDraft, at: int
) -> DraftRow | None:
    """Write a draft as it was decided, with its event and what the claim awaits; return what it replaces.

    None if that changed since it was loaded. The caller has made sure of the data key.
    """
    number, paid = found.claim_number, found.paid
    before, replaced = found.row, found.replaced if found.paid else None
    if replaced is not None and not await secondary_drafts.lock_as_seen(tx, replaced):
        return None
    if before is None:
        if not await secondary_drafts.add_draft(tx, number, at):
            return None  # Another one was made, or sent, or a payment was posted.
        before = require_row(await secondary_drafts.find_draft(tx, number), "a draft")
    content = DraftContent(
        answers=found.answers, insurance=found.insurance, questions=found.questions
    )
    if replaced is not None:
        before = before._replace(
            claim_payment_id=replaced.claim_payment_id, payer_id=replaced.payer_id
        )
    # What was sent, or is withdrawn, tells of the payment that it was made from.
    is_of_payment = paid is not None and not found.secondary_claim
    draft = before._replace(
        state=found.state.value,
        claim_payment_id=paid.claim_payment_id
        if paid and is_of_payment
        else before.claim_payment_id,
        payer_id=found.insurance.payer_id,
        patient_cents=paid.patient if paid else 0,
        changed_at=at,
        next_at=_next_at(context, site, found, before, at),
        crossover=found.crossover.value,
        payload=context.vault.seal(
            site.scope, secondary_drafts.TABLE, number, encode_draft(content)
        ),
    )
    if not await secondary_drafts.save_draft(tx, draft, before):
        return None
    if replaced is not None:
        await secondary_drafts.take_over(tx, number, replaced, at)
    tx.audit("claim.secondary_draft", ids=[number], detail=found.state.value)
    if found.state is DraftState.FORWARDED:
        await _set_awaited(tx, number, Awaited.CROSSOVER, at, draft.next_at)
    elif found.state in TO_DO and (found.is_worth_billing or found.secondary_claim):
        await _set_awaited(tx, number, Awaited.SECONDARY, at)
    else:
        await secondary_drafts.set_awaited(tx, number, NOTHING_AWAITED)
    await _add_event(tx, site, found, before, at)
    return before


def _next_at(
    context: WorkContext, site: Site, found: SecondaryDraft, before: DraftRow, at: int
) -> int | None:
    """Return when the service acts on a draft by itself: it sends it, or looks whether a crossover was answered."""
    if found.state is DraftState.READY:
        return at if site.bills_next_payer and not why_not_by_itself(found) else None
    if found.state is not DraftState.FORWARDED:
        return None
    if found.crossover is CrossoverStep.ASKED:
        return to_micros(from_micros(at) + ASKED_PAUSE)
    if before.state == DraftState.FORWARDED and before.next_at is not None:
        return before.next_at
    return to_micros(from_micros(at) + timedelta(days=context.limits.crossover_days))


async def _set_awaited(
    tx: Tx, claim_number: str, awaited: Awaited, at: int, by: int | None = None
) -> None:
    """Let a decided claim await this because of its draft; since when stays if it does already."""
    now = await secondary_drafts.find_awaited(tx, claim_number) or NOTHING_AWAITED
    since = now.awaited_since if now.awaiting == awaited else at
    await secondary_drafts.set_awaited(tx, claim_number, AwaitedState(awaited.value, since, by))


async def _add_event(tx: Tx, site: Site, found: SecondaryDraft, before: DraftRow, at: int) -> None:
    type = _event_type(found, before)
    if not type:
        return
    number = found.claim_number
    questions = list(dict.fromkeys(one.field for one in found.questions))
    data: Mapping[str, EventData] = {
        READY: {"payer_id": found.insurance.payer_id, "questions": questions},
        WITHDRAWN: {"payer_id": before.payer_id},
        CHANGED: {"payer_id": before.payer_id, "secondary_claim": found.secondary_claim},
    }
    sequence = await secondary_drafts.count_event(tx, number)
    tx.add_events([NewEvent(type, at, site.vendor_id, site.id, number, sequence, data[type])])


def _event_type(found: SecondaryDraft, before: DraftRow) -> str:
    """Return what happened to a draft that a program wants to know; empty for nothing."""
    if found.state is DraftState.TO_CORRECT:
        return CHANGED if before.state == DraftState.SENT or found.replaced else ""
    if found.state not in BILLABLE:
        return WITHDRAWN if before.state in BILLABLE else ""
    is_same = found.paid is None or found.paid.claim_payment_id == before.claim_payment_id
    is_known = before.state in BILLABLE and is_same
    return READY if found.is_worth_billing and not is_known else ""
