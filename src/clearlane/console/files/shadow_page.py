"""The shadow report: what we and another clearinghouse say of the claims of a site's shadow files, a page at a time.

It names claims by their ids, rules by their sentences and codes by their words, and nothing of what a claim holds.
"""

from collections.abc import Mapping

from starlette.responses import Response

from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.pipeline.query.shadow_report import (
    COMPARISON_WORDS,
    ShadowComparison,
    ShadowPage,
    load_shadow_page,
)
from clearlane.store.claims.claim_query import ListPosition

pages = PageRows(roles=EVERYBODY, menu="/files")

PATH = "/files/shadow"
CLAIMS_PER_PAGE = 50
POSITION_CHARACTERS_MAX = 100
KINDS: Mapping[str, str] = {
    ShadowComparison.PAID_NOT_ACCEPTED: "act",
    ShadowComparison.ONLY_THEY_ACCEPT: "act",
    ShadowComparison.ONLY_WE_ACCEPT: "late",
    ShadowComparison.DENIED: "late",
    ShadowComparison.EQUAL: "good",
    ShadowComparison.NO_ANSWER: "wait",
}
"""The kind of the label of each comparison."""
LABELS = {one: (kind, COMPARISON_WORDS[one]) for one, kind in KINDS.items()}


@pages.page(PATH)
async def show_report(request: PageRequest) -> Response:
    """Show a page of the report of the chosen site."""
    is_all = request.query("lines") == "all"
    given = request.query("after")
    chosen = request.chosen_sites
    site = chosen[0] if len(chosen) == 1 else None
    page = ShadowPage([], None)
    if site is not None:
        page = await load_shadow_page(
            request.context.work_context,
            site,
            after=_read_position(given),
            limit=CLAIMS_PER_PAGE,
            actor=request.actor,
        )
    shown = {"lines": "all"} if is_all else {}
    return request.render(
        "shadow.html",
        "Shadow report",
        site=site,
        lines=[one for one in page.lines if is_all or one.differs],
        compared=len(page.lines),
        labels=LABELS,
        tabs=[
            ("Differences", request.url(PATH), not is_all, None),
            ("All claims", request.url(PATH, lines="all"), is_all, None),
        ],
        newer=request.url(PATH, **shown) if given else "",
        older=request.url(PATH, **shown, after=_write_position(page.last)) if page.last else "",
    )


def _write_position(last: ListPosition) -> str:
    return ":".join(map(str, last))


def _read_position(text: str) -> ListPosition | None:
    """Return where the page begins that an address names; the first page if it names none."""
    updated_at, _, rest = text[:POSITION_CHARACTERS_MAX].partition(":")
    day, _, number = rest.partition(":")
    at = read_number(updated_at)
    return ListPosition(at, day, number) if at is not None and number.isalnum() else None
