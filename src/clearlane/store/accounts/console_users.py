"""Console users and their sessions.

Passwords come here as argon2id, sessions as keyed hashes, TOTP secrets sealed. Knows no form and no page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import (
    BindParameter,
    bindparam,
    delete,
    or_,
    select,
    update,
)

from clearlane.accounts.users import Access, CodeFailures, ConsoleRole, ConsoleUser, UserState
from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.finding import Finding, Stage
from clearlane.kernel.ids import NO_VENDOR, SiteId, VendorId
from clearlane.store.accounts import recovery_codes
from clearlane.store.accounts.accounts import AccountRefused
from clearlane.store.database.database import Actor, Database, Row, SystemScope, Tx
from clearlane.store.database.schema import (
    console_sessions,
    console_user_sites,
    console_users,
    sign_in_links,
)
from clearlane.store.database.sql import Statement, insert_into

CONSOLE_IDLE_SECONDS_MAX = 15 * 60
CONSOLE_SESSIONS_PER_USER_MAX = 10

TABLE = "console_users"
SCOPE = SystemScope("console users belong to the installation")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUser:
    """A user to be stored."""

    name: str
    vendor: VendorId
    """``NO_VENDOR`` for operators."""
    sites: frozenset[SiteId] | None
    role: ConsoleRole = ConsoleRole.BILLER
    password_hash: str = field(repr=False)
    totp_secret: bytes = field(repr=False)
    """Sealed for the vendor, this table and the user's name."""


@dataclass(frozen=True, slots=True)
class UserCredentials:
    """A user with what a sign-in is checked against."""

    user: ConsoleUser
    password_hash: str = field(repr=False)
    totp_secret: bytes = field(repr=False)
    totp_step: int
    tries: CodeFailures


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """A live session and its user."""

    user: ConsoleUser
    seen_at: datetime


# ---- users, for operators -----------------------------------------------------------------------


async def add_user(database: Database, new: NewUser, *, now: datetime, actor: Actor) -> None:
    """Add a user with a password and a second factor."""

    async def job(tx: Tx) -> None:
        added = await tx.row(
            _ADD,
            name=new.name,
            role=new.role.value,
            vendor_id=None if new.vendor == NO_VENDOR else new.vendor,
            all_sites=int(new.sites is None),
            state=UserState.ACTIVE.value,
            password_hash=new.password_hash,
            totp_secret=new.totp_secret,
            totp_step=0,
            code_failures=0,
            code_failed_at=0,
            created_at=to_micros(now),
        )
        if added is None:
            raise AccountRefused([_finding(f"There is a user {new.name} already.")])
        await _bind(tx, added[0], new.vendor, new.sites)
        tx.audit("user.add", ids=[new.name])

    await database.write(SCOPE, job, actor=actor)


async def all_users(database: Database) -> list[ConsoleUser]:
    """Return every console user."""
    async with database.read(SCOPE) as tx:
        sites: dict[int, set[SiteId]] = {}
        for user, site in await tx.rows(_ALL_SITES):
            sites.setdefault(user, set()).add(SiteId(site))
        return [_user(row, frozenset(sites.get(row[0], ()))) for row in await tx.rows(_ALL)]


async def find_user_by_id(tx: Tx, id: int) -> ConsoleUser | None:
    """Return a user by id, active or not."""
    row = await tx.row(_ANY_BY_ID, user=id)
    return None if row is None else _user(row, await _sites(tx, row))


async def find_user(tx: Tx, name: str) -> UserCredentials | None:
    """Return a user and what a sign-in is checked against."""
    return await _credentials(tx, await tx.row(_BY_NAME, name=name))


async def lock_user(tx: Tx, name: str) -> UserCredentials | None:
    """Return the same in a write, and lock the row until the transaction ends."""
    return await _credentials(tx, await tx.row(_LOCK, name=name))


async def _credentials(tx: Tx, row: Row | None) -> UserCredentials | None:
    if row is None:
        return None
    *user, password_hash, secret, step, failures, failed_at = row
    return UserCredentials(
        _user(tuple(user), await _sites(tx, row)),
        password_hash,
        bytes(secret),
        step,
        CodeFailures(failures, from_micros(failed_at)),
    )


async def set_state(database: Database, name: str, state: UserState, *, actor: Actor) -> bool:
    """Enable or disable a user, and return whether that changed anything. Live sessions end."""
    action = {UserState.ACTIVE: "user.enable", UserState.DISABLED: "user.disable"}[state]
    return await _change(database, name, action, {"state": state.value}, actor=actor)


async def set_password(database: Database, name: str, password_hash: str, *, actor: Actor) -> None:
    """Give a user another password; live sessions end."""
    values = {"password_hash": password_hash}
    await _change(database, name, "user.reset_password", values, actor=actor)


async def set_totp(database: Database, name: str, sealed: bytes, *, actor: Actor) -> None:
    """Give a user another second factor; live sessions and recovery codes end, and a lock is lifted."""
    values = {"totp_secret": sealed, "totp_step": 0, "code_failures": 0}
    await _change(database, name, "user.totp", values, actor=actor)


async def set_sites(
    database: Database, name: str, sites: frozenset[SiteId] | None, *, actor: Actor
) -> None:
    """Limit a user to these sites of the vendor; None for all. Open sessions follow at once."""

    async def job(tx: Tx) -> None:
        found = await lock_user(tx, name)
        if found is None:
            raise AccountRefused([unknown_user_finding(name)])
        user = found.user
        await tx.run(_CHANGES[frozenset({"all_sites"})], user=user.id, all_sites=int(sites is None))
        await tx.run(_DROP_SITES, user=user.id)
        await _bind(tx, user.id, user.vendor_id, sites)
        tx.audit("user.sites", ids=[name])

    await database.write(SCOPE, job, actor=actor)


async def set_access(tx: Tx, user: ConsoleUser, access: Access, *, totp_secret: bytes) -> None:
    """Give a locked user another role, vendor and sites. Open sessions follow at once."""
    values = {
        "role": access.role.value,
        "vendor_id": None if access.vendor == NO_VENDOR else access.vendor,
        "all_sites": int(access.sites is None),
        "totp_secret": totp_secret,
    }
    await tx.run(_DROP_SITES, user=user.id)
    await tx.run(_CHANGES[frozenset(values)], user=user.id, **values)
    await _bind(tx, user.id, access.vendor, access.sites)
    tx.audit("user.role", ids=[user.name], detail=f"{user.role} to {access.role}")


async def keep_an_operator(tx: Tx, name: str) -> None:
    """Refuse that the last active operator ceases to be one.

    Locks all operators, in order and before any other user: two could otherwise take each other's role.
    """
    if [row[0] for row in await tx.rows(_LOCK_OPERATORS)] == [name]:
        message = f"{name} is the last operator. Make someone else an operator first."
        raise AccountRefused([_finding(message)])


async def _bind(tx: Tx, user: int, vendor: VendorId, sites: frozenset[SiteId] | None) -> None:
    owner = {"user_id": user, "vendor_id": vendor}
    await tx.many(_ADD_SITE, [owner | {"site_id": site} for site in sorted(sites or ())])


async def _change(
    database: Database, name: str, action: str, values: Mapping[str, object], *, actor: Actor
) -> bool:
    async def job(tx: Tx) -> bool:
        if values.get("state") == UserState.DISABLED.value:
            await keep_an_operator(tx, name)
        found = await lock_user(tx, name)
        if found is None:
            raise AccountRefused([unknown_user_finding(name)])
        if values.get("state") == found.user.state.value:
            return False
        await tx.run(_CHANGES[frozenset(values)], user=found.user.id, **values)
        await tx.run(_END_ALL, user=found.user.id)
        if "totp_secret" in values:
            await recovery_codes.drop_codes(tx, found.user.id)
        tx.audit(action, ids=[name])
        return True

    return await database.write(SCOPE, job, actor=actor)


def unknown_user_finding(name: str) -> Finding:
    """Return the finding for a name that no user has."""
    return _finding(f"There is no user {name}. `clearlane user list` shows them.")


# ---- signing in and out -------------------------------------------------------------------------


async def record_failed_code(tx: Tx, user: ConsoleUser, tries: CodeFailures) -> None:
    """Record a wrong code."""
    values = {"code_failures": tries.failures, "code_failed_at": to_micros(tries.failed_at)}
    await tx.run(_CHANGES[frozenset(values)], user=user.id, **values)


async def record_used_code(tx: Tx, user: ConsoleUser, step: int) -> None:
    """Mark the steps of codes up to this one as used, and forget wrong codes."""
    values = {"totp_step": step, "code_failures": 0}
    await tx.run(_CHANGES[frozenset(values)], user=user.id, **values)


async def begin_session(
    tx: Tx, user: ConsoleUser, session_hash: bytes, step: int, *, now: datetime, ends: datetime
) -> None:
    """Sign a user in: mark the code's step as used, and end the oldest sessions if there are too many."""
    await record_used_code(tx, user, step)
    await _store_session(tx, user, session_hash, now=now, ends=ends)
    tx.audit("console.sign_in", ids=[user.name])


async def _store_session(
    tx: Tx, user: ConsoleUser, session_hash: bytes, *, now: datetime, ends: datetime
) -> None:
    await tx.run(_SWEEP, now=to_micros(now), idle=_idle(now))
    await tx.run(_END_OLDEST, user=user.id)
    await tx.run(
        _BEGIN,
        session_hash=session_hash,
        user_id=user.id,
        seen_at=to_micros(now),
        ends_at=to_micros(ends),
    )


async def add_sign_in_link(
    tx: Tx, user: ConsoleUser, code_hash: bytes, *, now: datetime, expires_at: datetime
) -> None:
    """Store the code of a one-time address that signs a user in; delete those that have expired."""
    await tx.run(_SWEEP_LINKS, now=to_micros(now))
    values = {"code_hash": code_hash, "user_id": user.id, "expires_at": to_micros(expires_at)}
    await tx.run(_ADD_LINK, **values)
    tx.audit("user.sign_in_link", ids=[user.name])


async def use_sign_in_link(tx: Tx, code_hash: bytes, now: datetime) -> ConsoleUser | None:
    """Use up a code and return its user. Of concurrent attempts the database lets one succeed."""
    used = await tx.row(_USE_LINK, code_hash=code_hash, now=to_micros(now))
    row = await tx.row(_BY_ID, user=used[0]) if used else None
    return None if row is None else _user(row, await _sites(tx, row))


async def begin_linked_session(
    tx: Tx, user: ConsoleUser, session_hash: bytes, *, now: datetime, ends: datetime
) -> None:
    """Sign in a user who opened a one-time address."""
    await _store_session(tx, user, session_hash, now=now, ends=ends)
    tx.audit("console.sign_in", ids=[user.name], detail="one-time address")


async def find_session(tx: Tx, session_hash: bytes, now: datetime) -> ConsoleSession | None:
    """Return the session of that hash, unless it has ended or its user is disabled."""
    row = await tx.row(_SESSION, session_hash=session_hash, now=to_micros(now), idle=_idle(now))
    if row is None:
        return None
    seen_at, *user = row
    return ConsoleSession(_user(tuple(user), await _sites(tx, tuple(user))), from_micros(seen_at))


async def touch_session(tx: Tx, session_hash: bytes, now: datetime) -> None:
    """Record activity in a session."""
    await tx.run(_TOUCH, session_hash=session_hash, now=to_micros(now))


async def end_session(tx: Tx, session_hash: bytes, user: ConsoleUser) -> None:
    """Sign a user out."""
    if await tx.run(_END, session_hash=session_hash):
        tx.audit("console.sign_out", ids=[user.name])


def _user(row: Row, sites: frozenset[SiteId]) -> ConsoleUser:
    id, name, vendor, all_sites, state, role = row
    return ConsoleUser(
        id,
        name,
        NO_VENDOR if vendor is None else VendorId(vendor),
        UserState(state),
        None if all_sites else sites,
        ConsoleRole(role),
    )


async def _sites(tx: Tx, row: Row) -> frozenset[SiteId]:
    return frozenset(SiteId(site) for (site,) in await tx.rows(_USER_SITES, user=row[0]))


def _idle(now: datetime) -> int:
    """Return the time of last activity at or before which sessions have ended."""
    return to_micros(now) - CONSOLE_IDLE_SECONDS_MAX * 1_000_000


def _finding(message: str) -> Finding:
    return Finding(rule="ACC009", stage=Stage.RULE, location="NAME", message=message)


_USER = (
    console_users.c.id,
    console_users.c.name,
    console_users.c.vendor_id,
    console_users.c.all_sites,
    console_users.c.state,
    console_users.c.role,
)
_ADD = Statement(
    insert_into(console_users, *(c.name for c in console_users.c if c.name != "id"))
    .on_conflict_do_nothing()
    .returning(console_users.c.id)
)
_ADD_SITE = Statement(insert_into(console_user_sites, "user_id", "vendor_id", "site_id"))
_DROP_SITES = Statement(
    delete(console_user_sites).where(console_user_sites.c.user_id == bindparam("user"))
)
_ALL = Statement(select(*_USER).order_by(console_users.c.name))
_ALL_SITES = Statement(select(console_user_sites.c.user_id, console_user_sites.c.site_id))
_USER_SITES = Statement(
    select(console_user_sites.c.site_id).where(console_user_sites.c.user_id == bindparam("user"))
)
_OF_NAME = select(
    *_USER,
    console_users.c.password_hash,
    console_users.c.totp_secret,
    console_users.c.totp_step,
    console_users.c.code_failures,
    console_users.c.code_failed_at,
).where(console_users.c.name == bindparam("name"))
_BY_NAME = Statement(_OF_NAME)
_LOCK = Statement(_OF_NAME.with_for_update())


_LOCK_OPERATORS = Statement(
    select(console_users.c.name)
    .where(
        console_users.c.role == ConsoleRole.OPERATOR.value,
        console_users.c.state == UserState.ACTIVE.value,
    )
    .order_by(console_users.c.id)
    .with_for_update()
)


def _changing(*columns: str) -> tuple[frozenset[str], Statement]:
    values: dict[str, BindParameter[object]] = {name: bindparam(name) for name in columns}
    this_user = console_users.c.id == bindparam("user")
    return frozenset(columns), Statement(update(console_users).where(this_user).values(values))


# The columns of a user that change together.
_CHANGES: dict[frozenset[str], Statement] = dict(
    (
        _changing("state"),
        _changing("all_sites"),
        _changing("role", "vendor_id", "all_sites", "totp_secret"),
        _changing("password_hash"),
        _changing("totp_secret", "totp_step", "code_failures"),
        _changing("code_failures", "code_failed_at"),
        _changing("totp_step", "code_failures"),
    )
)

_ANY_BY_ID = Statement(select(*_USER).where(console_users.c.id == bindparam("user")))
_BY_ID = Statement(
    select(*_USER).where(
        console_users.c.id == bindparam("user"), console_users.c.state == UserState.ACTIVE.value
    )
)
_ADD_LINK = Statement(insert_into(sign_in_links, "code_hash", "user_id", "expires_at"))
_USE_LINK = Statement(
    delete(sign_in_links)
    .where(
        sign_in_links.c.code_hash == bindparam("code_hash"),
        sign_in_links.c.expires_at > bindparam("now"),
    )
    .returning(sign_in_links.c.user_id)
)
_SWEEP_LINKS = Statement(
    delete(sign_in_links).where(sign_in_links.c.expires_at <= bindparam("now"))
)

_SESSION_HASH = console_sessions.c.session_hash == bindparam("session_hash")
_OF_USER = console_sessions.c.user_id == bindparam("user")
_BEGIN = Statement(insert_into(console_sessions, "session_hash", "user_id", "seen_at", "ends_at"))
_SESSION = Statement(
    select(console_sessions.c.seen_at, *_USER)
    .join(console_users, console_users.c.id == console_sessions.c.user_id)
    .where(
        _SESSION_HASH,
        console_sessions.c.ends_at > bindparam("now"),
        console_sessions.c.seen_at > bindparam("idle"),
        console_users.c.state == UserState.ACTIVE.value,
    )
)
_TOUCH = Statement(update(console_sessions).where(_SESSION_HASH).values(seen_at=bindparam("now")))
_END = Statement(delete(console_sessions).where(_SESSION_HASH))
_END_ALL = Statement(delete(console_sessions).where(_OF_USER))
_NEWEST = (
    select(console_sessions.c.session_hash)
    .where(_OF_USER)
    .order_by(console_sessions.c.ends_at.desc())
    .limit(CONSOLE_SESSIONS_PER_USER_MAX - 1)
)
_END_OLDEST = Statement(
    delete(console_sessions).where(_OF_USER, console_sessions.c.session_hash.not_in(_NEWEST))
)
# Two nodes that delete expired sessions at once must not wait for each other.
_ENDED = (
    select(console_sessions.c.session_hash)
    .where(
        or_(
            console_sessions.c.ends_at <= bindparam("now"),
            console_sessions.c.seen_at <= bindparam("idle"),
        )
    )
    .limit(limits.LOGIN_ENTRIES_SWEPT_AT_ONCE)
    .with_for_update(skip_locked=True)
)
_SWEEP = Statement(delete(console_sessions).where(console_sessions.c.session_hash.in_(_ENDED)))
