"""Replay months of claims with losses against the tables by which overdue claims are followed up, without a database.

    python -m bench replay                     # 5,000 claims; BENCH_REPLAY_SEED chooses another seed

Claims are lost at random steps, single, by whole file and by day; delays are heavy-tailed and shift in the middle; some payers
give no 999, no 277CA, or answer no 276. A loss could be known on the day by which all but 2 % of that payer's answers of that step
come: whoever gives claims to people before that breaks the bound on false alarms. A lost remittance cannot be known before the decision.
The delays are measured, the moments computed and the steps chosen by the product's own functions: what is simulated is the
payers, and the rows that a database would hold. Beside it is a plain worklist of claims without a decision after 30 days.
"""

import math
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from statistics import NormalDist, median

from bench.harness import Measure, bench
from clearlane.claims.answer_times import (
    AnswerFigures,
    TimedFact,
    answer_delays,
    coming_answer,
)
from clearlane.claims.awaiting import (
    ANSWERS,
    ASK_PATIENCE_DAYS,
    ASKS,
    FIRST_STEP,
    Awaited,
    OverdueStep,
    next_step,
    pause_days,
)
from clearlane.claims.responses.facts import FactKind
from clearlane.kernel.business_days import (
    add_business_days,
    business_days_between,
    is_business_day,
)
from clearlane.kernel.clock import from_micros
from clearlane.kernel.limits import STATUS_AFTER_DAYS, STATUS_EVERY_DAYS
from clearlane.pipeline.answer_days import DUE_AGAIN_DAYS, AnswerDays
from clearlane.pipeline.follow_up.measure_answers import (
    estimate_figures,
    first_month,
    month_of,
)
from clearlane.store.claims.answer_delays import DelayCount, WaitingCount

CLAIMS = 5_000
SEED = 28
KIND = "medical"
FIRST_DAY = date(2025, 1, 6)
BEFORE_DAYS, SENT_DAYS, AFTER_DAYS = 90, 130, 200
"""Business days: on which payers become known, on which the counted claims are sent, and until all is over."""
BEFORE_CLAIMS = 2_000
"""How many claims are sent before the counted ones, without losses, so that the payers' delays are known."""
SHIFT = 1.4
"""How much slower payers become in the middle."""
LOST_SHARE, LOST_FILES, LOST_DAYS = 0.02, 6, 2
TAIL_SHARE, TAIL = 0.02, 3.0
"""How many answers take much longer, and how much."""
UNANSWERED_SHARE = 0.02
"""How many questions get no answer."""
KNOWN_SHARE = 0.98
"""The share of a payer's answers of a step that have come when a loss can be known."""
FOUND_DAYS_MAX = 5
PLAIN_DAYS = 30
TOUCH_DOLLARS, QUESTION_DOLLARS = 10.0, 0.10
"""What a person's look at a claim, and a 276, are taken to cost."""


@dataclass(frozen=True)
class ReplayPayer:
    """A payer: medians and spreads of its delays in business days, and what it does not give."""

    id: str
    medians: tuple[float, float, float]
    spread: float = 0.45
    gives_999: bool = True
    gives_277ca: bool = True
    answers_276: bool = True

    @property
    def steps(self) -> tuple[Awaited, ...]:
        """What it answers a claim with, in order."""
        given = (self.gives_999, self.gives_277ca, True)
        return tuple(step for step, is_given in zip(ANSWERS[:3], given, strict=True) if is_given)

    def known_days(self, step: Awaited, factor: float) -> int:
        """Return within how many business days most of its answers of a step come, with those that take much longer."""
        usual, median, days = NormalDist(), self._median(step, factor), 1
        while True:
            share = usual.cdf(math.log((days + 0.5) / median) / self.spread)
            slow = usual.cdf(math.log((days + 0.5) / median / TAIL) / self.spread)
            if (1 - TAIL_SHARE) * share + TAIL_SHARE * slow >= KNOWN_SHARE:
                return days
            days += 1

    def delay(self, step: Awaited, factor: float, chance: random.Random) -> int:
        """Return how long it takes for one answer."""
        days = self._median(step, factor) * chance.lognormvariate(0, self.spread)
        return round(days * (TAIL if chance.random() < TAIL_SHARE else 1))

    def _median(self, step: Awaited, factor: float) -> float:
        return self.medians[ANSWERS.index(step)] * factor


PAYERS = (
    ReplayPayer("MEADOW", (0.6, 1.0, 9.0)),
    ReplayPayer("HARBOR", (0.5, 1.5, 12.0)),
    ReplayPayer("SUMMIT", (0.8, 2.0, 16.0), spread=0.55),
    ReplayPayer("WILLOW", (0.6, 1.2, 7.0)),
    ReplayPayer("CEDAR", (0.6, 1.0, 10.0), gives_999=False),
    ReplayPayer("PRAIRIE", (0.7, 1.0, 14.0), gives_277ca=False),
    ReplayPayer("LAKESIDE", (0.6, 1.5, 11.0), answers_276=False),
    ReplayPayer("QUARRY", (0.6, 1.0, 13.0), gives_277ca=False, answers_276=False),
)
FACTS = {
    Awaited.ACK_999: FactKind.ACCEPTED_999,
    Awaited.ACK_277CA: FactKind.STATUS,
    Awaited.DECISION: FactKind.REMIT,
}


@dataclass
class ReplayClaim:
    """A claim: what its payer does, and what the service knows of it."""

    payer: ReplayPayer
    sent: date
    counts: bool
    """Whether it is one of the counted claims, not of those before."""
    answers: dict[Awaited, date] = field(default_factory=dict)
    """When each answer would come."""
    lost: Awaited | None = None
    """The first answer that does not come; None if none is lost."""
    knowable: date | None = None
    facts: list[TimedFact] = field(default_factory=list)
    awaiting: Awaited | None = None
    since: date = FIRST_DAY
    by: date = FIRST_DAY
    step: OverdueStep | None = None
    step_day: date = FIRST_DAY
    next_day: date | None = None
    for_person: bool = False
    asked: Counter[Awaited] = field(default_factory=Counter)
    last_asked: date | None = None
    finalized: date | None = None
    person: date | None = None
    person_awaited: Awaited | None = None
    questions: int = 0
    sendings: int = 1

    @property
    def decided(self) -> date:
        """When the payer decides, whether its remittance comes or not."""
        return self.answers[Awaited.DECISION]


@dataclass
class ReplayResult:
    """What came of a replay."""

    seed: int
    claims: int
    lost: int
    found: int
    """At the right step and in time."""
    found_late: int
    wrong_step: int
    false_alarms: int
    questions: int
    touches: int
    sent_twice: int
    days_to_find: float
    plain_touches: int
    plain_days_to_find: float

    @property
    def found_share(self) -> float:
        """The share of losses that were found at the right step and in time."""
        return self.found / self.lost

    @property
    def false_share(self) -> float:
        """The share of claims that were not lost and reached a person."""
        return self.false_alarms / (self.claims - self.lost)


class Replay:
    """A replay, day by day."""

    def __init__(self, claims: int, seed: int, *, measured_every: int = 1) -> None:
        self.seed, self.count, self.measured_every = seed, claims, measured_every
        self.chance = random.Random(seed)
        # As many claims a day, whatever their number.
        self.sent_days = max(SENT_DAYS * claims // CLAIMS, 1)
        days = business_days(BEFORE_DAYS + self.sent_days + AFTER_DAYS)
        self.days = days
        self.shift_day = days[BEFORE_DAYS + self.sent_days // 2]
        self.figures: AnswerFigures = {}
        self.counts: Counter[tuple[str, Awaited, str, int, bool]] = Counter()
        self.serial = 0
        # Routes have no number of days of their own.
        self.answer_days = AnswerDays(_NoRoutes(), default=PLAIN_DAYS)  # type: ignore[arg-type]  # it asks for routes alone
        self.claims = [*self._make(days)]
        self._lose()

    def run(self) -> ReplayResult:
        """Let all days pass."""
        arriving: dict[date, list[tuple[ReplayClaim, Awaited]]] = defaultdict(list)
        sent: dict[date, list[ReplayClaim]] = defaultdict(list)
        for claim in self.claims:
            sent[claim.sent].append(claim)
            for step in claim.payer.steps:
                if claim.lost is not None and ANSWERS.index(step) >= ANSWERS.index(claim.lost):
                    break
                arriving[claim.answers[step]].append((claim, step))
        open_claims: dict[int, ReplayClaim] = {}
        for number, today in enumerate(self.days):
            for claim in sent[today]:
                open_claims[id(claim)] = claim
                self._add_fact(claim, FactKind.SENT, today)
                self._wait(claim, Awaited.ACK_999, today)
            for claim, step in arriving[today]:
                self._answer(claim, step, today)
                if step is Awaited.DECISION:
                    open_claims.pop(id(claim), None)
            self._sweep(open_claims.values(), today)
            if number % self.measured_every == 0:
                self._measure(open_claims.values(), today)
        return self._result()

    # --- the payers ---

    def _make(self, days: Sequence[date]) -> Iterator[ReplayClaim]:
        before = BEFORE_CLAIMS
        for number in range(before + self.count):
            counts = number >= before
            at = (
                BEFORE_DAYS + (number - before) * self.sent_days // self.count
                if counts
                else number * BEFORE_DAYS // before
            )
            claim = ReplayClaim(self.chance.choice(PAYERS), days[at], counts)
            last = claim.sent
            for step in claim.payer.steps:
                last = add_business_days(
                    last, claim.payer.delay(step, self._factor(last), self.chance)
                )
                claim.answers[step] = last
            yield claim

    def _factor(self, day: date) -> float:
        return SHIFT if day >= self.shift_day else 1.0

    def _lose(self) -> None:
        counted = [one for one in self.claims if one.counts]
        for claim in counted:
            if self.chance.random() < LOST_SHARE:
                self._lose_claim(claim, self.chance.choice(claim.payer.steps))
        files = sorted({(one.sent, one.payer.id) for one in counted})
        for file in self.chance.sample(files, LOST_FILES):
            for claim in counted:
                if (claim.sent, claim.payer.id) == file:
                    self._lose_claim(claim, claim.payer.steps[0])
        # All that payers decide on one day is lost on its way.
        for day in self.chance.sample(sorted({one.decided for one in counted}), LOST_DAYS):
            for claim in counted:
                if claim.decided == day and claim.lost is None:
                    self._lose_claim(claim, Awaited.DECISION, remittance=True)

    def _lose_claim(
        self, claim: ReplayClaim, step: Awaited, *, remittance: bool | None = None
    ) -> None:
        claim.lost = step
        steps = claim.payer.steps
        place = steps.index(step)
        before = claim.answers[steps[place - 1]] if place else claim.sent
        known = claim.payer.known_days(step, self._factor(before))
        claim.knowable = add_business_days(before, known)
        keeps_claim = self.chance.random() < 0.5 if remittance is None else remittance
        if step is Awaited.DECISION and keeps_claim:
            # Before it decides there is nothing to be lost.
            claim.knowable = max(claim.knowable, claim.decided)
        else:
            # The payer does not have the claim, and never decides on it.
            claim.answers[Awaited.DECISION] = date.max

    def _says(self, claim: ReplayClaim, today: date) -> str:
        """Return what the payer answers when it is asked about a claim."""
        if self.chance.random() < UNANSWERED_SHARE:
            return "nothing"
        if claim.lost is not None and claim.decided == date.max:
            return "not_found"
        return "finalized" if claim.decided <= today else "pending"

    # --- the service ---

    def _add_fact(self, claim: ReplayClaim, kind: FactKind, day: date) -> None:
        self.serial += 1
        claim.facts.append(TimedFact(self.serial, kind, day))
        for delay in answer_delays(claim.facts, self.serial - 1):
            month = month_of(delay.since)
            key = (claim.payer.id, delay.awaited, month, delay.days, delay.answered)
            self.counts[key] += 1

    def _answer(self, claim: ReplayClaim, step: Awaited, today: date) -> None:
        self._add_fact(claim, FACTS[step], today)
        if step is Awaited.DECISION:
            claim.awaiting = claim.next_day = None
        elif claim.finalized is None:
            self._wait(claim, ANSWERS[ANSWERS.index(step) + 1], today)

    def _wait(self, claim: ReplayClaim, awaited: Awaited, today: date) -> None:
        """Let a claim wait for something from a day on, as the writing of its status does."""
        before, was_due = claim.awaiting, claim.by
        awaited = coming_answer(awaited, KIND, claim.payer.id, self.figures)
        moment = datetime.combine(today, datetime.min.time(), UTC)
        due = self.answer_days.due(
            awaited, KIND, claim.payer.id, moment, self.figures, decided_day=claim.finalized
        )
        assert due is not None
        claim.awaiting, claim.since, claim.by = awaited, today, from_micros(due).date()
        if awaited is Awaited.DECISION and before is awaited:
            claim.by = max(was_due, add_business_days(today, DUE_AGAIN_DAYS))
        claim.step = claim.next_day = None
        claim.for_person = False

    def _sweep(self, open_claims: Collection[ReplayClaim], today: date) -> None:
        for claim in open_claims:
            while claim.awaiting is not None and claim.person is None and self._act(claim, today):
                pass

    def _act(self, claim: ReplayClaim, today: date) -> bool:
        """Take the next step about a claim, if it is due; return whether one was taken."""
        assert claim.awaiting is not None
        if claim.step is None:
            if claim.by > today:
                return False
            self._take(claim, FIRST_STEP, today)
            return True
        if claim.next_day is None or claim.next_day > today:
            return False
        following: OverdueStep | None = next_step(
            claim.step,
            claim.awaiting,
            asked=claim.asked[claim.awaiting],
            for_person=claim.for_person,
        )
        if following in ASKS:
            following = self._ask(claim, following, today)
        if following is None:
            claim.next_day = add_business_days(today, 1)
            return False
        if claim.step is following:
            return True  # the answer began another wait
        self._take(claim, following, today)
        return True

    def _ask(self, claim: ReplayClaim, step: OverdueStep, today: date) -> OverdueStep | None:
        """Ask the payer; return the step that was taken, a person if it cannot be asked, None to wait."""
        assert claim.step is not None
        assert claim.awaiting is not None
        if not claim.payer.answers_276:
            return OverdueStep.PERSON
        is_young = today - claim.sent < timedelta(days=STATUS_AFTER_DAYS)
        last = claim.last_asked
        if is_young or (last is not None and today - last < timedelta(days=STATUS_EVERY_DAYS)):
            pause = pause_days(claim.step, claim.awaiting) or 0
            end = add_business_days(claim.step_day, pause + ASK_PATIENCE_DAYS)
            return None if today < end else OverdueStep.PERSON
        claim.questions += 1
        claim.last_asked = today
        claim.asked[claim.awaiting] += 1
        said = self._says(claim, today)
        if said in {"pending", "finalized"}:
            awaited = Awaited.DECISION
            if said == "finalized":
                claim.finalized, awaited = claim.decided, Awaited.PAYMENT
            self._add_fact(claim, FactKind.STATUS, today)
            self._wait(claim, awaited, today)
            return claim.step
        self._take(claim, step, today)
        if said == "not_found":
            claim.for_person, claim.next_day = True, today
        return claim.step

    def _take(self, claim: ReplayClaim, step: OverdueStep, today: date) -> None:
        assert claim.awaiting is not None
        claim.step, claim.step_day = step, today
        pause = pause_days(step, claim.awaiting)
        claim.next_day = None if pause is None else add_business_days(today, pause)
        if step is OverdueStep.PERSON:
            claim.person, claim.person_awaited = today, claim.awaiting

    def _measure(self, open_claims: Collection[ReplayClaim], today: date) -> None:
        since = first_month(today)
        found: dict[tuple[str, Awaited, str, int], list[int]] = defaultdict(lambda: [0, 0])
        for (payer, awaited, month, days, answered), count in self.counts.items():
            if month >= since:
                found[payer, awaited, month, days][0 if answered else 1] += count
        counts = [
            DelayCount(KIND, payer, awaited.value, month, days, *both)
            for (payer, awaited, month, days), both in found.items()
        ]
        epoch = date(1970, 1, 1)
        waiting = Counter(
            (one.payer.id, one.awaiting, (one.since - epoch).days)
            for one in open_claims
            if one.awaiting is not None
        )
        rows = estimate_figures(
            counts,
            [
                WaitingCount(KIND, payer, awaited.value, day, count)
                for (payer, awaited, day), count in waiting.items()
            ],
            today,
        )
        self.figures = {(one.kind, one.payer_id, one.awaiting): one.days for one in rows}

    # --- what came of it ---

    def _result(self) -> ReplayResult:
        counted = [one for one in self.claims if one.counts]
        lost = [one for one in counted if one.lost is not None]
        late = [one for one in lost if not _is_in_time(one)]
        wrong = [one for one in lost if one not in late and not _is_right_step(one)]
        plain = [_plain_touches(one) for one in counted]
        return ReplayResult(
            seed=self.seed,
            claims=len(counted),
            lost=len(lost),
            found=len(lost) - len(late) - len(wrong),
            found_late=len(late),
            wrong_step=len(wrong),
            false_alarms=sum(one.lost is None and one.person is not None for one in counted),
            questions=sum(one.questions for one in counted),
            touches=sum(one.person is not None for one in counted),
            sent_twice=sum(one.sendings > 1 for one in counted),
            days_to_find=median(_days_to(one, one.person) for one in lost),
            plain_touches=sum(plain),
            plain_days_to_find=median(
                _days_to(one, one.sent + timedelta(days=PLAIN_DAYS)) for one in lost
            ),
        )


class _NoRoutes:
    """Connections without routes: every payer has the installation's number of days."""

    def mailbox_routes(self, type: str, payer_id: str) -> list[object]:
        return []


def business_days(count: int) -> list[date]:
    """Return a number of business days, from the first one of a replay on."""
    found: list[date] = []
    day = FIRST_DAY
    while len(found) < count:
        if is_business_day(day):
            found.append(day)
        day += timedelta(days=1)
    return found


def _is_in_time(claim: ReplayClaim) -> bool:
    if claim.person is None or claim.knowable is None:
        return False
    return business_days_between(claim.knowable, claim.person) <= FOUND_DAYS_MAX


def _is_right_step(claim: ReplayClaim) -> bool:
    """Return whether a person was given the claim with what was lost; a remittance is the decision on its way."""
    right = {claim.lost}
    if claim.lost is Awaited.DECISION:
        right.add(Awaited.PAYMENT)
    return claim.person_awaited in right


def _days_to(claim: ReplayClaim, day: date | None) -> int:
    return (day - claim.sent).days if day is not None else AFTER_DAYS


def _plain_touches(claim: ReplayClaim) -> int:
    """Return how often a claim is looked at that is looked at every 30 days until it is decided, or known to be lost."""
    if claim.lost is not None:
        return 1
    return max((claim.decided - claim.sent).days - 1, 0) // PLAIN_DAYS


@bench("replay")
def replay() -> list[Measure]:
    """Print what came of a replay, for 1,000 claims beside a plain worklist."""
    seed = int(os.environ.get("BENCH_REPLAY_SEED", SEED))
    start = time.perf_counter()
    found = Replay(CLAIMS, seed).run()
    print(f"# replay: seed {seed}, {found}, {time.perf_counter() - start:.1f} s")
    per = 1_000 / found.claims
    cost = found.touches * TOUCH_DOLLARS + found.questions * QUESTION_DOLLARS
    plain_cost = found.plain_touches * TOUCH_DOLLARS
    plain = "30-day worklist"
    return [
        Measure("replay.found", 100 * found.found_share, "% of losses"),
        Measure("replay.false", 100 * found.false_share, "% of the others"),
        Measure("replay.sent_twice", found.sent_twice, "claims"),
        Measure("replay.questions", found.questions * per, "276s/1000 claims"),
        _beside("replay.touches", found.touches, found.plain_touches, per, "touches", plain),
        _beside("replay.dollars", cost, plain_cost, per, "dollars", plain),
        Measure(
            "replay.days_to_find", found.days_to_find, "days (median)",
            found.days_to_find / found.plain_days_to_find, f"{plain} {found.plain_days_to_find:g}",
        ),
    ]  # fmt: skip


def _beside(name: str, ours: float, plain: float, per: float, unit: str, versus: str) -> Measure:
    return Measure(
        name, ours * per, f"{unit}/1000 claims", ours / plain, f"{versus} {plain * per:.4g}"
    )
