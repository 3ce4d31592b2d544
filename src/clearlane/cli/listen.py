"""``clearlane listen``: follow the life of claims live, by asking the service again and again.

Each change of a claim is told once. The service keeps only the present state of a claim, so two changes
between two looks are one line.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.claim_client import amounts, day_range
from clearlane.cli.client_command import Caller, advice, misuse, vendor_command
from clearlane.cli.output import printable, show_json_line, show_line

if TYPE_CHECKING:
    from clearlane.client import ClaimStatus

app = typer.Typer(
    help="Follow the life of claims live.", add_completion=False, rich_markup_mode=None
)

FINAL = frozenset({"Complete", "Rejected"})
EVERY_SECONDS = 2.0
COLUMNS = {
    "time": 8, "vendor claim id": 24, "state": 12, "payer action": 22, "total": 10, "payer": 10,
    "patient": 10, "document": 12,
}  # fmt: skip


@vendor_command(app)
def listen(
    caller: Caller,
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
        float, typer.Option(help="Seconds between two looks.", min=0.1, max=3_600)
    ] = EVERY_SECONDS,
    until_final: Annotated[
        bool,
        typer.Option("--until-final", help="End when every claim is Complete or Rejected."),
    ] = False,
) -> None:
    """Show where claims stand, then each change as it happens, until Ctrl-C.

    A service that is away for a while is waited for.

    Examples: clearlane listen; clearlane listen SAMPLE-1 --until-final; clearlane listen --json
    """
    if start and day_range(start, None)[0] > day_range(None, None)[1]:
        misuse("--from is in the future.")
    if not caller.as_json:
        show_line([label.upper() for label in COLUMNS], list(COLUMNS.values()))
    told: dict[str, tuple[object, ...]] = {}
    wanted = set(claims or ())
    try:
        while True:
            standing = list(_look(caller, start, wanted))
            for row in changed(standing, told):
                _tell(row, as_json=caller.as_json)
            if until_final and settled(standing, wanted):
                return
            time.sleep(every)
    except KeyboardInterrupt:  # the way to end it, not a fault
        raise typer.Exit(0) from None


def changed(
    rows: Iterable["ClaimStatus"], told: dict[str, tuple[object, ...]]
) -> Iterator["ClaimStatus"]:
    """The claims that stand otherwise than was told of them; they count as told."""
    for row in rows:
        facts = (
            row.CurrentState, row.PayerAction, row.PayerActionDate, row.RelatedDocumentId,
            row.PayerAmount, row.PatientAmount, row.Adjustments,
        )  # fmt: skip
        if told.get(row.ClaimNumber) != facts:
            told[row.ClaimNumber] = facts
            yield row


def settled(rows: Iterable["ClaimStatus"], wanted: set[str]) -> bool:
    """Whether nothing more is to be heard of these claims."""
    states = {row.VendorClaimId: row.CurrentState for row in rows}
    return bool(states) and states.keys() >= wanted and set(states.values()) <= FINAL


def _look(caller: Caller, start: datetime | None, wanted: set[str]) -> Iterator["ClaimStatus"]:
    """One look, whole or not at all: a service that goes away in the middle is asked anew later."""
    from clearlane.client import RateLimited, Unavailable

    first, last = day_range(start, None)
    try:
        rows = list(caller.client.iter_status(first, last, days=(last - first).days + 1))
    except (Unavailable, RateLimited) as fault:
        if not fault.repeatable:
            raise
        typer.echo(printable(f"{fault.message} {advice(fault)}".strip()), err=True)
        return
    for row in rows:
        if not wanted or row.VendorClaimId in wanted:
            yield row


def _tell(row: "ClaimStatus", *, as_json: bool) -> None:
    if as_json:
        show_json_line(row.raw)
        return
    cells: list[object] = [
        time.strftime("%H:%M:%S"), row.VendorClaimId, row.CurrentState, row.PayerAction,
        *amounts(row), row.RelatedDocumentId,
    ]  # fmt: skip
    show_line(cells, list(COLUMNS.values()))
