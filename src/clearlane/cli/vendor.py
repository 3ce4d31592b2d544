"""``clearlane vendor``: who may call, and with which password."""

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clearlane.accounts.model import Vendor, VendorState
from clearlane.cli.operator_command import (
    AsJson,
    change,
    reached,
    serve,
    show_facts,
    show_json,
    show_table,
)
from clearlane.cli.storage_command import MISUSED, Data, operator, refuse
from clearlane.kernel import limits
from clearlane.store.accounts import (
    REVISION,
    Done,
    add_vendor,
    rotate_secret,
    set_vendor_proxy_login,
    set_vendor_rate,
    set_vendor_state,
)
from clearlane.store.database import Actor
from clearlane.wiring import House

app = typer.Typer(help="Vendors and their credentials.", add_completion=False)

Key = Annotated[str, typer.Argument(metavar="KEY", help="The vendor's key.")]


class Switch(StrEnum):
    """A thing that is on or off."""

    ON = "on"
    OFF = "off"


@app.command()
def add(
    key: Key,
    name: Annotated[str, typer.Option(help="Name of the vendor; the key if not given.")] = "",
    limit: Annotated[str, typer.Option(help="Calls a minute it may make, or off.")] = "off",
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Add a vendor. Its password is made by the service and shown this once.

    Example: clearlane vendor add ACME --name "Acme Practice Software"
    """
    most = rate(limit)

    async def make(house: House, actor: Actor) -> Done:
        return await add_vendor(
            house.database,
            pepper=house.pepper,
            key=key,
            name=name or key,
            now=house.wall.now(),
            actor=actor,
            rate_per_minute=most,
        )

    _credentials(data, make, f"Vendor {key} is added.", as_json=as_json)


@app.command()
def rotate(
    key: Key,
    overlap: Annotated[
        str, typer.Option(help="How long the old password still opens: 24h, 90m, 7d, or 0.")
    ] = "24h",
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Give a vendor a new password, shown this once. The old one opens until the overlap ends.

    Example: clearlane vendor rotate ACME --overlap 24h
    """
    time = duration(overlap)

    async def make(house: House, actor: Actor) -> Done:
        return await rotate_secret(
            house.database,
            pepper=house.pepper,
            key=key,
            overlap=time,
            now=house.wall.now(),
            actor=actor,
        )

    ends = f"ends in {overlap}" if time else "has ended"
    said = f"Vendor {key} has a new password; the old one {ends}."
    _credentials(data, make, said, as_json=as_json)


@app.command("list")
def list_(as_json: AsJson = False, data: Data = None) -> None:
    """List the vendors.

    Example: clearlane vendor list --json
    """

    async def work(house: House) -> list[dict[str, object]]:
        return [facts(house, vendor) for vendor in house.accounts.vendors]

    vendors = serve(data, work)
    if as_json:
        show_json(vendors)
    else:
        show_table(list(LABELS), [[each[name] for name in LABELS.values()] for each in vendors])


@app.command()
def show(key: Key, as_json: AsJson = False, data: Data = None) -> None:
    """Show a vendor, when its passwords end, and its sites. Passwords themselves are not kept.

    Example: clearlane vendor show ACME
    """

    async def work(house: House) -> dict[str, object]:
        vendor = house.accounts.vendor(key)
        if vendor is None:
            refuse(f"There is no vendor {key}. `clearlane vendor list` shows them.")
        return facts(house, vendor)

    found = serve(data, work)
    if as_json:
        show_json(found)
    else:
        show_facts([(label, found[name]) for label, name in LABELS.items()])


@app.command()
def disable(key: Key, data: Data = None) -> None:
    """Refuse a vendor's credentials, at once and on every node.

    Example: clearlane vendor disable ACME
    """
    said, state = f"Vendor {key} is disabled.", VendorState.DISABLED
    change(
        data,
        REVISION,
        said,
        lambda house, by: set_vendor_state(house.database, key, state, actor=by),
    )


@app.command()
def enable(key: Key, data: Data = None) -> None:
    """Honour a vendor's credentials again.

    Example: clearlane vendor enable ACME
    """
    said, state = f"Vendor {key} is active.", VendorState.ACTIVE
    change(
        data,
        REVISION,
        said,
        lambda house, by: set_vendor_state(house.database, key, state, actor=by),
    )


@app.command("proxy-login")
def proxy_login(
    switch: Annotated[Switch, typer.Argument(help="on or off.")], key: Key, data: Data = None
) -> None:
    """Let a vendor use the proxy login calls, or not.

    Example: clearlane vendor proxy-login off ACME
    """
    on = switch is Switch.ON
    said = f"Proxy login of vendor {key} is {switch}."
    change(
        data,
        REVISION,
        said,
        lambda house, by: set_vendor_proxy_login(house.database, key, allowed=on, actor=by),
    )


@app.command()
def limit(
    key: Key,
    calls: Annotated[str, typer.Argument(metavar="N|off", help="Calls a minute, or off.")],
    data: Data = None,
) -> None:
    """Limit the calls a vendor may make in a minute.

    Example: clearlane vendor limit ACME 600
    """
    most = rate(calls)
    said = f"Vendor {key} may make {'any number of' if most is None else most} calls a minute."
    change(
        data, REVISION, said, lambda house, by: set_vendor_rate(house.database, key, most, actor=by)
    )


def duration(text: str) -> timedelta:
    """A time such as 24h, 1h30m, 7d or 0."""
    word = text.strip().lower()
    parts = _PART.findall(word)
    if word != "0" and (not parts or "".join(map("".join, parts)) != word):
        refuse(f"{text} is no time: give one such as 24h, 90m, 7d, or 0 for at once.", MISUSED)
    seconds = sum(int(number) * _SECONDS[unit] for number, unit in parts)
    if seconds > limits.OVERLAP_HOURS_MAX * _SECONDS["h"]:
        refuse(f"{text} is too long: give at most {limits.OVERLAP_HOURS_MAX}h.", MISUSED)
    return timedelta(seconds=seconds)


def rate(text: str) -> int | None:
    """A number of calls a minute, or None for off."""
    if text.strip().lower() == "off":
        return None
    if not _NUMBER.fullmatch(text.strip()):
        refuse(f"{text} is no limit: give a number of calls a minute, or off.", MISUSED)
    return int(text)


_PART = re.compile(r"(\d{1,9})([smhd])", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

# What a person reads, and the name a program reads.
LABELS = {
    "Key": "vendor_key",
    "Name": "name",
    "State": "state",
    "Proxy login": "proxy_login",
    "Calls a minute": "rate_per_minute",
    "Sites": "sites",
    "Passwords end": "passwords_end",
}


def facts(house: House, vendor: Vendor) -> dict[str, object]:
    """What may be told of a vendor."""
    live = house.accounts.live_secrets(vendor, house.wall.now())
    return {
        "vendor_key": vendor.key,
        "name": vendor.name,
        "state": vendor.state,
        "proxy_login": vendor.proxy_login,
        "rate_per_minute": vendor.rate_per_minute,
        "sites": [s.vendor_site_id for s in house.accounts.sites if s.vendor_id == vendor.id],
        "passwords_end": [s.expires_at.isoformat() if s.expires_at else "never" for s in live],
    }


def _credentials(
    data: Path | None,
    make: Callable[[House, Actor], Awaitable[Done]],
    said: str,
    *,
    as_json: bool,
) -> None:
    """Make a password and show it before waiting for the nodes: nobody could show it again."""

    async def work(house: House) -> None:
        done = await make(house, operator())
        assert done.credentials is not None
        shown = {"vendor_key": done.credentials.vendor_key, "password": done.credentials.password}
        if as_json:
            show_json(shown)
        else:
            typer.echo(said)
            show_facts([("Vendor key", shown["vendor_key"]), ("Password", shown["password"])])
            typer.echo("Keep the password now: only its hash is stored.")
        await reached(house.database, REVISION, done.revision)

    serve(data, work)
