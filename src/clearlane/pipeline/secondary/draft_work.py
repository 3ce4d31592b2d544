"""What the service does about drafts of secondary claims by itself: make those that are due, send, follow crossovers.

    await work_on_drafts(context)

Each draft says when it is looked at (``next_at``): one that may be sent by itself at once, a crossover once its next payer
had time to answer. Then that payer is asked if it can be, and after a pause the claim for it is drafted: a person sends it.
"""

from clearlane.accounts.model import Site
from clearlane.claims.awaiting import Awaited, OverdueStep
from clearlane.claims.forms import form_of
from clearlane.claims.inquiry.answer_result import AnswerResult
from clearlane.claims.write.next_payer import NextInsurance
from clearlane.engine.workflows import WorkSteps
from clearlane.events.event import EventData, NewEvent
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.pipeline.inquiry.ask_payer import ask_other_payer, list_asks
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.secondary.bill_next_payer import bill_next_payer
from clearlane.pipeline.secondary.make_drafts import (
    make_due_drafts,
    put_off,
    save_draft,
    site_of,
    write_draft,
)
from clearlane.pipeline.secondary.next_claim import SecondaryDraft, build_claim, load_next_claim
from clearlane.pipeline.secondary.send_by_itself import why_not_by_itself
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import due_claims
from clearlane.store.database.database import Tx
from clearlane.store.database.group_commit import TEMPORARY_FAULTS
from clearlane.store.payments import secondary_drafts
from clearlane.store.payments.secondary_drafts import CrossoverStep, DraftState, DueDraft

log = get_logger()

NAME = "secondary-drafts"
EVERY_SECONDS = 5
DRAFTS_AT_ONCE = 100
HAS_IT = frozenset(
    {
        AnswerResult.ACCEPTED,
        AnswerResult.PENDING,
        AnswerResult.INFORMATION_REQUESTED,
        AnswerResult.PAID,
        AnswerResult.DENIED,
        AnswerResult.FINALIZED,
    }
)
"""Answers of a next payer that has the forwarded claim: to bill it would be a duplicate."""


async def draft_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Make the drafts that are due, and act on those whose time has come."""
    await work_on_drafts(context)


async def work_on_drafts(context: WorkContext) -> int:
    """Make the drafts that are due, and act on those whose time has come; return how many there were."""
    made = await make_due_drafts(context)
    at = to_micros(context.clock.now())
    async with context.database.read(secondary_drafts.SCOPE) as tx:
        waiting = await secondary_drafts.list_waiting(tx, at, DRAFTS_AT_ONCE)
    return made + sum([await _try(context, one) for one in waiting])


async def _try(context: WorkContext, due: DueDraft) -> bool:
    """Act on one draft; return whether something was done. One that raises is put off, and keeps no other back."""
    site = site_of(context, due)
    if site is None:
        return False
    try:
        return await _act(context, site, due.claim_number)
    except TEMPORARY_FAULTS:
        raise
    except Exception as fault:  # noqa: BLE001  (it is tried again)
        details = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("secondary draft not worked on", claim=due.claim_number, **details)  # noqa: TRY400  (a traceback may hold values)
        await put_off(context, site, due)
        return False


async def _act(context: WorkContext, site: Site, number: str) -> bool:
    now = context.clock.now()
    found = await load_next_claim(context, site, number, actor=context.actor, now=now)
    if found is None:
        return False
    if found.state is DraftState.FORWARDED:
        return await _follow_crossover(context, site, found)
    if found.state is DraftState.READY and site.bills_next_payer and not why_not_by_itself(found):
        return await _send(context, site, found)
    return await save_draft(context, site, found, actor=context.actor)


async def _send(context: WorkContext, site: Site, found: SecondaryDraft) -> bool:
    """Send a claim to the next payer by itself; one that our checks do not accept waits for a person."""
    number, now = found.claim_number, context.clock.now()
    try:
        result = await bill_next_payer(
            context, site, number, NextInsurance(), actor=context.actor, now=now
        )
    except CorrectionConflict:
        return False  # A person was faster, or a payment was posted: it is made again.
    if result is not None and result.accepted:
        return True
    return await context.database.write(
        site.scope,
        lambda tx: secondary_drafts.wait_for_person(tx, number, found.version),
        actor=context.actor,
    )


async def _follow_crossover(context: WorkContext, site: Site, found: SecondaryDraft) -> bool:
    """Ask a next payer that did not answer in time; once it was asked, draft the claim for it, unless it has it."""
    number, now = found.claim_number, context.clock.now()
    if found.crossover is CrossoverStep.NONE:
        await _ask(context, site, found)
        step, words = CrossoverStep.ASKED, OverdueStep.ASK_NEXT_PAYER
    elif await _has_it(context, site, number):
        step, words = CrossoverStep.ASKED, OverdueStep.LOOK
    else:
        step, words = CrossoverStep.UNANSWERED, OverdueStep.DRAFT
    decided = await load_next_claim(
        context, site, number, actor=context.actor, now=now, crossover=step
    )
    if decided is None:
        return False
    await context.vault.ensure_key(site.scope)
    at = to_micros(now)

    async def job(tx: Tx) -> bool:
        awaited = await secondary_drafts.find_awaited(tx, number)
        if await write_draft(tx, context, site, decided, at) is None:
            return False
        since = (awaited and awaited.awaited_since) or at
        await due_claims.add_own_step(tx, number, Awaited.CROSSOVER, since, words, at)
        sequence = await secondary_drafts.count_event(tx, number)
        data: EventData = {"awaiting": Awaited.CROSSOVER.value, "step": words.value}
        tx.add_events(
            [NewEvent("claim.overdue", at, site.vendor_id, site.id, number, sequence, data)]
        )
        return True

    return await context.database.write(site.scope, job, actor=context.actor)


async def _ask(context: WorkContext, site: Site, found: SecondaryDraft) -> None:
    """Ask the next payer about the forwarded claim, if it takes questions and enough is known to ask."""
    if found.questions or context.payer_access.inquiry_runner is None:
        return
    claim = build_claim(found)
    await ask_other_payer(
        context,
        found.claim_number,
        form_of(claim).view(claim),
        found.insurance.payer_id,
        site=site,
        actor=context.actor,
        now=context.clock.now(),
    )


async def _has_it(context: WorkContext, site: Site, number: str) -> bool:
    """Return whether the next payer said that it has the claim, the last time it was asked."""
    asks = await list_asks(context, site.scope, number)
    return bool(asks) and asks[0].result in HAS_IT
