"""Put accepted claims into batches, and start the delivery of batches that are due.

    await create_batches(context, now)     # claims whose window has passed, or that fill a file
    await deliver_due(context, now)        # batches that are due, payers side by side
    await has_due_work(context, now)       # whether anything is due or being sent

The engine runs ``dispatch_tick``, which starts one ``deliver_batch`` for each batch that is due. What is due depends
on our own rows and the clock alone, so nothing is lost with the engine's tables.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from weakref import WeakKeyDictionary

from clearlane.claims.batch_lifecycle import BatchEvent, BatchState, allows
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.connect.connections import PayerRoute
from clearlane.engine.fault_injection import crash_point
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.ids import random_text
from clearlane.kernel.log import get_logger
from clearlane.kernel.traces import now_nanos
from clearlane.pipeline.claim_traces import batch_trace, trace_claims
from clearlane.pipeline.outbound.deliver import ARRIVED, attempt_delivery
from clearlane.pipeline.outbound.delivery_policy import (
    SECOND,
    Destination,
    after_poll,
    choose_route,
    next_batches,
    placeholder_route,
    route_events,
    route_of,
)
from clearlane.pipeline.outbound.requeue_refused import requeue_mended
from clearlane.pipeline.outbound.write_batch import (
    ControlNumbersExhausted,
    compose_batch,
    load_waiting_claims,
    of_one_usage,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.audit.set_back import is_set_back
from clearlane.store.claims.claim_queue import PayerQueue, list_payer_queues
from clearlane.store.database.database import Database, StoreFault, Tx
from clearlane.store.delivery import batches
from clearlane.store.delivery.batches import Batch, ClaimAlreadyBatched
from clearlane.store.delivery.route_health import (
    RouteHealth,
    all_route_health,
    find_route_health,
    lock_route_health,
    set_route_health,
)

log = get_logger()

DELIVERY_STEP_ATTEMPTS_MAX = 6
# How many files may wait for a payer before claims stay unbatched.
ROUTE_BATCHES_WAITING_MAX = 8

TICK, DELIVER = "dispatch", "deliver"
QUEUE = "deliveries"
EVERY_SECONDS = 2
HOLDER_CHARACTERS = 12
MINUTE = 60 * SECOND


async def dispatch_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Create batches of waiting claims, and start the delivery of due batches."""
    if await is_set_back(context.database):
        return  # what waits may have been sent; readiness says what to do
    # A tick before this one may still create batches; and callers who submit claims go first.
    has_large_file = bool(context.file_processes and context.file_processes.running)
    allows = context.intake.priority.allows_batching
    if not _batching_lock(context).locked() and allows(beside_large_file=has_large_file):
        await create_batches(context, context.clock.now())
    await _start_due_deliveries(context, steps)


async def deliver_batch(context: WorkContext, steps: WorkSteps, batch_id: int) -> str:
    """Deliver one batch; when it arrived, start the next one to this payer at once."""
    # The attempts cover half a minute of database trouble. After that the batch is due again when the time
    # that a delivery may take has passed.
    outcome = await steps.run(
        "attempt",
        lambda: attempt_delivery(context, batch_id, steps.work),
        attempts=DELIVERY_STEP_ATTEMPTS_MAX,
    )
    if outcome == ARRIVED:
        await _start_due_deliveries(context, steps)
    return outcome


async def find_delivered(context: WorkContext, batch_ids: Sequence[int]) -> list[int]:
    """Return the batches that were delivered, or are gone."""
    async with context.database.read(batches.SCOPE) as tx:
        found = {id: await batches.find(tx, id) for id in batch_ids}
    return [id for id, batch in found.items() if not batch or batch.state is BatchState.DELIVERED]


async def create_batches(
    context: WorkContext, now: datetime, *, everything: bool = False
) -> list[int]:
    """Put claims that waited long enough, or fill a file, into batches; return the ids of these.

    ``everything`` also takes claims whose window has not passed and whose payer has no route. Claims of refused files
    whose route was mended are queued again first.
    """
    async with _batching_lock(context):
        await requeue_mended(context, now)
        backlog = await _load_backlog(context)
        created: list[int] = []
        for plan in _plan_batches(context, backlog, now, everything=everything):
            try:
                created += await _create_planned(context, plan)
            except (StoreFault, ValueError) as fault:
                # One payer's fault must not stop the others; its claims keep waiting.
                log.warning(
                    "claims not batched",
                    **_log_facts(plan),
                    fault=fault_code(fault),
                    places=fault_frames(fault),
                )
            except ControlNumbersExhausted:
                log.warning(
                    "claims not batched", **_log_facts(plan), fault="control-numbers-exhausted"
                )
        return created


async def deliver_due(context: WorkContext, now: datetime) -> int:
    """Deliver due batches without the engine, payers side by side; return how many arrived."""
    due = await _due_batches(context, now)
    return sum(await asyncio.gather(*(_deliver_payer_batches(context, batch) for batch in due)))


async def has_due_work(context: WorkContext, now: datetime) -> bool:
    """Return whether anything is due or being sent."""
    backlog = await _load_backlog(context)
    sending = any(batch.is_being_sent(to_micros(now)) for batch in backlog.batches)
    due = _next_reachable(context, backlog.batches, backlog.route_health, now)
    return sending or bool(due) or bool(_plan_batches(context, backlog, now, everything=False))


async def retry_payer_now(context: WorkContext, destination: Destination, now: datetime) -> None:
    """End the pause of a payer that is known to work again, and make its batches due."""
    at = to_micros(now)

    async def job(tx: Tx) -> None:
        health = await lock_route_health(tx, destination)
        await set_route_health(tx, replace(health, failures=0, paused_until=None))
        await batches.retry_now(tx, destination, at)

    await context.database.write(batches.SCOPE, job, actor=context.actor)


async def record_poll(
    tx: Tx, context: WorkContext, route: PayerRoute, now: datetime, *, worked: bool
) -> None:
    """Make the batches that a route refused due, if a poll shows that it works again."""
    # The payer id as batches have it, however the route spells it.
    payer = context.payer_access.payers().find(route.payer_id, route.type)
    key = (route.type, payer.payer_id if payer else route.payer_id)
    routes = context.payer_access.connections().mailbox_routes(*key)
    at = to_micros(now)
    found = await find_route_health(tx, key)
    if found is None or after_poll(found, routes, route.route_id, at, worked=worked) == found:
        return
    if worked and not found.failures and not await batches.has_paused(tx, key, at):
        return
    before = await lock_route_health(tx, key)
    after = after_poll(before, routes, route.route_id, at, worked=worked)
    await set_route_health(tx, after)
    tx.add_events(route_events(before, after, at))
    if after.retried_at is not None and after != before:
        await batches.retry_now(tx, key, at)


@dataclass(frozen=True, slots=True)
class _Backlog:
    """The waiting claims, the undelivered batches and the health of routes."""

    queues: list[PayerQueue]
    queues_in_doubt: list[PayerQueue]
    batches: list[Batch]
    route_health: dict[Destination, RouteHealth]


@dataclass(frozen=True, slots=True)
class _BatchPlan:
    """Claims of one payer that are to be put into batches."""

    queue: PayerQueue
    route: PayerRoute
    batches_max: int
    """How many batches may be made of them."""
    may_be_small: bool
    """Whether the last batch may be a small one."""
    in_doubt: bool
    """Whether the claims may have been sent before (after a restore)."""

    @property
    def claims_max(self) -> int:
        return min(self.route.claims_max, limits.CLAIMS_PER_SET_MAX)

    @property
    def has_batch(self) -> bool:
        return self.batches_max > 0 and (self.may_be_small or self.queue.claims >= self.claims_max)


# One task of a process creates batches at a time: two would write files of the same claims, one of them in vain.
_batching_locks: WeakKeyDictionary[Database, asyncio.Lock] = WeakKeyDictionary()


def _batching_lock(context: WorkContext) -> asyncio.Lock:
    return _batching_locks.setdefault(context.database, asyncio.Lock())


async def _load_backlog(context: WorkContext) -> _Backlog:
    async with context.database.read(batches.SCOPE) as tx:
        return _Backlog(
            await list_payer_queues(tx),
            await list_payer_queues(tx, in_doubt=True),
            await batches.list_undelivered(tx),
            await all_route_health(tx),
        )


def _plan_batches(
    context: WorkContext, backlog: _Backlog, now: datetime, *, everything: bool
) -> list[_BatchPlan]:
    at = to_micros(now)
    waiting = Counter(
        batch.destination for batch in backlog.batches if allows(batch.state, BatchEvent.ATTEMPTED)
    )
    found = []
    for in_doubt, queues in ((True, backlog.queues_in_doubt), (False, backlog.queues)):
        for queue in queues:
            key = (KINDS[ClaimKind(queue.kind)].payer_type, queue.payer_id)
            routes = context.payer_access.connections().mailbox_routes(*key)
            if not routes and not everything:
                continue
            route = (
                choose_route(backlog.route_health.get(key), routes, at)
                if routes
                else placeholder_route(*key)
            )
            unlimited = in_doubt or everything
            # Behind batches that cannot be sent claims are not batched, so that they fill larger files later.
            batches_max = queue.claims if unlimited else ROUTE_BATCHES_WAITING_MAX - waiting[key]
            # A claim of the future was accepted by a clock that was ahead.
            latest = at + SECOND * limits.CLOCK_DIFFERENCE_SECONDS_MAX
            gathered = not at - SECOND * route.window_seconds < queue.oldest_at <= latest
            # Outside the send windows claims go on gathering: they fill fewer and larger files.
            may_be_small = unlimited or (gathered and route.sends_at(now))
            found.append(_BatchPlan(queue, route, batches_max, may_be_small, in_doubt))
    return [plan for plan in found if plan.has_batch]


def _log_facts(plan: _BatchPlan) -> dict[str, str | int]:
    """Return what a log line says of claims: where they go and over which route."""
    route = plan.route
    return {"payer": plan.queue.payer_id, "type": route.type, "route": route.route_id}


async def _create_planned(context: WorkContext, plan: _BatchPlan) -> list[int]:
    created: list[int] = []
    left = plan.queue.claims
    while (
        left > 0
        and len(created) < plan.batches_max
        and (plan.may_be_small or left >= plan.claims_max)
    ):
        made = await _create_batch(context, plan)
        if made is None:
            break
        created.append(made[0])
        left -= made[1]
    return created


async def _create_batch(context: WorkContext, plan: _BatchPlan) -> tuple[int, int] | None:
    """Create one batch of the oldest claims; return its id and number of claims, or None if none is left."""
    route, kind = plan.route, ClaimKind(plan.queue.kind)
    claims = await load_waiting_claims(
        context, plan.queue.payer_id, kind, claims_max=plan.claims_max, in_doubt=plan.in_doubt
    )
    if not claims:
        return None
    context.database.require_space()
    began = now_nanos()
    composed = await compose_batch(context, route, kind, of_one_usage(claims, route))
    crash_point("written")
    now = to_micros(context.clock.now())
    try:
        batch_id = await context.database.write(
            batches.SCOPE,
            lambda tx: batches.create(
                tx,
                composed.file,
                destination=(route.type, plan.queue.payer_id),
                kind=kind.value,
                members=composed.members,
                line_references=composed.line_references,
                now=now,
                in_doubt=plan.in_doubt,
            ),
            actor=context.actor,
        )
    except ClaimAlreadyBatched:  # another node batched them first
        return None
    crash_point("batched")
    await trace_claims(
        context, "claims batched", composed.members, began=began, within=batch_trace(batch_id),
        is_first=True, batch_id=batch_id, payer=plan.queue.payer_id,
    )  # fmt: skip
    log.debug("batch written", batch=batch_id, **_log_facts(plan), claims=len(composed.members))
    return batch_id, len(composed.members)


async def _due_batches(context: WorkContext, now: datetime) -> list[Batch]:
    async with context.database.read(batches.SCOPE) as tx:
        undelivered, route_health = await batches.list_undelivered(tx), await all_route_health(tx)
    return _next_reachable(context, undelivered, route_health, now)


def _next_reachable(
    context: WorkContext,
    undelivered: list[Batch],
    route_health: dict[Destination, RouteHealth],
    now: datetime,
) -> list[Batch]:
    """Return the batches to send now to payers that have a route, and are in a send window of it."""
    connections = context.payer_access.connections()
    at = to_micros(now)

    def may_go(batch: Batch) -> bool:
        routes = connections.mailbox_routes(*batch.destination)
        route = route_of(batch, route_health.get(batch.destination), routes, at)
        return bool(routes) and (route is None or route.sends_at(now))

    return next_batches(undelivered, route_health, at, may_go)


async def _deliver_payer_batches(context: WorkContext, batch: Batch) -> int:
    """Deliver a batch and the following ones to its payer, until one does not arrive."""
    arrived = 0
    due: Batch | None = batch
    while due is not None:
        holder = f"{context.node}-{random_text(HOLDER_CHARACTERS)}"
        if await attempt_delivery(context, due.id, holder) != ARRIVED:
            break
        arrived += 1
        found = await _due_batches(context, context.clock.now())
        due = next((one for one in found if one.destination == batch.destination), None)
    return arrived


async def _start_due_deliveries(context: WorkContext, steps: WorkSteps) -> None:
    """Start the delivery of due batches.

    The key starts an attempt at a batch once a minute at most, however often it is found due. Without the minute in
    it, work that failed before it could record anything would never be tried again.
    """
    now = context.clock.now()
    minute = to_micros(now) // MINUTE
    for batch in await _due_batches(context, now):
        key = f"{DELIVER}-{batch.id}-{batch.attempts}-{minute}"
        await steps.start(DELIVER, batch.id, key=key)
