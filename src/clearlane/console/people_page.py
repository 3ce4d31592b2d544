"""People: who uses the console, in which role and for which sites; invitations and resets. For operators.

An invitation and a reset are one-time addresses, shown once to the operator who hands them on.
"""

from starlette.responses import Response

from clearlane.accounts.users import ConsoleRole, ConsoleUser, UserState
from clearlane.console.page_request import PageRequest
from clearlane.kernel.ids import NO_VENDOR
from clearlane.pipeline.access import invitations
from clearlane.pipeline.access.invitations import Invitation
from clearlane.store import console_credentials
from clearlane.store import console_users as store
from clearlane.store.accounts import AccountRefused

ROLE_WORDS = {
    ConsoleRole.VIEWER: "reads the claims of some sites",
    ConsoleRole.BILLER: "works on the claims of some sites",
    ConsoleRole.SUPPORT: "works on all sites of one vendor",
    ConsoleRole.OPERATOR: "sees and does everything",
}
OF_SITES = frozenset({ConsoleRole.VIEWER, ConsoleRole.BILLER})
"""Roles that see some sites of one vendor."""

NOTICES = {
    "state": "The person is changed; open sessions have ended.",
    "sites": "The sites are changed.",
}


async def show_people(request: PageRequest) -> Response:
    """Show everybody who may use the console."""
    return await _render(request)


async def invite(request: PageRequest) -> Response:
    """Invite somebody, and show the one-time address once."""
    role = {one.value: one for one in ConsoleRole}.get(request.form.get("role"))
    chosen = [
        site for site in request.sites if site.vendor_site_id in request.form.get_all("sites")
    ]
    vendor = request.context.accounts.vendor(request.form.get("vendor"))
    faults = []
    if role is None:
        faults.append("Choose a role.")
    elif role is ConsoleRole.SUPPORT and vendor is None:
        faults.append("Choose the vendor whose sites the person supports.")
    elif role in OF_SITES and len({site.vendor_id for site in chosen}) != 1:
        faults.append("Choose one or more sites of one vendor.")
    if faults or role is None:
        return await _render(request, faults=faults, status=400)
    owner = NO_VENDOR
    if role is ConsoleRole.SUPPORT and vendor is not None:
        owner = vendor.id
    elif role is not ConsoleRole.OPERATOR:
        owner = chosen[0].vendor_id
    invitation = Invitation(
        name=request.form.get("name"),
        role=role,
        vendor=owner,
        sites=frozenset(site.id for site in chosen) if role in OF_SITES else None,
    )
    try:
        code = await invitations.invite(
            request.context.work_context, invitation, now=request.now, actor=request.actor
        )
    except AccountRefused as why:
        return await _render(request, faults=[one.message for one in why.findings], status=409)
    return await _render(request, address=_address(request, code), person=invitation.name)


async def reset(request: PageRequest) -> Response:
    """Reset somebody's password and second factor, and show the one-time address once."""
    name = request.form.get("name")
    try:
        code = await invitations.reset(
            request.context.work_context, name, now=request.now, actor=request.actor
        )
    except AccountRefused as why:
        return await _render(request, faults=[one.message for one in why.findings], status=409)
    return await _render(request, address=_address(request, code), person=name)


async def set_state(request: PageRequest) -> Response:
    """Let somebody sign in again, or not any more. Open sessions end."""
    state = UserState.ACTIVE if request.form.get("to") == "active" else UserState.DISABLED
    if request.form.get("name") == request.signed_in_user.name:
        return await _render(request, faults=["You cannot disable yourself."], status=409)
    try:
        await store.set_state(
            request.context.database, request.form.get("name"), state, actor=request.actor
        )
    except AccountRefused as why:
        return await _render(request, faults=[one.message for one in why.findings], status=409)
    return request.redirect("/people", done="state")


def _address(request: PageRequest, code: str) -> str:
    host = request.http_request.headers.get("host", "")
    return f"https://{host}{request.pages.root}/open/{code}?next=/me"


async def _render(
    request: PageRequest,
    *,
    faults: list[str] | None = None,
    address: str = "",
    person: str = "",
    status: int = 200,
) -> Response:
    async with request.context.database.read(store.SCOPE) as tx:
        sessions = await console_credentials.count_sessions(tx, request.now)
    people = await store.all_users(request.context.database)
    return request.render(
        "people.html",
        "People",
        status,
        people=[(one, _sees(request, one), sessions.get(one.id, 0)) for one in people],
        roles=ROLE_WORDS,
        all_of=request.sites,
        vendors=request.context.accounts.vendors,
        faults=faults or [],
        address=address,
        person=person,
        days=invitations.INVITATION_SECONDS_MAX // 86_400,
    )


def _sees(request: PageRequest, user: ConsoleUser) -> str:
    if user.role is ConsoleRole.OPERATOR:
        return "everything"
    vendors = {vendor.id: vendor.name for vendor in request.context.accounts.vendors}
    if user.sites is None:
        return f"all sites of {vendors.get(user.vendor_id, 'a vendor')}"
    names = [site.name for site in request.sites if site.id in user.sites]
    return ", ".join(sorted(names)) or "no site"
