"""``clearlane doctor``: find problems of a service, and what to do about them.

Makes the calls that a vendor's program would make, and if the installation is on this machine, checks its
database and routes too. Changes nothing.
"""

from collections.abc import Iterator
from dataclasses import asdict

import typer

from clearlane.cli.command.client_command import ServiceOptions, with_common_options
from clearlane.cli.command.output import show_json, show_table, show_text
from clearlane.cli.command.table import TableColumn
from clearlane.cli.doctor.doctor_checks import DoctorCheck, DoctorVerdict

app = typer.Typer(
    help="Find problems, and what to do about them.",
    add_completion=False,
    rich_markup_mode=None,
)

NEEDS_DOING = 1


def doctor(options: ServiceOptions) -> None:
    """Check address, certificate, clock, credentials, site, BAA and payers; on the machine of the service
    also its database, nodes and routes.

    Exit status: 0 no problem was found, 1 a problem was found; "To do" lists what to do.

    Examples: clearlane doctor --data .data; clearlane doctor --url https://claims.example.org --key ACME --site S1
    """
    checks = list(_checks(options))
    if options.as_json:
        show_json([asdict(check) for check in checks])
    else:
        show_table(
            (
                "check",
                TableColumn("verdict", state=True),
                TableColumn("what was found", wrap=True),
            ),
            ((check.name, check.verdict, check.says) for check in checks),
        )
        todo = [check for check in checks if check.do]
        typer.echo("\nTo do:" if todo else "\nNo problem was found.")
        for check in todo:
            show_text(check.do, f"  {check.name}: ")
    broken = any(check.verdict is DoctorVerdict.FAULT for check in checks)
    raise typer.Exit(NEEDS_DOING if broken else 0)


app.command()(with_common_options(doctor, lambda options, _: doctor(options)))


def _checks(options: ServiceOptions) -> Iterator[DoctorCheck]:
    from clearlane.cli.doctor.doctor_network import network_checks

    yield from network_checks(options)
    try:
        from clearlane.cli.doctor.doctor_installation import installation_checks
    except ModuleNotFoundError:
        yield DoctorCheck(
            "installation", DoctorVerdict.SKIPPED, "The server is not installed here."
        )
        return
    yield from installation_checks(options.data)
