"""``clearlane user``: the people who sign in to the console, each bound to sites of one vendor."""

import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from clearlane.accounts import totp
from clearlane.accounts.model import Vendor
from clearlane.accounts.passwords import hash_chosen
from clearlane.accounts.users import User, UserState, folded, name_findings, password_findings
from clearlane.cli.operator_command import AsJson, serve, show_facts, show_json, show_table
from clearlane.cli.storage_command import MISUSED, Data, operator, refuse
from clearlane.kernel import limits
from clearlane.kernel.ids import SiteId, VendorId, random_text
from clearlane.pipeline.access.sign_in import seal_secret
from clearlane.store import console_users as store
from clearlane.store.accounts import AccountRefused
from clearlane.wiring import House

app = typer.Typer(
    no_args_is_help=True, help="People who sign in to the console.", add_completion=False
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name, in any case.")]
FromInput = Annotated[
    bool,
    typer.Option(
        "--password-stdin", help="Read the password from standard input; else one is made."
    ),
]
Asked = Annotated[bool, typer.Option("--ask", help="Ask for the password at the terminal.")]


Some = Annotated[
    list[str] | None, typer.Option("--site", help="A vendorSiteId to show; may be given again.")
]
Every = Annotated[
    bool, typer.Option("--all-sites", help="Show every site of the vendor, also new ones.")
]


@app.command()
def add(
    name: Name,
    vendor: Annotated[str, typer.Option(help="Key of the vendor whose sites are shown.")],
    site: Some = None,
    all_sites: Every = False,
    password_stdin: FromInput = False,
    ask: Asked = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Add a user. Password (where it is made here) and second factor are shown this once.

    Example: clearlane user add nora --vendor ACME --site LARK-1
    """
    _say_which(site, all_sites=all_sites)
    password, made = _password(from_input=password_stdin, ask=ask)
    kept, secret = folded(name), secrets.token_bytes(limits.TOTP_SECRET_BYTES)

    async def work(house: House) -> None:
        _refuse_bad(kept, password)
        owner = _vendor(house, vendor)
        sites = None if all_sites else _sites(house, owner, site or [])
        await house.vault.ready(owner.id)
        new = store.NewUser(
            name=kept,
            vendor=owner.id,
            sites=sites,
            password_hash=_hashed(password),
            totp_secret=seal_secret(house.vault, owner.id, kept, secret),
        )
        await store.add_user(house.database, new, now=house.wall.now(), actor=operator())

    serve(data, work)
    shown = {"name": kept, "totp": totp.uri(secret, kept)} | (
        {"password": password} if made else {}
    )
    _show_once(f"User {kept} is added.", shown, as_json=as_json)


@app.command("list")
def list_(as_json: AsJson = False, data: Data = None) -> None:
    """List the users and what they see.

    Example: clearlane user list --json
    """

    async def work(house: House) -> list[dict[str, object]]:
        return [_facts(house, user) for user in await store.all_users(house.database)]

    users = serve(data, work)
    if as_json:
        show_json(users)
    else:
        show_table(list(LABELS), [[each[name] for name in LABELS.values()] for each in users])


@app.command()
def disable(name: Name, data: Data = None) -> None:
    """Let a user no longer sign in; living sessions end at once.

    Example: clearlane user disable nora
    """
    _set_state(name, UserState.DISABLED, data)


@app.command()
def enable(name: Name, data: Data = None) -> None:
    """Let a user sign in again.

    Example: clearlane user enable nora
    """
    _set_state(name, UserState.ACTIVE, data)


@app.command("sites")
def change_sites(
    name: Name, site: Some = None, all_sites: Every = False, data: Data = None
) -> None:
    """Show a user other sites of the vendor, and those alone.

    Example: clearlane user sites nora --site LARK-1 --site LARK-2
    """
    _say_which(site, all_sites=all_sites)
    kept = folded(name)

    async def work(house: House) -> None:
        user = await _user(house, kept)
        (owner,) = [vendor for vendor in house.accounts.vendors if vendor.id == user.vendor_id]
        sites = None if all_sites else _sites(house, owner, site or [])
        await store.set_sites(house.database, kept, sites, actor=operator())

    serve(data, work)
    typer.echo(f"User {kept} sees {'every site' if all_sites else ', '.join(site or [])}.")


@app.command("reset-password")
def reset_password(
    name: Name,
    password_stdin: FromInput = False,
    ask: Asked = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Give a user another password; living sessions end.

    Example: clearlane user reset-password nora
    """
    password, made = _password(from_input=password_stdin, ask=ask)
    kept = folded(name)

    async def work(house: House) -> None:
        _refuse_bad(kept, password)
        await store.set_password(house.database, kept, _hashed(password), actor=operator())

    serve(data, work)
    shown = {"name": kept} | ({"password": password} if made else {})
    _show_once(f"User {kept} has a new password.", shown, as_json=as_json)


@app.command("totp")
def new_totp(name: Name, as_json: AsJson = False, data: Data = None) -> None:
    """Give a user another second factor, shown this once; living sessions end, a lock is lifted.

    Example: clearlane user totp nora
    """
    kept, secret = folded(name), secrets.token_bytes(limits.TOTP_SECRET_BYTES)

    async def work(house: House) -> None:
        vendor = (await _user(house, kept)).vendor_id
        await house.vault.ready(vendor)
        sealed = seal_secret(house.vault, vendor, kept, secret)
        await store.set_totp(house.database, kept, sealed, actor=operator())

    serve(data, work)
    shown = {"name": kept, "totp": totp.uri(secret, kept)}
    _show_once(f"User {kept} has a new second factor.", shown, as_json=as_json)


LABELS = {"Name": "name", "Vendor": "vendor_key", "Sites": "sites", "State": "state"}
ONCE = {"name": "User name", "password": "Password", "totp": "Second factor"}


def _facts(house: House, user: User) -> dict[str, object]:
    keys: dict[VendorId, str] = {vendor.id: vendor.key for vendor in house.accounts.vendors}
    sites = [each.vendor_site_id for each in house.accounts.sites if user.may_see(each)]
    return {
        "name": user.name,
        "vendor_key": keys.get(user.vendor_id, ""),
        "sites": ["all"] if user.sites is None else sites,
        "state": user.state,
    }


def _set_state(name: str, state: UserState, data: Path | None) -> None:
    kept = folded(name)

    async def work(house: House) -> bool:
        return await store.set_state(house.database, kept, state, actor=operator())

    changed = serve(data, work)
    typer.echo(f"User {kept} is {state}." + ("" if changed else " It was so before."))


def _say_which(site: list[str] | None, *, all_sites: bool) -> None:
    if bool(site) == all_sites:
        refuse(
            "Say which sites the user sees: --site ID (again for each), or --all-sites.", MISUSED
        )


async def _user(house: House, name: str) -> User:
    async with house.database.read(store.SCOPE) as tx:
        found = await store.find_user(tx, name)
    if found is None:
        raise AccountRefused([store.no_user(name)])
    return found.user


def _vendor(house: House, key: str) -> Vendor:
    found = house.accounts.vendor(key)
    if found is None:
        refuse(f"There is no vendor {key}. `clearlane vendor list` shows them.")
    return found


def _sites(house: House, vendor: Vendor, wanted: list[str]) -> frozenset[SiteId]:
    if len(wanted) > limits.CONSOLE_SITES_PER_USER_MAX:
        refuse(f"Give at most {limits.CONSOLE_SITES_PER_USER_MAX} sites, or --all-sites.", MISUSED)
    found = {id: house.accounts.site(vendor, id) for id in wanted}
    missing = [id for id, each in found.items() if each is None]
    if missing:
        refuse(f"The vendor {vendor.key} has no site {', '.join(missing)}.")
    return frozenset(each.id for each in found.values() if each is not None)


def _password(*, from_input: bool, ask: bool) -> tuple[str, bool]:
    """The password, and whether it was made here and must be shown."""
    if from_input:
        return sys.stdin.readline().rstrip("\r\n"), False
    if ask:
        typed = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        return str(typed), False
    return random_text(limits.SECRET_CHARACTERS_MIN), True


def _refuse_bad(name: str, password: str) -> None:
    findings = [*name_findings(name), *password_findings(password, name)]
    if findings:
        raise AccountRefused(findings)


def _hashed(password: str) -> str:
    return hash_chosen(password, secrets.token_bytes(limits.CONSOLE_PASSWORD_SALT_BYTES))


def _show_once(said: str, shown: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        show_json(shown)
        return
    typer.echo(said)
    show_facts([(ONCE[key], value) for key, value in shown.items()])
    if len(shown) > 1:
        typer.echo(
            "Keep this now: it is not shown again. An authenticator reads the second factor."
        )
