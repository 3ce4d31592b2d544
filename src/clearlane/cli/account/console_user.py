"""``clearlane user``: console users, each limited to sites of one vendor."""

import secrets
import sys
from typing import Annotated

import typer

from clearlane.accounts import totp
from clearlane.accounts.model import Vendor
from clearlane.accounts.totp import TOTP_SECRET_BYTES
from clearlane.accounts.users import (
    ConsoleRole,
    ConsoleUser,
    UserState,
    name_findings,
    normalize_name,
    password_findings,
)
from clearlane.cli.account.vendor import find_vendor
from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    show_change,
    show_facts,
    show_json,
    show_rows,
)
from clearlane.cli.command.output import show_message
from clearlane.cli.command.storage_command import MISUSED, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel import limits
from clearlane.kernel.ids import NO_VENDOR, SiteId, VendorId, random_text
from clearlane.store.accounts import console_users
from clearlane.store.accounts.accounts import AccountRefused
from clearlane.wiring import Installation

CONSOLE_SITES_PER_USER_MAX = 1_000

app = typer.Typer(
    no_args_is_help=True, help="People who sign in to the console.", add_completion=False
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name, in any case.")]
PasswordStdinOption = Annotated[
    bool,
    typer.Option(
        "--password-stdin", help="Read the password from standard input; else one is generated."
    ),
]
AskOption = Annotated[bool, typer.Option("--ask", help="Ask for the password at the terminal.")]


SitesOption = Annotated[
    list[str] | None, typer.Option("--site", help="A vendorSiteId to show; repeat for several.")
]
AllSitesOption = Annotated[
    bool, typer.Option("--all-sites", help="Show every site of the vendor, including new ones.")
]


@app.command()
@in_installation()
async def add(
    installation: Installation,
    name: Name,
    vendor: Annotated[
        str, typer.Option(help="Key of the vendor whose sites are shown; none for an operator.")
    ] = "",
    role: Annotated[
        ConsoleRole, typer.Option(help="What the user may do; support sees every site.")
    ] = ConsoleRole.BILLER,
    site: SitesOption = None,
    all_sites: AllSitesOption = False,
    password_stdin: PasswordStdinOption = False,
    ask: AskOption = False,
    as_json: AsJson = False,
) -> None:
    """Add a user. A generated password and the second factor are shown once.

    Example: clearlane user add nora --vendor ACME --site LARK-1
    """
    from clearlane.pipeline.access.sign_in import seal_totp_secret

    all_sites = _check_role_options(role, vendor, site, all_sites=all_sites)
    password, made = _password(from_input=password_stdin, ask=ask)
    normalized, secret = normalize_name(name), secrets.token_bytes(TOTP_SECRET_BYTES)

    _refuse_bad(normalized, password)
    owner_id, sites = NO_VENDOR, None
    if vendor:
        owner = find_vendor(installation, vendor)
        owner_id = owner.id
        sites = None if all_sites else _sites(installation, owner, site or [])
    await installation.vault.ensure_key(owner_id)
    new = console_users.NewUser(
        name=normalized,
        vendor=owner_id,
        sites=sites,
        role=role,
        password_hash=_hash(password),
        totp_secret=seal_totp_secret(installation.vault, owner_id, normalized, secret),
    )
    await console_users.add_user(
        installation.database, new, now=installation.wall.now(), actor=operator()
    )
    shown = {"name": normalized, "totp": totp.provisioning_uri(secret, normalized)} | (
        {"password": password} if made else {}
    )
    _show_once(f"User {normalized} is added.", shown, as_json=as_json)


@app.command("list")
@in_installation()
async def list_(installation: Installation, as_json: AsJson = False) -> None:
    """List the users and what they see.

    Example: clearlane user list --json
    """
    users = [
        _facts(installation, user) for user in await console_users.all_users(installation.database)
    ]
    show_rows(
        COLUMNS, users, as_json=as_json, noun="user", hint="Add one with: clearlane user add NAME."
    )


@app.command()
@in_installation(ask="User {name} cannot sign in any more, and all open sessions end now.")
async def disable(installation: Installation, name: Name, as_json: AsJson = False) -> None:
    """Disable a user; open sessions end at once.

    Example: clearlane user disable nora
    """
    await _set_state(installation, name, UserState.DISABLED, as_json=as_json)


@app.command()
@in_installation()
async def enable(installation: Installation, name: Name, as_json: AsJson = False) -> None:
    """Let a user sign in again.

    Example: clearlane user enable nora
    """
    await _set_state(installation, name, UserState.ACTIVE, as_json=as_json)


@app.command("sites")
@in_installation()
async def change_sites(
    installation: Installation,
    name: Name,
    site: SitesOption = None,
    all_sites: AllSitesOption = False,
    as_json: AsJson = False,
) -> None:
    """Replace the sites that a user sees.

    Example: clearlane user sites nora --site LARK-1 --site LARK-2
    """
    _require_one_choice(site, all_sites=all_sites)
    normalized = normalize_name(name)

    user = await _user(installation, normalized)
    if user.role is ConsoleRole.OPERATOR:
        refuse("An operator sees every site.", MISUSED)
    (owner,) = [vendor for vendor in installation.accounts.vendors if vendor.id == user.vendor_id]
    sites = None if all_sites else _sites(installation, owner, site or [])
    await console_users.set_sites(installation.database, normalized, sites, actor=operator())
    seen = "every site" if all_sites else ", ".join(site or [])
    show_change(f"User {normalized} sees {seen}.", as_json=as_json, name=normalized)


@app.command("reset-password")
@in_installation(ask="The password of user {name} stops working, and all open sessions end now.")
async def reset_password(
    installation: Installation,
    name: Name,
    password_stdin: PasswordStdinOption = False,
    ask: AskOption = False,
    as_json: AsJson = False,
) -> None:
    """Set a new password for a user; open sessions end.

    Example: clearlane user reset-password nora
    """
    password, made = _password(from_input=password_stdin, ask=ask)
    normalized = normalize_name(name)

    _refuse_bad(normalized, password)
    await console_users.set_password(
        installation.database, normalized, _hash(password), actor=operator()
    )
    shown = {"name": normalized} | ({"password": password} if made else {})
    _show_once(f"User {normalized} has a new password.", shown, as_json=as_json)


@app.command("totp")
@in_installation(
    ask="The second factor and the recovery codes of user {name} stop working, and all open sessions end now."
)
async def new_totp(installation: Installation, name: Name, as_json: AsJson = False) -> None:
    """Set a new second factor for a user, shown once; open sessions end and a lock is lifted.

    Example: clearlane user totp nora
    """
    from clearlane.pipeline.access.sign_in import seal_totp_secret

    normalized, secret = normalize_name(name), secrets.token_bytes(TOTP_SECRET_BYTES)

    vendor = (await _user(installation, normalized)).vendor_id
    await installation.vault.ensure_key(vendor)
    sealed = seal_totp_secret(installation.vault, vendor, normalized, secret)
    await console_users.set_totp(installation.database, normalized, sealed, actor=operator())
    shown = {"name": normalized, "totp": totp.provisioning_uri(secret, normalized)}
    _show_once(f"User {normalized} has a new second factor.", shown, as_json=as_json)


COLUMNS = (
    TableColumn("name", "name"),
    TableColumn("role", "role"),
    TableColumn("vendor", "vendor_key"),
    TableColumn("sites", "sites", wrap=True),
    TableColumn("state", "state", state=True),
)
ONCE_LABELS = {"name": "User name", "password": "Password", "totp": "Second factor"}


def _facts(installation: Installation, user: ConsoleUser) -> dict[str, object]:
    keys: dict[VendorId, str] = {vendor.id: vendor.key for vendor in installation.accounts.vendors}
    sites = [each.vendor_site_id for each in installation.accounts.sites if user.may_see(each)]
    return {
        "name": user.name,
        "role": user.role,
        "vendor_key": keys.get(user.vendor_id, ""),
        "sites": ["all"] if user.sites is None else sites,
        "state": user.state,
    }


async def _set_state(
    installation: Installation, name: str, state: UserState, *, as_json: bool
) -> None:
    normalized = normalize_name(name)
    changed = await console_users.set_state(
        installation.database, normalized, state, actor=operator()
    )
    message = f"User {normalized} is {state}."
    show_change(message, as_json=as_json, changed=changed, name=normalized, state=state)


def _check_role_options(
    role: ConsoleRole, vendor: str, site: list[str] | None, *, all_sites: bool
) -> bool:
    """Refuse options that do not fit the role; return whether every site is shown."""
    if role is ConsoleRole.OPERATOR:
        if vendor or site:
            refuse("An operator sees everything: give neither --vendor nor --site.", MISUSED)
        return True
    if not vendor:
        refuse("Name the vendor whose sites are shown: --vendor KEY.", MISUSED)
    if role is ConsoleRole.SUPPORT and not site:
        return True
    _require_one_choice(site, all_sites=all_sites)
    if role is ConsoleRole.SUPPORT:
        refuse("Support sees all sites of its vendor: give no --site.", MISUSED)
    return all_sites


def _require_one_choice(site: list[str] | None, *, all_sites: bool) -> None:
    if bool(site) == all_sites:
        refuse("Name the sites the user sees: --site ID (again for each), or --all-sites.", MISUSED)


async def _user(installation: Installation, name: str) -> ConsoleUser:
    async with installation.database.read(console_users.SCOPE) as tx:
        found = await console_users.find_user(tx, name)
    if found is None:
        raise AccountRefused([console_users.unknown_user_finding(name)])
    return found.user


def _sites(installation: Installation, vendor: Vendor, wanted: list[str]) -> frozenset[SiteId]:
    if len(wanted) > CONSOLE_SITES_PER_USER_MAX:
        refuse(f"Give at most {CONSOLE_SITES_PER_USER_MAX} sites, or --all-sites.", MISUSED)
    found = {id: installation.accounts.site(vendor, id) for id in wanted}
    missing = [id for id, each in found.items() if each is None]
    if missing:
        refuse(f"The vendor {vendor.key} has no site {', '.join(missing)}.")
    return frozenset(each.id for each in found.values() if each is not None)


def _password(*, from_input: bool, ask: bool) -> tuple[str, bool]:
    """Return the password, and whether it was generated and must be shown."""
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


def _hash(password: str) -> str:
    from clearlane.accounts.passwords import hash_user_password

    return hash_user_password(password, secrets.token_bytes(limits.CONSOLE_PASSWORD_SALT_BYTES))


def _show_once(message: str, shown: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        show_json(shown)
        return
    show_message(message)
    show_facts([(ONCE_LABELS[key], value) for key, value in shown.items()])
    if len(shown) > 1:
        typer.echo(
            "Keep this now: it is not shown again. An authenticator reads the second factor."
        )
