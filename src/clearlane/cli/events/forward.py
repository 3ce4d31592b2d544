"""Forward events to a program on a developer's machine, signed as webhooks are.

``clearlane listen --forward`` needs no endpoint at the service and no address that it could reach: events are fetched
and posted from here. An event waits for a program that is not running yet; what it answers is shown, and nothing that
it received is sent again.
"""

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from clearlane.cli.command.client_command import ClientSession, usage_error
from clearlane.cli.command.output import printable, show_json_line
from clearlane.cli.events.events_client import latest_cursor
from clearlane.events.signature import SECRET_PREFIX, new_secret, signed_headers

if TYPE_CHECKING:
    from clearlane.client import Event

SECRET_VARIABLE = "CLEARLANE_WEBHOOK_SECRET"  # noqa: S105  (the name of it)
THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
FORWARD_SECONDS_MAX = 10
FIRST_PAUSE_SECONDS, PAUSE_SECONDS_MAX = 0.2, 2.0


def forward_events(session: ClientSession, url: str) -> None:
    """Post every event that happens from now on to an address, until Ctrl-C."""
    require_address(url)
    secret = os.environ.get(SECRET_VARIABLE, "") or new_secret()
    if not secret.startswith(SECRET_PREFIX):
        usage_error(
            f"{SECRET_VARIABLE} is not a secret of a webhook: it begins with {SECRET_PREFIX}."
        )
    began = latest_cursor(session)  # before it is said that events are forwarded
    typer.echo(f"Events are forwarded to {printable(url)}, signed with {secret}", err=True)
    try:
        for event in session.client.events.follow(began):
            _show(event, post_when_reached(url, secret, event), as_json=session.as_json)
    except KeyboardInterrupt:  # the way to end it, not a fault
        raise typer.Exit(0) from None


def require_address(url: str) -> None:
    """Refuse an address that is neither on this machine nor https."""
    parts = urlsplit(url)
    local = parts.scheme == "http" and parts.hostname in THIS_MACHINE
    if not local and not (parts.scheme == "https" and parts.hostname):
        usage_error("--forward takes an address such as http://127.0.0.1:3000/hook, or https://.")


def post_when_reached(
    url: str, secret: str, event: "Event", *, pause: Callable[[float], None] = time.sleep
) -> str:
    """Post one event as soon as the program accepts a connection; return what it answered, in a word or two.

    An event that found no program was not received: it waits, and those after it wait behind it.
    """
    import httpx

    seconds, is_said = FIRST_PAUSE_SECONDS, False
    while True:
        try:
            return post(url, secret, event)
        except (httpx.ConnectError, httpx.ConnectTimeout) as fault:
            if not is_said:
                reason = f"{event.type} waits: nothing answers at {url} ({type(fault).__name__})."
                typer.echo(printable(reason), err=True)
            is_said = True
        pause(seconds)
        seconds = min(seconds * 2, PAUSE_SECONDS_MAX)


def post(url: str, secret: str, event: "Event") -> str:
    """Post one event; return what the program answered. Raises if it accepted no connection."""
    import httpx
    import msgspec

    body = msgspec.json.encode(dict(event.raw))
    headers = signed_headers([secret], message_id=event.id, timestamp=int(time.time()), body=body)
    try:
        answer = httpx.post(
            url,
            content=body,
            headers={**headers, "Content-Type": "application/json"},
            timeout=FORWARD_SECONDS_MAX,
            trust_env=False,
        )
    except (httpx.ConnectError, httpx.ConnectTimeout):
        raise
    except httpx.HTTPError as fault:
        return f"no answer ({type(fault).__name__})"
    return str(answer.status_code)


def _show(event: "Event", answer: str, *, as_json: bool) -> None:
    if as_json:
        show_json_line({"id": event.id, "type": event.type, "answer": answer})
        return
    claim = event.vendor_claim_id or event.claim_number or ""
    typer.echo(printable(f"{event.created}  {event.type:<27}  {claim:<24}  {answer}"))
