"""What went to one payer: the newest file, files that it has not answered, and the money that waits.

For operators; concerns claims of many clients. Each statement reads the rows of one destination, by an index. Knows no
X12 and no connection.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, literal, select

from clearlane.payers.hops import HOP
from clearlane.store.claims.claim_queue import QUEUED, is_queued
from clearlane.store.database.database import SystemScope, Tx, find_row
from clearlane.store.database.schema import batch_claims, batches, claim_facts, claims
from clearlane.store.database.sql import Statement, among, inlined
from clearlane.store.delivery.batches import BATCHES, Batch, to_batch

SCOPE = SystemScope("traffic of routes concerns many clients")

UNANSWERED_FILES_MAX = 20
"""Maximum number of files of a destination that are looked at; more late ones make no difference."""

Destination = tuple[str, str]
"""Type of claims and payer id."""


class UnansweredFiles(NamedTuple):
    """Files that a payer has and said nothing about."""

    files: int
    oldest_at: int | None
    """When the oldest of them was delivered."""


async def last_delivered(tx: Tx, destination: Destination) -> Batch | None:
    """Return the newest batch that the payer has; of a hop, for any payer that it serves."""
    type, id = destination
    if type == HOP:
        return await find_row(tx, to_batch, _LAST_OVER_HOP, of_hop=id)
    return await find_row(tx, to_batch, _LAST_DELIVERED, **_of(destination))


async def find_unanswered(
    tx: Tx, destination: Destination, *, delivered_from: int, delivered_before: int
) -> UnansweredFiles:
    """Return how many files of a time the payer has not answered for any claim; of the newest UNANSWERED_FILES_MAX."""
    row = await tx.row(
        _UNANSWERED,
        **_of(destination),
        delivered_from=delivered_from,
        delivered_before=delivered_before,
    )
    return UnansweredFiles(int(row[0]), row[1]) if row else UnansweredFiles(0, None)


async def sum_queued(tx: Tx) -> dict[tuple[str, str], int]:
    """Return the cents of the claims that wait for a batch, by payer and kind of claim."""
    return {(payer, kind): int(cents or 0) for payer, kind, cents in await tx.rows(_QUEUED)}


async def sum_batches(tx: Tx, ids: Sequence[int]) -> dict[int, int]:
    """Return the cents of the claims in these batches."""
    if not ids:
        return {}
    return {int(id): int(cents or 0) for id, cents in await tx.rows(_IN_BATCHES, ids=list(ids))}


def _of(destination: Destination) -> dict[str, object]:
    type, payer_id = destination
    return {"of_type": type, "of_payer": payer_id}


_TO = (batches.c.type == bindparam("of_type"), batches.c.payer_id == bindparam("of_payer"))


def _last_delivered(*where: ColumnElement[bool]) -> Statement:
    delivered = BATCHES.where(*where, batches.c.delivered_at.is_not(None))
    return Statement(delivered.order_by(batches.c.id.desc()).limit(1))


_LAST_DELIVERED = _last_delivered(*_TO)
# The second part lets the index serve it.
_LAST_OVER_HOP = _last_delivered(batches.c.hop == bindparam("of_hop"), batches.c.hop != inlined(""))
_DELIVERED = (
    select(batches.c.id, batches.c.delivered_at)
    .where(
        *_TO,
        batches.c.delivered_at >= bindparam("delivered_from"),
        batches.c.delivered_at < bindparam("delivered_before"),
    )
    .order_by(batches.c.id.desc())
    .limit(UNANSWERED_FILES_MAX)
    .subquery()
)
_ANY_ANSWER = (
    select(literal(1))
    .join_from(batch_claims, claim_facts, claim_facts.c.claim_number == batch_claims.c.claim_number)
    .where(batch_claims.c.batch_id == _DELIVERED.c.id, claim_facts.c.inbox_id.is_not(None))
)
_UNANSWERED = Statement(
    select(func.count(), func.min(_DELIVERED.c.delivered_at)).where(~_ANY_ANSWER.exists()),
    system=True,
)
_QUEUED = Statement(
    select(claims.c.payer_id, claims.c.kind, func.sum(claims.c.total_cents))
    .where(is_queued(QUEUED))
    .group_by(claims.c.payer_id, claims.c.kind),
    system=True,
)
_IN_BATCHES = Statement(
    select(batch_claims.c.batch_id, func.sum(claims.c.total_cents))
    .join_from(batch_claims, claims, claims.c.claim_number == batch_claims.c.claim_number)
    .where(among(batch_claims.c.batch_id, "ids"))
    .group_by(batch_claims.c.batch_id),
    system=True,
)
