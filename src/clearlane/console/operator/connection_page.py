"""One payer's connection: its routes and their settings, thirty days, its files; test, pause, try now, change."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from clearlane.connect.connection_check import ConnectionCheck
from clearlane.console.files.files_page import IN_LABELS, OUT_LABELS
from clearlane.console.frame import page_text
from clearlane.console.frame.act_question import (
    REPEATS_SAFELY,
    SENDS_NOTHING,
    UNDONE_BESIDE,
    ActQuestion,
    AskFirst,
)
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.menu_counts import count_again
from clearlane.console.operator.connections_page import NOTICES, load_states, route_path, route_row
from clearlane.kernel.finding import Finding
from clearlane.payers.enrolled_transactions import (
    ERA_SENTENCES,
    TRANSACTION_WORDS,
    enrolled_transactions,
)
from clearlane.payers.route_change import RouteEdit
from clearlane.payers.routes import (
    KIND_SECRETS,
    OPTIONS_BY_KIND,
    SECRET_NAMES,
    Route,
    RouteSecrets,
)
from clearlane.pipeline.operator import route_admin
from clearlane.pipeline.query.route_states import (
    RouteDay,
    RouteState,
    list_files,
    load_days,
    load_traffic,
)
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.delivery import route_traffic
from clearlane.store.delivery.routes import RouteHistoryEntry, route_history

pages = PageRows(roles=OPERATORS, menu="/payers")

FILES_SHOWN = 10
HISTORY_SHOWN = 10


@dataclass(frozen=True, slots=True)
class SettingTexts:
    """One setting of a route."""

    name: str
    description: str
    value: str
    """As it is stored; empty for the default."""
    default: str
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class RouteTexts:
    """One stored route with its settings."""

    route: Route
    settings: list[SettingTexts]
    history: list[RouteHistoryEntry]


@dataclass(frozen=True, slots=True)
class RouteFormAnswer:
    """What a test or a change of a route brought, to be shown beside it."""

    route_id: int
    checks: Sequence[ConnectionCheck] = ()
    findings: Sequence[Finding] = ()

    @property
    def passed(self) -> bool:
        """Whether every step of the test passed."""
        return bool(self.checks) and all(one.passed for one in self.checks)


@pages.page("/payers/{type}/{payer}", notices=NOTICES)
async def show_connection(request: PageRequest) -> Response:
    """Show one payer's connection."""
    return await _render(request, await _state(request), None)


@pages.act(
    "/payers/{type}/{payer}/pause",
    AskFirst(
        back="/payers/{type}/{payer}",
        question=ActQuestion(
            title="Pause {subject}?",
            sentence="Nothing is sent to this payer until someone resumes it. Claims are accepted, and wait.",
            button="Pause",
        ),
    ),
)
async def pause(request: PageRequest) -> Response:
    """Pause a payer: what is accepted waits."""
    return await _act(request, route_admin.pause, "paused")


@pages.act(
    "/payers/{type}/{payer}/resume",
    AskFirst(
        back="/payers/{type}/{payer}",
        question=ActQuestion(
            title="Resume {subject}?",
            sentence="Everything that waits for this payer goes out now. Claims that a payer has cannot be taken back.",
            button="Resume",
        ),
    ),
)
async def resume(request: PageRequest) -> Response:
    """End a pause."""
    return await _act(request, route_admin.resume, "resumed")


@pages.act("/payers/{type}/{payer}/try", REPEATS_SAFELY)
async def try_now(request: PageRequest) -> Response:
    """Let the next try begin now."""
    return await _act(request, route_admin.try_now, "tried")


@pages.act("/payers/{type}/{payer}/test/{route}", SENDS_NOTHING)
async def check(request: PageRequest) -> Response:
    """Test the connection of one stored route, and show each step."""
    state = await _state(request)
    route = _stored(request, state)
    checks = await route_admin.check_connection(
        request.context.work_context, route.id, actor=request.actor
    )
    return await _render(request, state, RouteFormAnswer(route.id, checks=checks))


@pages.act("/payers/{type}/{payer}/change/{route}", UNDONE_BESIDE)
async def change(request: PageRequest) -> Response:
    """Change the settings of one stored route; what concerns the connection is tested first."""
    state = await _state(request)
    route = _stored(request, state)
    try:
        done = await route_admin.change(
            request.context.work_context, route.id, _edit(request, route), actor=request.actor
        )
    except OperationRefused as why:
        return request.message(409, "Not changed", str(why))
    if not done.is_stored:
        answer = RouteFormAnswer(route.id, done.failed_checks, done.findings)
        return await _render(request, state, answer, status=409)
    return request.redirect(route_path(state), done="changed" if done.changes else "unchanged")


async def _act(
    request: PageRequest,
    verb: Callable[..., Awaitable[object]],
    notice: str,
) -> Response:
    state = await _state(request)
    actor: Actor = request.actor
    await verb(request.context.work_context, state.destination, actor=actor)
    await count_again(request)
    if request.form.get("back") == "list":
        return request.redirect("/payers", done=notice)
    return request.redirect(route_path(state), done=notice)


async def _state(request: PageRequest) -> RouteState:
    wanted = (request.parts["type"].capitalize(), request.parts["payer"])
    found = [state for state in await load_states(request) if state.destination == wanted]
    if not found:
        raise NoSuchPage("There is no such payer among the connections.")
    return found[0]


def _stored(request: PageRequest, state: RouteState) -> Route:
    found = [route for route in state.stored if str(route.id) == request.parts["route"]]
    if not found:
        raise NoSuchPage("There is no such route.")
    return found[0]


async def _render(
    request: PageRequest, state: RouteState, answer: RouteFormAnswer | None, status: int = 200
) -> Response:
    database, now = request.context.database, request.context.clock.now()
    traffic = (await load_traffic(database, [state], now))[state.destination]
    async with database.read(route_traffic.SCOPE) as tx:
        sent, received = await list_files(tx, state.destination, FILES_SHOWN)
    routes = [_texts(route, await route_history(database, route.id)) for route in state.stored]
    days = await load_days(database, state.destination, now, request.zone)
    return request.render(
        "connection.html",
        f"{state.name}, {'upstream clearinghouse' if state.hop else f'{state.type.lower()} claims'}",
        status,
        row=route_row(request, state, traffic),
        path=route_path(state),
        days=[(day, *day_square(day)) for day in days],
        routes=routes,
        sent=sent,
        received=received,
        served_names=_served_names(request, state),
        enrolled=_enrollment_words(request, state),
        in_labels=IN_LABELS,
        out_labels=OUT_LABELS,
        answer=answer,
        typed={name: request.form.get(name) for name in request.form.names()},
        moment=request.stored_moment,
        sandbox=request.context.sandbox_control is not None,
    )


def _enrollment_words(request: PageRequest, state: RouteState) -> list[str]:
    """Return why there may be no ERA of a payer, and for what it requires enrollment; empty for a hop."""
    payer = request.context.payers.find(state.payer_id, state.type)
    if payer is None:
        return []
    words = [TRANSACTION_WORDS[one] for one in enrolled_transactions(payer)]
    wanted = f"Providers are enrolled with it for: {', '.join(words)}." if words else ""
    return [one for one in (ERA_SENTENCES[payer.era_availability], wanted) if one]


def _served_names(request: PageRequest, state: RouteState) -> dict[tuple[str, str], str]:
    """Return the names of the payers that a hop serves."""
    find = request.context.payers.find
    return {
        one.key: payer.name if (payer := find(one.payer_id, one.type)) else ""
        for one in (state.hop.served if state.hop else ())
    }


def day_square(day: RouteDay) -> tuple[str, str]:
    """Return the color and the words of one day."""
    files = f"{page_text.count(day.out, 'file')} out, {day.received} in"
    if day.failures and not day.out:
        return "act", f"{page_text.count(day.failures, 'failed try', 'failed tries')}, {files}"
    if day.failures:
        return (
            "late",
            f"{page_text.count(day.failures, 'failed try', 'failed tries')}, then {files}",
        )
    if day.out or day.received:
        return "good", files
    return "done", "no files"


def _texts(route: Route, history: list[RouteHistoryEntry]) -> RouteTexts:
    settings = [
        SettingTexts(
            option.name,
            option.description,
            _text(route.options.get(option.name)),
            _text(option.default),
        )
        for option in OPTIONS_BY_KIND[route.kind].values()
    ]
    settings += [
        SettingTexts(name, "A secret; leave it empty to keep it.", "", "", is_secret=True)
        for name in SECRET_NAMES
        if name in KIND_SECRETS[route.kind]
    ]
    return RouteTexts(route, settings, history[-HISTORY_SHOWN:][::-1])


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _edit(request: PageRequest, route: Route) -> RouteEdit:
    """Return what the form changes: an option that was emptied gets its default, an empty secret is kept."""
    given, unset = [], []
    for option in OPTIONS_BY_KIND[route.kind].values():
        if option.name not in request.form.names():
            continue
        text = request.form.get(option.name).strip()
        stored = _text(route.options.get(option.name))
        if text and text != stored:
            given.append((option.name, text))
        elif not text and stored:
            unset.append(option.name)
    secrets = {name: request.form.get(name) for name in SECRET_NAMES if request.form.get(name)}
    return RouteEdit(options=given, unset=unset, secrets=RouteSecrets(**secrets))
