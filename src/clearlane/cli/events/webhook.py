"""``clearlane webhook``: a vendor's webhook endpoints, over the service."""

from operator import attrgetter
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.command.client_command import ClientSession, Yes, confirm, vendor_command
from clearlane.cli.command.output import show_json, show_table, show_text
from clearlane.cli.command.table import TableColumn

if TYPE_CHECKING:
    from clearlane.client import WebhookEndpoint

ENDPOINTS = (
    "id",
    TableColumn("state", state=True),
    TableColumn("types", wrap=True),
    "url",
    TableColumn("last fault", wrap=True, drop=1),
)
DELIVERIES = (
    "event",
    "type",
    TableColumn("state", state=True),
    TableColumn("attempts", right=True, drop=2),
    "status",
    TableColumn("fault", wrap=True),
    TableColumn("next attempt", drop=1),
)

app = typer.Typer(help="Webhooks: receive events.", add_completion=False, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(help="Id of the endpoint.")]


@vendor_command(app)
def add(
    session: ClientSession,
    address: Annotated[
        str, typer.Argument(help="https address; in a sandbox also http://127.0.0.1.")
    ],
    types: Annotated[
        list[str] | None,
        typer.Option("--type", help="A type or family (claim.*); repeat for several."),
    ] = None,
) -> None:
    """Add an endpoint, and print its secret, which is shown once.

    Examples: clearlane webhook add https://example.com/hook --type "claim.*"; clearlane webhook add http://127.0.0.1:3000/hook
    """
    _show(session, session.client.webhook_endpoints.add(address, types or ["*"]))


@vendor_command(app, "list")
def list_endpoints(session: ClientSession) -> None:
    """List the endpoints, with the state of each.

    Example: clearlane webhook list
    """
    session.show_list(
        ENDPOINTS,
        session.client.webhook_endpoints.list(),
        lambda one: (one.id, one.state, ", ".join(one.types), one.url, one.fault or ""),
        noun="endpoint",
        hint="Add one with: clearlane webhook add URL.",
    )


@vendor_command(app)
def test(session: ClientSession, endpoint: Id) -> None:
    """Send a ping to an endpoint; `webhook log` shows what became of it.

    Example: clearlane webhook test W193QZ0AGS26Q3LZCMZ
    """
    session.client.webhook_endpoints.ping(endpoint)
    _done(session, endpoint, "A ping is on its way.")


@vendor_command(app)
def log(
    session: ClientSession,
    endpoint: Id,
    limit: Annotated[int, typer.Option(help="How many deliveries.", min=1, max=500)] = 50,
) -> None:
    """Show what was sent to an endpoint, the newest events first.

    Example: clearlane webhook log W193QZ0AGS26Q3LZCMZ --limit 10
    """
    session.show_list(
        DELIVERIES,
        session.client.webhook_endpoints.deliveries(endpoint, limit=limit),
        attrgetter("event_id", "type", "state", "attempts", "status", "fault", "next_attempt_at"),
        noun="message",
        hint="Nothing was sent to it yet.",
    )


@vendor_command(app)
def resend(
    session: ClientSession,
    endpoint: Id,
    event: Annotated[str, typer.Argument(help="Id of the event.")],
) -> None:
    """Send one event to an endpoint again.

    Example: clearlane webhook resend W193QZ0AGS26Q3LZCMZ E13LQTH9RNTH
    """
    session.client.webhook_endpoints.resend(endpoint, event)
    _done(session, endpoint, "It is sent again.")


@vendor_command(app)
def replay(
    session: ClientSession,
    endpoint: Id,
    since: Annotated[str, typer.Argument(help="A moment such as 2026-01-31T08:30:00Z.")],
) -> None:
    """Send everything that happened since a moment to an endpoint again.

    Example: clearlane webhook replay W193QZ0AGS26Q3LZCMZ 2026-01-31T08:30:00Z
    """
    session.client.webhook_endpoints.replay(endpoint, since_at=since)
    _done(session, endpoint, "It is sent again.")


@vendor_command(app)
def enable(
    session: ClientSession,
    endpoint: Id,
    replay: Annotated[
        bool,
        typer.Option("--replay/--no-replay", help="Whether to send everything since it failed."),
    ] = True,
) -> None:
    """Enable an endpoint that was disabled because it failed for too long.

    Examples: clearlane webhook enable W193QZ0AGS26Q3LZCMZ; clearlane webhook enable W193QZ0AGS26Q3LZCMZ --no-replay
    """
    _show(session, session.client.webhook_endpoints.enable(endpoint, replay=replay))


@vendor_command(app, "rotate-secret")
def rotate_secret(session: ClientSession, endpoint: Id) -> None:
    """Give an endpoint a new secret; the old one signs as well for 24 hours.

    Example: clearlane webhook rotate-secret W193QZ0AGS26Q3LZCMZ
    """
    _show(session, session.client.webhook_endpoints.rotate_secret(endpoint))


@vendor_command(app)
def remove(session: ClientSession, endpoint: Id, yes: Yes = False) -> None:
    """Remove an endpoint and its log.

    Example: clearlane webhook remove W193QZ0AGS26Q3LZCMZ
    """
    confirm(
        f"Nothing more is sent to endpoint {endpoint}; its secret and its log are deleted.", yes=yes
    )
    session.client.webhook_endpoints.remove(endpoint)
    _done(session, endpoint, "It is removed.")


def _show(session: ClientSession, endpoint: "WebhookEndpoint") -> None:
    if session.as_json:
        show_json(dict(endpoint.raw))
        return
    rows = [("id", endpoint.id), ("url", endpoint.url), ("types", ", ".join(endpoint.types)),
            ("state", endpoint.state)]  # fmt: skip
    if endpoint.secret:
        rows.append(("secret", endpoint.secret))
    show_table(("webhook", ""), rows)


def _done(session: ClientSession, endpoint: str, sentence: str) -> None:
    if session.as_json:
        show_json({"id": endpoint})
        return
    show_text(sentence)
