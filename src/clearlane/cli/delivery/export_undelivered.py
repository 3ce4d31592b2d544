"""``clearlane export-undelivered``: write undelivered claims as files to be delivered by hand."""

import os
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.operator_command import AsJson, run_in_installation, show_json, show_list
from clearlane.cli.command.output import counted
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import Data, Yes, confirm, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.cli.delivery.batch import facts
from clearlane.pipeline.operator import batch_admin
from clearlane.pipeline.operator.batch_admin import ExportedBatch
from clearlane.store.database.database import OperationRefused
from clearlane.wiring import Installation

app = typer.Typer(add_completion=False)

COLUMNS = (
    TableColumn("file", "name"),
    TableColumn("batch", "id", right=True),
    TableColumn("state", "state", state=True),
    TableColumn("payer", "payer_id"),
    TableColumn("claims", "claims", right=True),
)


@app.command()
def export_undelivered(
    to: Annotated[Path, typer.Option("--to", help="Directory for the files; made if missing.")],
    mark: Annotated[
        bool,
        typer.Option(
            "--mark", help="Mark every written batch as delivered: you deliver the files."
        ),
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Write all undelivered claims as 837 files, with the service stopped or running.

    Claims that still wait are put into batches first, so each is in one file, and that file is the
    one that would be sent. Without --mark nothing counts as sent, and the service sends all of it when it
    runs; with --mark it does not. The files hold patient data: only you can read them.

    Example: clearlane export-undelivered --data .data --to /mnt/carry
    """

    if mark:
        confirm("The written files will not be sent: you deliver them.", yes=yes)

    async def work(installation: Installation) -> tuple[list[dict[str, object]], int]:
        context, written = installation.work_context, []
        _prepare(to)
        async for file in batch_admin.export_undelivered(context, actor=operator()):
            _write(to, file)
            if mark:
                await batch_admin.mark_delivered(context, file.batch.id, actor=operator())
            written.append(facts(file.batch))
        return written, await batch_admin.count_unbatched_claims(context)

    with progress("Writing files"):
        written, left = run_in_installation(data, work)
    if as_json:
        show_json({"files": written, "marked": mark, "claims_not_written": left})
    else:
        claims = counted(sum(int(str(row["claims"])) for row in written), "claim")
        marked = "; they count as delivered" if mark else ""
        total = f"{claims}, written to {to}{marked}"
        show_list(COLUMNS, written, noun="file", hint="Nothing waits to be sent.", total=total)
    if left:
        refuse(f"{left} claims could not be written; the log names them.")


def _prepare(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)


def _write(directory: Path, file: ExportedBatch) -> None:
    """Write a file readable by its owner alone; an existing one must be the same."""
    path = directory / file.batch.name
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        if path.is_symlink() or path.read_bytes() != file.content:
            raise OperationRefused(f"{path} already exists and is a different file.") from None
        return
    with os.fdopen(handle, "wb") as target:
        target.write(file.content)
        target.flush()
        os.fsync(handle)
