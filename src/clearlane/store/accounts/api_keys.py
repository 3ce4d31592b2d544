"""API keys of vendors: add, rotate, disable, remove, and when each was last used.

Every change is one transaction: the rows, the audit entry and the revision of the accounts, so that all nodes know it at
once. A use changes no revision. Knows no HTTP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import bindparam, delete, func, select, update

from clearlane.accounts.api_keys import KeyState, api_key_findings, new_api_key, new_key_id
from clearlane.accounts.credentials import hash_password
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.finding import Finding
from clearlane.store.accounts.accounts import (
    REVISION,
    SCOPE,
    SECRETS_PER_ACCOUNT_MAX,
    AccountChange,
    AccountRefused,
    account_finding,
    raise_findings,
    require_vendor,
    set_account_column,
    updated_column,
)
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.database.schema import api_key_secrets, api_keys, sites
from clearlane.store.database.sql import Statement, insert_into
from clearlane.store.installation.nodes import bump_revision

API_KEYS_PER_VENDOR_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApiKey:
    """The values of a key to be added."""

    vendor_key: str
    name: str
    scopes: Sequence[str]
    sites: Sequence[str] = ()
    """Vendor site ids; none for all sites."""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key that was made. It is here and never again: only its hash is stored."""

    id: str
    api_key: str = field(repr=False)
    revision: int


async def add_api_key(
    database: Database, new: NewApiKey, *, pepper: bytes, now: datetime, actor: Actor
) -> IssuedKey:
    """Add a key of a vendor."""
    id = new_key_id()
    api_key, name = new_api_key(id), new.name.strip()

    async def job(tx: Tx) -> int:
        vendor = await require_vendor(tx, new.vendor_key)
        known: dict[str, int] = dict(await tx.rows(_SITES, vendor=vendor))
        raise_findings(
            api_key_findings(
                name=name, scopes=new.scopes, sites=new.sites, known_sites=list(known),
                expires_at=new.expires_at, now=now,
            )
        )  # fmt: skip
        await _check_taken(tx, vendor, name)
        chosen = sorted({known[one] for one in new.sites})
        await tx.run(
            _ADD,
            key_id=id,
            vendor_id=vendor,
            name=name,
            scopes=_json(sorted(set(new.scopes))),
            sites=_json(chosen) if chosen else None,
            state=KeyState.ACTIVE.value,
            created_at=to_micros(now),
            expires_at=None if new.expires_at is None else to_micros(new.expires_at),
        )
        await _insert_secret(tx, pepper, id, api_key, now)
        tx.audit("api_key.add", ids=[id], detail=_said(new))
        return await bump_revision(tx, REVISION)

    return IssuedKey(id, api_key, await database.write(SCOPE, job, actor=actor))


async def rotate_api_key(
    database: Database, id: str, *, pepper: bytes, overlap: timedelta, now: datetime, actor: Actor
) -> IssuedKey:
    """Give a key a new secret. The old ones are accepted until the overlap ends, if not expired before."""
    api_key = new_api_key(id)

    async def job(tx: Tx) -> int:
        if await tx.row(_LOCK, id=id) is None:
            raise AccountRefused([_no_key(id)])
        await tx.run(_EXPIRE, id=id, end=to_micros(now + overlap))
        await tx.run(_DROP_EXPIRED, id=id, now=to_micros(now))
        await _insert_secret(tx, pepper, id, api_key, now)
        count = await tx.row(_COUNT_SECRETS, id=id)
        if count is not None and count[0] > SECRETS_PER_ACCOUNT_MAX:
            live = f"{SECRETS_PER_ACCOUNT_MAX} secrets of the key are still live"
            raise AccountRefused(
                [account_finding("OVERLAP", f"{live}. Wait, or rotate with --overlap 0.")]
            )
        tx.audit("api_key.rotate", ids=[id], detail=f"overlap {overlap}")
        return await bump_revision(tx, REVISION)

    return IssuedKey(id, api_key, await database.write(SCOPE, job, actor=actor))


async def set_api_key_state(
    database: Database, id: str, state: KeyState, *, actor: Actor
) -> AccountChange:
    """Disable a key, or accept it again."""
    action = {KeyState.ACTIVE: "api_key.enable", KeyState.DISABLED: "api_key.disable"}[state]
    return await set_account_column(database, _STATE, id, state.value, action=action, actor=actor)


async def remove_api_key(database: Database, id: str, *, actor: Actor) -> AccountChange:
    """Remove a key for good. The audit chain keeps what it was for."""

    async def job(tx: Tx) -> int:
        found = await tx.row(_LOCK, id=id)
        if found is None:
            raise AccountRefused([_no_key(id)])
        await tx.run(_DROP_SECRETS, id=id)
        await tx.run(_DROP, id=id)
        tx.audit("api_key.remove", ids=[id], detail=f"name {found[0]}")
        return await bump_revision(tx, REVISION)

    return AccountChange(await database.write(SCOPE, job, actor=actor))


async def record_key_uses(
    database: Database, uses: Mapping[str, datetime], *, actor: Actor
) -> None:
    """Record when keys were last used. A later use that another node has recorded stays."""

    async def job(tx: Tx) -> None:
        await tx.many(_USED, [{"id": id, "at": to_micros(at)} for id, at in sorted(uses.items())])

    await database.write(SCOPE, job, actor=actor)


async def last_key_uses(database: Database) -> dict[str, datetime]:
    """Return when each key was last used, as far as that is recorded."""
    async with database.read(SCOPE) as tx:
        return {id: from_micros(at) for id, at in await tx.rows(_USES)}


async def _check_taken(tx: Tx, vendor: int, name: str) -> None:
    """Refuse a name that the vendor's keys have, and a key too many."""
    names = [row[0] for row in await tx.rows(_NAMES, vendor=vendor)]
    if name.casefold() in map(str.casefold, names):
        taken = f"The vendor has a key {name} already. Rotate it, or choose another name."
        raise AccountRefused([account_finding("NAME", taken)])
    if len(names) >= API_KEYS_PER_VENDOR_MAX:
        full = f"A vendor has {API_KEYS_PER_VENDOR_MAX} keys at most. Remove one that is not used."
        raise AccountRefused([account_finding("KEY", full)])


async def _insert_secret(tx: Tx, pepper: bytes, id: str, api_key: str, now: datetime) -> None:
    await tx.run(
        _ADD_SECRET,
        secret_hash=hash_password(pepper, api_key.encode()),
        key_id=id,
        created_at=to_micros(now),
        expires_at=None,
    )


def _said(new: NewApiKey) -> str:
    """Return what a new key is for, as its audit row says it."""
    of_sites = f"{len(set(new.sites))} sites" if new.sites else "all sites"
    ends = f"expires {new.expires_at:%Y-%m-%d}" if new.expires_at else "no expiry"
    scopes = " ".join(sorted(set(new.scopes)))
    return f"vendor {new.vendor_key}; name {new.name.strip()}; {scopes}; {of_sites}; {ends}"


def _no_key(id: str) -> Finding:
    return account_finding("ID", f"There is no API key {id}. `clearlane api-key list` shows them.")


def _json(values: Sequence[object]) -> str:
    return msgspec.json.encode(values).decode()


_STATE = updated_column(api_keys.c.key_id, api_keys.c.state, _no_key)
_THIS, _SECRETS_OF = (
    api_keys.c.key_id == bindparam("id"),
    api_key_secrets.c.key_id == bindparam("id"),
)
_OF_VENDOR = api_keys.c.vendor_id == bindparam("vendor")
_SITES = Statement(
    select(sites.c.vendor_site_id, sites.c.id).where(sites.c.vendor_id == bindparam("vendor"))
)
_NAMES = Statement(select(api_keys.c.name).where(_OF_VENDOR))
_LOCK = Statement(select(api_keys.c.name).where(_THIS).with_for_update())
_ADD = Statement(
    insert_into(
        api_keys, "key_id", "vendor_id", "name", "scopes", "sites", "state", "created_at", "expires_at"
    )
)  # fmt: skip
_ADD_SECRET = Statement(
    insert_into(api_key_secrets, "secret_hash", "key_id", "created_at", "expires_at")
)
_EXPIRE = Statement(
    update(api_key_secrets)
    .where(
        _SECRETS_OF,
        api_key_secrets.c.expires_at.is_(None) | (api_key_secrets.c.expires_at > bindparam("end")),
    )
    .values(expires_at=bindparam("end"))
)
_DROP_EXPIRED = Statement(
    delete(api_key_secrets).where(_SECRETS_OF, api_key_secrets.c.expires_at <= bindparam("now"))
)
_COUNT_SECRETS = Statement(select(func.count()).select_from(api_key_secrets).where(_SECRETS_OF))
_DROP_SECRETS = Statement(delete(api_key_secrets).where(_SECRETS_OF))
_DROP = Statement(delete(api_keys).where(_THIS))
_USED = Statement(
    update(api_keys)
    .where(_THIS, api_keys.c.used_at.is_(None) | (api_keys.c.used_at < bindparam("at")))
    .values(used_at=bindparam("at"))
)
_USES = Statement(
    select(api_keys.c.key_id, api_keys.c.used_at).where(api_keys.c.used_at.is_not(None))
)
