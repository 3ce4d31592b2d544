"""Sign users in to the console and out of it: password, second-factor code or recovery code, session.

Never reports which of name, password and code was wrong. Knows no cookie and no page.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from clearlane.accounts import totp
from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import VendorState
from clearlane.accounts.passwords import DUMMY_HASH, verify_user_password
from clearlane.accounts.recovery_codes import read_recovery_code
from clearlane.accounts.users import (
    ConsoleRole,
    ConsoleUser,
    UserState,
    name_findings,
    normalize_name,
)
from clearlane.kernel import limits
from clearlane.kernel.ids import NO_VENDOR, VendorId, random_text
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.accounts import console_users, recovery_codes
from clearlane.store.accounts.console_users import ConsoleSession, UserCredentials
from clearlane.store.database.database import Actor, Tx
from clearlane.store.vault.vault import Vault

CONSOLE_PASSWORDS_AT_ONCE = 2
CONSOLE_PASSWORDS_WAITING_MAX = 100
CONSOLE_PASSWORDS_WAITING_PER_ADDRESS_MAX = 20
CONSOLE_SESSION_SECONDS_MAX = 8 * 3_600
CONSOLE_SEEN_SECONDS = 30


@dataclass(frozen=True, slots=True)
class SignInForm:
    """The name, password and code that a person entered. Never printed."""

    name: str = field(repr=False)
    password: str = field(repr=False)
    code: str = field(repr=False)


class PasswordQueueFull(Exception):
    """Too many passwords wait to be checked; this sign-in was not checked at all."""


class PasswordChecker:
    """Checks passwords in threads, a few at a time: each needs memory and a core for a while."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(CONSOLE_PASSWORDS_AT_ONCE)
        self._waiting: Counter[str] = Counter()

    async def verify(self, password_hash: str, password: str, address: str) -> bool:
        """Return whether the password is right; raise :class:`PasswordQueueFull` if too many wait.

        Each address has a small part of the queue, so that one who guesses does not lock others out.
        """
        if (
            self._waiting.total() >= CONSOLE_PASSWORDS_WAITING_MAX
            or self._waiting[address] >= CONSOLE_PASSWORDS_WAITING_PER_ADDRESS_MAX
        ):
            raise PasswordQueueFull
        self._waiting[address] += 1
        try:
            async with self._free:
                return await asyncio.to_thread(verify_user_password, password_hash, password)
        finally:
            self._waiting -= Counter([address])  # drops addresses at which no one waits


async def sign_in(
    context: WorkContext,
    passwords: PasswordChecker,
    form: SignInForm,
    *,
    address: str,
    now: datetime,
    request_id: str,
) -> str | None:
    """Begin a session and return its secret; return None if anything is wrong.

    An unknown name takes as long as a wrong password.
    """
    name, credentials = normalize_name(form.name), None
    # Only a possible name is looked up: not every database accepts every character.
    if not name_findings(name):
        async with context.database.read(console_users.SCOPE) as tx:
            credentials = await console_users.find_user(tx, name)
    password = form.password[: limits.CONSOLE_PASSWORD_CHARACTERS_MAX + 1]
    right = await passwords.verify(
        credentials.password_hash if credentials else DUMMY_HASH, password, address
    )
    if credentials is None or not right or not _may_sign_in(context.accounts(), credentials.user):
        return None
    session = random_text(limits.SECRET_CHARACTERS)

    async def job(tx: Tx) -> bool:
        # What was checked may have changed since; the lock keeps it unchanged from here on.
        locked = await console_users.lock_user(tx, name)
        if locked is None or locked.password_hash != credentials.password_hash:
            return False
        if locked.user.state is not UserState.ACTIVE or locked.tries.is_locked(now):
            return False
        step = await use_second_factor(tx, context.vault, locked, form.code, now)
        if step is None:
            await console_users.record_failed_code(tx, locked.user, locked.tries.after_failure(now))
            return False
        ends = now + timedelta(seconds=CONSOLE_SESSION_SECONDS_MAX)
        hashed = session_hash(context.vault, session)
        await console_users.begin_session(tx, locked.user, hashed, step, now=now, ends=ends)
        return True

    opened = await context.database.write(
        console_users.SCOPE, job, actor=_actor(credentials.user, request_id, address)
    )
    return session if opened else None


async def resume_session(
    context: WorkContext, session: str, *, now: datetime
) -> ConsoleUser | None:
    """Return the user of a session; None if it has ended or its user may no longer sign in."""
    hashed = session_hash(context.vault, session)
    async with context.database.read(console_users.SCOPE) as tx:
        found = await console_users.find_session(tx, hashed, now)
    if found is None or not _may_sign_in(context.accounts(), found.user):
        return None
    if _seen_long_ago(found, now):
        await context.database.write(
            console_users.SCOPE,
            lambda tx: console_users.touch_session(tx, hashed, now),
            actor=_actor(found.user, ""),
        )
    return found.user


async def sign_out(
    context: WorkContext, session: str, user: ConsoleUser, *, request_id: str, address: str = ""
) -> None:
    """End a session."""
    hashed = session_hash(context.vault, session)
    await context.database.write(
        console_users.SCOPE,
        lambda tx: console_users.end_session(tx, hashed, user),
        actor=_actor(user, request_id, address),
    )


def session_hash(vault: Vault, session: str) -> bytes:
    """Return the stored hash of a session's secret."""
    return vault.fingerprint(NO_VENDOR, "console session", session)


def recovery_code_hash(vault: Vault, name: str, digits: str) -> bytes:
    """Return the stored hash of a recovery code, bound to its user."""
    return vault.fingerprint(NO_VENDOR, "recovery code", name, digits)


def seal_totp_secret(vault: Vault, vendor: VendorId, name: str, secret: bytes) -> bytes:
    """Seal the secret of a second factor, bound to its user."""
    return vault.seal(vendor, console_users.TABLE, name, secret)


async def use_second_factor(
    tx: Tx, vault: Vault, credentials: UserCredentials, code: str, now: datetime
) -> int | None:
    """Return the step up to which codes are used after this one; None for a wrong code.

    The row of the user is locked. A recovery code is used up, and leaves the step where it was.
    """
    if recovery := read_recovery_code(code):
        hashed = recovery_code_hash(vault, credentials.user.name, recovery)
        used = await recovery_codes.use_code(tx, credentials.user, hashed)
        return credentials.totp_step if used else None
    await vault.load_keys_of(tx, [credentials.totp_secret])
    user = credentials.user
    secret = vault.open(user.vendor_id, console_users.TABLE, user.name, credentials.totp_secret)
    return totp.matching_step(secret, code, now.timestamp(), credentials.totp_step)


def _may_sign_in(accounts: AccountDirectory, user: ConsoleUser) -> bool:
    """Return whether the user and its vendor are active; an operator has no vendor."""
    if user.role is ConsoleRole.OPERATOR:
        return user.state is UserState.ACTIVE
    vendors = (vendor for vendor in accounts.vendors if vendor.id == user.vendor_id)
    active = any(vendor.state is VendorState.ACTIVE for vendor in vendors)
    return active and user.state is UserState.ACTIVE


def _seen_long_ago(found: ConsoleSession, now: datetime) -> bool:
    """Return whether the last use is worth a write: not every page is."""
    return now - found.seen_at >= timedelta(seconds=CONSOLE_SEEN_SECONDS)


def _actor(user: ConsoleUser, request_id: str, address: str = "") -> Actor:
    return Actor("console", user.name, request_id, address)
