"""``clearlane doctor``: find out what stands in the way, and say what to do about it.

Asks the service what a vendor's program would ask, and where the installation is on this machine, looks at
its database and routes too. Changes nothing.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum

import typer

from clearlane.cli.client_command import Where, with_common_options
from clearlane.cli.output import show_json, show_table

app = typer.Typer(
    help="Find out what stands in the way, and what to do about it.",
    add_completion=False,
    rich_markup_mode=None,
)

NEEDS_DOING = 1


class Verdict(StrEnum):
    """How a check ended."""

    FINE = "fine"
    WARNING = "warning"
    FAULT = "fault"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it stands, and what to do."""

    name: str
    verdict: Verdict
    says: str
    do: str = ""


def fine(name: str, says: str) -> Check:
    """Nothing to do."""
    return Check(name, Verdict.FINE, says)


def doctor(where: Where) -> None:
    """Check address, certificate, clock, credentials, site, BAA and payers; on the machine of the service
    also its database, nodes and routes.

    Exit status: 0 nothing stands in the way, 1 something does; each line says what to do.

    Examples: clearlane doctor --data .data; clearlane doctor --url https://claims.example.org --key ACME --site S1
    """
    checks = list(_checks(where))
    if where.as_json:
        show_json([asdict(check) for check in checks])
    else:
        show_table(
            ("check", "verdict", "what was found"),
            ((check.name, check.verdict, check.says) for check in checks),
        )
        todo = [check for check in checks if check.do]
        typer.echo("\nTo do:" if todo else "\nNothing stands in the way.")
        for check in todo:
            typer.echo(f"  {check.name}: {check.do}")
    broken = any(check.verdict is Verdict.FAULT for check in checks)
    raise typer.Exit(NEEDS_DOING if broken else 0)


app.command()(with_common_options(doctor, lambda where, _: doctor(where)))


def _checks(where: Where) -> Iterator[Check]:
    from clearlane.cli.doctor_network import network_checks

    yield from network_checks(where)
    try:
        from clearlane.cli.doctor_installation import installation_checks
    except ModuleNotFoundError:
        yield Check("installation", Verdict.SKIPPED, "The server is not installed here.")
        return
    yield from installation_checks(where.data)
