"""``clearlane payer alias``: what the files of a vendor call the payers of the directory."""

from typing import Annotated, NoReturn

import typer

from clearlane.accounts.model import Vendor
from clearlane.cli.command.export_file import read_input
from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    show_change,
    show_rows,
)
from clearlane.cli.command.output import counted
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros
from clearlane.payers.sender_payers import AliasRow, find_any, read_aliases
from clearlane.pipeline.operator.payer_alias_admin import (
    AliasesRefused,
    alias_scope,
    remove_alias,
    set_aliases,
)
from clearlane.store.delivery import payer_aliases
from clearlane.store.delivery.payer_aliases import PayerAlias
from clearlane.wiring import Installation

app = typer.Typer(
    no_args_is_help=True,
    help="What the files of a vendor call the payers of the directory.",
    add_completion=False,
)

OfVendor = Annotated[str, typer.Argument(metavar="VENDOR_KEY", help="The vendor's key.")]
Alias = Annotated[
    str, typer.Argument(metavar="ID", help="The payer's id in the vendor's files (NM109).")
]
COLUMNS = (
    TableColumn("id in files", "id"),
    TableColumn("payer", "payer"),
    TableColumn("name", "name", wrap=True),
    TableColumn("by", "by", drop=1),
    TableColumn("at", "at", drop=2),
    TableColumn("counts", "counts", wrap=True),
)
COUNTS = "yes"
IS_DIRECTORY_ID = "no: the directory has a payer of this id now"
PAYER_GONE = "no: the directory has no such payer"


@app.command("set")
@in_installation()
async def set_(
    installation: Installation,
    vendor: OfVendor,
    id: Alias,
    payer: Annotated[str, typer.Argument(metavar="PAYER", help="Any id of the payer here.")],
    as_json: AsJson = False,
) -> None:
    """Send claims and inquiries of files that name a payer by this id to a payer of the directory.

    An id that a payer of the directory has is refused: the directory counts first.

    Example: clearlane payer alias set ACME 87726A UHC01
    """
    new = await _set(installation, _find_vendor(installation, vendor), [AliasRow(0, id, payer)])
    message = f"{id} in files of vendor {vendor} stands for payer {payer}."
    show_change(message, as_json=as_json, changed=True, id=id, payer=payer, new=bool(new))


@app.command("list")
@in_installation()
async def list_(installation: Installation, vendor: OfVendor, as_json: AsJson = False) -> None:
    """List the payer aliases of a vendor, and whether each counts.

    Example: clearlane payer alias list ACME
    """
    found = _find_vendor(installation, vendor)
    async with installation.database.read(alias_scope(found.id)) as tx:
        rows = await payer_aliases.list_aliases(tx)
    records = [_record(installation, row) for row in rows]
    hint = f"Set one with: clearlane payer alias set {vendor} ID PAYER."
    show_rows(COLUMNS, records, as_json=as_json, noun="payer alias", hint=hint)


@app.command()
@in_installation()
async def remove(
    installation: Installation, vendor: OfVendor, id: Alias, as_json: AsJson = False
) -> None:
    """Remove a payer alias of a vendor. Claims that came before stay with their payer.

    Example: clearlane payer alias remove ACME 87726A
    """
    found = _find_vendor(installation, vendor)
    removed = await remove_alias(installation.database, found.id, id, actor=operator())
    if removed is None:
        refuse(f"There is no alias {id}. clearlane payer alias list {vendor} shows them.")
    message = f"{removed.alias} stands for payer {removed.payer_id} no longer."
    show_change(message, as_json=as_json, changed=True, id=removed.alias, payer=removed.payer_id)


@app.command("import")
@in_installation()
async def import_(
    installation: Installation,
    vendor: OfVendor,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="CSV with the columns id and payer; - for standard input."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Set the payer aliases of a CSV file, all of them or none. Every bad row is reported.

    Example: clearlane payer alias import ACME aliases.csv
    """
    found = _find_vendor(installation, vendor)
    rows, findings = read_aliases(read_input(file, limits.PAYER_FILE_BYTES_MAX))
    if findings:
        _refuse(AliasesRefused(findings), file)
    new = await _set(installation, found, rows, file)
    message = f"{counted(len(rows), 'alias')} set, {new} new."
    show_change(message, as_json=as_json, changed=bool(rows), aliases=len(rows), new=new)


def _find_vendor(installation: Installation, key: str) -> Vendor:
    found = installation.accounts.vendor(key)
    if found is None:
        refuse(f"There is no vendor {key}. `clearlane vendor list` shows them.")
    return found


async def _set(
    installation: Installation, vendor: Vendor, rows: list[AliasRow], file: str = ""
) -> int:
    try:
        return await set_aliases(
            installation.database,
            vendor.id,
            rows,
            payers=installation.payers,
            actor=operator(),
            now=installation.wall.now(),
        )
    except AliasesRefused as refused:
        _refuse(refused, file)


def _refuse(refused: AliasesRefused, file: str) -> NoReturn:
    sentences = [
        f"{file}:{row.line}: {row.finding.message}" if file and row.line else row.finding.message
        for row in refused.findings
    ]
    refuse("\n".join([*sentences, "Nothing is changed."]))


def _record(installation: Installation, row: PayerAlias) -> dict[str, object]:
    payer = find_any(installation.payers, row.payer_id)
    counts = COUNTS if payer else PAYER_GONE
    if find_any(installation.payers, row.alias) is not None:
        counts = IS_DIRECTORY_ID
    return {
        "id": row.alias,
        "payer": row.payer_id,
        "name": payer.name if payer else "",
        "by": row.actor,
        "at": from_micros(row.at),
        "counts": counts,
    }
