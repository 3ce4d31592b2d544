"""``clearlane claim submit`` and ``claim status``: submit and list claims over the service."""

from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.client_command import (
    ClientSession,
    exit_with,
    read_json,
    usage_error,
    vendor_command,
)
from clearlane.cli.output import show_json, show_table
from clearlane.cli.table import TableColumn

if TYPE_CHECKING:
    from clearlane.client import ClaimStatus, ClaimSubmission

DAYS_BACK = 7
COLUMNS = (
    TableColumn("vendor claim id"),
    TableColumn("claim number"),
    TableColumn("state", state=True),
    TableColumn("since", drop=3),
    TableColumn("payer action", drop=4),
    TableColumn("total", right=True, drop=2),
    TableColumn("payer", right=True, drop=1),
    TableColumn("patient", right=True, drop=1),
    TableColumn("document", drop=5),
)


class DocumentKind(StrEnum):
    """Kinds of claims that a bare file may hold."""

    MEDICAL = "medical"
    DENTAL = "dental"


def register(app: typer.Typer) -> None:
    """Add the commands to `clearlane claim`."""
    vendor_command(app)(submit)
    vendor_command(app)(status)


def submit(
    session: ClientSession,
    file: Annotated[str, typer.Argument(help="The document (JSON); - for standard input.")],
    kind: Annotated[
        DocumentKind | None,
        typer.Option("--kind", help="For a file of bare claims, which names no DocumentType."),
    ] = None,
) -> None:
    """Submit a document of claims and show the result of each.

    The same file may be sent again: the service answers a known claim as before.

    Exit status: 0 all accepted, 1 some not accepted, 2 the file or the request cannot be used,
    3 the service is not available or refuses the credentials.

    Examples: clearlane claim submit claims.json; clearlane claim sample | clearlane claim submit -
    """
    document = read_json(file)
    if isinstance(document, dict) and "DocumentType" in document:
        try:
            answer = session.client.submit_document(document)
        except ValueError as fault:
            usage_error(f"{file}: {fault}")
    elif kind is None:
        usage_error(f"{file} names no DocumentType: give --kind medical or --kind dental.")
    else:
        send = session.client.submit_medical_claims
        answer = (session.client.submit_dental_claims if kind is DocumentKind.DENTAL else send)(
            document
        )
    (show_json(answer.raw) if session.as_json else _show_submission(answer))
    exit_with(fine=answer.accepted)


def status(
    session: ClientSession,
    start: Annotated[
        datetime | None,
        typer.Option("--from", formats=["%Y-%m-%d"], help="First day; by default a week ago."),
    ] = None,
    end: Annotated[
        datetime | None,
        typer.Option(
            "--to",
            formats=["%Y-%m-%d"],
            help="Last day; by default the service's today.",
        ),
    ] = None,
) -> None:
    """Show the status of claims by the day they were created.

    Examples: clearlane claim status; clearlane claim status --from 2026-01-01 --to 2026-01-31 --json
    """
    first, last = day_range(session, start, end)
    rows = session.client.iter_status(first, last)
    if session.as_json:
        show_json([row.raw for row in rows])
        return
    cells = (
        [
            row.VendorClaimId, row.ClaimNumber, row.CurrentState, row.StateChangeDate,
            row.PayerAction, *amounts(row), row.RelatedDocumentId,
        ]
        for row in rows
    )  # fmt: skip
    hint = f"None was created from {first} to {last}; --from and --to name other days."
    show_table(COLUMNS, cells, noun="claim", hint=hint)


def amounts(row: "ClaimStatus") -> list[str]:
    """Return the charge, the payer's payment and the patient's part."""
    return [f"{each:.2f}" for each in (row.TotalClaimAmount, row.PayerAmount, row.PatientAmount)]


def day_range(
    session: ClientSession, start: datetime | None, end: datetime | None
) -> tuple[date, date]:
    """Return the days to list, by the service's day, which in a sandbox may be ahead.

    A day more than today: a site farther east may be in tomorrow already.
    """
    today = session.client.today()
    last = end.date() if end else today + timedelta(days=1)
    first = start.date() if start else min(today, last) - timedelta(days=DAYS_BACK)
    if first > last:
        usage_error(f"--from {first} is after --to {last}.")
    return first, last


def _show_submission(answer: "ClaimSubmission") -> None:
    if answer.ClaimResults:
        rows = [(one.VendorClaimId, one.Status, one.RequestId) for one in answer.ClaimResults]
        show_table(("vendor claim id", "status", "request id"), rows)
    findings = [("(document)", error) for error in answer.DocumentLevelErrors]
    findings += [(one.VendorClaimId, error) for one in answer.ClaimResults for error in one.Errors]
    if findings:
        typer.echo()
        show_table(
            ("vendor claim id", "field", TableColumn("what is wrong", wrap=True)),
            ((id, error.Location, error.SupplementalInformation) for id, error in findings),
        )
    for note in answer.notes:
        typer.echo(note)
    for path in answer.ignored_fields:
        typer.echo(f"Ignored, because the service does not know it: {path}", err=True)
