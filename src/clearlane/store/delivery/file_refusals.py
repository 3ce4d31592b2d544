"""The verdicts of TA1s on files of claims: which files payers refused for their envelope, and which of those went again.

A refused file is one matter for the operator, however many claims it holds. Knows no file format.
"""

from typing import NamedTuple

from sqlalchemy import BigInteger, bindparam, func, select, update

from clearlane.kernel.claim_label import ClaimLabel
from clearlane.store.database.database import Tx, find_row, list_rows
from clearlane.store.database.schema import batch_claims, batches, claims, file_refusals
from clearlane.store.database.sql import Statement, insert_into, select_as

DUPLICATE_NOTE = "025"
"""TA105: a duplicate interchange control number. The payer has a file of this number."""
"""The label of claims whose file was refused (``pipeline.claim_label``)."""


class FileVerdict(NamedTuple):
    """What TA1s said of a file."""

    accepted: bool = False
    """Whether one accepted it, with errors noted or without: the payer may hold it."""
    refused: bool = False
    note: str = ""
    """TA105 of the refusal."""
    envelope: str = ""
    """The addresses that the refused file was sent with."""


class BatchRefusal(NamedTuple):
    """A refused file of claims."""

    batch_id: int
    note: str
    envelope: str
    accepted: int
    refused_at: int | None
    requeued_at: int | None


class RefusedFiles(NamedTuple):
    """Refused files of one payer and route, and their claims that still wait."""

    type: str
    payer_id: str
    route_id: int
    note: str
    files: int
    claims: int
    accepted: int
    """Claims of files that the payer accepted before."""
    first_batch_id: int
    refused_at: int


def payer_may_hold(refusal: BatchRefusal | RefusedFiles) -> bool:
    """Return whether the payer may have a refused file all the same, so that it must not go again by itself."""
    return refusal.note == DUPLICATE_NOTE or bool(refusal.accepted)


async def record_verdict(tx: Tx, batch_id: int, verdict: FileVerdict, now: int) -> None:
    """Record what a TA1 said of a file. The first refusal counts; that it was accepted stays known."""
    await tx.run(_ADD, batch_id=batch_id, note="", envelope="", accepted=0)
    if verdict.accepted:
        await tx.run(_ACCEPTED, of=batch_id)
    if verdict.refused:
        await tx.run(
            _REFUSED, of=batch_id, to_note=verdict.note, to_envelope=verdict.envelope, now=now
        )


async def record_accepted(tx: Tx, batch_id: int) -> None:
    """Record that the payer may hold a refused file, so that it never goes again by itself."""
    await tx.run(_ACCEPTED, of=batch_id)


async def record_requeued(tx: Tx, batch_id: int, now: int) -> None:
    """Record that the claims of a refused file wait for a new one."""
    await tx.run(_REQUEUED, of=batch_id, now=now)


async def find(tx: Tx, batch_id: int) -> BatchRefusal | None:
    """Return the refusal of a file; None if no TA1 refused it."""
    return await find_row(tx, BatchRefusal, _FIND, of=batch_id)


async def lock(tx: Tx, batch_id: int) -> BatchRefusal | None:
    """Return the refusal of a file, locked until the transaction ends; None if no TA1 refused it."""
    return await find_row(tx, BatchRefusal, _LOCK, of=batch_id)


async def list_open(tx: Tx) -> list[BatchRefusal]:
    """Return the refused files whose claims did not go again."""
    return await list_rows(tx, BatchRefusal, _OPEN)


async def count_open(tx: Tx) -> list[RefusedFiles]:
    """Count the refused files by payer and route, and their claims that wait and were not replaced."""
    return await list_rows(tx, RefusedFiles, _COUNT)


_THIS = file_refusals.c.batch_id == bindparam("of", type_=BigInteger)
_IS_OPEN = file_refusals.c.refused_at.is_not(None) & file_refusals.c.requeued_at.is_(None)
_REFUSALS = select_as(file_refusals, BatchRefusal)
_ADD = Statement(
    insert_into(file_refusals, "batch_id", "note", "envelope", "accepted").on_conflict_do_nothing()
)
_ACCEPTED = Statement(update(file_refusals).where(_THIS).values(accepted=1))
_REFUSED = Statement(
    update(file_refusals)
    .where(_THIS, file_refusals.c.refused_at.is_(None))
    .values(
        refused_at=bindparam("now", type_=BigInteger),
        note=bindparam("to_note"),
        envelope=bindparam("to_envelope"),
    )
)
_REQUEUED = Statement(
    update(file_refusals).where(_THIS).values(requeued_at=bindparam("now", type_=BigInteger))
)
_FIND = Statement(_REFUSALS.where(_THIS, file_refusals.c.refused_at.is_not(None)))
_LOCK = Statement(_REFUSALS.where(_THIS, file_refusals.c.refused_at.is_not(None)).with_for_update())
_OPEN = Statement(_REFUSALS.where(_IS_OPEN).order_by(file_refusals.c.batch_id))
_GROUP = (batches.c.type, batches.c.payer_id, batches.c.route_id, file_refusals.c.note)
_COUNT = Statement(
    select(
        *_GROUP,
        func.count(batches.c.id.distinct()),
        func.count(),
        func.sum(file_refusals.c.accepted),
        func.min(batches.c.id),
        func.min(file_refusals.c.refused_at),
    )
    .join_from(file_refusals, batches, batches.c.id == file_refusals.c.batch_id)
    .join(batch_claims, batch_claims.c.batch_id == batches.c.id)
    .join(claims, claims.c.claim_number == batch_claims.c.claim_number)
    .where(
        _IS_OPEN,
        claims.c.label == ClaimLabel.TO_RESEND.value,
        claims.c.is_superseded == 0,
        claims.c.sendings == batch_claims.c.attempt,
    )
    .group_by(*_GROUP)
    .order_by(*_GROUP),
    system=True,
)
