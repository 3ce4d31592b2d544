"""Operate on batches: show, resend, mark as delivered, export.

For operators, who may know more about a batch in doubt than the payer's mailbox. Every decision is audited.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from clearlane.claims.batch_lifecycle import BatchEvent, BatchState, allows
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.outbound.deliver import lock_batch, record_delivery
from clearlane.pipeline.outbound.dispatch import create_batches
from clearlane.pipeline.outbound.requeue_refused import requeue_refused
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.audit.set_back import record_restore, require_not_set_back
from clearlane.store.claims.claim_queue import list_payer_queues
from clearlane.store.database.database import Actor, OperationRefused, Tx, write_audit
from clearlane.store.delivery import batches, file_refusals
from clearlane.store.delivery.batches import Batch, BatchMember
from clearlane.store.delivery.file_refusals import BatchRefusal, payer_may_hold
from clearlane.store.delivery.route_health import RouteHealth, all_route_health, set_route_health
from clearlane.store.installation.nodes import live_nodes

ALREADY_ANSWERED = (
    "The payer has answered {answered} of the {claims} claims of batch {id}, so it has these: sent again, they "
    "would reach it twice. Mark the batch as delivered, or resend it with --even-if-answered."
)


MAY_BE_HELD = (
    "The payer refused batch {id} (TA1 {note}), but may hold it: the note is 025, for a control number that came before, or an "
    "acknowledgement accepted the file. Ask the payer; if it does not have the claims, resend the batch with "
    "--even-if-answered."
)


NODES_ALIVE = (
    "These nodes work on the database: {nodes}. Stop every node first; one that was killed counts as alive for some "
    "seconds more."
)


@dataclass(frozen=True, slots=True)
class BatchDetails:
    """A batch with its claims and the health of its routes."""

    batch: Batch
    members: tuple[BatchMember, ...]
    route_health: RouteHealth | None
    answered: int
    """How many of its claims the payer has acknowledged or decided."""
    refusal: BatchRefusal | None = None
    """The TA1 that refused the whole file."""

    @property
    def is_refused(self) -> bool:
        """Whether the payer refused the file, and its claims did not go again."""
        return self.refusal is not None and self.refusal.requeued_at is None


@dataclass(frozen=True, slots=True)
class ExportedBatch:
    """A batch as a file that an operator sends by other means."""

    batch: Batch
    content: bytes = field(repr=False)


async def load_batch(context: WorkContext, id: int) -> BatchDetails:
    """Load a batch with its claims and the health of its routes."""
    async with context.database.read(batches.SCOPE) as tx:
        batch = _require_batch(await batches.find(tx, id), id)
        members = tuple(await batches.list_members(tx, id))
        health_of = await all_route_health(tx)
        answered = await batches.count_answered(tx, id)
        refusal = await file_refusals.find(tx, id)
    return BatchDetails(batch, members, health_of.get(batch.destination), answered, refusal)


async def read_content(context: WorkContext, id: int, *, actor: Actor) -> bytes:
    """Return the file of a batch as it is sent. The access is audited."""

    async def job(tx: Tx) -> bytes:
        batch = _require_batch(await batches.find(tx, id), id)
        tx.audit("batch.read", ids=[str(id)], detail=f"{batch.type} {batch.payer_id}")
        return await batches.read_content(tx, context.vault, batch)

    return await context.database.write(batches.SCOPE, job, actor=actor)


async def resend(
    context: WorkContext, id: int, *, actor: Actor, even_if_answered: bool = False
) -> None:
    """Send a batch that the payer does not have, now, even if the payer is paused.

    The claims of a file that the payer refused (TA1) go in a new file, with a control number of its own.
    """
    now = to_micros(context.clock.now())
    if await _resend_refused(context, id, actor=actor, even_if_held=even_if_answered):
        return

    async def job(tx: Tx) -> None:
        _require_batch(await batches.find(tx, id), id)
        found, health = await lock_batch(tx, id)
        batch = _require_undelivered(found, id, now)
        answered = await batches.count_answered(tx, id)
        if answered and not even_if_answered:
            raise OperationRefused(
                ALREADY_ANSWERED.format(id=id, answered=answered, claims=batch.claims)
            )
        await batches.apply_event(tx, batch, BatchEvent.RESENT, not_before=now)
        await set_route_health(tx, replace(health, failures=0, paused_until=None, fault=""))
        tx.audit("batch.resend", ids=[str(id)], count=batch.claims, detail=batch.name)

    await context.database.write(batches.SCOPE, job, actor=actor)


async def _resend_refused(
    context: WorkContext, id: int, *, actor: Actor, even_if_held: bool
) -> bool:
    """Queue the claims of a refused file for a new one; return False if it was not refused, or went again."""
    async with context.database.read(batches.SCOPE) as tx:
        refusal = await file_refusals.find(tx, id)
    if refusal is None or refusal.requeued_at is not None:
        return False
    if payer_may_hold(refusal) and not even_if_held:
        raise OperationRefused(MAY_BE_HELD.format(id=id, note=refusal.note))
    await requeue_refused(context, id, actor=actor, by_person=True)
    return True


async def mark_delivered(context: WorkContext, id: int, *, actor: Actor) -> None:
    """Record that the payer has a batch, however it got there: its claims count as sent."""
    async with context.database.read(batches.SCOPE) as tx:
        _require_undelivered(await batches.find(tx, id), id, to_micros(context.clock.now()))
    await record_delivery(context, id, actor=actor)


async def export_undelivered(context: WorkContext, *, actor: Actor) -> AsyncIterator[ExportedBatch]:
    """Yield every undelivered batch with its file, one at a time.

    Claims that still wait are put into batches first, so that a claim is in one file only: the one that is sent later
    or marked as delivered.
    """
    await require_not_set_back(context.database)
    await create_batches(context, context.clock.now(), everything=True)
    async with context.database.read(batches.SCOPE) as tx:
        found = await batches.list_undelivered(tx)

    ids, count = [str(batch.id) for batch in found], sum(batch.claims for batch in found)
    await write_audit(
        context.database, batches.SCOPE, "batch.exported", ids=ids, count=count, actor=actor
    )
    for batch in found:
        async with context.database.read(batches.SCOPE) as tx:
            content = await batches.read_content(tx, context.vault, batch)
        yield ExportedBatch(batch, content)


async def count_unbatched_claims(context: WorkContext) -> int:
    """Return how many accepted claims are in no batch."""
    async with context.database.read(batches.SCOPE) as tx:
        found = [
            *await list_payer_queues(tx),
            *await list_payer_queues(tx, in_doubt=True),
        ]
    return sum(queue.claims for queue in found)


async def mark_in_doubt_after_restore(context: WorkContext, *, actor: Actor) -> tuple[int, int]:
    """Mark as in doubt what may have been sent since a backup that was restored by other means than ours.

    Refused while nodes work on the database: they would go on sending what is being marked.
    """
    async with context.database.read(batches.SCOPE) as tx:
        alive = [node.id for node in await live_nodes(tx)]
    if alive:
        raise OperationRefused(NODES_ALIVE.format(nodes=", ".join(alive)))
    return await record_restore(context.database, clock=context.clock, actor=actor)


async def count_unsent(context: WorkContext) -> tuple[int, int]:
    """Count the batches and the queued claims that a restore would put in doubt."""
    async with context.database.read(batches.SCOPE) as tx:
        undelivered = await batches.list_undelivered(tx)
        queues = await list_payer_queues(tx)
    batch_count = sum(allows(batch.state, BatchEvent.RESTORED) for batch in undelivered)
    return batch_count, sum(queue.claims for queue in queues)


def _require_batch(batch: Batch | None, id: int) -> Batch:
    if batch is None:
        raise OperationRefused(f"There is no batch {id}. `clearlane batch list --all` shows them.")
    return batch


def _require_undelivered(found: Batch | None, id: int, now: int) -> Batch:
    batch = _require_batch(found, id)
    if batch.state is BatchState.DELIVERED:
        raise OperationRefused(
            f"Batch {id} is delivered: sent again, its claims would reach the payer twice."
        )
    if batch.is_being_sent(now):
        raise OperationRefused(f"Batch {id} is being sent at this moment. Look again in a while.")
    return batch
