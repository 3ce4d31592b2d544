"""Instances of proxy login, and the one-time parts of their login URLs.

Tokens and parts come here as keyed hashes. Knows no GUID's form, no HTTP and no clock.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import bindparam, delete, func, select, update

from clearlane.kernel import limits
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.store.database import Actor, Database, Row, System, Tx
from clearlane.store.schema import instances, login_entries
from clearlane.store.sql import Statement, insertion, mine

ANY_CLIENT = System("an operator sees the instances of every client")
ACTIVE, DISABLED = "active", "disabled"


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance as its row tells it, without its token."""

    scope: Scope
    instance: str
    name: str
    state: str
    has_token: bool
    created_at: int
    token_at: int


@dataclass(frozen=True, slots=True)
class Entry:
    """Where the holder of a one-time part comes from."""

    scope: Scope
    instance: str


# ---- tokens, in the scope of one client ---------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token about to be stored."""

    instance: str
    name: str
    token_hash: bytes = field(repr=False)
    now: int


async def put_token(tx: Tx, new: NewToken) -> bool:
    """Give an instance its one token, instead of the one before; False where the client has too many.

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
    """Whether this is the token of an instance that is not disabled."""
    found = await tx.row(_FIND, instance=instance)
    state, kept = found or (DISABLED, None)
    right = hmac.compare_digest(bytes(kept or b""), token_hash)
    return right and state == ACTIVE


async def drop_token(tx: Tx, scope: Scope, instance: str) -> bool:
    """Take an instance's token away; whether there was one."""
    dropped = await tx.run(_DROP, instance=instance) or await tx.run(_EMPTY, instance=instance)
    if dropped:
        await drop_entries(tx, scope, instance)
        tx.audit("instance.delete", ids=[instance])
    return bool(dropped)


# ---- one-time parts -----------------------------------------------------------------------------


async def add_entry(tx: Tx, entry: Entry, part_hash: bytes, *, now: int, expires_at: int) -> None:
    """Keep a one-time part, and let go of some that have ended."""
    await tx.run(_SWEEP, now=now)
    await tx.run(
        _ADD_ENTRY,
        part_hash=part_hash,
        vendor_id=entry.scope.vendor,
        site_id=entry.scope.site,
        instance=entry.instance,
        expires_at=expires_at,
        used_at=None,
    )
    tx.audit("instance.url", ids=[entry.instance])


async def is_live(tx: Tx, part_hash: bytes, now: int) -> bool:
    """Whether a part could be used now: spares a write where it could not."""
    return await tx.row(_LIVE, part_hash=part_hash, now=now) is not None


async def use_entry(tx: Tx, part_hash: bytes, now: int) -> Entry | None:
    """Use a part up. Of any number that try at once, the database lets one through."""
    row = await tx.row(_USE, part_hash=part_hash, now=now)
    if row is None:
        return None
    entry = Entry(Scope(VendorId(row[0]), SiteId(row[1])), row[2])
    tx.audit("instance.enter", ids=[entry.instance])
    return entry


async def drop_entries(tx: Tx, scope: Scope, instance: str) -> None:
    """End every login URL of an instance."""
    await tx.run(_DROP_ENTRIES, vendor=scope.vendor, site=scope.site, instance=instance)


# ---- for operators ------------------------------------------------------------------------------


async def all_instances(database: Database) -> list[Instance]:
    """The instances of every client."""
    async with database.read(ANY_CLIENT) as tx:
        return [_instance(row) for row in await tx.rows(_ALL)]


async def set_state(database: Database, one: Instance, state: str, *, actor: Actor) -> bool:
    """Let an instance's token open the login page, or not; whether that changed anything."""

    async def job(tx: Tx) -> bool:
        changed = await tx.run(_SET_STATE, instance=one.instance, state=state)
        if changed:
            await drop_entries(tx, one.scope, one.instance)
            tx.audit(f"instance.{_ACTIONS[state]}", ids=[one.instance])
        return bool(changed)

    return await database.write(one.scope, job, actor=actor)


_ACTIONS = {ACTIVE: "enable", DISABLED: "disable"}


def _instance(row: Row) -> Instance:
    vendor, site, *facts, token_hash, created_at, token_at = row
    instance, name, state = facts
    scope = Scope(VendorId(vendor), SiteId(site))
    return Instance(scope, instance, name, state, token_hash is not None, created_at, token_at)


def _of_entry() -> Sequence[object]:
    return (
        login_entries.c.part_hash == bindparam("part_hash"),
        login_entries.c.used_at.is_(None),
        login_entries.c.expires_at > bindparam("now"),
    )


_NEW = insertion(instances, "instance", "name", "state", "token_hash", "created_at", "token_at")
_PUT = Statement(
    _NEW.on_conflict_do_update(
        index_elements=["vendor_id", "site_id", "instance"],
        set_={
            "name": _NEW.excluded.name,
            "token_hash": _NEW.excluded.token_hash,
            "token_at": _NEW.excluded.token_at,
        },
    )
)
_THIS = (mine(instances), instances.c.instance == bindparam("instance"))
_FIND = Statement(select(instances.c.state, instances.c.token_hash).where(*_THIS))
_COUNT = Statement(select(func.count()).select_from(instances).where(mine(instances)))
# A row without a token is kept only to remember that it is disabled.
_DROP = Statement(delete(instances).where(*_THIS, instances.c.state == ACTIVE))
_EMPTY = Statement(
    update(instances).where(*_THIS, instances.c.token_hash.is_not(None)).values(token_hash=None)
)
_SET_STATE = Statement(
    update(instances)
    .where(*_THIS, instances.c.state != bindparam("state"))
    .values(state=bindparam("state"))
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
_ADD_ENTRY = Statement(
    insertion(
        login_entries, "part_hash", "vendor_id", "site_id", "instance", "expires_at", "used_at"
    )
)
_LIVE = Statement(select(login_entries.c.expires_at).where(*_of_entry()))  # type: ignore[arg-type]
_USE = Statement(
    update(login_entries)
    .where(*_of_entry())  # type: ignore[arg-type]
    .values(used_at=bindparam("now"))
    .returning(login_entries.c.vendor_id, login_entries.c.site_id, login_entries.c.instance)
)
_DROP_ENTRIES = Statement(
    delete(login_entries).where(
        login_entries.c.vendor_id == bindparam("vendor"),
        login_entries.c.site_id == bindparam("site"),
        login_entries.c.instance == bindparam("instance"),
    )
)
# Two that sweep at once must not wait for each other.
_ENDED = (
    select(login_entries.c.part_hash)
    .where(login_entries.c.expires_at <= bindparam("now"))
    .limit(limits.LOGIN_ENTRIES_SWEPT_AT_ONCE)
    .with_for_update(skip_locked=True)
)
_SWEEP = Statement(delete(login_entries).where(login_entries.c.part_hash.in_(_ENDED)))
