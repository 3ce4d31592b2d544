"""``clearlane listen``: follow claim status changes live, by polling the service.

Each change of a claim is shown once. The service returns only the current status, so two changes between two
polls are one row.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.claim.claim_client import DAYS_PER_CALL, amounts, week_ago
from clearlane.cli.command.client_command import (
    NOT_ACCEPTED,
    ClientSession,
    advice,
    usage_error,
    vendor_command,
)
from clearlane.cli.command.day_option import day_option
from clearlane.cli.command.output import printable, show_error, show_json_line, show_lines
from clearlane.cli.command.table import TableColumn, TableLayout, fit
from clearlane.cli.command.terminal import output_width
from clearlane.cli.events.forward import forward_events

if TYPE_CHECKING:
    from clearlane.client import ClaimStatus

app = typer.Typer(
    help="Follow claim status changes live.", add_completion=False, rich_markup_mode=None
)

FINAL = frozenset({"Complete", "Rejected"})
EVERY_SECONDS = 2.0
DAYS_SEARCHED_MAX = 120
"""How far back a named claim is searched for."""
COLUMNS = (
    TableColumn("time"),
    TableColumn("vendor claim id"),
    TableColumn("state", state=True),
    TableColumn("total", right=True, drop=2),
    TableColumn("payer", right=True),
    TableColumn("patient", right=True),
    TableColumn("payer action", drop=1),
    TableColumn("document", drop=3),
)
# Rows arrive one by one: the widths are those of long values, and what follows a longer one goes on the next line.
WIDEST = ["1000.00", "1000.00", "1000.00", "ProcessedAsPrimary", "-" * 32]


@vendor_command(app)
def listen(
    session: ClientSession,
    claims: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Only these claims (Svc_VendorClaimId)."),
    ] = None,
    start: Annotated[
        date | None,
        day_option("--from", help="Claims since this day; by default a week ago."),
    ] = None,
    every: Annotated[
        float, typer.Option(help="Seconds between two polls.", min=0.1, max=3_600)
    ] = EVERY_SECONDS,
    until_final: Annotated[
        bool,
        typer.Option("--until-final", help="End when every claim is Complete or Rejected."),
    ] = False,
    forward: Annotated[
        str,
        typer.Option(
            metavar="URL", help="Post events to this address instead, signed as webhooks are."
        ),
    ] = "",
) -> None:
    """Show the status of claims, then each change as it happens, until Ctrl-C.

    Waits for a service that is unavailable for a while. An id that the service does not know is named at
    once, and with --until-final ends the command with exit status 1.

    With --forward every event of the vendor is posted to a program on this machine, signed with the secret that is
    printed, or that of CLEARLANE_WEBHOOK_SECRET.

    Examples: clearlane listen; clearlane listen SAMPLE-1 --until-final; clearlane listen --forward http://127.0.0.1:3000/hook
    """
    if forward:
        forward_events(session, forward)
        return
    if address := next((one for one in claims or () if "://" in one), ""):
        usage_error(f"To post events to an address:\nclearlane listen --forward {address}")
    layout = _layout(claims or [])
    if not session.as_json:
        show_lines(layout.head())
    shown: dict[str, tuple[object, ...]] = {}
    wanted, since = set(claims or ()), start
    if wanted:
        since = _find_first_day(session, wanted, since, until_final=until_final)
    try:
        while True:
            rows = list(_fetch(session, since, wanted))
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


def _find_first_day(
    session: ClientSession, wanted: set[str], start: date | None, *, until_final: bool
) -> date | None:
    """Return the day since which the wanted claims were created, and name those that the service does not have.

    A sandbox that was advanced has its claims weeks ago, so without ``start`` a longer time is searched.
    """
    today = session.client.today()
    earlier = today - timedelta(days=DAYS_SEARCHED_MAX)
    for first in (start,) if start else (week_ago(today), earlier):
        rows = [row for row in _rows_since(session, first) if row.VendorClaimId in wanted]
        missing = sorted(wanted - {row.VendorClaimId for row in rows})
        if not missing:
            return max(first, min((row.CreateDate or first for row in rows), default=first))
    show_error(
        f"The service has no accepted claim {' or '.join(missing)} since {first}. "
        "What it has: clearlane claim status; an earlier day: --from."
    )
    if until_final:
        raise typer.Exit(NOT_ACCEPTED)
    return start


def _rows_since(session: ClientSession, first: date) -> "Iterator[ClaimStatus]":
    """Yield statuses up to a day more than today: a site farther east may be in tomorrow already."""
    last = session.client.today() + timedelta(days=1)
    if first > last:
        usage_error("--from is in the future.")
    days = min((last - first).days + 1, DAYS_PER_CALL)
    return session.client.iter_status(first, last, days=days)


def _fetch(session: ClientSession, since: date | None, wanted: set[str]) -> "Iterator[ClaimStatus]":
    """Yield the statuses of one poll; nothing if the service became unavailable."""
    from clearlane.client import RateLimited, Unavailable

    try:
        first = since or week_ago(session.client.today())
        rows = list(_rows_since(session, first))
    except (Unavailable, RateLimited) as fault:
        if not fault.retryable:
            raise
        show_error(f"{fault.message} {advice(fault)}".strip())
        return
    for row in rows:
        if not wanted or row.VendorClaimId in wanted:
            yield row


def _layout(wanted: list[str]) -> TableLayout:
    ids = wanted or ["SAMPLE-20260131093000000"]
    samples = [["00:00:00", printable(id), "Acknowledged", *WIDEST] for id in ids]
    return fit(COLUMNS, samples, output_width())


def _show_row(row: "ClaimStatus", layout: TableLayout, *, as_json: bool) -> None:
    if as_json:
        show_json_line(row.raw)
        return
    cells = [
        time.strftime("%H:%M:%S"), row.VendorClaimId, row.CurrentState, *amounts(row),
        row.PayerAction, row.RelatedDocumentId,
    ]  # fmt: skip
    show_lines(layout.row([printable(cell) for cell in cells]))
