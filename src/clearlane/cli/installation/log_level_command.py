"""`clearlane log-level`: show or change what running nodes write to their logs."""

from enum import StrEnum
from typing import Annotated

import typer

from clearlane.cli.command.operator_command import (
    AsJson,
    confirm_loaded,
    in_installation,
    show_change,
    show_record,
)
from clearlane.cli.command.output import counted, minute_text
from clearlane.cli.command.storage_command import MISUSED, operator, refuse
from clearlane.kernel.clock import moment_text
from clearlane.store.installation.log_level import (
    REVISION,
    clear_log_level,
    load_log_level,
    set_log_level,
)
from clearlane.wiring import Installation

MINUTES_MAX = 7 * 24 * 60

app = typer.Typer(
    help="Show or change what running nodes write to their logs.", add_completion=False
)


class Level(StrEnum):
    """Levels of log lines, and the word for the setting of each node."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    DEFAULT = "default"


@app.command()
@in_installation()
async def log_level(
    installation: Installation,
    level: Annotated[
        Level | None,
        typer.Argument(
            help="Least severe lines written; default is the setting of each node.",
            show_default=False,
        ),
    ] = None,
    minutes: Annotated[
        int,
        typer.Option(
            "--for",
            metavar="MINUTES",
            min=0,
            max=MINUTES_MAX,
            help="Go back to the setting after this time (default: when it is changed).",
        ),
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Show the log level of all nodes, or change it while they run, in place of CLEARLANE_LOG_LEVEL.

    Returns when every running node has changed it. A node that is started later takes it too.

    Examples: clearlane log-level debug --for 30; clearlane log-level default
    """
    database = installation.database
    if minutes and level in (None, Level.DEFAULT):
        refuse("--for needs a level: clearlane log-level debug --for 30.", MISUSED)
    if level is None:
        stored = await load_log_level(database)
        facts = {
            "level": stored.level if stored else Level.DEFAULT.value,
            "until": moment_text(stored.until) if stored and stored.until else None,
        }
        show_record(facts, as_json=as_json)
        return
    if level is Level.DEFAULT:
        revision = await clear_log_level(database, actor=operator())
        message = "Every node writes what its own setting CLEARLANE_LOG_LEVEL says."
    else:
        revision = await set_log_level(database, level, minutes=minutes, actor=operator())
        stored = await load_log_level(database)
        message = f"Every node writes lines of level {level.value} and above"
        if stored and stored.until:
            message += f" until {minute_text(stored.until)} UTC ({counted(minutes, 'minute')})"
        message += "."
    await confirm_loaded(database, REVISION, revision)
    show_change(message, as_json=as_json, changed=revision is not None, level=level.value)
