"""Claims and worklists: tabs, filters, one row per claim, totals, pages, and the same list as CSV."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import TypeAlias
from urllib.parse import urlencode

from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.claims.claim_filters import NEXT_PAYER_TAB, SHADOW_TAB
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.console.claims.advice_buttons import act_words
from clearlane.console.claims.claim_csv import claims_csv
from clearlane.console.claims.claim_filters import (
    CHANGED_CHOICES,
    CHOICE_WORDS,
    FILTERS,
    KIND_CHOICES,
    TABS,
    ClaimFilterForm,
    ClaimTab,
    read_filters,
)
from clearlane.console.claims.claim_words import generation_words, row_tag
from clearlane.console.claims.correction_form import kept_fields
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.rendering import download
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import from_micros
from clearlane.pipeline.query.claim_filters import ClaimListRequest
from clearlane.pipeline.query.claim_list import AnyScope, ClaimRow, find_claims, load_claim_rows
from clearlane.pipeline.query.claim_reason import ClaimReason
from clearlane.pipeline.query.claim_summary import load_summary
from clearlane.pipeline.query.totals.claim_totals import (
    LabelTotals,
    add_tabs,
    add_totals,
    total_tabs,
)
from clearlane.store.claims.claim_query import ClaimListKey, ClaimOrder, ListPosition

pages = PageRows(roles=EVERYBODY, menu="/claims")
SNOOZE_UNTIL = "snooze-until"
UNDO = "undo"
UNDO_AT = "undo-at"
"""The moment of what was put aside or done, in an address and in the form that takes it back."""
_MICROS = re.compile(r"\d{1,16}", re.ASCII)
NOTICES = {
    "assign": "The ticked claims are assigned to you.",
    "release": "The ticked claims are unassigned.",
    "snooze-1": "The ticked claims come back tomorrow.",
    "snooze-7": "The ticked claims come back in 7 days.",
    "snooze-30": "The ticked claims come back in 30 days.",
    SNOOZE_UNTIL: "The ticked claims come back on the day you chose.",
    "done": "The ticked claims are done. They come back when the payer decides again.",
    UNDO: "Taken back: the claims are on the worklist again.",
    "not-undone": "Nothing was taken back: someone has worked on these claims since.",
}

PAGE_ROWS = 50
WORKLIST_CLAIMS_MAX = 1_000
CSV_CLAIMS_MAX = 5_000
GROUPED_CLAIMS_MAX = 200
PAYERS_LISTED_MAX = 500
DAY_SECONDS = 86_400
SNOOZE_DAYS_MAX = 365


@dataclass(frozen=True, slots=True)
class SiteKey:
    """A claim's place in a list, and its site."""

    site: Site
    key: ClaimListKey


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPage:
    """One page of a list: its keys, and where it goes on."""

    keys: list[SiteKey]
    older: str = ""
    newer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTotals:
    """The counts of the tabs under the filters, and the totals of the list that is shown."""

    tabs: list[tuple[ClaimTab, int]]
    """Those that few sites have only if there are any."""
    shown: LabelTotals
    is_part: bool = False
    """Whether there are more claims than those added up."""
    counted_at: datetime | None = None
    """When they were counted; None for now."""


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """Claims that have their reason and their payer in common; those that were not accepted have only the rule in common."""

    rows: list[ClaimRow]

    @property
    def reason(self) -> ClaimReason:
        """The reason, as the first of them has it."""
        return self.rows[0].reason

    @property
    def payer_id(self) -> str:
        """The payer that they have in common; empty if there are several."""
        first, *others = {row.payer_id for row in self.rows}
        return "" if others else first

    @property
    def charge(self) -> int:
        """What they charge together."""
        return sum(row.charge for row in self.rows)

    @property
    def is_fixable(self) -> bool:
        """Whether a correction of the field that the reason names answers it in all of them."""
        explanation = self.reason.explanation
        if not (self.reason.cause and explanation and explanation.is_group_fixable):
            return False
        with_payer = self.rows[0].label is ClaimLabel.NOT_ACCEPTED
        return explanation.fields[0].path not in kept_fields(with_payer=with_payer)


@dataclass(frozen=True, slots=True)
class RefusedWork:
    """What is missing in a form of a worklist that was sent, and what the form held."""

    sentence: str
    ticked: frozenset[str] = frozenset()
    """The numbers of the ticked claims."""
    reason: str = ""
    until: str = ""
    at: frozenset[str] = frozenset()
    """The fields at fault."""
    every: bool = False
    """Whether all claims that fit the filter were meant."""


ShowList: TypeAlias = Callable[[PageRequest, RefusedWork | None], Awaitable[Response]]
"""A list of claims, which shows what is missing in its form."""


@pages.page("/claims", notices=NOTICES)
async def show_claims(request: PageRequest, refused: RefusedWork | None = None) -> Response:
    """Show a page of claims."""
    return await _show(request, tab="", refused=refused)


@pages.page("/worklists", notices=NOTICES)
async def show_worklists(request: PageRequest, refused: RefusedWork | None = None) -> Response:
    """Show the claims that need attention."""
    return await _show(request, tab="needs_you", refused=refused)


def list_path(request: PageRequest, *, done: str = "", undo_at: str = "") -> str:
    """Return the address of this list in the console, with the notice of what was done in place of an earlier one.

    ``undo_at`` is the moment of what can be taken back.
    """
    pairs = request.http_request.query_params.multi_items()
    kept = [(name, value) for name, value in pairs if name not in {"done", UNDO_AT}]
    added = [(name, value) for name, value in (("done", done), (UNDO_AT, undo_at)) if value]
    written = urlencode([*kept, *added])
    return f"{request.path}?{written}" if written else request.path


def undo_moment(text: str) -> datetime | None:
    """Return the moment that an address or a form names to take back what was done then; None if it names none."""
    return from_micros(int(text)) if _MICROS.fullmatch(text) else None


def snooze_range(today: date) -> tuple[date, date]:
    """Return the first and the last day until which a claim can be put aside."""
    return today + timedelta(days=1), today + timedelta(days=SNOOZE_DAYS_MAX)


@pages.page("/claims.csv", menu="")
async def download_claims(request: PageRequest) -> Response:
    """Return the claims of the filter as CSV."""
    form, _ = read_filters(request.http_request.query_params)
    page = await find_page(request, form, rows_max=CSV_CLAIMS_MAX)
    rows = await load_rows(request, page.keys, action="console.claims_csv")
    name = f"claims-{form.tab}-{request.today.isoformat()}.csv"
    return download(claims_csv(rows, request.context.payers), name, "text/csv; charset=utf-8")


async def _show(request: PageRequest, *, tab: str, refused: RefusedWork | None) -> Response:
    form, faults = read_filters(request.http_request.query_params, tab)
    totals = await total_lists(request, form)
    grouped = form.chosen_tab.is_grouped and request.query("group") != "0" and not form.cause
    if grouped or form.cause:
        return await _show_grouped(request, form, faults, totals, refused)
    page = await find_page(request, form)
    rows = await load_rows(request, page.keys)
    return _render(request, form, faults, totals, page, rows, groups=[], refused=refused)


async def _show_grouped(
    request: PageRequest,
    form: ClaimFilterForm,
    faults: list[str],
    totals: ListTotals,
    refused: RefusedWork | None,
) -> Response:
    """Show a worklist by reason, or the claims of one reason."""
    page = await find_page(request, form, rows_max=GROUPED_CLAIMS_MAX)
    rows = await load_rows(request, page.keys)
    if form.cause:
        rows = [row for row in rows if row.reason.cause == form.cause]
        of_cause = LabelTotals(
            len(rows), sum(row.charge for row in rows), sum(row.stored.paid_cents for row in rows)
        )
        totals = replace(totals, shown=of_cause, is_part=bool(page.older))
        page = ClaimPage(keys=[])
    groups = [] if form.cause else _groups(rows)
    return _render(request, form, faults, totals, page, rows, groups=groups, refused=refused)


def _groups(rows: Sequence[ClaimRow]) -> list[CauseGroup]:
    """Return the reasons that several claims have in common, with those claims; the most money first."""
    found: dict[tuple[str, str], list[ClaimRow]] = {}
    for row in rows:
        # Our own rules are the same for all payers.
        payer_id = "" if row.label is ClaimLabel.NOT_ACCEPTED else row.payer_id
        found.setdefault((row.reason.cause or row.label.value, payer_id), []).append(row)
    return sorted(map(CauseGroup, found.values()), key=lambda group: -group.charge)


def _render(
    request: PageRequest,
    form: ClaimFilterForm,
    faults: list[str],
    totals: ListTotals,
    page: ClaimPage,
    rows: Sequence[ClaimRow],
    *,
    groups: list[CauseGroup],
    refused: RefusedWork | None,
) -> Response:
    now = request.context.clock.now()
    payers = _payers(request)
    chips = form.chips(payer=dict(payers).get(form.given.get("payer", ""), ""))
    return request.render(
        "claims.html",
        "Claims",
        400 if refused else 200,
        refused=refused,
        work_path=list_path(request),
        undo_at=undo_moment(request.query(UNDO_AT)) and request.query(UNDO_AT),
        snooze_range=snooze_range(request.today),
        form=form,
        faults=faults,
        tabs=[
            (
                tab.title,
                request.url("/claims", **form.as_query(tab=tab.key, cause="")),
                tab.key == form.tab,
                count,
            )
            for tab, count in totals.tabs
        ],
        totals=totals,
        now=now,
        page=page,
        rows=rows,
        groups=groups,
        tag=row_tag,
        again=generation_words,
        act_words=act_words if form.chosen_tab.is_worklist else lambda row: "",
        days_old=lambda row: int((now - row.changed_at).total_seconds() // DAY_SECONDS),
        payer_name=partial(payer_name, request),
        payers=payers,
        changed_choices=CHANGED_CHOICES,
        kinds=KIND_CHOICES,
        choices=CHOICE_WORDS,
        more_filters=[one for name, one in FILTERS.items() if name not in {"payer", "kind"}],
        chips=[(text, request.url("/claims", **query)) for text, query in chips],
        csv_url=request.url("/claims.csv", **form.as_query()),
        group_url=request.url("/claims", **form.as_query(cause=""), group="0" if groups else ""),
        cause_url=lambda cause: request.url("/claims", **form.as_query(cause=cause)),
        older_url=request.url("/claims", **form.as_query(), older=page.older) if page.older else "",
        newer_url=request.url("/claims", **form.as_query(), newer=page.newer) if page.newer else "",
        walk=request.url("", **form.as_query()).partition("?")[2],
        may_work=request.may_work,
        no_site=not request.sites,
        no_baa=bool(request.sites) and not request.chosen_sites,
    )


async def total_lists(request: PageRequest, form: ClaimFilterForm) -> ListTotals:
    """Return the counts of the tabs and the totals of the list: with filters counted now, else as they were kept."""
    sites, context = request.counted_sites, request.context.work_context
    if form.chips():
        wanted = _wanted(request, form, limit=0)
        found = await total_tabs(context, [site.scope for site in sites], wanted)
        counted_at = None
    else:
        summaries = [await load_summary(context, site) for site in sites]
        found = add_tabs(one.tabs for one in summaries)
        counted_at = min((one.counted_at for one in summaries), default=None)
    counts = [(tab, add_totals(found[tab.key].values())) for tab in TABS]
    return ListTotals(
        tabs=[
            (tab, totals.count)
            for tab, totals in counts
            if totals.count or tab.key == form.tab or tab.key not in {SHADOW_TAB, NEXT_PAYER_TAB}
        ],
        shown=dict(counts)[form.chosen_tab],
        counted_at=counted_at,
    )


def payer_name(request: PageRequest, payer_id: str, kind: str) -> str:
    """Return the name of the payer of a kind of claim."""
    return request.payer_name(payer_id, KINDS[ClaimKind(kind)].payer_type)


def _payers(request: PageRequest) -> list[tuple[str, str]]:
    """Return the payers to choose from: test payers, and those with a route. A large directory is too long for a list."""
    known = {payer.payer_id: payer.name for payer in request.context.payers.all if payer.is_test}
    if request.context.sandbox_control is None:
        routes = request.context.work_context.payer_access.connections().all_mailbox_routes()
        known |= {
            route.payer_id: payer.name
            for route in routes[:PAYERS_LISTED_MAX]
            if (payer := request.context.payers.find(route.payer_id, route.type))
        }
    return sorted(known.items(), key=lambda pair: pair[1])


# ---- finding the claims of a page ----------------------------------------------------------------


async def find_page(request: PageRequest, form: ClaimFilterForm, *, rows_max: int = 0) -> ClaimPage:
    """Return the claims of a page: a worklist by money and age, any other list by last change."""
    if form.chosen_tab.is_worklist or form.mine:
        return await _worklist_page(request, form, rows_max)
    return await _changes_page(request, form, rows_max or PAGE_ROWS)


async def _changes_page(request: PageRequest, form: ClaimFilterForm, rows: int) -> ClaimPage:
    older, newer = read_cursor(request.query("older")), read_cursor(request.query("newer"))
    order = ClaimOrder.BY_CHANGE if newer else ClaimOrder.LATEST_CHANGE_FIRST
    found = await _keys(request, form, rows + 1, order=order, after=older or newer)
    found.sort(key=lambda one: one.key, reverse=True)
    has_more = len(found) > rows
    page = found[1:] if newer and has_more else found[:rows]
    return ClaimPage(
        keys=page,
        older=write_cursor(page[-1].key) if page and (has_more or newer) else "",
        newer=write_cursor(page[0].key) if page and (older or (newer and has_more)) else "",
    )


async def _worklist_page(request: PageRequest, form: ClaimFilterForm, rows_max: int) -> ClaimPage:
    """Return a page of a worklist: what rests is left out, much money that waits long comes first."""
    now = request.context.clock.now()
    found = await _keys(request, form, WORKLIST_CLAIMS_MAX)
    found.sort(key=lambda one: (-_urgency(one.key, now), one.key.claim_number))
    rows = rows_max or PAGE_ROWS
    start = int(text) if (text := request.query("older")).isdecimal() and len(text) < 6 else 0
    return ClaimPage(
        keys=found[start : start + rows],
        older=str(start + rows) if len(found) > start + rows else "",
        newer=str(max(start - rows, 0)) if start else "",
    )


async def _keys(
    request: PageRequest,
    form: ClaimFilterForm,
    limit: int,
    *,
    order: ClaimOrder = ClaimOrder.LATEST_CHANGE_FIRST,
    after: ListPosition | None = None,
) -> list[SiteKey]:
    """Return the keys of a list. Each site is read in its own scope, which the index of labels begins with."""
    sites: dict[AnyScope, Site] = {site.scope: site for site in request.counted_sites}
    wanted = _wanted(request, form, limit=limit, order=order, after=after)
    found = await find_claims(request.context.work_context, sites, wanted, ClaimListKey)
    return [SiteKey(sites[scope], key) for scope, key in found]


def list_form(request: PageRequest, show: ShowList) -> ClaimFilterForm:
    """Return the list that an address of the page asks for."""
    tab = "needs_you" if show is show_worklists else ""
    return read_filters(request.http_request.query_params, tab)[0]


async def find_every(request: PageRequest, form: ClaimFilterForm, claims_max: int) -> list[SiteKey]:
    """Return all claims of a list up to a limit, whatever its page shows."""
    found = await _keys(request, form, claims_max)
    if not form.cause:
        return found
    rows = await load_rows(request, found[:GROUPED_CLAIMS_MAX])
    of_cause = {row.number for row in rows if row.reason.cause == form.cause}
    return [one for one in found if one.key.claim_number in of_cause]


def _wanted(
    request: PageRequest,
    form: ClaimFilterForm,
    *,
    limit: int,
    order: ClaimOrder | None = None,
    after: ListPosition | None = None,
) -> ClaimListRequest:
    values = form.values(request.context.clock.now())
    mine = request.signed_in_user.name if form.mine else ""
    return ClaimListRequest(given=values, order=order, after=after, assigned_to=mine, limit=limit)


async def load_rows(
    request: PageRequest, keys: Sequence[SiteKey], *, action: str = "console.claims"
) -> list[ClaimRow]:
    """Load the claims of a page in its order; each site's are one audit row with their numbers."""
    found: dict[str, ClaimRow] = {}
    for site in dict.fromkeys(one.site for one in keys):
        numbers = [one.key.claim_number for one in keys if one.site == site]
        rows = await load_claim_rows(
            request.context.work_context, site, numbers, actor=request.actor, action=action
        )
        found |= {row.number: row for row in rows}
    return [found[one.key.claim_number] for one in keys if one.key.claim_number in found]


def _urgency(key: ClaimListKey, now: datetime) -> int:
    age = (now - from_micros(key.updated_at)).total_seconds() // DAY_SECONDS
    return int(key.total_cents * (age + 1))


def write_cursor(key: ClaimListKey) -> str:
    """Return a place in a list as the address has it."""
    return f"{key.updated_at}.{key.claim_number}"


def read_cursor(text: str) -> ListPosition | None:
    """Return the place in a list that an address names; None if the text is no such place."""
    at, _, number = text.partition(".")
    fits = at.isascii() and at.isdecimal() and len(at) < 19
    return (
        ListPosition(int(at), "", number)
        if fits and number.isascii() and number.isalnum()
        else None
    )
