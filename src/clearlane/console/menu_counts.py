"""What needs the user, beside the entries of the menu: from what the schedule counted, never counted for a page."""

from clearlane.console.frame.page_request import PageRequest
from clearlane.console.payments.payments_page import list_viewer
from clearlane.pipeline.query.claim_summary import load_summary, refresh_summary
from clearlane.pipeline.query.installation.operator_counts import (
    load_operator_counts,
    refresh_operator_counts,
)
from clearlane.store.payments.payment_query import COUNTED_MAX


async def count_menu(request: PageRequest) -> dict[str, str]:
    """Return the counts of the chosen sites by address of the menu entry; none if nothing needs the user."""
    context = request.context.work_context
    summaries = [await load_summary(context, site) for site in request.counted_sites]
    counts = {
        "/claims": sum(one.tab("needs_you").count for one in summaries),
        "/payments": len({id for one in summaries for id in one.payments_in_need}),
    }
    if request.is_operator:
        found = await load_operator_counts(context)
        counts["/payers"] = found.routes_down
        if list_viewer(request).sees_all:
            counts["/payments"] = found.payments
    limits = {"/payments": COUNTED_MAX}
    return {
        path: f"{limits[path] - 1}+" if count >= limits.get(path, count + 1) else f"{count:,}"
        for path, count in counts.items()
        if count
    }


async def count_again(request: PageRequest) -> None:
    """Recount what the menu shows of the chosen site and the installation, after an action that changed it."""
    context = request.context.work_context
    if request.site is not None and request.site.baa_accepted:
        await refresh_summary(context, request.site)
    await refresh_operator_counts(context)
