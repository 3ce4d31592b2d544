"""What needs the user, beside the entries of the menu: from the summaries, so that it costs one read a page."""

from clearlane.console.claim_filters import ACT_LABELS
from clearlane.console.page_request import PageRequest
from clearlane.pipeline.query.claim_summary import load_summary


async def count_menu(request: PageRequest) -> dict[str, int]:
    """Return the counts of the chosen site by address of the menu entry; none for all sites together."""
    site = request.site
    if site is None or not site.baa_accepted:
        return {}
    summary = await load_summary(request.context.work_context, site)
    return {"/claims": summary.total(ACT_LABELS).count + summary.no_answer.count}
