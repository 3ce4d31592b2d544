"""The home page: the claims of one site and the health of the installation."""

from starlette.responses import Response

from clearlane.console import forms
from clearlane.console.claim_list import (
    claim_row,
    list_site_claims,
    next_page_query,
    read_date_range,
)
from clearlane.console.page_request import PageRequest
from clearlane.kernel import limits
from clearlane.pipeline.query.health import health


async def show_home(request: PageRequest) -> Response:
    """Show the claims of a site that the user may see, in a range of dates."""
    query = request.http_request.query_params
    sites = [
        site for site in request.context.accounts.sites if request.signed_in_user.may_see(site)
    ]
    wanted = query.get("site") or (sites[0].vendor_site_id if sites else "")
    site = next((each for each in sites if each.vendor_site_id == wanted), None)
    if site is None and wanted:
        return request.pages.message_page(404, "No such site", "There is no such site among yours.")
    days, fault = read_date_range(request, site)
    claims = await list_site_claims(request, site, days)
    return request.pages.render(
        "home.html",
        user=request.signed_in_user.name,
        csrf_token=forms.csrf_token(request.context.vault, request.session),
        site=site,
        sites=sites,
        first=days.first,
        last=days.last,
        fault=fault,
        claims=[
            claim_row(request, site, claim) for claim in claims[: limits.CONSOLE_CLAIMS_PAGE_ROWS]
        ],
        older=next_page_query(site, days, claims),
        health=health(await request.context.measures.current()),
    )
