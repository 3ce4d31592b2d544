"""ZIP codes of billing providers, by a keyed hash of the provider, for claims that come without one.

A business address, as the NPI registry publishes it: no patient data is here. Knows no field of a claim or an
enrollment.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import billing_zips
from clearlane.store.database.sql import among, scoped_select, scoped_upsert, select_as


class ZipSource(StrEnum):
    """Where a billing provider's ZIP code was given; an enrollment is preferred to a claim."""

    ENROLLMENT = "enrollment"
    CLAIM = "claim"


class BillingZip(NamedTuple):
    """The last ZIP code that a source gave for a provider."""

    provider: str
    """Keyed hash of the provider's NPI and state."""
    source: str
    zip: str


async def record(tx: Tx, found: Collection[BillingZip]) -> None:
    """Record ZIP codes of the scope, always in one order, so that two transactions cannot deadlock."""
    rows = {(one.provider, one.source): one for one in found}
    await tx.many(_RECORD, [rows[key]._asdict() for key in sorted(rows)])


async def find(tx: Tx, providers: Collection[str]) -> Sequence[BillingZip]:
    """Return what the scope has of these providers."""
    return await list_rows(tx, BillingZip, _FIND, providers=sorted(providers))


_RECORD = scoped_upsert(
    billing_zips, *BillingZip._fields, key=("provider", "source"), replace=("zip",)
)
_FIND = scoped_select(
    select_as(billing_zips, BillingZip).where(among(billing_zips.c.provider, "providers")),
    billing_zips,
)
