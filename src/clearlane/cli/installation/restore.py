"""`clearlane restore FILE`: check a backup and replace the database with it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.output import show_change
from clearlane.cli.command.progress import progress
from clearlane.cli.command.storage_command import (
    Data,
    DryRun,
    Yes,
    anchor_file,
    confirm,
    exit_on_refusal,
    load_settings,
    master_keys,
    operator,
    refuse,
    run_to_end,
    with_store,
)
from clearlane.cli.installation.backup import ON_POSTGRESQL
from clearlane.kernel import limits
from clearlane.kernel.clock import SystemClock, from_micros, moment_text

if TYPE_CHECKING:
    from clearlane.store.installation.backup import RestoreResult

app = typer.Typer(add_completion=False)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `clearlane backup` wrote.")],
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Restore a backup on a SQLite installation, while it runs, and check the result.

    What it replaces is kept beside it, under a name with the moment. --dry-run checks the backup alone.

    Example: clearlane restore --yes --data .data /backups/monday.backup
    """
    from clearlane.store.installation.backup import Restore

    settings = load_settings(data)
    if settings.on_postgresql:
        refuse(ON_POSTGRESQL)
    with exit_on_refusal():
        keys = master_keys(settings)
    restored = Restore(
        archive=file,
        file=settings.sqlite_file,
        anchor=anchor_file(settings),
        anchor_copy=settings.anchor_copy,
        keys=keys,
        clock=SystemClock(),
        actor=operator(),
    )
    if not dry_run:
        confirm(f"The database {settings.sqlite_file} will be replaced by the backup.", yes=yes)
    with progress("Checking the backup" if dry_run else "Restoring the backup"):
        done = run_to_end(restored.check() if dry_run else restored.run())
    batches, claims = done.in_doubt
    show_change(
        "\n".join(_lines(done, dry_run=dry_run)),
        as_json=as_json,
        dry_run=dry_run,
        created_at=moment_text(from_micros(done.manifest.created_at)),
        previous=str(done.previous) if done.previous else None,
        batches_in_doubt=batches,
        claims_in_doubt=claims,
    )
    if not dry_run:
        _wait(data, done.revisions)


def _lines(done: "RestoreResult", *, dry_run: bool) -> list[str]:
    made = f"{from_micros(done.manifest.created_at):%Y-%m-%d %H:%M:%S} UTC"
    began = f"The backup of {made} can be restored" if dry_run else f"Restored the backup of {made}"
    lines = [f"{began}; its audit chain is whole."]
    if done.previous:
        lines.append(f"What was there before is kept in {done.previous}.")
    batches, claims = done.in_doubt
    if batches or claims:
        lines.append(
            f"{batches} batches and {claims} claims that waited then may have gone out since: they are in "
            "doubt, and none of them is sent before you decide. See: clearlane batch list"
        )
    return lines


def _wait(data: Path | None, revisions: dict[str, int]) -> None:
    """Wait until the running nodes have loaded the restored data."""
    from clearlane.store.installation.nodes import wait_for_nodes

    late = with_store(
        data,
        lambda store: wait_for_nodes(
            store.database,
            lambda node: all(seen >= revisions.get(name, 0) for name, seen in node.loaded.items()),
            limits.NODES_WAIT_SECONDS_MAX,
        ),
    )
    if late:
        refuse(f"These nodes have not loaded the restored data yet: {', '.join(late)}.")
