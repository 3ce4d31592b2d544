"""``clearlane settings``: what this process would run with, and where each value can be set."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from clearlane.settings import BadSettings, Settings, load, table, variable

app = typer.Typer(help="Show the effective settings.", add_completion=False)

HIDDEN = "(set, hidden)"


@app.command()
def settings(
    data: Annotated[Path | None, typer.Option(help="Data directory, as for `serve`.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show every setting, its effective value (secrets hidden) and its environment variable."""
    try:
        effective = load(overrides={"data": data})
    except BadSettings as faults:
        typer.echo(str(faults), err=True)
        raise typer.Exit(2) from None
    shown = {name: show(effective, name, secret=row.secret) for name, _, row in table()}
    if as_json:
        typer.echo(json.dumps(shown, indent=2))
        return
    grid = Table("Setting", "Value", "Environment", "What it does")
    for name, _, row in table():
        grid.add_row(name, str(shown[name]), variable(name), row.help)
    Console().print(grid)


def show(effective: Settings, name: str, *, secret: bool) -> str | int | bool | list[str]:
    """A value as people may see it."""
    value = getattr(effective, name)
    if secret:
        return HIDDEN if value else ""
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, bool | int) else str(value)
