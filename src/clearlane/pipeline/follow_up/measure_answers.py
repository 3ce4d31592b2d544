"""Measure within how many business days each payer takes each step of its answers, once a day.

Counts the delays of the facts that came since the last time, adds the claims that still wait, and estimates the figures
that ``answer_days`` takes. A claim gets a changed figure with its next fact. Delays are counted by the month in which the
wait began, and of the claims that still wait those count that began then: long delays, whose waits began earlier than those of
short ones that end on the same day, have the same weight as short ones.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

from clearlane.claims.answer_times import AnswerDelay, TimedFact, answer_delays, estimate
from clearlane.claims.responses.facts import FactKind
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.business_days import business_days_between
from clearlane.kernel.clock import EPOCH, from_micros
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import answer_delays as delays
from clearlane.store.claims.answer_delays import (
    DelayCount,
    FactTime,
    FigureRow,
    PayerStep,
    WaitingCount,
)
from clearlane.store.database.database import Tx

NAME = "measure-answers"
EVERY = "0 17 4 * * *"
FACTS_AT_ONCE = 2_000
MEASURED_DAYS = 90
"""How far back waits count: a payer that became slower or faster is known by its last months."""


async def measure_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Measure payers by what came since the last time."""
    await measure_answers(context, context.clock.now())


async def measure_answers(context: WorkContext, now: datetime) -> int:
    """Count new delays and estimate the figures; return how many figures there are."""

    async def save(tx: Tx) -> int:
        since = first_month(now.date())
        figures = list(
            estimate_figures(
                await delays.list_counts(tx, since), await delays.list_waiting(tx), now.date()
            )
        )
        await delays.replace_figures(tx, figures, since)
        return len(figures)

    while await context.database.write(delays.SCOPE, _count_page, actor=context.actor):
        pass
    return await context.database.write(delays.SCOPE, save, actor=context.actor)


def first_month(today: date) -> str:
    """Return the first month whose waits count."""
    return month_of(today - timedelta(days=MEASURED_DAYS))


def month_of(day: date) -> str:
    """Return the month under which a wait that began on a day is counted."""
    return f"{day:%Y-%m}"


async def _count_page(tx: Tx) -> int:
    """Count the delays of the next facts; return how many facts there were."""
    through = await delays.lock_through(tx)
    new = await delays.list_new(tx, through, FACTS_AT_ONCE)
    if not new:
        return 0
    numbers = sorted({one.claim_number for one in new})
    last = new[-1].id
    payers = await delays.list_payers(tx, numbers)
    found: Counter[tuple[str, str, AnswerDelay]] = Counter()
    facts: dict[str, list[TimedFact]] = defaultdict(list)
    for one in await delays.list_of_claims(tx, numbers):
        if one.id <= last:
            facts[one.claim_number].append(_timed(one))
    for number, known in facts.items():
        found.update((*payers[number], delay) for delay in answer_delays(known, through))
    await delays.add(tx, list(_counts(found)))
    await delays.save_through(tx, last)
    return len(new)


def _timed(fact: FactTime) -> TimedFact:
    return TimedFact(fact.id, FactKind(fact.kind), from_micros(fact.at).date())


def _counts(found: Mapping[tuple[str, str, AnswerDelay], int]) -> Iterable[DelayCount]:
    by_month: dict[tuple[str, str, str, str, int], list[int]] = defaultdict(lambda: [0, 0])
    for (kind, payer_id, delay), count in found.items():
        key = (kind, payer_id, delay.awaited.value, month_of(delay.since), delay.days)
        by_month[key][0 if delay.answered else 1] += count
    for key, (answered, unanswered) in by_month.items():
        yield DelayCount(*key, answered, unanswered)


def estimate_figures(
    counts: Sequence[DelayCount], waiting: Sequence[WaitingCount], today: date
) -> Iterable[FigureRow]:
    """Yield the figure of each step of each payer of which enough claims are known."""
    answered: dict[PayerStep, Counter[int]] = defaultdict(Counter)
    unanswered: dict[PayerStep, Counter[int]] = defaultdict(Counter)
    passed_over: Counter[PayerStep] = Counter()
    for one in counts:
        key = (one.kind, one.payer_id, one.awaiting)
        answered[key][one.days] += one.answered
        unanswered[key][one.days] += one.unanswered
        passed_over[key] += one.unanswered
    first = first_month(today)
    for wait in waiting:
        since = (EPOCH + timedelta(days=wait.day)).date()
        if month_of(since) < first:
            continue
        key = (wait.kind, wait.payer_id, wait.awaiting)
        unanswered[key][business_days_between(since, today)] += wait.claims
    for key in sorted({*answered, *unanswered}):
        figure = estimate(+answered[key], +unanswered[key], passed_over[key])
        if figure is not None:
            yield FigureRow(*key, figure.days, figure.claims)
