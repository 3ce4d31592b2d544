"""Change what a console user may see and do: the role, and with it the vendor and the sites.

    await change_role(context, name, Access(role=ConsoleRole.BILLER, vendor=vendor, sites=sites), actor=actor)

Open sessions have the new rights from their next page on. Knows no page.
"""

from clearlane.accounts.users import Access, ConsoleRole, normalize_name
from clearlane.pipeline.access.sign_in import seal_totp_secret
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.accounts import console_users
from clearlane.store.accounts.accounts import AccountRefused
from clearlane.store.database.database import Actor, Tx


async def change_role(context: WorkContext, name: str, access: Access, *, actor: Actor) -> bool:
    """Give a user another role, vendor and sites; return whether that changed anything.

    Refuses to take the role of the last operator, because no one could give it again.
    """
    normalized = normalize_name(name)
    await context.vault.ensure_key(access.vendor)

    async def job(tx: Tx) -> bool:
        if access.role is not ConsoleRole.OPERATOR:
            await console_users.keep_an_operator(tx, normalized)
        locked = await console_users.lock_user(tx, normalized)
        if locked is None:
            raise AccountRefused([console_users.unknown_user_finding(normalized)])
        user = locked.user
        if (user.role, user.vendor_id, user.sites) == (access.role, access.vendor, access.sites):
            return False
        sealed = locked.totp_secret
        if user.vendor_id != access.vendor:
            # The secret of the second factor is sealed for the vendor that the user belongs to.
            await context.vault.load_keys_of(tx, [sealed])
            secret = context.vault.open(user.vendor_id, console_users.TABLE, user.name, sealed)
            sealed = seal_totp_secret(context.vault, access.vendor, user.name, secret)
        await console_users.set_access(tx, user, access, totp_secret=sealed)
        return True

    return await context.database.write(console_users.SCOPE, job, actor=actor)
