"""``clearlane events follow``: everything that happens, as it happens, from the service."""

from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.command.client_command import ClientSession
from clearlane.cli.command.output import cell_text, show_json_line, show_lines
from clearlane.cli.command.table import TableColumn, TableLayout, fit
from clearlane.cli.command.terminal import output_width

if TYPE_CHECKING:
    from clearlane.client import Event

COLUMNS = (
    TableColumn("created"),
    TableColumn("type"),
    TableColumn("claim number", drop=1),
    TableColumn("vendor claim id"),
    TableColumn("state", state=True, drop=2),
    TableColumn("site", drop=3),
)
# Rows arrive one by one: the widths are those of long values, and a longer one only moves what follows.
WIDEST = ["-" * 16, "claim.acknowledged", "-" * 19, "-" * 24, "acknowledged", "-" * 12]

Types = Annotated[
    list[str] | None,
    typer.Option("--type", help="Only this type or family (claim.*); repeat for several."),
]


def follow(
    session: ClientSession,
    types: Types = None,
    after: Annotated[
        str, typer.Option(help="Begin after this event id; by default with the oldest.")
    ] = "",
    cursor_file: Annotated[
        Path | None,
        typer.Option(help="Keep the place in this file, and continue from it at the next start."),
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Only what happens from now on.")] = False,
    count: Annotated[
        int | None, typer.Option(help="Stop after this number of events.", min=1)
    ] = None,
) -> None:
    """Show events in the order in which they happened, and wait for new ones, until Ctrl-C.

    Shows events of all sites of the vendor. Continues after the service was away for a while.

    Examples: clearlane events follow; clearlane events follow --type "claim.*" --new --json
    """
    from clearlane.client import CursorFile

    file = CursorFile(cursor_file) if cursor_file else None
    if file and not file.load() and (after or new):
        file.save(after or latest_cursor(session))
    cursor = file or after or (latest_cursor(session) if new else None)
    if not session.as_json:
        show_lines(event_layout().head())
    try:
        for event in islice(session.client.events.follow(cursor, types=types or ()), count):
            show_event(event, as_json=session.as_json)
    except KeyboardInterrupt:  # the way to end it, not a fault
        raise typer.Exit(0) from None


def latest_cursor(session: ClientSession) -> str:
    """Return the cursor behind the newest event."""
    cursor = None
    while True:
        # A page that is not full ends with the newest event of any type, and there are few of this one.
        page = session.client.events.page(cursor, types=["ping"], limit=500)
        cursor = page.cursor
        if page.is_end:
            return cursor


def show_event(event: "Event", *, as_json: bool) -> None:
    """Print one event as a row or a line of JSON."""
    if as_json:
        show_json_line(dict(event.raw))
        return
    cells: list[object] = [
        event.created, event.type, event.claim_number, event.vendor_claim_id,
        event.data.get("state"), event.site,
    ]  # fmt: skip
    show_lines(event_layout().row([cell_text(cell) for cell in cells]))


@cache
def event_layout() -> TableLayout:
    """Return the layout of the table of events, for this terminal."""
    return fit(COLUMNS, [WIDEST], output_width())
