"""``clearlane eligibility submit`` and ``responses``: benefits, asked of the service by a vendor."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.client_command import Caller, ends_with, misuse, read_json, vendor_command
from clearlane.cli.output import printable, show_json, show_table

if TYPE_CHECKING:
    from clearlane.client import EligibilityAnswer, Patient

COMPLETE = "ResultsComplete"

Wait = Annotated[float, typer.Option(help="Seconds to wait for late responses.", min=0, max=86_400)]


def register(app: typer.Typer) -> None:
    """Add the commands to `clearlane eligibility`."""
    vendor_command(app)(submit)
    vendor_command(app)(responses)


def submit(
    caller: Caller,
    file: Annotated[str, typer.Argument(help="The request (JSON); - for standard input.")],
    wait: Wait = 0,
) -> None:
    """Ask payers about the benefits of patients.

    Exit status: 0 every response is in, 1 some are missing or nothing could be asked, 2 the file or
    the request cannot be used, 3 the service is not available or refuses the credentials.

    Examples: clearlane eligibility submit inquiry.json; clearlane eligibility submit - --wait 120
    """
    request = read_json(file)
    if not isinstance(request, dict):
        misuse(f"{file} holds no object.")
    _show(caller, caller.client.submit_eligibility(request), wait)


def responses(
    caller: Caller,
    request_id: Annotated[int, typer.Argument(help="The RequestId of the submission.")],
    wait: Wait = 0,
) -> None:
    """Show everything that has arrived for a request.

    Exit status as for `submit`.

    Example: clearlane eligibility responses 41 --wait 60
    """
    _show(caller, caller.client.eligibility_responses(request_id), wait)


def _show(caller: Caller, answer: "EligibilityAnswer", wait: float) -> None:
    from clearlane.client import StillWaiting

    if wait and answer.waiting:
        try:
            answer = caller.client.wait_for_eligibility(answer, seconds=wait)
        except StillWaiting as late:
            answer = late.answer
    if caller.as_json:
        show_json(answer.raw)
    else:
        _show_answer(answer)
    ends_with(fine=answer.Status == COMPLETE)


def _show_answer(answer: "EligibilityAnswer") -> None:
    typer.echo(f"Request {answer.RequestId}: {answer.Status}")
    for result in answer.ValidationResults:
        said = f"{result.get('Location') or ''} {result.get('Message') or result}"
        typer.echo(printable(f"Not asked: {said}"))
    for error in answer.ErrorResponses:
        said = "; ".join(str(each.get("Message")) for each in error.get("Errors") or ())
        typer.echo(printable(f"Refused by {error.get('Type')}: {said}"))
    rows = [row for patient in answer.patients() for row in _benefits(patient)]
    if rows:
        typer.echo()
        show_table(
            ("patient", "benefit", "services", "period", "amount", "percent", "network"), rows
        )
    if answer.waiting:
        typer.echo(f"More may come: clearlane eligibility responses {answer.RequestId}", err=True)


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
