"""``clearlane eligibility submit`` and ``responses``: eligibility inquiries over the service."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.command.client_command import (
    ClientSession,
    exit_with,
    read_json,
    usage_error,
)
from clearlane.cli.command.output import show_error, show_json, show_table, show_text
from clearlane.cli.command.table import TableColumn

if TYPE_CHECKING:
    from clearlane.client import EligibilityAnswer, Patient

COMPLETE = "ResultsComplete"

Wait = Annotated[float, typer.Option(help="Seconds to wait for late responses.", min=0, max=86_400)]


def submit(
    session: ClientSession,
    file: Annotated[str, typer.Argument(help="The request (JSON); - for standard input.")],
    wait: Wait = 0,
) -> None:
    """Ask payers about the benefits of patients.

    Exit status: 0 every response has arrived, 1 some are missing or nothing could be asked, 2 the file or
    the request cannot be used, 3 the service is not available or refuses the credentials.

    Examples: clearlane eligibility submit inquiry.json; clearlane eligibility submit - --wait 120
    """
    request = read_json(file)
    if not isinstance(request, dict):
        usage_error(f"{file} holds no object.")
    _show(session, session.client.submit_eligibility(request), wait)


def responses(
    session: ClientSession,
    eligibility_request_id: Annotated[
        int, typer.Argument(metavar="REQUEST_ID", help="The RequestId of the submission.")
    ],
    wait: Wait = 0,
) -> None:
    """Show all responses to a request that have arrived.

    Exit status as for `submit`.

    Example: clearlane eligibility responses 41 --wait 60
    """
    _show(session, session.client.eligibility_responses(eligibility_request_id), wait)


def _show(session: ClientSession, answer: "EligibilityAnswer", wait: float) -> None:
    from clearlane.client import StillWaiting

    if wait and answer.waiting:
        try:
            answer = session.client.wait_for_eligibility(answer, seconds=wait)
        except StillWaiting as late:
            answer = late.answer
    if session.as_json:
        show_json(answer.raw)
    else:
        _show_answer(answer)
    exit_with(fine=answer.Status == COMPLETE)


def _show_answer(answer: "EligibilityAnswer") -> None:
    typer.echo(f"Request {answer.RequestId}: {answer.Status}")
    for result in answer.ValidationResults:
        message = f"{result.get('Location') or ''} {result.get('Message') or result}"
        show_text(f"Not asked: {message}", indent=2)
    for error in answer.ErrorResponses:
        message = "; ".join(str(each.get("Message")) for each in error.get("Errors") or ())
        show_text(f"Refused by {error.get('Type')}: {message}", indent=2)
    rows = [row for patient in answer.patients() for row in _benefits(patient)]
    if rows:
        typer.echo()
        show_table(
            (
                TableColumn("patient", drop=2),
                "benefit",
                TableColumn("services", wrap=True),
                TableColumn("period", drop=3),
                TableColumn("amount", right=True),
                TableColumn("percent", right=True),
                TableColumn("network", drop=1),
            ),
            rows,
            noun="benefit",
        )
    if answer.waiting:
        show_error(f"More may come: clearlane eligibility responses {answer.RequestId}")


def _benefits(patient: "Patient") -> Iterator[tuple[object, ...]]:
    name = f"{patient.get('CommonName') or ''}, {patient.get('FirstName') or ''}"
    for error in patient.get("Errors") or ():
        yield name, "Error", error.get("Code"), "", "", "", error.get("Message")
    for benefit in patient.get("Benefits") or ():
        yield (
            name,
            benefit.get("Type"),
            benefit.get("TypesOfService") or "",
            benefit.get("BenefitTimePeriod"),
            benefit.get("BenefitAmount"),
            benefit.get("PatientResponsibilityPercentage"),
            benefit.get("PlanInNetwork"),
        )


VENDOR_COMMANDS = (submit, responses)
