"""Home: what needs the user and how much money waits, the last thirty days, and the latest payments."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from starlette.responses import Response

from clearlane.accounts.model import vendor_scopes
from clearlane.console import first_steps
from clearlane.console.claims.claim_filters import BY_KEY
from clearlane.console.frame import page_text
from clearlane.console.frame.charts import Chart, paired_chart, stacked_chart
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.page_text import money, short_day
from clearlane.console.payments.payment_words import payment_label
from clearlane.console.payments.payments_page import list_viewer, payer_name
from clearlane.enrollment.lifecycle import EnrollmentState
from clearlane.kernel.claim_label import CONCERNS, LABEL_WORDS, ClaimLabel, LabelConcern
from clearlane.kernel.client_file import FileDirection, FileState
from clearlane.kernel.clock import from_micros
from clearlane.kernel.ids import number_moment
from clearlane.pipeline.query import claim_summary
from clearlane.pipeline.query.claim_summary import (
    MonthFigures,
    SiteSummary,
    combine_summaries,
)
from clearlane.pipeline.query.installation.health import health
from clearlane.pipeline.query.installation.route_states import (
    RouteCondition,
    RouteState,
    load_route_states,
)
from clearlane.pipeline.query.payment_list import PaymentListPage, list_payment_page
from clearlane.pipeline.query.totals.claim_totals import LabelTotals
from clearlane.store.delivery import inbox
from clearlane.store.delivery.file_query import FileQuery, find_inbox_files
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.payments.payment_query import UNBALANCED, UNMATCHED

pages = PageRows(roles=EVERYBODY, menu="/")

PAYMENTS_SHOWN = 5
FILES_COUNTED_MAX = 1_000
SITE_FILE_DAYS = 14
"""How long a file of a site that was not taken is on the to-do list: no one closes it, the next file does."""
SITE_FILE_STATES = {
    FileState.REJECTED: "Files of sites rejected",
    FileState.UNREADABLE: "Files of sites unreadable",
}
NAMES_SHOWN = 3
TO_DO_WORDS = {
    ClaimLabel.NOT_ACCEPTED: "Not accepted by us",
    ClaimLabel.NO_ANSWER: "No answer from the payer",
}
"""What rows of the to-do list are called if their label alone does not say who decided."""
BARS = (
    (LabelConcern.GOOD, "good", "Paid"),
    (LabelConcern.WAIT, "wait", "On the way"),
    (LabelConcern.ACT, "act", "Need you"),
    (LabelConcern.DONE, "done", "Closed"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDo:
    """A row of the to-do list."""

    kind: str
    text: str
    count: int
    cents: int | None
    oldest: str
    href: str
    noun: str = "claim"


@pages.page("/")
async def show_home(request: PageRequest) -> Response:
    """Show what needs the user."""
    context = request.context.work_context
    summaries = [await claim_summary.load_summary(context, site) for site in request.counted_sites]
    whole = combine_summaries(summaries)
    payments = await _payments(request) if request.chosen_sites or request.is_operator else None
    now = request.context.clock.now()
    to_do = await _operator_rows(request) if request.is_operator else []
    if whole is not None:
        to_do += _claim_rows(request, whole, now)
    to_do += await _site_file_rows(request, now)
    to_do += _payment_rows(request, payments, now)
    to_do += _enrollment_rows(request, whole, now) if whole else []
    waiting = whole.tab("needs_you") if whole else LabelTotals()
    on_the_way = whole.tab("on_the_way") if whole else LabelTotals()
    return request.render(
        "home.html",
        "Home",
        waiting=waiting,
        on_the_way=on_the_way,
        to_do=to_do,
        summary=whole,
        now=now,
        figures=_figures(request, whole) if whole else [],
        charts=_charts(whole) if whole else [],
        bars=[(kind, name) for _, kind, name in BARS],
        payments=payments.payments[:PAYMENTS_SHOWN] if payments else [],
        payment_label=payment_label,
        payer_name=lambda payment: payer_name(request, payment),
        steps=first_steps.steps(request, whole, has_payments=bool(payments and payments.payments)),
        health=health(await request.context.measures.current()) if request.is_operator else [],
        no_baa=bool(request.sites) and not request.chosen_sites,
    )


def _claim_rows(request: PageRequest, whole: SiteSummary, now: datetime) -> list[ToDo]:
    rows = [
        _row(request, label, whole.tabs["needs_you"].get(label, LabelTotals()), now)
        for label in BY_KEY["needs_you"].labels
    ]
    return [row for row in rows if row.count]


def _row(request: PageRequest, label: ClaimLabel, totals: LabelTotals, now: datetime) -> ToDo:
    days = (now - totals.oldest_at).days if totals.oldest_at else 0
    return ToDo(
        kind=CONCERNS[label].value,
        text=TO_DO_WORDS.get(label, LABEL_WORDS[label]),
        count=totals.count,
        cents=totals.charge,
        oldest=page_text.days_old(days),
        href=request.url("/worklists", label=label.value),
    )


async def _operator_rows(request: PageRequest) -> list[ToDo]:
    """Return what only operators can help: routes that are down, files not understood, delivery in doubt."""
    context = request.context.work_context
    states = await load_route_states(
        context.database, context.payer_access.connections(), request.context.payers
    )
    rows = []
    for condition, text in (
        (RouteCondition.DOWN, "Route down"),
        (RouteCondition.NO_ROUTE, "No route to the payer"),
    ):
        found = [state for state in states if state.condition is condition]
        if found:
            rows.append(
                ToDo(
                    kind="act",
                    text=f"{text}: {_names(found)}",
                    count=sum(state.waiting.claims for state in found),
                    cents=sum(state.waiting.cents for state in found),
                    oldest=_oldest(request, [_waits_since(state) for state in found]),
                    href=request.url("/payers"),
                    noun="waiting claim",
                )
            )
    async with context.database.read(inbox.SCOPE) as tx:
        query = FileQuery(where={"state": inbox.NEEDS_ATTENTION}, limit=FILES_COUNTED_MAX)
        files = await find_inbox_files(tx, query)
    tests = [one.received_at for one in files if one.state == inbox.TEST_FILE]
    others = [one.received_at for one in files if one.state != inbox.TEST_FILE]
    # Also if the route is down: then its condition does not say that a delivery is in doubt.
    in_doubt = [state for state in states if state.waiting.in_doubt]
    return [
        *rows,
        *_file_rows(request, "act", "Files not understood", len(others), others),
        *_file_rows(request, "act", "Test files", len(tests), tests),
        *_file_rows(
            request,
            "late",
            f"Delivery in doubt: {_names(in_doubt)}",
            sum(state.waiting.in_doubt for state in in_doubt),
            [state.waiting.in_doubt_since for state in in_doubt],
        ),
    ]


async def _site_file_rows(request: PageRequest, now: datetime) -> list[ToDo]:
    """Return the rows of files that sites sent in the last days and that were not taken. A shadow is a trial."""
    since = (now - timedelta(days=SITE_FILE_DAYS)).date()
    rows = []
    for state, text in SITE_FILE_STATES.items():
        where = {"direction": FileDirection.IN, "state": state, "received_from": since}
        query = ClientFileQuery(where=where, limit=FILES_COUNTED_MAX)
        moments: list[int | None] = []
        for scope in vendor_scopes(request.counted_sites):
            async with request.context.database.read(scope) as tx:
                found = await find_page(tx, query)
            moments += [one.received_at for one in found if not one.is_shadow]
        href = request.url("/files", tab="sent", state=state.value, received_from=since.isoformat())
        rows += _file_rows(request, "act", text, len(moments), moments, href)
    return rows


def _waits_since(state: RouteState) -> int | None:
    """Return since when the oldest claim waits; since when tries fail if none does."""
    return state.waiting.oldest_at or state.waiting.failing_since


def _oldest(request: PageRequest, moments: Iterable[int | None]) -> str:
    """Return the age of the oldest of some stored moments; empty if there is none."""
    oldest = min(filter(None, moments), default=None)
    if oldest is None:
        return ""
    return page_text.days_old((request.context.clock.now() - from_micros(oldest)).days)


def _names(states: Sequence[RouteState]) -> str:
    return ", ".join(state.name for state in states[:NAMES_SHOWN])


def _file_rows(
    request: PageRequest,
    kind: str,
    text: str,
    count: int,
    since: Iterable[int | None],
    href: str = "",
) -> list[ToDo]:
    """Return the row of files that need a person; none if there are none."""
    href = href or request.url("/files", tab="review")
    oldest = _oldest(request, since)
    row = ToDo(kind=kind, text=text, count=count, cents=None, oldest=oldest, href=href, noun="file")
    return [row] if count else []


async def _payments(request: PageRequest) -> PaymentListPage:
    return await list_payment_page(
        request.context.database,
        request.context.vault,
        list_viewer(request),
        {},
        before=None,
        actor=request.actor,
    )


def _payment_rows(request: PageRequest, page: PaymentListPage | None, now: datetime) -> list[ToDo]:
    if page is None:
        return []
    rows = [
        ("late", "Payments to match", page.needs[UNMATCHED], "match"),
        ("act", "Payments that do not balance", page.needs[UNBALANCED], "unbalanced"),
    ]
    return [
        ToDo(
            kind=kind,
            text=text,
            count=len(found),
            cents=sum(found.values()),
            oldest=page_text.days_old((now - number_moment(min(found))).days),
            href=request.url("/payments", tab=tab),
            noun="payment",
        )
        for kind, text, found, tab in rows
        if found
    ]


def _enrollment_rows(request: PageRequest, whole: SiteSummary, now: datetime) -> list[ToDo]:
    """Return what enrollments need: a refused one its site, a new one the operator who takes it to the payer."""
    states = [EnrollmentState.REFUSED]
    states += [EnrollmentState.SUBMITTED] if request.is_operator else []
    found = [(state, whole.enrollments[state]) for state in states if state in whole.enrollments]
    if not found:
        return []
    oldest = min(filter(None, (totals.oldest_at for _, totals in found)), default=now)
    return [
        ToDo(
            kind="act",
            text="Enrollment tasks",
            count=sum(totals.count for _, totals in found),
            cents=None,
            oldest=page_text.days_old((now - oldest).days),
            href=request.url("/enrollments", state=found[0][0].value if len(found) == 1 else ""),
            noun="enrollment",
        )
    ]


def _figures(request: PageRequest, whole: SiteSummary) -> list[tuple[str, str, str, str]]:
    """Return the five numbers of the month: title, number, the month before, and the list that it leads to."""
    now, before = _words(whole.month), _words(whole.month_before)
    since = whole.days[0].day.isoformat()
    links = (
        request.url("/claims", created_from=since),
        request.url("/claims", tab="rejected", created_from=since),
        request.url("/claims", tab="all", created_from=since),
        request.url("/claims", tab="denied", created_from=since),
        request.url("/claims", tab="paid"),
    )
    titles = (
        "Claims received",
        "Accepted at first try",
        "Paid on claims",
        "Denied",
        "Median days to payment",
    )
    return list(zip(titles, now, before, links, strict=True))


def _words(month: MonthFigures) -> tuple[str, str, str, str, str]:
    return (
        f"{month.received:,}",
        _percent(month.accepted_percent),
        f"${money(month.paid)}",
        _percent(month.denied_percent),
        "-" if month.days_to_payment is None else f"{month.days_to_payment:.0f}",
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1f} %"


def _charts(whole: SiteSummary) -> list[Chart]:
    days = [
        (
            short_day(one.day),
            [(kind, name, one.counts.get(concern, 0)) for concern, kind, name in BARS],
        )
        for one in whole.days
    ]
    return [
        stacked_chart("Claims by day received", days),
        paired_chart("Money of claims by week received", _weeks(whole)),
    ]


def _weeks(whole: SiteSummary) -> list[tuple[str, list[tuple[str, str, int]]]]:
    weeks: dict[str, list[int]] = {}
    for one in whole.days:
        monday = one.day - timedelta(days=one.day.weekday())
        sums = weeks.setdefault(f"week of {short_day(monday)}", [0, 0])
        sums[0] += one.charge
        sums[1] += one.paid
    return [
        (week, [("done", "Charged", charge), ("good", "Paid on claims", paid)])
        for week, (charge, paid) in weeks.items()
    ]
