"""``clearlane claim submit`` and ``claim status``: submit and list claims over the service."""

from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearlane.claims.kinds import JSON_KINDS
from clearlane.cli.claim.claim_pieces import DocumentPiece, WholeAnswer, cut_document, move_path
from clearlane.cli.command.client_command import (
    ClientSession,
    exit_with,
    file_named,
    read_json,
    usage_error,
)
from clearlane.cli.command.day_option import day_option
from clearlane.cli.command.kind_options import KindOption
from clearlane.cli.command.output import counted, show_error, show_json, show_table, show_text
from clearlane.cli.command.progress import progress
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.clock import SystemClock

if TYPE_CHECKING:
    from clearlane.client import ClaimStatus

DAYS_BACK = 7
DAYS_PER_CALL = 31
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


RESULTS = ("vendor claim id", TableColumn("status", state=True), "claim number")
FINDINGS = ("vendor claim id", "field", TableColumn("what is wrong", wrap=True))
RESULTS_LISTED_MAX = 50


def submit(
    session: ClientSession,
    file: Annotated[str, typer.Argument(help="The document (JSON); - for standard input.")],
    kind: Annotated[
        KindOption | None,
        typer.Option("--kind", help="For a file of bare claims, which names no DocumentType."),
    ] = None,
    skip: Annotated[
        int,
        typer.Option("--skip", min=0, help="Leave out the first claims, which were sent before."),
    ] = 0,
) -> None:
    """Submit a document of claims and show the result of each.

    A file of more claims than the service takes at once is sent in pieces, in order. The same file may be
    sent again: the service answers a known claim as before. For many claims, only those not accepted are listed.

    Exit status: 0 all accepted, 1 some not accepted, 2 the file or the request cannot be used,
    3 the service is not available or refuses the credentials.

    Examples: clearlane claim submit claims.json; clearlane claim sample | clearlane claim submit -;
    clearlane claim submit large.json --skip 12000
    """
    pieces = cut_document(_read_document(file, kind), skip=skip)
    whole = WholeAnswer()
    total = pieces[-1].first + pieces[-1].count
    with progress("Submitting", total) as show:
        for piece in pieces:
            try:
                answer = session.client.submit_document(piece.document)
            except ValueError as fault:
                usage_error(f"{file}: {fault}")
            except Exception as fault:
                _show_interrupted(fault, file, whole, piece, total)
                raise
            whole.add(answer.raw, answer.notes, answer.ignored_fields, first=piece.first)
            show(piece.first + piece.count)
    (show_json(whole.as_json()) if session.as_json else _show_submission(whole))
    exit_with(fine=whole.fine)


def _read_document(file: str, kind: KindOption | None) -> dict[str, Any]:
    from clearlane.client import claim_document

    document = read_json(file)
    if isinstance(document, dict) and "DocumentType" in document:
        return document
    if kind is None:
        *first, last = JSON_KINDS
        choices = f"{', '.join(first)} or {last}"
        usage_error(f"{file_named(file)} names no DocumentType: give --kind {choices}.")
    return claim_document(kind, document)


def _show_interrupted(
    fault: Exception, file: str, whole: WholeAnswer, piece: DocumentPiece, total: int
) -> None:
    """Say how far a submission in pieces came, and how to go on; paths of the fault become those of the file."""
    from clearlane.client import InvalidRequest

    if isinstance(fault, InvalidRequest):
        state = fault.model_state
        fault.model_state = {move_path(name, piece.first): words for name, words in state.items()}
    if piece.count == total:
        return
    counts = f"{whole.accepted:,} accepted, {len(whole.results) - whole.accepted:,} not"
    show_error(
        f"{piece.first:,} of {total:,} claims were sent: {counts}. "
        f"To continue: clearlane claim submit {file} --skip {piece.first}"
    )


def status(
    session: ClientSession,
    start: Annotated[
        date | None,
        day_option("--from", help="First day; by default a week ago, in real time."),
    ] = None,
    end: Annotated[
        date | None,
        day_option("--to", help="Last day; by default the service's today."),
    ] = None,
) -> None:
    """Show the status of claims by the day they were created.

    Examples: clearlane claim status; clearlane claim status --from 2026-01-01 --to 2026-01-31 --json
    """
    first, last = day_range(session, start, end)
    session.show_list(
        COLUMNS,
        session.client.iter_status(first, last, days=DAYS_PER_CALL),
        lambda row: (
            row.VendorClaimId, row.ClaimNumber, row.CurrentState, row.StateChangeDate,
            row.PayerAction, *amounts(row), row.RelatedDocumentId,
        ),
        noun="claim",
        hint=f"None was created from {first} to {last}. Use --from and --to for other days.",
    )  # fmt: skip


def week_ago(today: date) -> date:
    """Return the day a week before today, by this machine's clock if a sandbox's is ahead of it."""
    return min(today, SystemClock().now().date()) - timedelta(days=DAYS_BACK)


def amounts(row: "ClaimStatus") -> list[str]:
    """Return the charge, the payer's payment and the patient's part."""
    return [f"{each:.2f}" for each in (row.TotalClaimAmount, row.PayerAmount, row.PatientAmount)]


def day_range(session: ClientSession, start: date | None, end: date | None) -> tuple[date, date]:
    """Return the days to list: from a week ago in real time to the service's day, which in a sandbox may be ahead.

    A day more than today: a site farther east may be in tomorrow already.
    """
    today = session.client.today()
    last = end or today + timedelta(days=1)
    first = start or week_ago(min(today, last))
    if first > last:
        usage_error(f"--from {first} is after --to {last}.")
    return first, last


def _show_submission(answer: WholeAnswer) -> None:
    """Print the results; if there are many claims, only those that were not accepted."""
    shown = answer.results
    if len(shown) > RESULTS_LISTED_MAX:
        shown = [one for one in shown if one.get("Status") != "Accepted"]
    if shown:
        rows = [
            (one.get("VendorClaimId"), one.get("Status"), one.get("RequestId")) for one in shown
        ]
        show_table(RESULTS, rows)
    findings = [("(document)", error) for error in answer.document_errors]
    findings += [
        (str(one.get("VendorClaimId")), error) for one in shown for error in one.get("Errors") or ()
    ]
    if findings:
        typer.echo()
        show_table(
            FINDINGS,
            (
                (id, error.get("Location"), error.get("SupplementalInformation"))
                for id, error in findings
            ),
        )
    if answer.results:
        not_accepted = len(answer.results) - answer.accepted
        others = f", {not_accepted:,} not" if not_accepted else ""
        typer.echo(
            f"{counted(len(answer.results), 'claim')}: {answer.accepted:,} accepted{others}."
        )
    for note in answer.notes:
        show_text(note)
    for path in answer.ignored:
        show_error(f"Ignored, because the service does not know it: {path}")


VENDOR_COMMANDS = (submit, status)
