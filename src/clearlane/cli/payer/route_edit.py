"""``clearlane route add``, ``change`` and ``remove``: what changes how payers are reached.

What `route test` would refuse is refused before anything is stored. Knows the steps of a command; how options are read
is in ``payers``, how routes are stored in ``store``.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, NoReturn

import typer

from clearlane.cli.command.kind_options import RouteTypeOption
from clearlane.cli.command.operator_command import (
    AsJson,
    confirm_loaded,
    in_installation,
    show_change,
    show_json,
    show_table,
)
from clearlane.cli.command.output import show_error, show_text
from clearlane.cli.command.storage_command import (
    MISUSED,
    REFUSED,
    DryRun,
    Yes,
    confirm,
    operator,
    refuse,
)
from clearlane.cli.command.table import TableColumn
from clearlane.cli.payer.route_input import (
    AllowInternal,
    Option,
    OptionFile,
    Secret,
    SecretFile,
    Untested,
    read_options,
    read_secrets,
)
from clearlane.connect.connection_check import ConnectionCheck
from clearlane.connect.factory import check_route
from clearlane.kernel.finding import Finding
from clearlane.payers.hops import HOP
from clearlane.payers.route_change import (
    RouteDifference,
    RouteEdit,
    concerns_connection,
    differences,
    read_change,
)
from clearlane.payers.routes import Route, RouteKind, RouteSecrets, read_route
from clearlane.store.database.database import OperationRefused
from clearlane.store.delivery.routes import (
    PAYERS_REVISION,
    RouteWithSecrets,
    add_route,
    change_route,
    count_waiting,
    load_route,
    remove_route,
)
from clearlane.wiring import Installation

CHANGE_COLUMNS = (
    "name",
    TableColumn("before", wrap=True),
    TableColumn("after", wrap=True),
)
SANDBOX_NOTE = "This is a sandbox: its payers are simulated, and routes are not used here."
TEST_FAILED = (
    "The connection test failed, so nothing was stored. --untested stores it all the same."
)

HINTS = {
    True: "`clearlane hop list` shows the hops.",
    False: "`clearlane payer search` finds them.",
}
"""Where to look, for a hop and for a payer."""

Id = Annotated[int, typer.Argument(metavar="ID", help="The route's number.", min=1)]


@in_installation()
async def add(
    installation: Installation,
    payer_id: Annotated[
        str,
        typer.Argument(metavar="PAYER_ID", help="PayerId or SvcPayerId; of a hop, an id for it."),
    ],
    type: Annotated[
        RouteTypeOption,
        typer.Option(
            "--type",
            case_sensitive=False,
            help="Type of claims; hop for an upstream clearinghouse that serves many payers.",
        ),
    ],
    kind: Annotated[
        RouteKind, typer.Option("--kind", case_sensitive=False, help="Kind of connection.")
    ],
    option: Option = None,
    option_file: OptionFile = None,
    secret: Secret = None,
    secret_file: SecretFile = None,
    position: Annotated[int, typer.Option(help="1 is the first choice, 2 takes over.")] = 1,
    allow_internal: AllowInternal = False,
    untested: Untested = False,
    as_json: AsJson = False,
) -> None:
    """Add a route to a payer, once its connection passes `route test`. Secrets are never given on the command line.

    Example: clearlane route add MDW10 --type medical --kind folder --option sender_id=US
    --option receiver_id=MEADOW --option outbox=/srv/out --option inbox=/srv/in
    """
    options = read_options(option, option_file, allow_internal=allow_internal)
    secrets = read_secrets(secret, secret_file)

    note_sandbox(installation)
    key = await _destination(installation, payer_id, type.capitalize(), kind)
    route, findings = read_route(
        payer_id=key[1],
        type=key[0],
        kind=kind,
        position=position,
        options=options,
        secrets=secrets,
    )
    if route is None:
        _refuse_findings(findings)
    if not untested:
        await _require_connection(installation, RouteWithSecrets(route, secrets))
    added = await _add(installation, route, secrets)
    if as_json:
        show_json(facts(added, has_secrets=bool(secrets.filled())))
        return
    tested = "not tested" if untested else "tested"
    show_text(f"Route {added.id} to {added.payer_id} is added; the connection is {tested}.")
    if added.type == HOP and added.carries_files:
        show_text(
            f"Now give it the payers that it serves: clearlane hop import {added.payer_id} FILE"
        )


@in_installation()
async def change(
    installation: Installation,
    id: Id,
    option: Option = None,
    option_file: OptionFile = None,
    secret: Secret = None,
    secret_file: SecretFile = None,
    unset: Annotated[
        list[str] | None,
        typer.Option(
            "--unset", metavar="NAME", help="Give an option its default; forget a secret."
        ),
    ] = None,
    position: Annotated[int | None, typer.Option(help="1 is the first choice.")] = None,
    allow_internal: AllowInternal = False,
    untested: Untested = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Change options, secrets or the position of a route. Files that are written already keep name and addresses.

    A change that concerns the connection is tested first. The destination of files cannot be changed while one is being sent.

    Example: clearlane route change 3 --secret password --option window_seconds=300 --yes
    """
    edit = RouteEdit(
        options=read_options(option, option_file, allow_internal=allow_internal),
        unset=unset or [],
        position=position,
        secrets=read_secrets(secret, secret_file),
    )

    before, after, changes = await _read_edit(installation, id, edit, untested=untested)
    if changes and not dry_run:
        words = "; ".join(one.sentence for one in changes)
        confirm(f"Route {id} to {after.route.payer_id} gets: {words}.", yes=yes)
        await _change(installation, before, after)
    if changes and not as_json:
        show_table(CHANGE_COLUMNS, [[c.name, c.before, c.after] for c in changes])
    show_change(
        f"Route {id} {'would be' if dry_run else 'is'} changed.",
        as_json=as_json,
        changed=bool(changes),
        dry_run=dry_run,
        id=id,
        payer_id=after.route.payer_id,
        changes=[asdict(one) for one in changes],
    )


@in_installation()
async def remove(
    installation: Installation,
    id: Id,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Remove a route for good and forget its secrets. Its history, batches and files stay.

    Files that wait for it take the payer's next route, or wait until the payer has one.

    Example: clearlane route remove 3 --yes
    """
    database = installation.database
    route = (await load_route(database, installation.vault, id)).route
    waiting = await count_waiting(database, id)
    if not dry_run:
        files = f" {waiting} files wait for it." if waiting else ""
        confirm(f"Route {id} to {route.payer_id} is removed for good.{files}", yes=yes)
        done = await remove_route(database, id, now=installation.clock.now(), actor=operator())
        await confirm_loaded(database, PAYERS_REVISION, done.revision)
    show_change(
        f"Route {id} to {route.payer_id} {'would be' if dry_run else 'is'} removed; {waiting} files wait for it.",
        as_json=as_json,
        dry_run=dry_run,
        id=id,
        payer_id=route.payer_id,
        files_waiting=waiting,
    )


def facts(route: Route, *, has_secrets: bool) -> dict[str, object]:
    """Return the printable facts of a route: all but its secrets."""
    to = next(
        (route.options[name] for name in ("url", "host", "outbox") if name in route.options), ""
    )
    return {
        "id": route.id,
        "type": route.type,
        "payer_id": route.payer_id,
        "position": route.position,
        "kind": route.kind.value,
        "active": route.active,
        "secrets": "sealed" if has_secrets else "none",
        "to": to,
        "options": dict(route.options),
        "created_at": route.created_at and f"{route.created_at:%Y-%m-%dT%H:%M:%SZ}",
        "removed_at": route.removed_at and f"{route.removed_at:%Y-%m-%dT%H:%M:%SZ}",
    }


def note_sandbox(installation: Installation) -> None:
    """Say that a sandbox uses no routes."""
    if installation.settings.sandbox:
        show_error(SANDBOX_NOTE)


def show_checks(checks: Sequence[ConnectionCheck]) -> None:
    """Print the steps of a connection test."""
    show_table(
        ["", "tried", TableColumn("result", wrap=True)],
        [["ok" if one.passed else "FAILED", one.name, one.message] for one in checks],
    )


async def _destination(
    installation: Installation, payer_id: str, type: str, kind: RouteKind
) -> tuple[str, str]:
    """Return type and id of the payer or hop that a route is to reach; end the command if there is no such."""
    from clearlane.pipeline.operator.new_route import find_destination

    try:
        return await find_destination(
            installation.database, installation.payers, payer_id, type, kind
        )
    except OperationRefused as why:
        refuse(f"{why} {HINTS[type == HOP]}")


async def _add(installation: Installation, route: Route, secrets: RouteSecrets) -> Route:
    done = await add_route(
        installation.database,
        installation.vault,
        route,
        secrets,
        now=installation.clock.now(),
        actor=operator(),
    )
    await confirm_loaded(installation.database, PAYERS_REVISION, done.revision)
    return done.route


async def _read_edit(
    installation: Installation, id: int, edit: RouteEdit, *, untested: bool
) -> tuple[RouteWithSecrets, RouteWithSecrets, list[RouteDifference]]:
    """Return a route as it is stored, as it would be, and what differs; end the command if that is refused."""
    note_sandbox(installation)
    before = await load_route(installation.database, installation.vault, id)
    route, secrets, findings = read_change(before.route, before.secrets, edit)
    if route is None:
        _refuse_findings(findings)
    after = RouteWithSecrets(route, secrets)
    changes = differences(before.route, route, before.secrets, secrets)
    if not untested and concerns_connection(changes):
        await _require_connection(installation, after)
    return before, after, changes


async def _change(
    installation: Installation, before: RouteWithSecrets, after: RouteWithSecrets
) -> None:
    done = await change_route(
        installation.database, installation.vault, before, after, actor=operator()
    )
    await confirm_loaded(installation.database, PAYERS_REVISION, done.revision)


async def _require_connection(installation: Installation, stored: RouteWithSecrets) -> None:
    """End the command if `route test` would fail, and say at which step."""
    checks = await check_route(stored.route, stored.secrets, clock=installation.clock)
    failed = [one for one in checks if not one.passed]
    if failed:
        lines = [f"{one.name}: {one.message}" for one in failed]
        refuse("\n".join([*lines, TEST_FAILED]), REFUSED)


def _refuse_findings(findings: Sequence[Finding]) -> NoReturn:
    refuse("\n".join(f"{each.location}: {each.message}" for each in findings), MISUSED)
