"""Have checkpoints stamped by an authority outside of the installation (RFC 3161), if an operator named one.

    await stamp_checkpoints(context)      # how many were stamped

A stamp says that the checkpoint existed at a time, by another clock than ours. The authority learns a hash and nothing else. If
it cannot be reached, the same checkpoints are tried again by the next tick; nothing waits for it.
"""

from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import to_micros
from clearlane.kernel.log import get_logger
from clearlane.pipeline.work_context import WorkContext
from clearlane.proofs.checkpoint import read_checkpoint
from clearlane.store.database.database import Tx
from clearlane.store.delivery import proof_log, proof_stamps
from clearlane.store.delivery.proof_log import StoredCheckpoint
from clearlane.store.delivery.proof_stamps import StoredStamp

log = get_logger()

NAME = "checkpoint-stamps"
EVERY_SECONDS = 300
STAMPS_AT_ONCE = 20


async def stamp_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Have the checkpoints stamped that are not."""
    await stamp_checkpoints(context)


async def stamp_checkpoints(context: WorkContext) -> int:
    """Have the oldest checkpoints without a stamp stamped, if there is an authority; return how many were."""
    if not context.timestamp_url:
        return 0
    # These bring an HTTP library and one of time stamps: only for an installation that has its checkpoints stamped.
    from clearlane.connect.time_stamp_http import StampRefused
    from clearlane.proofs.time_stamp import StampFault

    async with context.database.read(proof_log.SCOPE) as tx:
        unstamped = await proof_stamps.list_unstamped(tx, STAMPS_AT_ONCE)
    for count, one in enumerate(unstamped):
        try:
            stamp = await _stamp(context.timestamp_url, one)
        except (StampRefused, StampFault) as why:
            log.warning("checkpoint not stamped", checkpoint=one.number, why=str(why))
            return count
        await _save(context, stamp)
    return len(unstamped)


async def _stamp(url: str, stored: StoredCheckpoint) -> StoredStamp:
    from clearlane.connect.time_stamp_http import request_stamp
    from clearlane.proofs.time_stamp import ask_for_stamp, read_stamp

    checkpoint = read_checkpoint(stored.content)
    response = await request_stamp(url, ask_for_stamp(checkpoint))
    found = read_stamp(response, checkpoint)
    return StoredStamp(stored.number, to_micros(found.at), response)


async def _save(context: WorkContext, stamp: StoredStamp) -> None:
    async def job(tx: Tx) -> None:
        await proof_stamps.add_stamp(tx, stamp)
        tx.audit("proof.stamp", ids=[str(stamp.number)])

    await context.database.write(proof_log.SCOPE, job, actor=context.actor)
