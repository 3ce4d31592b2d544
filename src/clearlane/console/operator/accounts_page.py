"""Accounts: vendors, their credentials, their sites and the agreement of each. For operators.

A new password is shown once, on the answer to the form that made it, and never again.
"""

from collections.abc import Awaitable
from datetime import timedelta

from starlette.responses import Response

from clearlane.accounts.credentials import Credentials
from clearlane.accounts.model import Site, SiteState, Vendor, VendorState
from clearlane.console.frame.act_question import ADDS, UNDONE_BESIDE, ActQuestion, AskFirst
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.kernel.clock import time_zones
from clearlane.kernel.limits import OVERLAP_HOURS_MAX
from clearlane.store.accounts import accounts
from clearlane.store.accounts.accounts import AccountChange, AccountRefused, NewSite

US_ZONES = (
    "America/New_York", "America/Chicago", "America/Denver", "America/Phoenix", "America/Los_Angeles",
    "America/Anchorage", "Pacific/Honolulu", "America/Puerto_Rico", "UTC",
)  # fmt: skip
"""Zones that are offered; any other of IANA may be typed."""

pages = PageRows(roles=OPERATORS, menu="/accounts")

SWITCH = {"on": True, "off": False}

NOTICES = {
    "site": "The site is added.",
    "vendor": "The vendor is changed.",
    "changed": "The site is changed.",
    "corrections-on": "The site's claims may be corrected in the console.",
    "corrections-off": "The site's claims are corrected in its practice software alone.",
}


@pages.page("/accounts", notices=NOTICES)
async def show_accounts(request: PageRequest) -> Response:
    """Show every vendor with its sites."""
    return _render(request)


@pages.act("/accounts/vendor", ADDS)
async def add_vendor(request: PageRequest) -> Response:
    """Add a vendor, and show its password once."""
    return await _with_secret(
        request,
        accounts.add_vendor(
            request.context.database,
            pepper=request.context.vault.pepper,
            key=request.form.get("key").strip(),
            name=request.form.get("name").strip(),
            now=request.now,
            actor=request.actor,
        ),
    )


@pages.act(
    "/accounts/rotate",
    AskFirst(
        back="/accounts",
        question=ActQuestion(
            title="Make a new password for {subject}?",
            sentence="The new password is shown once. The old ones are refused after {hours} hours: calls that still use "
            "them fail from then on. With 0 hours that is at once.",
            button="Make a new password",
        ),
    ),
)
async def rotate_secret(request: PageRequest) -> Response:
    """Give a vendor a new password; the old ones are accepted for some hours more, or not at all."""
    hours = read_number(request.form.get("hours") or "0")
    if hours is None or hours > OVERLAP_HOURS_MAX:
        sentence = f"The old password may be accepted for 0 to {OVERLAP_HOURS_MAX} hours more."
        return _render(request, faults=[sentence], status=400)
    return await _with_secret(
        request,
        accounts.rotate_secret(
            request.context.database,
            pepper=request.context.vault.pepper,
            key=request.form.get("key"),
            overlap=timedelta(hours=hours),
            now=request.now,
            actor=request.actor,
        ),
    )


@pages.act(
    "/accounts/vendor-state",
    AskFirst(
        back="/accounts",
        by="to",
        unasked=frozenset(),
        questions={
            "disabled": ActQuestion(
                title="Revoke all credentials of {subject}?",
                sentence="Every call of this vendor is refused from now on: it cannot send claims or fetch payments. Its "
                "claims are kept, and payers go on with what was sent. The credentials can be accepted again.",
                button="Revoke all credentials",
            ),
            "active": ActQuestion(
                title="Accept the credentials of {subject} again?",
                sentence="Its live passwords work again at once, for all its sites. If one of them leaked, make a new one "
                "first.",
                button="Accept them again",
            ),
        },
    ),
)
async def set_vendor_state(request: PageRequest) -> Response:
    """Accept a vendor's credentials again, or revoke them all."""
    wanted = VendorState.ACTIVE if request.form.get("to") == "active" else VendorState.DISABLED
    return await _changed(
        request,
        accounts.set_vendor_state(
            request.context.database, request.form.get("key"), wanted, actor=request.actor
        ),
        "vendor",
    )


@pages.act("/accounts/site", ADDS)
async def add_site(request: PageRequest) -> Response:
    """Add a site of a vendor."""
    new = NewSite(
        vendor_key=request.form.get("key"),
        vendor_site_id=request.form.get("id").strip(),
        name=request.form.get("name").strip(),
        time_zone=request.form.get("zone").strip(),
        baa_accepted=request.form.get("baa") == "yes",
    )
    added = accounts.add_site(request.context.database, new, now=request.now, actor=request.actor)
    try:
        await added
    except AccountRefused as why:
        return _render(request, faults=why.messages, status=409, refused_site=new)
    await request.context.refresh()
    return request.redirect("/accounts", done="site")


@pages.act(
    "/accounts/site-state",
    AskFirst(
        back="/accounts",
        by="to",
        unasked=frozenset({"active"}),
        questions={
            "suspended": ActQuestion(
                title="Suspend {subject}?",
                sentence="New claims, eligibility inquiries and enrollments of this site are refused from now on. Claims "
                "that are on their way go on. The site can be activated again.",
                button="Suspend the site",
            )
        },
    ),
)
async def set_site_state(request: PageRequest) -> Response:
    """Suspend a site, or let it submit again."""
    wanted = SiteState.ACTIVE if request.form.get("to") == "active" else SiteState.SUSPENDED
    return await _changed(
        request,
        accounts.set_site_state(
            request.context.database, request.form.get("id"), wanted, actor=request.actor
        ),
        "changed",
    )


@pages.act(
    "/accounts/baa",
    AskFirst(
        back="/accounts",
        by="to",
        unasked=frozenset(),
        questions={
            "revoked": ActQuestion(
                title="Revoke the agreement of {subject}?",
                sentence="Without the Business Associate Agreement its claims and inquiries are refused, and the console shows its claims "
                "and payments to no one. The agreement can be recorded again.",
                button="Revoke the agreement",
            ),
            "accepted": ActQuestion(
                title="Record the agreement of {subject}?",
                sentence="You state that the client has accepted the Business Associate Agreement. From now on its patient "
                "data is taken and sent to payers. The audit trail names you.",
                button="The client has accepted it",
            ),
        },
    ),
)
async def set_baa(request: PageRequest) -> Response:
    """Record that a client accepted the agreement, or no longer does."""
    database, id = request.context.database, request.form.get("id")
    change = (
        accounts.accept_baa(database, id, now=request.now, actor=request.actor)
        if request.form.get("to") == "accepted"
        else accounts.revoke_baa(database, id, actor=request.actor)
    )
    return await _changed(request, change, "changed")


@pages.act("/accounts/corrections", UNDONE_BESIDE)
async def set_corrections(request: PageRequest) -> Response:
    """Allow people to correct a site's claims in the console, or leave that to its software alone."""
    wanted = request.form.get("to")
    if wanted not in SWITCH:
        sentence = "Corrections in the console of a site are switched on or off."
        return _render(request, faults=[sentence], status=400)
    return await _changed(
        request,
        accounts.set_site_switch(
            request.context.database,
            request.form.get("id"),
            accounts.SiteSwitch.CORRECTIONS,
            on=SWITCH[wanted],
            now=request.context.clock.now(),
            actor=request.actor,
        ),
        f"corrections-{wanted}",
    )


async def _with_secret(request: PageRequest, change: Awaitable[AccountChange]) -> Response:
    try:
        done = await change
    except AccountRefused as why:
        return _render(request, faults=why.messages, status=409)
    await request.context.refresh()
    return _render(request, credentials=done.credentials)


async def _changed(request: PageRequest, change: Awaitable[object], notice: str) -> Response:
    try:
        await change
    except AccountRefused as why:
        return _render(request, faults=why.messages, status=409)
    await request.context.refresh()
    return request.redirect("/accounts", done=notice)


def _render(
    request: PageRequest,
    *,
    credentials: Credentials | None = None,
    faults: list[str] | None = None,
    status: int = 200,
    refused_site: NewSite | None = None,
) -> Response:
    directory = request.context.accounts
    return request.render(
        "accounts.html",
        "Accounts",
        status,
        vendors=[_vendor(request, vendor) for vendor in directory.vendors],
        credentials=credentials,
        faults=faults or [],
        refused_site=refused_site,
        hours_max=OVERLAP_HOURS_MAX,
        zones=[name for name in US_ZONES if name in time_zones()],
    )


def _vendor(request: PageRequest, vendor: Vendor) -> tuple[Vendor, list[Site], int, int]:
    """Return a vendor, its sites by name, how many passwords are live, and how many API keys it has."""
    directory = request.context.accounts
    sites = [site for site in directory.sites if site.vendor_id == vendor.id]
    live = directory.live_passwords(vendor, request.now)
    by_name = sorted(sites, key=lambda site: site.name.casefold())
    return vendor, by_name, len(live), len(directory.keys_of(vendor))
