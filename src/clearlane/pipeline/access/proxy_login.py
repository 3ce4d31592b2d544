"""Proxy login: a token for each instance, and a URL that opens the login page once.

Deprecated, and still kept whole. Nothing here logs anybody in. Tokens and one-time parts are kept as
keyed hashes only. Knows result codes; knows no HTTP.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum

from clearlane.accounts.directory import Accounts
from clearlane.accounts.instances import label, read_instance
from clearlane.accounts.model import Site, Vendor, VendorState
from clearlane.kernel import limits
from clearlane.kernel.clock import micros
from clearlane.kernel.ids import random_text
from clearlane.store import instances as store
from clearlane.store.database import Actor, Database, System, Tx
from clearlane.store.vault import Vault

ENTER_PATH = "/console/enter/"
"""Where a one-time part is shown, under the address of the service."""

LOGIN_PAGE = System("who brings a one-time part has not said who it is")
ANYBODY = 0
"""Whose keyed hashes those of the login page and of sessions are: no vendor has this number."""


class Code(IntEnum):
    """How a call ended."""

    DONE = 0
    MALFORMED = 2
    REFUSED = 3


@dataclass(frozen=True, slots=True)
class Told:
    """What a call is answered."""

    code: Code = Code.DONE
    message: str = ""
    given: str = field(default="", repr=False)
    """A token, or the one-time part of a URL."""
    deleted: bool = False


NOT_A_GUID = Told(
    Code.MALFORMED,
    "The instanceId is not a GUID: 32 hexadecimal characters in five groups of 8, 4, 4, 4 and 12, "
    "separated by hyphens.",
)
TOO_MANY = Told(
    Code.MALFORMED,
    f"The client has {limits.INSTANCES_PER_SITE_MAX} instances already: delete those no longer used.",
)
REFUSED = Told(Code.REFUSED, "The user name or token is invalid.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks, and what the verbs work with."""

    database: Database
    vault: Vault
    vendor: Vendor
    site: Site
    now: datetime
    actor: Actor

    def token_hash(self, instance: str, token: str) -> bytes:
        """What is kept of a token: good for this instance alone."""
        site = str(self.site.id)
        return self.vault.fingerprint(self.site.scope, "instance token", site, instance, token)


async def create_token(asking: Asking, instance_id: str, name: str) -> Told:
    """Give an instance a new token, told here and never again. The one before ends."""
    instance = read_instance(instance_id)
    if instance is None:
        return NOT_A_GUID
    if not asking.vendor.proxy_login:
        return REFUSED
    token = random_text(limits.SECRET_CHARACTERS)
    new = store.NewToken(
        instance=instance,
        name=label(name),
        token_hash=asking.token_hash(instance, token),
        now=micros(asking.now),
    )

    async def job(tx: Tx) -> bool:
        await store.drop_entries(tx, asking.site.scope, instance)
        return await store.put_token(tx, new)

    stored = await asking.database.write(asking.site.scope, job, actor=asking.actor)
    return Told(given=token) if stored else TOO_MANY


async def get_url(asking: Asking, instance_id: str, token: str) -> Told:
    """A one-time part for who has the instance's token."""
    instance = read_instance(instance_id)
    if instance is None:
        return NOT_A_GUID
    if not asking.vendor.proxy_login or not token:
        return REFUSED
    part, scope, now = random_text(limits.SECRET_CHARACTERS), asking.site.scope, asking.now
    ends = now + timedelta(seconds=limits.LOGIN_ENTRY_SECONDS)

    async def job(tx: Tx) -> bool:
        right = await store.is_token(tx, instance, asking.token_hash(instance, token))
        if right:
            entry = store.Entry(scope, instance)
            hashed = _part_hash(asking.vault, part)
            await store.add_entry(tx, entry, hashed, now=micros(now), expires_at=micros(ends))
        return right

    right = await asking.database.write(scope, job, actor=asking.actor)
    return Told(given=part) if right else REFUSED


async def delete_token(asking: Asking, instance_id: str) -> Told:
    """Take an instance's token away. What is not there needs no taking."""
    instance = read_instance(instance_id)
    if instance is None:
        return NOT_A_GUID
    scope = asking.site.scope

    async def job(tx: Tx) -> bool:
        return await store.drop_token(tx, scope, instance)

    return Told(deleted=await asking.database.write(scope, job, actor=asking.actor))


async def enter(
    database: Database, vault: Vault, accounts: Accounts, part: str, *, now: datetime, actor: Actor
) -> bool:
    """Use a one-time part: True once, False for one that is used, expired, withdrawn or invented."""
    hashed, at = _part_hash(vault, part), micros(now)
    async with database.read(LOGIN_PAGE) as tx:
        if not await store.is_live(tx, hashed, at):
            return False
    entry = await database.write(
        LOGIN_PAGE, lambda tx: store.use_entry(tx, hashed, at), actor=actor
    )
    if entry is None:
        return False
    return any(
        vendor.id == entry.scope.vendor
        and vendor.proxy_login
        and vendor.state is VendorState.ACTIVE
        for vendor in accounts.vendors
    )


def _part_hash(vault: Vault, part: str) -> bytes:
    return vault.fingerprint(ANYBODY, "login entry", part)
