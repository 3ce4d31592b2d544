"""``clearlane route``: how payers are reached."""

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.operator_command import AsJson, change, reached, serve, show_json, show_table
from clearlane.cli.storage_command import MISUSED, REFUSED, Data, operator, refuse
from clearlane.connect.connection_test import Check
from clearlane.connect.factory import try_route
from clearlane.kernel import limits
from clearlane.payers.routes import (
    KIND_SECRETS,
    OPTIONS_OF,
    SECRETS,
    Kind,
    Route,
    Secrets,
    read_route,
)
from clearlane.store.routes import (
    PAYERS_REVISION,
    Stored,
    add_route,
    list_routes,
    open_route,
    set_active,
)
from clearlane.wiring import House

app = typer.Typer(help="How payers are reached: folder, SFTP, CAQH CORE.", add_completion=False)

STANDARD = "-"


class Type(StrEnum):
    """Types of payers, as a caller of the payer lists writes them."""

    MEDICAL = "medical"
    DENTAL = "dental"


Id = Annotated[int, typer.Argument(metavar="ID", help="The route's number.", min=1)]


@app.command()
def add(
    payer_id: Annotated[str, typer.Argument(metavar="PAYER_ID", help="PayerId or SvcPayerId.")],
    type: Annotated[Type, typer.Option("--type", case_sensitive=False, help="Type of claims.")],
    kind: Annotated[Kind, typer.Option("--kind", case_sensitive=False, help="Kind of cable.")],
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
    position: Annotated[int, typer.Option(help="1 is tried first, 2 takes over.")] = 1,
    allow_internal: Annotated[
        bool, typer.Option("--allow-internal", help="The address may be of an internal network.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Add a route to a payer. Secrets never stand on the command line.

    Example: clearlane route add MDW10 --type medical --kind folder --option sender_id=US
    --option receiver_id=MEADOW --option outbox=/srv/out --option inbox=/srv/in
    """
    options = [*_pairs("--option", option), *_from_files("--option-file", option_file)]
    if allow_internal:
        options.append(("allow_internal", "yes"))
    secrets = _secrets(secret or [], secret_file)

    async def work(house: House) -> Route:
        payer = house.payers.find(payer_id, type.capitalize())
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
            house.database, house.vault, route, secrets, now=house.clock.now(), actor=operator()
        )
        await reached(house.database, PAYERS_REVISION, done.revision)
        return done.route

    added = serve(data, work)
    if as_json:
        show_json(facts(added, has_secrets=bool(secrets.filled())))
    else:
        typer.echo(
            f"Route {added.id} to {added.payer_id} is added. Try it: clearlane route test {added.id}"
        )


@app.command("list")
def list_(as_json: AsJson = False, data: Data = None) -> None:
    """List the routes, those of a payer in the order in which they are tried.

    Example: clearlane route list --json
    """

    async def work(house: House) -> list[dict[str, object]]:
        return [facts(r, has_secrets=sealed) for r, sealed in await list_routes(house.database)]

    found = serve(data, work)
    if as_json:
        show_json(found)
    else:
        show_table(list(LABELS), [[row[name] for name in LABELS.values()] for row in found])


@app.command("test")
def try_(id: Id, as_json: AsJson = False, data: Data = None) -> None:
    """Connect, and say what worked and what did not. Nothing is sent.

    Example: clearlane route test 3
    """

    async def work(house: House) -> list[Check]:
        cable = await open_route(house.database, house.vault, id)
        return await try_route(cable.route, cable.secrets, clock=house.clock)

    checks = serve(data, work)
    if as_json:
        show_json([{"what": c.what, "passed": c.passed, "words": c.words} for c in checks])
    else:
        show_table(
            ["", "tried", "result"],
            [["ok" if c.passed else "FAILED", c.what, c.words] for c in checks],
        )
    if not all(check.passed for check in checks):
        raise typer.Exit(REFUSED)


@app.command()
def disable(id: Id, data: Data = None) -> None:
    """Use a route no more. What has gone out stays gone out.

    Example: clearlane route disable 3
    """
    _switch(id, data, active=False)


@app.command()
def enable(id: Id, data: Data = None) -> None:
    """Use a route again.

    Example: clearlane route enable 3
    """
    _switch(id, data, active=True)


@app.command()
def options(
    kind: Annotated[Kind, typer.Argument(metavar="KIND", case_sensitive=False)],
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
            "words": row.words,
        }
        for row in OPTIONS_OF[kind].values()
    ]
    rows += [
        {"name": name, "required": False, "default": None, "words": "A secret."}
        for name in SECRETS
        if name in KIND_SECRETS[kind]
    ]
    if as_json:
        show_json(rows)
    else:
        show_table(list(rows[0]), [list(row.values()) for row in rows])


LABELS = {
    "Id": "id",
    "Type": "type",
    "Payer": "payer_id",
    "Position": "position",
    "Kind": "kind",
    "Active": "active",
    "Secrets": "secrets",
    "To": "to",
}


def facts(route: Route, *, has_secrets: bool) -> dict[str, object]:
    """What may be told of a route: all but its secrets."""
    to = next((route.facts[name] for name in ("url", "host", "outbox") if name in route.facts), "")
    return {
        "id": route.id,
        "type": route.type,
        "payer_id": route.payer_id,
        "position": route.position,
        "kind": route.kind.value,
        "active": route.active,
        "secrets": "sealed" if has_secrets else "none",
        "to": to,
        "options": dict(route.facts),
        "created_at": route.created_at and route.created_at.isoformat(),
    }


def _switch(id: int, data: Path | None, *, active: bool) -> None:
    async def make(house: House, by: object) -> Stored:
        return await set_active(house.database, id, active=active, actor=operator())

    said = f"Route {id} is {'active' if active else 'disabled'}."
    change(data, PAYERS_REVISION, said, make)


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


def _secrets(asked: Iterable[str], files: Iterable[str] | None) -> Secrets:
    held: dict[str, str] = {}
    for name, text in _from_files("--secret-file", files):
        # The end of the line belongs to the file, not to a password.
        held[_secret_name(name, held)] = text.rstrip("\r\n") if name.startswith("pass") else text
    for text in asked:
        # Whoever wrote name=value has shown the value already; it is not taken, so that it is changed.
        name, found, _ = text.partition("=")
        if found:
            refuse(f"--secret {name}: give the name alone; the secret is asked for.", MISUSED)
        known = _secret_name(name, held)
        held[known] = typer.prompt(known, hide_input=True, err=True)
    return Secrets(**held)


def _secret_name(name: str, held: dict[str, str]) -> str:
    if name not in SECRETS:
        refuse(f"There is no secret {name}. Known are {', '.join(SECRETS)}.", MISUSED)
    if name in held:
        refuse(f"The secret {name} is given twice.", MISUSED)
    return name
