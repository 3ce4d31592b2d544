"""``clearlane route``: how payers are reached."""

from typing import Annotated

import typer

from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    make_change,
    show_facts,
    show_json,
    show_list,
    show_rows,
    show_table,
)
from clearlane.cli.command.storage_command import REFUSED, operator
from clearlane.cli.command.table import TableColumn
from clearlane.cli.payer.route_edit import Id, add, change, facts, note_sandbox, remove, show_checks
from clearlane.connect.factory import check_route
from clearlane.payers.routes import (
    KIND_SECRETS,
    OPTIONS_BY_KIND,
    SECRET_NAMES,
    RouteKind,
)
from clearlane.store.delivery.routes import (
    PAYERS_REVISION,
    list_routes,
    load_route,
    route_history,
    set_active,
)
from clearlane.wiring import Installation

app = typer.Typer(help="How payers are reached: folder, SFTP, CAQH CORE.", add_completion=False)

app.command()(add)
app.command()(change)
app.command()(remove)


@app.command("list")
@in_installation()
async def list_(
    installation: Installation,
    removed: Annotated[bool, typer.Option("--removed", help="Include removed routes.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the routes, those of a payer in the order in which they are tried.

    Example: clearlane route list --json
    """
    routes = await list_routes(installation.database, with_removed=removed)
    if routes:
        note_sandbox(installation)
    found = [facts(route, has_secrets=sealed) for route, sealed in routes]
    hint = "Add one with: clearlane route add."
    show_rows(COLUMNS, found, as_json=as_json, noun="route", hint=hint)


@app.command()
@in_installation()
async def show(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Show a route with its options and every change of it. Works for removed routes too.

    Example: clearlane route show 3
    """
    database = installation.database
    stored = await load_route(database, installation.vault, id, even_removed=True)
    route = stored.route
    rows = [
        {"at": f"{one.at:%Y-%m-%dT%H:%M:%SZ}", "actor": one.actor, "action": one.action, "detail": one.detail}
        for one in await route_history(database, id)
    ]  # fmt: skip
    row = facts(route, has_secrets=bool(stored.secrets.filled()))
    if as_json:
        show_json(row | {"history": rows})
        return
    show_facts([(name, value) for name, value in row.items() if name != "options"])
    show_table(
        ["option", TableColumn("value", wrap=True)],
        [[name, route.options[name]] for name in route.options],
    )
    show_table(
        ["when", "who", "what", TableColumn("detail", wrap=True)],
        [list(one.values()) for one in rows],
    )


@app.command("test")
@in_installation()
async def try_(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Test the connection of a route and report each step. Nothing is sent.

    Example: clearlane route test 3
    """
    stored = await load_route(installation.database, installation.vault, id)
    checks = await check_route(stored.route, stored.secrets, clock=installation.clock)
    if as_json:
        show_json([{"what": c.name, "passed": c.passed, "words": c.message} for c in checks])
    else:
        show_checks(checks)
    if not all(check.passed for check in checks):
        raise typer.Exit(REFUSED)


@app.command()
@in_installation()
async def disable(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Stop using a route. Files sent over it stay sent.

    Example: clearlane route disable 3
    """
    await _set_active(installation, id, active=False, as_json=as_json)


@app.command()
@in_installation()
async def enable(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Use a route again.

    Example: clearlane route enable 3
    """
    await _set_active(installation, id, active=True, as_json=as_json)


@app.command()
def options(
    kind: Annotated[RouteKind, typer.Argument(metavar="KIND", case_sensitive=False)],
    as_json: AsJson = False,
) -> None:
    """Show the options and secrets that a kind of route takes.

    Example: clearlane route options sftp
    """
    rows: list[dict[str, object]] = [
        {
            "name": row.name,
            "required": row.required,
            "default": row.default,
            "words": row.description,
        }
        for row in OPTIONS_BY_KIND[kind].values()
    ]
    rows += [
        {"name": name, "required": False, "default": None, "words": "A secret."}
        for name in SECRET_NAMES
        if name in KIND_SECRETS[kind]
    ]
    if as_json:
        show_json(rows)
    else:
        show_list(OPTION_COLUMNS, [_with_default(row) for row in rows], noun="option")


# A default may be long and without a blank, so it follows the words instead of having a column.
OPTION_COLUMNS = (
    TableColumn("option", "name"),
    TableColumn("required", "required"),
    TableColumn("what it is", "words", wrap=True),
)
COLUMNS = (
    TableColumn("id", "id"),
    TableColumn("type", "type"),
    TableColumn("payer", "payer_id"),
    TableColumn("kind", "kind"),
    TableColumn("active", "active"),
    TableColumn("position", "position", right=True, drop=1),
    TableColumn("secrets", "secrets", drop=2),
    TableColumn("to", "to", wrap=True),
)


def _with_default(row: dict[str, object]) -> dict[str, object]:
    default = row["default"]
    return row if default is None else row | {"words": f"{row['words']} Default: {default}"}


async def _set_active(installation: Installation, id: int, *, active: bool, as_json: bool) -> None:
    if active:
        note_sandbox(installation)
    undo = "" if active else f" To undo it: clearlane route enable {id}"
    message = f"Route {id} is {'active' if active else 'disabled'}.{undo}"
    change = set_active(installation.database, id, active=active, actor=operator())
    await make_change(installation, PAYERS_REVISION, message, change, as_json=as_json)
