"""Read the file of an import, and write an export as CSV or JSON; - is standard input or output."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.storage_command import MISUSED, refuse
from clearlane.store.vault.private_files import write_private

STANDARD = "-"


class ExportFormat(StrEnum):
    """Formats of an export."""

    CSV = "csv"
    JSON = "json"


ExportFile = Annotated[str, typer.Argument(metavar="FILE", help="- for standard output.")]
OfFormat = Annotated[
    ExportFormat | None, typer.Option(help="csv or json (default: by the file name).")
]
AsJsonFormat = Annotated[bool, typer.Option("--json", help="The same as --format json.")]


def choose_format(file: str, format: ExportFormat | None, *, as_json: bool) -> ExportFormat:
    """Return the format that was asked for, or that of the file's name."""
    by_name = ExportFormat.JSON if file.lower().endswith(".json") else ExportFormat.CSV
    return ExportFormat.JSON if as_json else format or by_name


def read_input(file: str, bytes_max: int) -> bytes:
    """Return the content of a file, up to one byte more than it may have; end the command if it cannot be read."""
    try:
        if file == STANDARD:
            return sys.stdin.buffer.read(bytes_max + 1)
        with Path(file).open("rb") as opened:
            return opened.read(bytes_max + 1)
    except OSError as fault:
        refuse(f"{file} cannot be read: {fault.strerror}.", MISUSED)


def write_export(file: str, text: str, done: str, *, private: bool = False) -> None:
    """Write an export, and say on standard error what is in the file; a private one is for its owner alone."""
    if file == STANDARD:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.flush()
        return
    try:
        (write_private if private else Path.write_bytes)(Path(file), text.encode())
    except OSError as fault:
        refuse(f"{file} cannot be written: {fault.strerror}.", MISUSED)
    typer.echo(done, err=True)
