"""Sign the log of filings every hour, and keep the checkpoints with the anchor copies.

    await make_checkpoints(context, now)     # what was added in an hour that is over
    await keep_copies(context)               # append new checkpoints beside the anchor, and in its second place

One node makes a checkpoint at a time; what others add in between comes under the next one.
"""

import asyncio
from datetime import datetime

from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.log import get_logger
from clearlane.pipeline.work_context import WorkContext
from clearlane.proofs.checkpoint import (
    BEFORE_FIRST,
    Checkpoint,
    encode_checkpoint,
    read_checkpoint,
    sign_checkpoint,
)
from clearlane.proofs.statements import split_leaves
from clearlane.store.audit.checkpoint_copies import CheckpointCopies
from clearlane.store.database.database import Tx
from clearlane.store.delivery import proof_log
from clearlane.store.delivery.proof_log import StoredCheckpoint, WaitingEntry

log = get_logger()

NAME = "checkpoints"
EVERY_SECONDS = 60
HOUR = 3_600_000_000
"""In microseconds, as all stored times."""
CHECKPOINT_LEAVES_MAX = 20_000
"""Under one checkpoint: its tree is made in some 20 milliseconds. A busy hour has several."""
ENTRIES_AT_ONCE = 500
COPIES_AT_ONCE = 1_000


class _NothingWaitsError(Exception):
    """Another node has made the checkpoint."""


async def checkpoint_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Make the checkpoints that are due, and keep copies also of those that other nodes made."""
    await make_checkpoints(context, context.clock.now())
    await keep_copies(context)


async def make_checkpoints(context: WorkContext, now: datetime) -> int:
    """Sign what was added to the log in hours that are over, and keep copies; return how many checkpoints were made."""
    made = 0
    while await has_due_checkpoint(context, now):
        if not await _make(context, now):
            break
        made += 1
    if made:
        await keep_copies(context)
    return made


async def has_due_checkpoint(context: WorkContext, now: datetime) -> bool:
    """Return whether something waits that was added in an hour that is over."""
    async with context.database.read(proof_log.SCOPE) as tx:
        oldest = await proof_log.oldest_waiting(tx)
    return oldest is not None and oldest // HOUR < to_micros(now) // HOUR


def next_checkpoint_at(added_at: int) -> datetime:
    """Return when the checkpoint over an entry is due: after the full hour."""
    return from_micros((added_at // HOUR + 1) * HOUR)


async def keep_copies(context: WorkContext) -> None:
    """Append checkpoints to the copies beside the anchor. A place that cannot be written is tried again by the next tick."""
    anchor = context.database.anchor
    if anchor is None:
        return
    copies = CheckpointCopies(anchor)
    try:
        for place in copies.places:
            last = await asyncio.to_thread(copies.last, place)
            after = to_micros(datetime.fromisoformat(last.signed_at)) if last else 0
            async with context.database.read(proof_log.SCOPE) as tx:
                found = await proof_log.list_signed_after(tx, after, COPIES_AT_ONCE)
            if found:
                lines = [one.content.encode() for one in found]
                await asyncio.to_thread(copies.append, place, lines, after=last)
    except OSError as fault:
        log.warning("checkpoints not copied", fault=fault.strerror or "OSError")


async def _make(context: WorkContext, now: datetime) -> bool:
    """Make one checkpoint over the oldest entries; return False if another node has."""
    seed = context.vault.proof_seed

    async def job(tx: Tx) -> Checkpoint:
        await proof_log.lock(tx)
        taken = _first_leaves(await proof_log.list_waiting(tx, ENTRIES_AT_ONCE))
        if not taken:
            raise _NothingWaitsError
        entries = await proof_log.list_entries(tx, [one.id for one in taken])
        last = await proof_log.last_checkpoint(tx)
        before = read_checkpoint(last.content) if last else None
        # Never at or before the last one, whatever the clocks of nodes say: copies are kept in this order.
        at = max(to_micros(now), last.at + 1 if last else 0)
        made = sign_checkpoint(
            seed,
            number=before.number + 1 if before else 1,
            signed_at=from_micros(at),
            leaves=[hash for one in entries for _, hash in split_leaves(one.content)],
            previous=before.digest if before else BEFORE_FIRST,
        )
        stored = StoredCheckpoint(made.number, at, encode_checkpoint(made).decode())
        await proof_log.add_checkpoint(tx, stored, entries)
        tx.audit("proof.checkpoint", ids=[str(made.number)], count=made.leaves, detail=made.digest)
        return made

    try:
        made = await context.database.write(proof_log.SCOPE, job, actor=context.actor)
    except _NothingWaitsError:
        return False
    log.info("checkpoint signed", checkpoint=made.number, leaves=made.leaves)
    return True


def _first_leaves(entries: list[WaitingEntry]) -> list[WaitingEntry]:
    """Return the first entries, as many as one checkpoint takes; at least one. Only their leaves are read."""
    taken: list[WaitingEntry] = []
    leaves = 0
    for one in entries:
        leaves += one.leaves
        if taken and leaves > CHECKPOINT_LEAVES_MAX:
            break
        taken.append(one)
    return taken
