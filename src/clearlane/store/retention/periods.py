"""Retention periods: how many days a kind of data is kept, of one vendor or of all."""

from dataclasses import dataclass

from sqlalchemy import bindparam, delete, select

from clearlane.kernel.retention_kinds import RetentionKind
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import retention_periods, vendors
from clearlane.store.database.sql import Statement, SystemScope, insert_into

SCOPE = SystemScope("retention periods belong to the installation")
EVERY_VENDOR = 0
"""The vendor of a period that counts for all that have none of their own."""


@dataclass(frozen=True, slots=True)
class RetentionPeriod:
    """A period that an operator has set."""

    vendor_id: int
    kind: str
    days: int


async def list_periods(tx: Tx) -> list[RetentionPeriod]:
    """Return every period that was set."""
    return await list_rows(tx, RetentionPeriod, _ALL)


async def list_vendors(tx: Tx) -> list[int]:
    """Return the ids of all vendors, disabled ones too: their data has an age as well."""
    return [int(id) for (id,) in await tx.rows(_VENDORS)]


async def put_period(tx: Tx, vendor_id: int, kind: RetentionKind, days: int | None) -> None:
    """Set a period, or remove it: then the period of all vendors counts, or the default."""
    await tx.run(_REMOVE, vendor_id=vendor_id, kind=kind.value)
    if days is not None:
        await tx.run(_ADD, vendor_id=vendor_id, kind=kind.value, days=days)


_P = retention_periods.c
_ALL = Statement(select(_P.vendor_id, _P.kind, _P.days).order_by(_P.kind, _P.vendor_id))
_VENDORS = Statement(select(vendors.c.id).order_by(vendors.c.id))
_REMOVE = Statement(
    delete(retention_periods).where(
        _P.vendor_id == bindparam("vendor_id"), _P.kind == bindparam("kind")
    )
)
_ADD = Statement(insert_into(retention_periods, "vendor_id", "kind", "days"))
