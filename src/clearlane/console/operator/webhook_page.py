"""One webhook endpoint: its state, the log of deliveries, and what an operator does about it.

A new secret is shown once, on the answer to the form that made it.
"""

from collections.abc import Awaitable
from typing import NamedTuple, TypeVar

from starlette.responses import Response

from clearlane.console.frame.act_question import (
    REPEATS_SAFELY,
    SENDS_NOTHING,
    UNDONE_BESIDE,
    ActQuestion,
    AskFirst,
)
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import OPERATORS, PageRows
from clearlane.console.frame.path_number import read_number
from clearlane.console.operator.webhooks_page import endpoint_line, find_vendor
from clearlane.events.event import format_event_id, parse_event_id
from clearlane.kernel.ids import VendorId
from clearlane.pipeline.notify import webhook_endpoints
from clearlane.pipeline.notify.webhook_endpoints import NoSuchEndpoint
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.events.webhooks import DELIVERED, FAILED, WAITING, DeliveryRow

pages = PageRows(roles=OPERATORS, menu="/accounts")

DELIVERIES_SHOWN = 50
ANSWER_CHARACTERS_SHOWN = 200
NOTICES = {
    "ping": "A ping is on its way. Its delivery is the first row below in a moment.",
    "resent": "The event is sent again now.",
    "disabled": "The endpoint is disabled: nothing is sent to it. The vendor gets an event about it.",
    "enabled": "The endpoint is enabled.",
}
LABELS = {
    WAITING: ("wait", "Waiting"),
    DELIVERED: ("good", "Delivered"),
    FAILED: ("act", "Failed"),
}
AGAIN = ("late", "Trying again")
T = TypeVar("T")


class DeliveryLine(NamedTuple):
    """One delivery as the page shows it."""

    event_id: str
    type: str
    label: tuple[str, str]
    attempts: int
    last: str
    next: str
    answer: str
    """The status and the beginning of the last answer, or why there was none."""


@pages.page("/accounts/{vendor}/webhooks/{endpoint}", notices=NOTICES)
async def show_webhook(request: PageRequest) -> Response:
    """Show an endpoint and its log, the newest events first."""
    return await _render(request)


@pages.act("/accounts/{vendor}/webhooks/{endpoint}/ping", SENDS_NOTHING)
async def ping(request: PageRequest) -> Response:
    """Send an event that means nothing, to see whether it arrives."""
    await _found(webhook_endpoints.ping_endpoint(*_named(request), actor=request.actor))
    return _done(request, "ping")


@pages.act(
    "/accounts/{vendor}/webhooks/{endpoint}/rotate",
    AskFirst(
        back="/accounts/{vendor}/webhooks/{endpoint}",
        question=ActQuestion(
            title="Make a new secret?",
            sentence="The new secret is shown once and signs from now on; for a day the old one signs as well. "
            "After that day {subject} refuses events unless it knows the new one.",
            button="Make a new secret",
        ),
    ),
)
async def rotate(request: PageRequest) -> Response:
    """Give the endpoint a new secret, and show it once."""
    rotated = await _found(
        webhook_endpoints.rotate_secret(*_named(request), actor=request.actor, now=request.now)
    )
    return await _render(request, secret=rotated.content.secrets[0].secret)


@pages.act(
    "/accounts/{vendor}/webhooks/{endpoint}/disable",
    AskFirst(
        back="/accounts/{vendor}/webhooks/{endpoint}",
        question=ActQuestion(
            title="Disable this endpoint?",
            sentence="Nothing is sent to {subject} until it is enabled again. The vendor gets an event about it and "
            "can read its events from the feed.",
            button="Disable it",
        ),
    ),
)
async def disable(request: PageRequest) -> Response:
    """Send nothing more to the endpoint."""
    await _found(
        webhook_endpoints.disable_endpoint(*_named(request), actor=request.actor, now=request.now)
    )
    return _done(request, "disabled")


@pages.act("/accounts/{vendor}/webhooks/{endpoint}/enable", UNDONE_BESIDE)
async def enable(request: PageRequest) -> Response:
    """Send to the endpoint again, on demand also what it missed."""
    replay = request.form.get("replay") == "yes"
    await _found(
        webhook_endpoints.enable_endpoint(*_named(request), replay=replay, actor=request.actor)
    )
    return _done(request, "enabled")


@pages.act("/accounts/{vendor}/webhooks/{endpoint}/resend/{event}", REPEATS_SAFELY)
async def resend(request: PageRequest) -> Response:
    """Send one event again."""
    event_id = parse_event_id(request.parts["event"])
    if event_id is None:
        raise NoSuchPage("There is no such delivery.")
    named = _named(request)
    await _found(webhook_endpoints.resend(*named, event_id, actor=request.actor, now=request.now))
    return _done(request, "resent")


def _named(request: PageRequest) -> tuple[WorkContext, VendorId, str]:
    vendor = find_vendor(request)
    return request.context.work_context, vendor.id, request.parts["endpoint"]


async def _found(work: Awaitable[T]) -> T:
    try:
        return await work
    except NoSuchEndpoint:
        raise NoSuchPage("The vendor has no such webhook endpoint or delivery.") from None


def _done(request: PageRequest, notice: str) -> Response:
    request.context.work_context.wake_webhooks()
    vendor, endpoint = find_vendor(request), request.parts["endpoint"]
    return request.redirect(f"/accounts/{vendor.key}/webhooks/{endpoint}", done=notice)


async def _render(request: PageRequest, *, secret: str = "") -> Response:
    vendor, named = find_vendor(request), _named(request)
    endpoint = await _found(webhook_endpoints.load_endpoint(*named))
    before = read_number(request.query("before"))
    rows = await _found(
        webhook_endpoints.list_deliveries(*named, before=before, limit=DELIVERIES_SHOWN + 1)
    )
    path = f"/accounts/{vendor.key}/webhooks/{endpoint.row.endpoint_id}"
    shown = rows[:DELIVERIES_SHOWN]
    older = request.url(path, before=shown[-1][0].event_id) if len(rows) > len(shown) else ""
    return request.render(
        "webhook.html",
        "Webhook endpoint",
        vendor=vendor,
        path=path,
        one=endpoint_line(request, vendor, endpoint),
        deliveries=[_line(request, row, answer) for row, answer in shown],
        newer=request.url(path) if before else "",
        older=older,
        secret=secret,
        old_hours=webhook_endpoints.OLD_SECRET_HOURS,
    )


def _line(request: PageRequest, row: DeliveryRow, answer: str) -> DeliveryLine:
    again = row.state == WAITING and row.attempts > 0
    status = f"{row.status} " if row.status is not None else ""
    return DeliveryLine(
        format_event_id(row.event_id),
        row.type,
        AGAIN if again else LABELS[row.state],
        row.attempts,
        _at(request, row.attempted_at),
        _at(request, row.due_at) if row.state == WAITING else "",
        f"{status}{answer[:ANSWER_CHARACTERS_SHOWN] or row.fault}".strip(),
    )


def _at(request: PageRequest, micros: int | None) -> str:
    return "" if micros is None else request.stored_moment(micros)
