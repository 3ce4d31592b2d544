"""Print results: aligned columns for people, JSON for programs.

Imports nothing of the server, so that the commands of the base install can use it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import typer

_encoder = msgspec.json.Encoder(decimal_format="number")


def show_json(value: Any) -> None:
    """Print a value as indented JSON."""
    typer.echo(msgspec.json.format(_encoder.encode(value), indent=2).decode())


def show_json_line(value: Any) -> None:
    """Print a value as JSON on one line."""
    typer.echo(_encoder.encode(value).decode())


def show_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print aligned columns, never cut to the width of the terminal."""
    lines = [[label.upper() for label in header], *([_word(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        show_line(line, widths)


def show_line(cells: Sequence[object], widths: Sequence[int]) -> None:
    """Print one row of columns with given widths."""
    padded = (_word(cell).ljust(width) for cell, width in zip(cells, widths, strict=True))
    typer.echo("  ".join(padded).rstrip())


def show_facts(facts: Sequence[tuple[str, object]]) -> None:
    """Print labels and values, one pair a line."""
    width = max(len(label) for label, _ in facts)
    for label, value in facts:
        typer.echo(f"  {label.ljust(width)}  {_word(value)}".rstrip())


def printable(text: str) -> str:
    """Return a text without control characters, which a terminal would execute."""
    return "".join(c if c.isprintable() else " " for c in text)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else printable(str(value))


def show_change(message: str, *, as_json: bool, changed: bool = True, **facts: object) -> None:
    """Print what a command changed: its message, or for programs the facts with the message."""
    if as_json:
        show_json({"changed": changed, "message": message, **facts})
    else:
        typer.echo(message if changed else f"{message} No change was needed.")
