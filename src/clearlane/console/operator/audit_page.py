"""The audit trail: who did and saw what, by day, person, any id and action, and whether the chain is whole. For operators."""

from datetime import timedelta

from starlette.responses import Response

from clearlane.console.frame import page_text
from clearlane.console.frame.list_filters import given_filters
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.kernel.clock import from_micros
from clearlane.pipeline.operator.audit_trail import (
    ServiceClock,
    load_service_clock,
    read_audit_search,
)
from clearlane.store.audit import audit
from clearlane.store.audit.audit_actions import audit_words
from clearlane.store.audit.audit_search import (
    AUDIT_FILTERS,
    NEWEST,
    AuditRow,
    search_trail,
    trail_length,
)
from clearlane.store.database.database import write_audit

pages = PageRows(roles=OPERATORS, menu="/audit")

ROWS_SHOWN = 50
IDS_SHOWN = 6
CLOCKS_APART_MIN = timedelta(minutes=1)
ROWS_VERIFIED_MAX = 200_000
"""A longer chain is verified by the operator's command, which may take minutes."""


@pages.page("/audit")
async def show_audit(request: PageRequest) -> Response:
    """Show rows of the trail, newest first. The search itself is a row of it."""
    context = request.context
    given = given_filters(request, AUDIT_FILTERS)
    wanted = await read_audit_search(
        context.database,
        context.work_context.vault,
        request.sites,
        given.values,
        time_zone=request.zone,
    )
    before = read_number(request.query("before")) or NEWEST
    # Before its own row is written: a search does not find itself.
    found = await search_trail(context.database, wanted, before=before, limit=ROWS_SHOWN)

    await write_audit(
        context.database,
        audit.TRAIL,
        "audit.search",
        ids=[wanted.id] if wanted.id else [],
        detail=", ".join(
            f"{given.filters[name].title.lower()} {text}"
            for name, text in given.texts.items()
            if name != "id"
        ),
        actor=request.actor,
    )
    clock = await load_service_clock(context.database, context.clock.now() - context.wall.now())
    return request.render(
        "audit.html",
        "Audit",
        given=given,
        chips=given.chips(request, "/audit"),
        typed=request.query,
        rows=[
            (
                row,
                request.stored_moment(row.at),
                _service_time(request, clock, row),
                _owner(request, row),
            )
            for row in found.rows
        ],
        audit_words=audit_words,
        ids_shown=IDS_SHOWN,
        is_first=before == NEWEST,
        length=await trail_length(context.database),
        chain=await _chain(request) if request.query("verify") else None,
        verify=request.url("/audit", verify="yes"),
        first=request.url("/audit", **given.texts),
        older=request.url("/audit", **given.texts, before=found.next_before)
        if found.next_before
        else "",
        anchor_fault=context.database.anchor_fault,
    )


def _service_time(request: PageRequest, clock: ServiceClock, row: AuditRow) -> str:
    """Return what a sandbox's clock showed when a row was written; empty if it showed the same."""
    at = from_micros(row.at)
    shown = clock.at(at)
    return request.moment(shown) if shown - at >= CLOCKS_APART_MIN else ""


async def _chain(request: PageRequest) -> tuple[str, str]:
    """Return the label and the sentence about the chain."""
    database = request.context.database
    if await trail_length(database) > ROWS_VERIFIED_MAX:
        return "late", "The chain is too long to be verified here: clearlane audit verify"
    result = await audit.verify(database, request.context.vault, database.anchor)
    if result.fault:
        return "act", result.fault
    return (
        "good",
        f"The chain is whole: {page_text.count(result.rows - result.cut, 'row')} verified.",
    )


def _owner(request: PageRequest, row: AuditRow) -> str:
    site = request.site_of(row.vendor_id or 0, row.site_id or 0)
    return site.name if site else ""
