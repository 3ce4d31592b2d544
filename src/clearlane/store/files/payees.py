"""The billing providers of the files that a site sent, by keyed hashes: remittances to them are files of that site.

Knows no X12 and no claim.
"""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from clearlane.store.database.database import SystemScope, Tx, list_rows
from clearlane.store.database.schema import payees, vendors
from clearlane.store.database.sql import (
    Statement,
    among,
    inlined,
    insert_into,
    scoped_insert,
    select_as,
)
from clearlane.store.vault.vault import Vault

SCOPE = SystemScope("a payee may be a billing provider of several sites")


class PayeeSite(NamedTuple):
    """A site that bills as a payee."""

    payee: str
    vendor_id: int
    site_id: int
    is_named: int
    """Whether a person named the site as the one that receives the payee's remittances."""
    is_cut: int
    """Whether payments of claims of several sites are cut; for a site that is named."""
    is_proven: int
    """Whether a payer paid a claim of the site's vendor to the payee."""
    created_at: int

    @property
    def key(self) -> tuple[int, int]:
        """Vendor and site."""
        return self.vendor_id, self.site_id


def payee_hash(vault: Vault, number: str) -> str:
    """Return the keyed hash of an NPI or a tax id. It spans vendors: no owner."""
    return vault.fingerprint(0, "payee", number.replace("-", "").strip()).hex()


async def record(tx: Tx, payee_hashes: Collection[str], now: int) -> None:
    """Record that the site of the scope bills as these payees."""
    rows = [{"payee": payee, "created_at": now} for payee in sorted(payee_hashes)]
    if rows:
        await tx.many(_RECORD, rows)


async def name_owner(tx: Tx, payee: str, owner: tuple[int, int], now: int, *, is_cut: bool) -> None:
    """Let a site, by vendor and site, receive a payee's remittances, and no other site any more.

    If they are cut, other sites that bill as the payee have the parts with their claims.
    """
    vendor, site = owner
    await tx.run(_UNNAME, of=payee)
    await tx.run(
        _NAME,
        vendor_id=vendor,
        site_id=site,
        payee=payee,
        is_named=1,
        is_cut=int(is_cut),
        created_at=now,
    )


async def prove(tx: Tx, payee: str, vendor_ids: Collection[int]) -> None:
    """Record that a payer paid claims of these vendors to a payee that their sites bill as."""
    for vendor in sorted(vendor_ids):
        await tx.run(_PROVE, of=payee, by=vendor)


async def are_vendors_several(tx: Tx) -> bool:
    """Return whether the installation has more than one vendor."""
    return len(await tx.rows(_VENDORS)) > 1


async def find_sites(tx: Tx, payee_hashes: Collection[str]) -> list[PayeeSite]:
    """Return the sites that bill as these payees, those first that did so first."""
    return await list_rows(tx, PayeeSite, _SITES, payees=sorted(payee_hashes))


_RECORD = scoped_insert(payees, "payee", "created_at", ignore_conflict=True)
_UNNAME = Statement(
    update(payees).where(payees.c.payee == bindparam("of")).values(is_named=0, is_cut=0),
    system=True,
)
_PROVE = Statement(
    update(payees)
    .where(payees.c.payee == bindparam("of"), payees.c.vendor_id == bindparam("by"))
    .values(is_proven=1),
    system=True,
)
_VENDORS = Statement(select(vendors.c.id).limit(inlined(2)))
_NEW_NAME = insert_into(payees, "payee", "is_named", "is_cut", "created_at")
_NAME = Statement(
    _NEW_NAME.on_conflict_do_update(
        index_elements=["vendor_id", "site_id", "payee"],
        set_={"is_named": 1, "is_cut": _NEW_NAME.excluded.is_cut},
    ),
    system=True,
)
_SITES = Statement(
    select_as(payees, PayeeSite)
    .where(among(payees.c.payee, "payees"))
    .order_by(payees.c.created_at, payees.c.vendor_id, payees.c.site_id),
    system=True,
)
