"""Count a site's claims for Home and the tabs of lists; refreshed by schedule, never by a submission.

    summary = await load_summary(context, site)         # counts now if none was counted before
    summary.labels["rejected"].count

Knows labels and amounts; nothing in a summary names a patient.
"""

import time as clock_time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from zoneinfo import ZoneInfo

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.claim_filters import SHADOW_TAB
from clearlane.engine.workflows import WorkSteps
from clearlane.enrollment.lifecycle import EnrollmentState, current_states
from clearlane.kernel.claim_label import CONCERNS, ClaimLabel, LabelConcern
from clearlane.kernel.clock import from_micros, to_local, to_micros
from clearlane.kernel.ids import first_number
from clearlane.pipeline.query.cause_counts import CAUSE_MINUTES_MAX, count_causes
from clearlane.pipeline.query.claim_filters import ClaimListRequest
from clearlane.pipeline.query.installation.operator_counts import (
    PAYMENT_NEEDS,
    refresh_operator_counts,
)
from clearlane.pipeline.query.payment_month import PaymentMonth, refresh_payment_month
from clearlane.pipeline.query.totals.claim_totals import (
    LabelTotals,
    add_tabs,
    add_totals,
    total_scope,
)
from clearlane.pipeline.query.totals.daily_sums import refresh_sums
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import enrollments
from clearlane.store.claims import claim_summaries
from clearlane.store.claims.claim_query import (
    ClaimListKey,
    ClaimOrder,
    ClaimQuery,
    Listed,
    list_claims,
)
from clearlane.store.claims.claim_summaries import DayCount
from clearlane.store.database.database import Tx
from clearlane.store.payments import payment_query, payments

NAME, EVERY = "claim summaries", "30 * * * * *"
MONTH_DAYS = 30
DAY_SECONDS = 86_400
QUICK_MICROS_MAX = 50_000
"""A summary that took no longer to count is counted again by whoever finds it out of date."""
SUMMARY_AGE_MAX = timedelta(hours=1)
"""Older than this it is counted again however long that takes: no node refreshes it, or a sandbox's clock has leapt."""
FAR_FUTURE_MICROS = 2**62
DENIALS = (ClaimLabel.DENIED, ClaimLabel.PARTLY_DENIED)
PAYMENTS = (ClaimLabel.PAID, ClaimLabel.PAID_DIFFERS, ClaimLabel.PATIENT_OWES)
DECISIONS = (*DENIALS, *PAYMENTS, ClaimLabel.NOTHING_DUE, ClaimLabel.FORWARDED)


class MonthFigures(msgspec.Struct, frozen=True):
    """The figures of thirty days: counts, so that those of several sites add up, and shares in percent of them."""

    received: int = 0
    """Claims that lists show, whether they were accepted or not."""
    answered: int = 0
    """First submissions that a payer took in or rejected."""
    rejected: int = 0
    """Those of ``answered`` that were rejected."""
    paid: int = 0
    """What payers paid on the claims of ``received``, in cents."""
    decided: int = 0
    denied: int = 0
    waits: dict[int, int] = {}
    """How many claims were paid after each number of days."""

    @property
    def accepted_percent(self) -> float | None:
        """The share of first submissions that were not rejected; None if none was answered."""
        return 100 * (self.answered - self.rejected) / self.answered if self.answered else None

    @property
    def denied_percent(self) -> float | None:
        """The share of decisions that denied; None if none was made."""
        return 100 * self.denied / self.decided if self.decided else None

    @property
    def days_to_payment(self) -> float | None:
        """The median of days from a claim to its payment; None if none was paid."""
        half, seen = (sum(self.waits.values()) + 1) // 2, 0
        for days, claims in sorted(self.waits.items()):
            seen += claims
            if seen >= half:
                return float(days)
        return None

    def plus(self, other: "MonthFigures") -> "MonthFigures":
        """Return the figures of both."""
        waits = Counter(self.waits) + Counter(other.waits)
        return MonthFigures(
            self.received + other.received,
            self.answered + other.answered,
            self.rejected + other.rejected,
            self.paid + other.paid,
            self.decided + other.decided,
            self.denied + other.denied,
            dict(waits),
        )


class ChartDay(msgspec.Struct, frozen=True):
    """The claims received on one day, by who must act; and their money in cents. ``paid`` is what was paid on them."""

    day: date
    counts: dict[str, int]
    charge: int = 0
    paid: int = 0


class SiteSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The counts and sums of a site's claims."""

    counted_at: datetime
    took: int = 0
    """How long counting the tabs took, in microseconds."""
    tabs: dict[str, dict[str, LabelTotals]]
    """The claims of each tab, by label."""
    month: MonthFigures
    month_before: MonthFigures
    days: list[ChartDay]
    payments: PaymentMonth = PaymentMonth()
    payments_in_need: list[str] = []
    """The payments to match and those that do not balance, up to a limit each."""
    enrollments: dict[str, LabelTotals] = {}
    """The enrollments in each state with some payer."""
    causes: dict[str, int] = {}
    """On how many claims each cause was seen lately (``cause_counts``)."""
    causes_at: datetime | None = None

    @property
    def labels(self) -> Mapping[str, LabelTotals]:
        """The claims that no other superseded, by label, with those that people put aside."""
        return self.tabs["all"] | self.tabs[SHADOW_TAB]

    def tab(self, name: str) -> LabelTotals:
        """Return the totals of a tab."""
        return add_totals(self.tabs[name].values())


def combine_summaries(several: Sequence[SiteSummary]) -> SiteSummary | None:
    """Return the summary of several sites together; shares and medians are those of all their claims."""
    if len(several) <= 1:
        return several[0] if several else None
    states = {state for one in several for state in one.enrollments}
    return SiteSummary(
        counted_at=min(one.counted_at for one in several),
        tabs=add_tabs(one.tabs for one in several),
        month=reduce(MonthFigures.plus, (one.month for one in several)),
        month_before=reduce(MonthFigures.plus, (one.month_before for one in several)),
        days=_add_days(several),
        enrollments={
            name: add_totals(one.enrollments.get(name) for one in several) for name in states
        },
        payments_in_need=sorted({id for one in several for id in one.payments_in_need}),
    )


def _add_days(several: Sequence[SiteSummary]) -> list[ChartDay]:
    found: dict[date, ChartDay] = {}
    for day in (day for one in several for day in one.days):
        known = found.get(day.day, ChartDay(day.day, {}))
        counts = {
            name: known.counts.get(name, 0) + day.counts.get(name, 0)
            for name in {*known.counts, *day.counts}
        }
        found[day.day] = ChartDay(day.day, counts, known.charge + day.charge, known.paid + day.paid)
    return [found[day] for day in sorted(found)]


async def load_summary(context: WorkContext, site: Site) -> SiteSummary:
    """Return the site's summary; count it now if it never was, or if it is out of date and old or quick to count."""
    async with context.database.read(site.scope) as tx:
        kept = await claim_summaries.find_summary(tx)
    if kept is None:
        return await refresh_summary(context, site, with_causes=True)
    summary = _DECODER.decode(kept.content)
    is_old = context.clock.now() - summary.counted_at > SUMMARY_AGE_MAX
    if (is_old or summary.took <= QUICK_MICROS_MAX) and await _is_stale(context, site):
        return await refresh_summary(context, site)
    return summary


async def refresh_summary(
    context: WorkContext, site: Site, *, with_causes: bool = False
) -> SiteSummary:
    """Count a site's claims and keep the summary. Causes cost more, and are counted by schedule alone."""
    now, began = context.clock.now(), clock_time.monotonic()
    async with context.database.read(site.scope) as tx:
        tabs = await total_scope(tx, context, site.scope, ClaimListRequest(given={}, limit=0))
        took = int((clock_time.monotonic() - began) * 1_000_000)
        summary = await _count(tx, now, site.time_zone, tabs, took)
        kept = await claim_summaries.find_summary(tx)
    before = _DECODER.decode(kept.content) if kept else None
    summary = await _with_causes(context, site, summary, before, count=with_causes)
    content = msgspec.json.encode(summary)
    await context.database.write(
        site.scope,
        lambda tx: claim_summaries.put_summary(tx, to_micros(now), content),
        actor=context.actor,
    )
    return summary


async def _with_causes(
    context: WorkContext,
    site: Site,
    summary: SiteSummary,
    before: SiteSummary | None,
    *,
    count: bool,
) -> SiteSummary:
    """Return a summary with its causes: counted again, or as they were."""
    counted_at, now = before.causes_at if before else None, summary.counted_at
    is_old = counted_at is None or now - counted_at >= timedelta(minutes=CAUSE_MINUTES_MAX)
    if count and is_old:
        causes = await count_causes(context, site, now)
        return msgspec.structs.replace(summary, causes=causes, causes_at=now)
    if before is None:
        return summary
    return msgspec.structs.replace(summary, causes=before.causes, causes_at=before.causes_at)


async def refresh_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Refresh the summaries that are out of date."""
    await refresh_stale(context)


async def refresh_stale(context: WorkContext) -> None:
    """Refresh the counts of the installation, and summaries and daily sums of sites whose claims have changed.

    Summaries are all refreshed once a day.
    """
    await refresh_payment_month(context)
    await refresh_operator_counts(context)
    for site in context.accounts().sites:
        if site.baa_accepted and await _is_stale(context, site):
            await refresh_summary(context, site, with_causes=True)
        if site.baa_accepted:
            await refresh_sums(context, site)


async def _is_stale(context: WorkContext, site: Site) -> bool:
    async with context.database.read(site.scope) as tx:
        kept = await claim_summaries.find_summary(tx)
        if kept is None:
            return True
        now, counted_at = context.clock.now(), from_micros(kept.counted_at)
        if now < counted_at or _day_of(now, site) != _day_of(counted_at, site):
            return True
        if await enrollments.latest_change(tx) >= kept.counted_at:
            return True
        query = ClaimQuery(
            where={"updated_at_from": kept.counted_at},
            listed=Listed.FINDABLE,
            order=ClaimOrder.BY_CHANGE,
            limit=1,
        )
        return bool(await list_claims(tx, query, ClaimListKey))


def _day_of(at: datetime, site: Site) -> date:
    """Return the day of a site: what was put aside comes back on one, and months begin with one."""
    return to_local(at, site.time_zone).date()


_DECODER = msgspec.json.Decoder(SiteSummary)


async def _count(
    tx: Tx, now: datetime, zone: str, tabs: dict[str, dict[str, LabelTotals]], took: int
) -> SiteSummary:
    month_ago, today = now - timedelta(days=MONTH_DAYS), to_local(now, zone).date()
    since = to_micros(month_ago)
    first = today - timedelta(days=2 * MONTH_DAYS - 1)
    days = await claim_summaries.count_days(tx, first.isoformat())
    waits = [
        pair
        for label in PAYMENTS
        for pair in await claim_summaries.list_decided(
            tx, label, to_micros(month_ago - timedelta(days=MONTH_DAYS))
        )
    ]
    middle = today - timedelta(days=MONTH_DAYS - 1)
    return SiteSummary(
        counted_at=now,
        took=took,
        tabs=tabs,
        month=_figures([d for d in days if d.created_day >= middle.isoformat()], waits, since),
        month_before=_figures(
            [d for d in days if d.created_day < middle.isoformat()], waits, 0, since
        ),
        days=_chart(days, middle, today),
        payments=await _payment_month(tx, today, zone),
        payments_in_need=await _payments_in_need(tx),
        enrollments=await _count_enrollments(tx),
    )


async def _payment_month(tx: Tx, today: date, zone: str) -> PaymentMonth:
    first_day = today.replace(day=1)
    start = datetime.combine(first_day, time(), ZoneInfo(zone)).astimezone(UTC)
    first = first_number(start, letter=payments.PAYMENT_LETTER)
    found = await payment_query.sum_since(tx, first, own=True)
    return PaymentMonth(first_day, found.payments, found.cents)


async def _payments_in_need(tx: Tx) -> list[str]:
    needs = await payment_query.list_needs(tx, own=True)
    return sorted({id for need in PAYMENT_NEEDS for id in needs[need]})


async def _count_enrollments(tx: Tx) -> dict[str, LabelTotals]:
    found: dict[str, LabelTotals] = {}
    for created_at, states in await enrollments.list_own_states(tx):
        one = LabelTotals(count=1, oldest_at=from_micros(created_at))
        for state in current_states(map(EnrollmentState, states)):
            found[state] = one.plus(found.get(state, LabelTotals()))
    return found


def _figures(
    days: Sequence[DayCount],
    waits: Sequence[tuple[int, int]],
    changed_from: int,
    changed_before: int = FAR_FUTURE_MICROS,
) -> MonthFigures:
    def number(labels: Iterable[str], *, first_only: bool = False) -> int:
        wanted = set(labels)
        return sum(d.claims for d in days if d.label in wanted and (d.is_first or not first_only))

    every = [label.value for label in ClaimLabel]
    waiting = {
        ClaimLabel.RECEIVED, ClaimLabel.SENT, ClaimLabel.NO_ANSWER, ClaimLabel.TO_RESEND, ClaimLabel.NOT_ACCEPTED,
    }  # fmt: skip
    answered = number((label for label in every if label not in waiting), first_only=True)
    rejected = number([ClaimLabel.REJECTED], first_only=True)
    taken = Counter(
        round((changed - created) / 10**6 / DAY_SECONDS)
        for created, changed in waits
        if changed_from <= changed < changed_before
    )
    return MonthFigures(
        received=sum(day.claims for day in days if day.is_listed),
        answered=answered,
        rejected=rejected,
        paid=sum(day.paid_cents for day in days if day.is_listed),
        decided=number(DECISIONS),
        denied=number(DENIALS),
        waits=dict(taken),
    )


# A claim that its payer did not answer in time is still on its way.
_CHART_CONCERNS = {**CONCERNS, ClaimLabel.NO_ANSWER: LabelConcern.WAIT}


def _chart(days: Iterable[DayCount], first: date, last: date) -> list[ChartDay]:
    found = {
        (first + timedelta(days=n)).isoformat(): dict.fromkeys(map(str, LabelConcern), 0)
        for n in range((last - first).days + 1)
    }
    money = {day: [0, 0] for day in found}
    for one in days:
        if one.created_day in found and one.is_listed:
            found[one.created_day][_CHART_CONCERNS[ClaimLabel(one.label)]] += one.claims
            money[one.created_day][0] += one.total_cents
            money[one.created_day][1] += one.paid_cents
    return [ChartDay(date.fromisoformat(day), found[day], *money[day]) for day in found]
