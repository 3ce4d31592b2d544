"""People: who uses the console, in which role and for which sites; invitations and resets. For operators.

An invitation and a reset are one-time addresses, shown once to the operator who hands them on.
"""

from collections.abc import Awaitable

from starlette.responses import Response

from clearlane.accounts.users import UserState
from clearlane.console.frame.act_question import ADDS, ActQuestion, AskFirst
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.operator.role_form import ROLE_WORDS, offered_sites, read_access, sees_words
from clearlane.pipeline.access import invitations
from clearlane.pipeline.access.invitations import Invitation
from clearlane.store.accounts import console_credentials, console_users
from clearlane.store.accounts.accounts import AccountRefused

pages = PageRows(roles=OPERATORS, menu="/people")

NOTICES = {
    "state": "The person is changed; open sessions have ended.",
}


@pages.page("/people", notices=NOTICES)
async def show_people(request: PageRequest) -> Response:
    """Show everyone who may use the console."""
    return await _render(request)


@pages.act("/people/invite", ADDS)
async def invite(request: PageRequest) -> Response:
    """Invite a person, and show the one-time address once."""
    access = read_access(request)
    if isinstance(access, str):
        return await _render(request, faults=[access], status=400)
    invitation = Invitation(name=request.form.get("name"), access=access)
    code = invitations.invite(
        request.context.work_context, invitation, now=request.now, actor=request.actor
    )
    return await _show_address(request, invitation.name, code)


@pages.act(
    "/people/reset",
    AskFirst(
        back="/people",
        question=ActQuestion(
            title="Reset the sign-in of {subject}?",
            sentence="The password, second factor and recovery codes of {subject} stop working, and all open sessions end. "
            "You get a one-time address to hand over.",
            button="Reset the sign-in",
        ),
    ),
)
async def reset(request: PageRequest) -> Response:
    """Reset a user's password and second factor, and show the one-time address once."""
    name = request.form.get("name")
    code = invitations.reset(
        request.context.work_context, name, now=request.now, actor=request.actor
    )
    return await _show_address(request, name, code)


@pages.act(
    "/people/state",
    AskFirst(
        back="/people",
        by="to",
        unasked=frozenset({"active"}),
        questions={
            "disabled": ActQuestion(
                title="Disable {subject}?",
                sentence="{subject} cannot sign in any more, and all open sessions end now. Anything typed and not saved is "
                "lost. The person can be enabled again.",
                button="Disable",
            )
        },
    ),
)
async def set_state(request: PageRequest) -> Response:
    """Let a user sign in again, or not any more. Open sessions end."""
    state = UserState.ACTIVE if request.form.get("to") == "active" else UserState.DISABLED
    if request.form.get("name") == request.signed_in_user.name:
        return await _render(request, faults=["You cannot disable yourself."], status=409)
    try:
        await console_users.set_state(
            request.context.database, request.form.get("name"), state, actor=request.actor
        )
    except AccountRefused as why:
        return await _render(request, faults=why.messages, status=409)
    return request.redirect("/people", done="state")


async def _show_address(request: PageRequest, name: str, made: Awaitable[str]) -> Response:
    """Show the one-time address of a person once, or why there is none."""
    try:
        code = await made
    except AccountRefused as why:
        return await _render(request, faults=why.messages, status=409)
    host = request.http_request.headers.get("host", "")
    address = f"https://{host}{request.pages.root}/open/{code}?next=/me"
    return await _render(request, address=address, person=name)


async def _render(
    request: PageRequest,
    *,
    faults: list[str] | None = None,
    address: str = "",
    person: str = "",
    status: int = 200,
) -> Response:
    async with request.context.database.read(console_users.SCOPE) as tx:
        sessions = await console_credentials.count_sessions(tx, request.now)
    people = await console_users.all_users(request.context.database)
    return request.render(
        "people.html",
        "People",
        status,
        people=[(one, sees_words(request, one), sessions.get(one.id, 0)) for one in people],
        roles=ROLE_WORDS,
        groups=offered_sites(request),
        vendors=request.context.accounts.vendors,
        faults=faults or [],
        address=address,
        person=person,
        days=invitations.INVITATION_SECONDS_MAX // 86_400,
    )
