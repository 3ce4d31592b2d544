"""Group commit: jobs of many callers in one transaction, and what a job may do.

Knows no driver: a write connection sets savepoints, undoes and commits. The same coroutine runs a
group on both databases; on SQLite the writer thread steps it by hand.
"""

import asyncio
import contextlib
import math
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clearlane.events.event import EventActor, NewEvent
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, to_micros
from clearlane.kernel.durations import Durations
from clearlane.kernel.ids import Scope
from clearlane.store.audit import audit_chain
from clearlane.store.database.sql import AnyScope, Statement, StatementTx, SystemScope
from clearlane.store.events import event_log

GROUP_JOBS_MAX = 256
WRITES_WAITING_MAX = 20_000
WRITE_ATTEMPTS_MAX = 3
OTHERS_WRITES = 4
"""Fewer writes of another process within a while are those of an idle node."""
ORIGIN_SEPARATOR = "; "
# Who caused an event, by the kind of the actor of a write; a node acts for the installation.
EVENT_ACTORS = {
    "vendor": EventActor.VENDOR,
    "operator": EventActor.PERSON,
    "console": EventActor.PERSON,
}

T = TypeVar("T")
AnyResult: TypeAlias = (
    Any  # Any: jobs of many callers wait in one queue, each with a result of its own type
)


class StoreFault(Exception):
    """A failure of the database. No text of this exception tree ever holds a value of a row."""


class OperationRefused(StoreFault):
    """A request that the database's state or set-up forbids. The text says what would be accepted."""


class ConstraintViolation(StoreFault):
    """A row that a constraint of the schema forbids. ``constraint`` names it."""

    def __init__(self, constraint: str) -> None:
        super().__init__(f"the constraint {constraint} forbids this row")
        self.constraint = constraint


class DatabaseUnavailable(StoreFault):
    """A database that did not answer; no part of the write was stored."""


class DiskFull(DatabaseUnavailable):
    """A disk without space for a write; no part of it was stored."""


class CommitOutcomeUnknown(DatabaseUnavailable):
    """A connection lost during the commit: the write is stored as a whole, or not at all."""


class LockContention(StoreFault):
    """A deadlock or serialization failure; the job is tried again."""


TEMPORARY_FAULTS = (DatabaseUnavailable, LockContention, TimeoutError)
"""The database is down or busy: all work waits. Any other fault is of the row or the statement, and comes again."""


class StatementFault(StoreFault):
    """A statement that does not fit its values: a programming error."""


class MissingRow(StoreFault):
    """A row that others refer to is not there: the data are damaged or were restored in part."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the database does not hold {what}, to which other rows refer")


def require_row(found: T | None, what: str) -> T:
    """Return what was found; raise :class:`MissingRow` if it is not there."""
    if found is None:
        raise MissingRow(what)
    return found


class ForeignAwait(Exception):
    """An await of a job on something other than its transaction."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or program that acts, for the audit trail."""

    kind: str
    """``vendor``, ``operator``, ``node`` or ``console``; ``unknown`` for one who could not sign in."""
    name: str
    request_id: str = ""
    address: str = ""
    """Where a caller of the API or the console comes from."""
    api_key: str = ""
    """The id of the API key that the caller used, if it used one."""


class Tx(StatementTx, Protocol):
    """One transaction of a caller."""

    def audit(
        self,
        action: str,
        /,
        *,
        ids: Sequence[str] = (),
        count: int | None = None,
        detail: str = "",
    ) -> None:
        """Add one entry to the audit trail, chained when the group commits."""

    def add_events(self, events: Sequence[NewEvent], /) -> None:
        """Add events, numbered when the group commits. An event without an actor has the one of the write."""


class ReadOnlyTx:
    """What a read transaction refuses, on either database."""

    async def run(self, statement: Statement, /, **values: object) -> int:
        raise StatementFault("a read changes nothing; use write")

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        raise StatementFault("a read changes nothing; use write")

    def audit(
        self, action: str, /, *, ids: Sequence[str] = (), count: int | None = None, detail: str = ""
    ) -> None:
        raise StatementFault("a read that is audited runs inside write")

    def add_events(self, events: Sequence[NewEvent], /) -> None:
        raise StatementFault("a read has no events; use write")


async def find_row(
    tx: Tx, make: Callable[..., T], statement: Statement, /, **values: object
) -> T | None:
    """Execute, and return what is made of the first row; None if there is no row."""
    row = await tx.row(statement, **values)
    return None if row is None else make(*row)


async def list_rows(
    tx: Tx, make: Callable[..., T], statement: Statement, /, **values: object
) -> list[T]:
    """Execute, and return what is made of each row."""
    return [make(*row) for row in await tx.rows(statement, **values)]


Job = Callable[[Tx], Awaitable[T]]
JobExtension = Callable[[Job[T]], Job[T]]
"""What a caller adds to the transaction of a verb, such as the answer that is stored with a change."""
Item = TypeVar("Item")


def unextended(job: Job[T]) -> Job[T]:
    """Return a job as it is."""
    return job


@dataclass(frozen=True, slots=True)
class CombinedJob(Generic[Item, T]):
    """A job that runs once for all of its kind in a group: many small writes cost as much as a large one.

    ``run`` takes the items of all callers, and for each a view of the one transaction: any of these
    executes statements, and each collects the audit entries of its caller. It returns one result for
    each, in order. If it fails, each is run alone, so that a fault reaches its own caller only.
    """

    run: Callable[[Sequence[Tx], Sequence[Item]], Awaitable[Sequence[T]]]
    item: Item

    async def __call__(self, tx: Tx) -> T:
        (result,) = await self.run([tx], [self.item])
        return result


@dataclass(slots=True, eq=False)
class PendingWrite:
    """One write that waits for its group."""

    scope: AnyScope
    actor: Actor
    job: Job[AnyResult]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[AnyResult]"
    outcome: "WriteResult | None" = None
    since: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result or the fault of a write."""

    write: PendingWrite
    result: AnyResult = None
    fault: BaseException | None = None

    def resolve(self) -> None:
        """Resolve the caller's future, unless it has gone away. Runs in the caller's loop."""
        self.write.outcome = self
        future = self.write.future
        if future.done():
            return
        if self.fault is None:
            future.set_result(self.result)
        else:
            future.set_exception(self.fault)


@dataclass(frozen=True, slots=True)
class StoreWaits:
    """How long this process waits for its database."""

    writes_waiting: int
    """Writes that no group has taken yet."""
    oldest_write_seconds: float
    """How long the first of them has waited."""
    write_seconds: Durations
    """From a write's start to its durable commit."""
    read_seconds: Durations
    """From a read's start until it has a connection."""
    seconds_alone: float = math.inf
    """How long ago the fourth last of the writes of other processes was that this one has seen in an SQLite file."""


class WriteQueue:
    """The writes that no group has taken yet. Thread-safe, between the loop and a writer thread."""

    def __init__(self) -> None:
        self._writes: deque[PendingWrite] = deque()
        self.write_seconds = Durations()
        self.read_seconds = Durations()
        self.others_wrote_at: deque[float] = deque(maxlen=OTHERS_WRITES)
        """When writes found that another process had written since the one before."""
        self.changed = threading.Condition()
        self.closed = False

    def __len__(self) -> int:
        return len(self._writes)

    @property
    def waits(self) -> StoreWaits:
        """What waits now, and how long writes and reads have waited."""
        with self.changed:
            count = len(self._writes)
            oldest = time.monotonic() - self._writes[0].since if count else 0.0
            seen = list(self.others_wrote_at)
        alone = time.monotonic() - seen[0] if len(seen) == OTHERS_WRITES else math.inf
        return StoreWaits(count, oldest, self.write_seconds, self.read_seconds, alone)

    def put(self, write: PendingWrite) -> None:
        """Queue a write, unless too many wait or the database is closing."""
        with self.changed:
            if self.closed:
                raise DatabaseUnavailable("the database is closed")
            if len(self._writes) >= WRITES_WAITING_MAX:
                raise DatabaseUnavailable("too many writes are waiting")
            self._writes.append(write)
        # Not at once: writes of other calls in this iteration of the loop join the same group, and
        # the two threads hand the interpreter lock back and forth less often.
        write.loop.call_soon(self._wake)

    def _wake(self) -> None:
        with self.changed:
            self.changed.notify()

    def take(self) -> list[PendingWrite]:
        """Remove and return the next group. From here on its writes can no longer be withdrawn."""
        with self.changed:
            size = min(len(self._writes), GROUP_JOBS_MAX)
            return [self._writes.popleft() for _ in range(size)]

    def withdraw(self, write: PendingWrite) -> bool:
        """Take a write back; return False when a group already has it."""
        with self.changed:
            try:
                self._writes.remove(write)
            except ValueError:
                return False
            return True

    def close(self) -> None:
        """Accept no more writes."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()


async def submit(queue: WriteQueue, write: PendingWrite) -> AnyResult:
    """Queue a write, wait for the durable commit, and count how long that took.

    A caller that gives up while its write waits withdraws it: nothing is stored. Once a group has
    taken it the outcome is the answer, so that "given up" never hides a stored row.
    """
    try:
        return await _wait_for_commit(queue, write)
    finally:
        write.outcome = None  # it refers to the write: both are freed now, with the rows of the job
        queue.write_seconds.count(time.monotonic() - write.since)


async def _wait_for_commit(queue: WriteQueue, write: PendingWrite) -> AnyResult:
    queue.put(write)
    try:
        return await write.future
    except asyncio.CancelledError:
        if not write.future.cancelled():
            return write.future.result()
        if write.outcome is None and queue.withdraw(write):
            raise
        # Giving up has ended the future, and the group needs one to resolve, unless it has done so already.
        write.future = write.loop.create_future()
        if write.outcome is not None:
            write.outcome.resolve()
        return await asyncio.shield(write.future)


class WriteConnection(Protocol):
    """A connection that writes groups."""

    async def begin_job(self, scope: AnyScope) -> None:
        """Set a savepoint for a job, and let it see its own vendor's rows only."""

    async def undo_job(self) -> None:
        """Roll back to the savepoint."""

    async def commit(self) -> None: ...
    async def rollback(self) -> None: ...
    def is_broken(self) -> bool:
        """Return whether the transaction is gone, so that no job of the group can be saved."""

    def transaction(self, scope: AnyScope, audit: "AuditBuffer | None") -> Tx:
        """Return the open transaction, seen by a job of this scope."""


@dataclass(slots=True)
class AuditBuffer:
    """The audit entries and events of one job until its group commits."""

    scope: AnyScope
    actor: Actor
    clock: Clock
    entries: list[audit_chain.AuditEntry] = field(default_factory=list)
    events: list[tuple[NewEvent, str]] = field(default_factory=list)
    """Each with its actor."""

    def add_events(self, events: Sequence[NewEvent]) -> None:
        """Add events."""
        own = EVENT_ACTORS.get(self.actor.kind, EventActor.SYSTEM)
        self.events += [
            (
                event if event.at else event._replace(at=to_micros(self.clock.now())),
                (event.actor or own).value,
            )
            for event in events
        ]

    def add(self, action: str, ids: Sequence[str], count: int | None, detail: str) -> None:
        """Add one entry."""
        owner = None if isinstance(self.scope, SystemScope) else self.scope
        # Key and address have no columns of their own: rows of all versions are chained over the same columns.
        key = f"API key {self.actor.api_key}" if self.actor.api_key else ""
        address = f"from {self.actor.address}" if self.actor.address else ""
        origin = ORIGIN_SEPARATOR.join(filter(None, (key, address)))
        space = limits.AUDIT_DETAIL_CHARACTERS_MAX - len(origin) - len(ORIGIN_SEPARATOR)
        shown = ORIGIN_SEPARATOR.join(filter(None, (detail[:space], origin)))
        self.entries.append(
            audit_chain.AuditEntry(
                at=to_micros(self.clock.now()),
                vendor_id=owner.vendor if owner else None,
                site_id=owner.site if isinstance(owner, Scope) else None,
                actor=f"{self.actor.kind}:{self.actor.name}",
                action=action,
                request_id=self.actor.request_id,
                ids=audit_chain.encode_ids(ids),
                count=len(ids) if count is None else count,
                detail=shown,
            )
        )


_JobResult = tuple[WriteResult, AuditBuffer]


@dataclass(slots=True)
class GroupCommitter:
    """Runs the jobs of a group and commits them once, for all writers of one database."""

    clock: Clock
    audit_key: bytes | None = None
    events_committed: Callable[[], None] = lambda: None
    """Called after a commit with events, in the thread of the writer."""

    async def write(
        self, connection: WriteConnection, writes: Sequence[PendingWrite]
    ) -> tuple[list[WriteResult], audit_chain.ChainHead | None]:
        """Run every job, chain the audit entries, commit once.

        When this raises, no part of the group was stored, unless it raises
        :class:`CommitOutcomeUnknown`.
        """
        results: list[_JobResult] = []
        for combinable in _combinable(writes):
            results += await self._run_jobs(connection, combinable)
        outcomes = [outcome for outcome, _ in results]
        entries = [entry for _, of_job in results for entry in of_job.entries]
        events = [event for _, of_job in results for event in of_job.events]
        if events:
            # Before the heads are locked, which all nodes wait for: each call to the server counts from there on.
            await connection.begin_job(SystemScope("events"))
        head = None
        if entries:
            if self.audit_key is None:
                raise StatementFault("the audit key is not loaded yet")
            head = await audit_chain.append_entries(
                connection.transaction(SystemScope("audit"), None), self.audit_key, entries
            )
        if events:
            await self._append_events(connection, events)
        await connection.commit()
        if events:
            self.events_committed()
        return outcomes, head

    async def _append_events(
        self, connection: WriteConnection, events: Sequence[tuple[NewEvent, str]]
    ) -> None:
        """Number and store events after everything else, so that their numbers are locked for a short time."""
        now = to_micros(self.clock.now())
        tx = connection.transaction(SystemScope("events"), None)
        await event_log.append_events(tx, events, now)

    async def _run_jobs(
        self, connection: WriteConnection, writes: Sequence[PendingWrite]
    ) -> list[_JobResult]:
        """Run jobs of one kind and scope together in one savepoint, or each in its own."""
        jobs = [write.job for write in writes if isinstance(write.job, CombinedJob)]
        if len(jobs) < 2:
            return [await self._run_job(connection, write) for write in writes]
        scope = writes[0].scope
        buffers = [AuditBuffer(scope, write.actor, self.clock) for write in writes]
        await connection.begin_job(scope)
        try:
            txs = [connection.transaction(scope, buffer) for buffer in buffers]
            results = await jobs[0].run(txs, [job.item for job in jobs])
        except Exception:
            if connection.is_broken():
                raise
            await connection.undo_job()
            return [await self._run_job(connection, write) for write in writes]
        return [
            (WriteResult(write, result), buffer)
            for write, result, buffer in zip(writes, results, buffers, strict=True)
        ]

    async def _run_job(self, connection: WriteConnection, write: PendingWrite) -> _JobResult:
        """Run one job in its own savepoint, again if it met lock contention."""
        for attempt in range(1, WRITE_ATTEMPTS_MAX + 1):
            buffer = AuditBuffer(write.scope, write.actor, self.clock)
            await connection.begin_job(write.scope)
            try:
                result = await write.job(connection.transaction(write.scope, buffer))
            except Exception as fault:  # whatever a job raises belongs to its caller
                if connection.is_broken():
                    raise
                await connection.undo_job()
                if not isinstance(fault, LockContention) or attempt == WRITE_ATTEMPTS_MAX:
                    nothing = AuditBuffer(write.scope, write.actor, self.clock)
                    return WriteResult(write, fault=fault), nothing
            else:
                return WriteResult(write, result), buffer
        raise AssertionError("the last attempt returns")


def _combinable(writes: Sequence[PendingWrite]) -> Iterable[list[PendingWrite]]:
    """Collect the writes that can run together. Writes of one group have no order among them."""
    found: dict[object, list[PendingWrite]] = {}
    for write in writes:
        job = write.job
        key = (write.scope, job.run) if isinstance(job, CombinedJob) else write
        found.setdefault(key, []).append(write)
    return found.values()


def in_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> Callable[[], None]:
    """Return a function that lets a loop call another one, from any thread."""

    def ask() -> None:
        with contextlib.suppress(RuntimeError):  # that loop is closed: no one waits any more
            loop.call_soon_threadsafe(call)

    return ask


def write_fault(outcomes: Sequence[WriteResult], earlier: str) -> str:
    """Return why the database cannot be written, after a group: the earlier reason until a write succeeds."""
    for outcome in outcomes:
        if isinstance(outcome.fault, DatabaseUnavailable):
            return str(outcome.fault)
    return "" if any(outcome.fault is None for outcome in outcomes) else earlier


def failed_outcomes(writes: Sequence[PendingWrite], fault: Exception) -> list[WriteResult]:
    """Return the outcomes of a group that could not be stored."""
    unknown = isinstance(fault, CommitOutcomeUnknown)
    text = str(fault) if isinstance(fault, StoreFault) else type(fault).__name__
    kind = CommitOutcomeUnknown if unknown else DatabaseUnavailable
    if isinstance(fault, DiskFull):
        kind = DiskFull
    return [WriteResult(write, fault=kind(text)) for write in writes]
