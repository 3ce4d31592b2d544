"""``clearlane payer``: the payer directory that the operator maintains."""

from collections.abc import Callable
from typing import Annotated

import typer

from clearlane.cli.claim.claim_service import search_payers_over_service
from clearlane.cli.command.client_command import CaFile, Key, ServiceOptions, Site, Url
from clearlane.cli.command.export_file import (
    STANDARD,
    AsJsonFormat,
    ExportFile,
    ExportFormat,
    OfFormat,
    choose_format,
    read_input,
    write_export,
)
from clearlane.cli.command.kind_options import PayerTypeOption
from clearlane.cli.command.operator_command import (
    AsJson,
    confirm_loaded,
    in_installation,
    run_in_installation,
    show_facts,
    show_json,
    show_table,
)
from clearlane.cli.command.output import show_error, show_text
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import Data, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.cli.payer import payer_alias
from clearlane.kernel import limits
from clearlane.payers.enrolled_transactions import ERA_SENTENCES
from clearlane.payers.match import PayerMatch
from clearlane.payers.merge import PayerChanges
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.payers.payer_json import payer_object
from clearlane.payers.transfer import RowFinding, as_wire, read_payers, write_csv, write_json
from clearlane.store.delivery.payers import REVISION, import_payers, preview_import, record_export
from clearlane.wiring import Installation

app = typer.Typer(
    help="Payers: those that a vendor can reach, and the directory.", add_completion=False
)
app.add_typer(payer_alias.app, name="alias")


OfType = Annotated[
    PayerTypeOption | None,
    typer.Option("--type", case_sensitive=False, help="Only payers of this type."),
]
OnlyTest = Annotated[bool, typer.Option("--test", help="The sandbox's test payers.")]

NO_PAYERS = "Import some with: clearlane payer import FILE; --test shows a sandbox's."


@app.command("import")
def import_(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="CSV with a header, or a JSON array; - for standard input."
        ),
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Drop the live payers that are not in the file.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Import a file of payers into the directory, all of it or nothing.

    A payer of the same type and PayerId is replaced. Every bad row is reported.

    Example: clearlane payer import payers.csv
    """
    content = read_input(file, limits.PAYER_FILE_BYTES_MAX)

    async def work(installation: Installation) -> PayerChanges:
        if dry_run or incoming.findings:
            return await preview_import(installation.database, incoming.payers, drop_others=replace)
        done = await import_payers(
            installation.database, incoming.payers, drop_others=replace, actor=operator()
        )
        await confirm_loaded(installation.database, REVISION, done.revision)
        return done.changes

    with progress("Reading") as show:
        incoming = read_payers(content, show)
        show(0, label="Storing")
        changes = run_in_installation(data, work)
    findings = sorted((*incoming.findings, *changes.findings), key=lambda row: row.line)
    _report(file, changes, findings, dry_run=dry_run, as_json=as_json)


@app.command("list")
@in_installation()
async def list_(
    installation: Installation, type: OfType = None, test: OnlyTest = False, as_json: AsJson = False
) -> None:
    """List the live payers, or the test payers.

    Example: clearlane payer list --test
    """
    _show(_chosen(installation, type, test=test), as_json=as_json)


@app.command()
@in_installation()
async def show(
    installation: Installation,
    id: Annotated[str, typer.Argument(metavar="ID", help="PayerId, SvcPayerId or national id.")],
    type: OfType = None,
    as_json: AsJson = False,
) -> None:
    """Show a payer by any of its ids.

    Example: clearlane payer show TST01
    """
    types = [type.capitalize()] if type else PAYER_TYPES
    found = [payer for each in types if (payer := installation.payers.find(id, each))]
    if not found:
        alike = [match.payer.payer_id for match in installation.payers.search(id, limit=3)]
        hint = f" Did you mean {', '.join(dict.fromkeys(alike))}?" if alike else ""
        refuse(f"There is no payer {id}.{hint}")
    payers = found
    if as_json:
        show_json([payer_object(payer) for payer in payers])
        return
    for payer in payers:
        show_facts(list(_facts(payer).items()))
        hint = (
            f" `clearlane enrollment list --payer {payer.payer_id} --transaction era` lists providers."
            if payer.era_availability == "RequiresEnrollment"
            else ""
        )
        show_text(f"{ERA_SENTENCES[payer.era_availability]}{hint}", "  ")


@app.command()
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="Name, alias or any id.")],
    type: OfType = None,
    test: OnlyTest = False,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of matches.")] = (
        limits.SEARCH_MATCHES_MAX
    ),
    as_json: AsJson = False,
    data: Data = None,
    url: Url = "",
    key: Key = "",
    site: Site = "",
    ca_file: CaFile = "",
) -> None:
    """Find payers by words that may be misspelled, best match first.

    A vendor asks the service, with --url and --key or their variables; an operator reads the data directory.

    Example: clearlane payer search harbr helth
    """
    if url and data is None:
        search_payers_over_service(
            " ".join(words),
            type.lower() if type else None,
            limit,
            ServiceOptions(url=url, key=key, site=site, ca_file=ca_file, as_json=as_json),
        )

    def among(payer: Payer) -> bool:
        return (payer.is_test or not test) and (type is None or payer.type == type.capitalize())

    async def work(installation: Installation) -> list[PayerMatch]:
        return installation.payers.search(" ".join(words), among=among, limit=limit)

    matches = run_in_installation(data, work)
    if as_json:
        show_json(
            [
                payer_object(one.payer) | {"match": one.rank.name.lower(), "score": one.score}
                for one in matches
            ]
        )
        return
    if not matches:
        refuse("No payer matches.")
    _show([match.payer for match in matches], as_json=False)


@app.command()
@in_installation()
async def export(
    installation: Installation,
    file: ExportFile = STANDARD,
    format: OfFormat = None,
    type: OfType = None,
    test: OnlyTest = False,
    as_json: AsJsonFormat = False,
) -> None:
    """Write the directory as a file that `import` reads back.

    Example: clearlane payer export payers.csv
    """
    payers = _chosen(installation, type, test=test)
    await record_export(installation.database, len(payers), actor=operator())
    text = WRITERS[choose_format(file, format, as_json=as_json)](payers)
    write_export(file, text, f"{len(payers)} payers are written to {file}.")


WRITERS: dict[ExportFormat, Callable[[list[Payer]], str]] = {
    ExportFormat.CSV: write_csv,
    ExportFormat.JSON: write_json,
}
COLUMNS = (
    TableColumn("payer id", "payer_id"),
    TableColumn("type", "type"),
    TableColumn("name", "name", wrap=True),
    TableColumn("svc id", "svc_payer_id", drop=3),
    TableColumn("national id", "national_payer_id", drop=4),
    TableColumn("era", "era_availability", drop=5),
    TableColumn("eligibility", "offers_eligibility", drop=2),
    TableColumn("enrollment", "claim_enrollment_required", drop=2),
    TableColumn("active", "active", drop=1),
    TableColumn("claims", "accepts_claims", drop=1),
)


def _chosen(installation: Installation, type: PayerTypeOption | None, *, test: bool) -> list[Payer]:
    return [
        payer
        for payer in installation.payers.all
        if payer.is_test is test and (type is None or payer.type == type.capitalize())
    ]


def _facts(payer: Payer) -> dict[str, object]:
    return as_wire(payer) | {"IsTest": payer.is_test, "HasRoute": payer.has_route}


def _show(payers: list[Payer], *, as_json: bool) -> None:
    if as_json:
        show_json([payer_object(payer) for payer in payers])
    else:
        rows = ([getattr(payer, one.name) for one in COLUMNS] for payer in payers)
        show_table(COLUMNS, rows, noun="payer", hint=NO_PAYERS)


def _report(
    file: str, changes: PayerChanges, findings: list[RowFinding], *, dry_run: bool, as_json: bool
) -> None:
    """Report what an import did, would do, or why it did nothing."""
    counts = {
        "added": len(changes.added),
        "changed": len(changes.changed),
        "removed": len(changes.removed),
        "unchanged": changes.unchanged,
    }
    if as_json:
        rows = [
            {
                "line": row.line,
                "field": row.finding.location,
                "rule": row.finding.rule,
                "message": row.finding.message,
            }
            for row in findings
        ]
        show_json({"imported": not findings and not dry_run, **counts, "findings": rows})
    elif not findings:
        numbers = ", ".join(f"{count} {name}" for name, count in counts.items())
        typer.echo(f"{'It would be' if dry_run else 'The directory is up to date'}: {numbers}.")
    else:
        for row in findings:
            field = f" {row.finding.location}:" if row.finding.location else ""
            show_error(f"{file}:{row.line}:{field} {row.finding.message}")
        lines = len({row.line for row in findings})
        typer.echo(f"{len(findings)} findings on {lines} lines. Nothing is imported.", err=True)
    if findings:
        raise typer.Exit(1)
