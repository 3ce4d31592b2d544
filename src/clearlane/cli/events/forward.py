"""Forward events to a program on a developer's machine, signed as webhooks are.

``clearlane listen --forward`` needs no endpoint at the service and no address that it could reach: events are fetched
and posted from here. What the program answers is shown; nothing is sent again.
"""

import os
import time
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
            _show(event, post(url, secret, event), as_json=session.as_json)
    except KeyboardInterrupt:  # the way to end it, not a fault
        raise typer.Exit(0) from None


def require_address(url: str) -> None:
    """Refuse an address that is neither on this machine nor https."""
    parts = urlsplit(url)
    local = parts.scheme == "http" and parts.hostname in THIS_MACHINE
    if not local and not (parts.scheme == "https" and parts.hostname):
        usage_error("--forward takes an address such as http://127.0.0.1:3000/hook, or https://.")


def post(url: str, secret: str, event: "Event") -> str:
    """Post one event; return what the program answered, in a word or two."""
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
    except httpx.HTTPError as fault:
        return f"not reached ({type(fault).__name__})"
    return str(answer.status_code)


def _show(event: "Event", answer: str, *, as_json: bool) -> None:
    if as_json:
        show_json_line({"id": event.id, "type": event.type, "answer": answer})
        return
    claim = event.vendor_claim_id or event.claim_number or ""
    typer.echo(printable(f"{event.created}  {event.type:<27}  {claim:<24}  {answer}"))
