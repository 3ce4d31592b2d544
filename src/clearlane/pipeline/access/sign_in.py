"""Sign in and out of the console: a password, then a code of a second factor, then a session.

Which of name, password and code was wrong is never told. Knows no form, no cookie and no page.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from clearlane.accounts import totp
from clearlane.accounts.directory import Accounts
from clearlane.accounts.model import VendorState
from clearlane.accounts.passwords import NOBODYS, is_right
from clearlane.accounts.users import User, UserState, folded, name_findings
from clearlane.kernel import limits
from clearlane.kernel.ids import VendorId, random_text
from clearlane.pipeline.access.proxy_login import ANYBODY
from clearlane.store import console_users as store
from clearlane.store.console_users import KeptUser, Session
from clearlane.store.database import Actor, Database, Tx
from clearlane.store.vault import Vault


class Desk(Protocol):
    """What signing in works with."""

    @property
    def accounts(self) -> Accounts: ...
    @property
    def database(self) -> Database: ...
    @property
    def vault(self) -> Vault: ...


@dataclass(frozen=True, slots=True)
class Typed:
    """What a person typed. It never prints."""

    name: str = field(repr=False)
    password: str = field(repr=False)
    code: str = field(repr=False)


class Busy(Exception):
    """Too many passwords wait to be checked. None of this sign-in was looked at."""


class Passwords:
    """Checks passwords in threads, a few at a time: each costs memory and a core for a while."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(limits.CONSOLE_PASSWORDS_AT_ONCE)
        self._waiting: Counter[str] = Counter()

    async def right(self, kept: str, typed: str, address: str) -> bool:
        """Whether the password is right; :class:`Busy` where the queue is full.

        An address has a small part of the queue, so that one who guesses keeps nobody else out.
        """
        if (
            self._waiting.total() >= limits.CONSOLE_PASSWORDS_WAITING_MAX
            or self._waiting[address] >= limits.CONSOLE_PASSWORDS_WAITING_PER_ADDRESS_MAX
        ):
            raise Busy
        self._waiting[address] += 1
        try:
            async with self._free:
                return await asyncio.to_thread(is_right, kept, typed)
        finally:
            self._waiting -= Counter([address])  # an address nobody waits at is forgotten


async def sign_in(
    desk: Desk,
    passwords: Passwords,
    typed: Typed,
    *,
    address: str,
    now: datetime,
    request_id: str,
) -> str | None:
    """The new session's secret, or None for everything that does not open the door.

    A name that nobody has costs what a wrong password costs.
    """
    name, kept = folded(typed.name), None
    # A text that is no name is not looked for: not every database takes every character.
    if not name_findings(name):
        async with desk.database.read(store.SCOPE) as tx:
            kept = await store.find_user(tx, name)
    typed_right = typed.password[: limits.CONSOLE_PASSWORD_CHARACTERS_MAX + 1]
    right = await passwords.right(kept.password_hash if kept else NOBODYS, typed_right, address)
    if kept is None or not right or not _may_enter(desk.accounts, kept.user):
        return None
    session = random_text(limits.SECRET_CHARACTERS)

    async def job(tx: Tx) -> bool:
        # What was checked may have changed since; here nobody else changes it.
        again = await store.hold_user(tx, name)
        if again is None or again.password_hash != kept.password_hash:
            return False
        if again.user.state is not UserState.ACTIVE or again.tries.locked(now):
            return False
        step = await _step(tx, desk.vault, again, typed.code, now)
        if step is None:
            await store.note_failure(tx, again.user, again.tries.after_failure(now))
            return False
        ends = now + timedelta(seconds=limits.CONSOLE_SESSION_SECONDS_MAX)
        hashed = session_hash(desk.vault, session)
        await store.begin_session(tx, again.user, hashed, step, now=now, ends=ends)
        return True

    opened = await desk.database.write(store.SCOPE, job, actor=_actor(kept.user, request_id))
    return session if opened else None


async def resume(desk: Desk, session: str, *, now: datetime) -> User | None:
    """Whose session this is; None where it has ended, or its user may no longer sign in."""
    hashed = session_hash(desk.vault, session)
    async with desk.database.read(store.SCOPE) as tx:
        found = await store.find_session(tx, hashed, now)
    if found is None or not _may_enter(desk.accounts, found.user):
        return None
    if _stale(found, now):
        await desk.database.write(
            store.SCOPE,
            lambda tx: store.touch_session(tx, hashed, now),
            actor=_actor(found.user, ""),
        )
    return found.user


async def sign_out(desk: Desk, session: str, user: User, *, request_id: str) -> None:
    """End a session."""
    hashed = session_hash(desk.vault, session)
    await desk.database.write(
        store.SCOPE,
        lambda tx: store.end_session(tx, hashed, user),
        actor=_actor(user, request_id),
    )


def session_hash(vault: Vault, session: str) -> bytes:
    """What is kept of a session's secret."""
    return vault.fingerprint(ANYBODY, "console session", session)


def seal_secret(vault: Vault, vendor: VendorId, name: str, secret: bytes) -> bytes:
    """A second factor's secret as it is kept: bound to its user."""
    return vault.seal(vendor, store.TABLE, name, secret)


async def _step(tx: Tx, vault: Vault, kept: KeptUser, code: str, now: datetime) -> int | None:
    await vault.fetch(tx, [kept.totp_secret])
    user = kept.user
    secret = vault.open(user.vendor_id, store.TABLE, user.name, kept.totp_secret)
    return totp.taken_step(secret, code, now.timestamp(), kept.totp_step)


def _may_enter(accounts: Accounts, user: User) -> bool:
    """A disabled vendor's users stay out, as its calls do."""
    vendors = (vendor for vendor in accounts.vendors if vendor.id == user.vendor_id)
    active = any(vendor.state is VendorState.ACTIVE for vendor in vendors)
    return active and user.state is UserState.ACTIVE


def _stale(found: Session, now: datetime) -> bool:
    """Not every page is worth a write: being seen half a minute ago is as good as now."""
    return now - found.seen_at >= timedelta(seconds=limits.CONSOLE_SEEN_SECONDS)


def _actor(user: User, request_id: str) -> Actor:
    return Actor("console", user.name, request_id)
