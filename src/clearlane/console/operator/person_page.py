"""One person of the console: what they see, their sessions, and the change of their role and sites. For operators."""

from starlette.responses import Response

from clearlane.accounts.users import ConsoleUser
from clearlane.console.frame.act_question import UNDONE_BESIDE, ActQuestion, AskFirst
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.frame.path_number import path_number
from clearlane.console.operator.role_form import ROLE_WORDS, offered_sites, read_access, sees_words
from clearlane.pipeline.access import change_role
from clearlane.pipeline.access.sign_in import session_hash
from clearlane.store.accounts import console_credentials, console_users, recovery_codes
from clearlane.store.accounts.accounts import AccountRefused

pages = PageRows(roles=OPERATORS, menu="/people")

NOTICES = {
    "role": "The role is changed. Open sessions have the new rights from their next page on.",
    "ended": "All sessions of the person have ended.",
    "same": "Nothing was changed: the person has this role and these sites already.",
}
NOT_ONESELF = "You cannot change your own role. Another operator can."


@pages.page("/people/{id}", notices=NOTICES)
async def show_person(request: PageRequest) -> Response:
    """Show a person and the form for their role and sites."""
    return await _render(request, await _person(request))


@pages.act("/people/{id}/role", UNDONE_BESIDE)
async def set_role(request: PageRequest) -> Response:
    """Give a person another role, vendor and sites."""
    person, access = await _person(request), read_access(request)
    if person.id == request.signed_in_user.id:
        return await _render(request, person, fault=NOT_ONESELF, status=409)
    if isinstance(access, str):
        return await _render(request, person, fault=access, status=400)
    try:
        changed = await change_role.change_role(
            request.context.work_context, person.name, access, actor=request.actor
        )
    except AccountRefused as why:
        return await _render(request, person, fault=str(why), status=409)
    return request.redirect(f"/people/{person.id}", done="role" if changed else "same")


@pages.act(
    "/people/{id}/sessions",
    AskFirst(
        back="/people/{id}",
        question=ActQuestion(
            title="End all sessions of {subject}?",
            sentence="The person is signed out everywhere at once, and anything typed and not saved is lost. They can sign "
            "in again.",
            button="End all sessions",
        ),
    ),
)
async def end_sessions(request: PageRequest) -> Response:
    """End every session of a person; of oneself every other one."""
    person = await _person(request)
    own = person.id == request.signed_in_user.id
    keep = session_hash(request.context.vault, request.session) if own else b""
    await request.context.database.write(
        console_users.SCOPE,
        lambda tx: console_credentials.end_other_sessions(tx, person, keep),
        actor=request.actor,
    )
    return request.redirect(f"/people/{person.id}", done="ended")


async def _person(request: PageRequest) -> ConsoleUser:
    id = path_number(request, "id", "person")
    async with request.context.database.read(console_users.SCOPE) as tx:
        found = await console_users.find_user_by_id(tx, id)
    if found is None:
        raise NoSuchPage("There is no such person.")
    return found


async def _render(
    request: PageRequest, person: ConsoleUser, *, fault: str = "", status: int = 200
) -> Response:
    async with request.context.database.read(console_users.SCOPE) as tx:
        sessions = await console_credentials.list_sessions(tx, person, request.now)
        codes_left = await recovery_codes.count_codes(tx, person)
    vendors = request.context.accounts.vendors
    return request.render(
        "person.html",
        person.name,
        status,
        person=person,
        sees=sees_words(request, person),
        sessions=sessions,
        codes_left=codes_left,
        roles=ROLE_WORDS,
        groups=offered_sites(request),
        vendors=vendors,
        vendor=next((one.key for one in vendors if one.id == person.vendor_id), ""),
        fault=fault,
    )
