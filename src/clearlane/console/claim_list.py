"""The claim list of a page: its range of dates, its rows, and the link to the next page."""

from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import urlencode

from clearlane.accounts.model import Site
from clearlane.console.page_request import PageRequest
from clearlane.kernel import limits
from clearlane.kernel.clock import to_local
from clearlane.store.claims import ClaimListRange, ListedClaim, list_claims
from clearlane.store.database import Actor

DAYS_SHOWN = 30


def read_date_range(request: PageRequest, site: Site | None) -> tuple[ClaimListRange, str]:
    """Return the requested range of dates and an error text; the last month if it cannot be used."""
    query = request.http_request.query_params
    today = to_local(request.context.clock.now(), _zone_of(site)).date()
    month = ClaimListRange(first=str(today - timedelta(days=DAYS_SHOWN)), last=str(today))
    first, last = query.get("from") or month.first, query.get("to") or month.last
    if not (_is_day(first) and _is_day(last)):
        return month, "A day is written like 2024-03-05."
    if first > last:
        return month, "The first day comes after the last."
    day, _, request_id = query.get("before", "").partition("/")
    is_id = request_id.isascii() and request_id.isalnum()
    before = (day, request_id) if _is_day(day) and is_id else None
    return ClaimListRange(first=first, last=last, before=before), ""


async def list_site_claims(
    request: PageRequest, site: Site | None, days: ClaimListRange
) -> list[ListedClaim]:
    """Return one more claim than a page shows; none without a site or its BAA."""
    if site is None or not site.baa_accepted:
        return []
    actor = Actor("console", request.signed_in_user.name, request.request_id, request.address)
    # Reading claims is audited, so it is a write transaction, in the scope of that one site.
    return await request.context.database.write(
        site.scope, lambda tx: list_claims(tx, days), actor=actor
    )


def _zone_of(site: Site | None) -> str:
    return site.time_zone if site else "UTC"


def claim_row(request: PageRequest, site: Site | None, claim: ListedClaim) -> dict[str, str]:
    """Return the texts of one row of the list."""
    payer = request.context.payers.find(claim.payer_id, claim.kind.title())
    return {
        "request_id": claim.request_id,
        "created": f"{to_local(claim.created_at, _zone_of(site)):%Y-%m-%d %H:%M}",
        "kind": claim.kind,
        "payer": f"{payer.name} ({claim.payer_id})" if payer else claim.payer_id,
        "state": claim.state,
        "total": f"{Decimal(claim.total_cents).scaleb(-2):,.2f}",
    }


def next_page_query(site: Site | None, days: ClaimListRange, claims: list[ListedClaim]) -> str:
    """Return the query of the next page; empty on the last page."""
    if site is None or len(claims) <= limits.CONSOLE_CLAIMS_PAGE_ROWS:
        return ""
    last = claims[limits.CONSOLE_CLAIMS_PAGE_ROWS - 1]
    before = f"{last.created_day}/{last.request_id}"
    query = {"site": site.vendor_site_id, "from": days.first, "to": days.last, "before": before}
    return urlencode(query)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
