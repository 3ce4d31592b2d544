"""`clearlane audit`: verify the audit chain, and read it out."""

import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from clearlane.cli.client_command import AsJson
from clearlane.cli.output import show_json
from clearlane.cli.storage_command import Data, Store, refuse, shown_to_a_person, with_store
from clearlane.kernel.clock import micros, moment

app = typer.Typer(
    no_args_is_help=True, help="The audit trail: verify, export.", add_completion=False
)

DAY = "%Y-%m-%d"


class Format(StrEnum):
    """How an export is written."""

    JSONL = "jsonl"
    CSV = "csv"


@app.command()
def verify(as_json: AsJson = False, data: Data = None) -> None:
    """Walk the whole chain; name the first bad row and end with 1 if there is one.

    Example: clearlane audit verify --data .data
    """
    from clearlane.store import audit

    async def work(store: Store) -> audit.Verdict:
        with _progress("Verifying") as progress:
            return await audit.verify(store.database, store.vault.audit_key, store.anchor, progress)

    verdict = with_store(data, work)
    if as_json:
        show_json(asdict(verdict))
        raise typer.Exit(bool(verdict.fault))
    if verdict.fault:
        refuse(
            f"The audit chain is broken. {verdict.fault} Rows before it that are good: {verdict.rows}."
        )
    typer.echo(f"The audit chain is whole: {verdict.rows} rows.")
    if verdict.anchored is None:
        typer.echo("This data directory has no anchor yet: a cut tail could not be seen from here.")


@app.command()
def export(
    data: Data = None,
    start: Annotated[
        datetime | None, typer.Option("--from", formats=[DAY], help="First day (UTC).")
    ] = None,
    end: Annotated[
        datetime | None, typer.Option("--to", formats=[DAY], help="Last day (UTC), included.")
    ] = None,
    format: Annotated[Format, typer.Option(help="One JSON object a line, or CSV.")] = Format.JSONL,
    output: Annotated[
        Path | None, typer.Option(help="File to write (mode 0600); standard output without it.")
    ] = None,
) -> None:
    """Write the audit rows of some days, oldest first. The export is audited itself.

    Example: clearlane audit export --from 2026-01-01 --to 2026-01-31 --format csv --output january.csv
    """
    first, after = _bounds(start, end)
    if first >= after:
        refuse("--from is after --to: no day lies between them.", 2)

    async def work(store: Store) -> int:
        with _opened(output) as out:
            return await _export(store, first, after, format, out)

    written = with_store(data, work)
    typer.echo(f"{written} rows were exported.", err=True)


async def _export(store: Store, first: int, after: int, format: Format, out: TextIO) -> int:
    from clearlane.store import audit
    from clearlane.store.audit_chain import COLUMNS
    from clearlane.store.database import System, Tx

    async def noted(tx: Tx) -> None:
        days = f"{moment(first):{DAY}} to {moment(after) - timedelta(days=1):{DAY}}"
        tx.audit("audit.exported", detail=f"{days} as {format.value}")

    await store.database.write(System("an export"), noted, actor=store.actor)
    table = csv.DictWriter(out, COLUMNS)
    if format is Format.CSV:
        table.writeheader()
    written = 0
    async for row in audit.between(store.database, first, after):
        if format is Format.CSV:
            table.writerow(_plain(row) | {"ids": row["ids"]})
        else:
            out.write(json.dumps(_plain(row), ensure_ascii=False) + "\n")
        written += 1
    return written


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row as people and programs read it."""
    told = {
        "at": moment(row["at"]).isoformat().replace("+00:00", "Z"),
        "ids": json.loads(row["ids"]),
        "prev": row["prev"].hex(),
        "hash": row["hash"].hex(),
    }
    return row | told


def _bounds(start: datetime | None, end: datetime | None) -> tuple[int, int]:
    first = start.date() if start else date(1970, 1, 1)
    last = end.date() if end else date(9999, 12, 30)
    return _midnight(first), _midnight(last + timedelta(days=1))


def _midnight(day: date) -> int:
    return micros(datetime(day.year, day.month, day.day, tzinfo=UTC))


@contextmanager
def _opened(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
        yield out


@contextmanager
def _progress(label: str) -> Iterator[Any]:
    """A bar on standard error, when a person looks at it."""
    if not shown_to_a_person():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
