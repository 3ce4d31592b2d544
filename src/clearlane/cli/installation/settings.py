"""``clearlane settings``: the effective settings, and where each can be set."""

import json
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.output import show_table
from clearlane.cli.command.table import TableColumn
from clearlane.settings import InvalidSettings, Settings, all_settings, environment_variable, load

app = typer.Typer(help="Show the effective settings.", add_completion=False)

HIDDEN = "(set, hidden)"
COLUMNS = (
    "setting",
    "value",
    TableColumn("environment", drop=1),
    TableColumn("what it does", wrap=True),
)


@app.command()
def settings(
    data: Annotated[Path | None, typer.Option(help="Data directory, as for `serve`.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show every setting, its effective value (secrets hidden) and its environment variable.

    Example: CLEARLANE_PORT=9443 clearlane settings --json
    """
    try:
        effective = load(overrides={"data": data})
    except InvalidSettings as faults:
        typer.echo(str(faults), err=True)
        raise typer.Exit(2) from None
    shown = {name: show(effective, name, secret=row.secret) for name, _, row in all_settings()}
    if as_json:
        typer.echo(json.dumps(shown, indent=2))
        return
    rows = [
        (name, shown[name], environment_variable(name), row.help) for name, _, row in all_settings()
    ]
    show_table(COLUMNS, rows, noun="setting")


def show(effective: Settings, name: str, *, secret: bool) -> str | int | bool | list[str]:
    """Return a setting's printable value; secrets are hidden."""
    value = getattr(effective, name)
    if secret:
        return HIDDEN if value else ""
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, bool | int) else str(value)
