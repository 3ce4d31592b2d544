"""The search box: an exact number opens what it names; a member id or a last name lists the claims of some months."""

from collections.abc import Sequence

from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.console.claims.claim_words import generation_words, row_tag
from clearlane.console.claims.claims_page import DAY_SECONDS, payer_name
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.payments.payments_page import SITES_MERGED_MAX, list_viewer
from clearlane.payments.bank_search import BankSearch
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.pipeline.query.payment_list import list_payment_page
from clearlane.pipeline.query.search.claims_by_text import (
    SEARCH_CHARACTERS_MAX,
    SEARCH_MONTHS,
    SEARCH_MONTHS_MAX,
    ClaimTextSearch,
)

pages = PageRows(roles=EVERYBODY, menu="/claims")

FOUND_CLAIMS_MAX = 50


@pages.page("/search")
async def show_search(request: PageRequest) -> Response:
    """Open what the text names exactly, or list the claims that it finds."""
    text = request.query("q").strip()[:SEARCH_CHARACTERS_MAX]
    if not text:
        return request.redirect("/claims")
    every_site = [site for site in request.sites if site.baa_accepted]
    if (own := await text_search(request, every_site).by_claim_number(text)) is not None:
        return request.redirect(f"/claims/{own.number}")
    everywhere = request.query("everywhere") == "1"
    sites = every_site if everywhere else request.chosen_sites
    search = text_search(request, sites)
    exact = await search.by_number(text)
    if (named := await _open_named(request, text, exact)) is not None:
        return named
    is_wide = request.query("months") == str(SEARCH_MONTHS_MAX)
    months = SEARCH_MONTHS_MAX if is_wide else SEARCH_MONTHS
    found = exact or await search.by_person(text, request.today, months=months)
    now = request.context.clock.now()
    return request.render(
        "search.html",
        "Search",
        text=text,
        rows=found[:FOUND_CLAIMS_MAX],
        more=len(found) > FOUND_CLAIMS_MAX,
        place=request.site.name if request.site and not everywhere else "all your sites",
        may_widen=not everywhere and len(request.sites) > len(sites),
        everywhere_url=request.url(
            "/search", q=text, everywhere="1", months=request.query("months")
        ),
        period="" if exact else f"the last {months} months",
        longer_url=""
        if exact or is_wide
        else request.url(
            "/search", q=text, months=SEARCH_MONTHS_MAX, everywhere=request.query("everywhere")
        ),
        months_max=SEARCH_MONTHS_MAX,
        payments_url=request.url("/payments", q=text),
        tag=row_tag,
        again=generation_words,
        payer_name=lambda payer_id, kind: payer_name(request, payer_id, kind),
        days_old=lambda row: int((now - row.changed_at).total_seconds() // DAY_SECONDS),
    )


def text_search(
    request: PageRequest, sites: Sequence[Site], action: str = "console.search"
) -> ClaimTextSearch:
    """Return the search in the claims of sites for the one who asks."""
    return ClaimTextSearch(request.context.work_context, sites, request.actor, action)


async def _open_named(
    request: PageRequest, text: str, exact: Sequence[ClaimRow]
) -> Response | None:
    """Open the one claim or payment that a number names, or its payments; None if claims are listed."""
    if len(exact) == 1:
        return request.redirect(f"/claims/{exact[0].number}")
    payments = [] if exact else await _payments(request, text)
    if len(payments) == 1:
        return request.redirect(f"/payments/{payments[0]}")
    return request.redirect("/payments", q=text) if payments else None


async def _payments(request: PageRequest, text: str) -> list[str]:
    """Return the payments whose check or transfer has this number."""
    viewer = list_viewer(request)
    if not any(map(str.isdigit, text)) or len(viewer.scopes or ()) > SITES_MERGED_MAX:
        return []
    page = await list_payment_page(
        request.context.database,
        request.context.vault,
        viewer,
        {"bank": BankSearch(traces=(text, text.upper().replace(" ", "")))},
        before=None,
        actor=request.actor,
    )
    return [one.payment.payment_id for one in page.payments]
