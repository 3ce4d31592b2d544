"""``clearlane settings``: the effective settings and where each can be set, and what is wrong with them."""

import json
from typing import Annotated

import typer

from clearlane.cli.command.list_options import InstallationData
from clearlane.cli.command.output import counted, show_json, show_message, show_table
from clearlane.cli.command.table import TableColumn
from clearlane.settings import (
    InvalidSettings,
    Settings,
    all_settings,
    check_settings,
    environment_variable,
    load,
)

app = typer.Typer(help="The effective settings: show, check.", add_completion=False)


HIDDEN = "(set, hidden)"
COLUMNS = (
    "setting",
    "value",
    TableColumn("environment", drop=1),
    TableColumn("what it does", wrap=True),
)


@app.command("show")
def show_settings(
    data: InstallationData = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show every setting, its effective value (secrets hidden) and its environment variable.

    The verb can be left out. Example: CLEARLANE_PORT=9443 clearlane settings show --json
    """
    try:
        effective = load(overrides={"data": data})
    except InvalidSettings as faults:
        typer.echo(str(faults), err=True)
        raise typer.Exit(2) from None
    shown = shown_settings(effective)
    if as_json:
        typer.echo(json.dumps(shown, indent=2))
        return
    rows = [
        (name, shown[name], environment_variable(name), row.help) for name, _, row in all_settings()
    ]
    show_table(COLUMNS, rows, noun="setting")


@app.command()
def check(
    data: InstallationData = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Check the settings before a start: every fault by name, and what would pass (exit status 1 if there is one).

    Reads what `serve` would: environment, credentials of systemd, clearlane.toml. Opens nothing; `clearlane doctor`
    tries what the settings name.

    Example: clearlane settings check
    """
    faults = check_settings(overrides={"data": data})
    if as_json:
        facts = [{"name": one.source, "message": str(one)} for one in faults]
        show_json({"valid": not faults, "faults": facts})
    else:
        show_message("\n".join(map(str, faults)))
        show_message(f"{counted(len(faults), 'fault')}." if faults else "The settings are valid.")
    raise typer.Exit(bool(faults))


def shown_settings(effective: Settings) -> dict[str, str | int | bool | list[str]]:
    """Return every setting with its printable value."""
    return {name: show(effective, name, secret=row.secret) for name, _, row in all_settings()}


def show(effective: Settings, name: str, *, secret: bool) -> str | int | bool | list[str]:
    """Return a setting's printable value; secrets are hidden."""
    value = getattr(effective, name)
    if secret:
        return HIDDEN if value else ""
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, bool | int) else str(value)
