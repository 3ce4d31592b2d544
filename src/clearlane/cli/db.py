"""`clearlane db`: where the schema stands, and moving it forward."""

import typer

from clearlane.cli.client_command import AsJson
from clearlane.cli.output import show_json
from clearlane.cli.storage_command import (
    Data,
    finish,
    master_keys,
    operator,
    settings_of,
    with_store,
)
from clearlane.settings import Settings

app = typer.Typer(
    no_args_is_help=True, help="The database schema: status, upgrade.", add_completion=False
)


@app.command()
def status(as_json: AsJson = False, data: Data = None) -> None:
    """Say whether the schema is the one this version works with (exit 1 when it is not).

    Example: clearlane db status --data .data
    """
    from clearlane.store import migrate

    settings = settings_of(data)
    state = finish(migrate.state(url=settings.database_url, sqlite_file=settings.sqlite_file))
    if as_json:
        show_json(
            {"schema": state.revision, "standing": state.standing, "sentence": state.sentence}
        )
    else:
        typer.echo(state.sentence)
    raise typer.Exit(state.standing is not migrate.Standing.CURRENT)


@app.command()
def upgrade(data: Data = None) -> None:
    """Move the schema forward to this version's. Stop nodes of older versions first.

    Example: clearlane db upgrade --data /var/lib/clearlane
    """
    from clearlane.store import migrate
    from clearlane.store.schema import HEAD

    settings = settings_of(data)
    before = finish(migrate.upgrade(url=settings.database_url, sqlite_file=settings.sqlite_file))
    if settings.on_postgresql:  # with SQLite the engine has a file of its own and makes it itself
        from clearlane.engine import engine_storage

        engine_storage.upgrade(engine_storage.address(settings.data, settings.database_url))
    if before.standing is migrate.Standing.CURRENT:
        typer.echo(before.sentence)
        return
    _note(settings, f"{before.revision or 'empty'} to {HEAD}")
    typer.echo(f"The schema was moved from {before.revision or 'an empty database'} to {HEAD}.")


def _note(settings: Settings, step: str) -> None:
    """Put the step into the audit trail, where there is a key to chain it with."""
    from clearlane.cli.storage_command import Store
    from clearlane.store.database import System, Tx

    async def noted(tx: Tx) -> None:
        tx.audit("schema.upgraded", detail=step)

    async def work(store: Store) -> None:
        await store.database.write(System("the schema"), noted, actor=operator())

    if master_keys(settings).held:
        with_store(settings.data, work)
