"""Print results: tables and facts for people, JSON for programs. One style for all commands.

A list command describes its columns once and prints with `show_list`; see `table.TableColumn`. Imports nothing from the
server, so that the commands of the base install can use it.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import typer

from clearlane.cli.command.table import TableColumn, columns_of, fit, wrapped
from clearlane.cli.command.terminal import dimmed, output_width
from clearlane.kernel.csv_text import csv_line, escape_formula

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(\.\d+)?(Z|\+00:00)", re.ASCII)
_encoder = msgspec.json.Encoder(decimal_format="number")
ROWS_LOOKED_AT = 200
"""Rows that decide the widths of a long list, which is printed while it arrives."""


def show_json(value: Any) -> None:
    """Print a value as indented JSON."""
    typer.echo(msgspec.json.format(_encoder.encode(value), indent=2).decode())


def show_json_line(value: Any) -> None:
    """Print a value as JSON on one line."""
    typer.echo(_encoder.encode(value).decode())


def show_list(
    columns: Sequence[TableColumn],
    records: Iterable[Mapping[str, object]],
    *,
    noun: str,
    hint: str = "",
    total: str = "",
) -> None:
    """Print a list: a table of the facts that the columns name, and below it how many there are."""
    rows = ([record[column.name] for column in columns] for record in records)
    show_table(columns, rows, noun=noun, hint=hint, total=total)


def show_rows(
    columns: Sequence[TableColumn],
    records: Sequence[Mapping[str, object]],
    *,
    as_json: bool,
    noun: str,
    hint: str = "",
) -> None:
    """Print a list: as JSON with every fact for programs, or as a table."""
    if as_json:
        show_json(records)
    else:
        show_list(columns, records, noun=noun, hint=hint)


def show_limited(
    columns: Sequence[TableColumn],
    records: Sequence[Mapping[str, object]],
    *,
    limit: int | None,
    names: Iterable[str],
    as_csv: bool,
    as_json: bool,
    noun: str,
    hint: str,
    total: str = "",
) -> None:
    """Print a list of at most ``limit`` records, of which the caller asked for one more: a table, CSV or JSON.

    ``names`` are the facts of a record, which head a CSV file. A list that was cut says so: a file of it would look whole.
    """
    shown = records[:limit]
    more = "more with --limit" if len(shown) < len(records) else ""
    if as_json:
        show_json(shown)
    elif as_csv:
        for line in csv_lines(names, shown):
            typer.echo(line, nl=False)
    else:
        total = ", ".join(filter(None, (total, more)))
        show_list(columns, shown, noun=noun, hint=hint, total=total)
    if more and (as_csv or as_json):
        show_error(f"Only the first {counted(len(shown), noun)}: {more}.")


def csv_lines(names: Iterable[str], records: Iterable[Mapping[str, object]]) -> Iterable[str]:
    """Yield the lines of a CSV file: the names of the facts, then a record each."""
    names = tuple(names)
    yield csv_line(names)
    for record in records:
        values = (record[name] for name in names)
        yield csv_line(escape_formula("" if one is None else str(one)) for one in values)


def show_record(
    record: Mapping[str, object], columns: Sequence[TableColumn] = (), *, as_json: bool
) -> None:
    """Print the facts of one thing: as JSON for programs, or with the labels of columns."""
    if as_json:
        show_json(record)
    else:
        labels = {one.name: one.label for one in columns} or {name: name for name in record}
        show_facts([(label, record[name]) for name, label in labels.items()])


def show_table(
    header: Sequence[str | TableColumn],
    rows: Iterable[Sequence[object]],
    *,
    noun: str = "",
    hint: str = "",
    total: str = "",
) -> None:
    """Print a table that fits the terminal, with nothing cut.

    With a ``noun`` ("payment") the number of rows is printed below it, with ``total`` added. An empty list is "No
    payments." and the ``hint``, which says how to get some. A hint in lower case ("need attention.") ends that sentence.
    """
    columns = columns_of(header)
    cells = ([cell_text(cell) for cell in row] for row in rows)
    first = list(itertools.islice(cells, ROWS_LOOKED_AT))
    if noun and not first:
        show_text(f"No {plural(noun)}{'' if hint[:1].islower() else '.'} {hint}".rstrip())
        return
    layout = fit(columns, first, output_width())
    show_lines(layout.head())
    count = 0
    for row in itertools.chain(first, cells):
        show_lines(layout.row(row))
        count += 1
    below = [f"{counted(count, noun)}{total and ', '}{total}." if noun else ""]
    if layout.left_out and not layout.stacked:
        below.append(f"Not shown: {', '.join(layout.left_out).lower()} (--wide shows all).")
    if said := " ".join(filter(None, below)):
        show_lines(map(dimmed, wrapped(said, "", output_width())))


def show_facts(facts: Sequence[tuple[str, object]]) -> None:
    """Print labels and values, one pair a line; long values are wrapped beside their labels."""
    label_width = max(len(label) for label, _ in facts)
    for label, value in facts:
        show_lines(wrapped(cell_text(value), f"  {label.ljust(label_width)}  ", output_width()))


def show_text(text: str, before: str = "", indent: int | None = None) -> None:
    """Print a text wrapped to the terminal, with a prefix on its first line."""
    show_lines(wrapped(printable(text), before, output_width(), indent))


def show_message(message: str, *, err: bool = False) -> None:
    """Print a message of our own, whose lines are wrapped to the terminal each."""
    for part in message.splitlines():
        for line in wrapped(printable(part), "", output_width(err=err)):
            typer.echo(line, err=err)


def show_error(message: str) -> None:
    """Print a message on the error stream."""
    show_message(message, err=True)


def counted(count: int, noun: str) -> str:
    """Return a number and its noun: ``1 batch``, ``25,000 claims``."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def printable(text: str) -> str:
    """Return a text without control characters, which a terminal would execute."""
    return "".join(c if c.isprintable() else " " for c in text)


def show_lines(lines: Iterable[str]) -> None:
    """Print lines."""
    for line in lines:
        typer.echo(line)


def cell_text(value: object) -> str:
    """Return a value as tables and facts show it. Moments are UTC to the minute; JSON and CSV have the whole of them."""
    if isinstance(value, datetime):
        return minute_text(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    text = "" if value is None else printable(str(value))
    return _MOMENT.sub(r"\1 \2", text) if _MOMENT.fullmatch(text) else text


def minute_text(at: datetime) -> str:
    """Return a moment as people read it, in UTC."""
    return f"{at:%Y-%m-%d %H:%M}"


def show_change(message: str, *, as_json: bool, changed: bool = True, **facts: object) -> None:
    """Print what a command changed: its message, or for programs the facts with the message."""
    if as_json:
        show_json({"changed": changed, "message": message, **facts})
    else:
        show_message(message if changed else f"{message} No change was needed.")
