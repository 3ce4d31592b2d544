"""Act on claims whose payers have not answered in time, step by step, and give those that stay silent to a person.

    await act_on_overdue(context, now)        # every claim whose answer, or whose next step, is due

The steps are a table (``claims.awaiting``). Each is one row, one event and one line of the claim's history, in one
transaction, so that a node that is killed leaves none twice. A payer is asked before the step is recorded: a node that is
killed in between finds the question open. No claim is sent again by itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TypeAlias

from clearlane.accounts.model import Site
from clearlane.claims.awaiting import (
    ASK_PATIENCE_DAYS,
    ASKS,
    FIRST_STEP,
    Awaited,
    OverdueStep,
    next_step,
    pause_days,
)
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.engine import fault_injection
from clearlane.engine.workflows import WorkSteps
from clearlane.events.event import NewEvent
from clearlane.kernel.business_days import add_business_days
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.pipeline.inquiry.ask_payer import AskReceipt, ask_payer
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_updates, due_claims
from clearlane.store.claims.claim_updates import CountedEvent
from clearlane.store.claims.due_claims import DueClaim, DueStep, NewStep
from clearlane.store.database.database import Tx
from clearlane.store.database.group_commit import TEMPORARY_FAULTS
from clearlane.store.delivery import inbox

_Sites: TypeAlias = Mapping[tuple[int, int], Site]
"""The sites by vendor and number."""

log = get_logger()

NAME = "overdue-claims"
EVERY_SECONDS = 300
STEPS_AT_ONCE = 200
ASKED = frozenset({"open"})
"""Why a payer is not asked again: it was asked, and the step is to be recorded."""
LATER = frozenset({"too_young", "too_soon"})
"""Why a payer is not asked yet."""


async def overdue_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Look for claims whose answer or next step is due."""
    await act_on_overdue(context, context.clock.now())


async def act_on_overdue(context: WorkContext, now: datetime) -> int:
    """Take every step that is due, once; return how many there were."""
    async with context.database.read(due_claims.SCOPE) as tx:
        vendors = await due_claims.list_vendors(tx, to_micros(now))
    count = 0
    for vendor_id in vendors:
        count += await _begin_for_vendor(context, vendor_id, now)
    return count + await _go_on(context, now)


async def find_next_step(context: WorkContext) -> datetime | None:
    """Return when the next step about any claim is due; None if there is none."""
    async with context.database.read(due_claims.SCOPE) as tx:
        moment = await due_claims.find_next(tx)
    return None if moment is None else from_micros(moment)


async def _begin_for_vendor(context: WorkContext, vendor_id: int, now: datetime) -> int:
    """Take the first step about one vendor's claims that became due; return how many there were."""
    at = to_micros(now)

    async def job(tx: Tx) -> tuple[int, int]:
        found = await due_claims.find_due(tx, vendor_id, at)
        await _take(tx, context, FIRST_STEP, found.claims, now)
        await due_claims.save_progress(tx, vendor_id, found.through)
        return len(found.claims), found.through

    count = through = 0
    while through < at:
        added, through = await context.database.write(due_claims.SCOPE, job, actor=context.actor)
        if added:
            fault_injection.crash_point("overdue found")
        count += added
    return count


async def _go_on(context: WorkContext, now: datetime) -> int:
    """Take the next steps that are due; return how many."""
    sites: _Sites = {(one.vendor_id, one.id): one for one in context.accounts().sites}
    count, seen = 0, STEPS_AT_ONCE
    while seen == STEPS_AT_ONCE:
        async with context.database.read(due_claims.SCOPE) as tx:
            due = await due_claims.list_due_steps(tx, to_micros(now), STEPS_AT_ONCE)
        chosen = {one: await _choose(context, one, sites, now) for one in due}
        count += await _go_on_with(context, chosen, now)
        seen = len(due)
    return count


async def _choose(
    context: WorkContext, due: DueStep, sites: _Sites, now: datetime
) -> OverdueStep | None:
    """Choose the next step about a claim; for a question, ask. Return the step before it to wait, None to end."""
    before = OverdueStep(due.step)
    if not due.still_waits:
        # The claim was answered: it awaits something else, or since another moment.
        return None
    following = next_step(
        before,
        Awaited(due.awaiting),
        asked=due.asked,
        for_person=bool(due.for_person),
    )
    if following not in ASKS:
        return following
    refusal = await _ask(context, due, sites, now)
    if not refusal or refusal in ASKED:
        fault_injection.crash_point("overdue asked")
        return following
    # The payer's minimum age and interval are kept, but no claim waits long for them.
    first_day = add_business_days(from_micros(due.at).date(), _pause(before, due.awaiting))
    last_day = add_business_days(first_day, ASK_PATIENCE_DAYS)
    return before if refusal in LATER and now.date() < last_day else OverdueStep.PERSON


async def _ask(context: WorkContext, due: DueStep, sites: _Sites, now: datetime) -> str:
    """Ask the payer about a claim; return why it was not asked, empty if it was."""
    site = sites.get((due.vendor_id, due.site_id))
    if site is None:
        return "no_site"
    try:
        result = await ask_payer(context, due.claim_number, site=site, actor=context.actor, now=now)
    except TEMPORARY_FAULTS:
        raise
    except Exception as fault:  # noqa: BLE001  (a person gets the claim)
        details = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("payer not asked", claim=due.claim_number, **details)  # noqa: TRY400  (a traceback may hold values)
        return "fault"
    return "" if isinstance(result, AskReceipt) else result.code


async def _go_on_with(
    context: WorkContext, chosen: dict[DueStep, OverdueStep | None], now: datetime
) -> int:
    """Record the steps that were chosen; return how many."""

    steps = {one.id: step for one, step in chosen.items()}

    async def job(tx: Tx) -> int:
        due = await due_claims.lock_steps(tx, list(chosen))
        by_step: dict[tuple[OverdueStep, bool], list[DueClaim]] = defaultdict(list)
        later: list[int] = []
        done: list[int] = []
        for one in due:
            step = steps[one.id]
            (later if step == one.step else done).append(one.id)
            if step is not None and step != one.step:
                is_answered = step in ASKS and bool(one.for_person)
                by_step[step, is_answered].append(one.claim)
        await due_claims.postpone_steps(tx, later, _moment(now, 1))
        await due_claims.close_steps(tx, done)
        for (step, is_answered), waiting in by_step.items():
            await _take(tx, context, step, waiting, now, is_answered=is_answered)
        return sum(map(len, by_step.values()))

    if not chosen:
        return 0
    taken = await context.database.write(due_claims.SCOPE, job, actor=context.actor)
    fault_injection.crash_point("overdue stepped")
    return taken


async def _take(
    tx: Tx,
    context: WorkContext,
    step: OverdueStep,
    waiting: Sequence[DueClaim],
    now: datetime,
    *,
    is_answered: bool = False,
) -> None:
    """Take a step about claims, with its row and its event. An answer that was posted since then ends it.

    ``is_answered`` is whether the payer answered the question of this step already, and leaves the claims to a person.
    """
    at = to_micros(now)
    waiting = await due_claims.lock_waiting(tx, waiting, at) if waiting else []
    if not waiting:
        return
    numbers = [one.claim_number for one in waiting]
    steps = [_new_step(one, step, now) for one in waiting]
    if is_answered:
        steps = [one._replace(next_at=at, for_person=1) for one in steps]
    await due_claims.add_steps(tx, steps)
    if step is OverdueStep.LOOK:
        await _look_again(tx, context, waiting, at)
    if step is OverdueStep.PERSON:
        counted = await due_claims.mark_unanswered(tx, numbers)
    else:
        counted = await claim_updates.count_event(tx, numbers)
    tx.add_events(_events(counted, waiting, step, at))


async def _look_again(tx: Tx, context: WorkContext, waiting: Iterable[DueClaim], at: int) -> None:
    """Let the mailboxes of these claims' payers be visited at once, instead of at their next time."""
    connections = context.payer_access.connections()
    for kind, payer_id in sorted({(one.kind, one.payer_id) for one in waiting}):
        for route in connections.mailbox_routes(KINDS[ClaimKind(kind)].payer_type, payer_id):
            await inbox.poll_soon(tx, (route.type, route.payer_id, route.route_id), at)


def _new_step(claim: DueClaim, step: OverdueStep, now: datetime) -> NewStep:
    pause = pause_days(step, Awaited(claim.awaiting))
    return NewStep(
        claim.vendor_id,
        claim.site_id,
        claim.claim_number,
        claim.awaiting,
        claim.awaited_since,
        step.value,
        to_micros(now),
        None if pause is None else _moment(now, pause),
    )


def _pause(step: OverdueStep, awaiting: str) -> int:
    return pause_days(step, Awaited(awaiting)) or 0


def _moment(now: datetime, days: int) -> int:
    """Return the moment that is a number of business days later, at the same time of day."""
    today: date = now.date()
    return to_micros(now + (add_business_days(today, days) - today))


NO_ANSWER = "claim.no_answer"


def _events(
    counted: Sequence[CountedEvent], waiting: Iterable[DueClaim], step: OverdueStep, at: int
) -> list[NewEvent]:
    awaited = {one.claim_number: one.awaiting for one in waiting}
    return [
        NewEvent(
            NO_ANSWER if step is OverdueStep.PERSON else "claim.overdue", at, one.vendor_id, one.site_id, one.claim_number, one.sequence,
            {"awaiting": awaited[one.claim_number], "step": step.value},
        )
        for one in counted
    ]  # fmt: skip
