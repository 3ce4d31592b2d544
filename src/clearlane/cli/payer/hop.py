"""``clearlane hop``: upstream clearinghouses that serve many payers, and the ids that they have for these.

A hop is a route (`clearlane route add ID --type hop`) with a map from our payer ids to its own. Knows the steps of a
command; how a map is read is in ``payers``, how it is stored in ``store``.
"""

from typing import Annotated

import typer

from clearlane.cli.command.export_file import read_input
from clearlane.cli.command.kind_options import PayerTypeOption
from clearlane.cli.command.operator_command import (
    AsJson,
    confirm_loaded,
    in_installation,
    make_change,
    show_change,
    show_json,
    show_rows,
)
from clearlane.cli.command.output import counted, show_error, show_list
from clearlane.cli.command.storage_command import REFUSED, DryRun, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.cli.payer.route_edit import note_sandbox
from clearlane.payers.hops import (
    HOP,
    HOP_FILE_BYTES_MAX,
    HopPayer,
    read_hop_payer,
    read_map,
    write_map,
)
from clearlane.payers.routes import Route
from clearlane.store.delivery.routes import (
    PAYERS_REVISION,
    list_hop_payers,
    list_routes,
    set_hop_payers,
)
from clearlane.wiring import Installation

BUILT_IN = "{id} is the hop of the sandbox: its map cannot be changed."
UNKNOWN = "There is no hop {id}. `clearlane hop list` shows them."
COLUMNS = (
    TableColumn("hop", "id"),
    TableColumn("name", "name", wrap=True),
    TableColumn("route", "route"),
    TableColumn("kind", "kind"),
    TableColumn("active", "active"),
    TableColumn("payers", "payers", right=True),
)
PAYER_COLUMNS = (
    TableColumn("type", "type"),
    TableColumn("payer", "payer_id"),
    TableColumn("name", "name", wrap=True),
    TableColumn("id there", "hop_payer_id"),
    TableColumn("active", "active"),
)

app = typer.Typer(
    help="Upstream clearinghouses that serve many payers, and their payer ids.",
    add_completion=False,
)

HopId = Annotated[str, typer.Argument(metavar="HOP", help="The id of the hop, such as EASTGATE.")]
PayerId = Annotated[str, typer.Argument(metavar="PAYER_ID", help="PayerId or SvcPayerId.")]
OfType = Annotated[
    PayerTypeOption, typer.Option("--type", case_sensitive=False, help="Type of claims.")
]


@app.command("list")
@in_installation()
async def list_(installation: Installation, as_json: AsJson = False) -> None:
    """List the hops and how many payers each serves.

    Example: clearlane hop list
    """
    in_use = {hop.id: hop for hop in installation.connections.hops()}
    rows: list[dict[str, object]] = []
    for route, _ in await list_routes(installation.database):
        if route.type == HOP and route.carries_files:
            served = [
                one for one in await list_hop_payers(installation.database, route.id) if one.active
            ]
            in_use.pop(route.payer_id, None)
            rows.append(
                {
                    "id": route.payer_id,
                    "name": route.text("receiver_name") or route.payer_id,
                    "route": route.id,
                    "kind": route.kind.value,
                    "active": route.active,
                    "payers": len(served),
                }
            )
    rows += (
        {"id": hop.id, "name": hop.name, "route": 0, "kind": "loopback", "active": True, "payers": len(hop.served)}
        for hop in in_use.values()
    )  # fmt: skip
    hint = "Add one with: clearlane route add ID --type hop."
    show_rows(COLUMNS, rows, as_json=as_json, noun="hop", hint=hint)


@app.command()
@in_installation()
async def show(
    installation: Installation,
    hop: HopId,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print a map that can be imported.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the payers that a hop serves, by our ids and its own. Those taken off the map are not active.

    Example: clearlane hop show EASTGATE --csv
    """
    payers = await _payers(installation, hop)
    if as_csv:
        typer.echo(write_map([one for one in payers if one.active]), nl=False)
        return
    find = installation.payers.find
    rows: list[dict[str, object]] = [
        {**one._asdict(), "name": payer.name if (payer := find(one.payer_id, one.type)) else ""}
        for one in payers
    ]
    if as_json:
        show_json(rows)
        return
    hint = f"Give it payers: clearlane hop import {hop} FILE"
    gone = sum(not one.active for one in payers)
    total = f"{gone} taken off the map" if gone else ""
    show_list(PAYER_COLUMNS, rows, noun="payer", hint=hint, total=total)


@app.command("set")
@in_installation()
async def set_(
    installation: Installation,
    hop: HopId,
    payer_id: PayerId,
    hop_payer_id: Annotated[
        str, typer.Argument(metavar="HOP_PAYER_ID", help="The id that the hop has for the payer.")
    ],
    type: OfType,
    as_json: AsJson = False,
) -> None:
    """Send claims of a payer over a hop, under the id that the hop has for it.

    Example: clearlane hop set EASTGATE MDW10 60054 --type medical
    """
    note_sandbox(installation)
    found, findings = read_hop_payer(type, payer_id, hop_payer_id, installation.payers)
    if found is None:
        refuse(" ".join(f"{one.location}: {one.message}" for one in findings))
    message = f"{found.payer_id} goes over {hop} as {found.hop_payer_id}."
    route_id = await _route_id(installation, hop)
    change = set_hop_payers(installation.database, route_id, [found], actor=operator())
    await make_change(installation, PAYERS_REVISION, message, change, as_json=as_json)


@app.command()
@in_installation()
async def remove(
    installation: Installation, hop: HopId, payer_id: PayerId, type: OfType, as_json: AsJson = False
) -> None:
    """Take a payer off the map of a hop. What still comes back for its claims is taken.

    Example: clearlane hop remove EASTGATE MDW10 --type medical
    """
    wanted = (type.capitalize(), payer_id.casefold())
    route_id = await _route_id(installation, hop)
    found = [
        one for one in await list_hop_payers(installation.database, route_id) if one.key == wanted
    ]
    if not found or not found[0].active:
        refuse(f"{hop} serves no {type} payer {payer_id}: clearlane hop show {hop}")
    gone = found[0]._replace(active=False)
    message = f"{gone.payer_id} no longer goes over {hop}."
    change = set_hop_payers(installation.database, route_id, [gone], actor=operator())
    await make_change(installation, PAYERS_REVISION, message, change, as_json=as_json)


@app.command("import")
@in_installation()
async def import_(
    installation: Installation,
    hop: HopId,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV with the columns Type, PayerId and HopPayerId; - for standard input.",
        ),
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Take payers off the map that are not in the file.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import the payer ids of a hop, all of them or nothing. Every bad row is reported.

    Example: clearlane hop import EASTGATE payers.csv --replace
    """
    note_sandbox(installation)
    route_id = await _route_id(installation, hop)
    read = read_map(read_input(file, HOP_FILE_BYTES_MAX), installation.payers)
    for row in read.findings:
        where = ": ".join(filter(None, (f"{file}, line {row.line}", row.finding.location)))
        show_error(f"{where}: {row.finding.message}")
    if read.findings:
        raise typer.Exit(REFUSED)
    revision = None
    if not dry_run:
        done = await set_hop_payers(
            installation.database, route_id, read.payers, drop_others=replace, actor=operator()
        )
        revision = done.revision
        await confirm_loaded(installation.database, PAYERS_REVISION, revision)
    served = [one for one in await list_hop_payers(installation.database, route_id) if one.active]
    words = (
        f"{counted(len(read.payers), 'payer')} read"
        if dry_run
        else f"{hop} serves {counted(len(served), 'payer')}"
    )
    show_change(
        f"{words}.",
        as_json=as_json,
        changed=revision is not None,
        dry_run=dry_run,
        read=len(read.payers),
        payers=len(served),
    )


async def _find_route(installation: Installation, hop: str) -> Route | None:
    routes = [route for route, _ in await list_routes(installation.database)]
    return next(
        (one for one in routes if (one.type, one.payer_id) == (HOP, hop) and one.carries_files),
        None,
    )


async def _route_id(installation: Installation, hop: str) -> int:
    """Return the route of a hop whose map can be changed."""
    route = await _find_route(installation, hop)
    if route is None:
        is_built_in = any(one.id == hop for one in installation.connections.hops())
        refuse((BUILT_IN if is_built_in else UNKNOWN).format(id=hop))
    return route.id


async def _payers(installation: Installation, hop: str) -> list[HopPayer]:
    route = await _find_route(installation, hop)
    if route is not None:
        return await list_hop_payers(installation.database, route.id)
    built_in = [one for one in installation.connections.hops() if one.id == hop]
    if not built_in:
        refuse(UNKNOWN.format(id=hop))
    return list(built_in[0].payers)
