"""Send the open inquiries of one node to payers in real time.

    runner.start(inquiry_request_id, count, immediate)    # a caller waits: at once
    runner.wake()                                         # large requests and retries: as far as each payer's limit allows

A result is stored before the waiting call is released. Inquiries are rows with a lease, so those of a node that
died are sent by another. Nothing depends on the call that submitted an inquiry. Knows queues and leases; what is sent
and read is decided in ``realtime_inquiry``.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import partial
from typing import Any, TypeVar

from clearlane.connect.connections import Connections
from clearlane.engine import fault_injection
from clearlane.inquiry.inquiry_result import InquiryResult, encode_result
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, from_micros, to_micros
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.answer_days import AnswerDays
from clearlane.pipeline.filing.filing_leaves import answer_leaf
from clearlane.pipeline.inquiry.inquiry_transaction import (
    AnyResult,
    LeafMaker,
    NewResult,
    PendingInquiry,
)
from clearlane.pipeline.inquiry.inquiry_transactions import TRANSACTIONS
from clearlane.pipeline.inquiry.pending_calls import PendingCalls
from clearlane.pipeline.inquiry.realtime_inquiry import (
    LOST,
    NO_ROUTE,
    AttemptResult,
    RetryLater,
    result_of_failure,
    send_inquiry,
)
from clearlane.pipeline.route_connections import inquiry_connections
from clearlane.store import inquiries
from clearlane.store.database.database import Actor, Database, StoreFault, Tx
from clearlane.store.inquiries import InquiryQueue, NewFollowing, StoredInquiry, trace
from clearlane.store.vault.vault import Vault

log = get_logger()

# How long an inquiry is leased; how often and how long a payer that cannot answer now is asked
# again (CORE: not sooner than 90 seconds if the inquiry may have arrived); how many inquiries a payer gets at once.
INQUIRY_LEASE_SECONDS = 120
INQUIRY_RETRY_SECONDS = (1, 2, 4, 8, 16)
INQUIRY_LATE_RETRY_SECONDS_FIRST = 90
INQUIRY_LATE_RETRY_SECONDS_MAX = 3_600
INQUIRY_RETRY_HOURS_MAX = 24
INQUIRY_PAYER_AT_ONCE = 16

T = TypeVar("T")

LEASE = timedelta(seconds=INQUIRY_LEASE_SECONDS)
GIVE_UP_AFTER = timedelta(hours=INQUIRY_RETRY_HOURS_MAX)
REALTIME_MODES = frozenset({inquiries.INTERACTIVE, inquiries.BULK})
"""The modes of inquiries sent here; the third goes out in files."""


def no_sleeping_payers(_: datetime) -> int:
    """Return 0: real payers do not wait for our clock."""
    return 0


class InquiryRunner:
    """The inquiries that one node is sending."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        clock: Clock,
        connections: Callable[[], Connections],
        *,
        node: str,
        asleep: Callable[[datetime], int] = no_sleeping_payers,
        claim_silence_days: int = limits.CLAIM_SILENCE_DAYS_MAX,
    ) -> None:
        """``asleep`` returns how many simulated payers wait for the sandbox's clock."""
        self.pending_calls = PendingCalls(database, clock)
        self._database = database
        self._vault = vault
        self._clock = clock
        self._connections = connections
        self._asleep = asleep
        self._silence_days = claim_silence_days
        self._actor = Actor("node", node)
        self._active: dict[tuple[int, int], datetime | None] = {}
        """The inquiries that this node works on, and until when each pauses."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._queues: dict[InquiryQueue, _QueueState] = {}
        self._slots: dict[InquiryQueue, asyncio.Semaphore] = {}
        """What each payer may get at once."""
        self._due = asyncio.Event()
        self._looking = False
        self._stopped = False

    def start(
        self, inquiry_request_id: int, count: int, immediate: Sequence[PendingInquiry]
    ) -> None:
        """Start the inquiries of a stored request: these at once, the others from the queues."""
        self.pending_calls.expect(inquiry_request_id, count)
        for pending in immediate:
            self._active[pending.key] = None
            self._create_task(self._ask_while_caller_waits(pending))
        if len(immediate) < count:
            self.wake()

    def can_reach(self, type: str, payer_id: str, inquiry_set: str) -> bool:
        """Return whether a payer has a real-time connection for inquiries of a transaction set."""
        return bool(inquiry_connections(self._connections(), type, payer_id, inquiry_set))

    def wake(self) -> None:
        """Look for inquiries that are due."""
        self._due.set()
        if not self._looking:
            self._looking = True
            self._create_task(self._start_due_queues())

    async def has_due_inquiries(self, now: datetime) -> bool:
        """Return whether an inquiry is due, or being sent and not pausing."""
        self.wake()
        pausing = sum(until is not None and until > now for until in self._active.values())
        if len(self._active) > pausing + self._asleep(now):
            return True
        if any(state.is_sending for state in self._queues.values()):
            return True
        async with self._database.read(inquiries.SCOPE) as tx:
            queues = await inquiries.due_queues(tx, to_micros(now))
        return any(queue.mode in REALTIME_MODES for queue in queues)

    def retire(self, connections: Connections) -> None:
        """Close connections that were replaced, when no inquiry can be using them any more."""

        async def close() -> None:
            try:
                await asyncio.sleep(limits.REALTIME_SECONDS_MAX)
            finally:
                await connections.close()

        self._create_task(close())

    async def stop(self) -> None:
        """Stop, and make unfinished inquiries due again for other nodes and for the next start."""
        self._stopped = True
        unfinished = list(self._active)
        tasks = list(self._tasks)
        await cancel_all(tasks)
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.pending_calls.close()
        await self._connections().close()
        if unfinished:
            now = to_micros(self._clock.now())
            await self._write(lambda tx: inquiries.reschedule(tx, unfinished, now))

    # ---- one inquiry -------------------------------------------------------------------------

    async def _ask_while_caller_waits(self, pending: PendingInquiry) -> None:
        """Send while the call waits, with short pauses; leave what is not answered by then to the queues."""
        pauses = iter(INQUIRY_RETRY_SECONDS)
        try:
            while True:
                result = await self._attempt(pending)
                pause = (
                    next(pauses, None) if isinstance(result, RetryLater) and result.soon else None
                )
                next_at = None if pause is None else self._clock.now() + timedelta(seconds=pause)
                if next_at is None or next_at >= pending.deadline:
                    await self._record_attempt(pending, result)
                    return
                self._active[pending.key] = next_at
                await self._clock.wait_until(next_at)
                self._active[pending.key] = None
                pending = replace(pending, attempts=pending.attempts + 1)
        except (StoreFault, TimeoutError) as fault:
            _log_failure(pending, fault)  # sent again when the lease has run out
        finally:
            del self._active[pending.key]

    async def _ask_once(self, pending: PendingInquiry) -> None:
        """Send an inquiry once."""
        if pending.key in self._active:
            return
        self._active[pending.key] = None
        try:
            await self._record_attempt(pending, await self._attempt(pending))
        except (StoreFault, TimeoutError) as fault:
            _log_failure(pending, fault)
        finally:
            del self._active[pending.key]

    async def _attempt(self, pending: PendingInquiry) -> AttemptResult:
        connections = inquiry_connections(
            self._connections(),
            pending.payer_type,
            pending.payer_id,
            pending.transaction.inquiry_set,
        )
        if not connections:
            return RetryLater(result_of_failure(pending, NO_ROUTE), soon=False)
        connection = connections[(pending.attempts - 1) % len(connections)]
        try:
            result = await send_inquiry(connection, pending, self._clock.now())
        except Exception as fault:  # noqa: BLE001  (one connection must not stop the others)
            _log_failure(pending, fault)
            return RetryLater(result_of_failure(pending, LOST), soon=False)
        fault_injection.crash_point("question sent")
        return result

    async def _record_attempt(self, pending: PendingInquiry, result: AttemptResult) -> None:
        """Store a final result, or schedule the next attempt."""
        now = self._clock.now()
        if isinstance(result, InquiryResult):
            await self.store_result(pending, result)
        elif now - from_micros(pending.created_at) >= GIVE_UP_AFTER:
            await self.store_result(pending, result.final)
        else:
            next_at = to_micros(now + timedelta(seconds=retry_seconds(pending.attempts)))
            await self._write(lambda tx: inquiries.reschedule(tx, [pending.key], next_at))

    async def store_result(self, pending: PendingInquiry, result: AnyResult) -> bool:
        """Store a result and count it for the waiting call; return False if there was one before."""
        now = self._clock.now()
        stored = await store_result(
            self._database,
            self._vault,
            pending,
            result,
            now,
            self._actor,
            AnswerDays(self._connections(), self._silence_days),
        )
        if stored is StoredAs.ANSWER:
            self.pending_calls.count_answer(pending.inquiry_request_id)
        elif stored is StoredAs.FOLLOWED:
            self.wake()
        return stored is not StoredAs.REPEATED

    # ---- large documents and retries ---------------------------------------------------------

    async def _start_due_queues(self) -> None:
        """Start a task for every payer that has due inquiries and no task yet."""
        try:
            while self._due.is_set():
                self._due.clear()
                async with self._database.read(inquiries.SCOPE) as tx:
                    queues = await inquiries.due_queues(tx, to_micros(self._clock.now()))
                for queue in queues:
                    if queue.mode in REALTIME_MODES and queue not in self._queues:
                        self._queues[queue] = _QueueState()
                        self._create_task(self._run_queue(queue, self._queues[queue]))
        finally:
            self._looking = False

    async def _run_queue(self, queue: InquiryQueue, state: "_QueueState") -> None:
        """Start everything that is due to one payer, a page at a time.

        A page is loaded when the one before has begun, not when it has ended: an inquiry that a payer never answers holds
        one slot, and no other inquiry.
        """
        slots = self._slots.setdefault(queue, asyncio.Semaphore(INQUIRY_PAYER_AT_ONCE))

        async def one(pending: PendingInquiry) -> None:
            async with slots:
                state.begin()
                await self._ask_once(pending)

        try:
            while page := await self._lease_page(queue):
                state.expect(len(page), slots)
                for pending in page:
                    self._create_task(one(pending))
                await state.all_began.wait()
                state.slots = None
        finally:
            del self._queues[queue]
        # Something may have come in while the last page was loaded.
        self.wake()

    async def _lease_page(self, queue: InquiryQueue) -> list[PendingInquiry]:
        now = self._clock.now()
        until = to_micros(now + LEASE)
        async with self._database.read(inquiries.SCOPE) as tx:
            due = await inquiries.list_due(tx, queue, to_micros(now), limits.INQUIRY_PAGE_ROWS)
            await self._vault.load_keys_of(tx, [one.inquiry for one in due])
        leased = await self._write(lambda tx: inquiries.lease(tx, due, until)) if due else []
        return [open_inquiry(self._vault, one) for one in leased]

    # ---- shared by all ---------------------------------------------------------------

    async def _write(self, job: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        return await self._database.write(inquiries.SCOPE, job, actor=self._actor)

    def _create_task(self, work: Coroutine[Any, Any, None]) -> None:
        if self._stopped:
            work.close()
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    def _task_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            log.warning("inquiry task failed", fault=fault_code(fault), places=fault_frames(fault))


@dataclass(slots=True)
class _QueueState:
    """The state of the task that starts queued inquiries to one payer."""

    all_began: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while every inquiry of the page is being sent, or was."""
    waiting: int = 0
    """How many inquiries of the page wait for a free slot."""
    slots: asyncio.Semaphore | None = None
    """The slots that they wait for; None while the next page is being loaded."""

    def expect(self, count: int, slots: asyncio.Semaphore) -> None:
        """Begin a page of inquiries."""
        self.waiting, self.slots = count, slots
        self.all_began.clear()

    def begin(self) -> None:
        """Count an inquiry that has its slot."""
        self.waiting -= 1
        if not self.waiting:
            self.all_began.set()

    @property
    def is_sending(self) -> bool:
        """Whether something is about to be sent."""
        return self.slots is None or (self.waiting > 0 and not self.slots.locked())


class StoredAs(Enum):
    """What became of a result."""

    ANSWER = "answer"
    """It ends its inquiry."""
    FOLLOWED = "followed"
    """It settles nothing: another inquiry of its request follows."""
    REPEATED = "repeated"
    """There was one before: it is not stored with the inquiry, only what it states about a claim is recorded."""


async def store_result(
    database: Database,
    vault: Vault,
    pending: PendingInquiry,
    result: AnyResult,
    now: datetime,
    actor: Actor,
    answer_days: AnswerDays,
    *,
    inbox_id: int | None = None,
    make_leaf: LeafMaker | None = None,
) -> StoredAs:
    """Store the result of an inquiry, with what follows from it or the inquiry that follows it.

    ``make_leaf`` makes the leaf of an answer in a file. One in real time is stated by its own moment.
    """
    await vault.ensure_key(pending.scope)
    transaction = pending.transaction
    content = encode_result(result)
    kind = result.error.kind if result.error else transaction.answer_set
    sealed = vault.seal(pending.scope, inquiries.RESPONSES, pending.trace, content)
    following = transaction.follow_up(pending.inquiry, result)
    new = NewResult(
        result=result,
        now=now,
        answer_days=answer_days,
        inbox_id=inbox_id,
        make_leaf=make_leaf or partial(answer_leaf, to_micros(now)),
    )

    async def job(tx: Tx) -> StoredAs:
        if not await inquiries.record_answer(
            tx, pending.inquiry_request_id, pending.number, kind, to_micros(now), sealed
        ):
            if following is None:
                await transaction.record_later(tx, vault, pending, new)
            return StoredAs.REPEATED
        if following is None:
            await transaction.record(tx, vault, pending, new)
            return StoredAs.ANSWER
        number = await inquiries.next_number(tx, pending.inquiry_request_id)
        key = trace(pending.inquiry_request_id, number)
        content = transaction.payload.encode(following)
        await inquiries.add_following(
            tx,
            pending.inquiry_request_id,
            pending.number,
            NewFollowing(
                number=number,
                next_at=to_micros(now),
                inquiry=vault.seal(pending.scope, inquiries.INQUIRIES, key, content),
            ),
        )
        return StoredAs.FOLLOWED

    return await database.write(inquiries.SCOPE, job, actor=actor)


def open_inquiry(vault: Vault, stored: StoredInquiry) -> PendingInquiry:
    """Open a stored inquiry."""
    scope = Scope(VendorId(stored.vendor_id), SiteId(stored.site_id))
    content = vault.open(scope, inquiries.INQUIRIES, stored.trace, stored.inquiry)
    transaction = TRANSACTIONS[stored.transaction_set]
    return PendingInquiry(
        transaction=transaction,
        scope=scope,
        inquiry_request_id=stored.inquiry_request_id,
        request_number=stored.request_number,
        number=stored.number,
        attempts=stored.attempts,
        created_at=stored.created_at,
        payer_type=stored.type,
        payer_id=stored.payer_id,
        inquiry=transaction.payload.decode(content),
    )


def retry_seconds(attempts: int) -> int:
    """Return how long to pause after a number of attempts: it doubles up to a maximum."""
    doublings = min(max(attempts, 1) - 1, INQUIRY_LATE_RETRY_SECONDS_MAX.bit_length())
    return min(
        INQUIRY_LATE_RETRY_SECONDS_FIRST << doublings,
        INQUIRY_LATE_RETRY_SECONDS_MAX,
    )


def _log_failure(pending: PendingInquiry, fault: BaseException) -> None:
    log.warning(
        "inquiry not sent",
        request=pending.inquiry_request_id,
        number=pending.number,
        payer=pending.payer_id,
        fault=fault_code(fault),
        places=fault_frames(fault),
    )
