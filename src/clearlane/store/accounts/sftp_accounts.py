"""SFTP accounts of sites: their keys, and what they used of their daily quota.

Nodes look an account up at each sign-in, so that a change holds at once on all of them. Knows no connection.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, func, select, update

from clearlane.accounts.sftp_account import SftpAccount, SftpAccountState, account_findings
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.ids import SiteId, VendorId
from clearlane.store.accounts.accounts import AccountRefused, account_finding, raise_findings
from clearlane.store.database.database import Actor, Database, Row, SystemScope, Tx, require_row
from clearlane.store.database.schema import sftp_accounts, sftp_keys, sftp_usage
from clearlane.store.database.sql import Statement, among, insert_into

KEYS_PER_ACCOUNT_MAX = 20
USAGE_KEPT_DAYS = 7

SCOPE = SystemScope("SFTP accounts are found by name, before it is known whose they are")


@dataclass(frozen=True, slots=True)
class SftpKey:
    """A public key of an account."""

    fingerprint: str
    public_key: str
    """One line as in an ``authorized_keys`` file, without options and comment."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SftpUsage:
    """What an account sent on a day."""

    files: int = 0
    bytes: int = 0


# ---- accounts -----------------------------------------------------------------------------------

_COLUMNS = (
    sftp_accounts.c.id, sftp_accounts.c.name, sftp_accounts.c.vendor_id, sftp_accounts.c.site_id,
    sftp_accounts.c.state, sftp_accounts.c.profile, sftp_accounts.c.in_folder, sftp_accounts.c.out_folder,
    sftp_accounts.c.password_hash, sftp_accounts.c.networks, sftp_accounts.c.older_algorithms,
    sftp_accounts.c.bytes_per_day_max, sftp_accounts.c.files_per_day_max, sftp_accounts.c.signed_in_at,
)  # fmt: skip
_ALL = Statement(select(*_COLUMNS).order_by(sftp_accounts.c.name))
_BY_NAME = Statement(select(*_COLUMNS).where(sftp_accounts.c.name == bindparam("name")))
_LOCK = Statement(
    select(*_COLUMNS).where(sftp_accounts.c.name == bindparam("name")).with_for_update()
)
_ACTIVE = Statement(
    select(sftp_accounts.c.id).where(
        among(sftp_accounts.c.id, "ids"), sftp_accounts.c.state == SftpAccountState.ACTIVE.value
    )
)
_ADD = Statement(
    insert_into(
        sftp_accounts,
        *(column.name for column in _COLUMNS if column.name not in {"id", "signed_in_at"}),
        "created_at",
    )
    .on_conflict_do_nothing()
    .returning(sftp_accounts.c.id)
)
_SET_STATE = Statement(
    update(sftp_accounts)
    .where(sftp_accounts.c.id == bindparam("account"))
    .values(state=bindparam("state"))
)
_CHANGEABLE = (
    "profile", "in_folder", "out_folder", "password_hash", "networks", "older_algorithms",
    "bytes_per_day_max", "files_per_day_max",
)  # fmt: skip
_CHANGE = Statement(
    update(sftp_accounts)
    .where(sftp_accounts.c.id == bindparam("account"))
    .values({name: bindparam(f"to_{name}") for name in _CHANGEABLE})
)
_SIGNED_IN = Statement(
    update(sftp_accounts)
    .where(sftp_accounts.c.id == bindparam("account"))
    .values(signed_in_at=bindparam("at"))
)
_REMOVE = tuple(
    Statement(delete(table).where(column == bindparam("account")))
    for table, column in (
        (sftp_usage, sftp_usage.c.account_id),
        (sftp_keys, sftp_keys.c.account_id),
        (sftp_accounts, sftp_accounts.c.id),
    )
)


async def add_account(
    database: Database,
    account: SftpAccount,
    keys: dict[str, str],
    *,
    now: datetime,
    actor: Actor,
) -> None:
    """Add an account with its public keys, given by fingerprint; refuse one that could not sign in."""
    raise_findings(account_findings(account))
    if not keys and not account.password_hash:
        raise AccountRefused([account_finding("KEY", "An account needs a public key: give --key.")])

    async def job(tx: Tx) -> None:
        added = await tx.row(
            _ADD,
            name=account.name,
            vendor_id=account.vendor_id,
            site_id=account.site_id,
            state=account.state.value,
            created_at=to_micros(now),
            **_changeable(account),
        )
        if added is None:
            taken = f"There is an SFTP account {account.name} already. Names are used once."
            raise AccountRefused([account_finding("NAME", taken)])
        for fingerprint, public_key in keys.items():
            await _insert_key(tx, added[0], fingerprint, public_key, now)
        tx.audit("sftp.user_add", ids=[account.name, *keys])

    await database.write(SCOPE, job, actor=actor)


async def list_accounts(database: Database) -> list[tuple[SftpAccount, tuple[SftpKey, ...]]]:
    """Return every account with its keys, by name."""
    async with database.read(SCOPE) as tx:
        keys: dict[int, list[SftpKey]] = {}
        for account, *key in await tx.rows(_ALL_KEYS):
            keys.setdefault(account, []).append(_key(tuple(key)))
        return [(_account(row), tuple(keys.get(row[0], ()))) for row in await tx.rows(_ALL)]


async def find_account(tx: Tx, name: str) -> SftpAccount | None:
    """Return an account by its name, in lower case; active or not."""
    row = await tx.row(_BY_NAME, name=name)
    return None if row is None else _account(row)


async def active_accounts(tx: Tx, ids: list[int]) -> set[int]:
    """Return those of some accounts that may sign in."""
    return {id for (id,) in await tx.rows(_ACTIVE, ids=ids)}


async def set_account_state(
    database: Database, name: str, state: SftpAccountState, *, actor: Actor
) -> bool:
    """Enable or disable an account; return whether that changed anything."""
    action = {
        SftpAccountState.ACTIVE: "sftp.user_enable",
        SftpAccountState.DISABLED: "sftp.user_disable",
    }[state]

    async def job(tx: Tx) -> bool:
        account = await _require(tx, name)
        if account.state is state:
            return False
        await tx.run(_SET_STATE, account=account.id, state=state.value)
        tx.audit(action, ids=[name])
        return True

    return await database.write(SCOPE, job, actor=actor)


async def change_account(
    database: Database, name: str, changes: Mapping[str, object], *, actor: Actor
) -> bool:
    """Change fields of an account, given by name; return whether that changed anything.

    What is wrong with the account as it would be is refused. It counts from the next sign-in on.
    """

    async def job(tx: Tx) -> bool:
        before = await _require(tx, name)
        after = replace(before, **changes)  # type: ignore[arg-type]  # the caller names fields of it
        raise_findings(account_findings(after))
        (keys,) = require_row(await tx.row(_COUNT_KEYS, account=before.id), "a count")
        if not keys and not after.password_hash:
            last = "It has no key. Add one before the password goes, or disable the account."
            raise AccountRefused([account_finding("KEY", last)])
        old, new = _changeable(before), _changeable(after)
        changed = [field for field in _CHANGEABLE if old[field] != new[field]]
        if not changed:
            return False
        await tx.run(
            _CHANGE, account=before.id, **{f"to_{field}": new[field] for field in _CHANGEABLE}
        )
        tx.audit("sftp.user_change", ids=[name], detail=" ".join(changed))
        return True

    return await database.write(SCOPE, job, actor=actor)


async def remove_account(database: Database, name: str, *, actor: Actor) -> None:
    """Remove an account and its keys. Its files belong to the site and stay."""

    async def job(tx: Tx) -> None:
        account = await _require(tx, name)
        for statement in _REMOVE:
            await tx.run(statement, account=account.id)
        tx.audit("sftp.user_remove", ids=[name])

    await database.write(SCOPE, job, actor=actor)


async def record_sign_in(tx: Tx, account: SftpAccount, how: str, at: datetime) -> None:
    """Record a sign-in, and what proved it."""
    await tx.run(_SIGNED_IN, account=account.id, at=to_micros(at))
    tx.audit("sftp.sign_in", ids=[account.name], detail=how)


async def _require(tx: Tx, name: str) -> SftpAccount:
    row = await tx.row(_LOCK, name=name)
    if row is None:
        unknown = f"There is no SFTP account {name}. `clearlane sftp user list` shows them."
        raise AccountRefused([account_finding("NAME", unknown)])
    return _account(row)


def _changeable(account: SftpAccount) -> dict[str, object]:
    """Return what can be changed of an account, as it is stored."""
    stored = {name: getattr(account, name) for name in _CHANGEABLE}
    return stored | {
        "networks": json.dumps(account.networks),
        "older_algorithms": int(account.older_algorithms),
    }


def _account(row: Row) -> SftpAccount:
    id, name, vendor, site, state, profile, in_folder, out_folder, password_hash, *rest = row
    networks, older, bytes_max, files_max, signed_in_at = rest
    return SftpAccount(
        id=id,
        name=name,
        vendor_id=VendorId(vendor),
        site_id=SiteId(site),
        state=SftpAccountState(state),
        profile=profile,
        in_folder=in_folder,
        out_folder=out_folder,
        password_hash=password_hash,
        networks=tuple(json.loads(networks)),
        older_algorithms=bool(older),
        bytes_per_day_max=bytes_max,
        files_per_day_max=files_max,
        signed_in_at=None if signed_in_at is None else from_micros(signed_in_at),
    )


# ---- keys ---------------------------------------------------------------------------------------

_KEY_COLUMNS = (sftp_keys.c.fingerprint, sftp_keys.c.public_key, sftp_keys.c.created_at)
_ALL_KEYS = Statement(
    select(sftp_keys.c.account_id, *_KEY_COLUMNS).order_by(sftp_keys.c.created_at)
)
_HAS_KEY = Statement(
    select(sftp_keys.c.public_key).where(
        sftp_keys.c.account_id == bindparam("account"),
        sftp_keys.c.fingerprint == bindparam("fingerprint"),
    )
)
_COUNT_KEYS = Statement(select(func.count()).where(sftp_keys.c.account_id == bindparam("account")))
_ADD_KEY = Statement(
    insert_into(
        sftp_keys, "account_id", "fingerprint", "public_key", "created_at"
    ).on_conflict_do_nothing()
)
_REMOVE_KEY = Statement(
    delete(sftp_keys).where(
        sftp_keys.c.account_id == bindparam("account"),
        sftp_keys.c.fingerprint == bindparam("fingerprint"),
    )
)


async def has_key(tx: Tx, account: SftpAccount, fingerprint: str, public_key: str) -> bool:
    """Return whether a public key is one of the account's."""
    row = await tx.row(_HAS_KEY, account=account.id, fingerprint=fingerprint)
    return row is not None and row[0] == public_key


async def add_key(
    database: Database, name: str, fingerprint: str, public_key: str, *, now: datetime, actor: Actor
) -> bool:
    """Add a public key to an account; return whether it is new there."""

    async def job(tx: Tx) -> bool:
        account = await _require(tx, name)
        if not await _insert_key(tx, account.id, fingerprint, public_key, now):
            return False
        (count,) = require_row(await tx.row(_COUNT_KEYS, account=account.id), "a count")
        if count > KEYS_PER_ACCOUNT_MAX:
            full = f"The account has {KEYS_PER_ACCOUNT_MAX} keys. Remove one first."
            raise AccountRefused([account_finding("KEY", full)])
        tx.audit("sftp.key_add", ids=[name, fingerprint])
        return True

    return await database.write(SCOPE, job, actor=actor)


async def remove_key(database: Database, name: str, fingerprint: str, *, actor: Actor) -> None:
    """Remove a public key of an account; refuse the last one of an account without a password."""

    async def job(tx: Tx) -> None:
        account = await _require(tx, name)
        if not await tx.run(_REMOVE_KEY, account=account.id, fingerprint=fingerprint):
            unknown = f"The account {name} has no such key. `clearlane sftp key list` shows them."
            raise AccountRefused([account_finding("KEY", unknown)])
        (count,) = require_row(await tx.row(_COUNT_KEYS, account=account.id), "a count")
        if not count and not account.password_hash:
            last = "It is the last key. Add another first, or disable the account."
            raise AccountRefused([account_finding("KEY", last)])
        tx.audit("sftp.key_remove", ids=[name, fingerprint])

    await database.write(SCOPE, job, actor=actor)


async def _insert_key(
    tx: Tx, account: int, fingerprint: str, public_key: str, now: datetime
) -> bool:
    values = {"account_id": account, "fingerprint": fingerprint, "public_key": public_key}
    return bool(await tx.run(_ADD_KEY, **values, created_at=to_micros(now)))


def _key(row: Row) -> SftpKey:
    fingerprint, public_key, created_at = row
    return SftpKey(fingerprint, public_key, from_micros(created_at))


# ---- quota --------------------------------------------------------------------------------------

_USAGE = Statement(
    select(sftp_usage.c.files, sftp_usage.c.bytes).where(
        sftp_usage.c.account_id == bindparam("account"), sftp_usage.c.day == bindparam("of_day")
    )
)
_new_usage = insert_into(sftp_usage, "account_id", "day", "files", "bytes")
_ADD_USAGE = Statement(
    _new_usage.on_conflict_do_update(
        index_elements=["account_id", "day"],
        set_={
            "files": sftp_usage.c.files + _new_usage.excluded.files,
            "bytes": sftp_usage.c.bytes + _new_usage.excluded.bytes,
        },
    ).returning(sftp_usage.c.files, sftp_usage.c.bytes)
)
_USAGES = Statement(
    select(sftp_usage.c.account_id, sftp_usage.c.files, sftp_usage.c.bytes).where(
        sftp_usage.c.day == bindparam("of_day")
    )
)
_DROP_USAGE = Statement(
    delete(sftp_usage).where(
        sftp_usage.c.account_id == bindparam("account"), sftp_usage.c.day < bindparam("oldest")
    )
)


async def usage_of_day(tx: Tx, account: SftpAccount, now: datetime) -> SftpUsage:
    """Return what an account sent today (UTC)."""
    row = await tx.row(_USAGE, account=account.id, of_day=_day(now))
    return SftpUsage() if row is None else SftpUsage(*row)


async def list_usage_of_day(database: Database, now: datetime) -> dict[int, SftpUsage]:
    """Return what each account sent today (UTC), by the id of the account; none for one that sent nothing."""
    async with database.read(SCOPE) as tx:
        return {id: SftpUsage(*sent) for id, *sent in await tx.rows(_USAGES, of_day=_day(now))}


async def add_usage(tx: Tx, account: SftpAccount, sent: SftpUsage, now: datetime) -> SftpUsage:
    """Add to what an account sent today, and return all of it; remove counts that are no longer of use."""
    values = {"account_id": account.id, "day": _day(now), "files": sent.files, "bytes": sent.bytes}
    total = require_row(await tx.row(_ADD_USAGE, **values), "a count")
    await tx.run(_DROP_USAGE, account=account.id, oldest=_day(now - timedelta(USAGE_KEPT_DAYS)))
    return SftpUsage(*total)


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
