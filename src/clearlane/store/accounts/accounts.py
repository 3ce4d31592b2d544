"""Vendors, their secrets and their sites.

Every change is one transaction: the rows, the audit entry and the revision that running nodes watch.
Knows no HTTP; the directory it loads decides who may call.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from operator import eq

import msgspec
from sqlalchemy import Column, bindparam, delete, func, select, update

from clearlane.accounts.api_keys import ApiKey, KeyScope, KeyState
from clearlane.accounts.credentials import Credentials, SecretHash, hash_password
from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import (
    Site,
    SiteState,
    Vendor,
    VendorState,
    rate_findings,
    site_findings,
    vendor_findings,
)
from clearlane.events.event import NewEvent
from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.finding import Finding, Stage
from clearlane.kernel.ids import SiteId, VendorId, random_text
from clearlane.store.database.database import Actor, Database, Row, SystemScope, Tx
from clearlane.store.database.schema import (
    api_key_secrets,
    api_keys,
    sites,
    vendor_secrets,
    vendors,
)
from clearlane.store.database.sql import AnyColumn, Statement, insert_into
from clearlane.store.installation.nodes import bump_revision

SECRETS_PER_ACCOUNT_MAX = 8
VENDOR_SITE_ID_CHARACTERS = 12

REVISION = "accounts"
SCOPE = SystemScope("accounts belong to the installation")


class AccountRefused(Exception):
    """A change that cannot be made. Nothing was stored; the findings say why."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        self.messages = [finding.message for finding in findings]
        super().__init__("; ".join(self.messages))


@dataclass(frozen=True, slots=True)
class AccountChange:
    """A stored change."""

    revision: int | None
    """The revision that running nodes must load; None when nothing changed."""
    credentials: Credentials | None = None


# ---- reading -----------------------------------------------------------------------------------

_VENDORS = Statement(
    select(
        vendors.c.id,
        vendors.c.vendor_key,
        vendors.c.name,
        vendors.c.state,
        vendors.c.proxy_login,
        vendors.c.rate_per_minute,
    )
)
_SECRETS = Statement(
    select(
        vendor_secrets.c.vendor_id, vendor_secrets.c.secret_hash, vendor_secrets.c.expires_at
    ).order_by(vendor_secrets.c.id)
)
_SITES = Statement(
    select(
        sites.c.id,
        sites.c.vendor_id,
        sites.c.vendor_site_id,
        sites.c.client_id,
        sites.c.name,
        sites.c.time_zone,
        sites.c.state,
        sites.c.baa_accepted_at,
        sites.c.console_corrections,
        sites.c.shadow,
        sites.c.daily_summary,
        sites.c.bill_next_payer,
    )
)

_KEYS = Statement(
    select(
        api_keys.c.key_id,
        api_keys.c.vendor_id,
        api_keys.c.name,
        api_keys.c.scopes,
        api_keys.c.sites,
        api_keys.c.state,
        api_keys.c.created_at,
        api_keys.c.expires_at,
    )
)
_KEY_SECRETS = Statement(
    select(
        api_key_secrets.c.key_id, api_key_secrets.c.secret_hash, api_key_secrets.c.expires_at
    ).order_by(api_key_secrets.c.created_at)
)


async def load_accounts(database: Database, pepper: bytes) -> AccountDirectory:
    """Load all vendors, API keys and sites as one snapshot."""
    async with database.read(SCOPE) as tx:
        return await read_accounts(tx, pepper)


async def read_accounts(tx: Tx, pepper: bytes) -> AccountDirectory:
    """Return all vendors, API keys and sites as a transaction sees them."""
    secrets: dict[VendorId, list[SecretHash]] = defaultdict(list)
    for vendor_id, secret_hash, expires_at in await tx.rows(_SECRETS):
        secrets[VendorId(vendor_id)].append(SecretHash(bytes(secret_hash), _moment(expires_at)))
    of_keys: dict[str, list[SecretHash]] = defaultdict(list)
    for key_id, secret_hash, expires_at in await tx.rows(_KEY_SECRETS):
        of_keys[key_id].append(SecretHash(bytes(secret_hash), _moment(expires_at)))
    return AccountDirectory(
        pepper=pepper,
        vendors=[
            Vendor(VendorId(id), key, name, VendorState(state), bool(proxy_login), rate)
            for id, key, name, state, proxy_login, rate in await tx.rows(_VENDORS)
        ],
        secrets=secrets,
        sites=[_site(row) for row in await tx.rows(_SITES)],
        api_keys=[_api_key(row, of_keys[row[0]]) for row in await tx.rows(_KEYS)],
    )


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)


def _api_key(row: Row, secrets: Sequence[SecretHash]) -> ApiKey:
    id, vendor, name, scopes, of_sites, state, created_at, expires_at = row
    return ApiKey(
        id=id,
        vendor_id=VendorId(vendor),
        name=name,
        # A scope that this version does not know gives no right.
        scopes=frozenset(map(KeyScope, _SCOPES & set(msgspec.json.decode(scopes)))),
        sites=None if of_sites is None else frozenset(msgspec.json.decode(of_sites)),
        state=KeyState(state),
        created_at=from_micros(created_at),
        expires_at=_moment(expires_at),
        secrets=tuple(secrets),
    )


_SCOPES = frozenset(map(str, KeyScope))


def _site(row: Row) -> Site:
    id, vendor, vendor_site_id, client_id, name, time_zone, state, baa_at, *switches = row
    corrects, shadow, summary_since, bills_next = switches
    return Site(
        id=SiteId(id),
        vendor_id=VendorId(vendor),
        vendor_site_id=vendor_site_id,
        client_id=client_id,
        name=name,
        time_zone=time_zone,
        state=SiteState(state),
        baa_accepted=baa_at is not None,
        console_corrections=bool(corrects),
        shadow=bool(shadow),
        daily_summary_since=from_micros(summary_since) if summary_since else None,
        bills_next_payer=bool(bills_next),
    )


# ---- vendors -----------------------------------------------------------------------------------

_VENDOR_BY_KEY = Statement(
    select(vendors.c.id).where(vendors.c.vendor_key == bindparam("key")).with_for_update()
)
# People would confuse keys that differ in case only; the database rejects equal ones.
_KEY_ALIKE = Statement(
    select(vendors.c.id).where(func.lower(vendors.c.vendor_key) == bindparam("folded"))
)
_ADD_VENDOR = Statement(
    insert_into(
        vendors, "vendor_key", "name", "state", "proxy_login", "rate_per_minute", "created_at"
    )
    .on_conflict_do_nothing()
    .returning(vendors.c.id)
)
_ADD_SECRET = Statement(
    insert_into(vendor_secrets, "vendor_id", "secret_hash", "created_at", "expires_at")
)
_DROP_EXPIRED = Statement(
    delete(vendor_secrets).where(
        vendor_secrets.c.vendor_id == bindparam("vendor"),
        vendor_secrets.c.expires_at <= bindparam("now"),
    )
)
_EXPIRE = Statement(
    update(vendor_secrets)
    .where(
        vendor_secrets.c.vendor_id == bindparam("vendor"),
        vendor_secrets.c.expires_at.is_(None) | (vendor_secrets.c.expires_at > bindparam("end")),
    )
    .values(expires_at=bindparam("end"))
)
_COUNT_SECRETS = Statement(
    select(func.count()).where(vendor_secrets.c.vendor_id == bindparam("vendor"))
)


async def require_vendor(tx: Tx, key: str) -> int:
    """Return the id of the vendor with this key, whose row is locked; refuse an unknown one."""
    found = await tx.row(_VENDOR_BY_KEY, key=key)
    if found is None:
        raise AccountRefused([_no_vendor(key)])
    return int(found[0])


async def add_vendor(
    database: Database,
    *,
    pepper: bytes,
    key: str,
    name: str,
    now: datetime,
    actor: Actor,
    rate_per_minute: int | None = None,
) -> AccountChange:
    """Add a vendor with a generated password, which is returned here and never again."""
    raise_findings(vendor_findings(key=key, name=name) + rate_findings(rate_per_minute))
    password = random_text(limits.SECRET_CHARACTERS)

    async def job(tx: Tx) -> int:
        await insert_vendor(tx, pepper, key, name.strip(), password, now, rate_per_minute)
        tx.audit("vendor.add", ids=[key])
        return await bump_revision(tx, REVISION)

    return AccountChange(await database.write(SCOPE, job, actor=actor), Credentials(key, password))


async def insert_vendor(
    tx: Tx, pepper: bytes, key: str, name: str, password: str, now: datetime, rate: int | None
) -> int:
    """Insert a vendor with its password, and return its id; refuse a key that is taken."""
    taken = await tx.row(_KEY_ALIKE, folded=key.lower())
    added = taken or await tx.row(
        _ADD_VENDOR,
        vendor_key=key,
        name=name,
        state=VendorState.ACTIVE.value,
        proxy_login=1,
        rate_per_minute=rate,
        created_at=to_micros(now),
    )
    if taken or added is None:
        there = f"There is a vendor {key} already, in this case or another."
        raise AccountRefused([account_finding("KEY", there)])
    await _insert_secret(tx, pepper, added[0], password, now)
    return int(added[0])


async def _insert_secret(tx: Tx, pepper: bytes, vendor: int, password: str, now: datetime) -> None:
    await tx.run(
        _ADD_SECRET,
        vendor_id=vendor,
        secret_hash=hash_password(pepper, password.encode()),
        created_at=to_micros(now),
        expires_at=None,
    )


async def rotate_secret(
    database: Database,
    *,
    pepper: bytes,
    key: str,
    overlap: timedelta,
    now: datetime,
    actor: Actor,
) -> AccountChange:
    """Give a vendor a new password. The old ones are accepted until the overlap ends, if not expired before."""
    password = random_text(limits.SECRET_CHARACTERS)

    async def job(tx: Tx) -> int:
        vendor = await require_vendor(tx, key)
        await tx.run(_EXPIRE, vendor=vendor, end=to_micros(now + overlap))
        await tx.run(_DROP_EXPIRED, vendor=vendor, now=to_micros(now))
        await _insert_secret(tx, pepper, vendor, password, now)
        count = await tx.row(_COUNT_SECRETS, vendor=vendor)
        if count is not None and count[0] > SECRETS_PER_ACCOUNT_MAX:
            live = f"{SECRETS_PER_ACCOUNT_MAX} passwords of the vendor are still live"
            raise AccountRefused(
                [account_finding("OVERLAP", f"{live}. Wait, or rotate with --overlap 0.")]
            )
        tx.audit("vendor.rotate", ids=[key], detail=f"overlap {overlap}")
        return await bump_revision(tx, REVISION)

    return AccountChange(await database.write(SCOPE, job, actor=actor), Credentials(key, password))


async def set_vendor_state(
    database: Database, key: str, state: VendorState, *, actor: Actor
) -> AccountChange:
    """Enable or disable a vendor's credentials."""
    action = {VendorState.ACTIVE: "vendor.enable", VendorState.DISABLED: "vendor.disable"}[state]
    return await set_account_column(
        database, _VENDOR_STATE, key, state.value, action=action, actor=actor
    )


async def set_vendor_proxy_login(
    database: Database, key: str, *, allowed: bool, actor: Actor
) -> AccountChange:
    """Allow or forbid a vendor the proxy login calls."""
    action = f"vendor.proxy_login_{'on' if allowed else 'off'}"
    return await set_account_column(
        database, _PROXY_LOGIN, key, int(allowed), action=action, actor=actor
    )


async def set_vendor_rate(
    database: Database, key: str, rate_per_minute: int | None, *, actor: Actor
) -> AccountChange:
    """Limit the calls a vendor may make in a minute; None for no limit."""
    raise_findings(rate_findings(rate_per_minute))
    return await set_account_column(
        database, _RATE, key, rate_per_minute, action="vendor.limit", actor=actor
    )


# ---- sites -------------------------------------------------------------------------------------

_SITE_ALIKE = Statement(
    select(sites.c.id).where(func.lower(sites.c.vendor_site_id) == bindparam("folded"))
)
_ADD_SITE = Statement(
    insert_into(
        sites,
        "vendor_id",
        "vendor_site_id",
        "client_id",
        "name",
        "time_zone",
        "state",
        "baa_accepted_at",
        "created_at",
    )
    .on_conflict_do_nothing()
    .returning(sites.c.id)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSite:
    """The values of a site to be added."""

    vendor_key: str
    vendor_site_id: str = ""
    """Empty for a generated one."""
    client_id: str = ""
    """Empty for the vendorSiteId; the same holds for the name."""
    name: str = ""
    time_zone: str = "UTC"
    baa_accepted: bool = False


async def add_site(
    database: Database, new: NewSite, *, now: datetime, actor: Actor
) -> tuple[str, AccountChange]:
    """Add a site of a vendor; return its vendorSiteId and the change."""
    id = new.vendor_site_id or random_text(VENDOR_SITE_ID_CHARACTERS)
    site = replace(
        new, vendor_site_id=id, client_id=new.client_id or id, name=new.name.strip() or id
    )
    raise_findings(
        site_findings(
            vendor_site_id=id, client_id=site.client_id, name=site.name, time_zone=site.time_zone
        )
    )

    async def job(tx: Tx) -> int:
        vendor = await require_vendor(tx, site.vendor_key)
        await insert_site(tx, vendor, site, now)
        tx.audit("site.add", ids=[id], detail=f"vendor {site.vendor_key}")
        return await bump_revision(tx, REVISION)

    return id, AccountChange(await database.write(SCOPE, job, actor=actor))


async def insert_site(tx: Tx, vendor: int, site: NewSite, now: datetime) -> None:
    """Insert a site of a vendor; refuse an id that is taken."""
    taken = await tx.row(_SITE_ALIKE, folded=site.vendor_site_id.lower())
    added = taken or await tx.row(
        _ADD_SITE,
        vendor_id=vendor,
        vendor_site_id=site.vendor_site_id,
        client_id=site.client_id,
        name=site.name,
        time_zone=site.time_zone,
        state=SiteState.ACTIVE.value,
        baa_accepted_at=to_micros(now) if site.baa_accepted else None,
        created_at=to_micros(now),
    )
    if taken or added is None:
        there = f"There is a site {site.vendor_site_id} already, in this case or another."
        raise AccountRefused([account_finding("VENDOR_SITE_ID", there)])


async def set_site_state(
    database: Database, vendor_site_id: str, state: SiteState, *, actor: Actor
) -> AccountChange:
    """Activate or suspend a site."""
    action = {SiteState.ACTIVE: "site.activate", SiteState.SUSPENDED: "site.suspend"}[state]
    return await set_account_column(
        database, _SITE_STATE, vendor_site_id, state.value, action=action, actor=actor
    )


async def accept_baa(
    database: Database, vendor_site_id: str, *, now: datetime, actor: Actor
) -> AccountChange:
    """Record that the client has accepted the agreement. The time of the first acceptance stays."""
    action, accepted = "site.baa_accept", to_micros(now)
    event = NewEvent("baa.accepted", accepted)
    return await set_account_column(
        database, _BAA, vendor_site_id, accepted, action=action, actor=actor, event=event
    )


async def revoke_baa(database: Database, vendor_site_id: str, *, actor: Actor) -> AccountChange:
    """Record that the client no longer accepts the agreement."""
    return await set_account_column(
        database, _BAA, vendor_site_id, None, action="site.baa_revoke", actor=actor
    )


class SiteSwitch(StrEnum):
    """Something that is on or off for a site."""

    CORRECTIONS = "corrections"
    """Whether people may correct its claims in the console."""
    SHADOW = "shadow"
    """Whether every file that it sends from now on is a shadow file."""
    DAILY_SUMMARY = "daily_summary"
    """Whether a summary of each day is written, from the day on on which it is switched on."""
    BILL_NEXT_PAYER = "bill_next_payer"
    """Whether claims for the next payer are sent by themselves."""


async def set_site_switch(
    database: Database,
    vendor_site_id: str,
    switch: SiteSwitch,
    *,
    on: bool,
    now: datetime,
    actor: Actor,
) -> AccountChange:
    """Switch something on or off for a site."""
    column, value = _SWITCHES[switch], int(on)
    if switch is SiteSwitch.DAILY_SUMMARY and on:
        value = to_micros(now)
    action = f"site.{switch.value}_{'on' if on else 'off'}"
    return await set_account_column(
        database, column, vendor_site_id, value, action=action, actor=actor
    )


# ---- one column of one row ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AccountColumn:
    """A column of an account that may change, and when a new value changes nothing."""

    read: Statement
    write: Statement
    unknown: Callable[[str], Finding]
    is_unchanged: Callable[[object, object], bool] = eq


def updated_column(
    key: Column[str],
    changing: AnyColumn,
    unknown: Callable[[str], Finding],
    is_unchanged: Callable[[object, object], bool] = eq,
) -> AccountColumn:
    """Return a column of accounts that may change; ``unknown`` is the finding about a row that does not exist."""
    this_row = key == bindparam("row")
    return AccountColumn(
        Statement(select(changing).where(this_row).with_for_update()),
        Statement(update(key.table).where(this_row).values({changing: bindparam("value")})),
        unknown,
        is_unchanged,
    )


def _no_vendor(key: str) -> Finding:
    return account_finding("KEY", f"There is no vendor {key}. `clearlane vendor list` shows them.")


def _no_site(vendor_site_id: str) -> Finding:
    return account_finding(
        "VENDOR_SITE_ID", f"There is no site {vendor_site_id}. `clearlane site list` shows them."
    )


def _both_or_neither(old: object, new: object) -> bool:
    return (old is None) == (new is None)


def _both_on_or_off(old: object, new: object) -> bool:
    return bool(old) == bool(new)


_VENDOR_STATE = updated_column(vendors.c.vendor_key, vendors.c.state, _no_vendor)
_PROXY_LOGIN = updated_column(vendors.c.vendor_key, vendors.c.proxy_login, _no_vendor)
_RATE = updated_column(vendors.c.vendor_key, vendors.c.rate_per_minute, _no_vendor)
_SITE_STATE = updated_column(sites.c.vendor_site_id, sites.c.state, _no_site)
_SWITCHES = {
    switch: updated_column(sites.c.vendor_site_id, column, _no_site, _both_on_or_off)
    for switch, column in (
        (SiteSwitch.CORRECTIONS, sites.c.console_corrections),
        (SiteSwitch.SHADOW, sites.c.shadow),
        (SiteSwitch.DAILY_SUMMARY, sites.c.daily_summary),
        (SiteSwitch.BILL_NEXT_PAYER, sites.c.bill_next_payer),
    )
}
_BAA = updated_column(sites.c.vendor_site_id, sites.c.baa_accepted_at, _no_site, _both_or_neither)


async def set_account_column(
    database: Database,
    column: AccountColumn,
    row: str,
    value: object,
    *,
    action: str,
    actor: Actor,
    event: NewEvent | None = None,
) -> AccountChange:
    """Set a column of an account; ``event`` goes to the vendor of the site that the row is."""

    async def job(tx: Tx) -> int | None:
        found = await tx.row(column.read, row=row)
        if found is None:
            raise AccountRefused([column.unknown(row)])
        if column.is_unchanged(found[0], value):
            return None
        await tx.run(column.write, row=row, value=value)
        tx.audit(action, ids=[row])
        owner = await tx.row(_SITE_OWNER, row=row) if event else None
        if event and owner:
            tx.add_events([event._replace(vendor_id=owner[0], site_id=owner[1])])
        return await bump_revision(tx, REVISION)

    return AccountChange(await database.write(SCOPE, job, actor=actor))


_SITE_OWNER = Statement(
    select(sites.c.vendor_id, sites.c.id).where(sites.c.vendor_site_id == bindparam("row"))
)


def account_finding(location: str, message: str) -> Finding:
    """Return what is wrong with one value of an account."""
    return Finding(rule="ACC005", stage=Stage.RULE, location=location, message=message)


def raise_findings(findings: Sequence[Finding]) -> None:
    """Refuse a change for which there are findings."""
    if findings:
        raise AccountRefused(findings)
