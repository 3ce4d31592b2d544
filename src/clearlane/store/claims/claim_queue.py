"""The claims that wait for a batch: by payer, oldest first, and those that may have been sent before a restore."""

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, Integer, bindparam, func, select, update

from clearlane.kernel.redacted_repr import shows
from clearlane.store.database.database import Row, Tx, list_rows
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement, among, inlined, select_as

QUEUED, QUEUED_IN_DOUBT = 1, 2
"""Values of ``claims.queued``: waits for a batch; waits for one, but may have been sent before a restore."""


@dataclass(frozen=True, slots=True)
class PayerQueue:
    """The claims of one kind to one payer that wait for a batch: how many, and since when."""

    payer_id: str
    kind: str
    claims: int
    oldest_at: int


@shows("claim_number")
class QueuedClaim(NamedTuple):
    """A claim to be written into a batch. ``payload`` is sealed."""

    claim_number: str
    vendor_id: int
    site_id: int
    form: str
    account_as_number: int
    payload: bytes


async def list_payer_queues(tx: Tx, *, in_doubt: bool = False) -> list[PayerQueue]:
    """Return the claims that wait for a batch, counted by payer and kind of claim."""
    return await list_rows(tx, PayerQueue, _QUEUES_IN_DOUBT if in_doubt else _QUEUES)


async def list_queued_claims(
    tx: Tx, payer_id: str, kind: str, *, after: str, limit: int, in_doubt: bool = False
) -> list[QueuedClaim]:
    """Return the next claims that wait for a batch, oldest first."""
    return await list_rows(
        tx,
        QueuedClaim,
        _PAGE_IN_DOUBT if in_doubt else _PAGE,
        payer_id=payer_id,
        kind=kind,
        after=after,
        limit=limit,
    )


async def lock_queued_claims(
    tx: Tx, claim_numbers: list[str], *, in_doubt: bool = False
) -> list[Row]:
    """Lock those of some claims that still wait; return the id, vendor, site and number of sendings of each."""
    return await tx.rows(
        _LOCK, claim_numbers=claim_numbers, queued=QUEUED_IN_DOUBT if in_doubt else QUEUED
    )


async def dequeue(tx: Tx, claim_numbers: list[str]) -> None:
    """Take claims off the queue, and count one more sending of each."""
    await tx.run(_DEQUEUE, claim_numbers=claim_numbers)


async def mark_queued_in_doubt(tx: Tx) -> int:
    """Mark every claim that waits as one that may have been sent already, and return how many."""
    return await tx.run(_MARK_IN_DOUBT)


def is_queued(queued: int) -> ColumnElement[bool]:
    """Return the condition of claims that wait, in the words of the index of waiting claims."""
    return (claims.c.queued > inlined(0)) & (claims.c.queued == inlined(queued))


def _payer_queues(condition: ColumnElement[bool]) -> Statement:
    of = (
        select(
            claims.c.payer_id,
            claims.c.kind,
            func.count().label("claims"),
            func.min(claims.c.claim_number).label("oldest"),
        )
        .where(condition)
        .group_by(claims.c.payer_id, claims.c.kind)
        .subquery()
    )
    # Claim numbers are in the order of time, so the index alone finds the oldest.
    oldest = claims.alias("oldest_claim")
    found = select(of.c.payer_id, of.c.kind, of.c.claims, oldest.c.created_at)
    joined = found.join_from(of, oldest, oldest.c.claim_number == of.c.oldest)
    return Statement(joined.order_by(of.c.payer_id, of.c.kind), system=True)


def _page(condition: ColumnElement[bool]) -> Statement:
    return Statement(
        select_as(claims, QueuedClaim)
        .where(
            condition,
            claims.c.payer_id == bindparam("payer_id"),
            claims.c.kind == bindparam("kind"),
            claims.c.claim_number > bindparam("after"),
        )
        .order_by(claims.c.claim_number)
        .limit(bindparam("limit", type_=Integer)),
        system=True,
    )


_QUEUES, _QUEUES_IN_DOUBT = (_payer_queues(is_queued(q)) for q in (QUEUED, QUEUED_IN_DOUBT))
_PAGE, _PAGE_IN_DOUBT = (_page(is_queued(q)) for q in (QUEUED, QUEUED_IN_DOUBT))
# Always locked in one order, so that two nodes that batch the same claims cannot deadlock.
_LOCK = Statement(
    select(claims.c.claim_number, claims.c.vendor_id, claims.c.site_id, claims.c.sendings)
    .where(among(claims.c.claim_number, "claim_numbers"), claims.c.queued == bindparam("queued"))
    .order_by(claims.c.claim_number)
    .with_for_update(),
    system=True,
)
_DEQUEUE = Statement(
    update(claims)
    .where(among(claims.c.claim_number, "claim_numbers"))
    .values(queued=0, sendings=claims.c.sendings + 1),
    system=True,
)
_MARK_IN_DOUBT = Statement(
    update(claims).where(is_queued(QUEUED)).values(queued=QUEUED_IN_DOUBT), system=True
)
