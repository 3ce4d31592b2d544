"""Failed deliveries: each try that did not succeed, for :data:`FAILURES_KEPT_DAYS`.

Written in the transaction that records the failure, in which the health of the destination is locked. Knows no batch.
"""

from typing import NamedTuple

from sqlalchemy import bindparam, delete

from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import delivery_failures
from clearlane.store.database.sql import Statement, insert_into, select_as

FAILURES_KEPT_DAYS = 30
DAY_MICROS = 24 * 3_600 * 1_000_000


class DeliveryFailureRow(NamedTuple):
    """One try to deliver a batch that did not succeed."""

    type: str
    payer_id: str
    route_id: int
    batch_id: int
    at: int
    fault: str


async def add_failure(tx: Tx, row: DeliveryFailureRow) -> None:
    """Record a failure, and forget those of the destination that are too old."""
    await tx.run(_ADD, **row._asdict())
    before = row.at - FAILURES_KEPT_DAYS * DAY_MICROS
    await tx.run(_FORGET, of_type=row.type, of_payer=row.payer_id, before=before)


async def list_failures(
    tx: Tx, destination: tuple[str, str], *, since: int, limit: int
) -> list[DeliveryFailureRow]:
    """Return the failures of a destination since a time, newest first."""
    type, payer_id = destination
    return await list_rows(
        tx, DeliveryFailureRow, _LATEST, of_type=type, of_payer=payer_id, since=since, limit=limit
    )


_OF = (
    delivery_failures.c.type == bindparam("of_type"),
    delivery_failures.c.payer_id == bindparam("of_payer"),
)
_ADD = Statement(insert_into(delivery_failures, *DeliveryFailureRow._fields))
_FORGET = Statement(
    delete(delivery_failures).where(*_OF, delivery_failures.c.at < bindparam("before"))
)
_LATEST = Statement(
    select_as(delivery_failures, DeliveryFailureRow)
    .where(*_OF, delivery_failures.c.at >= bindparam("since"))
    .order_by(delivery_failures.c.at.desc(), delivery_failures.c.id.desc())
    .limit(bindparam("limit"))
)
