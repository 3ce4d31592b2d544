"""`clearlane events list`: what happened in an installation, for its operator.

The events of all vendors, and those for operators alone: payments that match nothing, routes that fail and work again.
"""

from datetime import timedelta
from typing import Annotated

import typer

from clearlane.cli.command.client_command import AsJson, usage_error
from clearlane.cli.command.output import show_rows
from clearlane.cli.command.storage_command import Data, Store, with_store
from clearlane.cli.command.table import TableColumn
from clearlane.events.event import Event, format_event_id
from clearlane.events.types import matching_types, unknown_patterns
from clearlane.kernel.clock import SystemClock, from_micros, moment_text, to_micros

app = typer.Typer(
    no_args_is_help=True,
    help="Events: follow, list, trigger.",
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def events() -> None:
    """Everything that happens, in order."""


@app.command("list")
def list_events(
    types: Annotated[
        list[str] | None,
        typer.Option("--type", help="Only this type or family (route.*); repeat for several."),
    ] = None,
    hours: Annotated[float, typer.Option(help="Only the last N hours.", min=0.01, max=87_600)] = 24,
    limit: Annotated[int, typer.Option(help="Maximum number of events.", min=1, max=10_000)] = 500,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """List recent events of all vendors and for operators, the oldest first.

    Example: clearlane events list --type "route.*" --hours 48
    """  # fmt: skip
    if unknown := unknown_patterns(types or ()):
        wrong = "is not a type" if len(unknown) == 1 else "are not types"
        usage_error(f"{', '.join(unknown)} {wrong}: give one such as claim.paid or claim.*.")
    after = to_micros(SystemClock().now() - timedelta(hours=hours))

    async def work(store: Store) -> list[Event]:
        from clearlane.store.events import events

        async with store.database.read(events.EVERYONE) as tx:
            return await events.list_all(tx, matching_types(types or ()), after=after, limit=limit)

    found = [_facts(event) for event in with_store(data, work)]
    show_rows(COLUMNS, found, as_json=as_json, noun="event", hint="--hours looks further back.")


COLUMNS = (
    TableColumn("created", "created"),
    TableColumn("type", "type"),
    TableColumn("actor", "actor", drop=1),
    TableColumn("claim number", "claim_number"),
    TableColumn("data", "data", wrap=True, drop=2),
)


def _facts(event: Event) -> dict[str, object]:
    data = ", ".join(f"{name} {value}" for name, value in event.data.items())
    return {
        "id": format_event_id(event.id),
        "created": moment_text(from_micros(event.at)),
        "type": event.type,
        "vendor": event.vendor_id,
        "site": event.site_id,
        "actor": event.actor,
        "claim_number": event.claim_number or None,
        "data": data,
    }
