"""The billing providers of the files that a site sent, by keyed hashes: remittances to them are files of that site.

Knows no X12 and no claim.
"""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import bindparam, update

from clearlane.store.database.database import SystemScope, Tx, list_rows
from clearlane.store.database.schema import payees
from clearlane.store.database.sql import Statement, among, insert_into, scoped_insert, select_as
from clearlane.store.vault.vault import Vault

SCOPE = SystemScope("a payee may be a billing provider of several sites")


class PayeeSite(NamedTuple):
    """A site that bills as a payee."""

    payee: str
    vendor_id: int
    site_id: int
    is_named: int
    """Whether a person named the site as the one that receives the payee's remittances."""
    created_at: int


def payee_hash(vault: Vault, number: str) -> str:
    """Return the keyed hash of an NPI or a tax id. It spans vendors: no owner."""
    return vault.fingerprint(0, "payee", number.replace("-", "").strip()).hex()


async def record(tx: Tx, payee_hashes: Collection[str], now: int) -> None:
    """Record that the site of the scope bills as these payees."""
    rows = [{"payee": payee, "created_at": now} for payee in sorted(payee_hashes)]
    if rows:
        await tx.many(_RECORD, rows)


async def name_owner(tx: Tx, payee: str, owner: tuple[int, int], now: int) -> None:
    """Let a site, by vendor and site, receive a payee's remittances, and no other site any more."""
    vendor, site = owner
    await tx.run(_UNNAME, of=payee)
    await tx.run(_NAME, vendor_id=vendor, site_id=site, payee=payee, is_named=1, created_at=now)


async def find_sites(tx: Tx, payee_hashes: Collection[str]) -> list[PayeeSite]:
    """Return the sites that bill as these payees, those first that did so first."""
    return await list_rows(tx, PayeeSite, _SITES, payees=sorted(payee_hashes))


_RECORD = scoped_insert(payees, "payee", "created_at", ignore_conflict=True)
_UNNAME = Statement(
    update(payees).where(payees.c.payee == bindparam("of")).values(is_named=0), system=True
)
_NAME = Statement(
    insert_into(payees, "payee", "is_named", "created_at").on_conflict_do_update(
        index_elements=["vendor_id", "site_id", "payee"], set_={"is_named": 1}
    ),
    system=True,
)
_SITES = Statement(
    select_as(payees, PayeeSite)
    .where(among(payees.c.payee, "payees"))
    .order_by(payees.c.created_at, payees.c.vendor_id, payees.c.site_id),
    system=True,
)
