"""Sign a user in by a one-time address: of an invitation, of the API's console links, or of `clearlane console open`.

Only a keyed hash of the address's code is stored. Knows no cookie, no page and no command.
"""

import secrets
from datetime import datetime, timedelta

from clearlane.accounts.passwords import hash_user_password
from clearlane.accounts.totp import TOTP_SECRET_BYTES
from clearlane.accounts.users import ConsoleRole, ConsoleUser
from clearlane.kernel import limits
from clearlane.kernel.ids import NO_VENDOR, random_text
from clearlane.pipeline.access.sign_in import (
    CONSOLE_SESSION_SECONDS_MAX,
    seal_totp_secret,
    session_hash,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.accounts import console_users
from clearlane.store.database.database import Actor, AnyScope, JobExtension, Tx, unextended
from clearlane.store.vault.vault import Vault

SIGN_IN_LINK_SECONDS_MAX = 600
SIGN_IN_LINK_PATH = "/console/open/"
"""The path of a one-time address, before its code."""
SANDBOX_OPERATOR = "operator"


async def ensure_sandbox_operator(
    context: WorkContext, *, now: datetime, actor: Actor
) -> ConsoleUser:
    """Return the operator of a sandbox; make it if it is missing.

    Its password and second factor are unknown, so it signs in by one-time addresses alone.
    """
    async with context.database.read(console_users.SCOPE) as tx:
        found = await console_users.find_user(tx, SANDBOX_OPERATOR)
    if found is not None:
        return found.user
    await context.vault.ensure_key(NO_VENDOR)
    new = console_users.NewUser(
        name=SANDBOX_OPERATOR,
        vendor=NO_VENDOR,
        sites=None,
        role=ConsoleRole.OPERATOR,
        password_hash=hash_user_password(
            random_text(limits.SECRET_CHARACTERS),
            secrets.token_bytes(limits.CONSOLE_PASSWORD_SALT_BYTES),
        ),
        totp_secret=seal_totp_secret(
            context.vault, NO_VENDOR, SANDBOX_OPERATOR, secrets.token_bytes(TOTP_SECRET_BYTES)
        ),
    )
    await console_users.add_user(context.database, new, now=now, actor=actor)
    async with context.database.read(console_users.SCOPE) as tx:
        made = await console_users.find_user(tx, SANDBOX_OPERATOR)
    if made is None:
        raise LookupError("the sandbox's operator was added and is not there")
    return made.user


async def create_sign_in_link(
    context: WorkContext,
    user: ConsoleUser,
    *,
    now: datetime,
    actor: Actor,
    lasts: timedelta = timedelta(seconds=SIGN_IN_LINK_SECONDS_MAX),
    scope: AnyScope = console_users.SCOPE,
    extend: JobExtension[str] = unextended,
) -> str:
    """Return the code of a new one-time address that signs a user in.

    ``scope`` is that of the vendor if its software asks; ``extend`` adds to the transaction.
    """
    code = random_text(limits.SECRET_CHARACTERS)
    ends = now + lasts
    hashed = _code_hash(context.vault, code)

    async def job(tx: Tx) -> str:
        await console_users.add_sign_in_link(tx, user, hashed, now=now, expires_at=ends)
        return code

    return await context.database.write(scope, extend(job), actor=actor)


async def open_sign_in_link(
    context: WorkContext, code: str, *, now: datetime, actor: Actor
) -> str | None:
    """Use up a one-time address and return the secret of a new session; None if it is not valid."""
    session = random_text(limits.SECRET_CHARACTERS)
    hashed = _code_hash(context.vault, code)
    ends = now + timedelta(seconds=CONSOLE_SESSION_SECONDS_MAX)

    async def job(tx: Tx) -> bool:
        user = await console_users.use_sign_in_link(tx, hashed, now)
        if user is None:
            return False
        new = session_hash(context.vault, session)
        await console_users.begin_linked_session(tx, user, new, now=now, ends=ends)
        return True

    opened = await context.database.write(console_users.SCOPE, job, actor=actor)
    return session if opened else None


def _code_hash(vault: Vault, code: str) -> bytes:
    return vault.fingerprint(NO_VENDOR, "sign-in link", code)
