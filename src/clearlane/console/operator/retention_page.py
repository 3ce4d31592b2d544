"""Retention: how long data are kept, what legal holds keep, and what the last purges removed. For operators.

Periods are set and holds are placed by command.
"""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.kernel.formats import upper_first
from clearlane.kernel.retention_kinds import RETENTION, RetentionKind
from clearlane.pipeline.query.installation.measures import Measures
from clearlane.pipeline.retention import purge_runs
from clearlane.pipeline.retention.cutoffs import RetentionTable, load_table
from clearlane.pipeline.retention.purge_runs import PURGE_WORDS, Purge, PurgeRun, PurgeState
from clearlane.store.retention import legal_holds, periods
from clearlane.store.retention.legal_holds import LegalHold
from clearlane.store.retention.periods import EVERY_VENDOR

pages = PageRows(roles=OPERATORS, menu="/retention")

RELEASED = "released"
LABELS = {
    PurgeState.DONE: ("good", "Done"),
    PurgeState.FAILED: ("act", "Failed"),
    PurgeState.LATE: ("late", "Late"),
    PurgeState.EXPECTED: ("wait", "Not run yet"),
}


class PurgeRow(NamedTuple):
    """A purge as the page shows it."""

    label: tuple[str, str]
    what: str
    ended: str
    """When it ended last; empty if it never did."""
    removed: str
    failed: str
    """When it failed since, and why; empty if it did not."""


class PeriodLine(NamedTuple):
    """The period of a kind of data as the page shows it."""

    kind: str
    what: str
    days: int
    days_min: int
    default: int
    vendors: Sequence[tuple[str, int]]
    """Vendors with days of their own, by name."""


class HoldLine(NamedTuple):
    """A legal hold as the page shows it."""

    hold: LegalHold
    site: str
    placed: str
    released: str
    """When it was released, and by whom; empty while it is in force."""


@pages.page("/retention")
async def show_retention(request: PageRequest) -> Response:
    """Show periods, legal holds and the last purges."""
    context, with_released = request.context, bool(request.query(RELEASED))
    async with context.database.read(periods.SCOPE) as tx:
        table = await load_table(tx, context.work_context.limits.kept_days)
    async with context.database.read(purge_runs.SCOPE) as tx:
        runs = await purge_runs.load_purge_runs(tx)
    async with context.database.read(legal_holds.SCOPE) as tx:
        holds = await legal_holds.list_holds(tx, released=with_released)
    measures = await context.measures.current()
    return request.render(
        "retention.html",
        "Retention",
        purges=[_purge(request, measures, purge, runs.get(purge, PurgeRun())) for purge in Purge],
        periods=[_period(request, table, kind) for kind in RetentionKind],
        holds=[_hold(request, one) for one in reversed(holds)],
        in_force=sum(one.released_at is None for one in holds),
        with_released=with_released,
        others=request.url("/retention", **({} if with_released else {RELEASED: "yes"})),
    )


def _purge(request: PageRequest, measures: Measures, purge: Purge, run: PurgeRun) -> PurgeRow:
    words = PURGE_WORDS[purge]
    removed = [f"{what} {count:,}" for what, count in run.removed.items() if count]
    failed = ""
    if run.failed_at is not None:
        failed = f"Failed {request.stored_moment(run.failed_at)}: {run.fault}"
    return PurgeRow(
        label=LABELS[run.state(since=measures.purges_since, now=request.now)],
        what=upper_first(words),
        ended="" if run.ended_at is None else request.stored_moment(run.ended_at),
        removed=", ".join(removed) or ("nothing" if run.ended_at is not None else ""),
        failed=failed,
    )


def _period(request: PageRequest, table: RetentionTable, kind: RetentionKind) -> PeriodLine:
    days, rule = table.periods(kind), RETENTION[kind]
    own = [
        (one.name, days[int(one.id)])
        for one in request.context.accounts.vendors
        if int(one.id) in days
    ]
    return PeriodLine(
        kind=kind.value,
        what=rule.title,
        days=days[EVERY_VENDOR],
        days_min=rule.days_min,
        default=table.defaults[kind],
        vendors=own,
    )


def _hold(request: PageRequest, hold: LegalHold) -> HoldLine:
    site = request.site_of(hold.vendor_id, hold.site_id)
    released = ""
    if hold.released_at is not None:
        released = f"{request.stored_moment(hold.released_at)}, {hold.released_by}"
    return HoldLine(
        hold=hold,
        site=site.name if site else f"site {hold.site_id}",
        placed=request.stored_moment(hold.placed_at),
        released=released,
    )
