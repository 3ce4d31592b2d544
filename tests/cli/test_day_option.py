"""Tests `cli/command/day_option`: a day in a command is a date, and what is no day is answered with one."""

from datetime import date
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from clearlane.cli.command.day_option import day_option

app = typer.Typer(rich_markup_mode=None)  # as every app of ours


@app.command()
def show(
    start: Annotated[date | None, day_option("--from", help="First day.")] = None,
    day: Annotated[date | None, day_option(help="A day.")] = None,
) -> None:
    typer.echo(f"{start!r} {day!r}")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], "None None"),
        (["--from", "2026-02-28"], "datetime.date(2026, 2, 28) None"),
        (["--day", "2028-02-29"], "None datetime.date(2028, 2, 29)"),
    ],
    ids=["neither", "by its name", "by its parameter"],
)
def test_a_day_is_a_date(arguments, shown):
    assert CliRunner().invoke(app, arguments).stdout == f"{shown}\n"


@pytest.mark.parametrize("text", ["2026-02-29", "20260228", "tomorrow", ""])
def test_what_is_no_day_is_answered_with_one(text):
    result = CliRunner().invoke(app, ["--from", text])
    assert result.exit_code == 2
    assert f"'--from': '{text}': A day such as 2026-01-31 is expected." in result.output
