"""``clearlane listen``: follow claim status changes live, by polling the service.

Each change of a claim is shown once. The service returns only the current status, so two changes between two
polls are one row.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.claim_client import amounts, day_range
from clearlane.cli.client_command import ClientSession, advice, usage_error, vendor_command
from clearlane.cli.output import printable, show_json_line, show_lines
from clearlane.cli.table import TableColumn, TableLayout, fit
from clearlane.cli.terminal import output_width

if TYPE_CHECKING:
    from clearlane.client import ClaimStatus

app = typer.Typer(
    help="Follow claim status changes live.", add_completion=False, rich_markup_mode=None
)

FINAL = frozenset({"Complete", "Rejected"})
EVERY_SECONDS = 2.0
COLUMNS = (
    TableColumn("time"),
    TableColumn("vendor claim id"),
    TableColumn("state", state=True),
    TableColumn("payer action", drop=1),
    TableColumn("total", right=True, drop=2),
    TableColumn("payer", right=True),
    TableColumn("patient", right=True),
    TableColumn("document", drop=3),
)
# Rows arrive one by one: the widths are those of long values, and a longer one only moves what follows.
WIDEST = [
    "00:00:00",
    "",
    "Complete",
    "ProcessedAsPrimary",
    "1000.00",
    "1000.00",
    "1000.00",
    "-" * 32,
]


@vendor_command(app)
def listen(
    session: ClientSession,
    claims: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Only these claims (Svc_VendorClaimId)."),
    ] = None,
    start: Annotated[
        datetime | None,
        typer.Option(
            "--from", formats=["%Y-%m-%d"], help="Claims since this day; by default a week ago."
        ),
    ] = None,
    every: Annotated[
        float, typer.Option(help="Seconds between two polls.", min=0.1, max=3_600)
    ] = EVERY_SECONDS,
    until_final: Annotated[
        bool,
        typer.Option("--until-final", help="End when every claim is Complete or Rejected."),
    ] = False,
) -> None:
    """Show the status of claims, then each change as it happens, until Ctrl-C.

    Waits for a service that is unavailable for a while.

    Examples: clearlane listen; clearlane listen SAMPLE-1 --until-final; clearlane listen --json
    """
    if start and day_range(start, None)[0] > day_range(None, None)[1]:
        usage_error("--from is in the future.")
    layout = _layout(claims or [])
    if not session.as_json:
        show_lines(layout.head())
    shown: dict[str, tuple[object, ...]] = {}
    wanted = set(claims or ())
    try:
        while True:
            rows = list(_fetch(session, start, wanted))
            for row in changed(rows, shown):
                _show_row(row, layout, as_json=session.as_json)
            if until_final and all_final(rows, wanted):
                return
            time.sleep(every)
    except KeyboardInterrupt:  # the way to end it, not a fault
        raise typer.Exit(0) from None


def changed(
    rows: Iterable["ClaimStatus"], shown: dict[str, tuple[object, ...]]
) -> Iterator["ClaimStatus"]:
    """Yield the claims whose status differs from the last one shown, and record it as shown."""
    for row in rows:
        facts = (
            row.CurrentState, row.PayerAction, row.PayerActionDate, row.RelatedDocumentId,
            row.PayerAmount, row.PatientAmount, row.Adjustments,
        )  # fmt: skip
        if shown.get(row.ClaimNumber) != facts:
            shown[row.ClaimNumber] = facts
            yield row


def all_final(rows: Iterable["ClaimStatus"], wanted: set[str]) -> bool:
    """Return whether every wanted claim has a final status."""
    states = {row.VendorClaimId: row.CurrentState for row in rows}
    return bool(states) and states.keys() >= wanted and set(states.values()) <= FINAL


def _fetch(
    session: ClientSession, start: datetime | None, wanted: set[str]
) -> Iterator["ClaimStatus"]:
    """Yield the statuses of one poll; nothing where the service became unavailable meanwhile."""
    from clearlane.client import RateLimited, Unavailable

    first, last = day_range(start, None)
    try:
        rows = list(session.client.iter_status(first, last, days=(last - first).days + 1))
    except (Unavailable, RateLimited) as fault:
        if not fault.retryable:
            raise
        typer.echo(printable(f"{fault.message} {advice(fault)}".strip()), err=True)
        return
    for row in rows:
        if not wanted or row.VendorClaimId in wanted:
            yield row


def _layout(wanted: list[str]) -> TableLayout:
    ids = wanted or ["SAMPLE-20260131093000000"]
    samples = [[WIDEST[0], printable(id), *WIDEST[2:]] for id in ids]
    return fit(COLUMNS, samples, output_width())


def _show_row(row: "ClaimStatus", layout: TableLayout, *, as_json: bool) -> None:
    if as_json:
        show_json_line(row.raw)
        return
    cells = [
        time.strftime("%H:%M:%S"), row.VendorClaimId, row.CurrentState, row.PayerAction,
        *amounts(row), row.RelatedDocumentId,
    ]  # fmt: skip
    show_lines(layout.row([printable(cell) for cell in cells]))
