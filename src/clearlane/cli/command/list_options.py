"""Options that several lists share, and which of them do not go together. Needs the base install alone."""

from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.client_command import usage_error

InstallationData = Annotated[Path | None, typer.Option(help="Data directory, as for `serve`.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="CSV for a spreadsheet.")]


def refuse_both(*, as_csv: bool, as_json: bool) -> None:
    """Refuse a list that is asked for in two formats."""
    if as_csv and as_json:
        usage_error("Give one of --csv and --json.")
