"""`clearlane restore FILE`: check a backup and replace the database with it."""

from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.backup import ON_POSTGRESQL
from clearlane.cli.storage_command import (
    Data,
    Store,
    anchor_file,
    exit_on_refusal,
    load_settings,
    master_keys,
    operator,
    refuse,
    run_to_end,
    with_store,
)
from clearlane.kernel import limits
from clearlane.kernel.clock import SystemClock, from_micros

app = typer.Typer(add_completion=False)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `clearlane backup` wrote.")],
    data: Data = None,
) -> None:
    """Restore a backup on a SQLite installation, while it runs, and check the result.

    Example: clearlane restore --data .data /backups/monday.backup
    """
    from clearlane.store.backup import Restore

    settings = load_settings(data)
    if settings.on_postgresql:
        refuse(ON_POSTGRESQL)
    with exit_on_refusal():
        keys = master_keys(settings)
    done = run_to_end(
        Restore(
            archive=file,
            file=settings.sqlite_file,
            anchor=anchor_file(settings),
            anchor_copy=settings.anchor_copy,
            keys=keys,
            clock=SystemClock(),
            actor=operator(),
        ).run()
    )
    made = from_micros(done.manifest.created_at)
    typer.echo(f"Restored the backup of {made:%Y-%m-%d %H:%M:%S} UTC; its audit chain is whole.")
    if done.previous:
        typer.echo(f"What was there before is kept in {done.previous}.")
    batches, claims = done.in_doubt
    if batches or claims:
        typer.echo(
            f"{batches} batches and {claims} claims that waited then may have gone out since: they are in "
            "doubt, and nothing of them is sent before you decide. See: clearlane batch list"
        )
    _wait(data, done.revisions)


def _wait(data: Path | None, revisions: dict[str, int]) -> None:
    """Wait until the running nodes have loaded the restored data."""
    from clearlane.store.nodes import wait_for_nodes

    async def work(store: Store) -> list[str]:
        return await wait_for_nodes(
            store.database,
            lambda node: all(seen >= revisions.get(name, 0) for name, seen in node.loaded.items()),
            limits.NODES_WAIT_SECONDS_MAX,
        )

    late = with_store(data, work)
    if late:
        refuse(f"These nodes have not loaded the restored data yet: {', '.join(late)}.")
