"""``clearlane route``: how payers are reached."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.operator_command import (
    AsJson,
    PayerTypeOption,
    confirm_loaded,
    make_change,
    run_in_installation,
    show_json,
    show_list,
    show_table,
)
from clearlane.cli.storage_command import MISUSED, REFUSED, Data, operator, refuse
from clearlane.cli.table import TableColumn
from clearlane.connect.connection_test import ConnectionCheck
from clearlane.connect.factory import check_route
from clearlane.kernel import limits
from clearlane.payers.routes import (
    KIND_SECRETS,
    OPTIONS_BY_KIND,
    SECRET_NAMES,
    Route,
    RouteKind,
    RouteSecrets,
    read_route,
)
from clearlane.store.routes import (
    PAYERS_REVISION,
    RouteChange,
    add_route,
    list_routes,
    load_route,
    set_active,
)
from clearlane.wiring import Installation

app = typer.Typer(help="How payers are reached: folder, SFTP, CAQH CORE.", add_completion=False)

STANDARD = "-"


Id = Annotated[int, typer.Argument(metavar="ID", help="The route's number.", min=1)]


@app.command()
def add(
    payer_id: Annotated[str, typer.Argument(metavar="PAYER_ID", help="PayerId or SvcPayerId.")],
    type: Annotated[
        PayerTypeOption, typer.Option("--type", case_sensitive=False, help="Type of claims.")
    ],
    kind: Annotated[
        RouteKind, typer.Option("--kind", case_sensitive=False, help="Kind of connection.")
    ],
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="See `clearlane route options KIND`."),
    ] = None,
    option_file: Annotated[
        list[str] | None,
        typer.Option("--option-file", metavar="NAME=PATH", help="An option from a file."),
    ] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option("--secret", metavar="NAME", help="Ask for a secret on the terminal."),
    ] = None,
    secret_file: Annotated[
        list[str] | None,
        typer.Option("--secret-file", metavar="NAME=PATH", help="A secret from a file, or from -."),
    ] = None,
    position: Annotated[int, typer.Option(help="1 is the first choice, 2 takes over.")] = 1,
    allow_internal: Annotated[
        bool, typer.Option("--allow-internal", help="The address may be of an internal network.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Add a route to a payer. Secrets are never given on the command line.

    Example: clearlane route add MDW10 --type medical --kind folder --option sender_id=US
    --option receiver_id=MEADOW --option outbox=/srv/out --option inbox=/srv/in
    """
    options = [*_pairs("--option", option), *_from_files("--option-file", option_file)]
    if allow_internal:
        options.append(("allow_internal", "yes"))
    secrets = _secrets(secret or [], secret_file)

    async def work(installation: Installation) -> Route:
        payer = installation.payers.find(payer_id, type.capitalize())
        if payer is None:
            refuse(f"There is no {type} payer {payer_id}. `clearlane payer search` finds them.")
        route, findings = read_route(
            payer_id=payer.payer_id,
            type=payer.type,
            kind=kind,
            position=position,
            options=options,
            secrets=secrets,
        )
        if route is None:
            refuse("\n".join(f"{each.location}: {each.message}" for each in findings), MISUSED)
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

    added = run_in_installation(data, work)
    if as_json:
        show_json(facts(added, has_secrets=bool(secrets.filled())))
    else:
        typer.echo(
            f"Route {added.id} to {added.payer_id} is added. Test it: clearlane route test {added.id}"
        )


@app.command("list")
def list_(as_json: AsJson = False, data: Data = None) -> None:
    """List the routes, those of a payer in the order in which they are tried.

    Example: clearlane route list --json
    """

    async def work(installation: Installation) -> list[dict[str, object]]:
        return [
            facts(r, has_secrets=sealed) for r, sealed in await list_routes(installation.database)
        ]

    found = run_in_installation(data, work)
    if as_json:
        show_json(found)
    else:
        hint = "Add one with: clearlane route add."
        show_list(COLUMNS, found, noun="route", hint=hint)


@app.command("test")
def try_(id: Id, as_json: AsJson = False, data: Data = None) -> None:
    """Test the connection of a route and report each step. Nothing is sent.

    Example: clearlane route test 3
    """

    async def work(installation: Installation) -> list[ConnectionCheck]:
        stored = await load_route(installation.database, installation.vault, id)
        return await check_route(stored.route, stored.secrets, clock=installation.clock)

    checks = run_in_installation(data, work)
    if as_json:
        show_json([{"what": c.name, "passed": c.passed, "words": c.message} for c in checks])
    else:
        show_table(
            ["", "tried", TableColumn("result", wrap=True)],
            [["ok" if c.passed else "FAILED", c.name, c.message] for c in checks],
        )
    if not all(check.passed for check in checks):
        raise typer.Exit(REFUSED)


@app.command()
def disable(id: Id, as_json: AsJson = False, data: Data = None) -> None:
    """Stop using a route. Files sent over it stay sent.

    Example: clearlane route disable 3
    """
    _set_active(id, data, active=False, as_json=as_json)


@app.command()
def enable(id: Id, as_json: AsJson = False, data: Data = None) -> None:
    """Use a route again.

    Example: clearlane route enable 3
    """
    _set_active(id, data, active=True, as_json=as_json)


@app.command()
def options(
    kind: Annotated[RouteKind, typer.Argument(metavar="KIND", case_sensitive=False)],
    as_json: AsJson = False,
) -> None:
    """Show the options and secrets that a kind of route takes.

    Example: clearlane route options sftp
    """
    rows = [
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
        show_table(list(rows[0]), [list(row.values()) for row in rows])


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
        "created_at": route.created_at and route.created_at.isoformat(),
    }


def _set_active(id: int, data: Path | None, *, active: bool, as_json: bool) -> None:
    async def make(installation: Installation, by: object) -> RouteChange:
        return await set_active(installation.database, id, active=active, actor=operator())

    message = f"Route {id} is {'active' if active else 'disabled'}."
    make_change(data, PAYERS_REVISION, message, make, as_json=as_json)


def _pairs(flag: str, given: Iterable[str] | None) -> list[tuple[str, str]]:
    pairs = []
    for text in given or ():
        name, found, value = text.partition("=")
        if not found or not name:
            refuse(f"{flag} {name}: give NAME=VALUE.", MISUSED)
        pairs.append((name.strip(), value))
    return pairs


def _from_files(flag: str, given: Iterable[str] | None) -> list[tuple[str, str]]:
    return [(name, _content(flag, name, path)) for name, path in _pairs(flag, given)]


def _content(flag: str, name: str, path: str) -> str:
    most = limits.ROUTE_OPTION_CHARACTERS_MAX
    try:
        if path == STANDARD:
            text = sys.stdin.read(most + 1)
        else:
            with Path(path).open(encoding="utf-8") as file:
                text = file.read(most + 1)
    except (OSError, UnicodeDecodeError):
        refuse(f"{flag} {name}: the file {path} cannot be read.", MISUSED)
    if len(text) > most:
        refuse(f"{flag} {name}: the file has more than {most} characters.", MISUSED)
    return text


def _secrets(prompted: Iterable[str], files: Iterable[str] | None) -> RouteSecrets:
    secrets: dict[str, str] = {}
    for name, text in _from_files("--secret-file", files):
        # A line end at the end of the file is not part of a password.
        secrets[_secret_name(name, secrets)] = (
            text.rstrip("\r\n") if name.startswith("pass") else text
        )
    for text in prompted:
        # A value on the command line is exposed already; it is refused, so that another one is chosen.
        name, separator, _ = text.partition("=")
        if separator:
            refuse(f"--secret {name}: give the name alone; the secret is prompted for.", MISUSED)
        known = _secret_name(name, secrets)
        secrets[known] = typer.prompt(known, hide_input=True, err=True)
    return RouteSecrets(**secrets)


def _secret_name(name: str, secrets: dict[str, str]) -> str:
    if name not in SECRET_NAMES:
        refuse(f"There is no secret {name}. Known are {', '.join(SECRET_NAMES)}.", MISUSED)
    if name in secrets:
        refuse(f"The secret {name} is given twice.", MISUSED)
    return name
