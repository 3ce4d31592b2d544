"""``clearlane vendor``: vendors and their credentials."""

import re
from collections.abc import Awaitable
from datetime import timedelta
from typing import Annotated

import typer

from clearlane.accounts.model import Vendor, VendorState
from clearlane.cli.command.operator_command import (
    AsJson,
    Switch,
    confirm_loaded,
    in_installation,
    make_change,
    show_facts,
    show_json,
    show_record,
    show_rows,
)
from clearlane.cli.command.output import show_message
from clearlane.cli.command.storage_command import MISUSED, Yes, confirm, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel import limits
from clearlane.store.accounts.accounts import (
    REVISION,
    AccountChange,
    add_vendor,
    rotate_secret,
    set_vendor_proxy_login,
    set_vendor_rate,
    set_vendor_state,
)
from clearlane.wiring import Installation

app = typer.Typer(help="Vendors and their credentials.", add_completion=False)

Key = Annotated[str, typer.Argument(metavar="KEY", help="The vendor's key.")]


@app.command()
@in_installation(creates=True)
async def add(
    installation: Installation,
    key: Key,
    name: Annotated[str, typer.Option(help="Name of the vendor; the key if not given.")] = "",
    limit: Annotated[str, typer.Option(help="Calls it may make per minute, or off.")] = "off",
    as_json: AsJson = False,
) -> None:
    """Add a vendor. Its password is generated and shown once.

    Example: clearlane vendor add ACME --name "Acme Practice Software"
    """
    change = add_vendor(
        installation.database,
        pepper=installation.pepper,
        key=key,
        name=name or key,
        now=installation.wall.now(),
        actor=operator(),
        rate_per_minute=read_rate(limit),
    )
    await _show_credentials(installation, change, f"Vendor {key} is added.", as_json=as_json)


@app.command()
@in_installation()
async def rotate(
    installation: Installation,
    key: Key,
    overlap: Annotated[
        str, typer.Option(help="How long the old password is still valid: 24h, 90m, 7d, or 0.")
    ] = "24h",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Set a new password for a vendor, shown once. The old one is valid until the overlap ends.

    Example: clearlane vendor rotate ACME --overlap 24h
    """
    time = read_duration(overlap)
    if not time:
        confirm(
            f"The old passwords of vendor {key} end at once: calls that use them fail.", yes=yes
        )
    change = rotate_secret(
        installation.database,
        pepper=installation.pepper,
        key=key,
        overlap=time,
        now=installation.wall.now(),
        actor=operator(),
    )
    ends = f"ends in {overlap}" if time else "has ended"
    message = f"Vendor {key} has a new password; the old one {ends}."
    await _show_credentials(installation, change, message, as_json=as_json)


@app.command("list")
@in_installation()
async def list_(installation: Installation, as_json: AsJson = False) -> None:
    """List the vendors.

    Example: clearlane vendor list --json
    """
    vendors = [facts(installation, vendor) for vendor in installation.accounts.vendors]
    hint = "Add one with: clearlane vendor add KEY."
    show_rows(COLUMNS, vendors, as_json=as_json, noun="vendor", hint=hint)


@app.command()
@in_installation()
async def show(installation: Installation, key: Key, as_json: AsJson = False) -> None:
    """Show a vendor, when its passwords expire, and its sites. Passwords themselves are not stored.

    Example: clearlane vendor show ACME
    """
    show_record(facts(installation, find_vendor(installation, key)), COLUMNS, as_json=as_json)


@app.command()
@in_installation(
    ask="Every call of vendor {key} is refused from now on: it cannot send claims or fetch payments."
)
async def disable(installation: Installation, key: Key, as_json: AsJson = False) -> None:
    """Refuse a vendor's credentials, at once and on every node.

    Example: clearlane vendor disable ACME
    """
    message = f"Vendor {key} is disabled. To undo it: clearlane vendor enable {key}"
    await _set_state(installation, key, VendorState.DISABLED, message, as_json=as_json)


@app.command()
@in_installation()
async def enable(installation: Installation, key: Key, as_json: AsJson = False) -> None:
    """Accept a vendor's credentials again.

    Example: clearlane vendor enable ACME
    """
    message = f"Vendor {key} is active."
    await _set_state(installation, key, VendorState.ACTIVE, message, as_json=as_json)


@app.command("proxy-login")
@in_installation()
async def proxy_login(
    installation: Installation,
    switch: Annotated[Switch, typer.Argument(help="on or off.")],
    key: Key,
    as_json: AsJson = False,
) -> None:
    """Allow or refuse a vendor's proxy login calls.

    Example: clearlane vendor proxy-login off ACME
    """
    change = set_vendor_proxy_login(
        installation.database, key, allowed=switch is Switch.ON, actor=operator()
    )
    message = f"Proxy login of vendor {key} is {switch}."
    await make_change(installation, REVISION, message, change, as_json=as_json)


@app.command()
@in_installation()
async def limit(
    installation: Installation,
    key: Key,
    calls: Annotated[
        str, typer.Argument(metavar="N|off", help="Calls per minute on each node, or off.")
    ],
    as_json: AsJson = False,
) -> None:
    """Limit the calls a vendor may make in a minute.

    Example: clearlane vendor limit ACME 600
    """
    most = read_rate(calls)
    message = f"Vendor {key} may make {'any number of' if most is None else most} calls a minute."
    change = set_vendor_rate(installation.database, key, most, actor=operator())
    await make_change(installation, REVISION, message, change, as_json=as_json)


def find_vendor(installation: Installation, key: str) -> Vendor:
    """Return a vendor; end the command if there is none."""
    found = installation.accounts.vendor(key)
    if found is None:
        refuse(f"There is no vendor {key}. `clearlane vendor list` shows them.")
    return found


async def _set_state(
    installation: Installation, key: str, state: VendorState, message: str, *, as_json: bool
) -> None:
    change = set_vendor_state(installation.database, key, state, actor=operator())
    await make_change(installation, REVISION, message, change, as_json=as_json)


def read_duration(text: str) -> timedelta:
    """Read a length of time such as 24h, 1h30m, 7d or 0."""
    word = text.strip().lower()
    parts = _DURATION_PART.findall(word)
    if word != "0" and (not parts or "".join(map("".join, parts)) != word):
        refuse(f"{text} is not a time: give one such as 24h, 90m, 7d, or 0 for at once.", MISUSED)
    seconds = sum(int(number) * _SECONDS[unit] for number, unit in parts)
    if seconds > limits.OVERLAP_HOURS_MAX * _SECONDS["h"]:
        refuse(f"{text} is too long: give at most {limits.OVERLAP_HOURS_MAX}h.", MISUSED)
    return timedelta(seconds=seconds)


def read_rate(text: str) -> int | None:
    """Read a number of calls a minute; None for off."""
    if text.strip().lower() == "off":
        return None
    if not _NUMBER.fullmatch(text.strip()):
        refuse(f"{text} is not a limit: give a number of calls per minute, or off.", MISUSED)
    return int(text)


_DURATION_PART = re.compile(r"(\d{1,9})([smhd])", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

# Labels in tables, and the names in JSON.
COLUMNS = (
    TableColumn("Key", "vendor_key"),
    TableColumn("Name", "name"),
    TableColumn("State", "state", state=True),
    TableColumn("Sites", "sites", wrap=True),
    TableColumn("Proxy login", "proxy_login", drop=2),
    TableColumn("Calls a minute", "rate_per_minute", right=True, drop=1),
    TableColumn("Passwords end", "passwords_end", drop=3, wrap=True),
)


def facts(installation: Installation, vendor: Vendor) -> dict[str, object]:
    """Return the printable facts of a vendor."""
    live = installation.accounts.live_passwords(vendor, installation.wall.now())
    return {
        "vendor_key": vendor.key,
        "name": vendor.name,
        "state": vendor.state,
        "proxy_login": vendor.proxy_login,
        "rate_per_minute": vendor.rate_per_minute,
        "sites": [
            s.vendor_site_id for s in installation.accounts.sites if s.vendor_id == vendor.id
        ],
        "passwords_end": [s.expires_at.isoformat() if s.expires_at else "never" for s in live],
    }


async def _show_credentials(
    installation: Installation, change: Awaitable[AccountChange], message: str, *, as_json: bool
) -> None:
    """Make credentials and print them before waiting for the nodes: they cannot be shown again."""
    done = await change
    assert done.credentials is not None
    shown = {"vendor_key": done.credentials.vendor_key, "password": done.credentials.password}
    if as_json:
        show_json(shown)
    else:
        show_message(message)
        show_facts([("Vendor key", shown["vendor_key"]), ("Password", shown["password"])])
        typer.echo("Keep the password now: only its hash is stored.")
    await confirm_loaded(installation.database, REVISION, done.revision)
