"""The account that a sandbox starts with: created once, then left to the operator."""

import hmac
from datetime import datetime

from clearlane.accounts.credentials import Credentials, hash_password
from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import Vendor
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding
from clearlane.kernel.ids import random_text
from clearlane.store.accounts.accounts import (
    REVISION,
    SCOPE,
    AccountRefused,
    NewSite,
    account_finding,
    insert_site,
    insert_vendor,
    load_accounts,
    raise_findings,
    read_accounts,
)
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.installation.nodes import bump_revision

SECRET_CHARACTERS_MAX = 128
SANDBOX_VENDOR_KEY = "SANDBOX"
SANDBOX_SITE_ID = "SANDBOX-1"
SANDBOX_SITE = NewSite(
    vendor_key=SANDBOX_VENDOR_KEY,
    vendor_site_id=SANDBOX_SITE_ID,
    client_id=SANDBOX_SITE_ID,
    name="Fernhill Family Practice",
    baa_accepted=True,
)


async def ensure_sandbox_account(
    database: Database, pepper: bytes, now: datetime, wanted_password: str | None
) -> Credentials:
    """Return the account a sandbox starts with, created once and then left to the operator.

    The password is known only to whoever set it: on a later start it is returned when ``wanted_password`` is still
    accepted, else None. A rotated or disabled password is not restored.
    """
    if wanted_password is not None:
        raise_findings(_password_findings(wanted_password))
    password = wanted_password or random_text(limits.SECRET_CHARACTERS)

    async def job(tx: Tx) -> Credentials | None:
        accounts = await read_accounts(tx, pepper)
        if accounts.vendor(SANDBOX_VENDOR_KEY) is not None:
            return None
        id = await insert_vendor(tx, pepper, SANDBOX_VENDOR_KEY, "Sandbox", password, now, None)
        await insert_site(tx, id, SANDBOX_SITE, now)
        tx.audit("vendor.add", ids=[SANDBOX_VENDOR_KEY], detail="sandbox")
        tx.audit("site.add", ids=[SANDBOX_SITE_ID], detail="sandbox")
        await bump_revision(tx, REVISION)
        return Credentials(SANDBOX_VENDOR_KEY, password, SANDBOX_SITE_ID)

    try:
        made = await database.write(SCOPE, job, actor=Actor("node", "sandbox"))
    except AccountRefused:  # another node made it in the same moment
        made = None
    if made is not None:
        return made
    # Read as one snapshot: each statement of a write may see more than the one before it, here a vendor whose
    # password was stored after passwords were read.
    accounts = await load_accounts(database, pepper)
    [vendor] = [each for each in accounts.vendors if each.key == SANDBOX_VENDOR_KEY]
    return _existing_credentials(accounts, vendor, pepper, wanted_password, now)


def _existing_credentials(
    accounts: AccountDirectory, vendor: Vendor, pepper: bytes, wanted: str | None, now: datetime
) -> Credentials:
    digest = hash_password(pepper, (wanted or "").encode())
    opens = any(hmac.compare_digest(s.hash, digest) for s in accounts.live_passwords(vendor, now))
    own = [site.vendor_site_id for site in accounts.sites if site.vendor_id == vendor.id]
    site = SANDBOX_SITE_ID if SANDBOX_SITE_ID in own else (own or [""])[0]
    return Credentials(vendor.key, wanted if opens else None, site)


def _password_findings(password: str) -> list[Finding]:
    fits = limits.SECRET_CHARACTERS_MIN <= len(password) <= SECRET_CHARACTERS_MAX
    if fits and password.isascii() and password.isprintable() and " " not in password:
        return []
    span = f"{limits.SECRET_CHARACTERS_MIN} to {SECRET_CHARACTERS_MAX}"
    return [account_finding("PASSWORD", f"The password must be {span} visible ASCII characters.")]
