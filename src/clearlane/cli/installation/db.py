"""`clearlane db`: status and upgrade of the database schema."""

import typer

from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.output import show_change, show_json, show_message
from clearlane.cli.command.storage_command import (
    Data,
    load_settings,
    master_keys,
    operator,
    run_to_end,
    with_store,
)
from clearlane.settings import Settings

app = typer.Typer(
    no_args_is_help=True, help="The database schema: status, upgrade.", add_completion=False
)


@app.command()
def status(as_json: AsJson = False, data: Data = None) -> None:
    """Show whether the schema is the one this version works with (exit status 1 if it is not).

    Example: clearlane db status --data .data
    """
    from clearlane.store.database import migrate

    settings = load_settings(data)
    state = run_to_end(
        migrate.schema_status(url=settings.session_url, sqlite_file=settings.sqlite_file)
    )
    if as_json:
        show_json({"schema": state.revision, "state": state.state, "sentence": state.sentence})
    else:
        show_message(state.sentence)
    raise typer.Exit(state.state is not migrate.SchemaState.CURRENT)


@app.command()
def upgrade(as_json: AsJson = False, data: Data = None) -> None:
    """Upgrade the schema to this version's. Stop nodes of older versions first.

    Example: clearlane db upgrade --data /var/lib/clearlane
    """
    from clearlane.store.database import migrate
    from clearlane.store.database.schema import HEAD

    settings = load_settings(data)
    before = run_to_end(migrate.upgrade(url=settings.session_url, sqlite_file=settings.sqlite_file))
    if settings.on_postgresql:  # with SQLite the engine has a file of its own and makes it itself
        from clearlane.engine import engine_storage

        engine_storage.upgrade_engine_tables(
            engine_storage.engine_database_url(settings.data, settings.session_url)
        )
    if before.state is migrate.SchemaState.CURRENT:
        show_change(before.sentence, as_json=as_json, schema=HEAD)
        return
    _note(settings, f"{before.revision or 'empty'} to {HEAD}")
    moved = f"The schema was moved from {before.revision or 'an empty database'} to {HEAD}."
    show_change(moved, as_json=as_json, schema=HEAD)


def _note(settings: Settings, step: str) -> None:
    """Audit the upgrade, if there is a key for the audit chain."""
    from clearlane.cli.command.storage_command import Store
    from clearlane.store.database.database import SystemScope, Tx

    async def noted(tx: Tx) -> None:
        tx.audit("schema.upgraded", detail=step)

    async def work(store: Store) -> None:
        await store.database.write(SystemScope("the schema"), noted, actor=operator())

    if master_keys(settings).keys:
        with_store(settings.data, work)
