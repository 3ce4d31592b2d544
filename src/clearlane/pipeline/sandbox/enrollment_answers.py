"""Let a sandbox's payers answer the enrollments that are due by their calendar.

    await answer_enrollments(context, now)     # records what is due; returns how many it looked at

Only what no one has decided yet is answered: what an operator recorded stays. The answer and the end of its entry on
the agenda are one transaction that locks the enrollment, so that nothing is answered twice, whichever node dies. In
production there is no agenda, and only people decide.
"""

from collections.abc import Sequence
from datetime import datetime

from clearlane.engine.workflows import WorkSteps
from clearlane.enrollment.lifecycle import (
    INITIAL_STATE,
    PENDING_STATES,
    EnrollmentEvent,
    EnrollmentState,
)
from clearlane.payers.enrolled_transactions import enrolled_transactions
from clearlane.pipeline.operator.enrollment_admin import (
    ANY_CLIENT,
    EnrolledWith,
    open_enrollment,
    record_event,
    site_today,
)
from clearlane.pipeline.work_context import SimulatedEnrollments, WorkContext
from clearlane.store import enrollments
from clearlane.store.database.database import Tx
from clearlane.store.enrollments import StoredEnrollment

ENROLLMENT_ANSWERS_AT_ONCE = 100

NAME = "enrollment-answers"
EVERY_SECONDS = 2


async def enrollment_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Let payers answer the enrollments that are due."""
    await answer_enrollments(context, context.clock.now())


async def answer_enrollments(context: WorkContext, now: datetime) -> int:
    """Answer the enrollments that are due; return how many there were."""
    simulated = context.simulated_enrollments
    if simulated is None:
        return 0
    due = await _due(context, simulated)
    for id in due:
        await _answer(context, simulated, id, now)
    return len(due)


async def has_due_answers(context: WorkContext) -> bool:
    """Return whether an enrollment is to be answered now."""
    simulated = context.simulated_enrollments
    return simulated is not None and bool(await _due(context, simulated))


async def _due(context: WorkContext, simulated: SimulatedEnrollments) -> list[str]:
    async with context.database.read(ANY_CLIENT) as tx:
        return await simulated.agenda.due(tx, ENROLLMENT_ANSWERS_AT_ONCE)


async def _answer(
    context: WorkContext, simulated: SimulatedEnrollments, id: str, now: datetime
) -> None:
    vault = context.vault
    async with context.database.read(ANY_CLIENT) as tx:
        scope = await enrollments.find_owner(tx, id)
    if scope is None:  # the sandbox was reset in between
        await context.database.write(
            ANY_CLIENT, lambda tx: simulated.agenda.finish(tx, id), actor=context.actor
        )
        return
    await vault.ensure_key(scope)
    requiring = [
        EnrolledWith(payer, transaction)
        for payer in context.payer_access.payers().all
        for transaction in enrolled_transactions(payer)
    ]
    today = site_today(context.accounts().sites, scope, now)

    async def job(tx: Tx) -> None:
        row = await enrollments.find(tx, scope, id)
        if row is None:
            return
        details = await open_enrollment(tx, vault, row)
        answer = simulated.answer_of(details.enrollment.Tin)
        if answer is not None:
            event = EnrollmentEvent.APPROVE if answer.approves else EnrollmentEvent.REFUSE
            pending = _pending_with(row, requiring)
            await record_event(
                tx, vault, row, event, pending, reason=answer.reason, today=today, now=now
            )
        await simulated.agenda.finish(tx, id)

    await context.database.write(scope, job, actor=context.actor)


def _pending_with(row: StoredEnrollment, enrolled: Sequence[EnrolledWith]) -> list[EnrolledWith]:
    """Return those that the payer has not answered."""
    known = {each.key: EnrollmentState(each.state) for each in row.payer_states}
    return [one for one in enrolled if known.get(one.key, INITIAL_STATE) in PENDING_STATES]
