"""`clearlane audit`: search, verify and export the audit trail."""

import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.day_option import day_option
from clearlane.cli.command.filter_options import filter_options
from clearlane.cli.command.operator_command import in_installation, show_rows
from clearlane.cli.command.output import show_error, show_json, show_text
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import (
    MISUSED,
    Data,
    Store,
    operator,
    refuse,
    with_store,
)
from clearlane.cli.command.table import TableColumn
from clearlane.kernel import limits
from clearlane.kernel.clock import day_start, from_micros, micros_text, moment_text, to_micros
from clearlane.store.audit.audit_actions import audit_words
from clearlane.store.audit.audit_search import AUDIT_FILTERS, NEWEST, AuditRow, search_trail
from clearlane.wiring import Installation

if TYPE_CHECKING:
    from clearlane.store.audit.audit import ChainVerification

app = typer.Typer(
    no_args_is_help=True, help="The audit trail: search, verify, export.", add_completion=False
)

ROWS_FOUND_MAX = 1_000
IDS_SHOWN = 3
COLUMNS = (
    TableColumn("row", "seq", right=True, drop=4),
    TableColumn("at", "at"),
    TableColumn("who", "actor"),
    TableColumn("what", "what", wrap=True),
    TableColumn("of", "of", wrap=True, drop=1),
    TableColumn("details", "detail", wrap=True, drop=3),
    TableColumn("call", "request_id", drop=2),
)


class AuditFormat(StrEnum):
    """Formats of an audit export."""

    JSONL = "jsonl"
    CSV = "csv"


@app.command()
@filter_options(AUDIT_FILTERS)
@in_installation(uses="pipeline.operator.audit_trail")
async def search(
    installation: Installation,
    where: dict[str, Any],
    limit: Annotated[
        int, typer.Option(min=1, max=ROWS_FOUND_MAX, help="Maximum number of rows.")
    ] = 50,
    before: Annotated[
        int | None, typer.Option(min=1, help="Only rows before this one, to go on from a search.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find rows of the audit trail, newest first: who did and saw what. Days are UTC. The search is audited itself.

    Examples: clearlane audit search --id SAMPLE-1 --changes; clearlane audit search --person nora --from 2026-01-01
    """
    from clearlane.pipeline.operator.audit_trail import read_audit_search
    from clearlane.store.audit import audit
    from clearlane.store.database.database import write_audit

    database = installation.database
    wanted = await read_audit_search(
        database, installation.vault, installation.accounts.sites, where, time_zone="UTC"
    )
    found = await search_trail(database, wanted, before=before or NEWEST, limit=limit)
    await write_audit(
        database,
        audit.TRAIL,
        "audit.search",
        ids=[wanted.id] if wanted.id else [],
        detail=", ".join(
            f"{name} {value}" for name, value in where.items() if value and name != "id"
        ),
        actor=operator(),
    )
    show_rows(COLUMNS, [row_facts(row) for row in found.rows], as_json=as_json, noun="row")
    if found.next_before and not as_json:
        show_error(f"There are older rows: --before {found.next_before}")


def row_facts(row: AuditRow) -> dict[str, object]:
    """Return the printable facts of a row of the trail."""
    shown = " ".join(row.ids[:IDS_SHOWN])
    more = f" and {len(row.ids) - IDS_SHOWN} more" if len(row.ids) > IDS_SHOWN else ""
    return {
        "seq": row.seq,
        "at": moment_text(from_micros(row.at)),
        "actor": row.actor,
        "action": row.action,
        "what": audit_words(row.action),
        "ids": list(row.ids),
        "of": shown + more,
        "count": row.count,
        "detail": row.detail,
        "request_id": row.request_id,
    }


@app.command()
def verify(
    anchor: Annotated[
        Path | None,
        typer.Option(help="Another anchor to compare with: a copy, or its line of the system log."),
    ] = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Verify the whole chain; name the first bad row and exit with 1 if there is one.

    Example: clearlane audit verify --data .data
    """
    from clearlane.store.audit import audit
    from clearlane.store.audit.anchor import Anchor

    async def work(store: Store) -> audit.ChainVerification:
        if anchor is not None and not anchor.is_file():
            refuse(f"--anchor: there is no file {anchor}.", MISUSED)
        compared = Anchor(anchor, store.vault.audit_key) if anchor else store.anchor
        with progress("Verifying") as show:
            return await audit.verify(store.database, store.vault, compared, show)

    verdict = with_store(data, work)
    if as_json:
        show_json(asdict(verdict) | {"anchored_at": micros_text(verdict.anchored_at)})
        raise typer.Exit(bool(verdict.fault))
    if verdict.fault:
        refuse(
            f"The audit chain is broken. {verdict.fault} Rows before it that are good: {verdict.rows}."
        )
    typer.echo(f"The audit chain is whole: {verdict.rows - verdict.cut} rows.")
    if verdict.cut:
        show_text(
            f"It begins at row {verdict.cut + 1}: rows up to {verdict.cut_until[:10]} were removed when their retention period was "
            "over, which this installation signed."
        )
    show_text(_vouched(verdict))
    if verdict.restores:
        rows = ", ".join(map(str, verdict.restores))
        show_text(
            f"Restores are recorded in these rows, and rows from before each are missing: {rows}."
        )


@app.command()
def export(
    data: Data = None,
    start: Annotated[
        date | None,
        day_option("--from", help="First day (UTC)."),
    ] = None,
    end: Annotated[
        date | None,
        day_option("--to", help="Last day (UTC), included."),
    ] = None,
    format: Annotated[
        AuditFormat, typer.Option(help="One JSON object per line, or CSV.")
    ] = AuditFormat.JSONL,
    output: Annotated[
        Path | None, typer.Option(help="File to write, mode 0600 (default: standard output).")
    ] = None,
) -> None:
    """Write audit rows, oldest first. The export is audited itself.

    Example: clearlane audit export --from 2026-01-01 --to 2026-01-31 --format csv --output january.csv
    """
    first, after = _bounds(start, end)
    if first >= after:
        refuse("--from is after --to: no day lies between them.", 2)

    async def work(store: Store) -> int:
        with _open_output(output) as out:
            return await _export(store, first, after, format, out)

    written = with_store(data, work)
    typer.echo(f"{written} rows were exported.", err=True)


def _vouched(verdict: "ChainVerification") -> str:
    """Return how much of the chain the anchor vouches for, and how much it cannot."""
    if verdict.anchored is None:
        return "This data directory has no anchor yet: missing rows at the end cannot be detected."
    younger = max(0, verdict.rows - verdict.anchored)
    return (
        f"The anchor of {micros_text(verdict.anchored_at)} vouches for rows {verdict.cut + 1} to {verdict.anchored}; {younger} rows are younger. "
        f"It follows within {limits.ANCHOR_SECONDS_MAX} second: what was written in the last second before a crash may be "
        "missing without a trace."
    )


async def _export(store: Store, first: int, after: int, format: AuditFormat, out: TextIO) -> int:
    from clearlane.store.audit import audit
    from clearlane.store.audit.audit_chain import COLUMNS
    from clearlane.store.database.database import SystemScope, Tx

    async def noted(tx: Tx) -> None:
        days = f"{from_micros(first).date()} to {(from_micros(after) - timedelta(days=1)).date()}"
        tx.audit("audit.exported", detail=f"{days} as {format.value}")

    await store.database.write(SystemScope("an export"), noted, actor=store.actor)
    table = csv.DictWriter(out, COLUMNS)
    if format is AuditFormat.CSV:
        table.writeheader()
    written = 0
    async for row in audit.read_between(store.database, first, after):
        if format is AuditFormat.CSV:
            table.writerow(_readable(row) | {"ids": row["ids"]})
        else:
            out.write(json.dumps(_readable(row), ensure_ascii=False) + "\n")
        written += 1
    return written


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with readable time, ids and hashes."""
    readable = {
        "at": micros_text(row["at"]),
        "ids": json.loads(row["ids"]),
        "prev": row["prev"].hex(),
        "hash": row["hash"].hex(),
    }
    return row | readable


def _bounds(start: date | None, end: date | None) -> tuple[int, int]:
    first = start or date(1970, 1, 1)
    last = end or date(9999, 12, 30)
    return _midnight(first), _midnight(last + timedelta(days=1))


def _midnight(day: date) -> int:
    return to_micros(day_start(day, "UTC"))


@contextmanager
def _open_output(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
        yield out
