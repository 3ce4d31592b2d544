"""The table of commands and the way a command is found, loaded and run.

Knows no command's work. A command's module has a ``typer.Typer`` named ``app``; a module with one
command in it becomes that command, a module with several becomes a group.
"""

import importlib
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from clearlane import __version__


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: where the command lives and what the list says of it."""

    module: str
    help: str


# In the order of the help text. A module is imported when its command is called, not before:
# `clearlane --help` starts without the server's libraries.
COMMANDS: dict[str, Entry] = {
    "serve": Entry("serve", "Run the service."),
    "worker": Entry("worker", "Run a worker without the front door."),
    "settings": Entry("settings", "Show the effective settings."),
    "vendor": Entry("vendor", "Vendors and their credentials."),
    "site": Entry("site", "Sites (clients) of a vendor: BAA, state, time zone."),
    "payer": Entry("payer", "The payer directory: import, search, export."),
    "route": Entry("route", "How payers are reached: folder, SFTP, CAQH CORE."),
    "claim": Entry("claim", "Check, make and explain claims."),
    "x12": Entry("x12", "Read, check, explain and convert X12 files."),
    "audit": Entry("audit", "Verify and export the audit chain."),
    "keys": Entry("keys", "The master key: show, rotate."),
    "db": Entry("db", "The database schema: status, upgrade."),
    "backup": Entry("backup", "Write a backup of a SQLite installation."),
    "restore": Entry("restore", "Restore a backup and check it."),
}


class Commands(TyperGroup):
    """A group that imports a command when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = importlib.import_module(f"clearlane.cli.{entry.module}")
        command = get_command(module.app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    # A decorated traceback would show what variables hold, and that can be patient data.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"clearlane {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Clearlane, the clearinghouse anyone can run.

    A first look: `clearlane serve --data .data`, then `clearlane payer list --data .data`.
    """


def main() -> None:
    """Run the command line."""
    try:
        app(prog_name="clearlane")
    except BrokenPipeError:
        sys.exit(0)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("clearlane"):
            raise
        typer.echo(
            f"This command needs the package {missing.name!r}, which is not installed. "
            "Install the server with: pip install 'clearlane[server]'",
            err=True,
        )
        sys.exit(1)
