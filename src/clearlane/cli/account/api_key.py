"""``clearlane api-key``: the API keys of vendors."""

from collections.abc import Awaitable
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated

import typer

from clearlane.accounts.api_keys import ApiKey, KeyScope, KeyState
from clearlane.cli.account.vendor import find_vendor, read_duration
from clearlane.cli.command.operator_command import (
    AsJson,
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
from clearlane.store.accounts.accounts import REVISION
from clearlane.store.accounts.api_keys import (
    IssuedKey,
    NewApiKey,
    add_api_key,
    last_key_uses,
    remove_api_key,
    rotate_api_key,
    set_api_key_state,
)
from clearlane.wiring import Installation

app = typer.Typer(help="API keys of vendors: scopes, sites, expiry.", add_completion=False)

Id = Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `api-key list` shows it.")]
DAYS_MAX = 3_650


@app.command()
@in_installation()
async def add(
    installation: Installation,
    vendor: Annotated[str, typer.Argument(metavar="VENDOR_KEY", help="The vendor's key.")],
    name: Annotated[
        str, typer.Option(help="What it is for; the vendor's keys have different names.")
    ],
    scope: Annotated[
        list[str],
        typer.Option(
            help=f"What it may do, each with an option of its own: {', '.join(KeyScope)}."
        ),
    ],
    site: Annotated[
        list[str] | None,
        typer.Option(
            help="A vendorSiteId that it is for; repeat it for more (default: all sites)."
        ),
    ] = None,
    expires: Annotated[
        str, typer.Option(help="Its last day as YYYY-MM-DD (UTC), days such as 365d, or never.")
    ] = "never",
    as_json: AsJson = False,
) -> None:
    """Add an API key of a vendor. The key is shown once.

    Example: clearlane api-key add ACME --name "Nightly export" --scope read --scope files --expires 365d
    """
    now = installation.wall.now()
    new = NewApiKey(
        vendor_key=vendor,
        name=name,
        scopes=scope,
        sites=site or (),
        expires_at=read_expiry(expires, now),
    )
    issued = add_api_key(
        installation.database, new, pepper=installation.pepper, now=now, actor=operator()
    )
    await _show_key(
        installation, issued, f"The API key of vendor {vendor} is added.", as_json=as_json
    )


@app.command("list")
@in_installation()
async def list_(
    installation: Installation,
    vendor: Annotated[str, typer.Option(help="Only the keys of this vendor.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the API keys, without their secrets, which are not stored.

    Example: clearlane api-key list --vendor ACME
    """
    accounts = installation.accounts
    shown = accounts.keys_of(find_vendor(installation, vendor)) if vendor else accounts.api_keys
    uses = await last_key_uses(installation.database)
    rows = [facts(installation, key, uses.get(key.id)) for key in shown]
    hint = "Add one with: clearlane api-key add VENDOR --name NAME --scope read."
    show_rows(COLUMNS, rows, as_json=as_json, noun="API key", hint=hint)


@app.command()
@in_installation()
async def show(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Show an API key: scopes, sites, expiry, when it was last used, and when its secrets end.

    Example: clearlane api-key show 4fQ81kZwPa
    """
    key = installation.accounts.api_key(id)
    if key is None:
        refuse(f"There is no API key {id}. `clearlane api-key list` shows them.")
    used = (await last_key_uses(installation.database)).get(id)
    show_record(facts(installation, key, used), COLUMNS, as_json=as_json)


@app.command()
@in_installation()
async def rotate(
    installation: Installation,
    id: Id,
    overlap: Annotated[
        str, typer.Option(help="How long the old key is still valid: 24h, 90m, 7d, or 0.")
    ] = "24h",
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Set a new secret for an API key, shown once. The old key is valid until the overlap ends.

    Example: clearlane api-key rotate 4fQ81kZwPa --overlap 24h
    """
    span = read_duration(overlap)
    if not span:
        confirm(f"The old key {id} ends at once: calls that use it fail.", yes=yes)
    issued = rotate_api_key(
        installation.database,
        id,
        pepper=installation.pepper,
        overlap=span,
        now=installation.wall.now(),
        actor=operator(),
    )
    ends = f"ends in {overlap}" if span else "has ended"
    message = f"API key {id} has a new secret; the old key {ends}."
    await _show_key(installation, issued, message, as_json=as_json)


@app.command()
@in_installation(ask="Every call with API key {id} is refused from now on.")
async def disable(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Refuse an API key, at once and on every node.

    Example: clearlane api-key disable 4fQ81kZwPa --yes
    """
    message = f"API key {id} is disabled. To undo it: clearlane api-key enable {id}"
    change = set_api_key_state(installation.database, id, KeyState.DISABLED, actor=operator())
    await make_change(installation, REVISION, message, change, as_json=as_json)


@app.command()
@in_installation()
async def enable(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Accept a disabled API key again.

    Example: clearlane api-key enable 4fQ81kZwPa
    """
    change = set_api_key_state(installation.database, id, KeyState.ACTIVE, actor=operator())
    await make_change(installation, REVISION, f"API key {id} is active.", change, as_json=as_json)


@app.command()
@in_installation(ask="API key {id} is removed for good: every call with it is refused from now on.")
async def remove(installation: Installation, id: Id, as_json: AsJson = False) -> None:
    """Remove an API key. The audit chain keeps what it was for.

    Example: clearlane api-key remove 4fQ81kZwPa
    """
    change = remove_api_key(installation.database, id, actor=operator())
    await make_change(installation, REVISION, f"API key {id} is removed.", change, as_json=as_json)


def read_expiry(text: str, now: datetime) -> datetime | None:
    """Read when a key expires: the end of a day in UTC, a number of days, or never."""
    word = text.strip().lower()
    if word == "never":
        return None
    days = word.removesuffix("d")
    if word.endswith("d") and days.isascii() and days.isdecimal() and int(days[:6]) <= DAYS_MAX:
        return now + timedelta(days=int(days[:6]))
    try:
        return datetime.combine(date.fromisoformat(word) + timedelta(days=1), time(), UTC)
    except (ValueError, OverflowError):
        refuse(
            f"{text} is not an expiry: give a day as YYYY-MM-DD, days such as 365d, or never.",
            MISUSED,
        )


COLUMNS = (
    TableColumn("Id", "id"),
    TableColumn("Vendor", "vendor_key"),
    TableColumn("Name", "name", wrap=True),
    TableColumn("State", "state", state=True),
    TableColumn("Scopes", "scopes", wrap=True),
    TableColumn("Sites", "sites", drop=2, wrap=True),
    TableColumn("Expires", "expires_at", drop=1),
    TableColumn("Last used", "used_at"),
    TableColumn("Secrets end", "secrets_end", drop=3, wrap=True),
)


def facts(installation: Installation, key: ApiKey, used: datetime | None) -> dict[str, object]:
    """Return the printable facts of a key."""
    accounts, now = installation.accounts, installation.wall.now()
    vendor = next(each for each in accounts.vendors if each.id == key.vendor_id)
    sites = [each.vendor_site_id for each in accounts.sites_of(vendor) if key.may_use(each)]
    expired = key.state is KeyState.ACTIVE and not key.is_live(now)
    return {
        "id": key.id,
        "vendor_key": vendor.key,
        "name": key.name,
        "state": "expired" if expired else key.state,
        "scopes": sorted(key.scopes),
        "sites": ["all"] if key.sites is None else sites,
        "created_at": _moment(key.created_at),
        "expires_at": _moment(key.expires_at),
        "used_at": _moment(used),
        "secrets_end": [
            _moment(one.expires_at) or "never" for one in key.secrets if one.is_live(now)
        ],
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")


async def _show_key(
    installation: Installation, issue: Awaitable[IssuedKey], message: str, *, as_json: bool
) -> None:
    """Make a key and print it before waiting for the nodes: it cannot be shown again."""
    issued = await issue
    if as_json:
        show_json({"id": issued.id, "api_key": issued.api_key})
    else:
        show_message(message)
        show_facts([("Id", issued.id), ("API key", issued.api_key)])
        typer.echo("Keep the key now: only its hash is stored.")
    await confirm_loaded(installation.database, REVISION, issued.revision)
