"""``clearlane claim list``: claims by any filter, as a table, JSON or CSV.

A vendor asks the service; an operator reads the data directory (``stored_claims``). Both give the objects of v1.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from clearlane.claims.claim_filters import CLAIM_FILTERS
from clearlane.cli.command.client_command import (
    AsJson,
    CaFile,
    Key,
    ServiceOptions,
    Site,
    Url,
    client_session,
    usage_error,
)
from clearlane.cli.command.filter_options import filter_options
from clearlane.cli.command.output import show_json, show_list
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.csv_text import csv_line, escape_formula

LIMIT_DEFAULT = 100
COLUMNS = (
    TableColumn("claim number", "claim_number"),
    TableColumn("vendor claim id", "vendor_claim_id"),
    TableColumn("label", "label"),
    TableColumn("reason", "reason", drop=7, wrap=True),
    TableColumn("payer", "payer_id", drop=1),
    TableColumn("charge", "charge", right=True),
    TableColumn("paid", "paid", right=True, drop=2),
    TableColumn("kind", "kind", drop=4),
    TableColumn("site", "site", drop=3),
    TableColumn("received", "created_at", drop=5),
    TableColumn("changed", "changed_at", drop=6),
)
Limit = Annotated[int, typer.Option(min=1, help="Maximum number of claims.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="CSV for a spreadsheet, with every fact.")]
Data = Annotated[Path | None, typer.Option(help="Data directory, as for `serve`.")]


@filter_options(CLAIM_FILTERS, read=False)
def list_claims(
    where: Mapping[str, str | None],
    *,
    limit: Limit = LIMIT_DEFAULT,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
    data: Data = None,
    url: Url = "",
    key: Key = "",
    site: Site = "",
    ca_file: CaFile = "",
) -> None:
    """List claims, newest first.

    The page of states (docs/reference/states.md) explains every label.

    A vendor asks the service, with --url and --key or their variables; an operator reads the data directory. Audited.

    Examples: clearlane claim list --tab needs_you; clearlane claim list --payer TST01 --service-from 2026-01-01 --csv
    """
    filters = {name: text for name, text in where.items() if text is not None}
    if as_csv and as_json:
        usage_error("Give one of --csv and --json.")
    if url and data is None:
        options = ServiceOptions(url=url, key=key, site=site, ca_file=ca_file, as_json=as_json)
        with client_session(options) as session:
            found = islice(session.client.claims.find(**filters), limit)
            _show([claim.raw for claim in found], as_csv=as_csv, as_json=as_json, limit=limit)
        return
    from clearlane.cli.claim.stored_claims import load_claims

    _show(load_claims(filters, site, limit, data), as_csv=as_csv, as_json=as_json, limit=limit)


def _show(
    claims: Iterable[Mapping[str, object]], *, as_csv: bool, as_json: bool, limit: int
) -> None:
    found = list(claims)
    if as_json:
        show_json(found)
    elif as_csv:
        for line in csv_lines(found):
            typer.echo(line, nl=False)
    else:
        show_list(
            COLUMNS,
            found,
            noun="claim",
            hint="Other filters may list some.",
            total="more with --limit" if len(found) == limit else "",
        )


def csv_lines(claims: Iterable[Mapping[str, object]]) -> Iterable[str]:
    """Yield the lines of a CSV file: the names of the facts, then a claim each."""
    for number, claim in enumerate(claims):
        if number == 0:
            yield csv_line(claim)
        yield csv_line(
            escape_formula("" if value is None else str(value)) for value in claim.values()
        )
