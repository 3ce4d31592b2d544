"""`clearlane backup FILE`: write one file with everything but the master key. `clearlane backup verify FILE`: try it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.output import show_change, show_json, show_message
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import (
    MISUSED,
    Data,
    Store,
    exit_on_refusal,
    load_settings,
    master_keys,
    refuse,
    run_to_end,
    with_store,
)
from clearlane.kernel.clock import SystemClock, from_micros, moment_text

if TYPE_CHECKING:
    from clearlane.store.installation.backup_verification import VerifiedBackup

app = typer.Typer(help="Backups: write, verify.", add_completion=False)

_LABELS = {
    "claims": "claims",
    "batches": "files to payers",
    "inbox": "files from payers",
    "payments": "payments",
    "claim_payments": "claim payments",
    "documents": "documents",
}
"""The tables whose rows are shown, with what people call them."""

ON_POSTGRESQL = (
    "This installation is on PostgreSQL, which has its own tools: use pg_dump and pg_restore, "
    "or the server's continuous archiving, then `clearlane backup --record FILE`. Keep the master key with neither."
)


@app.command("write")
def write(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist yet.")],
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="Write nothing: record that FILE was written by other means, such as pg_dump.",
        ),
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Write a backup of a SQLite installation, while it runs. Its age is watched (`clearlane status`).

    The verb can be left out: clearlane backup /backups/monday.backup.

    Examples: clearlane backup write --data .data /backups/monday.backup;
    pg_dump --file /backups/monday.dump clearlane && clearlane backup --record /backups/monday.dump
    """
    from clearlane.store.installation.backup import record_backup, write_backup

    if not file.suffix and file == Path(file.name):
        refuse(
            f"{file} is a bare word: a backup needs the name of a file, such as ./{file}.backup."
        )
    settings = load_settings(data)
    if record:
        if not file.exists():
            refuse(f"There is no file {file}: name the backup that was written.")
        with_store(data, lambda store: record_backup(store.database, file, store.actor))
        show_change(f"{file} is recorded as a backup.", as_json=as_json, file=str(file))
        return
    if settings.on_postgresql:
        refuse(ON_POSTGRESQL)

    with progress("Writing the backup"):
        made = with_store(
            data,
            lambda store: write_backup(
                store.database,
                store.vault,
                file=settings.sqlite_file,
                target=file,
                clock=store.clock,
                actor=store.actor,
            ),
        )
    show_change(
        f"{file}: schema {made.schema}, {made.size} bytes, audit rows {made.audit_seq}.\n"
        "The master key is not in it: keep that in another place.",
        as_json=as_json,
        file=str(file),
        schema=made.schema,
        bytes=made.size,
        audit_rows=made.audit_seq,
        sha256=made.sha256,
    )


@app.command()
def verify(
    file: Annotated[
        Path | None,
        typer.Argument(help="A file that `clearlane backup` wrote.", show_default=False),
    ] = None,
    restored: Annotated[
        bool,
        typer.Option(
            "--restored",
            help="Check the database of the settings instead: one that PostgreSQL's tools restored.",
        ),
    ] = False,
    scratch: Annotated[
        Path | None,
        typer.Option(help="Directory to restore into for the check (default: the data directory)."),
    ] = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Restore a backup into a scratch place and check its audit chain, its counts and its money (exit status 1 if one fails).

    Touches nothing that runs, and leaves nothing behind. Needs the size of the database on the disk while it checks.

    Examples: clearlane backup verify /backups/monday.backup;
    CLEARLANE_DATABASE_URL=postgresql://app@db/scratch clearlane backup verify --restored
    """
    from clearlane.store.installation.backup_verification import verify_backup, verify_restored

    if (file is None) != restored:
        refuse("Name the file of a backup, or give --restored.", MISUSED)
    with progress("Checking the backup"):
        if file is None:

            async def work(store: Store) -> "VerifiedBackup":
                return await verify_restored(store.database, store.vault)

            found = with_store(data, work)
        else:
            settings = load_settings(data)
            with exit_on_refusal():
                keys = master_keys(settings)
            found = run_to_end(
                verify_backup(
                    file, scratch=scratch or settings.data, keys=keys, clock=SystemClock()
                )
            )
    _show_verified(found, str(file or "The database"), as_json=as_json)
    raise typer.Exit(bool(found.faults))


def _show_verified(found: "VerifiedBackup", name: str, *, as_json: bool) -> None:
    made = from_micros(found.manifest.created_at) if found.manifest else None
    if as_json:
        show_json(
            {
                "good": not found.faults,
                "faults": found.faults,
                "created_at": moment_text(made) if made else None,
                "audit_rows": found.audit_rows,
                "rows": found.rows,
            }
        )
        return
    of = f"{name}, of {made:%Y-%m-%d %H:%M:%S} UTC" if made else name
    rows = [f"{label}: {found.rows[table]:,}" for table, label in _LABELS.items()]
    show_message(f"{of}: {', '.join(rows)}; audit rows: {found.audit_rows:,}.")
    if found.faults:
        show_message("\n".join(found.faults))
        return
    show_message(
        f"The audit chain is whole, and all {found.checks} checks of counts and money hold."
    )
