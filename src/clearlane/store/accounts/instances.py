"""Instances of proxy login, and their login URLs.

Tokens and the one-time codes of login URLs come here as keyed hashes. Knows no GUID format, no HTTP and no clock.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import bindparam, delete, func, select, update

from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.store.database.database import Actor, Database, Row, SystemScope, Tx
from clearlane.store.database.schema import instances, login_urls
from clearlane.store.database.sql import (
    Statement,
    insert_into,
    scoped_delete,
    scoped_select,
    scoped_update,
    scoped_upsert,
)

ANY_CLIENT = SystemScope("an operator sees the instances of every client")
ACTIVE, DISABLED = "active", "disabled"


@dataclass(frozen=True, slots=True)
class Instance:
    """A stored instance, without its token."""

    scope: Scope
    instance: str
    name: str
    state: str
    has_token: bool
    created_at: int
    token_at: int


@dataclass(frozen=True, slots=True)
class LoginUrl:
    """The instance that a login URL was issued for."""

    scope: Scope
    instance: str


# ---- tokens, in the scope of one client ---------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token to be stored."""

    instance: str
    name: str
    token_hash: bytes = field(repr=False)
    now: int


async def put_token(tx: Tx, new: NewToken) -> bool:
    """Set the token of an instance; return False if the client has too many instances.

    A disabled instance stays disabled.
    """
    known = await tx.row(_FIND, instance=new.instance)
    if known is None:
        count = await tx.row(_COUNT)
        if count is not None and count[0] >= limits.INSTANCES_PER_SITE_MAX:
            return False
    await tx.run(
        _PUT,
        instance=new.instance,
        name=new.name,
        state=ACTIVE,
        token_hash=new.token_hash,
        created_at=new.now,
        token_at=new.now,
    )
    tx.audit("instance.token", ids=[new.instance])
    return True


async def is_token(tx: Tx, instance: str, token_hash: bytes) -> bool:
    """Return whether this is the token of an enabled instance."""
    found = await tx.row(_FIND, instance=instance)
    state, kept = found or (DISABLED, None)
    right = hmac.compare_digest(bytes(kept or b""), token_hash)
    return right and state == ACTIVE


async def drop_token(tx: Tx, scope: Scope, instance: str) -> bool:
    """Delete the token of an instance; return whether there was one."""
    dropped = await tx.run(_DROP, instance=instance) or await tx.run(_EMPTY, instance=instance)
    if dropped:
        await drop_login_urls(tx, scope, instance)
        tx.audit("instance.delete", ids=[instance])
    return bool(dropped)


# ---- login URLs ---------------------------------------------------------------------------------


async def add_login_url(
    tx: Tx, login_url: LoginUrl, code_hash: bytes, *, now: int, expires_at: int
) -> None:
    """Store the code of a login URL, and delete some that have expired."""
    await tx.run(_SWEEP, now=now)
    await tx.run(
        _ADD_LOGIN_URL,
        code_hash=code_hash,
        vendor_id=login_url.scope.vendor,
        site_id=login_url.scope.site,
        instance=login_url.instance,
        expires_at=expires_at,
        used_at=None,
    )
    tx.audit("instance.url", ids=[login_url.instance])


async def is_login_url_live(tx: Tx, code_hash: bytes, now: int) -> bool:
    """Return whether a code could be used now, which spares a write if it could not."""
    return await tx.row(_LIVE, code_hash=code_hash, now=now) is not None


async def use_login_url(tx: Tx, code_hash: bytes, now: int) -> LoginUrl | None:
    """Use up a code. Of concurrent attempts the database lets one succeed."""
    row = await tx.row(_USE, code_hash=code_hash, now=now)
    if row is None:
        return None
    login_url = LoginUrl(Scope(VendorId(row[0]), SiteId(row[1])), row[2])
    tx.audit("instance.enter", ids=[login_url.instance])
    return login_url


async def drop_login_urls(tx: Tx, scope: Scope, instance: str) -> None:
    """End every login URL of an instance."""
    await tx.run(_DROP_LOGIN_URLS, vendor=scope.vendor, site=scope.site, instance=instance)


# ---- for operators ------------------------------------------------------------------------------


async def all_instances(database: Database) -> list[Instance]:
    """Return the instances of every client."""
    async with database.read(ANY_CLIENT) as tx:
        return [_instance(row) for row in await tx.rows(_ALL)]


async def set_state(database: Database, one: Instance, state: str, *, actor: Actor) -> bool:
    """Enable or disable an instance; return whether that changed anything."""

    async def job(tx: Tx) -> bool:
        changed = await tx.run(_SET_STATE, instance=one.instance, state=state)
        if changed:
            await drop_login_urls(tx, one.scope, one.instance)
            tx.audit(f"instance.{_ACTIONS[state]}", ids=[one.instance])
        return bool(changed)

    return await database.write(one.scope, job, actor=actor)


_ACTIONS = {ACTIVE: "enable", DISABLED: "disable"}


def _instance(row: Row) -> Instance:
    vendor, site, *facts, token_hash, created_at, token_at = row
    instance, name, state = facts
    scope = Scope(VendorId(vendor), SiteId(site))
    return Instance(scope, instance, name, state, token_hash is not None, created_at, token_at)


def _live_login_url() -> Sequence[object]:
    return (
        login_urls.c.code_hash == bindparam("code_hash"),
        login_urls.c.used_at.is_(None),
        login_urls.c.expires_at > bindparam("now"),
    )


_PUT = scoped_upsert(
    instances, "instance", "name", "state", "token_hash", "created_at", "token_at",
    key=("instance",), replace=("name", "token_hash", "token_at"),
)  # fmt: skip
_THIS = instances.c.instance == bindparam("instance")
_FIND = scoped_select(select(instances.c.state, instances.c.token_hash).where(_THIS), instances)
_COUNT = scoped_select(select(func.count()).select_from(instances), instances)
# A row without a token is kept only if it is disabled.
_DROP = scoped_delete(instances, _THIS, instances.c.state == ACTIVE)
_EMPTY = scoped_update(instances, _THIS, instances.c.token_hash.is_not(None), token_hash=None)
_SET_STATE = scoped_update(
    instances, _THIS, instances.c.state != bindparam("state"), state=bindparam("state")
)
_ALL = Statement(
    select(
        instances.c.vendor_id,
        instances.c.site_id,
        instances.c.instance,
        instances.c.name,
        instances.c.state,
        instances.c.token_hash,
        instances.c.created_at,
        instances.c.token_at,
    ).order_by(instances.c.id),
    system=True,
)
_ADD_LOGIN_URL = Statement(
    insert_into(
        login_urls, "code_hash", "vendor_id", "site_id", "instance", "expires_at", "used_at"
    )
)
_LIVE = Statement(select(login_urls.c.expires_at).where(*_live_login_url()))  # type: ignore[arg-type]  # conditions of the library's own types
_USE = Statement(
    update(login_urls)
    .where(*_live_login_url())  # type: ignore[arg-type]  # conditions of the library's own types
    .values(used_at=bindparam("now"))
    .returning(login_urls.c.vendor_id, login_urls.c.site_id, login_urls.c.instance)
)
_DROP_LOGIN_URLS = Statement(
    delete(login_urls).where(
        login_urls.c.vendor_id == bindparam("vendor"),
        login_urls.c.site_id == bindparam("site"),
        login_urls.c.instance == bindparam("instance"),
    )
)
# Two nodes that delete expired codes at once must not wait for each other.
_ENDED = (
    select(login_urls.c.code_hash)
    .where(login_urls.c.expires_at <= bindparam("now"))
    .limit(limits.LOGIN_ENTRIES_SWEPT_AT_ONCE)
    .with_for_update(skip_locked=True)
)
_SWEEP = Statement(delete(login_urls).where(login_urls.c.code_hash.in_(_ENDED)))
