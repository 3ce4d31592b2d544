"""Issue proxy-login tokens to instances, and login URLs that open the login page once.

Deprecated in V3, and still supported. Nothing here signs a user in. Only keyed hashes of tokens and of the one-time
parts of URLs are stored. Knows V3's result codes; knows no HTTP.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum

from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.instances import clean_label, parse_instance_id
from clearlane.accounts.model import Site, Vendor, VendorState
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import NO_VENDOR, random_text
from clearlane.store.accounts import instances
from clearlane.store.database.database import Actor, Database, SystemScope, Tx
from clearlane.store.vault.vault import Vault

LOGIN_ENTRY_SECONDS = 60

ENTER_PATH = "/console/enter/"
"""The path of a login URL, before its one-time part."""

LOGIN_PAGE = SystemScope("a login URL is used before its vendor is known")


class ProxyLoginCode(IntEnum):
    """V3's result codes of proxy login."""

    DONE = 0
    MALFORMED = 2
    REFUSED = 3


@dataclass(frozen=True, slots=True)
class ProxyLoginResult:
    """The result of a proxy-login call."""

    code: ProxyLoginCode = ProxyLoginCode.DONE
    message: str = ""
    secret: str = field(default="", repr=False)
    """A new token, or the one-time part of a login URL."""
    deleted: bool = False


NOT_A_GUID = ProxyLoginResult(
    ProxyLoginCode.MALFORMED,
    "The instanceId is not a GUID: 32 hexadecimal characters in five groups of 8, 4, 4, 4 and 12, "
    "separated by hyphens.",
)
TOO_MANY = ProxyLoginResult(
    ProxyLoginCode.MALFORMED,
    f"The client has {limits.INSTANCES_PER_SITE_MAX} instances already: delete those no longer used.",
)
REFUSED = ProxyLoginResult(ProxyLoginCode.REFUSED, "The user name or token is invalid.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyLoginCaller:
    """The caller of a proxy-login call, with the database and vault it uses."""

    database: Database
    vault: Vault
    vendor: Vendor
    site: Site
    now: datetime
    actor: Actor

    def token_hash(self, instance: str, token: str) -> bytes:
        """Return the stored hash of a token, bound to its site and instance."""
        site = str(self.site.id)
        return self.vault.fingerprint(self.site.scope, "instance token", site, instance, token)


async def create_token(caller: ProxyLoginCaller, instance_id: str, name: str) -> ProxyLoginResult:
    """Issue a new token to an instance. The earlier one becomes invalid; the new one cannot be read again."""
    instance = parse_instance_id(instance_id)
    if instance is None:
        return NOT_A_GUID
    if not caller.vendor.proxy_login:
        return REFUSED
    token = random_text(limits.SECRET_CHARACTERS)
    new = instances.NewToken(
        instance=instance,
        name=clean_label(name),
        token_hash=caller.token_hash(instance, token),
        now=to_micros(caller.now),
    )

    async def job(tx: Tx) -> bool:
        await instances.drop_login_urls(tx, caller.site.scope, instance)
        return await instances.put_token(tx, new)

    stored = await caller.database.write(caller.site.scope, job, actor=caller.actor)
    return ProxyLoginResult(secret=token) if stored else TOO_MANY


async def create_login_url(
    caller: ProxyLoginCaller, instance_id: str, token: str
) -> ProxyLoginResult:
    """Return the one-time part of a new login URL, for a caller with the instance's token."""
    instance = parse_instance_id(instance_id)
    if instance is None:
        return NOT_A_GUID
    if not caller.vendor.proxy_login or not token:
        return REFUSED
    part, scope, now = random_text(limits.SECRET_CHARACTERS), caller.site.scope, caller.now
    ends = now + timedelta(seconds=LOGIN_ENTRY_SECONDS)

    async def job(tx: Tx) -> bool:
        valid = await instances.is_token(tx, instance, caller.token_hash(instance, token))
        if valid:
            url = instances.LoginUrl(scope, instance)
            hashed = _part_hash(caller.vault, part)
            await instances.add_login_url(
                tx, url, hashed, now=to_micros(now), expires_at=to_micros(ends)
            )
        return valid

    valid = await caller.database.write(scope, job, actor=caller.actor)
    return ProxyLoginResult(secret=part) if valid else REFUSED


async def delete_token(caller: ProxyLoginCaller, instance_id: str) -> ProxyLoginResult:
    """Delete an instance's token, if it has one."""
    instance = parse_instance_id(instance_id)
    if instance is None:
        return NOT_A_GUID
    scope = caller.site.scope
    deleted = await caller.database.write(
        scope, lambda tx: instances.drop_token(tx, scope, instance), actor=caller.actor
    )
    return ProxyLoginResult(deleted=deleted)


async def use_login_url(
    database: Database,
    vault: Vault,
    accounts: AccountDirectory,
    part: str,
    *,
    now: datetime,
    actor: Actor,
) -> bool:
    """Use the one-time part of a login URL; return whether it was valid: unused, not expired, not revoked."""
    hashed, at = _part_hash(vault, part), to_micros(now)
    async with database.read(LOGIN_PAGE) as tx:
        if not await instances.is_login_url_live(tx, hashed, at):
            return False
    url = await database.write(
        LOGIN_PAGE, lambda tx: instances.use_login_url(tx, hashed, at), actor=actor
    )
    if url is None:
        return False
    return any(
        vendor.id == url.scope.vendor and vendor.proxy_login and vendor.state is VendorState.ACTIVE
        for vendor in accounts.vendors
    )


def _part_hash(vault: Vault, part: str) -> bytes:
    return vault.fingerprint(NO_VENDOR, "login url", part)
