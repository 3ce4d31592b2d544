"""PostgreSQL through asyncpg: a pool that reads, two connections that write in groups.

A transaction names the vendors whose rows it may touch, and row-level security enforces that; a login that bypasses it
works as another role. With a direct address beside the first, the first may lead through a pooler that keeps no sessions.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import TypeVar

import asyncpg

from clearlane.events.event import NewEvent
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, to_micros
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.store.audit import audit_chain
from clearlane.store.audit.anchor import Anchor, AnchorFault, note_for, save_note
from clearlane.store.database.change_signal import ChangeSignal
from clearlane.store.database.group_commit import (
    Actor,
    AuditBuffer,
    CommitOutcomeUnknown,
    ConstraintViolation,
    DatabaseUnavailable,
    GroupCommitter,
    Job,
    LockContention,
    OperationRefused,
    PendingWrite,
    ReadOnlyTx,
    StatementFault,
    StoreFault,
    StoreWaits,
    Tx,
    WriteQueue,
    failed_outcomes,
    in_loop,
    submit,
    write_fault,
)
from clearlane.store.database.postgresql_connection import (
    BAD_ADDRESS,
    DATABASE_CONNECT_SECONDS_MAX,
    DRIVER_ERRORS,
    OPTIONS,
    POOLED_OPTIONS,
    DriverConnection,
    connect,
    connect_pooled,
    connection_fault,
)
from clearlane.store.database.postgresql_partitions import make_partitions, partition_state
from clearlane.store.database.postgresql_rows import (
    BLOCK_ROWS,
    insert_text,
    replaced_key,
    update_text,
)
from clearlane.store.database.postgresql_session import (
    WRITER_SETTINGS,
    prepare_connection,
    require_same_database,
    transaction_settings,
)
from clearlane.store.database.postgresql_signal import ChannelSignal
from clearlane.store.database.schema import EVERYTHING, SITES_SETTING, VENDORS_SETTING
from clearlane.store.database.schema.partitions import PartitionState
from clearlane.store.database.sql import (
    AnyScope,
    Row,
    Statement,
    SystemScope,
)

POSTGRESQL_WRITERS = 2
UPDATED_TOGETHER_MIN = 4
"""From how many rows on one UPDATE changes them together."""

T = TypeVar("T")

DIALECT = "postgresql"


class PostgresqlDatabase:
    """The store on a PostgreSQL server."""

    dialect = DIALECT

    def __init__(self, url: str, connections: int, clock: Clock, direct_url: str = "") -> None:
        self._url = url
        self._direct_url = direct_url
        self._transaction_settings = ""
        """SQL with which each transaction begins behind a pooler."""
        self._connections = connections
        self._committer = GroupCommitter(clock)
        self._queue = WriteQueue()
        self._wake = asyncio.Event()
        self._pool: asyncpg.Pool | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.anchor: Anchor | None = None
        self._unanchored: audit_chain.ChainHead | None = None
        self._head_moved = asyncio.Event()
        self.anchor_fault = ""
        self.write_fault = ""
        self.reserve_warning = ""

    @property
    def waits(self) -> StoreWaits:
        """How long this process waits for connections and commits."""
        return self._queue.waits

    def keep_reserve(self) -> None:
        """Do nothing: the disk is the server's."""

    def require_space(self) -> None:
        """Do nothing: the server says when its disk is full."""

    async def open(self) -> None:
        """Connect, check the server, start the writers."""
        if self._direct_url:
            await require_same_database(self._url, self._direct_url)
        self._pool = asyncpg.create_pool(
            self._url,
            min_size=1,
            max_size=self._connections,
            init=self._prepare,
            reset=_no_reset,  # every transaction ends; no session state is left behind
            **(POOLED_OPTIONS if self._direct_url else OPTIONS),
        )
        try:
            await self._pool
        except BaseException as error:
            self._pool.terminate()
            if isinstance(error, ValueError):
                raise OperationRefused(BAD_ADDRESS) from None
            if isinstance(error, DRIVER_ERRORS):
                raise OperationRefused(
                    f"PostgreSQL cannot be reached: {connection_fault(error)}."
                ) from None
            raise
        for number in range(POSTGRESQL_WRITERS):
            self._tasks.append(
                asyncio.create_task(self._write_groups(), name=f"pg-writer-{number}")
            )
        self._tasks.append(asyncio.create_task(self._keep_anchor(), name="pg-anchor"))

    def change_signal(self) -> ChangeSignal:
        """Return a signal of changed revisions, on a connection of its own."""
        return ChannelSignal(lambda: connect(self._direct_url or self._url))

    def watch_events(self, changed: Callable[[], None]) -> None:
        """Call a function in the running loop after each commit of this process that added events."""
        self._committer.events_committed = in_loop(asyncio.get_running_loop(), changed)

    def enable_audit(self, key: bytes, anchor: Anchor) -> None:
        """Give the writers the key and anchor of the audit chain."""
        self._committer.audit_key = key
        self.anchor = anchor

    def clear_anchor_fault(self) -> None:
        """Forget a fault of the anchor, which was saved by other means since."""
        self.anchor_fault = ""

    async def revision(self) -> str | None:
        """Return the schema revision of the database, None for an empty one."""
        async with self._snapshot(SystemScope("the schema")) as connection:
            if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
                return None
            found = await connection.fetchval("SELECT version_num FROM alembic_version")
            return None if found is None else str(found)

    @contextlib.asynccontextmanager
    async def read(self, scope: AnyScope) -> AsyncIterator[Tx]:
        """Open a snapshot of the database; keep it for as short a time as possible."""
        async with self._snapshot(scope) as connection:
            yield PostgresqlReadTx(connection, scope)

    async def write(self, scope: AnyScope, job: Job[T], *, actor: Actor) -> T:
        """Run the job in the next group; return after the durable commit."""
        loop = asyncio.get_running_loop()
        pending = PendingWrite(scope, actor, job, loop, loop.create_future())
        self._wake.set()  # submit queues the entry before anything else can run
        result: T = await submit(self._queue, pending)
        return result

    async def make_partitions(self, now: datetime) -> list[str]:
        """Make the partitions that are missing, on a connection of its own with the rights of the login."""
        connection = await connect(self._direct_url or self._url)
        try:
            return await make_partitions(connection, now)
        finally:
            await connection.close()

    async def partition_state(self) -> PartitionState | None:
        """Return until when there are partitions, and which tables hold rows that none of them takes."""
        async with self._snapshot(SystemScope("partitions")) as connection:
            return await partition_state(connection)

    async def close(self) -> None:
        """Finish the waiting writes, then close every connection."""
        self._queue.close()
        self._wake.set()
        self._head_moved.set()
        await asyncio.gather(*self._tasks)
        if self._pool is not None:
            await self._pool.close()

    async def _prepare(self, connection: DriverConnection) -> None:
        """Check a new connection, and let its session or each of its transactions have its rights."""
        if self._direct_url:
            self._transaction_settings = await transaction_settings(connection)
        else:
            await prepare_connection(connection)

    @contextlib.asynccontextmanager
    async def _snapshot(self, scope: AnyScope) -> AsyncIterator[DriverConnection]:
        """Yield a connection in a transaction that reads."""
        async with self._acquired() as connection:
            try:
                await _await_driver(
                    connection.execute(
                        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                        f"{self._transaction_settings}{_allow_owners(scope)}"
                    )
                )
                yield connection
            finally:
                with contextlib.suppress(*DRIVER_ERRORS):
                    await connection.execute("ROLLBACK")

    async def _open_writer(self) -> "PostgresqlWriteConnection":
        connection = await (connect_pooled if self._direct_url else connect)(self._url)
        try:
            await self._prepare(connection)
            if not self._direct_url:
                await connection.execute(WRITER_SETTINGS)
        except BaseException:
            await connection.close()
            raise
        return PostgresqlWriteConnection(connection, self._transaction_settings)

    @contextlib.asynccontextmanager
    async def _acquired(self) -> AsyncIterator[DriverConnection]:
        if self._pool is None:
            raise DatabaseUnavailable("the database is not open")
        began = time.monotonic()
        connection = await _await_driver(self._pool.acquire(timeout=DATABASE_CONNECT_SECONDS_MAX))
        self._queue.read_seconds.count(time.monotonic() - began)
        try:
            yield connection
        finally:
            await self._pool.release(connection)

    async def _write_groups(self) -> None:
        writer: PostgresqlWriteConnection | None = None
        while await self._wait_for_writes():
            writes = self._queue.take()
            if not writes:
                continue
            try:
                if writer is None or writer.is_closed():
                    writer = await self._open_writer()
                outcomes, head = await self._committer.write(writer, writes)
                self._note_head(head)
            except Exception as fault:  # noqa: BLE001  (every caller gets it)
                known = translate_error(fault) if isinstance(fault, DRIVER_ERRORS) else fault
                outcomes = failed_outcomes(writes, known)
                if writer is not None:
                    await writer.rollback()
            self.write_fault = write_fault(outcomes, self.write_fault)
            for outcome in outcomes:
                outcome.resolve()
        if writer is not None:
            await writer.close()

    async def _wait_for_writes(self) -> bool:
        while not len(self._queue):
            if self._queue.closed:
                return False
            self._wake.clear()
            await self._wake.wait()
        return True

    def _note_head(self, head: audit_chain.ChainHead | None) -> None:
        """Keep the newest head that was committed; the two writers may finish in any order."""
        if head is not None and (self._unanchored is None or self._unanchored.seq < head.seq):
            self._unanchored = head
            self._head_moved.set()

    async def _keep_anchor(self) -> None:
        """Save the head of the audit chain outside the database, at most once a second."""
        writers = self._tasks[:POSTGRESQL_WRITERS]
        while not self._queue.closed:
            await self._head_moved.wait()
            self._head_moved.clear()
            await self._anchor_now()
            await asyncio.wait(writers, timeout=limits.ANCHOR_SECONDS_MAX)
        await asyncio.wait(writers)
        await self._anchor_now()

    async def _anchor_now(self) -> None:
        head, anchor = self._unanchored, self.anchor
        if head is None or anchor is None:
            return
        self._unanchored = None
        try:
            async with self.read(SystemScope("anchor")) as tx:
                at = to_micros(self._committer.clock.now())
                note = await note_for(tx, anchor, head, at=at, shared=True)
            await asyncio.to_thread(save_note, anchor, note)
        except AnchorFault as fault:
            self.anchor_fault = str(fault)
        except (StoreFault, OSError) as fault:
            self.anchor_fault = str(fault)
            self._note_head(head)  # a full disk or a forbidden directory may be temporary
        else:
            self.anchor_fault = ""


def translate_error(error: BaseException) -> StoreFault:
    """Return the driver's error as one of ours. PostgreSQL quotes values in its messages; ours never do."""
    if isinstance(error, asyncpg.PostgresError):
        state = str(error.sqlstate or "")
        if state.startswith("23"):
            return ConstraintViolation(
                str(getattr(error, "constraint_name", None) or type(error).__name__)
            )
        if state in {"40P01", "40001"}:
            return LockContention("two writes waited for each other")
        if state.startswith(("08", "25P03", "53", "55P03", "57", "58")):
            return DatabaseUnavailable(f"PostgreSQL: {type(error).__name__}")
        return StatementFault(f"PostgreSQL: {type(error).__name__} ({state})")
    if isinstance(error, (OSError, TimeoutError)) or "clos" in str(error):
        return DatabaseUnavailable(f"PostgreSQL: {type(error).__name__}")
    return StatementFault(f"PostgreSQL: {type(error).__name__}")


def _is_disconnection(error: BaseException) -> bool:
    """Return whether the server or a pooler ends the connection with this error."""
    return str(getattr(error, "sqlstate", None) or "").startswith(("08", "57P"))


class PostgresqlReadTx(ReadOnlyTx):
    """A read transaction on one connection."""

    def __init__(self, connection: DriverConnection, scope: AnyScope) -> None:
        self._connection = connection
        self._scope = scope

    async def rows(self, statement: Statement, /, **values: object) -> list[Row]:
        statement = statement.for_scope(self._scope)
        compiled = statement.compiled_for(DIALECT)
        arguments = compiled.arguments(statement.with_owner(self._scope, values))
        return [
            tuple(r) for r in await _await_driver(self._connection.fetch(compiled.text, *arguments))
        ]

    async def row(self, statement: Statement, /, **values: object) -> Row | None:
        statement = statement.for_scope(self._scope)
        compiled = statement.compiled_for(DIALECT)
        arguments = compiled.arguments(statement.with_owner(self._scope, values))
        found = await _await_driver(self._connection.fetchrow(compiled.text, *arguments))
        return None if found is None else tuple(found)


class PostgresqlWriteTx:
    """A job's transaction on a writer's connection."""

    def __init__(
        self, connection: DriverConnection, scope: AnyScope, audit: AuditBuffer | None
    ) -> None:
        self._reading = PostgresqlReadTx(connection, scope)
        self._connection = connection
        self._scope = scope
        self._audit = audit
        self.rows = self._reading.rows
        self.row = self._reading.row

    async def run(self, statement: Statement, /, **values: object) -> int:
        statement = statement.for_scope(self._scope)
        compiled = statement.compiled_for(DIALECT)
        arguments = compiled.arguments(statement.with_owner(self._scope, values))
        status = str(await _await_driver(self._connection.execute(compiled.text, *arguments)))
        return int(status.rpartition(" ")[2])  # INSERT 0 1, UPDATE 3

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        statement = statement.for_scope(self._scope)
        compiled = statement.compiled_for(DIALECT)
        arguments = list(map(compiled.arguments, statement.with_owners(self._scope, rows)))
        order = compiled.parameter_order
        if len(arguments) >= UPDATED_TOGETHER_MIN:
            update = update_text(compiled.text, len(order))
            if update and _are_distinct(arguments, order, order[-1:]):
                columns = zip(*arguments, strict=True)
                await _await_driver(self._connection.execute(update, *columns))
                return
        sizes = BLOCK_ROWS if _are_distinct(arguments, order, replaced_key(compiled.text)) else ()
        for size in sizes:
            text = insert_text(compiled.text, len(order), size) if len(arguments) >= size else None
            if text:
                left = len(arguments) % size
                starts = range(0, len(arguments) - left, size)
                blocks = [[*chain.from_iterable(arguments[at : at + size])] for at in starts]
                await _await_driver(self._connection.executemany(text, blocks))
                arguments = arguments[len(arguments) - left :]
        if arguments:
            await _await_driver(self._connection.executemany(compiled.text, arguments))

    def audit(
        self, action: str, /, *, ids: Sequence[str] = (), count: int | None = None, detail: str = ""
    ) -> None:
        if self._audit is not None:
            self._audit.add(action, ids, count, detail)

    def add_events(self, events: Sequence[NewEvent], /) -> None:
        if self._audit is not None:
            self._audit.add_events(events)


class PostgresqlWriteConnection:
    """The connection of a writer. Control statements share one round trip with the next job."""

    def __init__(self, connection: DriverConnection, settings: str) -> None:
        self._connection = connection
        self._begin = self._before = f"BEGIN; {settings}"

    async def begin_job(self, scope: AnyScope) -> None:
        await self._connection.execute(f"{self._before}SAVEPOINT job; {_allow_owners(scope)}")
        self._before = "RELEASE SAVEPOINT job; "

    async def undo_job(self) -> None:
        await self._connection.execute("ROLLBACK TO SAVEPOINT job")

    async def commit(self) -> None:
        self._before = self._begin
        try:
            ended = await self._connection.execute("COMMIT")
        except DRIVER_ERRORS as error:
            fault: StoreFault = translate_error(error)
            # A pooler, or a server that is shutting down, says so before it closes the connection.
            if self._connection.is_closed() or _is_disconnection(error):
                fault = CommitOutcomeUnknown("the connection was lost during the commit")
        else:
            if ended == "COMMIT":
                return
            fault = DatabaseUnavailable("PostgreSQL rolled the group back")
        raise fault

    async def rollback(self) -> None:
        self._before = self._begin
        with contextlib.suppress(*DRIVER_ERRORS):
            if self._connection.is_in_transaction():
                await self._connection.execute("ROLLBACK")

    def is_broken(self) -> bool:
        return self.is_closed() or not self._connection.is_in_transaction()

    def is_closed(self) -> bool:
        """Return whether the connection itself is gone."""
        return bool(self._connection.is_closed())

    def transaction(self, scope: AnyScope, audit: AuditBuffer | None) -> Tx:
        return PostgresqlWriteTx(self._connection, scope, audit)

    async def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(*DRIVER_ERRORS):
            await self._connection.close()


def _are_distinct(
    rows: Sequence[tuple[object, ...]], names: Sequence[str], key: Sequence[str]
) -> bool:
    """Return whether no two rows have the same key; True without one. ``names`` are those of the values of a row."""
    if not key:
        return True
    if not {*key} <= {*names}:
        return False  # a part of the key is no value
    places = [names.index(name) for name in key]
    return len({tuple([row[at] for at in places]) for row in rows}) == len(rows)


def _allow_owners(scope: AnyScope) -> str:
    """Return SQL that names the vendors and sites whose rows the transaction may touch, for this transaction only."""
    vendor, sites = EVERYTHING, EVERYTHING
    if isinstance(scope, Scope):
        vendor, sites = str(int(scope.vendor)), str(int(scope.site))
    elif isinstance(scope, VendorScope):
        vendor, sites = str(int(scope.vendor)), ",".join(str(int(site)) for site in scope.sites)
    return (
        f"SELECT set_config('{VENDORS_SETTING}', '{vendor}', true), "
        f"set_config('{SITES_SETTING}', '{sites}', true)"
    )


async def _await_driver(call: Awaitable[T]) -> T:
    """Await the driver and translate its errors, without the original attached."""
    try:
        return await call
    except DRIVER_ERRORS as error:
        fault = translate_error(error)
    raise fault


async def _no_reset(connection: DriverConnection) -> None:
    """Reset nothing when a connection returns to the pool."""
