"""``clearlane sftp``: accounts of the SFTP server, their public keys, and the host keys."""

import asyncio
import secrets
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from clearlane.accounts.sftp_account import (
    BYTES_PER_DAY_MAX,
    DEFAULT_PROFILE,
    FILES_PER_DAY_MAX,
    PROFILES,
    SftpAccount,
    SftpAccountState,
    normalize_account_name,
)
from clearlane.accounts.users import password_findings
from clearlane.cli.command.chosen_site import find_site
from clearlane.cli.command.operator_command import (
    AsJson,
    in_installation,
    show_change,
    show_rows,
)
from clearlane.cli.command.storage_command import MISUSED, operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel import limits
from clearlane.store.accounts import sftp_accounts
from clearlane.store.accounts.accounts import AccountRefused, account_finding
from clearlane.store.accounts.sftp_accounts import SftpKey, SftpUsage
from clearlane.wiring import Installation

ANYWHERE = "any"
KEY_FILE_BYTES_MAX = 100_000

app = typer.Typer(
    no_args_is_help=True,
    help="Accounts, keys and host keys of the SFTP server.",
    add_completion=False,
)
user = typer.Typer(no_args_is_help=True, help="Accounts of sites.", add_completion=False)
key = typer.Typer(no_args_is_help=True, help="Public keys of an account.", add_completion=False)
hostkey = typer.Typer(
    no_args_is_help=True, help="The keys by which clients know the server.", add_completion=False
)
app.add_typer(user, name="user")
app.add_typer(key, name="key")
app.add_typer(hostkey, name="hostkey")

AccountName = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]


# ---- accounts -----------------------------------------------------------------------------------


@user.command("add")
@in_installation()
async def add_user(
    installation: Installation,
    site: Annotated[str, typer.Argument(metavar="SITE", help="The site's vendorSiteId.")],
    name: Annotated[str, typer.Option(help="The name to sign in with, used once.")],
    key: Annotated[
        list[Path] | None,
        typer.Option(help="File of a public key (.pub); repeat for several; - for standard input."),
    ] = None,
    profile: Annotated[
        str, typer.Option(help=f"Names of folders and files: {', '.join(PROFILES)}.")
    ] = DEFAULT_PROFILE,
    in_folder: Annotated[
        str, typer.Option(help="Folder for files that the site sends; else the profile's.")
    ] = "",
    out_folder: Annotated[
        str, typer.Option(help="Folder of files that the site fetches; else the profile's.")
    ] = "",
    network: Annotated[
        list[str] | None,
        typer.Option(help="Address or network to sign in from; repeat for several."),
    ] = None,
    password_stdin: Annotated[
        bool,
        typer.Option(
            "--password-stdin",
            help="Read a password from standard input. It needs --network and CLEARLANE_SFTP_PASSWORDS=on.",
        ),
    ] = False,
    older_algorithms: Annotated[
        bool,
        typer.Option(
            "--older-algorithms",
            help="Allow the port for older algorithms (CLEARLANE_SFTP_OLDER_PORT).",
        ),
    ] = False,
    bytes_per_day: Annotated[
        int, typer.Option(help="Bytes that it may send in a day (UTC).")
    ] = BYTES_PER_DAY_MAX,
    files_per_day: Annotated[
        int, typer.Option(help="Files that it may send in a day (UTC).")
    ] = FILES_PER_DAY_MAX,
    as_json: AsJson = False,
) -> None:
    """Add an account of a site. It signs in with a public key and sees the files of that site only.

    Example: clearlane sftp user add LARK-1 --name larkspur --key larkspur.pub
    """
    found = find_site(installation, site)
    account = SftpAccount(
        name=normalize_account_name(name),
        vendor_id=found.vendor_id,
        site_id=found.id,
        profile=profile,
        in_folder=in_folder,
        out_folder=out_folder,
        networks=tuple(network or ()),
        password_hash=await _read_password(installation, name) if password_stdin else "",
        older_algorithms=older_algorithms,
        bytes_per_day_max=bytes_per_day,
        files_per_day_max=files_per_day,
    )
    keys = dict(_read_key(each) for each in key or ())
    await sftp_accounts.add_account(
        installation.database, account, keys, now=installation.wall.now(), actor=operator()
    )
    message = f"SFTP account {account.name} of site {found.vendor_site_id} is added."
    show_change(message, as_json=as_json, name=account.name, keys=list(keys))


@user.command("list")
@in_installation()
async def list_users(
    installation: Installation,
    site: Annotated[str, typer.Option(help="Only accounts of this site.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the accounts.

    Example: clearlane sftp user list
    """
    sites = {each.id: each.vendor_site_id for each in installation.accounts.sites}
    database, now = installation.database, installation.wall.now()
    used = await sftp_accounts.list_usage_of_day(database, now)
    found = [
        _facts(account, keys, sites[account.site_id], used.get(account.id, SftpUsage()))
        for account, keys in await sftp_accounts.list_accounts(database)
        if site in {"", sites[account.site_id]}
    ]
    show_rows(
        USER_COLUMNS,
        found,
        as_json=as_json,
        noun="SFTP account",
        hint="Add one with: clearlane sftp user add SITE --name NAME --key FILE.",
    )


@user.command("change")
@in_installation()
async def change_user(
    installation: Installation,
    name: AccountName,
    profile: Annotated[
        str | None, typer.Option(help=f"Names of folders and files: {', '.join(PROFILES)}.")
    ] = None,
    in_folder: Annotated[
        str | None,
        typer.Option(help='Folder for files that the site sends; "" for the profile\'s.'),
    ] = None,
    out_folder: Annotated[
        str | None,
        typer.Option(help='Folder of files that the site fetches; "" for the profile\'s.'),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Address or network to sign in from, in place of those before; repeat for several; {ANYWHERE} for no limit."
        ),
    ] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read a new password from standard input.")
    ] = False,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="Sign in with keys only from now on.")
    ] = False,
    older_algorithms: Annotated[
        bool | None,
        typer.Option(
            "--older-algorithms/--no-older-algorithms",
            help="Allow the port for older algorithms (CLEARLANE_SFTP_OLDER_PORT).",
        ),
    ] = None,
    bytes_per_day: Annotated[
        int | None, typer.Option(help="Bytes that it may send in a day (UTC).")
    ] = None,
    files_per_day: Annotated[
        int | None, typer.Option(help="Files that it may send in a day (UTC).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change an account: what is not given stays. It counts from the next sign-in on.

    Example: clearlane sftp user change larkspur --files-per-day 5000
    """
    if password_stdin and no_password:
        refuse("Give --password-stdin or --no-password, not both.", MISUSED)
    known = normalize_account_name(name)
    networks = None if network is None else tuple(one for one in network if one != ANYWHERE)
    password = await _read_password(installation, name) if password_stdin else None
    given: dict[str, object] = {
        "profile": profile,
        "in_folder": in_folder,
        "out_folder": out_folder,
        "networks": networks,
        "password_hash": "" if no_password else password,
        "older_algorithms": older_algorithms,
        "bytes_per_day_max": bytes_per_day,
        "files_per_day_max": files_per_day,
    }
    changes = {field: value for field, value in given.items() if value is not None}
    if not changes:
        refuse("Say what to change, such as --files-per-day 5000.", MISUSED)
    changed = await sftp_accounts.change_account(
        installation.database, known, changes, actor=operator()
    )
    message = f"SFTP account {known} is changed, from its next sign-in on."
    show_change(message, as_json=as_json, changed=changed, name=known)


@user.command("disable")
@in_installation(ask="The account {name} cannot sign in any more, and its connections end now.")
async def disable_user(
    installation: Installation, name: AccountName, as_json: AsJson = False
) -> None:
    """Disable an account; its open connections end within seconds.

    Example: clearlane sftp user disable larkspur --yes
    """
    await _set_state(installation, name, SftpAccountState.DISABLED, as_json=as_json)


@user.command("enable")
@in_installation()
async def enable_user(
    installation: Installation, name: AccountName, as_json: AsJson = False
) -> None:
    """Let an account sign in again.

    Example: clearlane sftp user enable larkspur
    """
    await _set_state(installation, name, SftpAccountState.ACTIVE, as_json=as_json)


@user.command("remove")
@in_installation(ask="The account {name} and its keys are removed. The files of the site stay.")
async def remove_user(
    installation: Installation, name: AccountName, as_json: AsJson = False
) -> None:
    """Remove an account and its keys. The files of the site stay.

    Example: clearlane sftp user remove larkspur
    """
    known = normalize_account_name(name)
    await sftp_accounts.remove_account(installation.database, known, actor=operator())
    show_change(f"SFTP account {known} is removed.", as_json=as_json, name=known)


async def _set_state(
    installation: Installation, name: str, state: SftpAccountState, *, as_json: bool
) -> None:
    known = normalize_account_name(name)
    changed = await sftp_accounts.set_account_state(
        installation.database, known, state, actor=operator()
    )
    message = f"SFTP account {known} is {state}."
    show_change(message, as_json=as_json, changed=changed, name=known, state=state)


async def _read_password(installation: Installation, name: str) -> str:
    from clearlane.accounts.passwords import hash_user_password

    if installation.settings.sftp_passwords != "on":
        refuse("Passwords are not allowed. Use a key, or set CLEARLANE_SFTP_PASSWORDS=on.", MISUSED)
    password = sys.stdin.readline().rstrip("\r\n")
    findings = password_findings(password, name)
    if findings:
        raise AccountRefused(findings)
    salt = secrets.token_bytes(limits.CONSOLE_PASSWORD_SALT_BYTES)
    return await asyncio.to_thread(hash_user_password, password, salt)


def _read_key(file: Path) -> tuple[str, str]:
    """Return fingerprint and text of the public key in a file."""
    from clearlane.sftp_server.algorithms import UnusableKey, read_public_key

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        return read_public_key(text[:KEY_FILE_BYTES_MAX])
    except (OSError, UnicodeDecodeError) as fault:
        reason = getattr(fault, "strerror", None) or "it is not text"
        raise AccountRefused([account_finding("KEY", f"{file}: {reason}.")]) from None
    except UnusableKey as unusable:
        raise AccountRefused([account_finding("KEY", f"{file}: {unusable}")]) from None


USER_COLUMNS = (
    TableColumn("Name", "name"),
    TableColumn("Site", "vendor_site_id"),
    TableColumn("State", "state", state=True),
    TableColumn("Keys", "keys"),
    TableColumn("Folders", "folders"),
    TableColumn("Networks", "networks", wrap=True, drop=1),
    TableColumn("Password", "password", drop=2),
    TableColumn("Older algorithms", "older_algorithms", drop=3),
    TableColumn("Files today", "files_today", drop=5),
    TableColumn("Bytes today", "bytes_today", drop=5),
    TableColumn("Last sign-in", "signed_in_at", drop=4),
)


def _facts(
    account: SftpAccount, keys: tuple[SftpKey, ...], vendor_site_id: str, used: SftpUsage
) -> dict[str, object]:
    names = account.names
    return {
        "name": account.name,
        "vendor_site_id": vendor_site_id,
        "state": account.state,
        "keys": len(keys),
        "profile": account.profile,
        "folders": f"{names.in_folder}/ {names.out_folder}/",
        "networks": list(account.networks),
        "password": bool(account.password_hash),
        "older_algorithms": account.older_algorithms,
        "bytes_per_day": account.bytes_per_day_max,
        "files_per_day": account.files_per_day_max,
        "files_today": used.files,
        "bytes_today": used.bytes,
        "signed_in_at": account.signed_in_at,
    }


# ---- keys of accounts ---------------------------------------------------------------------------


@key.command("add")
@in_installation()
async def add_key(
    installation: Installation,
    name: AccountName,
    key: Annotated[Path, typer.Option(help="File of a public key (.pub); - for standard input.")],
    as_json: AsJson = False,
) -> None:
    """Add a public key to an account. The others stay, so that a site can change keys without a gap.

    Example: clearlane sftp key add larkspur --key new.pub
    """
    known = normalize_account_name(name)
    fingerprint, text = _read_key(key)
    changed = await sftp_accounts.add_key(
        installation.database,
        known,
        fingerprint,
        text,
        now=installation.wall.now(),
        actor=operator(),
    )
    message = f"SFTP account {known} signs in with the key {fingerprint}."
    show_change(message, as_json=as_json, changed=changed, name=known, fingerprint=fingerprint)


@key.command("list")
@in_installation()
async def list_keys(installation: Installation, name: AccountName, as_json: AsJson = False) -> None:
    """List the public keys of an account.

    Example: clearlane sftp key list larkspur
    """
    known = normalize_account_name(name)
    accounts = await sftp_accounts.list_accounts(installation.database)
    found = [keys for account, keys in accounts if account.name == known]
    if not found:
        refuse(f"There is no SFTP account {known}. `clearlane sftp user list` shows them.")
    keys = [
        {
            "fingerprint": each.fingerprint,
            "algorithm": each.public_key.split()[0],
            "created_at": each.created_at,
        }
        for each in found[0]
    ]
    show_rows(
        KEY_COLUMNS, keys, as_json=as_json, noun="key", hint="Add one: clearlane sftp key add."
    )


@key.command("remove")
@in_installation(ask="The key {fingerprint} of the account {name} cannot be used any more.")
async def remove_key(
    installation: Installation,
    name: AccountName,
    fingerprint: Annotated[str, typer.Argument(metavar="FINGERPRINT", help="SHA256:...")],
    as_json: AsJson = False,
) -> None:
    """Remove a public key of an account.

    Example: clearlane sftp key remove larkspur SHA256:jGsSPWUVGk --yes
    """
    known = normalize_account_name(name)
    await sftp_accounts.remove_key(installation.database, known, fingerprint, actor=operator())
    show_change(f"The key is removed from {known}.", as_json=as_json, name=known)


KEY_COLUMNS = (
    TableColumn("Fingerprint", "fingerprint"),
    TableColumn("Algorithm", "algorithm"),
    TableColumn("Added", "created_at"),
)


# ---- host keys ----------------------------------------------------------------------------------


@hostkey.command("show")
@in_installation()
async def show_host_keys(installation: Installation, as_json: AsJson = False) -> None:
    """Show the host keys, for sites to check and to pin; the first call makes them.

    Example: clearlane sftp hostkey show
    """
    show_rows(HOST_KEY_COLUMNS, await _host_keys(installation), as_json=as_json, noun="host key")


@hostkey.command("rotate")
@in_installation(
    ask="Clients that pin the old host keys must be given the new ones within {overlap} days."
)
async def rotate_host_keys(
    installation: Installation,
    overlap: Annotated[
        int,
        typer.Option(
            help="Days in which the old keys still prove the server, and OpenSSH's clients learn the new ones; "
            "0 changes them at once.",
            min=0,
            max=365,
        ),
    ] = 30,
    as_json: AsJson = False,
) -> None:
    """Make new host keys, which take over after the overlap.

    Example: clearlane sftp hostkey rotate --overlap 30
    """
    from clearlane.sftp_server.host_keys import make_host_keys
    from clearlane.store.installation.sftp_host_keys import add_host_keys

    now = installation.wall.now()
    await _host_keys(installation)  # what is to be replaced
    made = await asyncio.to_thread(make_host_keys, now + timedelta(days=overlap))
    await add_host_keys(installation.database, installation.vault, made, now=now, actor=operator())
    show_rows(HOST_KEY_COLUMNS, await _host_keys(installation), as_json=as_json, noun="host key")


async def _host_keys(installation: Installation) -> list[dict[str, object]]:
    from clearlane.sftp_server.host_keys import choose_host_keys, ensure_host_keys

    now = installation.wall.now()
    keys = await ensure_host_keys(installation.database, installation.vault, now)
    chosen = choose_host_keys(keys, now)
    return [
        {
            "fingerprint": key.fingerprint,
            "algorithm": key.algorithm,
            "state": state,
            "active_from": key.active_from,
            "public_key": key.public_key,
        }
        for state, of_state in (("current", chosen.proving), ("next", chosen.announced))
        for key in of_state
    ]


HOST_KEY_COLUMNS = (
    TableColumn("Fingerprint", "fingerprint"),
    TableColumn("Algorithm", "algorithm"),
    TableColumn("State", "state", state=True),
    TableColumn("From", "active_from"),
)
