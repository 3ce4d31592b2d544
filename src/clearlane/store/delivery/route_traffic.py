"""What went to and came from one payer: the newest files, files by day, and the money that waits.

For operators; concerns claims of many clients. Each statement reads the rows of one destination, by an index. Knows no
X12 and no connection.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, literal, select

from clearlane.store.claims.claim_queue import QUEUED, is_queued
from clearlane.store.database.database import SystemScope, Tx, find_row, list_rows
from clearlane.store.database.schema import batch_claims, batches, claim_facts, claims, inbox
from clearlane.store.database.sql import Statement, among, select_as
from clearlane.store.delivery.batches import BATCHES, Batch, to_batch
from clearlane.store.delivery.inbox import InboxFile

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


async def list_sent(
    tx: Tx, destination: Destination | None, *, before: int, limit: int
) -> list[Batch]:
    """Return batches to one payer, or to all, newest first, with ids below ``before``."""
    statement, given = (_SENT_TO, _of(destination)) if destination else (_SENT, {})
    return await list_rows(tx, to_batch, statement, **given, before=before, limit=limit)


async def list_sent_by_id(tx: Tx, ids: Sequence[int]) -> list[Batch]:
    """Return the batches of these ids, in their order."""
    found = {one.id: one for one in await list_rows(tx, to_batch, _SENT_BY_ID, ids=list(ids))}
    return [found[id] for id in ids if id in found]


async def list_received(
    tx: Tx, destination: Destination | None, *, before: int, limit: int
) -> list[InboxFile]:
    """Return inbox files of one payer, or of all, newest first, with ids below ``before``."""
    statement, given = (_RECEIVED_FROM, _of(destination)) if destination else (_RECEIVED, {})
    return await list_rows(tx, InboxFile, statement, **given, before=before, limit=limit)


async def last_delivered(tx: Tx, destination: Destination) -> Batch | None:
    """Return the newest batch that the payer has."""
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


_FILE_COLUMNS = select_as(inbox, InboxFile)
_TO = (batches.c.type == bindparam("of_type"), batches.c.payer_id == bindparam("of_payer"))
_FROM = (inbox.c.type == bindparam("of_type"), inbox.c.payer_id == bindparam("of_payer"))
_SENT_BY_ID = Statement(BATCHES.where(among(batches.c.id, "ids")))
_SENT = Statement(
    BATCHES.where(batches.c.id < bindparam("before"))
    .order_by(batches.c.id.desc())
    .limit(bindparam("limit"))
)
_SENT_TO = Statement(
    BATCHES.where(*_TO, batches.c.id < bindparam("before"))
    .order_by(batches.c.id.desc())
    .limit(bindparam("limit"))
)
_LAST_DELIVERED = Statement(
    BATCHES.where(*_TO, batches.c.delivered_at.is_not(None)).order_by(batches.c.id.desc()).limit(1)
)
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
_RECEIVED = Statement(
    _FILE_COLUMNS.where(inbox.c.id < bindparam("before"))
    .order_by(inbox.c.id.desc())
    .limit(bindparam("limit"))
)
_RECEIVED_FROM = Statement(
    _FILE_COLUMNS.where(*_FROM, inbox.c.id < bindparam("before"))
    .order_by(inbox.c.id.desc())
    .limit(bindparam("limit"))
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
