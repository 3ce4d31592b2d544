"""``clearlane enrollment submit``: submit providers to be enrolled over the service."""

from typing import Annotated

import typer

from clearlane.cli.command.client_command import (
    ClientSession,
    exit_with,
    read_json,
    usage_error,
)
from clearlane.cli.command.output import show_json, show_table
from clearlane.cli.command.table import TableColumn


def submit(
    session: ClientSession,
    file: Annotated[str, typer.Argument(help="The request (JSON); - for standard input.")],
) -> None:
    """Submit enrollment requests for billing providers. A provider that exists already is not an error.

    Exit status: 0 all submitted, 1 some not, 2 the file or the request cannot be used,
    3 the service is not available or refuses the credentials.

    Example: clearlane enrollment submit providers.json
    """
    request = read_json(file)
    if not isinstance(request, dict | list):
        usage_error(f"{file} holds no request.")
    answer = session.client.submit_enrollments(request)
    if session.as_json:
        show_json(answer.raw)
    else:
        show_table(
            (
                "enrollment id",
                "last name",
                "first name",
                "submitted",
                TableColumn("message", wrap=True),
            ),
            (
                (r.RequestId, r.LastName, r.FirstName, r.submitted, r.Exception or r.Message)
                for r in answer.EnrollmentResults
            ),
        )
    exit_with(fine=answer.submitted)


VENDOR_COMMANDS = (submit,)
