"""`clearlane db`: status and upgrade of the database schema."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.output import show_change, show_json, show_message, show_table
from clearlane.cli.command.storage_command import (
    Data,
    load_settings,
    master_keys,
    operator,
    run_to_end,
    with_store,
)
from clearlane.cli.command.table import TableColumn
from clearlane.settings import Settings

if TYPE_CHECKING:
    from clearlane.store.database.migrate import SchemaStatus
    from clearlane.store.database.pending_changes import PlannedChange

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
    raise typer.Exit(not state.is_usable)


@app.command()
def upgrade(
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Change nothing: say what an upgrade would do, what waits for it, and about how long.",
        ),
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Upgrade the schema to this version's. Stop nodes of older versions first, unless --check says that they may run on.

    With --check, the exit status is 1 if the database cannot be upgraded.

    Examples: clearlane db upgrade --check; clearlane db upgrade --data /var/lib/clearlane
    """
    from clearlane.store.database import migrate
    from clearlane.store.database.schema import HEAD

    settings = load_settings(data)
    if check:
        _show_plan(settings, as_json=as_json)
        return
    before = run_to_end(migrate.upgrade(url=settings.session_url, sqlite_file=settings.sqlite_file))
    if settings.on_postgresql:  # with SQLite the engine has a file of its own and makes it itself
        from clearlane.engine import engine_storage

        engine_storage.upgrade_engine_tables(
            engine_storage.engine_database_url(settings.data, settings.session_url)
        )
    if before.is_usable:
        show_change(before.sentence, as_json=as_json, schema=HEAD)
        return
    _note(settings, f"{before.revision or 'empty'} to {HEAD}")
    moved = f"The schema was moved from {before.revision or 'an empty database'} to {HEAD}."
    show_change(moved, as_json=as_json, schema=HEAD)


def _show_plan(settings: Settings, *, as_json: bool) -> None:
    from clearlane.store.database import migrate
    from clearlane.store.database.schema import HEAD
    from clearlane.store.database.schema_revision import is_supported

    status, planned = run_to_end(
        migrate.plan_upgrade(url=settings.session_url, sqlite_file=settings.sqlite_file)
    )
    old_nodes_may_run = status.revision is not None and is_supported(HEAD, head=status.revision)
    if as_json:
        show_json(
            {
                "schema": status.revision,
                "to": HEAD,
                "state": status.state,
                "changes": [
                    {
                        "what": one.change.what,
                        "table": one.change.table,
                        "waits": one.change.lock,
                        "work": one.change.work,
                        "rows": one.rows,
                        "seconds": one.seconds,
                    }
                    for one in planned
                ],
                "old_nodes_may_run": old_nodes_may_run,
            }
        )
    else:
        show_message(status.sentence)
        if status.state is migrate.SchemaState.OLD:
            _show_changes(status, planned, old_nodes_may_run=old_nodes_may_run)
    cannot = {migrate.SchemaState.NEWER, migrate.SchemaState.UNRELEASED}
    raise typer.Exit(status.state in cannot)


def _show_changes(
    status: "SchemaStatus", planned: "Sequence[PlannedChange]", *, old_nodes_may_run: bool
) -> None:
    columns = (
        TableColumn("what", wrap=True),
        "table",
        "waits",
        TableColumn("rows", right=True),
        TableColumn("about", right=True),
    )
    rows = [
        (one.change.what, one.change.table, one.change.lock, f"{one.rows:,}", f"{one.seconds} s")
        for one in planned
    ]
    show_table(columns, rows, noun="change")
    show_message("It is one transaction: all of it happens, or none.")
    nodes = (
        f"Nodes of schema {status.revision} may run on: upgrade first, then replace them one by one."
        if old_nodes_may_run
        else f"Nodes of schema {status.revision} must be stopped first."
    )
    show_message(nodes)


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
