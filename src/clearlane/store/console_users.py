"""Console users, their sessions, and the claims they are shown.

Passwords come here as argon2id, sessions as keyed hashes, secrets of second factors sealed. The claims
of a site are read in that site's scope and in no other. Knows no form and no page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, or_, select, update

from clearlane.accounts.users import Tries, User, UserState
from clearlane.kernel import limits
from clearlane.kernel.clock import micros, moment
from clearlane.kernel.finding import Finding, Stage
from clearlane.kernel.ids import SiteId, VendorId
from clearlane.store.accounts import AccountRefused
from clearlane.store.database import Actor, Database, Row, System, Tx
from clearlane.store.schema import (
    claims,
    console_sessions,
    console_user_sites,
    console_users,
)
from clearlane.store.sql import Statement, insertion, mine

TABLE = "console_users"
SCOPE = System("console users belong to the installation")
NOT_ACCEPTED = "NotAccepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUser:
    """A user about to be stored."""

    name: str
    vendor: VendorId
    sites: frozenset[SiteId] | None
    password_hash: str = field(repr=False)
    totp_secret: bytes = field(repr=False)
    """Sealed for the vendor, this table and the user's name."""


@dataclass(frozen=True, slots=True)
class KeptUser:
    """A user with what a sign-in is checked against."""

    user: User
    password_hash: str = field(repr=False)
    totp_secret: bytes = field(repr=False)
    totp_step: int
    tries: Tries


@dataclass(frozen=True, slots=True)
class Session:
    """A session that has not ended, and whose it is."""

    user: User
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class ListedClaim:
    """What a claims list shows: no word of a patient."""

    request_id: str
    created_at: datetime
    created_day: str
    kind: str
    payer_id: str
    state: str
    total_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Which claims are wanted: days, both included, and where the page before ended."""

    first: str
    last: str
    before: tuple[str, str] | None = None
    """Day and request id of the last claim that was shown."""


# ---- users, for operators -----------------------------------------------------------------------


async def add_user(database: Database, new: NewUser, *, now: datetime, actor: Actor) -> None:
    """Add a user with a password and a second factor."""

    async def job(tx: Tx) -> None:
        added = await tx.row(
            _ADD,
            name=new.name,
            vendor_id=new.vendor,
            all_sites=int(new.sites is None),
            state=UserState.ACTIVE.value,
            password_hash=new.password_hash,
            totp_secret=new.totp_secret,
            totp_step=0,
            code_failures=0,
            code_failed_at=0,
            created_at=micros(now),
        )
        if added is None:
            raise AccountRefused([_finding(f"There is a user {new.name} already.")])
        await _bind(tx, added[0], new.vendor, new.sites)
        tx.audit("user.add", ids=[new.name])

    await database.write(SCOPE, job, actor=actor)


async def all_users(database: Database) -> list[User]:
    """Every console user."""
    async with database.read(SCOPE) as tx:
        sites: dict[int, set[SiteId]] = {}
        for user, site in await tx.rows(_ALL_SITES):
            sites.setdefault(user, set()).add(SiteId(site))
        return [_user(row, frozenset(sites.get(row[0], ()))) for row in await tx.rows(_ALL)]


async def find_user(tx: Tx, name: str) -> KeptUser | None:
    """A user and what a sign-in is checked against."""
    return await _kept(tx, await tx.row(_BY_NAME, name=name))


async def hold_user(tx: Tx, name: str) -> KeptUser | None:
    """The same in a write: nobody else changes the user before it ends."""
    return await _kept(tx, await tx.row(_HELD, name=name))


async def _kept(tx: Tx, row: Row | None) -> KeptUser | None:
    if row is None:
        return None
    *user, password_hash, secret, step, failures, failed_at = row
    return KeptUser(
        _user(tuple(user), await _sites(tx, row)),
        password_hash,
        bytes(secret),
        step,
        Tries(failures, moment(failed_at)),
    )


async def set_state(database: Database, name: str, state: UserState, *, actor: Actor) -> bool:
    """Let a user sign in, or not; whether that changed anything. Living sessions end."""
    action = {UserState.ACTIVE: "user.enable", UserState.DISABLED: "user.disable"}[state]
    return await _change(database, name, action, {"state": state.value}, actor=actor)


async def set_password(database: Database, name: str, password_hash: str, *, actor: Actor) -> None:
    """Give a user another password; living sessions end."""
    values = {"password_hash": password_hash}
    await _change(database, name, "user.reset-password", values, actor=actor)


async def set_totp(database: Database, name: str, sealed: bytes, *, actor: Actor) -> None:
    """Give a user another second factor; living sessions end, and a lock is lifted."""
    values = {"totp_secret": sealed, "totp_step": 0, "code_failures": 0}
    await _change(database, name, "user.totp", values, actor=actor)


async def set_sites(
    database: Database, name: str, sites: frozenset[SiteId] | None, *, actor: Actor
) -> None:
    """Show a user these sites of the vendor and no others; None for all. Open pages follow at once."""

    async def job(tx: Tx) -> None:
        found = await hold_user(tx, name)
        if found is None:
            raise AccountRefused([no_user(name)])
        user = found.user
        await tx.run(_CHANGES[frozenset({"all_sites"})], user=user.id, all_sites=int(sites is None))
        await tx.run(_DROP_SITES, user=user.id)
        await _bind(tx, user.id, user.vendor_id, sites)
        tx.audit("user.sites", ids=[name])

    await database.write(SCOPE, job, actor=actor)


async def _bind(tx: Tx, user: int, vendor: VendorId, sites: frozenset[SiteId] | None) -> None:
    owner = {"user_id": user, "vendor_id": vendor}
    await tx.many(_ADD_SITE, [owner | {"site_id": site} for site in sorted(sites or ())])


async def _change(
    database: Database, name: str, action: str, values: Mapping[str, object], *, actor: Actor
) -> bool:
    async def job(tx: Tx) -> bool:
        found = await hold_user(tx, name)
        if found is None:
            raise AccountRefused([no_user(name)])
        if values.get("state") == found.user.state.value:
            return False
        await tx.run(_CHANGES[frozenset(values)], user=found.user.id, **values)
        await tx.run(_END_ALL, user=found.user.id)
        tx.audit(action, ids=[name])
        return True

    return await database.write(SCOPE, job, actor=actor)


def no_user(name: str) -> Finding:
    """What is said of a name that nobody has."""
    return _finding(f"There is no user {name}. `clearlane user list` shows them.")


# ---- signing in and out -------------------------------------------------------------------------


async def note_failure(tx: Tx, user: User, tries: Tries) -> None:
    """Remember a wrong code."""
    values = {"code_failures": tries.failures, "code_failed_at": micros(tries.failed_at)}
    await tx.run(_CHANGES[frozenset(values)], user=user.id, **values)


async def begin_session(
    tx: Tx, user: User, session_hash: bytes, step: int, *, now: datetime, ends: datetime
) -> None:
    """Sign a user in: the code's step is used up, and the oldest of many sessions end."""
    await tx.run(_CHANGES[frozenset(_SIGNED_IN)], user=user.id, **_SIGNED_IN | {"totp_step": step})
    await tx.run(_SWEEP, now=micros(now), idle=_idle(now))
    await tx.run(_END_OLDEST, user=user.id)
    await tx.run(
        _BEGIN,
        session_hash=session_hash,
        user_id=user.id,
        seen_at=micros(now),
        ends_at=micros(ends),
    )
    tx.audit("console.sign-in", ids=[user.name])


async def find_session(tx: Tx, session_hash: bytes, now: datetime) -> Session | None:
    """The session of that hash, unless it has ended or its user may no longer sign in."""
    row = await tx.row(_SESSION, session_hash=session_hash, now=micros(now), idle=_idle(now))
    if row is None:
        return None
    seen_at, *user = row
    return Session(_user(tuple(user), await _sites(tx, tuple(user))), moment(seen_at))


async def touch_session(tx: Tx, session_hash: bytes, now: datetime) -> None:
    """The session's user has done something."""
    await tx.run(_TOUCH, session_hash=session_hash, now=micros(now))


async def end_session(tx: Tx, session_hash: bytes, user: User) -> None:
    """Sign a user out."""
    if await tx.run(_END, session_hash=session_hash):
        tx.audit("console.sign-out", ids=[user.name])


# ---- what a user is shown, in the scope of one site ---------------------------------------------


async def list_claims(tx: Tx, days: Days) -> list[ListedClaim]:
    """A page of the site's claims, newest first, one more than a page shows. The look is audited."""
    day, request_id = days.before or ("", "")
    values = {"first": days.first, "last": days.last}
    if days.before is None:
        rows = await tx.rows(_CLAIMS, **values)
    else:
        rows = await tx.rows(_OLDER_CLAIMS, day=day, before=request_id, **values)
    tx.audit("console.claims", count=len(rows), detail=f"{days.first} to {days.last}")
    return [ListedClaim(row[0], moment(row[1]), *row[2:]) for row in rows]


def _user(row: Row, sites: frozenset[SiteId]) -> User:
    id, name, vendor, all_sites, state = row
    return User(id, name, VendorId(vendor), UserState(state), None if all_sites else sites)


async def _sites(tx: Tx, row: Row) -> frozenset[SiteId]:
    return frozenset(SiteId(site) for (site,) in await tx.rows(_USER_SITES, user=row[0]))


def _idle(now: datetime) -> int:
    """Sessions seen last at this moment, or before, have ended."""
    return micros(now) - limits.CONSOLE_IDLE_SECONDS_MAX * 1_000_000


def _finding(message: str) -> Finding:
    return Finding(rule="ACC009", stage=Stage.RULE, location="NAME", message=message)


_USER = (
    console_users.c.id,
    console_users.c.name,
    console_users.c.vendor_id,
    console_users.c.all_sites,
    console_users.c.state,
)
_ADD = Statement(
    insertion(console_users, *(c.name for c in console_users.c if c.name != "id"))
    .on_conflict_do_nothing()
    .returning(console_users.c.id)
)
_ADD_SITE = Statement(insertion(console_user_sites, "user_id", "vendor_id", "site_id"))
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
_HELD = Statement(_OF_NAME.with_for_update())
_SIGNED_IN: dict[str, object] = {"totp_step": 0, "code_failures": 0}


def _changing(*columns: str) -> tuple[frozenset[str], Statement]:
    values: dict[str, Any] = {name: bindparam(name) for name in columns}
    mine = console_users.c.id == bindparam("user")
    return frozenset(columns), Statement(update(console_users).where(mine).values(values))


# What may change on a user, together.
_CHANGES: dict[frozenset[str], Statement] = dict(
    (
        _changing("state"),
        _changing("all_sites"),
        _changing("password_hash"),
        _changing("totp_secret", "totp_step", "code_failures"),
        _changing("code_failures", "code_failed_at"),
        _changing("totp_step", "code_failures"),
    )
)

_SESSION_HASH = console_sessions.c.session_hash == bindparam("session_hash")
_OF_USER = console_sessions.c.user_id == bindparam("user")
_BEGIN = Statement(insertion(console_sessions, "session_hash", "user_id", "seen_at", "ends_at"))
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
    .limit(limits.CONSOLE_SESSIONS_PER_USER_MAX - 1)
)
_END_OLDEST = Statement(
    delete(console_sessions).where(_OF_USER, console_sessions.c.session_hash.not_in(_NEWEST))
)
# Two that sweep at once must not wait for each other.
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

_PAGE = (
    select(
        claims.c.request_id,
        claims.c.created_at,
        claims.c.created_day,
        claims.c.kind,
        claims.c.payer_id,
        claims.c.state,
        claims.c.total_cents,
    )
    .where(
        mine(claims),
        claims.c.created_day >= bindparam("first"),
        claims.c.created_day <= bindparam("last"),
        claims.c.state != NOT_ACCEPTED,
    )
    .order_by(claims.c.created_day.desc(), claims.c.request_id.desc())
    .limit(limits.CONSOLE_CLAIMS_PAGE_ROWS + 1)
)
_CLAIMS = Statement(_PAGE)
_OLDER_CLAIMS = Statement(
    _PAGE.where(
        or_(
            claims.c.created_day < bindparam("day"),
            and_(
                claims.c.created_day == bindparam("day"), claims.c.request_id < bindparam("before")
            ),
        )
    )
)
