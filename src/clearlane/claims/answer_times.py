"""How long a payer takes for each step of its answers, estimated from what it answered and what it has not answered yet.

    for delay in answer_delays(facts, after=41_207): ...           # what the facts after this one say of one claim
    estimate(answered={0: 40, 1: 31, 4: 2}, unanswered={3: 1})     # AnswerFigure(days=1, claims=74)

A claim without an answer counts with the days that it has waited so far (the estimate of Kaplan and Meier): an average of
the answered ones alone would be too short, and most so for a payer that has become slow. Answers that never come are lost and
not slow: a figure is about those that come, or each loss would let the next one be found later. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from clearlane.claims.awaiting import ANSWERS, Awaited
from clearlane.claims.responses.facts import FactKind
from clearlane.kernel.business_days import business_days_between

KNOWN_CLAIMS_MIN = 50
"""Until this many are known, the directory's number of days counts."""
SHARE, STRETCH = 0.9, 1.3
"""A figure is STRETCH times the days within which SHARE of those answers come that come at all: about 95 % of them. The slowest
are too few to be measured directly: one more or less would move the figure by weeks.
"""
MOST = 0.8
"""If fewer answers come than this share, no number of days is known."""
COMES_MIN = 0.5
"""If fewer answers than this share ever come, the payer does not give this one."""
PATIENCE_DAYS = 15
"""Business days after which a claim without an answer says that the payer may not give it."""
DELAY_DAYS_MAX = 120
"""Longer delays are counted as this one."""

STEPS = {
    FactKind.ACCEPTED_999: Awaited.ACK_999,
    FactKind.SEND_AGAIN: Awaited.ACK_999,
    FactKind.CLAIM_REFUSED: Awaited.ACK_999,
    FactKind.SET_REFUSED: Awaited.ACK_999,
    FactKind.TA1_REFUSED: Awaited.ACK_999,
    FactKind.STATUS: Awaited.ACK_277CA,
    FactKind.REMIT: Awaited.DECISION,
}
"""What a fact answers."""


class TimedFact(NamedTuple):
    """A stored fact of a claim: its number in the order of arrival, its kind and day."""

    id: int
    kind: FactKind
    day: date


class AnswerDelay(NamedTuple):
    """How long one claim waited for one step."""

    awaited: Awaited
    since: date
    days: int
    """Business days."""
    answered: bool
    """False if a later answer came instead, so that this one need not come any more."""


class AnswerFigure(NamedTuple):
    """Within how many business days a payer takes a step."""

    days: int | None
    """None if it does not take it."""
    claims: int
    """The number of claims that it was estimated from."""


AnswerFigures: TypeAlias = Mapping[tuple[str, str, str], int | None]
"""The business days of payers by kind of claim, payer and step; None for a step that a payer does not take."""
NO_FIGURES: AnswerFigures = MappingProxyType({})


def coming_answer(awaited: Awaited, kind: str, payer_id: str, figures: AnswerFigures) -> Awaited:
    """Return what a payer answers next, if not what is awaited: some give no 999, or no 277CA."""
    if awaited not in ANSWERS:
        return awaited
    for step in ANSWERS[ANSWERS.index(awaited) : ANSWERS.index(Awaited.DECISION)]:
        key = (kind, payer_id, step.value)
        if key not in figures or figures[key] is not None:
            return step
    return max(awaited, Awaited.DECISION, key=ANSWERS.index)


def answer_delays(facts: Sequence[TimedFact], after: int) -> Iterator[AnswerDelay]:
    """Yield what the facts of one claim that are newer than a number say of its payer; they come in their order."""
    since: date | None = None
    step = 0
    for fact in facts:
        if fact.kind is FactKind.SENT:
            since, step = fact.day, 0
            continue
        answers = STEPS.get(fact.kind)
        if since is None or answers is None or (place := ANSWERS.index(answers)) < step:
            continue
        if fact.id > after:
            days = min(business_days_between(since, fact.day), DELAY_DAYS_MAX)
            for passed_over in ANSWERS[step:place]:
                yield AnswerDelay(passed_over, since, days, answered=False)
            yield AnswerDelay(answers, since, days, answered=True)
        since, step = fact.day, place + 1


def estimate(
    answered: Mapping[int, int], unanswered: Mapping[int, int], passed_over: int = 0
) -> AnswerFigure | None:
    """Return the figure of one step, from numbers of claims by business days; None if too few are known.

    ``passed_over`` is how many of the unanswered ones got a later answer instead: a payer that mostly does so does not give
    this one.
    """
    came = sum(answered.values())
    if passed_over >= KNOWN_CLAIMS_MIN and came < COMES_MIN * (came + passed_over):
        return AnswerFigure(None, came + sum(unanswered.values()))
    overdue = sum(count for days, count in unanswered.items() if days >= PATIENCE_DAYS)
    if came + overdue < KNOWN_CLAIMS_MIN:
        return None
    at_risk = total = came + sum(unanswered.values())
    waiting = 1.0
    came_by: dict[int, float] = {}
    for day in sorted({*answered, *unanswered}):
        if count := answered.get(day, 0):
            waiting *= 1 - count / at_risk
            came_by[day] = 1 - waiting
        at_risk -= count + unanswered.get(day, 0)
    if waiting <= 1 - MOST:
        enough = SHARE * (1 - waiting)
        day = next(day for day, share in came_by.items() if share >= enough)
        return AnswerFigure(round(STRETCH * day), total)
    does_not_come = waiting > 1 - COMES_MIN and overdue >= KNOWN_CLAIMS_MIN
    return AnswerFigure(None, total) if does_not_come else None
