"""One payer's connection: its routes and their settings, thirty days, its files; test, pause, try now, change."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from clearlane.connect.connection_check import ConnectionCheck
from clearlane.connect.ssh_login import public_key_of
from clearlane.console.files.files_page import IN_LABELS, OUT_LABELS
from clearlane.console.frame import page_text
from clearlane.console.frame.act_question import (
    REPEATS_SAFELY,
    REVIEWED,
    SENDS_NOTHING,
    UNDONE_BESIDE,
    ActQuestion,
    AskFirst,
)
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.menu_counts import count_again
from clearlane.console.operator.connections_page import NOTICES, load_states, route_path, route_row
from clearlane.console.operator.route_settings import (
    KIND_NAMES,
    SettingTexts,
    other_faults,
    setting_text,
    setting_texts,
    stored_values,
    typed_settings,
)
from clearlane.kernel.finding import Finding
from clearlane.payers.enrolled_transactions import (
    ERA_SENTENCES,
    TRANSACTION_WORDS,
    enrolled_transactions,
)
from clearlane.payers.route_change import RouteEdit
from clearlane.payers.routes import (
    OPTIONS_BY_KIND,
    SECRET_NAMES,
    Route,
    RouteSecrets,
)
from clearlane.pipeline.operator import new_route, route_admin
from clearlane.pipeline.query.installation.route_states import (
    RouteDay,
    RouteState,
    count_open,
    list_files,
    load_days,
    load_traffic,
)
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.delivery import route_traffic
from clearlane.store.delivery.route_traffic import UNANSWERED_FILES_MAX
from clearlane.store.delivery.routes import (
    RouteHistoryEntry,
    count_waiting,
    load_route,
    route_history,
)

pages = PageRows(roles=OPERATORS, menu="/payers")

FILES_SHOWN = 10
HISTORY_SHOWN = 10


@dataclass(frozen=True, slots=True)
class RouteTexts:
    """One stored route with its settings."""

    route: Route
    settings: list[SettingTexts]
    """As they are stored."""
    form: list[SettingTexts]
    """As they were typed, if they could not be stored."""
    public_key: str
    """The public half of the key that it logs in with, if it has one without a passphrase."""
    history: list[RouteHistoryEntry]


@dataclass(frozen=True, slots=True)
class RouteFormAnswer:
    """What a test or a change of a route brought, to be shown beside it."""

    route_id: int
    checks: Sequence[ConnectionCheck] = ()
    findings: Sequence[Finding] = ()
    others: Sequence[str] = ()
    """The findings that are about no single setting."""

    @property
    def passed(self) -> bool:
        """Whether every step of the test passed."""
        return bool(self.checks) and all(one.passed for one in self.checks)


@pages.page("/payers/{type}/{payer}", notices=NOTICES)
async def show_connection(request: PageRequest) -> Response:
    """Show one payer's connection."""
    return await _render(request, await _state(request), None)


async def at_stake(request: PageRequest) -> list[str]:
    """Return what waits for the payer of the address, and what it has not answered, in sentences."""
    return [*await _waits(request, await _state(request))]


@pages.act(
    "/payers/{type}/{payer}/pause",
    AskFirst(
        back="/payers/{type}/{payer}",
        figures=at_stake,
        question=ActQuestion(
            title="Pause {subject}?",
            sentence="Nothing is sent to this payer until someone resumes it. Claims are accepted, and wait. "
            "Answers are still collected, and questions still asked.",
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
        others = other_faults(route.kind, done.findings)
        answer = RouteFormAnswer(route.id, done.failed_checks, done.findings, others)
        return await _render(request, state, answer, status=409)
    await request.context.refresh()
    return request.redirect(route_path(state), done="changed" if done.changes else "unchanged")


@pages.act("/payers/{type}/{payer}/use/{route}", UNDONE_BESIDE)
async def use(request: PageRequest) -> Response:
    """Take a route into use, if its connection works."""
    state = await _state(request)
    route = _stored(request, state)
    try:
        checks = await new_route.use(request.context.work_context, route.id, actor=request.actor)
    except OperationRefused as why:
        return request.message(409, "Not in use", str(why))
    answer = RouteFormAnswer(route.id, checks=checks)
    if not answer.passed:
        return await _render(request, state, answer, status=409)
    await request.context.refresh()
    return request.redirect(route_path(state), done="used")


@pages.page("/payers/{type}/{payer}/remove/{route}")
async def show_removal(request: PageRequest) -> Response:
    """Show what would stop if a route is no longer used, or removed."""
    state = await _state(request)
    route = _stored(request, state)
    files = await count_waiting(request.context.database, route.id)
    return request.render(
        "route_removal.html",
        f"Stop or remove route {route.id}",
        name=state.name,
        kind_name=KIND_NAMES[route.kind],
        route=route,
        path=route_path(state),
        stops=list(_stops(state, route, files)),
        figures=await _waits(request, state) if route.active else [],
    )


@pages.act("/payers/{type}/{payer}/stop/{route}", REVIEWED)
async def stop_using(request: PageRequest) -> Response:
    """Use a route no longer; it keeps its settings."""
    state = await _state(request)
    route = _stored(request, state)
    await new_route.stop_using(request.context.work_context, route.id, actor=request.actor)
    await request.context.refresh()
    return request.redirect(route_path(state), done="stopped")


@pages.act("/payers/{type}/{payer}/remove/{route}", REVIEWED)
async def remove(request: PageRequest) -> Response:
    """Remove a route for good."""
    state = await _state(request)
    route = _stored(request, state)
    await new_route.remove(request.context.work_context, route.id, actor=request.actor)
    await request.context.refresh()
    return request.redirect("/payers", done="removed")


def _stops(state: RouteState, route: Route, files: int) -> Iterator[str]:
    """Yield what stops without a route."""
    others = [
        one
        for one in state.stored
        if one.active and one.id != route.id and one.carries_files == route.carries_files
    ]
    if not route.active:
        yield "It is not in use, so nothing stops."
        return
    if not route.carries_files:
        asked = " and ".join(route.text("inquiries").split(","))
        yield f"The payer is no longer asked in real time over it ({asked})." + (
            f" Route {others[0].id} is asked instead." if others else ""
        )
        return
    yield "Files are no longer collected from its mailbox."
    waiting = page_text.count(files, "file")
    if others:
        yield f"Claims go over route {others[0].id} from now on" + (
            f", and {waiting} that wait{'s' if files == 1 else ''} for this one too."
            if files
            else "."
        )
        return
    yield f"{state.name} has no other route: claims to it are accepted, and wait until it has one."


async def _waits(request: PageRequest, state: RouteState) -> list[str]:
    """Return what waits for a payer now, and what it has and has not answered, in sentences; nothing is left out."""
    open = await count_open(
        request.context.database, state.destination, request.context.clock.now()
    )
    waiting = state.waiting
    most = "At least " if open.files == UNANSWERED_FILES_MAX else ""
    return [
        f"{page_text.count(waiting.claims, 'claim')}, ${page_text.money(waiting.cents)}: waiting to be sent.",
        f"{page_text.count(waiting.files, 'file')}: written, and not delivered.",
        f"{most}{page_text.count(open.files, 'file')}: delivered, and not answered.",
        f"{page_text.count(open.questions, 'question')}: asked, and not answered.",
    ]


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
    routes = [await _texts(request, route, answer) for route in state.stored]
    days = await load_days(database, state.destination, now, request.zone)
    return request.render(
        "connection.html",
        f"{state.name}, {'upstream clearinghouse' if state.hop else f'{state.type.lower()} claims'}",
        status,
        row=route_row(request, state, traffic),
        kind_names=KIND_NAMES,
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


async def _texts(request: PageRequest, route: Route, answer: RouteFormAnswer | None) -> RouteTexts:
    context = request.context
    stored = await load_route(context.database, context.vault, route.id)
    held, values = stored.secrets.filled(), stored_values(route)
    typed = typed_settings(request.form)
    findings = answer.findings if answer and answer.route_id == route.id else ()
    history = await route_history(context.database, route.id)
    return RouteTexts(
        route=route,
        settings=setting_texts(route.kind, values, held=held),
        form=setting_texts(route.kind, values | typed, held=held, findings=findings),
        public_key=public_key_of(stored.secrets.private_key or ""),
        history=history[-HISTORY_SHOWN:][::-1],
    )


def _edit(request: PageRequest, route: Route) -> RouteEdit:
    """Return what the form changes: an option that was emptied gets its default, an empty secret is kept."""
    given, unset, typed = [], [], typed_settings(request.form)
    for option in OPTIONS_BY_KIND[route.kind].values():
        if option.name not in typed:
            continue
        text = typed[option.name].strip()
        stored = setting_text(route.options.get(option.name))
        if text and text != stored:
            given.append((option.name, text))
        elif not text and stored:
            unset.append(option.name)
    secrets = {name: typed[name] for name in SECRET_NAMES if typed.get(name)}
    return RouteEdit(options=given, unset=unset, secrets=RouteSecrets(**secrets))
