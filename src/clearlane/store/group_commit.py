"""Many writes, one commit: the group, its jobs, and what a job may do.

Knows nothing of a driver: a session (one connection) begins, marks, undoes and commits. The same
coroutine runs a group on both databases; on SQLite the writer thread drives it by hand.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, micros
from clearlane.kernel.ids import Scope
from clearlane.store import audit_chain
from clearlane.store.sql import Statement, System

T = TypeVar("T")
Row = tuple[Any, ...]


class StoreFault(Exception):
    """What the database could not do. No text of this tree ever holds a value of a row."""


class Refused(StoreFault):
    """The database or its set-up is not one we may work with. The text says what would pass."""


class Conflict(StoreFault):
    """A constraint of the schema forbids the row. ``constraint`` names it."""

    def __init__(self, constraint: str) -> None:
        super().__init__(f"the constraint {constraint} forbids this row")
        self.constraint = constraint


class Unavailable(StoreFault):
    """The database did not answer; nothing of the write was stored."""


class OutcomeUnknown(Unavailable):
    """The connection was lost during the commit: the write is stored as a whole, or not at all."""


class Contended(StoreFault):
    """Two writes waited for each other; the job is tried again."""


class StatementFailed(StoreFault):
    """A statement and its values do not fit: a mistake of ours."""


class ForeignAwait(Exception):
    """A job awaited something other than its transaction."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, for the audit trail."""

    kind: str
    """``vendor``, ``operator``, ``node`` or ``console``."""
    name: str
    request_id: str = ""


class Tx(Protocol):
    """One transaction. On client statements the owner is filled in from the scope."""

    async def run(self, statement: Statement, /, **values: object) -> int:
        """Execute, and say how many rows were touched."""

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        """Execute once for each row of values."""

    async def rows(self, statement: Statement, /, **values: object) -> list[Row]:
        """Execute, and fetch every row."""

    async def row(self, statement: Statement, /, **values: object) -> Row | None:
        """Execute, and fetch the first row."""

    def audit(
        self,
        action: str,
        /,
        *,
        ids: Sequence[str] = (),
        count: int | None = None,
        detail: str = "",
    ) -> None:
        """Add one row to the audit trail, chained when the group commits."""


Job = Callable[[Tx], Awaitable[T]]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Together(Generic[Item, T]):
    """A job that runs once for all of its like in a group: many small writes cost as one large one.

    ``run`` takes what each of them brings, with a view of the one transaction for each: any of them
    executes, and each notes its own audit lines. It gives one result for each, in order. Where it
    fails, each is run alone, so that a fault meets its own caller only.
    """

    run: Callable[[Sequence[Tx], Sequence[Item]], Awaitable[Sequence[T]]]
    item: Item

    async def __call__(self, tx: Tx) -> T:
        (result,) = await self.run([tx], [self.item])
        return result


@dataclass(slots=True, eq=False)
class Entry:
    """One write waiting for its group."""

    scope: Scope | System
    actor: Actor
    job: Job[Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"
    outcome: "Outcome | None" = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an entry ended: with a result or with a fault."""

    entry: Entry
    result: Any = None
    fault: BaseException | None = None

    def tell(self) -> None:
        """Let the caller know, unless it has gone away. Runs in the caller's loop."""
        self.entry.outcome = self
        future = self.entry.future
        if future.done():
            return
        if self.fault is None:
            future.set_result(self.result)
        else:
            future.set_exception(self.fault)


class Waiting:
    """The writes that no group has taken yet. Safe between the loop and a writer thread."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque()
        self.changed = threading.Condition()
        self.closed = False

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, entry: Entry) -> None:
        """Queue a write, unless too many wait or the database is closing."""
        with self.changed:
            if self.closed:
                raise Unavailable("the database is closed")
            if len(self._entries) >= limits.WRITES_WAITING_MAX:
                raise Unavailable("too many writes are waiting")
            self._entries.append(entry)
        # Not at once: what other calls of this turn of the loop write goes into the same group, and
        # the two threads hand the interpreter to and fro less often.
        entry.loop.call_soon(self._wake)

    def _wake(self) -> None:
        with self.changed:
            self.changed.notify()

    def take(self) -> list[Entry]:
        """The next group. From here on its entries can no longer be withdrawn."""
        with self.changed:
            size = min(len(self._entries), limits.GROUP_JOBS_MAX)
            return [self._entries.popleft() for _ in range(size)]

    def withdraw(self, entry: Entry) -> bool:
        """Take a write back; False when a group already has it."""
        with self.changed:
            try:
                self._entries.remove(entry)
            except ValueError:
                return False
            return True

    def close(self) -> None:
        """Let no more writes in."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()


async def submit(waiting: Waiting, entry: Entry) -> Any:
    """Queue a write and wait for the durable commit.

    A caller that gives up while its write waits withdraws it: nothing is stored. Once a group has
    taken it the outcome is the answer, so that "given up" never hides a stored row.
    """
    waiting.put(entry)
    try:
        return await entry.future
    except asyncio.CancelledError:
        if not entry.future.cancelled():
            return entry.future.result()
        if entry.outcome is None and waiting.withdraw(entry):
            raise
        # Giving up has ended the future, and the group needs one to tell. It may have told already.
        entry.future = entry.loop.create_future()
        if entry.outcome is not None:
            entry.outcome.tell()
        return await asyncio.shield(entry.future)


class Session(Protocol):
    """One connection that writes groups."""

    async def enter(self, scope: Scope | System) -> None:
        """Mark the place a job can be undone to, and let it see its own vendor's rows only."""

    async def undo(self) -> None:
        """Undo everything since the mark."""

    async def commit(self) -> None: ...
    async def rollback(self) -> None: ...
    def broken(self) -> bool:
        """Whether the transaction is gone, so that no job of the group can be saved."""

    def tx(self, scope: Scope | System, lines: "Lines | None") -> Tx: ...


@dataclass(slots=True)
class Lines:
    """The audit lines of one job, and what they have in common."""

    scope: Scope | System
    actor: Actor
    clock: Clock
    found: list[audit_chain.Line] = field(default_factory=list)

    def add(self, action: str, ids: Sequence[str], count: int | None, detail: str) -> None:
        """Note one line."""
        owner = self.scope if isinstance(self.scope, Scope) else None
        self.found.append(
            audit_chain.Line(
                at=micros(self.clock.now()),
                vendor_id=owner.vendor if owner else None,
                site_id=owner.site if owner else None,
                actor=f"{self.actor.kind}:{self.actor.name}",
                action=action,
                request_id=self.actor.request_id,
                ids=audit_chain.line_ids(ids),
                count=len(ids) if count is None else count,
                detail=detail[: limits.AUDIT_DETAIL_CHARACTERS_MAX],
            )
        )


Ended = tuple[Outcome, list[audit_chain.Line]]


@dataclass(slots=True)
class Group:
    """What the writers of one database share."""

    clock: Clock
    audit_key: bytes | None = None

    async def write(
        self, session: Session, entries: Sequence[Entry]
    ) -> tuple[list[Outcome], audit_chain.Head | None]:
        """Run every job, chain the audit lines, commit once.

        When this raises, nothing of the group was stored, unless it raises
        :class:`OutcomeUnknown`.
        """
        ended: list[Ended] = []
        for alike in _alike(entries):
            ended += await self._attempt_all(session, alike)
        outcomes = [outcome for outcome, _ in ended]
        lines = [line for _, noted in ended for line in noted]
        head = None
        if lines:
            if self.audit_key is None:
                raise StatementFailed("the audit key is not loaded yet")
            head = await audit_chain.extend(
                session.tx(System("audit"), None), self.audit_key, lines
            )
        await session.commit()
        return outcomes, head

    async def _attempt_all(self, session: Session, entries: Sequence[Entry]) -> list[Ended]:
        """Run jobs of one kind and scope together in one savepoint, or each in its own."""
        jobs = [entry.job for entry in entries if isinstance(entry.job, Together)]
        if len(jobs) < 2:
            return [await self._attempt(session, entry) for entry in entries]
        scope = entries[0].scope
        noted = [Lines(scope, entry.actor, self.clock) for entry in entries]
        await session.enter(scope)
        try:
            txs = [session.tx(scope, lines) for lines in noted]
            results = await jobs[0].run(txs, [job.item for job in jobs])
        except Exception:
            if session.broken():
                raise
            await session.undo()
            return [await self._attempt(session, entry) for entry in entries]
        return [
            (Outcome(entry, result), lines.found)
            for entry, result, lines in zip(entries, results, noted, strict=True)
        ]

    async def _attempt(self, session: Session, entry: Entry) -> Ended:
        """Run one job in its own savepoint; a contended one is tried again."""
        for attempt in range(1, limits.WRITE_ATTEMPTS_MAX + 1):
            lines = Lines(entry.scope, entry.actor, self.clock)
            await session.enter(entry.scope)
            try:
                result = await entry.job(session.tx(entry.scope, lines))
            except Exception as fault:  # whatever a job raises belongs to its caller
                if session.broken():
                    raise
                await session.undo()
                if not isinstance(fault, Contended) or attempt == limits.WRITE_ATTEMPTS_MAX:
                    return Outcome(entry, fault=fault), []
            else:
                return Outcome(entry, result), lines.found
        raise AssertionError("the last attempt returns")


def _alike(entries: Sequence[Entry]) -> Iterable[list[Entry]]:
    """The entries, those that can run together side by side. Writes that wait together have no order."""
    found: dict[object, list[Entry]] = {}
    for entry in entries:
        job = entry.job
        key = (entry.scope, job.run) if isinstance(job, Together) else entry
        found.setdefault(key, []).append(entry)
    return found.values()


def failed(entries: Sequence[Entry], fault: Exception) -> list[Outcome]:
    """The outcomes of a group that could not be stored."""
    unknown = isinstance(fault, OutcomeUnknown)
    text = str(fault) if isinstance(fault, StoreFault) else type(fault).__name__
    kind = OutcomeUnknown if unknown else Unavailable
    return [Outcome(entry, fault=kind(text)) for entry in entries]
