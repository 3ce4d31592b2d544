"""The option of a day, which a command gets as a date.

Knows no command.
"""

from datetime import date
from typing import Any

import typer

from clearlane.cli.command.filter_options import METAVARS
from clearlane.kernel.list_filter import FilterFault, FilterType, read_filter


def day_option(*names: str, help: str) -> Any:
    """Return the option of a day under these names; without any it has that of its parameter."""
    return typer.Option(*names, parser=_read_day, metavar=METAVARS[FilterType.DAY], help=help)


def _read_day(text: str) -> date:
    try:
        day: date = read_filter(FilterType.DAY, text)
    except FilterFault as fault:
        raise typer.BadParameter(f"'{text}': {fault}") from None
    return day
