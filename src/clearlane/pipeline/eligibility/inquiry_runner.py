"""Asking: every question that is open, in the hands of this node.

    asking.begin(request_id, count, front)   # a person waits: at once, beside everything else
    asking.wake()                            # large documents and the unanswered tail: as far as each payer's cap allows

An answer is kept, and only then told to who waits. Questions are rows; whoever asks holds a lease on them, so those
of a node that died are asked again by another. Nothing here depends on the call that brought a question: it may go
away. Knows lanes and leases; what is asked and heard is decided elsewhere.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

import structlog

from clearlane.connect.realtime_routes import Questions
from clearlane.eligibility import model
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, micros, moment
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.kernel.tasks import end_all
from clearlane.pipeline.eligibility.pending_calls import Waiters
from clearlane.pipeline.eligibility.realtime_inquiry import (
    LOST,
    NO_WAY,
    Ended,
    Later,
    Question,
    Told,
    ask,
    unreached,
)
from clearlane.store import eligibility as store
from clearlane.store.database import Actor, Database, StoreFault, Tx
from clearlane.store.eligibility import Asked, Queue
from clearlane.store.vault import Vault

log = structlog.get_logger()

T = TypeVar("T")

LEASE = timedelta(seconds=limits.ELIGIBILITY_LEASE_SECONDS)
WAIT = timedelta(seconds=limits.ELIGIBILITY_WAIT_SECONDS_MAX)
ASKED = timedelta(hours=limits.ELIGIBILITY_ASKED_HOURS_MAX)
LANES = frozenset({store.FRONT, store.BATCH})
"""What is asked here; the third lane goes out in files."""


def nobody(_: datetime) -> int:
    """Payers that are real do not sleep by our clock."""
    return 0


class Asking:
    """The open questions of one node."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        clock: Clock,
        questions: Callable[[], Questions],
        *,
        node: str,
        asleep: Callable[[datetime], int] = nobody,
    ) -> None:
        """``asleep`` says how many payers of a sandbox wait for a moment that has not come."""
        self.waiters = Waiters(database, clock)
        self._database = database
        self._vault = vault
        self._clock = clock
        self._questions = questions
        self._asleep = asleep
        self._actor = Actor("node", node)
        self._held: dict[tuple[int, int], datetime | None] = {}
        """What is in our hands, and until when it rests there."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._lanes: dict[Queue, _Lane] = {}
        self._due = asyncio.Event()
        self._looking = False
        self._stopped = False

    def begin(self, request_id: int, count: int, front: Sequence[Question]) -> None:
        """Ask what a stored request asks: those for the front at once, the others in their turn."""
        self.waiters.expect(request_id, count)
        for question in front:
            self._held[question.key] = None
            self._begin(self._front(question))
        if len(front) < count:
            self.wake()

    def reaches(self, type: str, payer_id: str) -> bool:
        """Whether a payer can be asked."""
        return bool(self._questions().ways(type, payer_id))

    def wake(self) -> None:
        """Look for questions that are due."""
        self._due.set()
        if not self._looking:
            self._looking = True
            self._begin(self._look())

    async def busy(self, now: datetime) -> bool:
        """Whether a question is due, or in our hands and not waiting for a later moment."""
        self.wake()
        resting = sum(until is not None and until > now for until in self._held.values())
        if len(self._held) > resting + self._asleep(now):
            return True
        if any(lane.moves for lane in self._lanes.values()):
            return True
        async with self._database.read(store.SCOPE) as tx:
            queues = await store.due_queues(tx, micros(now))
        return any(queue.lane in LANES for queue in queues)

    def retire(self, questions: Questions) -> None:
        """Let go of ways that were replaced, when nobody can be using them any more."""

        async def close() -> None:
            try:
                await asyncio.sleep(limits.REALTIME_SECONDS_MAX)
            finally:
                await questions.close()

        self._begin(close())

    async def stop(self) -> None:
        """Ask nobody any more. What is in our hands comes free for others, and for our next start."""
        self._stopped = True
        held = list(self._held)
        tasks = list(self._tasks)
        await end_all(tasks)
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.waiters.close()
        await self._questions().close()
        if held:
            now = micros(self._clock.now())
            await self._write(lambda tx: store.put_back(tx, held, now))

    # ---- one question ------------------------------------------------------------------------

    async def _front(self, question: Question) -> None:
        """Ask while the call waits; what is not answered by then is left to the tail."""
        end = moment(question.created_at) + WAIT
        pauses = iter(limits.ELIGIBILITY_AGAIN_SECONDS)
        try:
            while True:
                told = await self._ask(question)
                pause = next(pauses, None) if isinstance(told, Later) and told.soon else None
                again = None if pause is None else self._clock.now() + timedelta(seconds=pause)
                if again is None or again >= end:
                    await self._note(question, told)
                    return
                self._held[question.key] = again
                await self._clock.wait_until(again)
                self._held[question.key] = None
                question = replace(question, attempts=question.attempts + 1)
        except (StoreFault, TimeoutError) as fault:
            _tell(question, fault)  # the lease runs out, and it is asked again
        finally:
            del self._held[question.key]

    async def _once(self, question: Question) -> None:
        """Ask once."""
        if question.key in self._held:
            return
        self._held[question.key] = None
        try:
            await self._note(question, await self._ask(question))
        except (StoreFault, TimeoutError) as fault:
            _tell(question, fault)
        finally:
            del self._held[question.key]

    async def _ask(self, question: Question) -> Told:
        ways = self._questions().ways(question.inquiry.payer_type, question.payer_id)
        if not ways:
            return Later(unreached(question, NO_WAY), soon=False)
        way = ways[(question.attempts - 1) % len(ways)]
        try:
            return await ask(way, question, self._clock.now())
        except Exception as fault:  # noqa: BLE001  (one payer's cable must not stop the others)
            _tell(question, fault)
            return Later(unreached(question, LOST), soon=False)

    async def _note(self, question: Question, told: Told) -> None:
        """Keep an answer, or let the question rest."""
        now = self._clock.now()
        if isinstance(told, Ended):
            await self.keep(question, told)
        elif now - moment(question.created_at) >= ASKED:
            await self.keep(question, told.last)
        else:
            next_at = micros(now + timedelta(seconds=rest_seconds(question.attempts)))
            await self._write(lambda tx: store.put_back(tx, [question.key], next_at))

    async def keep(self, question: Question, end: Ended) -> bool:
        """Store an answer, and then tell who waits; False where there was one before."""
        now = self._clock.now()
        first = await keep(self._database, self._vault, question, end, now, self._actor)
        if first:
            self.waiters.answered(question.request_id)
        return first

    # ---- large documents and the tail --------------------------------------------------------

    async def _look(self) -> None:
        """Begin with every payer that something is due for."""
        try:
            while self._due.is_set():
                self._due.clear()
                async with self._database.read(store.SCOPE) as tx:
                    queues = await store.due_queues(tx, micros(self._clock.now()))
                for queue in queues:
                    if queue.lane in LANES and queue not in self._lanes:
                        self._lanes[queue] = _Lane()
                        self._begin(self._clear(queue, self._lanes[queue]))
        finally:
            self._looking = False

    async def _clear(self, queue: Queue, lane: "_Lane") -> None:
        """Ask everything that is due for one payer, a page at a time."""

        async def one(question: Question) -> None:
            async with lane.places:
                lane.waiting -= 1
                await self._once(question)

        try:
            while questions := await self._take(queue):
                lane.waiting, lane.looks = len(questions), False
                await asyncio.gather(*map(one, questions))
                lane.looks = True
        finally:
            del self._lanes[queue]
        # What came in while the last page was looked for.
        self.wake()

    async def _take(self, queue: Queue) -> list[Question]:
        now = self._clock.now()
        until = micros(now + LEASE)
        async with self._database.read(store.SCOPE) as tx:
            due = await store.due(tx, queue, micros(now), limits.ELIGIBILITY_PAGE_ROWS)
            await self._vault.fetch(tx, [one.inquiry for one in due])
        taken = await self._write(lambda tx: store.take(tx, due, until)) if due else []
        return [opened(self._vault, one) for one in taken]

    # ---- what all of them need ---------------------------------------------------------------

    async def _write(self, job: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        return await self._database.write(store.SCOPE, job, actor=self._actor)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        if self._stopped:
            work.close()
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            log.warning("asking failed", fault=fault_code(fault), places=fault_frames(fault))


@dataclass(slots=True)
class _Lane:
    """The questions to one payer that are being asked in their turn."""

    places: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(limits.ELIGIBILITY_PAYER_AT_ONCE)
    )
    waiting: int = 0
    """How many of the page wait for a place."""
    looks: bool = True
    """Whether the next page is being taken."""

    @property
    def moves(self) -> bool:
        """Whether something is about to be asked."""
        return self.looks or (self.waiting > 0 and not self.places.locked())


async def keep(
    database: Database, vault: Vault, question: Question, end: Ended, now: datetime, actor: Actor
) -> bool:
    """Store an answer; False where there was one before."""
    await vault.ready(question.scope)
    sealed = vault.seal(question.scope, store.RESPONSES, question.trace, end.kept.encoded())

    async def job(tx: Tx) -> bool:
        return await store.answered(
            tx, question.request_id, question.number, end.kind, micros(now), sealed
        )

    return await database.write(store.SCOPE, job, actor=actor)


def opened(vault: Vault, asked: Asked) -> Question:
    """A stored inquiry as a question."""
    scope = Scope(VendorId(asked.vendor_id), SiteId(asked.site_id))
    content = vault.open(scope, store.INQUIRIES, asked.trace, asked.inquiry)
    return Question(
        scope=scope,
        request_id=asked.request_id,
        number=asked.number,
        attempts=asked.attempts,
        created_at=asked.created_at,
        payer_id=asked.payer_id,
        inquiry=model.restore(content),
    )


def rest_seconds(attempts: int) -> int:
    """How long a question rests after so many attempts."""
    doublings = min(max(attempts, 1) - 1, limits.ELIGIBILITY_LATER_SECONDS_MAX.bit_length())
    return min(
        limits.ELIGIBILITY_LATER_SECONDS_FIRST << doublings, limits.ELIGIBILITY_LATER_SECONDS_MAX
    )


def _tell(question: Question, fault: BaseException) -> None:
    log.warning(
        "question not asked",
        request=question.request_id,
        number=question.number,
        fault=fault_code(fault),
        places=fault_frames(fault),
    )
