"""PostgreSQL through asyncpg: a pool that reads, two connections that write in groups.

Knows the server's settings and roles. A transaction names the vendors whose rows it may touch, and
row-level security holds it to them; a login that could look over that wall works as another role.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any, TypeVar

import asyncpg

from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.kernel.ids import Scope
from clearlane.store import audit_chain
from clearlane.store.group_commit import (
    Actor,
    Conflict,
    Contended,
    Entry,
    Group,
    Job,
    Lines,
    OutcomeUnknown,
    Refused,
    Row,
    StatementFailed,
    StoreFault,
    Tx,
    Unavailable,
    Waiting,
    failed,
    submit,
)
from clearlane.store.schema import APP_ROLE, VENDORS_SETTING
from clearlane.store.sql import Statement, System

T = TypeVar("T")

DIALECT = "postgresql"
# Setting, the value that is refused, and what it would cost.
REFUSED = (
    ("fsync", "off", "a crash could lose everything"),
    ("synchronous_commit", "off", "a crash could lose what was acknowledged"),
)
BAD_ADDRESS = (
    "The address of the database cannot be read: give one such as "
    "postgresql://user@host:5432/name, with parameters that PostgreSQL knows."
)
DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
SEES_ALL = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user"
HAS_ROLE = f"SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = '{APP_ROLE}')"


class PostgresqlDatabase:
    """The store on a PostgreSQL server."""

    dialect = DIALECT

    def __init__(self, url: str, connections: int, clock: Clock) -> None:
        self._url = url
        self._connections = connections
        self._group = Group(clock)
        self._waiting = Waiting()
        self._wake = asyncio.Event()
        self._pool: asyncpg.Pool | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._anchor: audit_chain.Anchor | None = None
        self._unanchored: audit_chain.Head | None = None
        self._moved = asyncio.Event()
        self.anchor_fault = ""

    async def open(self) -> None:
        """Connect, check the server, start the writers."""
        self._pool = asyncpg.create_pool(
            self._url,
            min_size=1,
            max_size=self._connections,
            init=prepare,
            reset=_nothing,  # every transaction of ours ends; no session state is left behind
            **OPTIONS,
        )
        try:
            await self._pool
        except BaseException as error:
            self._pool.terminate()
            if isinstance(error, ValueError):
                raise Refused(BAD_ADDRESS) from None
            if isinstance(error, DRIVER_ERRORS):
                raise Refused(f"PostgreSQL cannot be reached: {_reason(error)}.") from None
            raise
        for number in range(limits.POSTGRESQL_WRITERS):
            self._tasks.append(
                asyncio.create_task(self._write_groups(), name=f"pg-writer-{number}")
            )
        self._tasks.append(asyncio.create_task(self._keep_anchor(), name="pg-anchor"))

    def chained(self, key: bytes, anchor: audit_chain.Anchor) -> None:
        """From here on audit lines can be chained."""
        self._group.audit_key = key
        self._anchor = anchor

    async def revision(self) -> str | None:
        """The schema revision the database holds, None for an empty one."""
        async with self._acquired() as connection:
            if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
                return None
            found = await connection.fetchval("SELECT version_num FROM alembic_version")
            return None if found is None else str(found)

    @contextlib.asynccontextmanager
    async def read(self, scope: Scope | System) -> AsyncIterator[Tx]:
        """A snapshot of the database, kept for as short a time as possible."""
        async with self._acquired() as connection:
            try:
                await _told(
                    connection.execute(
                        f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_allow(scope)}"
                    )
                )
                yield Reading(connection, scope)
            finally:
                with contextlib.suppress(*DRIVER_ERRORS):
                    await connection.execute("ROLLBACK")

    async def write(self, scope: Scope | System, job: Job[T], *, actor: Actor) -> T:
        """Run the job in the next group; return after the durable commit."""
        loop = asyncio.get_running_loop()
        entry = Entry(scope, actor, job, loop, loop.create_future())
        self._wake.set()  # submit queues the entry before anything else can run
        result: T = await submit(self._waiting, entry)
        return result

    async def close(self) -> None:
        """Finish what waits, then close every connection."""
        self._waiting.close()
        self._wake.set()
        self._moved.set()
        await asyncio.gather(*self._tasks)
        if self._pool is not None:
            await self._pool.close()

    @contextlib.asynccontextmanager
    async def _acquired(self) -> AsyncIterator[Any]:
        if self._pool is None:
            raise Unavailable("the database is not open")
        connection = await _told(self._pool.acquire(timeout=limits.DATABASE_CONNECT_SECONDS_MAX))
        try:
            yield connection
        finally:
            await self._pool.release(connection)

    async def _write_groups(self) -> None:
        session: PostgresqlSession | None = None
        while await self._work_waits():
            entries = self._waiting.take()
            if not entries:
                continue
            try:
                if session is None or session.broken_off():
                    session = PostgresqlSession(await _connected(self._url))
                outcomes, head = await self._group.write(session, entries)
                self._note(head)
            except Exception as fault:  # noqa: BLE001  (every caller is told)
                known = translated(fault) if isinstance(fault, DRIVER_ERRORS) else fault
                outcomes = failed(entries, known)
                if session is not None:
                    await session.rollback()
            for outcome in outcomes:
                outcome.tell()
        if session is not None:
            await session.close()

    async def _work_waits(self) -> bool:
        while not len(self._waiting):
            if self._waiting.closed:
                return False
            self._wake.clear()
            await self._wake.wait()
        return True

    def _note(self, head: audit_chain.Head | None) -> None:
        """Remember the newest head that was committed; the two writers may end in any order."""
        if head is not None and (self._unanchored is None or self._unanchored.seq < head.seq):
            self._unanchored = head
            self._moved.set()

    async def _keep_anchor(self) -> None:
        """Remember the head outside the database, at most once a second."""
        writers = self._tasks[: limits.POSTGRESQL_WRITERS]
        while not self._waiting.closed:
            await self._moved.wait()
            self._moved.clear()
            await self._anchor_now()
            await asyncio.wait(writers, timeout=limits.ANCHOR_SECONDS_MAX)
        await asyncio.wait(writers)
        await self._anchor_now()

    async def _anchor_now(self) -> None:
        head, anchor = self._unanchored, self._anchor
        if head is None or anchor is None:
            return
        self._unanchored = None
        try:
            async with self.read(System("anchor")) as tx:
                await audit_chain.require_anchored(tx, anchor, head)
            await asyncio.to_thread(_advance, anchor, head)
        except audit_chain.AnchorBroken as fault:
            self.anchor_fault = str(fault)
        except (StoreFault, OSError) as fault:
            self.anchor_fault = str(fault)
            self._note(head)  # a full disk or a closed directory may pass: tried again
        else:
            self.anchor_fault = ""


OPTIONS = {
    "statement_cache_size": 512,
    "timeout": limits.DATABASE_CONNECT_SECONDS_MAX,
    "server_settings": {"application_name": "clearlane"},
}


async def connect(url: str) -> Any:
    """A bare connection with the rights of the login, for migrations."""
    try:
        return await asyncpg.connect(url, **OPTIONS)
    except ValueError:  # the driver's own complaint may quote the password
        raise Refused(BAD_ADDRESS) from None
    except DRIVER_ERRORS as error:
        reason = _reason(error)
    raise Refused(f"PostgreSQL cannot be reached: {reason}.")


async def prepare(connection: Any) -> None:
    """Check a new connection, and give up the right to look over the wall."""
    found = {name: await connection.fetchval(f"SHOW {name}") for name, _, _ in REFUSED}
    check(found)
    # A stopped node must not hold the others up: the server ends a transaction that lies idle.
    await connection.execute(
        f"SET lock_timeout = '{limits.LOCK_SECONDS_MAX}s'; "
        f"SET idle_in_transaction_session_timeout = '{limits.LOCK_SECONDS_MAX}s'"
    )
    if await connection.fetchval(SEES_ALL):
        # Where the role is missing the schema is missing too, or `db upgrade` has to make the role.
        if await connection.fetchval(HAS_ROLE):
            await connection.execute(f"SET ROLE {APP_ROLE}")
        elif await connection.fetchval("SELECT to_regclass('alembic_version')") is not None:
            raise Refused(
                f"The login may look past row-level security and the role {APP_ROLE} is missing. "
                "Run: clearlane db upgrade"
            )


def check(found: Mapping[str, str]) -> None:
    """Refuse a server whose commits do not last."""
    wrong = [
        f"{name} is {found[name]}: {cost}" for name, bad, cost in REFUSED if found[name] == bad
    ]
    if wrong:
        raise Refused(f"This PostgreSQL server cannot be used: {'; '.join(wrong)}.")


def translated(error: BaseException) -> StoreFault:
    """The same fault in our words. PostgreSQL quotes values in its messages; ours never do."""
    if isinstance(error, asyncpg.PostgresError):
        state = str(error.sqlstate or "")
        if state.startswith("23"):
            return Conflict(str(getattr(error, "constraint_name", None) or type(error).__name__))
        if state in {"40P01", "40001"}:
            return Contended("two writes waited for each other")
        if state.startswith(("08", "25P03", "53", "55P03", "57", "58")):
            return Unavailable(f"PostgreSQL: {type(error).__name__}")
        return StatementFailed(f"PostgreSQL: {type(error).__name__} ({state})")
    if isinstance(error, (OSError, TimeoutError)) or "clos" in str(error):
        return Unavailable(f"PostgreSQL: {type(error).__name__}")
    return StatementFailed(f"PostgreSQL: {type(error).__name__}")


class Reading:
    """A read transaction on one connection."""

    def __init__(self, connection: Any, scope: Scope | System) -> None:
        self._connection = connection
        self._scope = scope

    async def rows(self, statement: Statement, /, **values: object) -> list[Row]:
        compiled = statement.on(DIALECT)
        arguments = compiled.arguments(statement.owned(self._scope, values))
        return [tuple(r) for r in await _told(self._connection.fetch(compiled.text, *arguments))]

    async def row(self, statement: Statement, /, **values: object) -> Row | None:
        compiled = statement.on(DIALECT)
        arguments = compiled.arguments(statement.owned(self._scope, values))
        found = await _told(self._connection.fetchrow(compiled.text, *arguments))
        return None if found is None else tuple(found)

    async def run(self, statement: Statement, /, **values: object) -> int:
        raise StatementFailed("a read changes nothing; use write")

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        raise StatementFailed("a read changes nothing; use write")

    def audit(
        self, action: str, /, *, ids: Sequence[str] = (), count: int | None = None, detail: str = ""
    ) -> None:
        raise StatementFailed("a read that is audited runs inside write")


class Writing:
    """A job's transaction on a writer's connection."""

    def __init__(self, connection: Any, scope: Scope | System, lines: Lines | None) -> None:
        self._reading = Reading(connection, scope)
        self._connection = connection
        self._scope = scope
        self._lines = lines
        self.rows = self._reading.rows
        self.row = self._reading.row

    async def run(self, statement: Statement, /, **values: object) -> int:
        compiled = statement.on(DIALECT)
        arguments = compiled.arguments(statement.owned(self._scope, values))
        status = str(await _told(self._connection.execute(compiled.text, *arguments)))
        return int(status.rpartition(" ")[2])  # INSERT 0 1, UPDATE 3

    async def many(self, statement: Statement, rows: Sequence[Mapping[str, object]], /) -> None:
        compiled = statement.on(DIALECT)
        owned, scope = statement.owned, self._scope
        arguments = [compiled.arguments(owned(scope, values)) for values in rows]
        await _told(self._connection.executemany(compiled.text, arguments))

    def audit(
        self, action: str, /, *, ids: Sequence[str] = (), count: int | None = None, detail: str = ""
    ) -> None:
        if self._lines is not None:
            self._lines.add(action, ids, count, detail)


class PostgresqlSession:
    """A writer's connection, as a group sees it. Control statements ride in one round trip."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._before = "BEGIN; "

    async def enter(self, scope: Scope | System) -> None:
        await self._connection.execute(f"{self._before}SAVEPOINT job; {_allow(scope)}")
        self._before = "RELEASE SAVEPOINT job; "

    async def undo(self) -> None:
        await self._connection.execute("ROLLBACK TO SAVEPOINT job")

    async def commit(self) -> None:
        self._before = "BEGIN; "
        try:
            ended = await self._connection.execute("COMMIT")
        except DRIVER_ERRORS as error:
            fault: StoreFault = translated(error)
            if self._connection.is_closed():
                fault = OutcomeUnknown("the connection was lost during the commit")
        else:
            if ended == "COMMIT":
                return
            fault = Unavailable("PostgreSQL rolled the group back")
        raise fault

    async def rollback(self) -> None:
        self._before = "BEGIN; "
        with contextlib.suppress(*DRIVER_ERRORS):
            if self._connection.is_in_transaction():
                await self._connection.execute("ROLLBACK")

    def broken(self) -> bool:
        return self.broken_off() or not self._connection.is_in_transaction()

    def broken_off(self) -> bool:
        """Whether the connection itself is gone."""
        return bool(self._connection.is_closed())

    def tx(self, scope: Scope | System, lines: Lines | None) -> Tx:
        return Writing(self._connection, scope, lines)

    async def close(self) -> None:
        """Let go of the connection."""
        with contextlib.suppress(*DRIVER_ERRORS):
            await self._connection.close()


def _allow(scope: Scope | System) -> str:
    """Name the vendors whose rows the transaction may touch, for this transaction only."""
    allowed = "*" if isinstance(scope, System) else str(int(scope.vendor))
    return f"SELECT set_config('{VENDORS_SETTING}', '{allowed}', true)"


async def _connected(url: str) -> Any:
    connection = await connect(url)
    try:
        await prepare(connection)
    except BaseException:
        await connection.close()
        raise
    return connection


async def _told(call: Awaitable[T]) -> T:
    """Await the driver; its faults become ours, with nothing of the original attached."""
    try:
        return await call
    except DRIVER_ERRORS as error:
        fault = translated(error)
    raise fault


def _reason(error: BaseException) -> str:
    if isinstance(error, asyncpg.PostgresError):
        return f"{type(error).__name__} ({error.sqlstate})"
    return str(getattr(error, "strerror", "") or type(error).__name__)


def _advance(anchor: audit_chain.Anchor, head: audit_chain.Head) -> None:
    with anchor.locked():
        anchor.advance(head)


async def _nothing(connection: Any) -> None:
    """No reset is needed."""
