"""API keys of a vendor: what each may do, when it was last used; made, rotated and ended. For operators.

A new key is shown once, on the answer to the form that made it.
"""

from collections.abc import Awaitable
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

from starlette.responses import Response

from clearlane.accounts.api_keys import SCOPE_MEANINGS, ApiKey, KeyState
from clearlane.accounts.model import Vendor
from clearlane.console.frame.act_question import ADDS, ActQuestion, AskFirst
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.console.operator.webhooks_page import find_vendor
from clearlane.kernel.formats import read_typed_day
from clearlane.kernel.limits import OVERLAP_HOURS_MAX
from clearlane.store.accounts.accounts import AccountRefused
from clearlane.store.accounts.api_keys import (
    IssuedKey,
    NewApiKey,
    add_api_key,
    last_key_uses,
    remove_api_key,
    rotate_api_key,
    set_api_key_state,
)

pages = PageRows(roles=OPERATORS, menu="/accounts")

LIST = "/accounts/{vendor}/api-keys"
NOTICES = {
    "disabled": "The key is disabled: calls with it are refused.",
    "active": "The key is accepted again.",
    "removed": "The key is removed.",
}
NO_DAY = "Last day: give a day such as 2027-06-30, or leave it empty for none."


class KeyLine(NamedTuple):
    """A key as the page shows it."""

    id: str
    name: str
    label: tuple[str, str]
    is_active: bool
    scopes: str
    sites: str
    expires: str
    used: str


@pages.page(LIST, notices=NOTICES)
async def show_api_keys(request: PageRequest) -> Response:
    """Show a vendor's keys and the form for another."""
    return await _render(request, find_vendor(request))


@pages.act(LIST, ADDS)
async def add_key(request: PageRequest) -> Response:
    """Add a key, and show it once."""
    vendor, form = find_vendor(request), request.form
    typed = form.get("expires").strip()
    day = read_typed_day(typed)
    if typed and day is None:
        return await _render(request, vendor, faults=[NO_DAY], status=400)
    new = NewApiKey(
        vendor_key=vendor.key,
        name=form.get("name"),
        scopes=form.get_all("scopes"),
        sites=form.get_all("sites"),
        expires_at=datetime.combine(day + timedelta(days=1), time(), UTC) if day else None,
    )
    issued = add_api_key(
        request.context.database,
        new,
        pepper=request.context.vault.pepper,
        now=request.now,
        actor=request.actor,
    )
    return await _shown_once(request, vendor, issued)


@pages.act(
    f"{LIST}/{{key}}/rotate",
    AskFirst(
        back=LIST,
        question=ActQuestion(
            title="Make a new secret for {subject}?",
            sentence="The new key is shown once. The old one is refused after {hours} hours: calls that still use it fail "
            "from then on. With 0 hours that is at once.",
            button="Make a new secret",
        ),
    ),
)
async def rotate_key(request: PageRequest) -> Response:
    """Give a key a new secret; the old one is accepted for some hours more, or not at all."""
    vendor, key = find_vendor(request), _find_key(request)
    hours = read_number(request.form.get("hours") or "0")
    if hours is None or hours > OVERLAP_HOURS_MAX:
        sentence = f"The old key may be accepted for 0 to {OVERLAP_HOURS_MAX} hours more."
        return await _render(request, vendor, faults=[sentence], status=400)
    issued = rotate_api_key(
        request.context.database,
        key.id,
        pepper=request.context.vault.pepper,
        overlap=timedelta(hours=hours),
        now=request.now,
        actor=request.actor,
    )
    return await _shown_once(request, vendor, issued)


@pages.act(
    f"{LIST}/{{key}}/state",
    AskFirst(
        back=LIST,
        by="to",
        unasked=frozenset({"active"}),
        questions={
            "disabled": ActQuestion(
                title="Disable {subject}?",
                sentence="Every call with this key is refused from now on. It can be accepted again.",
                button="Disable the key",
            )
        },
    ),
)
async def set_key_state(request: PageRequest) -> Response:
    """Disable a key, or accept it again."""
    wanted = KeyState.ACTIVE if request.form.get("to") == "active" else KeyState.DISABLED
    key = _find_key(request)
    change = set_api_key_state(request.context.database, key.id, wanted, actor=request.actor)
    return await _changed(request, change, wanted)


@pages.act(
    f"{LIST}/{{key}}/remove",
    AskFirst(
        back=LIST,
        question=ActQuestion(
            title="Remove {subject}?",
            sentence="Every call with this key is refused from now on. This cannot be undone; the audit trail keeps what the "
            "key was for.",
            button="Remove the key",
        ),
    ),
)
async def remove_key(request: PageRequest) -> Response:
    """Remove a key for good."""
    change = remove_api_key(request.context.database, _find_key(request).id, actor=request.actor)
    return await _changed(request, change, "removed")


def _find_key(request: PageRequest) -> ApiKey:
    """Return the vendor's key that the address names; one of another vendor is not there."""
    vendor = find_vendor(request)
    key = request.context.accounts.api_key(request.parts["key"])
    if key is None or key.vendor_id != vendor.id:
        raise NoSuchPage("The vendor has no such API key.")
    return key


async def _shown_once(
    request: PageRequest, vendor: Vendor, issue: Awaitable[IssuedKey]
) -> Response:
    try:
        issued = await issue
    except AccountRefused as why:
        return await _render(request, vendor, faults=why.messages, status=409)
    await request.context.refresh()
    return await _render(request, vendor, issued=issued.api_key)


async def _changed(request: PageRequest, change: Awaitable[object], notice: str) -> Response:
    vendor = find_vendor(request)
    try:
        await change
    except AccountRefused as why:
        return await _render(request, vendor, faults=why.messages, status=409)
    await request.context.refresh()
    return request.redirect(LIST.format(vendor=vendor.key), done=notice)


async def _render(
    request: PageRequest,
    vendor: Vendor,
    *,
    issued: str = "",
    faults: list[str] | None = None,
    status: int = 200,
) -> Response:
    accounts = request.context.accounts
    uses = await last_key_uses(request.context.database)
    return request.render(
        "api_keys.html",
        f"API keys of {vendor.name}",
        status,
        vendor=vendor,
        path=LIST.format(vendor=vendor.key),
        keys=[_line(request, vendor, key, uses.get(key.id)) for key in accounts.keys_of(vendor)],
        scopes=SCOPE_MEANINGS,
        offered=accounts.sites_of(vendor),
        issued=issued,
        faults=faults or [],
    )


def _line(request: PageRequest, vendor: Vendor, key: ApiKey, used: datetime | None) -> KeyLine:
    is_active = key.state is KeyState.ACTIVE
    label = ("good", "Active") if key.is_live(request.now) else ("done", "Disabled")
    if is_active and not key.is_live(request.now):
        label = ("act", "Expired")
    names = [site.name for site in request.context.accounts.sites_of(vendor) if key.may_use(site)]
    return KeyLine(
        key.id,
        key.name,
        label,
        is_active,
        ", ".join(sorted(key.scopes)),
        "all sites" if key.sites is None else ", ".join(names),
        request.moment(key.expires_at) if key.expires_at else "never",
        request.moment(used) if used else "never",
    )
