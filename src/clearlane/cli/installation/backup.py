"""`clearlane backup FILE`: write one file with everything but the master key."""

from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.output import show_change
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import Data, load_settings, refuse, with_store

app = typer.Typer(add_completion=False)

ON_POSTGRESQL = (
    "This installation is on PostgreSQL, which has its own tools: use pg_dump and pg_restore, "
    "or the server's continuous archiving, then `clearlane backup --record FILE`. Keep the master key with neither."
)


@app.command()
def backup(
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

    Examples: clearlane backup --data .data /backups/monday.backup;
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
