"""What ``clearlane doctor`` and ``clearlane status`` say about the SFTP server, if it is switched on."""

from clearlane.accounts.sftp_account import SftpAccountState
from clearlane.store.accounts.sftp_accounts import list_accounts
from clearlane.wiring import Installation


async def sftp_summary(installation: Installation) -> tuple[str, str]:
    """Return what is said about the SFTP server, and what to do; two empty texts if there is nothing to say.

    A command does not see the port that ``serve --sftp`` was given; accounts show that there is a server too.
    """
    settings = installation.settings
    accounts = [account for account, _ in await list_accounts(installation.database)]
    if not settings.sftp_port and not accounts:
        return "", ""
    active = [each for each in accounts if each.state is SftpAccountState.ACTIVE]
    last = max((each.signed_in_at for each in active if each.signed_in_at), default=None)
    seen = f"last sign-in {last:%Y-%m-%d %H:%M} UTC" if last else "no sign-in so far"
    noun = "account" if len(active) == 1 else "accounts"
    port = f"Port {settings.sftp_port}: " if settings.sftp_port else ""
    says = f"{port}{len(active)} active {noun}, {seen}."
    if not active:
        return says, "Add one: clearlane sftp user add SITE --name NAME --key FILE."
    if settings.sftp_passwords == "off" and any(each.password_hash for each in active):
        return (
            says,
            "Accounts have passwords that CLEARLANE_SFTP_PASSWORDS does not allow: set it to on.",
        )
    return says, ""
