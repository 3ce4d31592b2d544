"""``clearlane events trigger``: make an event of a type happen in a sandbox, for whoever writes a receiver of webhooks.

A claim whose scenario leads to the event is sent, and the clock is advanced until it has happened.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from clearlane.cli.command.client_command import ClientSession, exit_with, usage_error
from clearlane.cli.command.output import show_lines, show_text
from clearlane.cli.events.events_client import event_layout, follow, latest_cursor, show_event

if TYPE_CHECKING:
    from clearlane.client import Event


class Trigger(NamedTuple):
    """How an event is made: the insured's id that selects what the payer does, and how far time must pass."""

    scenario: str
    advance: str


TRIGGERS: Mapping[str, Trigger] = {
    "claim.received": Trigger("", ""),
    "claim.sent": Trigger("", "1h"),
    "claim.acknowledged": Trigger("", "2d"),
    "claim.rejected": Trigger("3004", "2d"),
    "claim.pending": Trigger("3007", "15d"),
    "claim.paid": Trigger("3001", "15d"),
    "claim.denied": Trigger("3003", "15d"),
    "claim.patient_owes": Trigger("3025", "15d"),
    "claim.reversed": Trigger("3008", "45d"),
    "claim.forwarded": Trigger("3011", "15d"),
}


def trigger(
    session: ClientSession,
    type: Annotated[str, typer.Argument(help="The event, such as claim.paid.", metavar="TYPE")],
) -> None:
    """Make an event happen in a sandbox: a claim that leads to it is sent, and the clock advances until it is there.

    Every event of the claim is shown, and goes to your webhooks. Exit status: 0 the event happened, 1 it did not.

    Example: clearlane events trigger claim.paid
    """
    chosen = TRIGGERS.get(type)
    if chosen is None:
        usage_error(f"{type!r} cannot be triggered. These can: {', '.join(TRIGGERS)}.")
    from clearlane.client.errors import NotFound
    from clearlane.client.testing.sandbox_control import SandboxControl

    control = SandboxControl(session.client.account)
    try:
        now = control.clock()["Now"]
    except NotFound:
        usage_error("This service is not a sandbox: events happen when payers answer.")
    cursor = latest_cursor(session)
    number = _send(session, chosen.scenario, now)
    if chosen.advance:
        control.advance(chosen.advance)
    events = [one for one in _events_after(session, cursor) if one.claim_number == number]
    if not session.as_json:
        show_lines(event_layout().head())
    for event in events:
        show_event(event, as_json=session.as_json)
    happened = any(one.type == type for one in events)
    if not happened:
        show_text(
            f"{type} did not happen: the claim's payer may be down (clearlane sandbox payer)."
        )
    exit_with(fine=happened)


def _send(session: ClientSession, scenario: str, now: str) -> str:
    """Send a claim of a scenario; return its number."""
    from clearlane.claims.forms import form_of_kind
    from clearlane.claims.forms.sample_variation import SampleWish, sample_claim
    from clearlane.client import ClaimKind

    form = form_of_kind(ClaimKind.MEDICAL)
    id = f"EVENT-{_new_id(now)}"
    wish = SampleWish(scenario=scenario)
    claim = sample_claim(form, id, wish, today=date.fromisoformat(now[:10]))
    document = {"DocumentType": form.document_type, "Claims": [claim]}
    [sent] = session.client.claims.submit(document).claims
    return sent.claim_number


def _new_id(now: str) -> str:
    """Return the end of an id that no other claim of this sandbox has."""
    return f"{now[:10]}-{token_hex(3).upper()}"


def _events_after(session: ClientSession, cursor: str) -> "Iterator[Event]":
    while True:
        page = session.client.events.page(cursor)
        yield from page.events
        cursor = page.cursor
        if page.is_end:
            return


VENDOR_COMMANDS = (follow, trigger)
