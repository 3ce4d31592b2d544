"""Invite people to the console, reset who lost a factor, and let people set up their own password and second factor.

    code = await invite(context, Invitation(...), now=now, actor=actor)     # the inviter hands on /console/open/CODE
    codes = await set_up(context, user, setup, keep=session, now=now, actor=actor)

An invitation and a reset are one-time addresses that sign the person in; what they then choose replaces everything.
Knows no page.
"""

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from clearlane.accounts import totp
from clearlane.accounts.passwords import (
    UNSET_PREFIX,
    hash_user_password,
    is_password_set,
    verify_user_password,
)
from clearlane.accounts.recovery_codes import new_recovery_codes, read_recovery_code
from clearlane.accounts.totp import TOTP_SECRET_BYTES
from clearlane.accounts.users import (
    Access,
    ConsoleUser,
    name_findings,
    normalize_name,
    password_findings,
)
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding, Stage
from clearlane.kernel.ids import random_text
from clearlane.pipeline.access.sign_in import (
    recovery_code_hash,
    seal_totp_secret,
    session_hash,
    use_second_factor,
)
from clearlane.pipeline.access.sign_in_link import create_sign_in_link
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.accounts import console_credentials, console_users, recovery_codes
from clearlane.store.accounts.accounts import AccountRefused
from clearlane.store.database.database import Actor, Tx

INVITATION_SECONDS_MAX = 3 * 24 * 3_600

WRONG_CODE = "This is not the code that the authenticator shows now."
WRONG_OR_USED_CODE = (
    "This is not a code that can be used now: wait for the next one of the authenticator. "
    "After several wrong ones, none is checked for a while."
)
WRONG_PASSWORD = "This is not your password."  # noqa: S105
UNEQUAL = "The two passwords differ."


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A person who is to use the console."""

    name: str
    access: Access


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialSetup:
    """What a person chose: a password, and the second factor with a code that proves it works."""

    current: str = field(repr=False)
    """The current password; not asked for if none was chosen yet."""
    password: str = field(repr=False)
    repeated: str = field(repr=False)
    secret: bytes = field(repr=False)
    code: str = field(repr=False)


async def invite(
    context: WorkContext, invitation: Invitation, *, now: datetime, actor: Actor
) -> str:
    """Add a person without a password; return the code of the one-time address for them."""
    name = normalize_name(invitation.name)
    if findings := name_findings(name):
        raise AccountRefused(findings)
    access = invitation.access
    await context.vault.ensure_key(access.vendor)
    secret = secrets.token_bytes(TOTP_SECRET_BYTES)
    new = console_users.NewUser(
        name=name,
        vendor=access.vendor,
        sites=access.sites,
        role=access.role,
        password_hash=_unset_hash(),
        totp_secret=seal_totp_secret(context.vault, access.vendor, name, secret),
    )
    await console_users.add_user(context.database, new, now=now, actor=actor)
    return await _link(context, await _user(context, name), now=now, actor=actor)


async def reset(context: WorkContext, name: str, *, now: datetime, actor: Actor) -> str:
    """Let nothing that a person knew count any more; return the code of the one-time address for them."""
    user = await _user(context, normalize_name(name))
    unset = _unset_hash()
    await context.database.write(
        console_users.SCOPE,
        lambda tx: console_credentials.forget_credentials(tx, user, unset),
        actor=actor,
    )
    return await _link(context, user, now=now, actor=actor)


async def has_password(context: WorkContext, user: ConsoleUser) -> bool:
    """Return whether a person has chosen a password."""
    async with context.database.read(console_users.SCOPE) as tx:
        found = await console_users.find_user(tx, user.name)
    return found is not None and is_password_set(found.password_hash)


async def set_up(
    context: WorkContext,
    user: ConsoleUser,
    setup: CredentialSetup,
    *,
    keep: str,
    now: datetime,
    actor: Actor,
) -> tuple[str, ...]:
    """Give a person the password and second factor they chose; return the recovery codes, shown only once.

    Raises :class:`AccountRefused` with every reason if they cannot be used. ``keep`` is the session in which it happens; the person's other sessions end.
    """
    async with context.database.read(console_users.SCOPE) as tx:
        found = await console_users.find_user(tx, user.name)
    stored = found.password_hash if found else ""
    findings = list(password_findings(setup.password, user.name))
    if setup.password != setup.repeated:
        findings.append(_finding("REPEATED", UNEQUAL))
    if is_password_set(stored) and not verify_user_password(stored, setup.current):
        findings.append(_finding("CURRENT", WRONG_PASSWORD))
    step = totp.matching_step(setup.secret, setup.code, now.timestamp(), 0)
    if step is None or len(setup.secret) != TOTP_SECRET_BYTES:
        findings.append(_finding("CODE", WRONG_CODE))
    if findings or step is None:
        raise AccountRefused(findings)
    await context.vault.ensure_key(user.vendor_id)
    hashed = hash_user_password(
        setup.password, secrets.token_bytes(limits.CONSOLE_PASSWORD_SALT_BYTES)
    )
    sealed = seal_totp_secret(context.vault, user.vendor_id, user.name, setup.secret)
    kept = session_hash(context.vault, keep)
    codes = new_recovery_codes()
    hashes = _code_hashes(context, user, codes)

    async def job(tx: Tx) -> None:
        await console_credentials.replace_credentials(
            tx, user, password_hash=hashed, totp_secret=sealed, step=step, keep=kept
        )
        await recovery_codes.replace_codes(tx, user, hashes)

    await context.database.write(console_users.SCOPE, job, actor=actor)
    return codes


async def renew_recovery_codes(
    context: WorkContext, user: ConsoleUser, code: str, *, now: datetime, actor: Actor
) -> tuple[str, ...]:
    """Give a person who shows a code new recovery codes, shown only once; earlier ones no longer work.

    Wrong codes are counted, and lock the second factor, as those of a sign-in do.
    """
    codes = new_recovery_codes()
    hashes = _code_hashes(context, user, codes)

    async def job(tx: Tx) -> bool:
        locked = await console_users.lock_user(tx, user.name)
        if locked is None or locked.tries.is_locked(now):
            return False
        step = await use_second_factor(tx, context.vault, locked, code, now)
        if step is None:
            await console_users.record_failed_code(tx, user, locked.tries.after_failure(now))
            return False
        await console_users.record_used_code(tx, user, step)
        await recovery_codes.replace_codes(tx, user, hashes)
        return True

    if not await context.database.write(console_users.SCOPE, job, actor=actor):
        raise AccountRefused([_finding("CODE", WRONG_OR_USED_CODE)])
    return codes


def _code_hashes(context: WorkContext, user: ConsoleUser, codes: tuple[str, ...]) -> list[bytes]:
    read = (read_recovery_code(code) for code in codes)
    return [recovery_code_hash(context.vault, user.name, digits) for digits in read if digits]


async def _user(context: WorkContext, name: str) -> ConsoleUser:
    async with context.database.read(console_users.SCOPE) as tx:
        found = await console_users.find_user(tx, name)
    if found is None:
        raise AccountRefused([console_users.unknown_user_finding(name)])
    return found.user


async def _link(context: WorkContext, user: ConsoleUser, *, now: datetime, actor: Actor) -> str:
    lasts = timedelta(seconds=INVITATION_SECONDS_MAX)
    return await create_sign_in_link(context, user, now=now, actor=actor, lasts=lasts)


def _unset_hash() -> str:
    salt = secrets.token_bytes(limits.CONSOLE_PASSWORD_SALT_BYTES)
    return UNSET_PREFIX + hash_user_password(random_text(limits.SECRET_CHARACTERS), salt)


def _finding(location: str, message: str) -> Finding:
    return Finding(rule="ACC010", stage=Stage.RULE, location=location, message=message)
