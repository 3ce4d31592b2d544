"""Connections: how each payer is reached and whether that works, the ones that are down first and open. For operators."""

from dataclasses import dataclass
from urllib.parse import quote

from starlette.responses import Response

from clearlane.console.frame import page_text
from clearlane.console.frame.list_page import list_page
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.kernel.clock import from_micros
from clearlane.pipeline.query.installation.route_states import (
    BROKEN,
    RouteCondition,
    RouteState,
    RouteTraffic,
    load_route_states,
    load_traffic,
)

pages = PageRows(roles=OPERATORS, menu="/payers")
NOTICES = {
    "paused": "Nothing is sent to this payer until you resume. Claims are accepted and wait.",
    "resumed": "Waiting claims go out now.",
    "tried": "The next try begins within seconds. Reload to see how it went.",
    "changed": "The route is changed. Files that are written already keep their name and addresses.",
    "added": "The connection works and is in use. Waiting claims go out with the next file.",
    "kept": "The connection is kept, and not in use. Test it and take it into use when the payer is ready.",
    "used": "The route is in use.",
    "stopped": "The route is not used any more. Its settings are kept.",
    "removed": "The route is removed, and its secrets are forgotten. Its files and its history stay.",
    "unchanged": "Nothing differs, so nothing was changed.",
}

ROUTES_PER_PAGE = 50
FAULTS_IN_TOP_LINE = 3

CONDITION_LABELS = {
    RouteCondition.DOWN: ("act", "Down"),
    RouteCondition.NO_ROUTE: ("act", "No route"),
    RouteCondition.IN_DOUBT: ("late", "Delivery in doubt"),
    RouteCondition.NOT_READ: ("act", "Mailbox not read"),
    RouteCondition.HELD: ("done", "Paused"),
    RouteCondition.FALLBACK: ("late", "Second route"),
    RouteCondition.WORKS: ("good", "Works"),
    RouteCondition.UNUSED: ("done", "Not in use"),
}
"""The kind and the words of the label, by condition."""

WHAT_TO_CHECK = {
    "folder": "Is the directory there, is its disk mounted and not full, and may the service write to it?",
    "sftp": "Does the payer's server answer on its port? Does it have another host key, or has our password or key there expired?",
    "core": "Does the payer's address answer, is its certificate valid, and has our password or certificate there expired?",
    "loopback": "This payer is simulated and set to be down. Sandbox, in the menu, lets it take files again.",
}
"""By kind of connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRowTexts:
    """One row of the list."""

    state: RouteState
    traffic: RouteTraffic
    label: tuple[str, str]
    path: str
    is_open: bool
    """Whether the error, what to check and the last tries are shown below the row."""
    check: str
    oldest: str
    """How long the oldest claim or file waits."""


@pages.page("/payers", notices=NOTICES)
async def show_connections(request: PageRequest) -> Response:
    """Show every payer that is reached, the ones that need attention first."""
    states = await load_states(request)
    page = list_page(request, "/payers", states, size=ROUTES_PER_PAGE)
    now = request.context.clock.now()
    traffic = await load_traffic(request.context.database, page.rows, now)
    return request.render(
        "connections.html",
        "Connections",
        sentence=top_sentence(request, states),
        is_fine=not any(state.condition in BROKEN for state in states),
        rows=[route_row(request, state, traffic[state.destination]) for state in page.rows],
        moment=request.stored_moment,
        page=page,
        sandbox=request.context.sandbox_control is not None,
    )


async def load_states(request: PageRequest) -> list[RouteState]:
    """Return every destination of the installation, the worst first."""
    access = request.context.work_context.payer_access
    return await load_route_states(request.context.database, access.connections(), access.payers())


def route_row(request: PageRequest, state: RouteState, traffic: RouteTraffic) -> RouteRowTexts:
    """Return the texts of one destination."""
    now = request.context.clock.now()
    oldest = state.waiting.oldest_at
    kinds = state.kinds or ("loopback",)
    return RouteRowTexts(
        state=state,
        traffic=traffic,
        label=CONDITION_LABELS[state.condition],
        path=route_path(state),
        is_open=state.condition in BROKEN,
        check=WHAT_TO_CHECK.get(kinds[0], ""),
        oldest=page_text.age((now - from_micros(oldest)).total_seconds()) if oldest else "",
    )


def route_path(state: RouteState) -> str:
    """Return the address of one destination."""
    return f"/payers/{state.type.lower()}/{quote(state.payer_id, safe='')}"


def top_sentence(request: PageRequest, states: list[RouteState]) -> str:
    """Return how it goes with all of them, in one sentence."""
    broken = [state for state in states if state.condition in BROKEN]
    if not states:
        return "No payer is connected yet."
    if not broken:
        return (
            f"All {page_text.count(len(states), 'route')} work."
            if len(states) > 1
            else "The route works."
        )
    first = [_trouble(request, state) for state in broken[:FAULTS_IN_TOP_LINE]]
    more = len(broken) - len(first)
    others = f"; and {more} more" if more else ""
    return f"{page_text.count(len(broken), 'route')} down: {'; '.join(first)}{others}."


def _trouble(request: PageRequest, state: RouteState) -> str:
    waiting = state.waiting
    since = waiting.failing_since
    parts = [state.name]
    if since:
        parts[0] += f" since {request.stored_moment(since)}"
    if waiting.claims:
        claims = page_text.count(waiting.claims, "claim")
        parts.append(f"{claims}, ${page_text.money(waiting.cents)} waiting")
    if waiting.next_try and state.condition is RouteCondition.DOWN:
        next_try = request.stored_moment(waiting.next_try)
        parts.append(f"next try {next_try}")
    return ", ".join(parts)
