"""The search box: an exact number opens what it names; a member id or a last name lists the claims of some months.

Names are found by keyed hashes: a whole last name with a birth date, or its first three letters.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date

from starlette.responses import Response

from clearlane.accounts.model import Site, vendor_scopes
from clearlane.claims.search_terms import NAME_START_LETTERS, name_start, search_name
from clearlane.console.claims.claim_words import generation_words, row_tag
from clearlane.console.claims.claims_page import DAY_SECONDS, payer_name
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.page_text import read_day
from clearlane.console.payments.payments_page import SITES_MERGED_MAX, list_viewer
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.payments.bank_search import BankSearch
from clearlane.pipeline.query.claim_list import ClaimRow, load_claim_rows
from clearlane.pipeline.query.payment_list import list_payment_page
from clearlane.store.claims import claim_search
from clearlane.store.claims.claim_query import (
    ClaimListRow,
    ClaimQuery,
    Listed,
    first_member_day,
    list_claims,
)
from clearlane.store.claims.claims import find_owner
from clearlane.store.database.database import SystemScope

pages = PageRows(roles=EVERYBODY, menu="/claims")

SEARCH_CHARACTERS_MAX = 80
FOUND_CLAIMS_MAX = 50
READ_CLAIMS_MAX = 200
SEARCH_MONTHS = 12
SEARCH_MONTHS_MAX = 24
"""How far back the claims of a person are searched at first, and on demand. A number finds a claim of any age."""
ANY_CLIENT = SystemScope("a claim is found by its number before its site is known")
_NAME_AND_DAY = re.compile(
    r"(?P<name>[^\d,]+?)[,\s]+(?P<day>(?:[A-Za-z]{3,9} )?[\d/-]{1,10}(?:,? \d{4})?)"
)


@pages.page("/search")
async def show_search(request: PageRequest) -> Response:
    """Open what the text names exactly, or list the claims that it finds."""
    text = request.query("q").strip()[:SEARCH_CHARACTERS_MAX]
    if not text:
        return request.redirect("/claims")
    number = await _claim_number(request, text)
    if number:
        return request.redirect(f"/claims/{number}")
    everywhere = request.query("everywhere") == "1"
    sites = [s for s in request.sites if s.baa_accepted] if everywhere else request.chosen_sites
    exact = await _find(request, sites, _number_filters(request, text))
    if (named := await _open_named(request, text, exact)) is not None:
        return named
    is_wide = request.query("months") == str(SEARCH_MONTHS_MAX)
    months = SEARCH_MONTHS_MAX if is_wide else SEARCH_MONTHS
    found = exact or await find_by_person(request, sites, text, months=months)
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


async def _claim_number(request: PageRequest, text: str) -> str:
    """Return the text as a claim number, if it is one that the user may see."""
    number = text.upper()
    if not (number.isascii() and number.isalnum()):
        return ""
    async with request.context.database.read(ANY_CLIENT) as tx:
        owner = await find_owner(tx, number)
    site = request.site_of(*owner) if owner else None
    return number if site is not None and site.baa_accepted else ""


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


def _number_filters(request: PageRequest, text: str) -> list[str]:
    return [text, text.upper()] if text != text.upper() else [text]


async def _find(request: PageRequest, sites: Sequence[Site], texts: list[str]) -> list[ClaimRow]:
    """Return the claims that the text names: by the vendor's id, the account, or the payer's number."""
    vault, found = request.context.vault, []
    for scope in vendor_scopes(sites):
        for text in texts:
            hashes = claim_search.vendor_claim_hashes(vault, scope.vendor, text)
            account = claim_search.account_key(vault, scope.vendor, text)
            number = claim_search.payer_number_key(vault, text)
            found += await _numbers(request, scope, {"vendor_claim_hashes": hashes})
            found += await _numbers(request, scope, {"account_key": account})
            found += await _numbers(request, scope, {"payer_number_key": number})
    return await _load(request, sites, found)


async def find_by_person(
    request: PageRequest,
    sites: Sequence[Site],
    text: str,
    *,
    months: int = SEARCH_MONTHS_MAX,
    action: str = "console.search",
) -> list[ClaimRow]:
    """Return the claims of some months whose member id this is, or whose patient has this name; the look is audited."""
    since = _months_ago(request.today, months)
    found: list[tuple[int, str]] = []
    if member := read_member(text):
        for site in sites:
            found += await _find_by_member(request, site, member, since)
    if found:
        return await _load(request, sites, found, action)
    return await _find_by_name(request, sites, text, since, action)


async def _find_by_member(
    request: PageRequest, site: Site, member: str, since: str
) -> list[tuple[int, str]]:
    key = claim_search.member_key(request.context.vault, site.vendor_id, member)
    async with request.context.database.read(site.scope) as tx:
        day = await first_member_day(tx, since)
    return await _numbers(request, site.scope, {"member_key": key, "created_day_from": day})


async def _find_by_name(
    request: PageRequest, sites: Sequence[Site], text: str, since: str, action: str
) -> list[ClaimRow]:
    name, born = read_name(text)
    start = name_start(name)
    if not start or (born is None and len(start) < NAME_START_LETTERS):
        return []
    found: list[tuple[int, str]] = []
    vault, wanted = request.context.vault, search_name(name)
    for scope in vendor_scopes(sites):
        where: dict[str, object] = {"name_key": claim_search.name_key(vault, scope.vendor, start)}
        if born:
            where = claim_search.patient_filters(vault, scope.vendor, name, born)
        found += await _numbers(request, scope, {**where, "created_day_from": since})
    rows = await _load(request, sites, found, action)
    return [row for row in rows if search_name(row.patient.partition(",")[0]).startswith(wanted)]


def read_member(text: str) -> str:
    """Return a text as member ids are compared; empty if it has no digit, as every member id has."""
    return search_name(text) if any(map(str.isdigit, text)) else ""


def _months_ago(today: date, months: int) -> str:
    """Return the first day of the month that many months before a day."""
    index = today.year * 12 + today.month - 1 - months
    return date(index // 12, index % 12 + 1, 1).isoformat()


def read_name(text: str) -> tuple[str, date | None]:
    """Return the last name in a text, and the birth date behind it, if there is one."""
    found = _NAME_AND_DAY.fullmatch(text)
    if found is None:
        return text.partition(",")[0], None
    born = read_day(found["day"])
    return (found["name"], born) if born else (text.partition(",")[0], None)


async def _numbers(
    request: PageRequest, scope: Scope | VendorScope, where: Mapping[str, object]
) -> list[tuple[int, str]]:
    query = ClaimQuery(where=where, listed=Listed.FINDABLE, limit=READ_CLAIMS_MAX)
    async with request.context.database.read(scope) as tx:
        page = await list_claims(tx, query, ClaimListRow)
    return [(one.site_id, one.claim_number) for one in page]


async def _load(
    request: PageRequest,
    sites: Sequence[Site],
    found: Sequence[tuple[int, str]],
    action: str = "console.search",
) -> list[ClaimRow]:
    rows: list[ClaimRow] = []
    for site in sites:
        numbers = list(dict.fromkeys(number for id, number in found if id == site.id))
        rows += await load_claim_rows(
            request.context.work_context,
            site,
            numbers,
            actor=request.actor,
            action=action,
        )
    return rows
